"""Settings in which ballots are measured with simulated crowds, and one run in each.

A run is wrong if the true winner was ruled out at any time, which is more than a wrong answer at the end.
The winner is ahead by a hair, so that the bets against it are nearly fair: a method that errs more often
than delta is seen to."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from unittest.mock import patch

import numpy as np
from benchmarks.error_rates import simulated_crowds as crowds
from benchmarks.error_rates.simulated_crowds import Crowd

import brute
import duelmatch as dm
from duelmatch.explorers.ballots import conclusions
from duelmatch.explorers.ballots.bets import Bets
from duelmatch.explorers.ballots.evidence import evidence
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.ballots.state import Participation

DELTA = 0.1
VOTERS = 150
PROBLEM = dm.Problem.complete(["a", "b", "c", "d"], ["s", "t"])
INSTANCES = 5


@cache
def latent(criterion: str, number: int, ties: bool = False) -> Crowd:
    """A crowd of four types, one ranking each at every position, whose winner is ahead by a hair."""
    rng = np.random.default_rng([number, 7])
    while True:
        crowd = crowds.typed(PROBLEM, rng.dirichlet(np.full(4, 5.0)), _rankings(rng, 4, ties), flips=0.02)
        if 0 < lead(crowd.preferences, criterion) < 0.02:
            return crowd


def _rankings(rng: np.random.Generator, types: int, ties: bool) -> np.ndarray:
    table = PROBLEM.graph.pair_table
    strength = (
        rng.integers(0, 3, (types, PROBLEM.graph.edges)) if ties else rng.random((types, PROBLEM.graph.edges))
    )
    difference = strength[:, table.first] - strength[:, table.second]
    return np.sign(difference) / 2 + 0.5


def lead(preferences: dm.Preferences, criterion: str) -> float:
    """By how much the winner is ahead of the closest other; 0 if there is none."""
    if criterion == "borda":
        return float(preferences.borda_margin())
    winner = preferences.condorcet_winner()
    if winner is None:
        return 0.0
    return float(preferences.condorcet_margin(preferences.problem.edge_numbers(winner)))


def winner_of(preferences: dm.Preferences, criterion: str) -> tuple[int, ...]:
    """The edges of the winner."""
    found = preferences.borda_winner() if criterion == "borda" else preferences.condorcet_winner()
    assert found is not None
    return tuple(preferences.problem.edge_numbers(found))


def study(criterion: str, seed: int, **settings: object) -> BallotExplorer:
    settings = {"ballot_size": 6, "assume_winner": True} | settings
    return BallotExplorer(PROBLEM, criterion, DELTA, seed, **settings)


def ruled_out(explorer: BallotExplorer, winner: tuple[int, ...]) -> bool:
    """Whether the winner is not among the possible ones."""
    rows = explorer.conclusions.possible
    if rows is None:
        return not explorer.conclusions.possible_edges[list(winner)].all()
    return not (rows == np.array(winner)).all(axis=1).any()


def play(
    criterion: str,
    seed: int,
    change: Callable[[Crowd], Crowd] = lambda crowd: crowd,
    ties: bool = False,
    explorer: dict | None = None,
    **holding: object,
) -> bool:
    crowd = latent(criterion, seed % INSTANCES, ties)
    run = study(criterion, seed, **(explorer or {}))
    crowds.hold(run, change(crowd), np.random.default_rng([seed, 11]), **({"voters": VOTERS} | holding))
    return ruled_out(run, winner_of(crowd.preferences, criterion))


def by_opinion(values: np.ndarray) -> float:
    """Voters who think this are quick, those who think that are slow."""
    return 5.0 if values[0] + values[4] + values[8] > 1.5 else 0.5


PAIR_RATES = np.linspace(0.3, 1.0, PROBLEM.graph.pairs)


def one_at_a_time(criterion: str, seed: int) -> bool:
    return play(criterion, seed)


def overlapping(criterion: str, seed: int) -> bool:
    return play(criterion, seed, lambda crowd: crowds.paced(crowd, by_opinion), together=20, at_once=1)


def coming_back(criterion: str, seed: int) -> bool:
    return play(criterion, seed, come_back=40, voters=300, together=10, at_once=2)


def skipping(criterion: str, seed: int) -> bool:
    return play(criterion, seed, lambda crowd: crowds.silent(crowd, lambda values: PAIR_RATES))


def quitting(criterion: str, seed: int) -> bool:
    return play(criterion, seed, lambda crowd: crowds.silent(crowd, np.ones_like, patience=4), together=5)


def sulking(criterion: str, seed: int) -> bool:
    """Voters mostly keep silent where the first candidate is not the better one."""
    return play(
        criterion,
        seed,
        lambda crowd: crowds.silent(crowd, lambda values: 0.5 + 0.45 * values),
        explorer={"silence": "any"},
    )


def tying(criterion: str, seed: int) -> bool:
    return play(criterion, seed, ties=True)


def ranking(criterion: str, seed: int) -> bool:
    return play(criterion, seed, explorer={"ballot_size": 6, "question_size": 3})


def striking_blindly(criterion: str, seed: int) -> bool:
    """Forty voters are struck, whatever they said; with the least-peak rule."""
    return play(criterion, seed, between=lambda run, came: run.strike(f"v{came}") if came % 3 == 0 else None)


def striking_after_looking(criterion: str, seed: int, counting: str = "least") -> bool:
    """Whoever did most for the true winner is struck, forty times."""
    winner = np.array(winner_of(latent(criterion, seed % INSTANCES).preferences, criterion))

    def strike(run: BallotExplorer, came: int) -> None:
        if came >= 30 and came % 3 == 0:
            run.strike(best_friend(run, winner))

    return play(criterion, seed, explorer={"counting": counting}, between=strike)


def best_friend(run: BallotExplorer, winner: np.ndarray) -> str:
    """The voter whose ballot says most against the champion and for the winner."""
    found, worst, name = run.conclusions.evidence[-1], 0.0, ""
    rows = winner[None, :]
    for ballot, answers in zip(run.state.ballots[: found.settled], run.state.returned, strict=False):
        if ballot.voter in found.count.struck:
            continue
        told = Bets.of(run.state.designs[ballot.design], run.state.contest, rows, 0.0).odds.told
        y = 0.0
        pairs = run.state.contest.pairs
        for pair, value in zip(ballot.pairs, answers.value, strict=True):
            edge = winner[pairs.position[pair]]
            at = (
                told.first
                if pairs.first[pair] == edge
                else told.second
                if pairs.second[pair] == edge
                else told.neither
            )
            y += at[pair] * (value - 0.5)
        if y < worst:
            worst, name = y, ballot.voter
    return name


def dropping(criterion: str, seed: int) -> bool:
    """A candidate leaves after 50 voters; who it would be does not depend on the answers."""
    preferences = latent(criterion, seed % INSTANCES).preferences
    gone = PROBLEM.candidates[seed % 4]
    winner = _winner_without(preferences, gone, criterion)
    wrong = []

    def leave(run: BallotExplorer, came: int) -> None:
        if came == 50:
            run.drop(gone)
        if came >= 50 and winner is not None:
            wrong.append(ruled_out(run, winner))

    play(criterion, seed, between=leave)
    return any(wrong)


def _winner_without(preferences: dm.Preferences, gone: str, criterion: str) -> tuple[int, ...] | None:
    """The edges of the winner among line-ups without somebody, in the numbers of the whole problem."""
    candidates = [name for name in PROBLEM.candidates if name != gone]
    problem = dm.Problem.complete(candidates, PROBLEM.positions)
    numbers = [PROBLEM.edge_number(*edge) for edge in problem.edges]
    left = dm.Preferences.from_matrix(problem, preferences.matrix[np.ix_(numbers, numbers)])
    found = left.borda_winner() if criterion == "borda" else left.condorcet_winner()
    return None if found is None else tuple(PROBLEM.edge_numbers(found))


def adding(criterion: str, seed: int) -> bool:
    """The fourth candidate comes after 50 voters."""
    crowd = latent(criterion, seed % INSTANCES)
    three = dm.Problem.complete(["a", "b", "c"], ["s", "t"])
    run = BallotExplorer(three, criterion, DELTA, seed, ballot_size=6, assume_winner=True)

    def come(run: BallotExplorer, came: int) -> None:
        if came == 50:
            run.add("d", ["s", "t"])

    crowds.hold(run, crowd, np.random.default_rng([seed, 11]), VOTERS, between=come)
    if len(run.problem.candidates) == 3:  # it was over before
        return False
    winner = PROBLEM.matching(winner_of(crowd.preferences, criterion))
    return ruled_out(run, tuple(run.problem.edge_numbers(winner)))


def tabled_ties(criterion: str, seed: int) -> bool:
    with patch.object(conclusions, "MOST_LISTED", 3):
        return exactly_tied(criterion, seed)


def few_quitters_who_come_back(criterion: str, seed: int) -> bool:
    """Twelve people, who answer pairs at different rates, leave, and come again under the same name."""
    return play(
        criterion,
        seed,
        lambda crowd: crowds.silent(crowd, lambda values: PAIR_RATES, patience=4),
        come_back=12,
        voters=60,
        together=3,
        at_once=2,
    )


def exactly_tied(criterion: str, seed: int) -> bool:
    """All line-ups are equally good to the crowd, and opposite to each other to its two types."""
    half = np.random.default_rng(seed % INSTANCES).integers(0, 2, PROBLEM.graph.pairs).astype(float)
    crowd = crowds.typed(PROBLEM, np.array([1.0, 1.0]), np.stack([half, 1 - half]))
    run = study(criterion, seed)
    crowds.hold(run, crowd, np.random.default_rng([seed, 11]), VOTERS)
    return ruled_out(run, tuple(brute.matchings(PROBLEM.graph)[0]))


def tabled(criterion: str, seed: int) -> bool:
    with patch.object(conclusions, "MOST_LISTED", 3):
        return play(criterion, seed)


SOUND = {
    "latent types": one_at_a_time,
    "latent types, 20 at a time, speed depends on the answers": overlapping,
    "40 people who come back": coming_back,
    "skippers, rates from 0.3 to 1 by pair": skipping,
    "quitters, after 4 questions on average": quitting,
    "silence that depends on the answer": sulking,
    "ties": tying,
    "rankings of 3": ranking,
    "40 strikes, blind": striking_blindly,
    "40 strikes, chosen after looking": striking_after_looking,
    "a candidate leaves": dropping,
    "a candidate comes late": adding,
    "12 people who come back, skip and quit": few_quitters_who_come_back,
    "latent types, tables": tabled,
    "exact ties, a given line-up ruled out": exactly_tied,
    "exact ties, tables": tabled_ties,
}


# Ways that are wrong, and must be seen to be


def settled_as_completed(criterion: str, seed: int, wrong: bool = True) -> bool:
    """Many voters are present at the same time, and those who are quick think otherwise."""
    crowd = latent(criterion, seed % INSTANCES)
    winner = np.array(winner_of(crowd.preferences, criterion))
    table = PROBLEM.graph.pair_table

    def speed(values: np.ndarray) -> float:
        own = winner[table.position]
        friendly = values[table.first == own].sum() + (1 - values[table.second == own]).sum()
        return 0.01 if friendly > 3 else 10.0

    run = study(criterion, seed)
    run.conclusions.threshold = np.inf
    order = crowds.hold(
        run, crowds.paced(crowd, speed), np.random.default_rng([seed, 11]), VOTERS, together=60, at_once=1
    )
    return _settled(run, order[:100] if wrong else sorted(order)[:100], winner)


def _settled(run: BallotExplorer, order: list[int], winner: np.ndarray) -> bool:
    """Whether the winner is ruled out if the ballots are settled in this order."""
    ballots = [
        dataclasses.replace(run.state.ballots[number], number=place) for place, number in enumerate(order)
    ]
    found = evidence(
        run.state.contest,
        run.state.designs,
        ballots,
        [run.state.returned[number] for number in order],
        rows=winner[None, :],
    )
    return bool(found.base.peak[0] >= np.log(1 / DELTA))


def silence_as_half(criterion: str, seed: int, wrong: bool = True) -> bool:
    """Two line-ups: the better is ahead by 0.15 where answers are rare, behind by 0.10 where they are not."""
    problem = dm.Problem.complete(["a", "b"], ["s", "t"])
    crowd = crowds.independent(dm.Preferences(problem, {("s", "a", "b"): 0.65, ("t", "a", "b"): 0.60}))
    quiet = crowds.silent(crowd, lambda values: np.array([0.3, 1.0]))
    silence = "any" if wrong else "blind"
    run = BallotExplorer(problem, criterion, DELTA, seed, ballot_size=2, silence=silence, assume_winner=True)
    if wrong:
        ending = run._end

        def end(part: Participation) -> None:
            if not part.over:
                answers, ballot = run.state.returned[part.ballot], run.state.ballots[part.ballot]
                run.state.tally.duels[ballot.pairs[answers.missing]] += 1
                run.state.tally.wins[ballot.pairs[answers.missing]] += 0.5
                answers.value[answers.missing] = 0.5
            ending(part)

        run._end = end
    crowds.hold(run, quiet, np.random.default_rng([seed, 11]), 2500 if wrong else 800)
    return ruled_out(run, tuple(problem.edge_numbers(dm.Matching({"s": "a", "t": "b"}))))


def striking_to_win(criterion: str, seed: int) -> bool:
    return striking_after_looking(criterion, seed, counting="last")


WRONG = {
    "silence as 1/2": silence_as_half,
    "settling in the order of completion": settled_as_completed,
    "40 strikes, chosen after looking, the last count only": striking_to_win,
}
