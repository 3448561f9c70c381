"""What a dashboard shows, worked out: sentences, coordinates, rows; the templates only put them down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import floor
from typing import Literal

from duelmatch.explorers.catalogue import Assumption, described
from duelmatch.studies import Key, Status, Study, Voter
from duelmatch.studies.history import HOUR, Point
from duelmatch.web import words
from duelmatch.web.names import Named, Names

MOST_EDGES_DRAWN = 400
WIDTH, HEIGHT = 600.0, 160.0
"""Of a chart, in its own units."""

ROW, LOW_ROW = 44.0, 28.0
"""The height of a row of the graph; of one of many."""

MANY = 12
UNUSED = 20
MOST_BARS = 72
GRAPH_WIDTH = 500.0
SIDE = 0.4
"""The share of the width that the names take on either side."""

CONFIDENCE = (
    "Confidence in the leading line-up: who stops when it is 95% is wrong at most 1 time in 20. It may stay "
    "at 0% for long and then rise quickly, and begins anew when another line-up takes the lead"
)
A_WINNER = "some line-up beats every other"
Kind = Literal["leader", "accepted", "rejected", "open"]


@dataclass(frozen=True, slots=True)
class Line:
    """An edge of the graph as it is drawn."""

    kind: Kind
    candidate: Named
    position: Named
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Graph:
    """Candidates on the left, positions on the right, and who may fill what."""

    width: float
    height: float
    left: float
    right: float
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
    title: str


@dataclass(frozen=True, slots=True)
class Race:
    """A position, who leads, and who may still win."""

    position: Named
    leader: Named | None
    others: list[Named]


@dataclass(frozen=True, slots=True)
class Dashboard:
    """All that an organiser sees of a study."""

    status: Status
    headline: str
    explanation: str
    criterion: str
    wrong: str
    sure: float | None
    races: list[Race]
    graph: Graph | None
    curve: Chart | None
    bars: list[Bar]
    bars_label: str
    voters: list[Voter]
    links: list[Key]
    remaining: list[Named]
    """The candidates who have not withdrawn."""
    withdrawn: list[Named]

    @classmethod
    def of(cls, study: Study) -> Dashboard:
        """Look at a study."""
        status, history = study.status(), study.history()
        names = Names.of(study.problem)
        p_value = status.progress.p_value
        bars, bars_label = _bars(history.hours)
        return cls(
            status=status,
            headline=_headline(status),
            explanation=_explanation(status),
            criterion=words.CRITERIA[described(study.settings.algorithm).criterion],
            wrong=words.wrong_at_most(status.result.delta),
            sure=None if p_value is None else max(0.0, 1 - p_value),
            races=_races(study, status, names),
            graph=_graph(study, status, names),
            curve=_curve(history.points),
            bars=bars,
            bars_label=bars_label,
            voters=study.voters(),
            links=study.keys(),
            remaining=[who for who in names.candidates.values() if who.name not in status.dropped],
            withdrawn=[names.candidates[name] for name in status.dropped],
        )

    @property
    def many_unused(self) -> bool:
        """Whether so many votes wait to be used that somebody will wonder."""
        return not self.status.done and self.status.unused > max(UNUSED, self.status.counted // 5)

    @property
    def voter_names(self) -> dict[int, str]:
        """What each voter is called."""
        return {voter.number: voter.name or f"Voter {voter.number}" for voter in self.voters}


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
            text = f"This line-up is the best by the criterion chosen; an answer like this is {wrong}."
            for assumption in status.result.assuming:
                clause = A_WINNER if assumption is Assumption.CONDORCET_WINNER else assumption.sentence
                text += f" It takes for granted that {clause}."
            return text
        case "within_epsilon":
            return f"No line-up is better by more than {status.result.epsilon:g}; such an answer is {wrong}."
        case "no_winner":
            return f"For every line-up there is another that beats it; such an answer is {wrong}."
    if not status.counted:
        return "Nobody leads before the first votes."
    if status.state == "closed":
        return (
            "The line-up below led when the study was closed. It is a guess: the votes did not make it sure."
        )
    return "The line-up below leads so far. It is a guess until the study says that it is sure."


def _leader(status: Status) -> Mapping[str, str]:
    """Return who leads at each position; before the first votes nobody does, wherever the run begins."""
    return (status.progress.leader or {}) if status.progress.duels else {}


def _races(study: Study, status: Status, names: Names) -> list[Race]:
    """Return who may still win each position, as far as the algorithm tells."""
    progress = status.progress
    leader = _leader(status)
    winners = progress.possible_winners
    if winners:
        edges = {(matching[position], position) for matching in winners for position in matching}
    else:
        edges = {*progress.accepted, *progress.undecided}
    taken = dict(progress.accepted)
    races = []
    for position, called in names.positions.items():
        decided = not winners and position in taken.values()
        others = [
            who
            for name, who in names.candidates.items()
            if (name, position) in edges
            and name != leader.get(position)
            and not (decided and taken.get(name) != position)
        ]
        ahead = leader.get(position)
        races.append(
            Race(called, None if ahead is None else names.candidates[ahead], [] if status.done else others)
        )
    return races


def _graph(study: Study, status: Status, names: Names) -> Graph | None:
    """Lay the graph out; None if it is too large to see anything."""
    problem, progress = study.problem, status.progress
    if len(problem.edges) > MOST_EDGES_DRAWN:
        return None
    rows = max(len(problem.candidates), len(problem.positions))
    height = rows * (ROW if rows <= MANY else LOW_ROW)
    candidates = _heights(problem.candidates, height)
    positions = _heights(problem.positions, height)
    leader = {(candidate, position) for position, candidate in _leader(status).items()}
    accepted, rejected = set(progress.accepted), set(progress.rejected)
    x1, x2 = SIDE * GRAPH_WIDTH, (1 - SIDE) * GRAPH_WIDTH
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
        who, where = names.candidates[edge[0]], names.positions[edge[1]]
        lines.append(Line(kind, who, where, x1, candidates[edge[0]], x2, positions[edge[1]]))
    order = {"rejected": 0, "open": 1, "leader": 2, "accepted": 3}
    lines.sort(key=lambda line: order[line.kind])
    chosen = {candidate for candidate, _ in leader}
    return Graph(
        GRAPH_WIDTH,
        height,
        x1,
        x2,
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


def _curve(points: Sequence[Point]) -> Chart | None:
    """Draw how sure the study was after so many votes; it began with nothing."""
    if not points:
        return None
    last = points[-1]
    known = last.sure is not None
    values = [(0, 0.0), *((point.votes, (point.sure or 0.0) if known else point.decided) for point in points)]
    line = " ".join(f"{WIDTH * votes / last.votes:.1f},{HEIGHT * (1 - value):.1f}" for votes, value in values)
    label = CONFIDENCE if known else "Places decided, of all there are"
    return Chart(label, line, percent(values[-1][1]), f"{last.votes:,} vote{'s' * (last.votes != 1)}")


def _bars(hours: Mapping[int, int]) -> tuple[list[Bar], str]:
    """Draw how many votes came in each hour, the last three days of them."""
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
            f"{_time(hour)}: {count:,} vote{'s' * (count != 1)}",
        )
        for number, (hour, count) in enumerate(counts)
    ]
    return bars, f"from {_time(first)}; the busiest hour had {most:,}"


def _time(hour: int) -> str:
    return f"{datetime.fromtimestamp(hour * HOUR, UTC):%-d %B, %H:00} UTC"


def about(number: int) -> str:
    """Round an estimate, so that nobody takes it for more than it is.

    >>> about(12_600_603), about(37)
    ('about 13,000,000', 'about 37')
    """
    digits = max(0, len(str(number)) - 2)
    return f"about {round(number, -digits):,}"


def percent(share: float) -> str:
    """Write a confidence down, rounded so that it never says more than is known.

    >>> percent(0.94996), percent(1 - 0.05), percent(0.0)
    ('94.9%', '95.0%', '0.0%')
    """
    return f"{floor(1000 * share + 1e-6) / 10:.1f}%"


def counted(number: int) -> str:
    """Write a number down, unless nobody could read it.

    >>> counted(1_234), counted(109_027_350_432_000)
    ('1,234', 'over a million')
    """
    return f"{number:,}" if number <= 1_000_000 else "over a million"
