"""Decisions that obey rules: listed while they are few, else found by integer programs.

Up to LISTED decisions the oracle looks at all of them. Beyond that it first ignores the rules: a best flow
that happens to obey them is the answer. If it does not, the integer program of :mod:`duelmatch.feasibility`
is solved: by a few relaxations, which a warm start of the simplex method takes a millisecond or two for, or
where that does not do by HiGHS's own branch and bound, which takes tens of milliseconds.

The relaxation of that program is not the convex hull of the decisions, so nothing that must be exact rests on
it. It does bound a weight from above: for any multipliers y of the rows A x + B z <= b of the rules,

    w x  <=  y b + max over z of (-y B z) + max over flows x of (w - y A) x,

and the last maximum, through every edge at once, is a question to :class:`Flows`. The multipliers of the
relaxation make the bound as small as they can without an edge in mind.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import highspy
import numpy as np
from scipy.sparse import csc_array

from duelmatch.errors import DuelmatchError, TooLargeError
from duelmatch.feasibility import MOST_BRANCHINGS, Rows, decision_rows, rule_rows
from duelmatch.graph import Edges, Graph, Indices, Mask, Vector
from duelmatch.matchings.decisions import Alternatives, Decisions
from duelmatch.matchings.flows import Costs, Flows
from duelmatch.matchings.game import program_of, solver

LISTED = 20_000
"""Up to so many decisions the oracle looks at all of them, some tens of microseconds per thousand."""

GAP = 1e-10
"""How far below the best a decision of the integer program may be, besides the tolerance of HiGHS."""

TOLERANCE = 1e-9
"""Feasibility tolerance of the relaxation."""

SHORT = 40
"""How many relaxations are solved before HiGHS's own branch and bound is called."""

WHOLE = 1e-6
"""How far from 0 and 1 what HiGHS returns may be for rounding to be safe."""


class Ruled(Decisions):
    """The decisions of a graph with rules."""

    integral = False

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.flows = Flows(graph)
        """The decisions without the rules."""
        everything = np.ones(graph.edges, dtype=np.bool_)
        self.rows = super().listed(everything, LISTED)
        """All decisions, a row each, if they are few enough."""

    @property
    def fast(self) -> bool:
        """Whether the oracle takes microseconds, not milliseconds: while it has a list."""
        return self.rows is not None

    def best(
        self, weights: Vector, allowed: Mask | None = None, required: Edges = (), exact: bool = True
    ) -> Indices | None:
        """Return a decision of largest weight among the allowed edges, with the required; None if none is.

        If it need not be ``exact``, one of the best.
        """
        if self.rows is not None:
            return self._best_listed(self.rows, weights, allowed, required)
        flow = self.flows.best(weights, allowed, required)
        if flow is None or self.obeys(flow):
            return flow
        return self.program.best(weights, allowed, required, exact)

    def obeys(self, flow: Indices) -> bool:
        """Whether a decision by seats and capacities alone obeys the rules."""
        return all(rule.holds(self.graph.uses(flow)) for rule in self.graph.rules)

    @staticmethod
    def _best_listed(rows: Indices, weights: Vector, allowed: Mask | None, required: Edges) -> Indices | None:
        totals = (weights if allowed is None else np.where(allowed, weights, -np.inf))[rows].sum(axis=1)
        for edge in required:
            totals[(rows != edge).all(axis=1)] = -np.inf
        best = int(np.argmax(totals))
        return None if totals[best] == -np.inf else rows[best]

    def alternatives(self, weights: Vector) -> Alternatives:
        """Return the best weight with and without every single edge; -inf where there is no such decision."""
        if self.rows is None:
            return super().alternatives(weights)
        totals = weights[self.rows].sum(axis=1)
        with_edge = np.full(self.graph.edges, -np.inf)
        np.maximum.at(with_edge, self.rows, np.broadcast_to(totals[:, None], self.rows.shape))
        decision = self.rows[int(np.argmax(totals))]
        without_edge = np.full(self.graph.edges, float(totals.max()))
        for edge in decision.tolist():
            without_edge[edge] = totals[(self.rows != edge).all(axis=1)].max(initial=-np.inf)
        return Alternatives(decision, with_edge, without_edge)

    def most_through(self, weights: Vector, allowed: Mask) -> Vector:
        """Bound from above the weight of the decisions through every edge, by the relaxation."""
        if self.rows is not None:
            totals = np.where(allowed, weights, -np.inf)[self.rows].sum(axis=1)
            most = np.full(self.graph.edges, -np.inf)
            np.maximum.at(most, self.rows, np.broadcast_to(totals[:, None], self.rows.shape))
            return most
        relaxed = self.program.relaxed(weights, np.zeros(self.graph.edges), allowed.astype(np.float64))
        if relaxed is None:
            return np.full(self.graph.edges, -np.inf)
        constant, charge = self.charged(relaxed[1])
        bound: Vector = constant + self.flows.most_through(weights - charge, allowed)
        return bound

    def listed(self, allowed: Mask | None, at_most: int) -> Indices | None:
        """Return the decisions of the allowed edges, a row each; None if there may be more than so many."""
        if self.rows is None:
            return super().listed(allowed, at_most)
        rows = self.rows if allowed is None else self.rows[allowed[self.rows].all(axis=1)]
        return rows if len(rows) <= at_most else None

    @cached_property
    def _rule_rows(self) -> Rows:
        return rule_rows(self.graph, self.graph.rules)

    @cached_property
    def program(self) -> Program:
        """The integer program, and its relaxation."""
        return Program(self.graph)

    def charged(self, multipliers: Costs) -> tuple[Any, Costs]:
        """Return the constant and the charge per edge of the bound, in the arithmetic of the multipliers.

        Those of the wrong sign are dropped.
        """
        rows, edges, kind = self._rule_rows, self.graph.edges, multipliers.dtype
        bounded_above, bounded_below = np.isfinite(rows.high), np.isfinite(rows.low)
        positive = np.where(bounded_above, np.maximum(multipliers, 0), 0)
        negative = np.where(bounded_below, np.minimum(multipliers, 0), 0)
        high = np.where(bounded_above, rows.high, 0.0).astype(np.int64).astype(kind)
        low = np.where(bounded_below, rows.low, 0.0).astype(np.int64).astype(kind)
        matrix = rows.matrix if kind == np.float64 else rows.matrix.toarray().astype(np.int64).astype(kind)
        charge = matrix.T @ (positive + negative)
        constant = positive @ high + negative @ low + np.maximum(-charge[edges:], 0).sum()
        return constant, charge[:edges]


