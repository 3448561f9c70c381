"""Whether a result is right, by the known preferences that its answers were drawn from."""

from __future__ import annotations

from typing import Literal

from scipy.special import betaincinv

from duelmatch.errors import TooLargeError
from duelmatch.experiments.experiment import Cell
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.result import Result
from duelmatch.matchings import best
from duelmatch.preferences import TIE, Criterion, Preferences
from duelmatch.problem import Matching

Verdict = Literal["right", "wrong", "refuted", "unfinished", "unknown"]

MOST_CACHED = 64
"""Instances whose winner a process remembers."""


class Correctness:
    """Compares results with the winner by a criterion, which is found once.

    ``winner`` is None if there is none, or if it is out of reach; then ``too_large`` says why.
    """

    def __init__(self, preferences: Preferences, criterion: Criterion) -> None:
        self._preferences, self._criterion = preferences, criterion
        self.winner: Matching | None = None
        self.too_large: str | None = None
        if criterion == "condorcet":
            self.winner = preferences.condorcet_winner()
            return
        try:
            self.winner = preferences.borda_winner()
            self._best = preferences.borda_score(self.winner)
        except TooLargeError as error:
            self.too_large = str(error)

    def endless(self, epsilon: float | None) -> str | None:
        """Return why runs may never end, if so; ``epsilon`` is how far from the best a result may be."""
        if epsilon is not None or self.too_large:
            return None
        if self._criterion == "condorcet":
            return "there is no Condorcet winner" if self.winner is None else None
        return "two matchings share the best Borda score" if self._preferences.borda_margin() == 0 else None

    def right(self, result: Result) -> bool | None:
        """Whether what a result says is so; None if it says nothing, or the winner is not known.

        A guess is right if it is the winner. A result within epsilon may be that far from the best Borda
        score, or lose by that much: to the Condorcet winner, if the guarantee assumes that there is one, or
        else to any matching.
        """
        if result.status == "no_winner":
            return self.winner is None
        if result.matching is None or (self.too_large and result.reference != "candidates"):
            return None
        allowed = (result.epsilon or 0.0) if result.status == "within_epsilon" else 0.0
        if result.reference == "candidates":
            best = self._preferences.borda_score(self._preferences.borda_winner("candidates"), "candidates")
            return best - self._preferences.borda_score(result.matching, "candidates") <= allowed + TIE
        if result.reference not in (None, "decisions"):
            return None  # it is about a sample, or about shares, that only the run knew
        if self._criterion == "borda":
            return self._best - self._preferences.borda_score(result.matching) <= allowed + TIE
        if allowed == 0.0:
            return result.matching == self.winner
        return self._loses_by(result.matching, to_any=not _assumes_winner(result)) <= allowed + TIE

    def promised(self, result: Result) -> bool:
        """Whether the guarantee holds: whatever it assumes about a Condorcet winner is so."""
        return not (_assumes_winner(result) and self._criterion == "condorcet" and self.winner is None)

    def verdict(self, result: Result, delta: float) -> Verdict:
        """Say what a result is, of a run that may be wrong with probability ``delta``.

        Wrong answers break that promise; refuted ones are not so either, but were given with a larger delta:
        car-verify's that there is no winner, which it may say whenever its first guess was wrong.
        """
        if result.status == "budget_spent":
            return "unfinished"
        right = self.right(result)
        if right is None or not self.promised(result):
            return "unknown"
        if right:
            return "right"
        return "wrong" if result.delta <= delta * (1 + 1e-9) else "refuted"

    def _loses_by(self, matching: Matching, to_any: bool) -> float:
        rival = self.winner
        if rival is None or to_any:
            problem, probability = self._preferences.problem, self._preferences.probability
            rival = best(problem, {(c, s): probability(s, c, matching[s]) for c, s in problem.edges})
        return 0.0 if rival is None else self._preferences.score(rival, matching) - 0.5


def _assumes_winner(result: Result) -> bool:
    return Assumption.CONDORCET_WINNER in result.assuming


_known: dict[tuple[str, str], Correctness] = {}


def correctness_of(cell: Cell) -> Correctness:
    """Return how to judge the results of a cell, worked out once in a process."""
    key = cell.instance.fingerprint, cell.variant.criterion
    if key not in _known:
        if len(_known) >= MOST_CACHED:
            _known.clear()
        _known[key] = Correctness(cell.instance.preferences, cell.variant.criterion)
    return _known[key]


def clopper_pearson(hits: int, trials: int, confidence: float) -> tuple[float, float]:
    """Return an interval that contains the probability of a hit this often at least, whatever it is.

    >>> low, high = clopper_pearson(0, 100, 0.95)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high
