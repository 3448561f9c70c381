"""A known group of voters: what each of them thinks of every two candidates, and what follows by counting.

A panel is not a sample. Its preferences are shares: p_j(a, b) is the weight of the voters who prefer a to b
at j plus half the weight of those who see no difference, over the weight of all who judge that pair. A pair
that nobody judges is 1/2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import lcm
from numbers import Rational, Real

import numpy as np
from numpy.typing import NDArray

from duelmatch.answers import Ranking
from duelmatch.errors import ProblemError, listed
from duelmatch.graph import Mask
from duelmatch.preferences import Preferences
from duelmatch.problem import LONGEST_NAME, Problem, check_problem, is_shown

Rankings = Mapping[tuple[str, str], Ranking]
"""(voter, position) to the voter's ranking there."""

PanelAnswer = tuple[str, str, str, str] | tuple[str, str, tuple[str, str]]
"""(voter, position, better, worse), or (voter, position, (one, other)) where there is no difference."""

Conflict = str | tuple[str, str] | tuple[str, str, str]
"""What a voter does not judge: a candidate, a (candidate, position), or a pair (position, first, second)."""

NOT_JUDGED = 2
"""In a table of opinions: this voter does not judge this pair."""

LARGEST_WEIGHT = 1 << 40
"""The weights of all voters together, in units of their common denominator."""


class Panel:
    """The opinions of every voter, as rankings with ties or as an answer for every pair.

    ``rankings`` maps (voter, position) to all candidates of the position, best first; a tuple holds
    candidates between whom the voter sees no difference. ``answers`` lists (voter, position, better, worse),
    or (voter, position, (one, other)) for no difference; they need not be consistent. One of the two is
    given. What a voter does not judge is listed in ``conflicts``: candidates, (candidate, position), or
    single pairs (position, first, second). ``voter_weight`` is 1 for whoever is not in it.

    >>> team = Problem.complete(["ann", "bob"], ["chair"])
    >>> panel = Panel(team, {("eve", "chair"): ["ann", "bob"], ("ned", "chair"): [("ann", "bob")]})
    >>> panel.voters, panel.preferences().probability("chair", "ann", "bob")
    (('eve', 'ned'), 0.75)

    :raises ProblemError: if an opinion is missing, given twice, or about what is not there.
    """

    def __init__(
        self,
        problem: Problem,
        rankings: Rankings | None = None,
        *,
        answers: Iterable[PanelAnswer] | None = None,
        conflicts: Mapping[str, Collection[Conflict]] | None = None,
        voter_weight: Mapping[str, object] | None = None,
    ) -> None:
        check_problem(problem, "A panel")
        if (rankings is None) == (answers is None):
            raise ProblemError("A panel is made of rankings or of answers: give one of the two.")
        self.problem = problem
        said = (
            _from_rankings(problem, rankings)
            if rankings is not None
            else _from_answers(problem, answers or ())
        )
        self.voters: tuple[str, ...] = tuple(dict.fromkeys(voter for voter, _ in said))
        if not self.voters:
            raise ProblemError("A panel needs at least one voter.")
        self.judged: Mask = judged_pairs(problem, self.voters, conflicts or {})
        self.weights = voter_weights(self.voters, voter_weight or {})
        number = {voter: row for row, voter in enumerate(self.voters)}
        opinions = np.full(self.judged.shape, NOT_JUDGED, dtype=np.int8)
        for (voter, pair), opinion in said.items():
            opinions[number[voter], pair] = opinion
        self._check_complete(opinions)
        opinions.setflags(write=False)
        self.opinions: NDArray[np.int8] = opinions
        """A row per voter, a column per pair of the graph's table: 1 if its first edge is better, -1 if its
        second is, 0 for no difference, NOT_JUDGED."""

    def _check_complete(self, opinions: NDArray[np.int8]) -> None:
        given = opinions != NOT_JUDGED
        for wrong, sentence in (
            (self.judged & ~given, "says nothing of {}. Add it, or list it in conflicts."),
            (given & ~self.judged, "has an opinion on {}, which conflicts says is not judged."),
        ):
            if wrong.any():
                row = int(wrong.any(axis=1).argmax())
                pairs = [_pair_name(self.problem, pair) for pair in np.flatnonzero(wrong[row]).tolist()]
                raise ProblemError(f"'{self.voters[row]}' " + sentence.format(listed(pairs, limit=3)))

    def opinion(self, voter: str, position: str, first: str, second: str) -> int | None:
        """Return 1 if a voter prefers first, -1 if second, 0 for no difference, None if not judged."""
        if voter not in self.voters:
            raise ProblemError(f"There is no voter '{voter!s:.80}' on this panel.")
        one, other = (self.problem.edge_number(name, position) for name in (first, second))
        if one == other:
            return 0
        pair = self.problem.graph.pair_table.number_of(min(one, other), max(one, other))
        opinion = int(self.opinions[self.voters.index(voter), pair])
        if opinion == NOT_JUDGED:
            return None
        return opinion if one < other else -opinion

    def preferences(self) -> Preferences:
        """Return the shares of the panel."""
        weight = self.weights[:, None] * self.judged
        total = weight.sum(axis=0)
        margin = (weight * np.where(self.judged, self.opinions, 0)).sum(axis=0)
        share = 0.5 + 0.5 * margin / np.maximum(total, 1)
        matrix = self.problem.graph.table(share, 1.0 - share)
        np.fill_diagonal(matrix, 0.5)
        return Preferences.from_matrix(self.problem, matrix)

    def __repr__(self) -> str:
        return f"<Panel of {len(self.voters)} voters on {self.problem.graph.pairs} pairs>"


