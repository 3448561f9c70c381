"""Runs and studies in words: what is possible, who leads and how surely, what is left, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from duelmatch.cli.output import Page
from duelmatch.explorers.catalogue import described
from duelmatch.phrases import counted, likely, spoken, two_digits, votes_in_100

if TYPE_CHECKING:
    import duelmatch as dm
    from duelmatch.studies import AnswersLeft, Estimates, Status, Study

FEW = 4
"""How many possible winners are listed."""

MOST_OTHERS = 3
"""How many others are named at a position."""

SMALL = 0.01
"""Those who are less probable are not."""

NO_JUDGE = "Nothing is decided: there is no judge whose answers count."

MOST_AWAITED = 8
"""How many judges are named whose opinions are open."""


def standing(progress: dm.Progress) -> str:
    """Return one sentence; algorithms that do not know what is still possible tell what is decided."""
    knows = progress.p_value is not None
    parts = [still_possible(progress) if knows else f"{edges_decided(progress)} decided"]
    if progress.duels_left is not None and progress.possible != 1:
        parts.append(f"about {counted(_roughly(progress.duels_left), 'duel')} left")
    if progress.leader is not None and progress.duels:
        sure = "" if progress.p_value is None else f" (p {probability(progress.p_value)})"
        parts.append(f"leader, NOT CERTIFIED{sure}: {lineup(progress.leader)}")
    return "; ".join(parts)


def edges_decided(progress: dm.Progress) -> str:
    """Return how many edges are decided."""
    decided = len(progress.accepted) + len(progress.rejected)
    return f"{decided:,} of {counted(decided + len(progress.undecided), 'edge')}"


def still_possible(progress: dm.Progress) -> str:
    """Return how many matchings may still be the winner."""
    if progress.possible is None:
        return "more matchings still possible than can be counted"
    if progress.possible == 1:
        return "1 matching still possible, and not yet proven to be the winner"
    return f"{counted(progress.possible, 'matching')} still possible"


def few_possible(progress: dm.Progress) -> list[str]:
    """Return the matchings that may still be the winner, a line each, if they are few."""
    if progress.duels == 0 or not 1 < len(progress.possible_winners) <= FEW:
        return []
    return [
        f"- {lineup(matching)}{' (the leader)' * (matching == progress.leader)}"
        for matching in progress.possible_winners
    ]


def print_matching(page: Page, matching: dm.Matching, heading: str = "Candidate") -> None:
    """Print who fills what."""
    page.table(["Position", heading], [(position, spoken(names)) for position, names in matching.items()])


def print_found(page: Page, result: dm.Result) -> None:
    """Print who fills what by a result, and whether that is certified."""
    if result.matching is not None:
        certified = result.status in ("certified", "within_epsilon")
        print_matching(page, result.matching, "Candidate" if certified else "Candidate (NOT CERTIFIED)")


def how_sure(progress: dm.Progress, result: dm.Result) -> str:
    """Say how sure one may be of the leader of a run that is not over."""
    if progress.leader is None:
        return f"{result.algorithm} names no leader yet: the run was stopped too early for that."
    if progress.p_value is None:
        return "This is a guess from the answers so far: the run was stopped before it was sure of anything."
    chance = probability(progress.p_value)
    sentence = "This is a guess from the answers so far, which do not speak for it yet (p 1)."
    if chance != "1":
        sentence = (
            f"This is a guess from the answers so far (p {chance}): if another matching were the winner, the "
            f"chance of ever seeing evidence this strong for this one would be at most {chance}."
        )
    if progress.possible is not None and progress.possible > 1:
        condorcet = described(result.algorithm).criterion == "condorcet"
        winner = "The Condorcet winner, if there is one," if condorcet else "The Borda winner"
        sentence += (
            f" {winner} is among the {counted(progress.possible, 'matching')} still possible, unless this is "
            f"one of the {100 * result.delta:g}% of all runs that may go wrong."
        )
    return sentence


def against(reference: str | None) -> str:
    """Say against whom Borda counts, if not against all matchings."""
    from duelmatch.explorers.result import AGAINST

    return AGAINST.get(reference or "", "").removeprefix(", Borda")


def meaning(result: dm.Result) -> str:
    """Say what the result of a run that is over means, and how sure it is."""
    proviso = "".join(f", if {assumption.sentence}" for assumption in result.assuming)
    others = against(result.reference)
    match result.status, described(result.algorithm).criterion:
        case "certified", "condorcet":
            sentence = f"This is the Condorcet winner{proviso}: put against any other matching, it wins."
        case "certified", _:
            sentence = f"This is the Borda winner{proviso}: no matching does better on average{others}."
        case "within_epsilon", "condorcet":
            whom = "the Condorcet winner" if result.assuming else "any other matching"
            sentence = (
                f"This is good enough{proviso}: put against {whom}, it wins, or loses by at most "
                f"{result.epsilon:g}."
            )
        case "within_epsilon", _:
            whom = others or " against all matchings"
            sentence = (
                f"This is as good as the Borda winner, or nearly{proviso}: its average score{whom} is within "
                f"{result.epsilon:g} of the best."
            )
        case _:
            sentence = "There is no Condorcet winner: every matching loses to another, or ties with it."
    return (
        f"{sentence} The chance that this is wrong is at most {100 * result.delta:g}%, provided that each "
        "duel was answered independently and with the same probabilities throughout. What "
        f"{result.algorithm} promises: {described(result.algorithm).guarantee}"
    )


def lineup(matching: Mapping[str, str]) -> str:
    """Return who fills what, in words."""
    return ", ".join(f"{spoken(names)} for {position}" for position, names in matching.items())


def differences(matching: dm.Matching, other: dm.Matching) -> list[str]:
    """Return who fills what in a matching where another one has somebody else."""
    return [
        f"{spoken(names)} at {position}" for position, names in matching.items() if other[position] != names
    ]


def _roughly(duels: int) -> int:
    """Return an estimate with the two digits that may matter, and never 0: the run is not over."""
    return max(1, int(float(f"{duels:.2g}")))


def probability(value: float) -> str:
    """Return a probability with two digits that matter, rounded up: it is a bound.

    >>> probability(1.0), probability(0.9312), probability(0.00213)
    ('1', '0.94', '0.0022')
    """
    if value <= 0:
        return "0"
    unit = 10.0 ** (floor(log10(value)) - 1)
    return f"{min(1.0, ceil(round(value / unit, 9)) * unit):.2g}"


def to_go(left: AnswersLeft | None) -> str:
    """Say how many more answers it takes.

    >>> from duelmatch.studies import AnswersLeft
    >>> to_go(AnswersLeft(361, 397, 666, None)), to_go(AnswersLeft(120, None, None, 2290))
    ('360 to 670 in 8 of 10 cases (an estimate)', '120 or more, maybe more than 2,300 (an estimate)')
    >>> to_go(AnswersLeft(None, None, None, 2290)), to_go(None)
    ('more than 2,300 (an estimate)', 'not known')
    """
    if left is None:
        return "not known"
    if left.high is not None:
        if left.low is None or left.low == left.high:
            return f"{two_digits(left.high)} at most"
        return f"{two_digits(left.low)} to {two_digits(left.high)} in 8 of 10 cases (an estimate)"
    beyond = f"more than {two_digits(left.beyond or 0)} (an estimate)"
    return beyond if left.low is None else f"{two_digits(left.low)} or more, maybe {beyond}"


def print_standings(page: Page, estimates: Estimates) -> None:
    """Print who leads, and who is probably in the best line-up."""
    from duelmatch.problem import seated

    found = estimates.standings
    assert found is not None, "there are standings"
    rows, estimated = [], found.by_position
    for position, chosen in found.leader.items():
        leaders = seated(chosen)
        shares = estimated[position]
        others = sorted(shares.keys() - set(leaders), key=lambda name: (-shares[name], name))[:MOST_OTHERS]
        rows.append(
            (
                position,
                ", ".join(f"{name} {likely(shares[name])}" for name in leaders),
                ", ".join(f"{name} {likely(shares[name])}" for name in others if shares[name] >= SMALL),
            )
        )
    page.table(["Position", "Leads (NOT CERTAIN)", "Or else"], rows)
    page.paragraph(
        "Nothing is certain yet. These are standings, an estimate without a guarantee, by a model of "
        f"{counted(estimates.answers, 'answer')}: how probably each belongs to the best line-up. The leader "
        f"as a whole is the best one with probability {likely(found.leader_probability)}, and is expected to "
        f"be behind the best by {100 * found.expected_shortfall:.1f} votes in 100 at each position."
    )


def estimated(standings: dm.Standings) -> dict[str, Any]:
    """Return what is estimated, without a guarantee: the leader, and who else may be in the best line-up."""
    return {
        "estimate": True,
        "leader": standings.leader,
        "leader_probability": standings.leader_probability,
        "probability": standings.by_position,
        "expected_shortfall": standings.expected_shortfall,
    }


def panel_facts(where: Status, positions: int) -> Iterator[tuple[str, str]]:
    """Say how far a panel is: nothing is left to decide once the outcome is certain."""
    progress = where.progress
    if where.certain:
        yield "Outcome", where.result.status.replace("_", " ")
        return
    yield "Positions decided", f"{len(progress.decided):,} of {positions:,}"
    if progress.possible is not None:
        yield "Line-ups that may win", f"{progress.possible:,}"


def panel_meaning(result: dm.Result) -> str:
    """Say what a panel has decided."""
    proviso = "".join(f", if {assumption.sentence}" for assumption in result.assuming)
    shortfall = result.shortfall or 0.0
    points = f"{votes_in_100(shortfall)} at each position"
    match result.status:
        case "decided":
            return f"This is decided{proviso}: whatever the open answers are, it is the panel's choice."
        case "unbeaten":
            return (
                f"This is certain{proviso}: nothing beats it, whatever the open answers are; some may draw."
            )
        case "tied":
            return f"This is certain{proviso}: no score is above it, and at least one other is equal."
        case "no_winner":
            return (
                f"Every line-up is beaten by another{proviso}. This one is beaten least: its share of the "
                f"votes is {points} below half at most."
            )
    if votes_in_100(shortfall) == votes_in_100(0.0):
        return "This is not certain yet: nobody can be ahead any more, but others may draw level."
    return f"This is not certain yet: by the open answers another line-up may be ahead, by {points} at most."


def nothing_counts(result: dm.Result) -> bool:
    """Whether a panel has nobody to count: all judges are struck, or judge nothing."""
    return result.status == "budget_spent" and result.duels == 0 and result.shortfall == 0


def print_awaited(page: Page, where: Status, study: Study) -> None:
    """Say whose answers a panel waits for, and what to do if they will not come."""
    judges = {voter.id: voter for voter in study.voters()}
    awaited = where.progress.waiting_for
    if not awaited or where.certain:
        return
    names = [
        f"{judges[voter].name or voter} {number:,}" + " (has left)" * judges[voter].left
        for voter, number in awaited[:MOST_AWAITED]
    ]
    more = f", and of {counted(len(awaited) - MOST_AWAITED, 'other')}" if len(awaited) > MOST_AWAITED else ""
    page.paragraph(f"Open opinions of {', '.join(names)}{more}.")
    if where.phase != "closed":
        page.line(
            "Not to wait for what a judge has not said: duelmatch study leave NAME --drop-open (what they "
            "have said still counts)."
        )
