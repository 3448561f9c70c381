"""What a dashboard shows: sentences, coordinates and rows, ready for the templates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from duelmatch import phrases
from duelmatch.explorers.catalogue import described
from duelmatch.models.standings import Standings
from duelmatch.preferences import Criterion
from duelmatch.studies import HOUR, Estimates, Point, Status, Study
from duelmatch.web import wording
from duelmatch.web.names import Named, Names, voter_name
from duelmatch.web.races import leader_of, possible_in, races_of

MOST_EDGES_DRAWN = 400
WIDTH, HEIGHT = 600.0, 160.0
"""Of a chart, in its own units."""

ROW, LOW_ROW = 44.0, 28.0
"""The height of a row of the graph; of one of many."""

HALF = 0.5
MANY = 12
FEW = 20
UNUSED = 20
VOTERS_SHOWN = 100
"""On a page: thousands would take seconds, after every vote."""

MOST_BARS = 72

CONFIDENCE = (
    "Confidence in the leading line-up: if you stop at 95%, you are wrong at most 1 time in 20. It may stay "
    "at 0% for a long time and then rise quickly, and starts again when another line-up takes the lead"
)
SHORTFALL = (
    "How near the leading line-up is to being certain. At 100%, no vote still missing can put another ahead "
    "of it; the line falls when the lead changes"
)
Kind = Literal["leader", "accepted", "rejected", "open"]


@dataclass(frozen=True, slots=True)
class Line:
    """An edge of the graph as it is drawn, from the left to the right."""

    kind: Kind
    candidate: Named
    position: Named
    y1: float
    y2: float


@dataclass(frozen=True, slots=True)
class DrawnGraph:
    """Candidates on the left, positions on the right, and who may fill what."""

    height: float
    crowded: bool
    candidates: list[tuple[Named, float, bool]]
    """Who, height, and whether they are in the leading line-up."""
    positions: list[tuple[Named, float]]
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class Chart:
    """A curve: its points as SVG has them, and the labels of its axes."""

    label: str
    line: str
    now: str
    last: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart."""

    x: float
    y: float
    width: float
    height: float
    count: int
    time: str
    """When the hour began, as ISO 8601 has it."""
    votes: str


