"""The reference of Borda: how often each candidate of a position is the one to be compared with.

The Borda score of a matching is the average over positions of w(e) = sum over x of q(x) p(e, x), where x
runs over the edges of the position and q, the **reference**, adds up to 1 at every position. In the paper
q(x) is the share of all maximum matchings that use x; at a position of k seats, that share divided by k. The
proofs of ``borda`` need none of that: D(A, B) is linear in the probabilities for any fixed q, and every q
defines a winner of its own.

==============  =======================================================  ================================
``decisions``   the share of all maximum matchings: the paper's Borda    exponential in the worst case
``candidates``  1 over the number of candidates of the position: a       at no cost
                random opponent at each position
``sampled``     the share of :data:`SAMPLED` matchings, drawn uniformly  so many draws, when a run begins
given           a share for each edge                                    at no cost
==============  =======================================================  ================================

**What a sample is worth.** Let N matchings be drawn independently and uniformly, and let w^ be the rewards
against the sample. w^(e) is a mean of N independent numbers p(e, M(j)) in [0, 1] with mean w(e), so by
Hoeffding's inequality, for all m edges at once,

    |w^(e) - w(e)| <= r = sqrt(ln(2 m / eta) / (2 N))      with probability 1 - eta,

and the Borda scores of all matchings, which are averages of rewards, are off by r at most. So the Borda
winner against the sample has a score against all decisions within 2 r of the best, whatever the answers
were. For the draws of :mod:`duelmatch.matchings.chain` this holds only as far as
that chain has mixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from duelmatch.errors import ProblemError, TooLargeError
from duelmatch.graph import Graph, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.sampling import DEFAULT_ETA, sampler

ReferenceName = Literal["decisions", "candidates", "sampled"]
REFERENCES: tuple[ReferenceName, ...] = ("decisions", "candidates", "sampled")

SAMPLED = 10_000
"""Matchings drawn for the reference ``sampled``."""

SAMPLING_STREAM = 103

SUMS_TO_1 = 1e-6
"""How far from 1 the shares given for a position may add up."""


@dataclass(frozen=True, slots=True)
class Reference:
    """q as a vector over the edges, what it is called, and the sampler's method and eta if there was one."""

    name: str
    shares: Vector
    method: str | None = None
    eta: float = 0.0


NO_REFERENCE = Reference("none", np.zeros(0))
"""Condorcet compares with each matching by itself."""


def reference_of(graph: Graph, reference: ReferenceName | Vector, seed: int = 0) -> Reference:
    """Return the reference of this name, or one of given shares, in edge order.

    :raises TooLargeError: for ``decisions`` where counting is out of reach; it says what to ask for instead.
    :raises ProblemError: for an unknown name, and for shares that do not add up to 1 at every position.
    """
    if not isinstance(reference, str):
        return Reference("given", _checked(graph, np.asarray(reference, dtype=np.float64)))
    match reference:
        case "decisions":
            return Reference(reference, _marginals(graph))
        case "candidates":
            return Reference(reference, 1.0 / graph.degrees[graph.edge_position])
        case "sampled":
            return _sampled(graph, seed)
    raise ProblemError(f"The reference must be one of {', '.join(REFERENCES)}, not {reference!r:.50}.")


def scaled(graph: Graph, shares: Vector) -> Vector:
    """Return shares that add up to 1 at every position again, after some candidates have left.

    :raises ProblemError: if nobody with a share is left at a position.
    """
    sums = np.add.reduceat(shares, graph.start[:-1])
    if (sums <= 0).any():
        raise ProblemError("At some position the reference would have nobody left.")
    normalised: Vector = shares / sums[graph.edge_position]
    return normalised


def _marginals(graph: Graph) -> Vector:
    try:
        return _per_seat(graph, decisions_of(graph).marginals())
    except TooLargeError as error:
        raise TooLargeError(
            "Borda counts against all matchings, and how many of them use each candidate is out of reach "
            "here. Ask for reference='candidates', to count against a random candidate of each position, or "
            f"for reference='sampled', to count against {SAMPLED:,} matchings drawn at random. ({error})"
        ) from None


def _per_seat(graph: Graph, marginals: Vector) -> Vector:
    """Return how often each edge is the one met, if one seat of its position is drawn at random."""
    return marginals / graph.seats[graph.edge_position]


def _sampled(graph: Graph, seed: int) -> Reference:
    if not graph.one_to_one:  # exact draws, by counters
        rows = decisions_of(graph).draw(SAMPLED, np.random.default_rng(_apart(seed)))
        shares = np.bincount(rows.ravel(), minlength=graph.edges) / SAMPLED
        return Reference("sampled", _per_seat(graph, shares), "counters")
    drawing = sampler(graph, "auto", DEFAULT_ETA, _apart(seed))
    counts = np.zeros(graph.edges)
    for size in np.diff(np.append(np.arange(0, SAMPLED, 500), SAMPLED)).tolist():
        counts += np.bincount(drawing.draw(size).ravel(), minlength=graph.edges)
    return Reference("sampled", counts / SAMPLED, drawing.method, drawing.eta)


def _apart(seed: int) -> int:
    """Return another seed, so that the sample does not depend on what a run draws with its own."""
    return int(np.random.SeedSequence([seed, SAMPLING_STREAM]).generate_state(1, np.uint64)[0] >> 1)


def _checked(graph: Graph, shares: Vector) -> Vector:
    if shares.shape != (graph.edges,) or not np.isfinite(shares).all() or (shares < 0).any():
        raise ProblemError("The reference must have a share from 0 to 1 for every edge.")
    sums = np.add.reduceat(shares, graph.start[:-1])
    if (off := np.abs(sums - 1) > SUMS_TO_1).any():
        position = int(np.argmax(off))
        raise ProblemError(
            f"The shares of the reference must add up to 1 at every position; at number {position + 1} they "
            f"add up to {sums[position]:.6g}."
        )
    return scaled(graph, shares)
