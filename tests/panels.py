"""The oracle of the panels: every line-up listed, every opinion counted, every completion tried.

Nothing here calls the code under test; ``Problem`` and ``Panel`` only carry the input.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations, product
from math import lcm

import numpy as np

from duelmatch.panel import Panel
from duelmatch.problem import Problem

Key = tuple[str, str, str, str]
"""(voter, position, first, second), first before second in the order of the problem"""

Opinions = dict[Key, int]
"""1 if the voter prefers first, -1 if second, 0 for no difference; who does not judge a pair is not in it"""

Weights = dict[str, int]


def lineups(problem: Problem) -> list[tuple[str, ...]]:
    """List every line-up as the candidates of the positions, in order."""
    edges = set(problem.edges)
    return [
        chosen
        for chosen in permutations(problem.candidates, len(problem.positions))
        if all(edge in edges for edge in zip(chosen, problem.positions, strict=True))
    ]


def pairs(problem: Problem) -> Iterator[tuple[str, str, str]]:
    """Yield every (position, first, second)."""
    for position in problem.positions:
        at = [candidate for candidate in problem.candidates if (candidate, position) in set(problem.edges)]
        for first, second in combinations(at, 2):
            yield position, first, second


class Count:
    """All answers counted, in whole numbers: p - 1/2 in units of ``1 / unit``, a sum over positions."""

    def __init__(self, problem: Problem, opinions: Opinions, weights: Weights) -> None:
        self.problem = problem
        self.lineups = lineups(problem)
        said: dict[tuple[str, str, str], list[tuple[int, int]]] = {pair: [] for pair in pairs(problem)}
        for (voter, *pair), opinion in opinions.items():
            said[tuple(pair)].append((weights[voter], opinion))  # type: ignore[index]
        totals = {pair: sum(weight for weight, _ in votes) for pair, votes in said.items()}
        unit = lcm(*(total for total in totals.values() if total))
        number = {candidate: place for place, candidate in enumerate(problem.candidates)}
        size = len(problem.candidates)
        whole = np.int64 if unit < 1 << 40 else object
        table = np.zeros((len(problem.positions), size, size), dtype=whole)
        for (position, first, second), votes in said.items():
            if totals[position, first, second]:
                margin = sum(weight * opinion for weight, opinion in votes)
                margin *= unit // totals[position, first, second]
                j, a, b = problem.positions.index(position), number[first], number[second]
                table[j, a, b], table[j, b, a] = margin, -margin
        rows = np.array([[number[name] for name in lineup] for lineup in self.lineups])
        self.over = np.zeros((len(rows), len(rows)), dtype=whole)
        for j in range(len(problem.positions)):
            self.over += table[j][rows[:, j][:, None], rows[:, j][None, :]]
        self.unit = 2 * unit * len(problem.positions)
        self.worst_defeats = -self.over.min(axis=1)
        self.borda = self.over.sum(axis=1)

    def winners(self, criterion: str) -> set[tuple[str, ...]]:
        """Return the line-ups that nothing beats, or those with the best score."""
        best = self.worst_defeats == 0 if criterion == "condorcet" else self.borda == self.borda.max()
        return {lineup for lineup, is_best in zip(self.lineups, best, strict=True) if is_best}

    def shortfall(self, criterion: str, lineup: tuple[str, ...]) -> float:
        """Return the worst defeat, or by how much the score is below the best, per position."""
        row = self.lineups.index(lineup)
        if criterion == "condorcet":
            return float(self.worst_defeats[row] / self.unit)
        return float((self.borda.max() - self.borda[row]) / len(self.lineups) / self.unit)

    def agrees(self, criterion: str, status: str, lineup: tuple[str, ...], shortfall: float) -> bool:
        """Whether what is said of a line-up is so."""
        if self.shortfall(criterion, lineup) > shortfall + 1e-12:
            return False
        row, winners = self.lineups.index(lineup), self.winners(criterion)
        match criterion, status:
            case "borda", "decided":
                return winners == {lineup}
            case "borda", "tied":
                return lineup in winners and len(winners) > 1
            case _, "decided":
                return bool((np.delete(self.over[row], row) > 0).all())
            case _, "unbeaten":
                return lineup in winners
            case _, "no_winner":
                return not winners and bool(self.worst_defeats[row] == self.worst_defeats.min())
        return status == "budget_spent"


def opinions_of(panel: Panel) -> Opinions:
    """Return what a panel says, read by its public method."""
    found: Opinions = {}
    for voter in panel.voters:
        for position, first, second in pairs(panel.problem):
            opinion = panel.opinion(voter, position, first, second)
            if opinion is not None:
                found[voter, position, first, second] = opinion
    return found


def is_ranking(problem: Problem, opinions: Opinions, voter: str) -> bool:
    """Whether a voter's opinions are transitive, those on pairs that are not judged left out."""
    for position in problem.positions:
        known: dict[tuple[str, str], int] = {}
        for (who, where, first, second), opinion in opinions.items():
            if (who, where) == (voter, position):
                known[first, second], known[second, first] = opinion, -opinion
        names = {name for pair in known for name in pair}
        for a, b, c in permutations(names, 3):
            if (a, b) in known and (b, c) in known and (a, c) in known:
                one, two, three = known[a, b], known[b, c], known[a, c]
                if one >= 0 and two >= 0 and three != max(one, two):
                    return False
    return True


