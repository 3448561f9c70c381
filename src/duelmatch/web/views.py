"""What a dashboard shows, worked out: sentences, coordinates, rows; the templates only put them down."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from duelmatch.studies import Key, Status, Study, Voter
from duelmatch.studies.history import History, Point
from duelmatch.web import words

MOST_HISTORIES = 50
MOST_EDGES_DRAWN = 400
WIDTH, HEIGHT = 600.0, 160.0
"""Of a chart, in its own units."""

ROW = 44.0
GRAPH_WIDTH = 500.0
SIDE = 0.4
"""The share of the width that the names take on either side."""

CONFIDENCE = "Confidence in the leading line-up: who stops when it is 95% is wrong at most 1 time in 20"
A_WINNER = "some line-up beats every other"
Kind = Literal["leader", "accepted", "rejected", "open"]


class Histories:
    """The histories that a server process follows."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, History] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, study: Study) -> History:
        """Return the history of a study."""
        with self._lock:
            history = self._of.pop(study.id, None) or History(study)
            self._of[study.id] = history
            if len(self._of) > MOST_HISTORIES:
                self._of.popitem(last=False)
            return history


@dataclass(frozen=True, slots=True)
class Line:
    """An edge of the graph as it is drawn."""

    kind: Kind
    candidate: str
    position: str
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Graph:
    """Candidates on the left, positions on the right, and who may fill what."""

    width: float
    height: float
    candidates: list[tuple[str, float, bool]]
    """Name, height, and whether they are in the leading line-up."""
    positions: list[tuple[str, float]]
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class Chart:
    """A curve: its points as SVG has them, and the labels of its axes."""

    label: str
    line: str
    highest: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart."""

    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Race:
    """A position, who leads, and who may still win."""

    position: str
    leader: str | None
    others: list[str]


@dataclass(frozen=True, slots=True)
class Dashboard:
    """All that an organiser sees of a study."""

    status: Status
    headline: str
    explanation: str
    criterion: str
    wrong: str
    votes_left: int | None
    sure: float | None
    possible: int | None
    races: list[Race]
    graph: Graph | None
    curve: Chart | None
    bars: list[Bar]
    bars_label: str
    voters: list[Voter]
    links: list[Key]
    remaining: list[str]
    """The candidates who have not withdrawn."""

    @classmethod
    def of(cls, study: Study, history: History) -> Dashboard:
        """Look at a study."""
        status = study.status()
        points = history.points()
        left = status.progress.duels_left
        p_value = getattr(status.progress, "p_value", None)
        bars, bars_label = _bars(history.hours())
        return cls(
            status=status,
            headline=_headline(status),
            explanation=_explanation(status),
            criterion=words.CRITERIA[words.criterion_of(study.settings.algorithm)],
            wrong=words.wrong_at_most(status.result.delta),
            votes_left=None if left is None else max(0, left - status.unused),
            sure=None if p_value is None else max(0.0, 1 - p_value),
            possible=getattr(status.progress, "possible", None),
            races=_races(study, status),
            graph=_graph(study, status),
            curve=_curve(points),
            bars=bars,
            bars_label=bars_label,
            voters=study.voters(),
            links=study.keys(),
            remaining=[name for name in study.problem.candidates if name not in status.dropped],
        )


def _headline(status: Status) -> str:
    if status.result.status == "certified" or status.result.status == "within_epsilon":
        return "The result is in"
    if status.result.status == "no_winner":
        return "No line-up beats every other"
    if status.state != "open":
        return f"The study is {status.state}"
    return "Voting is going on" if status.answers else "Waiting for the first vote"


def _explanation(status: Status) -> str:
    wrong = words.wrong_at_most(status.result.delta)
    match status.result.status:
        case "certified":
            text = f"This line-up is the best by the criterion you chose; an answer like this is {wrong}."
            assuming = (status.result.assuming or "").replace("a Condorcet winner exists", A_WINNER)
            return f"{text} It takes for granted that {assuming}." if assuming else text
        case "within_epsilon":
            return f"No line-up is better by more than {status.result.epsilon:g}; such an answer is {wrong}."
        case "no_winner":
            return f"For every line-up there is another that beats it; such an answer is {wrong}."
    if not status.counted:
        return "Nobody leads before the first votes; the line-up below is only where the study begins."
    return "The line-up below leads so far. It is a guess until the study says that it is sure."


def _races(study: Study, status: Status) -> list[Race]:
    """Return who may still win each position, as far as the algorithm tells."""
    progress = status.progress
    leader: Mapping[str, str] = progress.leader or {}
    winners = getattr(progress, "possible_winners", ())
    if winners:
        edges = {(matching[position], position) for matching in winners for position in matching}
    else:
        edges = {*progress.accepted, *progress.undecided}
    taken = dict(progress.accepted)
    races = []
    for position in study.problem.positions:
        decided = not winners and position in taken.values()
        names = [
            name
            for name in study.problem.candidates
            if (name, position) in edges
            and name != leader.get(position)
            and not (decided and taken.get(name) != position)
        ]
        races.append(Race(position, leader.get(position), [] if status.done else names))
    return races


def _graph(study: Study, status: Status) -> Graph | None:
    """Lay the graph out; None if it is too large to see anything."""
    problem, progress = study.problem, status.progress
    if len(problem.edges) > MOST_EDGES_DRAWN:
        return None
    rows = max(len(problem.candidates), len(problem.positions))
    candidates = _heights(problem.candidates, rows)
    positions = _heights(problem.positions, rows)
    leader = {(candidate, position) for position, candidate in (progress.leader or {}).items()}
    accepted, rejected = set(progress.accepted), set(progress.rejected)
    lines = []
    for edge in problem.edges:
        if edge[0] in status.dropped:
            continue
        kind: Kind = "open"
        if edge in rejected:
            kind = "rejected"
        elif edge in accepted:
            kind = "accepted"
        elif edge in leader:
            kind = "leader"
        x1, x2 = SIDE * GRAPH_WIDTH, (1 - SIDE) * GRAPH_WIDTH
        lines.append(Line(kind, *edge, x1, candidates[edge[0]], x2, positions[edge[1]]))
    order = {"rejected": 0, "open": 1, "leader": 2, "accepted": 3}
    lines.sort(key=lambda line: order[line.kind])
    chosen = {candidate for candidate, _ in leader}
    return Graph(
        GRAPH_WIDTH,
        rows * ROW,
        [(name, y, name in chosen) for name, y in candidates.items() if name not in status.dropped],
        list(positions.items()),
        lines,
    )


def _heights(names: Sequence[str], rows: int) -> dict[str, float]:
    step = rows * ROW / len(names)
    return {name: round((number + 0.5) * step, 1) for number, name in enumerate(names)}


def _curve(points: Sequence[Point]) -> Chart | None:
    """Draw how sure the study was after so many votes."""
    if len(points) < 2 or points[-1].votes == 0:
        return None
    known = points[-1].sure is not None
    values = [(point.sure or 0.0) if known else point.decided for point in points]
    most = points[-1].votes
    line = " ".join(
        f"{WIDTH * point.votes / most:.1f},{HEIGHT * (1 - value):.1f}"
        for point, value in zip(points, values, strict=True)
    )
    label = CONFIDENCE if known else "Places decided, of all there are"
    return Chart(label, line, "100%", "first vote", f"{most:,} votes")


def _bars(hours: Sequence[tuple[float, int]]) -> tuple[list[Bar], str]:
    """Draw how many votes came in each hour, the last three days of them."""
    hours = hours[-72:]
    if not hours:
        return [], ""
    most = max(count for _, count in hours)
    wide = WIDTH / max(len(hours), 12)
    bars = [
        Bar(
            round(number * wide + 0.1 * wide, 1),
            round(HEIGHT * (1 - count / most), 1),
            round(0.8 * wide, 1),
            round(HEIGHT * count / most, 1),
            f"{datetime.fromtimestamp(at, UTC):%d %B, %H:00} UTC: {count:,} votes",
        )
        for number, (at, count) in enumerate(hours)
    ]
    first = datetime.fromtimestamp(hours[0][0], UTC)
    return bars, f"from {first:%d %B, %H:00} UTC; the busiest hour had {most:,}"


def about(number: int) -> str:
    """Round an estimate, so that nobody takes it for more than it is.

    >>> about(12_600_603), about(37)
    ('about 13,000,000', 'about 37')
    """
    digits = max(0, len(str(number)) - 2)
    return f"about {round(number, -digits):,}"