class Program:
    """The program in HiGHS, kept between calls: only costs and bounds change, so the simplex starts warm."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        rows = decision_rows(graph, graph.rules)
        self._rules = len(rows.low) - graph.positions - graph.candidates
        matrix = csc_array(rows.matrix)
        columns = matrix.shape[1]
        program = program_of(matrix)
        program.col_cost_ = np.zeros(columns)
        program.col_lower_, program.col_upper_ = np.zeros(columns), np.ones(columns)
        program.row_lower_ = np.maximum(rows.low, -highspy.kHighsInf)
        program.row_upper_ = np.minimum(rows.high, highspy.kHighsInf)
        self._relaxation = solver(
            presolve="off",  # it would forget the basis
            primal_feasibility_tolerance=TOLERANCE,
            dual_feasibility_tolerance=TOLERANCE,
        )
        self._relaxation.passModel(program)
        program.integrality_ = [highspy.HighsVarType.kInteger] * columns
        self._whole = solver(mip_rel_gap=0.0, mip_abs_gap=GAP, mip_max_nodes=MOST_BRANCHINGS)
        self._whole.passModel(program)

    def best(self, weights: Vector, allowed: Mask | None, required: Edges, exact: bool) -> Indices | None:
        """Return the best decision, or if it need not be exact a good one; None if there is none.

        First a short branch and bound over the relaxation, the likelier branch first: where it is long,
        HiGHS's own, with cuts.

        :raises TooLargeError: after MOST_BRANCHINGS, if it has to be the best or none was found.
        """
        upper = np.ones(self._graph.edges) if allowed is None else allowed.astype(np.float64)
        lower = np.zeros(self._graph.edges)
        lower[np.asarray(required, dtype=np.intp)] = 1.0
        if (lower > upper).any():
            return None
        found: Indices | None = None
        record = -np.inf
        open_nodes = [(lower, upper)]
        for _ in range(SHORT):
            if not open_nodes or (found is not None and not exact):
                return found
            low, high = open_nodes.pop()
            solved = self._solve(self._relaxation, weights, low, high)
            if solved is None or weights @ solved <= record + GAP:
                continue
            fractional = np.where(np.minimum(solved, 1.0 - solved) < WHOLE, -1.0, solved)
            edge = int(np.argmax(fractional))
            if fractional[edge] < 0:
                found = self._decision(solved)
                record = float(weights[found].sum())
                continue
            with_edge, without_edge = low.copy(), high.copy()
            with_edge[edge], without_edge[edge] = 1.0, 0.0
            open_nodes += [(low, without_edge), (with_edge, high)]
        solved = self._solve(self._whole, weights, lower, upper, exact)
        return None if solved is None else self._decision(solved)

    def _decision(self, solved: Vector) -> Indices:
        decision = np.flatnonzero(solved > 0.5)
        if not self._graph.allows(decision):
            raise DuelmatchError("HiGHS returned a decision that breaks a rule.")
        return decision

    def relaxed(self, weights: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector] | None:
        """Return the best x of the relaxation, and the multipliers of the rows of the rules; None if none."""
        solved = self._solve(self._relaxation, weights, lower, upper)
        if solved is None:
            return None
        duals = np.array(self._relaxation.getSolution().row_dual)
        return solved, -duals[len(duals) - self._rules :]

    def _solve(
        self, highs: highspy.Highs, weights: Vector, lower: Vector, upper: Vector, exact: bool = True
    ) -> Vector | None:
        """Return the x of largest weight between these bounds, or any that was found; None if none is."""
        edges = np.arange(self._graph.edges, dtype=np.int32)
        highs.changeColsCost(len(edges), edges, -np.asarray(weights, dtype=np.float64))
        highs.changeColsBounds(len(edges), edges, lower, upper)
        highs.run()
        status = highs.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return None
        has_one = highs.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        if status != highspy.HighsModelStatus.kOptimal and (exact or not has_one):
            raise TooLargeError(
                f"The best decision under these rules was not found within {MOST_BRANCHINGS:,} branchings "
                f"(HiGHS says {status}). Use fewer rules."
            )
        return np.array(highs.getSolution().col_value)[: self._graph.edges]