def completions(
    problem: Problem, known: Opinions, missing: list[Key], consistent: bool
) -> Iterator[Opinions]:
    """Yield every way to fill in the missing opinions; with rankings, of those that rank, only rankings."""
    voters = {key[0] for key in missing}
    for values in product((1, 0, -1), repeat=len(missing)):
        filled = known | dict(zip(missing, values, strict=True))
        if not consistent or all(is_ranking(problem, filled, voter) for voter in voters):
            yield filled


KINDS = ("rankings", "ties", "intransitive")


def random_problem(rng: np.random.Generator, most: int) -> Problem:
    positions = int(rng.integers(1, most + 1))
    candidates = int(rng.integers(max(2, positions), most + 1)) if most > positions else most
    density = float(rng.choice([0.4, 0.6, 0.8, 1.0, 1.0]))
    present = rng.random((positions, candidates)) < density
    present[np.arange(positions), rng.permutation(candidates)[:positions]] = True
    edges = [(f"c{i}", f"s{j}") for j, i in np.argwhere(present).tolist()]
    names = [f"c{i}" for i in range(candidates)], [f"s{j}" for j in range(positions)]
    return Problem.from_edges(edges, *names)


def random_panel(seed: int, most: int = 6, most_voters: int = 9) -> tuple[Panel, bool]:
    """Return a panel, and whether all its voters rank: ties, cycles, conflicts, weights, sparse graphs."""
    rng = np.random.default_rng([seed, 31])
    problem = random_problem(rng, most)
    kind = KINDS[int(rng.integers(len(KINDS)))]
    voters = [f"v{number}" for number in range(int(rng.integers(1, most_voters + 1)))]
    spread = float(rng.choice([0.0, 0.5, 1.5]))
    strength = {edge: spread * rng.standard_normal() for edge in problem.edges}
    conflicts: dict[str, list[str | tuple[str, str, str]]] = {}
    if rng.random() < 0.5:
        for voter in voters:
            if rng.random() < 0.3:
                conflicts.setdefault(voter, []).append(str(rng.choice(problem.candidates)))
            elif kind == "intransitive" and rng.random() < 0.3:
                every = list(pairs(problem))
                if every:
                    conflicts.setdefault(voter, []).append(every[int(rng.integers(len(every)))])
    weights = {}
    if rng.random() < 0.5:
        choices = [1, 2, 3, 0.5, Fraction(1, 3)]
        weights = {voter: choices[int(rng.integers(len(choices)))] for voter in voters}
    answers: list[tuple[object, ...]] = []
    for voter in voters:
        utility = {edge: strength[edge] + rng.gumbel() for edge in problem.edges}
        if kind == "ties":
            utility = {edge: float(np.round(value)) for edge, value in utility.items()}
        for position, first, second in pairs(problem):
            out = conflicts.get(voter, [])
            if first in out or second in out or (position, first, second) in out:
                continue
            gap = utility[first, position] - utility[second, position]
            if kind == "intransitive":
                gap = float(rng.choice([-1, 0, 1, gap, gap]))
            if gap == 0:
                answers.append((voter, position, (first, second)))
            else:
                answers.append((voter, position, *((first, second) if gap > 0 else (second, first))))
    if not answers:
        return random_panel(seed + 1_000_000, most, most_voters)
    heard = {str(answer[0]) for answer in answers}
    panel = Panel(
        problem,
        answers=answers,  # type: ignore[arg-type]
        conflicts={voter: out for voter, out in conflicts.items() if voter in heard},
        voter_weight={voter: weight for voter, weight in weights.items() if voter in heard},
    )
    return panel, kind != "intransitive"


def weights_of(panel: Panel) -> Weights:
    return {voter: int(weight) for voter, weight in zip(panel.voters, panel.weights, strict=True)}
