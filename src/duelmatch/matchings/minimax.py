"""The least beaten matching: the one whose worst defeat is smallest. It always exists.

Let D(A, B) = sum over positions j of d_j(A(j), B(j)) be by how much A is ahead of B, with d_j(a, a) = 0. The
worst defeat of A is max over B of -D(A, B): one assignment problem, and 0 or more, since A draws with itself.
The matching that minimises it (minimax, or Simpson-Kramer with margins, in social choice) is unbeaten if its
worst defeat is 0; if not, every matching is beaten by another.

Up to LISTED matchings are listed, an assignment problem each, exact in whatever arithmetic ``ahead`` is in.
Beyond that it is one mixed-integer program: the inner maximum is a linear program over the matching polytope,
so it dualises, as in :mod:`duelmatch.matchings.game`:

    minimise   sum_j u_j + sum_i v_i
    subject to u_j + v_i >= sum over a at j of -d_j(a, i) x_a   for every edge (i, j),   v >= 0,
               x a matching (0 or 1).

HiGHS solves it; the defeat of its matching is then computed exactly, and must agree with the proven bound.
Its relaxation is the game, whose value is 0: all the work is in the branching, and it is limited by WORK. For
panels the root was enough in all that were tried, up to 15 x 15 and 20 x 10; for uniformly random preferences
10 x 10 is out of reach.

**Beyond one-to-one**, D(A, B) = x^T ahead y, and the worst defeat is one question to the linear oracle. Up to
COMPARED decisions every two are compared, exactly if ``ahead`` is in whole numbers that doubles hold. Beyond
that, for doubles only, a growing program:

    minimise t  subject to  t >= -D(x, B) for the rivals B met so far,  x a decision,

whose value never exceeds the least worst defeat. The rival that beats its solution most is added, until the
solution's own worst defeat is no more than t.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, csr_array, hstack

from duelmatch.errors import TooLargeError
from duelmatch.feasibility import decision_rows, seat_rows
from duelmatch.graph import Graph, Indices, Mask
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.integers import assign, cheapest

LISTED = 100_000
"""Up to so many matchings are listed: half a second at 8 positions."""

CELLS = 40_000
"""The largest program solved: so many pairs of edges of the same position, in both directions (40 x 25)."""

WORK = 2_000_000
"""The largest number of branchings times pairs: some ten seconds."""

FINEST = 10_000_000
"""Whole numbers beyond this are too fine for the tolerances of the program (1e-6 in each row)."""

COMPARED = 4_000
"""Up to so many decisions beyond one-to-one every two are compared: some seconds."""

MOST_RIVALS = 200
MOST_BRANCHINGS = 5_000

ACCURACY = 1e-7
"""How far the proof may be from the defeat that was found, relative to the largest entry of ``ahead``."""

Margins = NDArray[Any]
"""m x m: by how much the edge of the row is ahead of the edge of the column; 0 for other positions."""


def worst_defeat(graph: Graph, ahead: Margins, matching: Indices) -> tuple[Any, Indices]:
    """Return by how much a matching loses to the one that beats it most, and that one."""
    over = ahead[matching[graph.edge_position], np.arange(graph.edges)]
    rival = cheapest(graph, over)
    assert rival is not None, "a Problem has a matching"
    return -over[rival].sum(), rival


def worst_defeats(graph: Graph, ahead: NDArray[Any], rows: Indices) -> NDArray[np.float64]:
    """Return by how much each decision loses to the one of them that beats it most.

    :raises TooLargeError: if ``ahead`` has whole numbers that doubles cannot hold.
    """
    if ahead.dtype.kind in "iO" and int(abs(ahead).max(initial=0)) * rows.shape[1] ** 2 >= 1 << 53:
        raise TooLargeError("The votes are weighted too finely to compare every two decisions.")
    uses = graph.uses(rows).astype(np.float64)
    against = ahead.astype(np.float64) @ uses.T
    return np.concatenate(
        [(-(uses[first : first + 500] @ against)).max(axis=1) for first in range(0, len(rows), 500)]
    )


def least_beaten(graph: Graph, ahead: Margins, excluded: Indices | None = None) -> tuple[Indices, Any] | None:
    """Return a decision whose worst defeat is smallest, and that defeat: a sum over positions.

    ``excluded`` is a decision that is not to be returned, though it may be the one that defeats others; None
    if there is no other.

    :raises TooLargeError: beyond LISTED matchings, if the program is too large, too fine, or takes more than
    WORK. Beyond one-to-one, if ``ahead`` has whole numbers that doubles cannot hold; beyond COMPARED, if they
    are whole numbers at all, or the program does not end within its limits.
    """
    rows = decisions_of(graph).listed(None, LISTED if graph.one_to_one else COMPARED)
    if rows is None:
        return (_by_program if graph.one_to_one else _by_rivals)(graph, ahead, excluded)
    others = np.ones(len(rows), dtype=np.bool_) if excluded is None else (rows != excluded).any(axis=1)
    if not others.any():
        return None
    if not graph.one_to_one:
        worst = np.where(others, worst_defeats(graph, ahead, rows), np.inf)
        best = int(np.argmin(worst))
        return rows[best], int(worst[best]) if ahead.dtype.kind in "iO" else float(worst[best])
    rows = rows[others]
    if ahead.dtype == object:
        defeats = [worst_defeat(graph, ahead, row)[0] for row in rows]
        best = defeats.index(min(defeats))
        return rows[best], defeats[best]
    table = np.zeros((graph.edges, graph.candidates), dtype=ahead.dtype)
    one, other = np.nonzero(graph.comparable)
    table[one, graph.edge_candidate[other]] = ahead[one, other]
    best, defeat = _first_least(rows, table, graph.edge_at >= 0)
    return rows[best], defeat


def _by_program(graph: Graph, ahead: Margins, excluded: Indices | None) -> tuple[Indices, Any]:
    cells = int((graph.degrees**2).sum())
    if cells > CELLS:
        raise TooLargeError(
            f"Finding the least beaten of more than {LISTED:,} matchings takes a program with {cells:,} "
            f"coefficients; the limit is {CELLS:,}. Leave out candidates that cannot win."
        )
    whole = ahead.dtype.kind in "iO"
    largest = max(abs(ahead.max()), abs(ahead.min()), 1 if whole else 0.0)
    if whole and largest * graph.positions > FINEST:
        raise TooLargeError(
            f"Finding the least beaten of more than {LISTED:,} matchings takes a program whose numbers are "
            f"too fine for its solver ({largest:.1e} to 1). Equal weights of the judges would help."
        )
    nodes = WORK // cells
    unit = 1.0 if whole or largest == 0 else float(largest) / 100
    others = graph.positions + graph.candidates  # the columns of u and v
    free = np.full(graph.positions, np.inf)
    solved = milp(
        np.repeat([0.0, 1.0], [graph.edges, others]),
        integrality=np.repeat([1.0, 0.0], [graph.edges, others]),
        bounds=Bounds(
            np.concatenate([np.zeros(graph.edges), -free, np.zeros(graph.candidates)]),
            np.repeat([1.0, np.inf], [graph.edges, others]),
        ),
        constraints=_constraints(graph, ahead.astype(np.float64) / unit, excluded),
        options={"mip_rel_gap": 0.0, "node_limit": nodes},
    )
    if solved.status != 0 or solved.x is None:
        raise TooLargeError(
            f"The least beaten matching was not found within {nodes:,} branchings. Leave out candidates that "
            "cannot win."
        )
    matching = cheapest(graph, -np.round(solved.x[: graph.edges]))
    assert matching is not None, "a Problem has a matching"
    defeat, _ = worst_defeat(graph, ahead, matching)
    if float(defeat) / unit > solved.mip_dual_bound + (0.5 if whole else 1e-4):
        raise TooLargeError("The solver's proof of the least beaten matching is not exact enough.")
    return matching, defeat


def _constraints(
    graph: Graph, ahead: NDArray[np.float64], excluded: Indices | None
) -> list[LinearConstraint]:
    matching = seat_rows(graph, graph.positions + graph.candidates)
    rival = block_array([[csr_array(ahead.T), seat_rows(graph).matrix.T]])
    constraints = [
        LinearConstraint(matching.matrix, matching.low, matching.high),
        LinearConstraint(rival.tocsr(), np.zeros(graph.edges), np.full(graph.edges, np.inf)),
    ]
    if excluded is not None:
        edge = np.zeros(graph.edges + graph.positions + graph.candidates)
        edge[excluded] = 1.0
        constraints.append(LinearConstraint(edge[None, :], -np.inf, graph.positions - 1))
    return constraints


def _by_rivals(graph: Graph, ahead: Margins, excluded: Indices | None) -> tuple[Indices, float]:
    if ahead.dtype.kind in "iO" or excluded is not None:
        raise TooLargeError(f"The least beaten of more than {COMPARED:,} decisions is out of reach.")
    decisions = decisions_of(graph)
    scale = float(np.abs(ahead).max(initial=0.0))
    if scale == 0.0:
        return decisions.one(np.zeros(graph.edges)), 0.0
    rows = decision_rows(graph, graph.rules)
    extra = rows.matrix.shape[1] - graph.edges
    columns = graph.edges + extra + 1
    fixed = csr_array(hstack([rows.matrix, csr_array((len(rows.low), 1))]))
    decision = decisions.one(np.zeros(graph.edges))
    met: list[NDArray[np.float64]] = []
    best: tuple[Indices, float] | None = None
    for _ in range(MOST_RIVALS):
        uses = graph.uses(decision).astype(np.float64)
        over = uses @ ahead
        rival = decisions.one(-over)
        defeat = -float(over[rival].sum())
        if best is None or defeat < best[1]:
            best = decision, defeat
        met.append(np.append(ahead @ graph.uses(rival) / scale, [*np.zeros(extra), 1.0]))
        solved = milp(
            np.append(np.zeros(columns - 1), 1.0),
            integrality=np.append(np.ones(columns - 1), 0.0),
            bounds=Bounds(np.append(np.zeros(columns - 1), -np.inf), np.append(np.ones(columns - 1), np.inf)),
            constraints=[
                LinearConstraint(fixed, rows.low, rows.high),
                LinearConstraint(np.stack(met), np.zeros(len(met)), np.full(len(met), np.inf)),
            ],
            options={"mip_rel_gap": 0.0, "node_limit": MOST_BRANCHINGS},
        )
        if solved.status != 0 or solved.x is None:
            break
        if best[1] / scale <= solved.mip_dual_bound + ACCURACY:
            return best
        decision = np.flatnonzero(solved.x[: graph.edges] > 0.5)
    raise TooLargeError(
        f"The least beaten of more than {COMPARED:,} decisions was not found with {MOST_RIVALS} rivals and "
        f"{MOST_BRANCHINGS:,} branchings for each. Leave out candidates that cannot win."
    )


@njit(cache=True)  # type: ignore[untyped-decorator]
def _first_least(rows: Indices, ahead: Margins, present: Mask) -> tuple[int, Any]:
    """Return the first of the matchings with the smallest worst defeat; ``ahead`` is edges x candidates."""
    positions = rows.shape[1]
    cost = np.zeros((positions, ahead.shape[1]), dtype=ahead.dtype)
    column_of = np.zeros(positions, dtype=np.intp)
    best, least = -1, ahead[0, 0]
    for row in range(len(rows)):
        for position in range(positions):
            cost[position, :] = ahead[rows[row, position], :]
        assign(cost, present, column_of)
        defeat = -cost[0, column_of[0]]
        for position in range(1, positions):
            defeat -= cost[position, column_of[position]]
        if best < 0 or defeat < least:
            best, least = row, defeat
    return best, least