def judged_pairs(
    problem: Problem, voters: Sequence[str], conflicts: Mapping[str, Collection[Conflict]]
) -> Mask:
    """Mark the pairs that each voter judges: voters x pairs."""
    table = problem.graph.pair_table
    judged = np.ones((len(voters), table.count), dtype=np.bool_)
    number = {voter: row for row, voter in enumerate(voters)}
    if not isinstance(conflicts, Mapping):
        raise ProblemError(f"conflicts maps voters to lists of candidates, not {conflicts!r:.80}.")
    for voter, excluded in conflicts.items():
        if voter not in number:
            raise ProblemError(f"conflicts names '{voter!s:.80}', but there is no such voter.")
        _check_list(voter, excluded)
        judged[number[voter]] = ~_excluded(problem, excluded)
    return judged


def check_conflicts(problem: Problem, voter: str, conflicts: Collection[Conflict]) -> None:
    """Refuse conflicts of a voter that are about nothing in the problem."""
    _check_list(voter, conflicts)
    _numbers_of(problem, conflicts)


def _check_list(voter: str, conflicts: object) -> None:
    if isinstance(conflicts, str):
        raise ProblemError(
            f"The conflicts of '{voter}' must be a list, not the single text '{conflicts:.80}'."
        )
    if not isinstance(conflicts, Collection):
        raise ProblemError(f"The conflicts of '{voter}' must be a list, not {conflicts!r:.80}.")


def those_there(problem: Problem, conflicts: Mapping[str, Collection[Conflict]]) -> dict[str, list[Conflict]]:
    """Return the conflicts of each voter that are about what is there; candidates may have been dropped."""
    names = set(problem.candidates)
    return {
        voter: [each for each in listed if each in names or _is_there(problem, each)]
        for voter, listed in conflicts.items()
    }


def _is_there(problem: Problem, conflict: Conflict) -> bool:
    try:
        _numbers_of(problem, [conflict])
    except ProblemError:
        return False
    return True


def _excluded(problem: Problem, conflicts: Collection[object]) -> Mask:
    """Mark the pairs that any of a voter's conflicts is about."""
    graph, table = problem.graph, problem.graph.pair_table
    candidates, edges, pairs = _numbers_of(problem, conflicts)
    out = np.isin(graph.edge_candidate, candidates)
    out[edges] = True
    excluded: Mask = out[table.first] | out[table.second]
    if pairs:
        excluded[table.number(*np.array(pairs).T)] = True
    return excluded


def _numbers_of(
    problem: Problem, conflicts: Collection[object]
) -> tuple[list[int], list[int], list[list[int]]]:
    """Return the candidates, the edges and the pairs of edges that conflicts are about."""
    candidates, edges, pairs = [], [], []
    for conflict in conflicts:
        if isinstance(conflict, str):  # nearly all are, and there may be a million
            candidates.append(problem.candidate_number(conflict))
            continue
        match conflict:
            case (str(candidate), str(position)):
                edges.append(problem.edge_number(candidate, position))
            case (str(position), str(first), str(second)) if first != second:
                pairs.append([problem.edge_number(name, position) for name in (first, second)])
            case _:
                raise ProblemError(
                    "A conflict is a candidate, (candidate, position) or (position, first, second), "
                    f"not {conflict!r:.80}."
                )
    return candidates, edges, pairs


def voter_weights(voters: Sequence[str], voter_weight: Mapping[str, object]) -> NDArray[np.int64]:
    """Return whole numbers in proportion to the weights; a float means the decimal it is written as."""
    if not isinstance(voter_weight, Mapping):
        raise ProblemError(f"voter_weight maps voters to numbers, not {voter_weight!r:.80}.")
    known = set(voters)
    if unknown := [voter for voter in voter_weight if voter not in known]:
        raise ProblemError(f"voter_weight names {listed(map(str, unknown))}, but there is no such voter.")
    fractions = [_fraction(voter, voter_weight.get(voter, 1)) for voter in voters]
    unit = lcm(*(fraction.denominator for fraction in fractions))
    whole = [int(fraction * unit) for fraction in fractions]
    if sum(whole) > LARGEST_WEIGHT:
        raise ProblemError("The weights of the voters are too fine or too large; whole numbers are best.")
    return np.array(whole, dtype=np.int64)


