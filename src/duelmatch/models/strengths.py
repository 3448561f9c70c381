"""A model of each position: what one pair says about the others, and how far to believe that.

Every edge has a strength s, normal with deviation ``spread``, and a pair of edges would be decided by them
alone (Bradley and Terry 1952): pi(a, b) = 1 / (1 + exp(s_b - s_a)). People are not like that, so the
probability p(a, b) of a pair is only near pi: a Beta distribution with mean pi and weight ``trust``, as if
``trust`` answers had followed the strengths. With trust k, and w of n answers won,

    p(a, b)  given s  is  Beta(w + k pi, n - w + k (1 - pi)),  with mean (w + k pi) / (n + k):

few answers follow the model, many speak for themselves. A tie is half a win.

The strengths are fitted by Newton's method to quasi-likelihood: n answers about one pair share that pair's
own deviation, so they tell about the strengths as much as n (k + 1) / (n + k) independent ones. The
posterior is normal around that fit, with the curvature there (Laplace). Spread and trust, one of each for all
positions, have marginal likelihoods: that of the Beta-binomial counts at the fit, times Laplace's factor. The
data choose them, so cycles and other tastes that no strengths explain bring the trust down.

Costs: O(pairs + sum of met^3) a Newton step, where ``met`` candidates of a position have been asked about at
all (the others keep what the prior says), and one or two steps after a few new answers.
"""

from __future__ import annotations

from math import exp, lgamma, log, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

from duelmatch.graph import Graph, Indices, Matrix, Vector

SPREADS = np.array([0.15, 0.3, 0.6, 1.2, 2.4])
TRUSTS = np.array([4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0, 2048.0])
"""The settings between which the data choose. With trust 2048 a pair is within 0.01 of the model."""

LEAST_SPREAD = 1
"""The least of the SPREADS that steers. The one before suits tastes without strengths, so standings count it
in; but a search that goes by it overlooks the one candidate that stands out."""

LOG_PRIOR = -0.5 * np.log(SPREADS / 0.6)[:, None] ** 2 - 0.5 * (np.log(TRUSTS / 20.0) / 1.5) ** 2
"""What is believed of them before any answer: spreads around 0.6, trusts around 20, within wide margins."""

CAUTION = 4.0
"""How many variances weigh against a difference of strengths in the cautious estimates."""

PRIOR = 20.0
"""How many answers the model is worth in the cautious estimates."""

DOUBT = 64.0
"""The trust at which the cautious estimates believe half of what the model says."""

TOLERANCE = 1e-7
MOST_STEPS = 30
LONGEST_STEP = 2.0


class PairLayout(NamedTuple):
    """Where things are: the pairs of a position are ``begin[j]:begin[j + 1]``, in the order of the table.

    ``one`` and ``other`` are the edges of a pair, counted from the first edge of its position. The square
    tables of the positions, degree x degree, lie one after the other, from ``square[j]`` on.
    """

    start: Indices
    begin: Indices
    one: Indices
    other: Indices
    square: Indices

    @classmethod
    def of(cls, graph: Graph) -> PairLayout:
        """Lay out a graph."""
        table = graph.pair_table
        first_edge = graph.start[table.position]
        zero = np.zeros(1, dtype=np.intp)
        return cls(
            graph.start,
            np.searchsorted(table.position, np.arange(graph.positions + 1)),
            table.first - first_edge,
            table.second - first_edge,
            np.concatenate([zero, np.cumsum(graph.degrees**2)]),
        )


