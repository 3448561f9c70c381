"""The paper's almost uniform sampler S(eta): a Markov chain on perfect and near-perfect matchings.

Jerrum, Sinclair and Vigoda, "A polynomial-time approximation algorithm for the permanent of a matrix
with nonnegative entries", J. ACM 51 (2004) 671-697 ("JSV" below), applied as appendix B.2 of the paper
says: n - l fictitious positions that every candidate can fill turn the graph G into G', n by n. A
maximum matching of G is then (n - l)! perfect matchings of G', so dropping the fictitious edges of a
uniform perfect matching leaves a uniform maximum matching.

**The chain** (JSV section 3). A state is a perfect matching, or a near-perfect one that leaves one
position u and one candidate v free: its hole (u, v). Pairs that are not edges of G' may be used too, at
an activity lambda <= 1 each, so a matching M with k of them has lambda(M) = lambda^k. M is visited in
proportion to Lambda(M) = lambda(M) if it is perfect and w(u, v) lambda(M) if it has the hole (u, v).
One step, with its acceptance probability min(1, Lambda(M') / Lambda(M)), is in :func:`_walk`.

**The weights.** Ideally w(u, v) = lambda(perfect matchings) / lambda(those with hole (u, v)): then the
perfect matchings and each hole are visited equally often, 1 / (n^2 + 1) of the time, and JSV prove that
the chain mixes in polynomial time if every weight is within a factor 2 of that. At lambda = 1 the ideal
weight is n everywhere. Phase by phase lambda is lowered, and the visits of a phase, counted by hole and
k, give the weights for the next lambda (each visit counts (lambda'/lambda)^k). Differences from JSV:

- The next lambda is not fixed in advance but the smallest at which no hole's count falls below half.
- A phase that visits some hole less than half, or more than twice, its share is repeated with corrected
  weights and twice the steps. It ends because its estimates become exact.
- The last lambda is 0, not JSV's 1/n!. It is reached when dropping all matchings with k > 0 would keep
  half of every count; at lambda = 1/n! this is so for any graph, as all of them together then weigh at
  most 1. A hole that G' itself cannot have is found by alternating paths; its matchings have k >= 1
  (k = 1 occurs: from a perfect matching free u and v and join their partners), so its count starts there.
- At lambda = 0 the chain still reaches everything (Jerrum and Sinclair, "Approximating the permanent",
  SIAM J. Comput. 18 (1989)): the difference of a near-perfect and a perfect matching is cycles and one
  alternating path between the holes, along which moves 2b and then 2a lead to a perfect matching; a
  cycle is undone by move 1 on one of its edges, which makes it such a path. All edges used are in G'.

**A draw** is the chain's state at every ``visits_per_sample``-th time it is perfect. Seen at its perfect
times only, a reversible chain is again a reversible Markov chain, with the same distribution restricted
to perfect matchings: uniform, whatever the weights. So wrong weights cost speed, not uniformity. It
needs no idling steps: a removed edge may be added again at once, so it has no period.
Stopping at the first perfect state after a fixed number of steps would not do: it favours matchings
that the chain enters, and leaves, more often.

**What is proven, what is measured.** JSV prove a polynomial bound on the time to come within eta of
uniform, of order n^10 to n^11 for the whole annealing (Bezakova, Stefankovic, Vazirani and Vigoda, SIAM
J. Comput. 37 (2008): n^7), up to logarithms: far more steps than anyone runs. The step counts here are
**chosen by a heuristic and then measured, not proven**. Consecutive draws are n ln(n / eta) perfect
visits apart, about n^3 ln(n / eta) steps. The total variation between uniform and a draw given the
previous one was computed exactly, from transition matrices, for the worst previous draw:

- 38 graphs with 4 <= n <= 24 (random ones of density 0.15 to 1 with l = n and l < n, cycles, bands,
  disjoint blocks): it fell below eta = 0.1 (0.02) after at most 0.31 (0.38) n ln(n / eta) visits;
- slowest of all, also in a random search for bad graphs with n <= 5, were graphs of 2 x 2 blocks and
  forced edges. With one block, a visit multiplies the distance by 1 - 1.6 / n (by hand; it agrees with
  the matrices for n = 2 to 5), or 1 - 1.33 / n with weights half the ideal (by hand), so 0.625 n
  (0.75 n) visits divide it by e. The spacing allows n visits for that. A slower graph may exist.

``benchmarks/chain_variation.py`` prints such figures.
"""

from __future__ import annotations

from math import ceil, log
from typing import TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.errors import NoMatchingError, ProblemError
from duelmatch.graph import Graph, Indices, Mask, Vector

Number = TypeVar("Number", bound=np.generic)
Counts = NDArray[np.int64]
"""Visits by hole (u n + v, or n^2 for a perfect matching) and by k, the number of non-edges used."""

VISITS_PER_HOLE = 8
"""A phase visits each hole this many times n^2 on average, or as for n = 8 if n is smaller."""

