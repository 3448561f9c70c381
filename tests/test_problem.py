"""What a person can get wrong with a problem or a matching, and what is odd but right."""

from __future__ import annotations

import re
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from duelmatch.errors import NoMatchingError, ProblemError
from duelmatch.graph import Graph
from duelmatch.problem import Details, Duel, Matching, Problem

TEAM = Problem.from_edges([("ann", "chair"), ("bob", "chair"), ("bob", "editor"), ("cyd", "editor")])


@st.composite
def edge_sets(draw: st.DrawFn) -> tuple[int, int, set[tuple[int, int]]]:
    candidates, positions = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    every = st.tuples(st.integers(0, candidates - 1), st.integers(0, positions - 1))
    return candidates, positions, draw(st.sets(every, min_size=1, max_size=12))


def hall_condition_fails(positions: int, edges: set[tuple[int, int]]) -> bool:
    """Hall's theorem, by looking at every set of positions."""
    return any(
        len({candidate for candidate, position in edges if position in chosen}) < size
        for size in range(1, positions + 1)
        for chosen in combinations(range(positions), size)
    )


# What can be wrong with a problem


@each(
    ("candidates", "positions", "edges", "sentence"),
    [
        ([], ["chair"], [], "at least one candidate"),
        (["ann"], [], [], "at least one position"),
        (["ann", "ann"], ["chair"], [], "The candidate 'ann' is listed twice"),
        (["ann"], ["chair", "chair"], [], "The position 'chair' is listed twice"),
        ([""], ["chair"], [], "A candidate has an empty name"),
        (["ann"], ["\t "], [], "A position has an empty name"),
        ([7], ["chair"], [], "The name of a candidate must be text, not 7"),
        (["ann"], [None], [], "The name of a position must be text, not None"),
        (["a" * 201], ["chair"], [], "200 characters at most; 'aaa"),
        ("ann", ["chair"], [], "must be a list of names, not the single text 'ann'"),
        (["ann"], "chair", [], "must be a list of names, not the single text 'chair'"),
        (["ann"], ["chair"], [("bob", "chair")], r"('bob', 'chair') names an unknown candidate"),
        (["ann"], ["chair"], [("ann", "boss")], r"('ann', 'boss') names an unknown position"),
        (["ann"], ["chair"], [("ann", "chair")] * 2, r"('ann', 'chair') is listed twice"),
        (["ann"], ["chair"], [("ann", "chair", 1)], "pair of names (candidate, position), not"),
        (["ann"], ["chair"], ["ann chair"], "not 'ann chair'"),
        (["ann"], ["chair"], [("ann", 3)], "not ('ann', 3)"),
        (["ann"], ["chair"], [None], "not None"),
    ],
)
def test_a_wrong_problem_is_refused_with_a_sentence(candidates, positions, edges, sentence):
    with pytest.raises(ProblemError, match=re.escape(sentence)):
        Problem.from_edges(edges, candidates, positions)


def test_a_problem_without_edges_is_refused():
    with pytest.raises(ProblemError, match="at least one candidate"):
        Problem.from_edges([])


def test_a_single_text_in_place_of_names_is_refused_by_the_constructor_too():
    with pytest.raises(ProblemError, match="a list of names, not the single text 'ab'"):
        Problem("ab", ("chair",), (("a", "chair"), ("b", "chair")))


@each("name", ["a\nb", "a\tb", "a\0", "\x1b[31m", "a\u2028b", "\ud800"])
@each("kind", ["candidate", "position"])
def test_a_name_is_one_line_that_can_be_shown(kind, name):
    names = {"candidates": ["ann"], "positions": ["chair"]} | {f"{kind}s": [name]}
    with pytest.raises(ProblemError, match=f"The name of a {kind} may have no line break"):
        Problem.complete(**names)


@each("kind", ["candidate", "position"])
def test_details_of_a_stranger_are_refused(kind):
    with pytest.raises(ProblemError, match=f"for 'zoe', but there is no such {kind}"):
        Problem(("ann",), ("chair",), (("ann", "chair"),), **{f"{kind}_details": {"zoe": Details()}})


def test_details_belong_to_the_problem_and_do_not_change_later():
    details = {"ann": Details(title="Ann", link="https://example.org")}
    problem = Problem(("ann",), ("chair",), (("ann", "chair"),), candidate_details=details)
    details.clear()
    assert problem.candidate_details["ann"].title == "Ann"
    with pytest.raises(TypeError):
        problem.candidate_details["bob"] = Details()


# Positions that cannot all be filled


def test_a_position_that_nobody_can_fill_is_named():
    with pytest.raises(NoMatchingError, match="'editor' has no candidate"):
        Problem.from_edges([("ann", "chair")], positions=["chair", "editor"])