class StrengthModel:
    """The model of all positions, fitted to the answers so far.

    ``wins`` and ``duels`` are arrays by pair (:attr:`duelmatch.graph.Graph.pair_table`), which the owner
    may change in place; :meth:`fit` then follows. All results are functions of the last fit.
    """

    def __init__(self, graph: Graph, wins: Vector, duels: Vector) -> None:
        self.graph, self.wins, self.duels = graph, wins, duels
        self.layout = PairLayout.of(graph)
        self.setting = (2, 3)
        """Which of SPREADS and of TRUSTS are in use."""
        self.strength: Vector = np.zeros(graph.edges)
        self.factor: Vector = np.zeros(int(self.layout.square[-1]))
        """Cholesky factors of the curvature, a square per position."""
        self._evidence = 0.0
        self._direction = 0
        self._fits: dict[tuple[int, int], tuple[float, Vector, Vector]] = {}
        self.fit()

    @property
    def spread(self) -> float:
        """The deviation of the strengths."""
        return float(SPREADS[self.setting[0]])

    @property
    def trust(self) -> float:
        """How many answers the strengths are worth in the estimate of a pair."""
        return float(TRUSTS[self.setting[1]])

    def fit(self) -> None:
        """Fit the strengths to the counts, from the last fit on, with the settings in use."""
        self._evidence = self._fit(self.setting, self.strength, self.factor)

    def adjust(self) -> None:
        """Fit, and try one neighbouring setting, another one each time; keep it if it is more likely."""
        self.fit()
        direction = ((1, 0), (0, -1), (-1, 0), (0, 1))[self._direction % 4]
        self._direction += 1
        setting = (self.setting[0] + direction[0], self.setting[1] + direction[1])
        if not (LEAST_SPREAD <= setting[0] < len(SPREADS) and 0 <= setting[1] < len(TRUSTS)):
            return
        strength, factor = self.strength.copy(), np.empty_like(self.factor)
        evidence = self._fit(setting, strength, factor)
        if evidence > self._evidence:
            self.setting, self.strength, self.factor = setting, strength, factor
            self._evidence = evidence
            self._direction -= 1  # go on that way

    def settle(self) -> Matrix:
        """Fit under every setting, stay with the likeliest, and return how likely each is, given the data."""
        fits: dict[tuple[int, int], tuple[float, Vector, Vector]] = {}
        strength = np.zeros(self.graph.edges)
        for trust in range(len(TRUSTS)):
            for spread in range(len(SPREADS)):
                factor = np.empty_like(self.factor)
                evidence = self._fit((spread, trust), strength, factor)
                fits[spread, trust] = evidence, strength.copy(), factor
        self._fits = fits
        logs = np.array([[fits[i, j][0] for j in range(len(TRUSTS))] for i in range(len(SPREADS))])
        best = np.unravel_index(int(np.argmax(logs)), logs.shape)
        self.use((int(best[0]), int(best[1])))
        likely = np.exp(logs - logs.max())
        return np.asarray(likely / likely.sum())

    def use(self, setting: tuple[int, ...]) -> None:
        """Go over to one of the settings that :meth:`settle` has fitted."""
        self.setting = (setting[0], setting[1])
        self._evidence, self.strength, self.factor = self._fits[self.setting]

    def _fit(self, setting: tuple[int, int], strength: Vector, factor: Vector) -> float:
        spread, trust = float(SPREADS[setting[0]]), float(TRUSTS[setting[1]])
        evidence = fit_strengths(self.layout, self.wins, self.duels, spread, trust, strength, factor)
        return float(evidence + LOG_PRIOR[setting])

    def estimates(self) -> tuple[Vector, Vector]:
        """Return two estimates of p for every pair: its mean, and a cautious one for bets.

        A bet on noise loses what a bet withheld would only miss. So the cautious estimate takes a difference
        d of strengths, known with variance v, for d^3 / (d^2 + 4 v), and less where the trust is small; the
        model is worth PRIOR answers in it, however well it fits.
        """
        mean, cautious = np.empty(len(self.wins)), np.empty(len(self.wins))
        _estimates(self.layout, self.wins, self.duels, self.trust, self.strength, self.factor, mean, cautious)
        return mean, cautious

    def draws(self, rng: np.random.Generator, count: int) -> Matrix:
        """Draw p of all pairs from the posterior, ``count`` times: a row each."""
        out = np.empty((count, len(self.wins)))
        normal, own = rng.standard_normal((count, self.graph.edges)), rng.standard_normal(out.shape)
        _draw(self.layout, self.wins, self.duels, self.trust, self.strength, self.factor, normal, own, out)
        return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def fit_strengths(
    layout: PairLayout,
    wins: Vector,
    duels: Vector,
    spread: float,
    trust: float,
    strength: Vector,
    factor: Vector,
) -> float:
    """Move ``strength`` to the optimum of one setting, fill in ``factor``, and return the log evidence."""
    start, begin, one, other, square = layout
    precision = 1.0 / spread**2
    evidence = 0.0
    for position in range(len(start) - 1):
        degree = start[position + 1] - start[position]
        s = strength[start[position] : start[position + 1]]
        asked = np.flatnonzero(duels[begin[position] : begin[position + 1]] > 0.0) + begin[position]
        met = np.zeros(degree, dtype=np.bool_)
        met[one[asked]] = met[other[asked]] = True
        those = np.flatnonzero(met)
        row = np.cumsum(met) - 1
        size = len(those)
        h, slope = np.empty((size, size)), np.empty(size)
        for step in range(MOST_STEPS if size > 0 else 0):
            h[:, :] = 0.0
            for a in range(size):
                slope[a] = -precision * s[those[a]]
                h[a, a] = precision
            _add_answers(layout, wins, duels, trust, s, asked, row, slope, h)
            _cholesky(h)
            _solve(h, slope)
            largest = 0.0
            for a in range(size):
                largest = max(largest, abs(slope[a]))
            scale = 1.0 if largest <= LONGEST_STEP else LONGEST_STEP / largest
            for a in range(size):
                s[those[a]] += scale * slope[a]
            if largest < TOLERANCE:
                break
            if largest < 1e-4 and step > 0:
                break  # Newton: the next step would be of the order of its square
        whole = factor[square[position] : square[position + 1]].reshape((degree, degree))
        whole[:, :] = 0.0
        for a in range(degree):
            whole[a, a] = sqrt(precision)
        for a in range(size):
            evidence -= 0.5 * precision * s[those[a]] ** 2 + log(h[a, a] / sqrt(precision))
            for b in range(a + 1):
                whole[those[a], those[b]] = h[a, b]
        evidence = _with_answers(evidence, layout, wins, duels, trust, s, asked)
    return evidence