LOPSIDED = 2
"""How far from its share of a phase's visits a hole may be (JSV's factor 2)."""

KEPT = 0.5
"""How much of every hole's count must remain at the next activity."""


class Chain:
    """Draws maximum matchings of a graph almost uniformly, within ``eta`` in total variation.

    Each draw is meant to be within eta of uniform given all draws before it; see the module's text for
    what that rests on. Setting up takes most of the time: about ``phases`` times 8 n^4 steps of some 20
    nanoseconds. The same graph, eta and seed give the same draws.

    :ivar visits_per_sample: how many perfect matchings the chain passes from one draw to the next.
    :ivar phases: how many phases the annealing took, repeated ones included.
    :raises ProblemError: if eta is not between 0 and 1.
    :raises NoMatchingError: if no matching fills every position.
    """

    method = "chain"

    def __init__(self, graph: Graph, eta: float, seed: int) -> None:
        if not 0 < eta < 1:
            raise ProblemError(f"eta must lie between 0 and 1, both excluded; it is {eta}.")
        n = graph.candidates
        self.graph = graph
        self.eta = eta
        self.phases = 0
        self._rng = np.random.default_rng(seed)
        self._is_edge = np.ones((n, n), dtype=np.bool_)
        self._is_edge[: graph.positions] = graph.edge_at >= 0
        self._mate = _perfect_matching(graph)
        self._hole = (-1, -1, 0)
        self._possible = _possible_holes(self._is_edge, self._mate[n:])
        self.visits_per_sample = ceil(n * log(n / eta))
        self._weight = self._anneal()
        self.draw(1)  # forgets the end of the annealing

    def draw(self, size: int) -> Indices:
        """Return ``size`` matchings, one a row, as the edge number of each position."""
        if size < 0:
            raise ProblemError(f"The number of draws cannot be negative; it is {size}.")
        candidates = np.zeros((size, self.graph.positions), dtype=np.int64)
        if size:
            self._run(self._weight, 0.0, np.iinfo(np.int64).max, candidates)
        positions = np.arange(self.graph.positions)
        edges: Indices = self.graph.edge_at[positions, candidates].astype(np.intp)
        return edges

    def _anneal(self) -> Vector:
        """Return the weights for activity 0, by hole (JSV sections 3 and 5)."""
        n = self.graph.candidates
        weight = np.append(np.full(n * n, float(n)), 1.0)
        start, activity = self._mate.copy(), 1.0
        while activity > 0:
            weight, counts = self._phase(weight, activity, np.ones(n * n + 1, dtype=np.bool_))
            ratio = _next_ratio(counts, self._possible)
            weight = _reweighted(weight, counts, ratio, self._possible)
            activity *= ratio
        self._mate, self._hole = start, (-1, -1, 0)  # the last state may use pairs that are not edges
        weight, counts = self._phase(weight, 0.0, self._possible)
        return _reweighted(weight, counts, 0.0, self._possible)

    def _phase(self, weight: Vector, activity: float, holes: Mask) -> tuple[Vector, Counts]:
        """Walk until all these holes have about their share; return the weights used and the counts."""
        share = VISITS_PER_HOLE * max(self.graph.candidates, 8) ** 2
        while True:
            counts = self._run(weight, activity, share * int(holes.sum()))
            self.phases += 1
            visits = counts.sum(axis=1)
            even = (visits * LOPSIDED >= share) & (visits <= share * LOPSIDED)
            if even[holes].all():
                return weight, counts
            visits = np.maximum(visits, 1)
            weight = np.where(holes, weight * (visits[-1] / visits), weight)
            share *= 2

    def _run(self, weight: Vector, activity: float, steps: int, samples: Counts | None = None) -> Counts:
        n = self.graph.candidates
        counts = np.zeros((n * n + 1, n + 1), dtype=np.int64)
        self._hole = _walk(
            self._mate,
            self._hole,
            _between_vertices(self._is_edge.astype(np.int64)),
            _between_vertices(weight[:-1].reshape(n, n)),
            np.array([1 / activity if activity else np.inf, 1.0, activity]),
            steps,
            counts,
            np.zeros((0, 0), dtype=np.int64) if samples is None else samples,
            0 if samples is None else self.visits_per_sample,
            self._rng,
        )
        return counts


def _perfect_matching(graph: Graph) -> Counts:
    """Return the partner of each vertex of G' in some perfect matching: candidates, then positions."""
    edges = graph.some_matching()
    if edges is None:
        raise NoMatchingError("No matching fills every position, so there is none to draw.")
    chosen = graph.edge_candidate[edges]
    idle = np.setdiff1d(np.arange(graph.candidates), chosen)
    candidate_of = np.concatenate([chosen, idle]).astype(np.int64)
    return np.concatenate([np.argsort(candidate_of) + graph.candidates, candidate_of])


