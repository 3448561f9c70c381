"""The width of a bipartite graph (Definition 2): the largest exchange between two maximum matchings.

Two maximum matchings differ in disjoint cycles and paths; such a component with k positions has 2 k edges.
The width is the size of the largest component that any two maximum matchings have. Finding it contains
the Hamiltonian cycle problem, so the exact search is limited; :func:`width_bound` is always cheap.
"""

from __future__ import annotations

from duelmatch.errors import ProblemError, TooLargeError
from duelmatch.graph import Graph
from duelmatch.matchings.counting import blocks
from duelmatch.problem import Problem, check_problem

MOST_STATES = 200_000
"""Limit on the partial exchanges the exact search looks at, per block: about a second."""


def width(problem: Problem, most_states: int = MOST_STATES) -> int:
    """Return the exact width of the graph; 0 if there is only one maximum matching.

    It is a property of one-to-one matchings: with capacities, seats or rules two decisions may differ in
    something else than cycles and paths, and nothing is known of the exchanges that they need.

    A component may as well be the only difference of the two matchings, so the search grows an
    alternating path candidate by candidate and asks whether the positions outside it can still be
    filled. Blocks are searched one by one, and a block's search ends at once when it meets its upper
    bound, as it does in most dense graphs.

    :raises TooLargeError: if the search meets more than ``most_states`` partial exchanges in a block.
    :raises ProblemError: if the decisions are not one-to-one matchings.
    """
    check_problem(problem, "A width")
    _require_one_to_one(problem)
    widest = 0
    for block in sorted(blocks(problem.graph), key=lambda piece: -_bound(piece.graph)):
        if _bound(block.graph) <= widest:
            break
        widest = max(
            widest,
            _bound(block.graph) if block.graph.is_complete else 2 * _Search(block.graph, most_states).run(),
        )
    return widest


def width_bound(problem: Problem) -> int:
    """Return an upper bound on width(G): twice the number of positions in the largest open block.

    :raises ProblemError: if the decisions are not one-to-one matchings.
    """
    check_problem(problem, "A width")
    _require_one_to_one(problem)
    return max(_bound(block.graph) for block in blocks(problem.graph))


def best_width_bound(problem: Problem) -> int:
    """Return the exact width where the search is short, its upper bound elsewhere."""
    try:
        return width(problem)
    except TooLargeError:
        return width_bound(problem)


def require_matchings(problem: Problem, what: str) -> None:
    """Refuse what the paper proves for one-to-one matchings of equal positions only.

    :raises ProblemError: if the problem has capacities, seats, weights or rules.
    """
    if problem.conditions:
        raise ProblemError(
            f"{what} is proven for one-to-one matchings of equal positions only; this problem has "
            f"{' and '.join(problem.conditions)}."
        )


def _require_one_to_one(problem: Problem) -> None:
    if not problem.graph.one_to_one:
        raise ProblemError(
            "The width is defined for one-to-one matchings only, not with capacities, seats or rules."
        )


def _bound(graph: Graph) -> int:
    return 2 * graph.positions if graph.candidates > 1 else 0


class _Search:
    """Depth-first search for the component with the most positions; sets are bit masks."""

    def __init__(self, graph: Graph, most_states: int) -> None:
        self._graph = graph
        self._states_left = most_states
        self._positions_of = [0] * graph.candidates
        self._candidates_of = [0] * graph.positions
        for position, candidate in zip(
            graph.edge_position.tolist(), graph.edge_candidate.tolist(), strict=True
        ):
            self._positions_of[candidate] |= 1 << position
            self._candidates_of[position] |= 1 << candidate
        self._all_positions = (1 << graph.positions) - 1
        self._all_candidates = (1 << graph.candidates) - 1
        self._fillable = dict[tuple[int, int], bool]()

    def run(self) -> int:
        """Return the number of positions in the largest component."""
        longest = 0
        for start in range(self._graph.candidates):
            longest = max(longest, self._grow(start, longest))
            if longest == self._graph.positions:
                break
        return longest

    def _grow(self, start: int, longest: int) -> int:
        """Walk over alternating paths from candidate ``start``, closing them as a path or a cycle."""
        seen = set[tuple[int, int, int]]()
        stack = [(0, 1 << start, start)]
        while stack:
            state = stack.pop()
            if state in seen:
                continue
            seen.add(state)
            self._spend()
            positions, candidates, end = state
            length = positions.bit_count()
            if length > longest and self._rest_fillable(positions, candidates):
                longest = length
            for position in _bits(self._positions_of[end] & ~positions):
                grown = positions | 1 << position
                closes = self._candidates_of[position] >> start & 1 and length > 0
                if closes and length + 1 > longest and self._rest_fillable(grown, candidates):
                    longest = length + 1
                if longest == self._graph.positions:
                    return longest
                for candidate in _bits(self._candidates_of[position] & ~candidates):
                    stack.append((grown, candidates | 1 << candidate, candidate))
        return longest

    def _spend(self) -> None:
        self._states_left -= 1
        if self._states_left < 0:
            raise TooLargeError(
                f"The exact width of a block of {self._graph.positions} positions and "
                f"{self._graph.candidates} candidates needs a longer search than the limit allows; "
                "use width_bound, or raise most_states."
            )

    def _rest_fillable(self, positions: int, candidates: int) -> bool:
        """Whether the positions outside the component can be filled by the candidates outside it."""
        key = (positions, candidates)
        if key not in self._fillable:
            partner: dict[int, int] = {}
            free = self._all_candidates & ~candidates
            self._fillable[key] = all(
                self._augment(position, free, partner, set())
                for position in _bits(self._all_positions & ~positions)
            )
        return self._fillable[key]

    def _augment(self, position: int, free: int, partner: dict[int, int], tried: set[int]) -> bool:
        for candidate in _bits(self._candidates_of[position] & free):
            if candidate not in tried:
                tried.add(candidate)
                if candidate not in partner or self._augment(partner[candidate], free, partner, tried):
                    partner[candidate] = position
                    return True
        return False


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]
