"""An answer in its plainest form, and as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import duelmatch as dm
from duelmatch.answers import ranking_from, ranking_text


def test_an_answer_says_something_of_every_two() -> None:
    answer = dm.Answer("chair", ["ann", ["bob", "cyd"]], "eve")  # type: ignore[list-item]
    assert answer.ranking == ("ann", ("bob", "cyd"))
    assert answer.groups == (("ann",), ("bob", "cyd"))
    assert answer.pairs() == [("ann", "bob", False), ("ann", "cyd", False), ("bob", "cyd", True)]
    assert (answer.text, answer.voter, answer.weight) == ("ann > bob = cyd", "eve", 1.0)


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=2, unique=True), st.randoms())
def test_text_says_the_same(names: list[str], random) -> None:  # type: ignore[no-untyped-def]
    ranking: list[str | tuple[str, ...]] = []
    while names:
        group, names = names[: (size := random.randint(1, 3))], names[size:]
        ranking.append(group[0] if len(group) == 1 else tuple(group))
    assert ranking_from(ranking_text(ranking)) == tuple(ranking)


@pytest.mark.parametrize("text", ["", "ann >", "> ann", "ann < bob", 'ann > "bob', "ann >> bob", "= ann"])
def test_what_is_no_ranking_is_refused(text: str) -> None:
    with pytest.raises(dm.ProblemError, match="is not a ranking such as"):
        ranking_from(text)


@pytest.mark.parametrize(
    ("ranking", "sentence"),
    [
        ("ann", "list of candidates"),
        (["ann"], "at least two candidates"),
        (["ann", "bob", "ann"], "ranked twice"),
        ([("ann", "ann")], "ranked twice"),
    ],
)
def test_rankings_that_rank_nobody_are_refused(ranking: object, sentence: str) -> None:
    with pytest.raises(dm.ProblemError, match=sentence):
        dm.Answer("chair", ranking)  # type: ignore[arg-type]
