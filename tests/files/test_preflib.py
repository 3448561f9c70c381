"""PrefLib files of complete orders become the preferences of one position."""

from __future__ import annotations

from pathlib import Path

import pytest

import duelmatch as dm
from duelmatch.files.preflib import load_preflib_answers, open_preflib

STRICT = """# FILE NAME: pets.soc
# TITLE: Favourite pets
# DATA TYPE: soc
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 10
# NUMBER UNIQUE ORDERS: 3
# ALTERNATIVE NAME 1: Cat
# ALTERNATIVE NAME 2: Dog, small
# ALTERNATIVE NAME 3: Newt
6: 1,2,3
3: 3,1,2
1: 2, 3, 1
"""
TIES = """# NUMBER ALTERNATIVES: 3
# ALTERNATIVE NAME 1: Cat
# ALTERNATIVE NAME 2: Dog
# ALTERNATIVE NAME 3: Newt
3: 1,{2,3}
1: {1,2,3}
1: {2,3},1
"""


def load(folder: Path, text: str, name: str) -> dm.Preferences:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return dm.load_preflib(path)


def test_strict_orders_count_voters(tmp_path: Path) -> None:
    prefs = load(tmp_path, STRICT, "pets.soc")
    assert prefs.problem.candidates == ("Cat", "Dog, small", "Newt")
    assert prefs.problem.positions == ("winner",)
    assert prefs.probability("winner", "Cat", "Dog, small") == pytest.approx(0.9)
    assert prefs.probability("winner", "Cat", "Newt") == pytest.approx(0.6)
    assert prefs.probability("winner", "Dog, small", "Newt") == pytest.approx(0.7)
    assert prefs.condorcet_winner() == {"winner": "Cat"}


def test_a_tie_is_half_a_voter_for_each(tmp_path: Path) -> None:
    prefs = load(tmp_path, TIES, "pets.toc")
    assert prefs.probability("winner", "Cat", "Dog") == pytest.approx((3 + 0.5) / 5)
    assert prefs.probability("winner", "Dog", "Newt") == 0.5


def test_a_file_can_stand_where_a_problem_with_preferences_does(tmp_path: Path) -> None:
    for text, name in ((STRICT, "pets.soc"), (TIES, "pets.toc")):
        preferences = load(tmp_path, text, name)
        document = open_preflib(tmp_path / name)
        assert document.has_preferences
        assert document.problem() == preferences.problem
        assert document.preferences() == preferences


def test_alternatives_without_a_name_are_called_by_their_number(tmp_path: Path) -> None:
    prefs = load(tmp_path, "# NUMBER ALTERNATIVES: 2\n4: 2,1\n", "plain.soc")
    assert prefs.probability("winner", "2", "1") == 1.0


def test_alternatives_with_one_name_are_told_apart(tmp_path: Path) -> None:
    text = "# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: X\n# ALTERNATIVE NAME 2: X\n4: 2,1\n"
    assert load(tmp_path, text, "twins.soc").problem.candidates == ("X (1)", "X (2)")


@pytest.mark.parametrize(
    ("text", "name", "sentence"),
    [
        (STRICT, "pets.soi", "Only complete orders can be read"),
        ("# NUMBER ALTERNATIVES: 2\n1,2,1.0\n", "kidneys.wmd", "in which nobody is preferred"),
        (TIES, "pets.soc", "line 5: a .soc file has no ties; is it a .toc"),
        (STRICT + "2: 1,2\n", "pets.soc", "line 13: '2: 1,2' is not an order of all 3 alternatives"),
        (STRICT + "2: 1,2,2\n", "pets.soc", "line 13"),
        (STRICT + "2: 1,2,4\n", "pets.soc", "line 13"),
        (STRICT + "two: 1,2,3\n", "pets.soc", "line 13"),
        (STRICT + "2: 1,{2,3\n", "pets.soc", "line 13"),
        (STRICT.partition("6:")[0], "pets.soc", "There is no order in the file"),
        ("3\n1,Cat\n2,Dog\n3,Newt\n10,10,3\n6,1,2,3\n", "old.soc", "before 2022"),
        ("# NUMBER ALTERNATIVES: 9999\n1: 1\n", "big.soc", "9,999 alternatives, where 5,000 are allowed"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, name: str, sentence: str) -> None:
    with pytest.raises(dm.FileError, match=rf"{name}: .*{sentence}"):
        load(tmp_path, text, name)


def test_everything_runs_on_it(tmp_path: Path) -> None:
    prefs = load(tmp_path, STRICT, "pets.soc")
    result = dm.simulate(prefs, "car-cond", delta=0.1, seed=1)
    assert result.matching == prefs.condorcet_winner()


def test_orders_that_leave_alternatives_out_are_answers_with_open_ends(tmp_path: Path) -> None:
    path = tmp_path / "pets.toi"
    path.write_text(TIES + "2: 3\n4: 2,{1,3}\n3: 2,1\n", encoding="utf-8")
    problem, answers, weights = load_preflib_answers(path, "pet")
    assert (problem.candidates, problem.positions) == (("Cat", "Dog", "Newt"), ("pet",))
    assert [(answer.text, answer.voter, answer.weight) for answer in answers[-2:]] == [
        ("Dog > Cat = Newt", "line 9", 4.0),
        ("Dog > Cat", "line 10", 3.0),
    ]
    assert weights["line 8"] == 2.0
    assert sum(weights.values()) == 5 + 2 + 4 + 3


@pytest.mark.parametrize(
    ("text", "name", "sentence"),
    [
        (STRICT, "pets.csv", "ends in .soc, .toc, .soi or .toi"),
        (TIES, "pets.soi", "line 5: a .soi file has no ties; is it a .toi?"),
        (STRICT + "2: 1,2\n", "pets.soc", "line 13: '2: 1,2' is not an order of all 3 alternatives"),
        (STRICT + "2: 1,1\n", "pets.soi", "line 13: '2: 1,1' is not an order of 3 alternatives"),
        (STRICT.partition("6:")[0], "pets.soi", "There is no order in the file"),
    ],
)
def test_what_is_wrong_with_the_orders_of_a_panel_is_said(
    tmp_path: Path, text: str, name: str, sentence: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(dm.FileError, match=sentence):
        load_preflib_answers(tmp_path / name)
