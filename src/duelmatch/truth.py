"""What known preferences say: who wins, which results are right, and how sure a count of errors is."""

from __future__ import annotations

from scipy.special import betaincinv

from duelmatch.errors import DuelmatchError, TooLargeError
from duelmatch.explorers.result import Result
from duelmatch.matchings import best
from duelmatch.preferences import TIE, Criterion, Preferences
from duelmatch.problem import Matching
from duelmatch.theory.limit import lower_bound

MOST_EDGES_FOR_LIMIT = 100
"""Up to here the information limit takes a second or two."""


class Truth:
    """The winner by a criterion, or why there is none.

    ``epsilon`` is how far a result may be from the best Borda score, or how much it may lose to the Condorcet
    winner: to any matching, with ``assume_winner=False``. ``endless`` says why runs may never end, and
    ``too_large`` why the winner is not known.
    """

    def __init__(
        self,
        preferences: Preferences,
        criterion: Criterion,
        epsilon: float | None,
        assume_winner: bool = True,
    ) -> None:
        self._assume_winner = assume_winner
        self._preferences, self._criterion, self._epsilon = preferences, criterion, epsilon
        self.winner: Matching | None = None
        self.too_large: str | None = None
        self.endless: str | None = None
        if criterion == "condorcet":
            self.winner = preferences.condorcet_winner()
            if self.winner is None and epsilon is None:
                self.endless = "there is no Condorcet winner"
            return
        try:
            self.winner = preferences.borda_winner()
            self._best = preferences.borda_score(self.winner)
            if preferences.borda_margin() == 0 and epsilon is None:
                self.endless = "two matchings share the best Borda score"
        except TooLargeError as error:
            self.too_large = str(error)

    def right(self, result: Result) -> bool | None:
        """Whether what a result says is true; None if it says nothing, or that is not known."""
        if result.status == "no_winner":
            return self.winner is None
        if result.matching is None or self.too_large:
            return None
        allowed = self._epsilon if result.status == "within_epsilon" and self._epsilon else 0.0
        if self._criterion == "borda":
            return self._best - self._preferences.borda_score(result.matching) <= allowed + TIE
        if allowed == 0.0:
            return result.matching == self.winner
        return self._loses_by(result.matching) <= allowed + TIE

    def _loses_by(self, matching: Matching) -> float:
        """Return by how much a matching loses: to the winner, if it may be taken for granted, or to any."""
        rival = self.winner
        if rival is None or not self._assume_winner:
            problem, probability = self._preferences.problem, self._preferences.probability
            rival = best(problem, {(c, s): probability(s, c, matching[s]) for c, s in problem.edges})
        return 0.0 if rival is None else self._preferences.score(rival, matching) - 0.5

    def information_limit(self, delta: float) -> float | None:
        """Return the fewest duels on average, where that is defined and quickly computed."""
        if self.endless or self.too_large or self._epsilon is not None:
            return None
        if self._preferences.problem.graph.edges > MOST_EDGES_FOR_LIMIT:
            return None
        try:
            return lower_bound(self._preferences, self._criterion, delta)
        except DuelmatchError:
            return None


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
