"""Known win probabilities: scores between matchings, and the exact Borda and Condorcet winners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from duelmatch.errors import ProblemError, brief, listed
from duelmatch.graph import Indices, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.game import Game
from duelmatch.matchings.general_game import payoffs
from duelmatch.matchings.reference import reference_of
from duelmatch.problem import Matching, Problem, check_problem

Criterion = Literal["borda", "condorcet"]
"""What makes a matching the best: the highest score on average, or beating every other."""

Pair = tuple[str, str, str]
"""(position, first, second)"""

TIE = 1e-12
"""Scores closer than this are a tie: rounding in a sum of l probabilities stays far below it."""

SHARPENING = 1e4
"""Factor on the payoffs that takes the LP's tolerance of 1e-10 below TIE, so that no winner is overlooked."""

STEPS = 5
"""From one decision to the one that does best against it, before the game is solved."""


class Preferences:
    """The probability that one candidate beats another, for every two candidates of a position.

    ``win`` maps (position, first, second) to P(first beats second at position). Each pair is needed in
    one direction only; the reverse is implied, and checked where both are given.

    >>> team = Problem.complete(["ann", "bob"], ["chair"])
    >>> Preferences(team, {("chair", "ann", "bob"): 0.75}).probability("chair", "bob", "ann")
    0.25
    """

    def __init__(self, problem: Problem, win: Mapping[Pair, float]) -> None:
        if not isinstance(win, Mapping):
            raise ProblemError(
                f"Preferences are a mapping from (position, first, second) to a probability, not {win!r:.80}."
            )
        check_problem(problem, "A set of preferences")
        self.problem = problem
        graph = problem.graph
        matrix = np.zeros((graph.edges, graph.edges))
        for low, high in pairwise(graph.start.tolist()):
            matrix[low:high, low:high] = np.nan
        np.fill_diagonal(matrix, 0.5)
        number = {edge: place for place, edge in enumerate(problem.edges)}
        for pair, probability in win.items():
            _check_pair(pair, probability)
            position, first, second = pair
            row, column = number.get((first, position), -1), number.get((second, position), -1)
            if row < 0 or column < 0:
                problem.edge_number(first if row < 0 else second, position)  # says what is wrong
            if first == second and probability != 0.5:
                raise ProblemError(f"'{first}' against itself at '{position}' is 0.5 by definition.")
            known = matrix[row, column]
            if abs(known - probability) > 1e-9:
                raise ProblemError(
                    f"The two directions of '{first}' against '{second}' at '{position}' contradict "
                    f"each other: they imply both {known:.6g} and {probability:.6g}; "
                    "the two probabilities must add up to 1."
                )
            if np.isnan(known):
                matrix[row, column] = probability
                matrix[column, row] = 1.0 - probability
        if np.isnan(matrix).any():
            raise ProblemError(self._missing_sentence(matrix))
        self._seal(matrix)

    @classmethod
    def from_matrix(cls, problem: Problem, matrix: NDArray[np.float64]) -> Preferences:
        """Build from the paper's m x m matrix P in edge order (entries of other positions are ignored)."""
        graph = problem.graph
        not_probabilities = "Every entry of the matrix must be a probability between 0 and 1."
        try:
            matrix = np.array(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise ProblemError(not_probabilities) from None
        if matrix.shape != (graph.edges, graph.edges):
            raise ProblemError(
                f"The matrix must be {graph.edges} x {graph.edges}, one row and column per edge, "
                f"not {' x '.join(map(str, matrix.shape))}."
            )
        comparable = graph.comparable
        matrix[~comparable] = 0.0
        if not ((matrix >= 0) & (matrix <= 1)).all():
            raise ProblemError(not_probabilities)
        if (np.abs(matrix + matrix.T - 1.0)[comparable] > 1e-9).any():
            raise ProblemError("The matrix must satisfy P[a, b] + P[b, a] = 1, with 0.5 on its diagonal.")
        below = np.tril(comparable, -1)
        matrix[below] = 1.0 - matrix.T[below]
        np.fill_diagonal(matrix, 0.5)
        preferences = cls.__new__(cls)
        preferences.problem = problem
        preferences._seal(matrix)
        return preferences

    def _seal(self, matrix: NDArray[np.float64]) -> None:
        matrix.setflags(write=False)
        self.matrix = matrix

    def _missing_sentence(self, matrix: NDArray[np.float64]) -> str:
        rows, columns = np.nonzero(np.triu(np.isnan(matrix)))
        edges = self.problem.edges
        missing = [
            f"{edges[row][0]} against {edges[column][0]} at {edges[row][1]}"
            for row, column in zip(rows, columns, strict=True)
        ]
        return f"The probability of {listed(missing, limit=3)} is missing."

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Preferences):
            return NotImplemented
        return self.problem == other.problem and np.array_equal(self.matrix, other.matrix)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Preferences({self.problem!r}, {dict(self.items())!r})"

    def items(self) -> Iterator[tuple[Pair, float]]:
        """Yield ((position, first, second), probability), each unordered pair once, in edge order."""
        table, edges = self.problem.graph.pair_table, self.problem.edges
        for first, second in zip(table.first.tolist(), table.second.tolist(), strict=True):
            candidate, position = edges[first]
            yield (position, candidate, edges[second][0]), float(self.matrix[first, second])

    def probability(self, position: str, first: str, second: str) -> float:
        """Return P(first beats second at position)."""
        row = self.problem.edge_number(first, position)
        return float(self.matrix[row, self.problem.edge_number(second, position)])

    def score(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> float:
        """Return f(M1, M2, P): the average over positions of the probability that M1's choice wins.

        With weights it is the weighted mean over positions; a position of several seats has the mean over
        all pairs of one of M1's and one of M2's, where somebody against itself counts 1/2.
        """
        rows, columns = self.problem.edge_numbers(first), self.problem.edge_numbers(second)
        if self.problem.graph.even:
            return float(self.matrix[rows, columns].mean())
        return float(self.shares_against(columns)[rows].sum())

    def shares_against(self, decision: Indices) -> Vector:
        """Return, for every edge, what it adds to f(M, decision) if M uses it."""
        graph = self.problem.graph
        shares: Vector = self.matrix[:, decision].sum(axis=1) * graph.edge_scale / graph.total_weight
        return shares

    @cached_property
    def edge_rewards(self) -> Vector:
        """w(e) for every edge: how often it beats the choice of a uniformly random matching.

        At a position of several seats, one of that matching's candidates drawn at random.
        """
        graph = self.problem.graph
        rewards: Vector = self.matrix @ decisions_of(graph).marginals()
        return rewards / graph.seats[graph.edge_position]

    @property
    def edge_values(self) -> Vector:
        """What every edge adds to B(M), times the total weight: w(e), and its share of the position."""
        return self.edge_rewards * self.problem.graph.edge_share

    def rewards(self) -> dict[tuple[str, str], float]:
        """Return w(e) by name: {(candidate, position): reward}."""
        return dict(zip(self.problem.edges, self.edge_rewards.tolist(), strict=True))

    def borda_score(
        self, matching: Mapping[str, Any], reference: Literal["decisions", "candidates"] = "decisions"
    ) -> float:
        """Return B(M): the average score of the matching against all maximum matchings.

        With ``reference="candidates"``, against a random candidate of each position instead.
        """
        values = self._values_against(reference)[self.problem.edge_numbers(matching)]
        return float(values.sum() / self.problem.graph.total_weight)

    def borda_winner(self, reference: Literal["decisions", "candidates"] = "decisions") -> Matching:
        """Return a matching with the highest Borda score; ask :meth:`borda_margin` whether it is alone."""
        if reference == "decisions":
            return self.problem.matching(self._best_edges)
        return self.problem.matching(decisions_of(self.problem.graph).one(self._values_against(reference)))

    def borda_margin(self) -> float:
        """Return how far the Borda winner's score is above the runner-up's: 0 for a tie, inf if alone."""
        values = self.edge_values
        other = decisions_of(self.problem.graph).best_other(values, self._best_edges)
        if other is None:
            return float("inf")
        margin = float(values[self._best_edges].sum() - values[other].sum())
        margin /= self.problem.graph.total_weight
        return margin if margin > TIE else 0.0

    def condorcet_winner(self) -> Matching | None:
        """Return the matching that beats every other with a score above 1/2; None if there is none."""
        winner = self._condorcet_edges
        return None if winner is None else self.problem.matching(winner)

    def least_beaten(self) -> tuple[Matching, float]:
        """Return the matching whose worst defeat is smallest, and that defeat per position: 0 if unbeaten.

        It always exists: where there is a Condorcet winner, it is the Condorcet winner. Of several, any.

        :raises TooLargeError: beyond the limits of :mod:`duelmatch.matchings.minimax`.
        """
        from duelmatch.matchings.minimax import least_beaten  # compiled, and seldom needed

        graph = self.problem.graph
        ahead = np.where(graph.comparable, self.matrix - 0.5, 0.0)
        found = least_beaten(graph, ahead * graph.edge_scale)
        assert found is not None, "a Problem has a matching"
        edges, defeat = found
        loss = float(defeat) / graph.total_weight
        return self.problem.matching(edges), loss if loss > TIE else 0.0

    def winner_edges(self, criterion: Criterion) -> Indices:
        """Return the edges of the winner by a criterion.

        :raises ProblemError: if there is no Condorcet winner.
        """
        if criterion == "borda":
            return self._best_edges
        if criterion != "condorcet":
            raise ProblemError(f"The criterion must be 'borda' or 'condorcet', not {criterion!r:.80}.")
        if self._condorcet_edges is None:
            raise ProblemError("These preferences have no Condorcet winner, so it has no gaps.")
        return self._condorcet_edges

    @cached_property
    def _best_edges(self) -> Indices:
        return decisions_of(self.problem.graph).one(self.edge_values)

    @cached_property
    def _condorcet_edges(self) -> Indices | None:
        """The Condorcet winner.

        Mostly one is found within a few steps from one decision to the one that does best against it. For
        certain: if it exists it is the only optimum of the max-min game over the matching polytope (no
        mixture of matchings does as well against it), so one LP finds the only possible winner and one
        round of assignment problems proves or refutes it.
        """
        graph, decisions = self.problem.graph, decisions_of(self.problem.graph)
        champion = decisions.one(np.where(graph.comparable, self.matrix - 0.5, 0.0).sum(axis=1))
        for _ in range(STEPS):
            rival, score = self.closest_rival(champion)
            if rival is None or score - 0.5 > TIE:
                return champion
            champion = rival
        if graph.conditions is None:
            strategy = Game(graph, SHARPENING * self.matrix).solve().x
        else:
            strategy = decisions.game(SHARPENING * payoffs(graph, self.matrix)).solve().x
        assert strategy is not None, "a Problem has a matching"
        champion = decisions.one(strategy)
        return champion if self.condorcet_margin(champion) > 0 else None

    def condorcet_margin(self, champion: Indices) -> float:
        """Return the smallest f(champion, M) - 1/2 over all other matchings M: above 0 for the winner."""
        margin = self.closest_rival(champion)[1] - 0.5
        return margin if abs(margin) > TIE else 0.0

    def closest_rival(self, champion: Indices) -> tuple[Indices | None, float]:
        """Return the decision that does best against another, and the other's score against it.

        None, and infinity, if there is no other.
        """
        graph, decisions = self.problem.graph, decisions_of(self.problem.graph)
        over = self.matrix[:, champion].sum(axis=1) * graph.edge_scale
        rival = decisions.best_other(over, champion)
        if rival is None:
            return None, float("inf")
        return rival, 1.0 - float(over[rival].sum() / graph.total_weight)

    def _values_against(self, reference: str) -> Vector:
        if reference == "decisions":
            return self.edge_values
        if reference != "candidates":
            raise ProblemError(f"The reference must be 'decisions' or 'candidates', not {reference!r:.50}.")
        graph = self.problem.graph
        rewards: Vector = self.matrix @ reference_of(graph, "candidates").shares
        return rewards * graph.edge_share


def check_preferences(preferences: object, what: str) -> None:
    """Refuse what are no preferences; the sentence begins with ``what`` needs them.

    :raises ProblemError: saying what was given instead.
    """
    if not isinstance(preferences, Preferences):
        raise ProblemError(
            f"{what} needs Preferences, the probability that one candidate beats another, not "
            f"{brief(preferences)}."
        )


def _check_pair(pair: object, probability: object) -> None:
    match pair:
        case (str(), str(), str()):
            pass
        case _:
            raise ProblemError(f"A pair is (position, first, second), not {pair!r:.80}.")
    if isinstance(probability, bool) or not isinstance(probability, (int, float, np.floating)):
        raise ProblemError(f"The probability of {pair} must be a number, not {probability!r:.80}.")
    if not 0.0 <= probability <= 1.0:
        raise ProblemError(f"The probability of {pair} must lie between 0 and 1, not {probability!r}.")
