"""For every position who leads, who else may win, and how probably: what a jury wants to see first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from duelmatch.models.standings import Standings
from duelmatch.studies import Estimates, Status, Study
from duelmatch.web.names import Named, Names

Edges = set[tuple[str, str]]

SHOWN = 5
"""Contenders with a bar, at a position."""

SMALL = 0.01
"""Those who are less probable have none."""


@dataclass(frozen=True, slots=True)
class Contender:
    """Somebody who may fill a position, and how probably, by an estimate, if there is one."""

    who: Named
    leads: bool
    share: float | None


@dataclass(frozen=True, slots=True)
class Race:
    """A position: who leads it, how probably, and who else may win it."""

    position: Named
    decided: bool
    leaders: list[Named]
    """Nobody, or one for each seat."""
    contenders: list[Contender]
    """With bars, the leaders first; nobody where it is decided or nothing is estimated."""
    others: list[Named]
    """All others who may still win, as far as is known."""
    word: str
    """How open it is, in two or three words."""


def leader_of(status: Status, standings: Standings | None) -> Edges:
    """Return who leads at which position: the result, or else who leads by the estimate.

    Before the first votes nobody does, wherever the run begins. An estimate does not count against what is
    certain of a panel: it may be older.
    """
    if not (status.certain or status.counted):
        return set()
    estimated = None if standings is None or status.certain else standings.leader
    leader = estimated or status.result.matching or status.progress.leader
    leading = set() if leader is None else set(leader.edges)
    if status.certain or status.algorithm != "panel":
        return leading
    return (leading & possible_in(status)) | set(status.progress.accepted)


def possible_in(status: Status) -> Edges:
    """Return who may still fill which position, in a panel also of those who may be beaten least."""
    progress = status.progress
    if progress.possible_winners and status.algorithm != "panel":
        return {edge for lineup in progress.possible_winners for edge in lineup.edges}
    return {*progress.accepted, *progress.undecided}


def races_of(study: Study, status: Status, names: Names, standings: Standings | None) -> list[Race]:
    """Return who may still win each position, as far as the study tells."""
    leader = leader_of(status, standings)
    leading = _by_position(leader, names)
    possible = {} if status.certain else _by_position(possible_in(status) - leader, names)
    accepted = Counter(position for _, position in status.progress.accepted)
    estimated = {} if standings is None else standings.by_position
    seats = study.problem.seats
    races = []
    for position, called in names.positions.items():
        decided = status.certain or accepted[position] >= seats.get(position, 1)
        leaders = leading.get(position, [])
        others = [] if decided else possible.get(position, [])
        in_play = set() if decided else {who.name for who in (*leaders, *others)}
        shares = {name: share for name, share in estimated.get(position, {}).items() if name in in_play}
        contenders = _contenders(leaders, shares, names)
        races.append(Race(called, decided, leaders, contenders, others, _word(decided, contenders)))
    return races


def _by_position(edges: Edges, names: Names) -> dict[str, list[Named]]:
    """Return who is on edges to each position, in the order of the problem.

    One pass over the edges: a page that tries every candidate at every position takes seconds.
    """
    found: dict[str, list[Named]] = {}
    order = {name: number for number, name in enumerate(names.candidates)}
    for candidate, position in sorted(edges, key=lambda edge: order[edge[0]]):
        found.setdefault(position, []).append(names.candidates[candidate])
    return found


def _contenders(leaders: list[Named], shares: dict[str, float], names: Names) -> list[Contender]:
    if not shares:
        return []
    ahead = [Contender(who, True, shares.get(who.name, 0.0)) for who in leaders]
    rest = sorted(shares.keys() - {who.name for who in leaders}, key=lambda name: (-shares[name], name))
    behind = [
        Contender(names.candidates[name], False, shares[name])
        for name in rest[: max(0, SHOWN - len(ahead))]
        if shares[name] >= SMALL
    ]
    return ahead + behind


def _word(decided: bool, contenders: list[Contender]) -> str:
    """Say how open a race is."""
    if decided:
        return "decided"
    leading = [each.share for each in contenders if each.leads and each.share is not None]
    if not leading:
        return "open"
    least = min(leading)
    if least >= 0.95:
        return "nearly settled"
    if least >= 0.8:
        return "clear lead"
    return "ahead" if least >= 0.5 else "wide open"


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """What voters see of a result that is shown to them: who fills what, and what kind of answer that is."""

    kind: Literal["panel", "crowd", "beaten least", "leading", "nothing"]
    wrong: str
    """How often such a result of a crowd is wrong, at most."""
    races: list[Race]

    @classmethod
    def of(cls, study: Study, estimates: Estimates | None) -> PublishedResult:
        """Return what a closed study has come to; what it says is what the organiser's page says."""
        status = study.status()
        wrong = f"{100 * status.result.delta:g}%"
        if not (status.certain or status.counted):
            return cls("nothing", wrong, [])
        standings = None if status.certain or estimates is None else estimates.standings
        races = races_of(study, status, Names.of(study.problem), standings)
        if not status.certain:
            return cls("leading", wrong, races)
        if status.result.status == "no_winner":
            return cls("beaten least", wrong, races)
        return cls("panel" if status.algorithm == "panel" else "crowd", wrong, races)