def test_positions_that_share_too_few_candidates_are_named_and_others_are_not():
    edges = [("ann", "chair"), ("ann", "editor"), ("bob", "cook"), ("cyd", "cook")]
    with pytest.raises(NoMatchingError) as refusal:
        Problem.from_edges(edges)
    sentence = str(refusal.value)
    assert "the 2 positions 'chair' and 'editor' have only 1 candidate between them ('ann')" in sentence
    assert "cook" not in sentence


@each("larger_first", [False, True])
def test_of_several_shortages_the_smallest_is_named(larger_first):
    smaller = [("ann", "chair"), ("ann", "editor")]
    larger = [(name, position) for name in ("bob", "cyd") for position in ("cook", "clerk", "judge")]
    with pytest.raises(NoMatchingError, match="the 2 positions 'chair' and 'editor' have only 1 candidate"):
        Problem.from_edges(larger + smaller if larger_first else smaller + larger)


def test_fewer_candidates_than_positions_is_refused():
    with pytest.raises(NoMatchingError, match=r"the 3 positions .* have only 2 candidates"):
        Problem.complete(["ann", "bob"], ["chair", "editor", "cook"])


def test_a_long_list_of_positions_is_cut_short():
    with pytest.raises(NoMatchingError, match="and 94 more have only 99 candidates"):
        Problem.complete([f"c{i}" for i in range(99)], [f"p{i}" for i in range(100)])


def test_a_large_problem_without_a_matching_is_refused_quickly():
    started = time.process_time()
    with pytest.raises(NoMatchingError):
        Problem.complete([f"c{i}" for i in range(250)], [f"p{i}" for i in range(750)])
    assert time.process_time() - started < 5


@given(edge_sets())
def test_a_hall_violator_is_one_and_is_found_exactly_if_one_exists(case):
    candidates, positions, edges = case
    candidate, position = np.array(sorted(edges), dtype=np.intp).T
    violator = Graph.from_edges(candidates, positions, candidate, position).hall_violator()
    assert (violator is not None) == hall_condition_fails(positions, edges)
    if violator is not None:
        short, shared = violator
        assert set(shared) == {c for c, s in edges if s in short}
        assert len(shared) == len(short) - 1
        assert short == sorted(set(short))


@given(edge_sets())
def test_the_refusal_names_the_violator_and_a_problem_exists_otherwise(case):
    candidates, positions, edges = case
    names = [f"c{i}" for i in range(candidates)], [f"p{j}" for j in range(positions)]
    pairs = [(f"c{i}", f"p{j}") for i, j in edges]
    if not hall_condition_fails(positions, edges):
        assert set(Problem.from_edges(pairs, *names).edges) == set(pairs)
        return
    with pytest.raises(NoMatchingError) as refusal:
        Problem.from_edges(pairs, *names)
    named_positions = set(re.findall(r"'(p\d)'", str(refusal.value)))
    named_candidates = set(re.findall(r"'(c\d)'", str(refusal.value)))
    assert named_candidates == {c for c, s in pairs if s in named_positions}
    assert len(named_candidates) < len(named_positions)


# Order


def test_names_keep_the_order_of_first_appearance_unless_given():
    edges = [("cyd", "editor"), ("ann", "chair"), ("ann", "editor")]
    assert Problem.from_edges(edges).candidates == ("cyd", "ann")
    assert Problem.from_edges(edges).positions == ("editor", "chair")
    given_order = Problem.from_edges(edges, ["ann", "cyd"], ["chair", "editor"])
    assert given_order.candidates == ("ann", "cyd")
    assert given_order.positions == ("chair", "editor")


def test_edges_are_ordered_by_position_then_by_candidate():
    problem = Problem.complete(["cyd", "ann"], ["editor", "chair"])
    assert problem.edges == (
        ("cyd", "editor"),
        ("ann", "editor"),
        ("cyd", "chair"),
        ("ann", "chair"),
    )


@given(st.permutations(TEAM.edges))
def test_the_order_in_which_edges_are_given_does_not_matter(edges):
    problem = Problem.from_edges(edges, TEAM.candidates, TEAM.positions)
    assert problem == TEAM
    assert hash(problem) == hash(TEAM)
    assert problem.edges == TEAM.edges


def test_edge_numbers_point_into_edges():
    for number, (candidate, position) in enumerate(TEAM.edges):
        assert TEAM.edge_number(candidate, position) == number


def test_generators_are_as_good_as_lists():
    problem = Problem.complete((name for name in ("ann", "bob")), iter(["chair"]))
    assert problem == Problem.complete(["ann", "bob"], ["chair"])


# Odd, and right


def test_a_position_with_a_single_candidate_is_fine():
    problem = Problem.from_edges([("ann", "chair"), ("bob", "editor"), ("cyd", "editor")])
    assert problem.graph.degrees.tolist() == [1, 2]
    assert problem.graph.pairs == 1


def test_one_candidate_for_one_position_is_a_problem_without_a_duel():
    assert Problem.complete(["ann"], ["chair"]).graph.pairs == 0


def test_more_candidates_than_positions_is_fine():
    assert len(Problem.complete(["ann", "bob", "cyd"], ["chair"]).edges) == 3