class Dashboard:
    """All that an organiser sees of a study, with estimates if there are any, and a page of its voters."""

    def __init__(self, study: Study, page: int = 1, estimates: Estimates | None = None) -> None:
        self.status = status = study.status()
        history = study.history()
        self.names = names = Names.of(study.problem)  # which has all of whom the status tells
        certain, p_value = status.certain, status.progress.p_value
        standings = None if estimates is None or certain or not status.counted else estimates.standings
        self.standings = standings
        self.estimated_from = 0 if estimates is None else estimates.answers
        """How many votes the estimates are from."""
        self.is_panel = study.settings.kind == "panel"
        self.headline = wording.headline(status)
        self.explanation = wording.explanation(status, standings)
        self.criterion = wording.CRITERIA[_criterion(study)]
        self.wrong = None if self.is_panel else wording.wrong_at_most(status.result.delta)
        """How often the result may be wrong; None for a panel, which is counted."""
        self.proven = None if p_value is None or certain or p_value > HALF else 1 - p_value
        """How surely it is proven that the leader is the best, of a crowd, once that is likelier than not."""
        possible = None if certain or not status.counted else status.progress.possible
        self.possible = possible if possible is not None and possible <= FEW else None
        """How many line-ups may still turn out the best, once they are few: thousands say nothing."""
        self.left = wording.left(status.answers_left(estimates))
        """How many more votes it takes, in words."""
        self.needed = [] if certain else _needed(status, names)
        """The questions that would make the leader of a panel certain."""
        self.kind = wording.kind(status, standings)
        """What kind of answer it is, in one sentence."""
        self.votes = wording.votes(status)
        """How many votes it is from, in a sentence, and how many do not count."""
        self.check = wording.check(status, standings, names)
        """What a check of the log shows where nothing is decided; else nothing."""
        self.races = races_of(study, status, names, standings)
        self.graph = _graph(study, status, names, standings)
        self.curve = _curve(history.points, status.counted)
        self.bars, self.bars_label = _bars(history.hours, status.counted)
        self.remaining = names.without(status.dropped)
        """The candidates who have not withdrawn."""
        self.withdrawn = [names.candidates[name] for name in status.dropped]
        self._list_voters(study, page)

    def _list_voters(self, study: Study, page: int) -> None:
        """List those on a page, first those about whom there is a hint."""
        odd, secret = study.hints(), study.settings.secret
        self.pages = max(1, math.ceil(self.status.voters / VOTERS_SHOWN))
        self.page = min(page, self.pages)
        listed = study.voters(limit=VOTERS_SHOWN, skip=(self.page - 1) * VOTERS_SHOWN)
        self.voters = sorted(listed, key=lambda voter: voter.id not in odd)
        self.hints = {voter: wording.hints(found, secret) for voter, found in odd.items()}
        """What is odd about how they vote, in words."""
        self.marked = sum(not voter.struck for voter in study.voters(ids=odd)) if odd else 0
        """How many voters there are hints about, without those who are struck out."""
        self.links = study.links(voters=[voter.id for voter in self.voters])
        """Of organisers, for everybody, and of the voters on this page."""

    @property
    def many_unused(self) -> bool:
        """Whether so many answers wait to be used that somebody will wonder."""
        return not self.status.done and self.status.unused > max(UNUSED, self.status.counted // 5)

    @property
    def voter_names(self) -> dict[str, str]:
        """What each voter is called."""
        return {voter.id: voter_name(voter.id, voter.name) for voter in self.voters}


def _criterion(study: Study) -> Criterion:
    settings = study.settings
    if settings.kind == "panel":
        criterion: Criterion = settings.parameters["criterion"]
        return criterion
    return described(settings.algorithm).criterion


def _needed(status: Status, names: Names) -> list[tuple[Named, Named, Named, int]]:
    """Return what would make the leader of a panel certain, position by position.

    That is at which position which one must be preferred to which, and in how many answers.
    """
    order = {name: number for number, name in enumerate(names.positions)}
    needed = sorted(status.progress.needed, key=lambda each: (order[each[0]], -each[3]))
    called = names.candidates
    return [
        (names.positions[place], called[one], called[other], count) for place, one, other, count in needed
    ]


def _graph(study: Study, status: Status, names: Names, standings: Standings | None) -> DrawnGraph | None:
    """Lay the graph out; None if it is too large to see anything."""
    problem = study.problem
    if len(problem.edges) > MOST_EDGES_DRAWN:
        return None
    rows = max(len(problem.candidates), len(problem.positions))
    height = rows * (ROW if rows <= MANY else LOW_ROW)
    candidates = _heights(problem.candidates, height)
    positions = _heights(problem.positions, height)
    leader = leader_of(status, standings)
    accepted = leader if status.certain else set(status.progress.accepted)
    possible = accepted if status.certain else possible_in(status)
    lines = []
    for edge in problem.edges:
        if edge[0] in status.dropped:
            continue
        kind: Kind = "open"
        if edge not in possible:
            kind = "rejected"
        elif edge in accepted:
            kind = "accepted"
        elif edge in leader:
            kind = "leader"
        who, where = names.candidates[edge[0]], names.positions[edge[1]]
        lines.append(Line(kind, who, where, candidates[edge[0]], positions[edge[1]]))
    order = {"rejected": 0, "open": 1, "leader": 2, "accepted": 3}
    lines.sort(key=lambda line: order[line.kind])
    chosen = {candidate for candidate, _ in leader}
    return DrawnGraph(
        height,
        rows > MANY,
        [
            (names.candidates[name], y, name in chosen)
            for name, y in candidates.items()
            if name not in status.dropped
        ],
        [(names.positions[name], y) for name, y in positions.items()],
        lines,
    )


def _heights(names: Sequence[str], height: float) -> dict[str, float]:
    step = height / len(names)
    return {name: round((number + 0.5) * step, 1) for number, name in enumerate(names)}


def _curve(points: Sequence[Point], counted: int) -> Chart | None:
    """Draw how sure the study was as its answers grew; it began with nothing."""
    if not points:
        return None
    last = points[-1]
    label = CONFIDENCE
    if last.shortfall is not None:
        label = SHORTFALL
    elif last.sure is None:
        label = "Places decided, of all there are"
    values = [(0, 0.0), *((point.answers, min(1.0, _height(point))) for point in points)]
    line = " ".join(
        f"{WIDTH * answers / last.answers:.1f},{HEIGHT * (1 - value):.1f}" for answers, value in values
    )
    given = phrases.counted(last.answers, "vote")
    if last.answers > counted:
        given += f", {counted:,} of which count"
    return Chart(label, line, wording.percent(_height(last)), given)


def _height(point: Point) -> float:
    if point.shortfall is not None:
        return 1 - min(1.0, 2 * point.shortfall)  # a line-up can lose by half of the votes at most
    return (point.decided if point.sure is None else point.sure) or 0.0


def _bars(hours: Mapping[int, int], counted: int) -> tuple[list[Bar], str]:
    """Draw how many votes came in each hour, the last three days of them, whether they count or not."""
    if not hours:
        return [], ""
    last = max(hours)
    first = max(min(hours), last - MOST_BARS + 1)
    counts = [(hour, hours.get(hour, 0)) for hour in range(first, last + 1)]
    most = max(count for _, count in counts)
    wide = WIDTH / max(len(counts), 12)
    bars = [
        Bar(
            round((number + 0.1) * wide, 1),
            round(HEIGHT * (1 - count / most), 1),
            round(0.8 * wide, 1),
            round(HEIGHT * count / most, 1),
            count,
            wording.written_time(hour * HOUR, "minutes"),
            phrases.counted(count, "vote"),
        )
        for number, (hour, count) in enumerate(counts)
    ]
    label, given = f"the busiest hour had {most:,}", sum(hours.values())
    return bars, label if given == counted else f"{label}. {given:,} came in, and {counted:,} of them count"