def _fraction(voter: str, weight: object) -> Fraction:
    fraction = None
    if isinstance(weight, Rational) and not isinstance(weight, bool):
        fraction = Fraction(int(weight.numerator), int(weight.denominator))
    elif isinstance(weight, Real) and not isinstance(weight, bool) and np.isfinite(float(weight)):
        fraction = Fraction(str(float(weight)))
    if fraction is None or fraction <= 0:
        raise ProblemError(f"The weight of voter '{voter}' must be a number above 0, not {weight!r:.80}.")
    return fraction


def check_voters(voters: Iterable[object]) -> tuple[str, ...]:
    """Return the names of the voters, checked."""
    if isinstance(voters, str) or not isinstance(voters, Iterable):
        raise ProblemError(f"The voters must be a list of names, not {voters!r:.80}.")
    names: dict[str, None] = {}
    for voter in voters:
        if not isinstance(voter, str) or not voter.strip():
            raise ProblemError(f"The name of a voter must be text, not {voter!r:.80}.")
        if len(voter) > LONGEST_NAME or not is_shown(voter):
            raise ProblemError(
                f"The name of a voter may have {LONGEST_NAME} characters at most, and no line break or other "
                f"character that cannot be shown, as {voter!r:.50} has."
            )
        if voter in names:
            raise ProblemError(f"The voter '{voter}' is listed twice.")
        names[voter] = None
    if not names:
        raise ProblemError("A panel needs at least one voter.")
    return tuple(names)


def places_of(ranking: object, candidates: Sequence[str], where: str) -> dict[str, int]:
    """Return the place of every candidate in a ranking of exactly these candidates; ties share a place."""
    if isinstance(ranking, str) or not isinstance(ranking, Sequence):
        raise ProblemError(
            f"The ranking of {where} must be a list of candidates, best first, not {ranking!r:.80}."
        )
    places: dict[str, int] = {}
    for place, group in enumerate(ranking):
        names = (group,) if isinstance(group, str) else group
        if not isinstance(names, (tuple, list)):
            raise ProblemError(f"The ranking of {where} has {group!r:.80} where a candidate belongs.")
        for name in names:
            if name not in candidates:
                raise ProblemError(
                    f"The ranking of {where} names '{name!s:.80}', who is not to be ranked there."
                )
            if name in places:
                raise ProblemError(f"The ranking of {where} names '{name}' twice.")
            places[name] = place
    return places


Said = dict[tuple[str, int], int]
"""(voter, pair) to an opinion."""


def _from_rankings(problem: Problem, rankings: Rankings) -> Said:
    if not isinstance(rankings, Mapping):
        raise ProblemError(f"The rankings are a mapping from (voter, position), not {rankings!r:.80}.")
    graph, said = problem.graph, Said()
    for key, ranking in rankings.items():
        match key:
            case (str(voter), str(position)):
                check_voters([voter])
            case _:
                raise ProblemError(f"A ranking belongs to (voter, position), not to {key!r:.80}.")
        edges = graph.at(problem.position_number(position))
        candidates = [problem.edges[edge][0] for edge in range(edges.start, edges.stop)]
        places = places_of(ranking, candidates, f"'{voter}' at '{position}'")
        for (one, first), (other, second) in combinations(enumerate(candidates, edges.start), 2):
            if first in places and second in places:
                pair = graph.pair_table.number_of(one, other)
                said[voter, pair] = int(np.sign(places[second] - places[first]))
    return said


def _from_answers(problem: Problem, answers: Iterable[object]) -> Said:
    said = Said()
    for number, answer in enumerate(answers, start=1):
        match answer:
            case (str(voter), str(position), str(one), str(other)):
                opinion = 1
            case (str(voter), str(position), (str(one), str(other))):
                opinion = 0
            case _:
                raise ProblemError(
                    f"Answer {number} is not (voter, position, better, worse), or (voter, position, "
                    f"(one, other)) for no difference, but {answer!r:.80}."
                )
        check_voters([voter])
        better, worse = (problem.edge_number(name, position) for name in (one, other))
        if better == worse:
            raise ProblemError(f"Answer {number} of '{voter}' compares '{one}' with itself at '{position}'.")
        pair = problem.graph.pair_table.number_of(min(better, worse), max(better, worse))
        if (voter, pair) in said:
            raise ProblemError(f"'{voter}' answers '{one}' against '{other}' at '{position}' twice.")
        said[voter, pair] = opinion if better < worse else -opinion
    return said


def _pair_name(problem: Problem, pair: int) -> str:
    table = problem.graph.pair_table
    (first, position), (second, _) = problem.edges[table.first[pair]], problem.edges[table.second[pair]]
    return f"{first} against {second} at {position}"