def _possible_holes(is_edge: Mask, candidate_of: Counts) -> Mask:
    """Mark the holes (u, v) that near-perfect matchings of G' have, and the perfect ones at the end.

    Freeing v frees a position too; it must find another candidate, whose position must in turn find
    one, and so on until the candidate of u is taken: u is reached from v's position.
    """
    reach = is_edge[:, candidate_of]
    for _ in range(len(candidate_of).bit_length()):
        reach = reach @ reach
    possible = np.empty_like(reach)
    possible[:, candidate_of] = reach.T
    return np.append(possible, True)


def _between_vertices(table: NDArray[Number]) -> NDArray[Number]:
    """Return a table by position and candidate as a symmetric one by vertex: candidates come first."""
    n = len(table)
    between = np.ones((2 * n, 2 * n), dtype=table.dtype)
    between[n:, :n] = table
    between[:n, n:] = table.T
    return between


def _kept(counts: Counts, ratio: float, possible: Mask) -> Vector:
    """Return what remains of each hole's count when lambda is multiplied by ``ratio``.

    Counts of impossible holes are divided by ``ratio``, see the module's text. Horner's rule, with no
    power or reordered sum, gives the same bits on every machine, and so the same draws.
    """
    kept = np.zeros(len(counts))
    for non_edges in range(counts.shape[1] - 1, 0, -1):
        kept = kept * ratio + counts[:, non_edges]
    return np.where(possible, kept * ratio + counts[:, 0], kept)


def _next_ratio(counts: Counts, possible: Mask) -> float:
    """Return the smallest factor for lambda at which every hole keeps enough of its count."""
    enough = KEPT * counts.sum(axis=1)
    if (_kept(counts, 0.0, possible) >= enough).all():
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        if (_kept(counts, middle, possible) >= enough).all():
            high = middle
        else:
            low = middle
    return high


def _reweighted(weight: Vector, counts: Counts, ratio: float, possible: Mask) -> Vector:
    """Return the weights that even out the visits once lambda is multiplied by ``ratio``."""
    kept = np.maximum(_kept(counts, ratio, possible), 1)
    unreachable = 1.0  # any number: at activity 0 an impossible hole is never entered
    impossible = weight * (kept[-1] / kept) / ratio if ratio > 0 else unreachable
    return np.where(possible, weight * (kept[-1] / kept), impossible)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _walk(
    mate: Counts,
    hole: tuple[int, int, int],
    is_edge: Counts,
    weight: Vector,
    factor: Vector,
    steps: int,
    counts: Counts,
    samples: Counts,
    visits: int,
    rng: np.random.Generator,
) -> tuple[int, int, int]:
    """Take ``steps`` steps, or fewer if ``samples`` is filled, one row every ``visits`` perfect states.

    Vertices are candidates 0..n-1 and positions n..2n-1; ``mate`` is the matching, changed in place, and
    meaningless at the hole. The hole is (position, candidate, k), or (-1, -1, k) in a perfect matching.
    ``factor`` is (1 / lambda, 1, lambda), for a change of k by -1, 0 and 1. Every step picks one of the
    2n vertices, z, and JSV section 3, figure 1 proposes:

    - 1, from a perfect matching: remove a random edge (here that of z, so each with chance 2/2n).
    - 2a, from hole (u, v) if z is u or v (chance 2/2n): add (u, v). This reverses 1.
    - 2b and 2c, else: match z with the free vertex opposite, which frees the partner of z. With chance
      1/2n it goes back: that partner is matched again by picking z.
    - 3: accept with probability min(1, Lambda(M') / Lambda(M)).
    """
    # The step is not a function of its own: passing it arrays makes every step three times slower.
    n = len(mate) // 2
    position, candidate, non_edges = hole
    passed = drawn = 0
    for _ in range(steps):
        dice = rng.random() * (2 * n)
        vertex = int(dice)
        coin = dice - vertex  # independent of the vertex, and uniform
        partner = mate[vertex]
        if position < 0:
            upper, lower = max(vertex, partner), min(vertex, partner)
            change = is_edge[upper, lower] - 1
            if coin < weight[upper, lower] * factor[1 + change]:
                position, candidate = upper, lower
                non_edges += change
        elif vertex in (position, candidate):
            change = 1 - is_edge[position, candidate]
            if coin * weight[position, candidate] < factor[1 + change]:
                mate[position], mate[candidate] = candidate, position
                position = candidate = -1
                non_edges += change
        else:
            filled, kept = (position, candidate) if vertex < n else (candidate, position)
            change = is_edge[partner, vertex] - is_edge[filled, vertex]
            if coin * weight[position, candidate] < weight[partner, kept] * factor[1 + change]:
                mate[filled], mate[vertex] = vertex, filled
                position, candidate = max(partner, kept), min(partner, kept)
                non_edges += change
        if position >= 0:
            counts[(position - n) * n + candidate, non_edges] += 1
            continue
        counts[n * n, non_edges] += 1
        passed += 1
        if passed == visits:
            samples[drawn] = mate[n : n + samples.shape[1]]
            passed = 0
            drawn += 1
            if drawn == len(samples):
                break
    return position, candidate, non_edges