@njit(cache=True)  # type: ignore[untyped-decorator]
def _with_answers(
    evidence: float,
    layout: PairLayout,
    wins: Vector,
    duels: Vector,
    trust: float,
    s: Vector,
    asked: Indices,
) -> float:
    """Return the log evidence with that of the Beta-binomial counts of some pairs."""
    _, _, one, other, _ = layout
    for pair in asked:
        n, w = duels[pair], wins[pair]
        pi = 1.0 / (1.0 + exp(s[other[pair]] - s[one[pair]]))
        evidence += lgamma(trust * pi + w) - lgamma(trust * pi) + lgamma(trust) - lgamma(trust + n)
        evidence += lgamma(trust * (1 - pi) + n - w) - lgamma(trust * (1 - pi))
    return evidence


@njit(cache=True)  # type: ignore[untyped-decorator]
def _add_answers(
    layout: PairLayout,
    wins: Vector,
    duels: Vector,
    trust: float,
    s: Vector,
    asked: Indices,
    row: Indices,
    slope: Vector,
    h: Matrix,
) -> None:
    """Add what the answers say of the strengths ``s`` to the slope and to the curvature ``h``."""
    _, _, one, other, _ = layout
    for pair in asked:
        n = duels[pair]
        a, b = row[one[pair]], row[other[pair]]
        pi = 1.0 / (1.0 + exp(s[other[pair]] - s[one[pair]]))
        weight = n * (trust + 1.0) / (trust + n)
        pull = weight * (wins[pair] / n - pi)
        slope[a] += pull
        slope[b] -= pull
        curve = weight * pi * (1.0 - pi)
        h[a, a] += curve
        h[b, b] += curve
        h[b, a] -= curve


@njit(cache=True)  # type: ignore[untyped-decorator]
def _cholesky(h: Matrix) -> None:
    """Replace the lower half of a matrix by its Cholesky factor."""
    size = len(h)
    for a in range(size):
        for b in range(a + 1):
            total = h[a, b]
            for c in range(b):
                total -= h[a, c] * h[b, c]
            if a == b:
                h[a, a] = sqrt(total)
            else:
                h[a, b] = total / h[b, b]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _solve(lower: Matrix, x: Vector) -> None:
    """Replace x by the solution of L L' y = x."""
    size = len(x)
    for a in range(size):
        for c in range(a):
            x[a] -= lower[a, c] * x[c]
        x[a] /= lower[a, a]
    _solve_transposed(lower, x)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _solve_transposed(lower: Matrix, x: Vector) -> None:
    """Replace x by the solution of L' y = x."""
    for a in range(len(x) - 1, -1, -1):
        x[a] /= lower[a, a]
        for c in range(a):
            x[c] -= lower[a, c] * x[a]


