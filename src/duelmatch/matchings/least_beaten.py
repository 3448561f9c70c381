"""The least beaten decision, for classes beyond one-to-one matchings; see :mod:`duelmatch.matchings.minimax`.

D(A, B) = x^T ahead y is by how much A is ahead of B, and the worst defeat of A is max over B of -D(A, B): one
question to the linear oracle. Up to LISTED decisions every two are compared, exactly if ``ahead`` is in whole
numbers that doubles hold. Beyond that, for doubles only, a growing program:

    minimise t  subject to  t >= -D(x, B) for the rivals B met so far,  x a decision,

whose value never exceeds the least worst defeat. The rival that beats its solution most is added, until the
solution's own worst defeat is no more than t.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, hstack

from duelmatch.errors import TooLargeError
from duelmatch.feasibility import decision_rows
from duelmatch.graph import Graph, Indices
from duelmatch.matchings.assignment import decisions_of
from duelmatch.matchings.protocol import Decisions

LISTED = 4_000
"""Up to so many decisions every two are compared: some seconds."""

MOST_RIVALS = 200
MOST_BRANCHINGS = 5_000

ACCURACY = 1e-7
"""How far the proof may be from the defeat that was found, relative to the largest entry of ``ahead``."""


def least_beaten_decision(
    graph: Graph, ahead: NDArray[Any], excluded: Indices | None = None
) -> tuple[Indices, Any] | None:
    """Return a decision whose worst defeat is smallest, and that defeat; None if only ``excluded`` is there.

    :raises TooLargeError: beyond LISTED decisions, if ``ahead`` is in whole numbers, or the program does not
    end within its limits; or if the numbers are too large for doubles to hold.
    """
    decisions = decisions_of(graph)
    rows, is_whole = decisions.listed(None, LISTED), ahead.dtype.kind in "iO"
    if rows is None:
        if is_whole or excluded is not None:
            raise TooLargeError(f"The least beaten of more than {LISTED:,} decisions is out of reach.")
        return _by_program(decisions, ahead)
    defeats = worst_defeats(graph, ahead, rows)
    if excluded is not None:
        others = (rows != excluded).any(axis=1)
        if not others.any():
            return None
        defeats[~others] = np.inf
    best = int(np.argmin(defeats))
    return rows[best], int(defeats[best]) if is_whole else float(defeats[best])


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


def _by_program(decisions: Decisions, ahead: NDArray[np.float64]) -> tuple[Indices, float]:
    graph = decisions.graph
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
        f"The least beaten of more than {LISTED:,} decisions was not found with {MOST_RIVALS} rivals and "
        f"{MOST_BRANCHINGS:,} branchings for each. Leave out candidates that cannot win."
    )