def test_a_candidate_without_a_position_stays_in_the_problem():
    problem = Problem.from_edges([("ann", "chair")], candidates=["zoe", "ann"])
    assert problem.candidates == ("zoe", "ann")
    assert problem.edges == (("ann", "chair"),)
    assert not problem.graph.is_complete


def test_an_edge_in_no_maximum_matching_stays_in_the_problem():
    problem = Problem.from_edges([("ann", "chair"), ("ann", "editor"), ("bob", "editor")])
    assert ("ann", "editor") in problem.edges
    assert problem.matching(problem.graph.some_matching()) == {"chair": "ann", "editor": "bob"}


def test_a_candidate_and_a_position_may_have_the_same_name():
    assert Problem.complete(["x", "y"], ["y", "x"]).edges[0] == ("x", "y")


def test_names_may_be_in_any_script():
    assert Problem.complete(["Ἑλένη", "山田"], ["🪑"]).edges == (("Ἑλένη", "🪑"), ("山田", "🪑"))


# Matchings


def test_a_matching_is_a_mapping_from_position_to_candidate():
    matching = Matching({"chair": "ann", "editor": "bob"})
    assert dict(matching) == {"chair": "ann", "editor": "bob"}
    assert len(matching) == 2
    assert "cook" not in matching
    assert repr(matching) == "Matching({'chair': 'ann', 'editor': 'bob'})"
    with pytest.raises(TypeError):
        matching["chair"] = "bob"


def test_equal_matchings_have_equal_hashes_whatever_their_order():
    one = Matching({"chair": "ann", "editor": "bob"})
    other = Matching({"editor": "bob", "chair": "ann"})
    assert one == other == {"chair": "ann", "editor": "bob"}
    assert len({one, other, Matching({"chair": "bob", "editor": "ann"})}) == 2


def test_a_matching_does_not_change_with_the_mapping_it_was_made_of():
    source = {"chair": "ann"}
    matching = Matching(source)
    source["chair"] = "bob"
    assert matching == {"chair": "ann"}


def test_a_candidate_in_two_positions_is_refused_by_the_problem():
    team = Problem.complete(["ann", "bob"], ["chair", "editor"])
    twice = Matching({"chair": "ann", "editor": "ann"})
    with pytest.raises(ProblemError, match="'ann' would fill several"):
        team.edge_numbers(twice)


@each(
    ("wrong", "sentence"),
    [
        ({"chair": None}, "made of names, not None"),
        ({"chair": ["ann", 3]}, "made of names, not 3"),
        ({"chair": {"ann"}}, r"made of names, not \{'ann'\}"),
        ({3: "ann"}, "made of names, not 3"),
        ([("chair", "ann")], "a mapping from positions to candidates"),
        (None, "a mapping from positions to candidates, not None"),
    ],
)
def test_a_matching_of_anything_but_names_is_refused(wrong, sentence):
    with pytest.raises(ProblemError, match=sentence):
        Matching(wrong)


@each(
    ("matching", "sentence"),
    [
        ({"chair": "ann"}, "leaves 'editor' empty"),
        ({}, "leaves 'chair' and 'editor' empty"),
        ({"chair": "ann", "editor": "bob", "cook": "cyd"}, "no position 'cook'"),
        ({"chair": "bob", "editor": "bob"}, "'bob' would fill several"),
        ({"chair": "cyd", "editor": "bob"}, "'cyd' is not a candidate for position 'chair'"),
        ({"chair": "zoe", "editor": "bob"}, "no candidate 'zoe'"),
    ],
)
def test_a_matching_of_another_problem_is_refused(matching, sentence):
    with pytest.raises(ProblemError, match=sentence):
        TEAM.edge_numbers(matching)


def test_a_matching_and_its_edge_numbers_give_each_other_back():
    matching = Matching({"editor": "cyd", "chair": "bob"})
    numbers = TEAM.edge_numbers(matching)
    assert numbers.tolist() == [1, 3]
    assert TEAM.matching(numbers) == matching


def test_a_problem_and_its_arrays_cannot_be_changed():
    with pytest.raises(AttributeError):
        TEAM.edges = ()
    with pytest.raises(ValueError, match="read-only"):
        TEAM.graph.edge_candidate[0] = 1


def test_a_duel_is_a_value():
    assert Duel("chair", "ann", "bob", id=3) == Duel("chair", "ann", "bob", id=3)
    assert len({Duel("chair", "ann", "bob"), Duel("chair", "bob", "ann")}) == 2


def test_a_pair_has_one_number_however_it_is_asked_for():
    problem = Problem.from_edges([("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("d", "z"), ("b", "z")])
    table = problem.graph.pair_table
    pairs = zip(table.first.tolist(), table.second.tolist(), strict=True)
    numbers = [table.number_of(low, high) for low, high in pairs]
    assert numbers == list(range(table.count)) == table.number(table.second, table.first).tolist()