@njit(cache=True)  # type: ignore[untyped-decorator]
def covariance(lower: Matrix) -> Matrix:
    """Return the inverse of L L'. Rows with nothing off the diagonal are left out of it."""
    size = len(lower)
    linked = np.zeros(size, dtype=np.bool_)
    for a in range(size):
        for b in range(a):
            if lower[a, b] != 0.0:
                linked[a] = linked[b] = True
    those = np.flatnonzero(linked)
    part = np.empty((len(those), len(those)))
    for a in range(len(those)):
        for b in range(len(those)):
            part[a, b] = lower[those[a], those[b]]
    inverse = _inverse(part)
    out = np.zeros((size, size))
    for a in range(size):
        out[a, a] = 1.0 / lower[a, a] ** 2
    for a in range(len(those)):
        for b in range(len(those)):
            out[those[a], those[b]] = inverse[a, b]
    return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def _inverse(lower: Matrix) -> Matrix:
    """Return the inverse of L L', row by row.

    A row begins with zeros, and what is left of the diagonal is known from the rows above.
    """
    size = len(lower)
    out, upper = np.eye(size), lower.T.copy()  # its rows are contiguous
    for row in range(size):
        x = out[row]
        for a in range(row, size):
            x[a] /= upper[a, a]
            for c in range(a + 1, size):
                x[c] -= upper[a, c] * x[a]
        for a in range(size - 1, row - 1, -1):
            x[a] /= lower[a, a]
            for c in range(row, a):
                x[c] -= lower[a, c] * x[a]
        for a in range(row):
            x[a] = out[a, row]
    return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def _estimates(
    layout: PairLayout,
    wins: Vector,
    duels: Vector,
    trust: float,
    strength: Vector,
    factor: Vector,
    mean: Vector,
    cautious: Vector,
) -> None:
    start, begin, _, _, square = layout
    for position in range(len(start) - 1):
        degree = start[position + 1] - start[position]
        s = strength[start[position] : start[position + 1]]
        cov = covariance(factor[square[position] : square[position + 1]].reshape((degree, degree)))
        pair = begin[position] - 1
        for a in range(degree):
            for b in range(a + 1, degree):
                pair += 1
                if s[a] == s[b] and duels[pair] == 0.0:
                    mean[pair] = cautious[pair] = 0.5
                    continue
                spread = cov[a, a] + cov[b, b] - 2 * cov[a, b]
                # MacKay's approximation of the mean of a logistic function of a normal variable
                ahead = (s[a] - s[b]) / sqrt(1.0 + 0.3926990817 * spread)
                pi = 1.0 / (1.0 + exp(-ahead))
                mean[pair] = (wins[pair] + trust * pi) / (duels[pair] + trust)
                ahead *= ahead * ahead / (ahead * ahead + CAUTION * spread) * trust / (trust + DOUBT)
                pi = 1.0 / (1.0 + exp(-ahead))
                cautious[pair] = (wins[pair] + PRIOR * pi) / (duels[pair] + PRIOR)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _draw(
    layout: PairLayout,
    wins: Vector,
    duels: Vector,
    trust: float,
    strength: Vector,
    factor: Vector,
    normal: Matrix,
    own: Matrix,
    out: Matrix,
) -> None:
    """Fill in p of all pairs; a pair's own part is drawn from the normal law nearest to its Beta."""
    start, begin, one, other, square = layout
    for position in range(len(start) - 1):
        degree = start[position + 1] - start[position]
        lower = factor[square[position] : square[position + 1]].reshape((degree, degree))
        mode = strength[start[position] : start[position + 1]]
        for row in range(len(out)):
            s = normal[row, start[position] : start[position + 1]]
            _solve_transposed(lower, s)
            for a in range(degree):
                s[a] += mode[a]
            for pair in range(begin[position], begin[position + 1]):
                pi = 1.0 / (1.0 + exp(s[other[pair]] - s[one[pair]]))
                n = duels[pair]
                share = (wins[pair] + trust * pi) / (n + trust)
                p = share + own[row, pair] * sqrt(share * (1 - share) / (n + trust + 1))
                out[row, pair] = min(1.0, max(0.0, p))
