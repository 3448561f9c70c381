"""Answers as CSV: nothing is lost, and what is not an answer to the problem is refused."""

from __future__ import annotations

from pathlib import Path

from cases import each
from duelmatch.files import answers
from duelmatch.files.answers import Comparison, append_answers, load_answers, save_answers
from files.team import TEAM, check_refused, refusal, write

ANN = Comparison("chair", "ann", "bob")
BOB = Comparison("chair", "bob", "ann")


@each(
    ("name", "content", "fragment"),
    [
        ("v.csv", "position,winner,loser\nchair,ann,bob\nchiar,ann,bob", "line 3: There is no position"),
        ("v.csv", "position,winner,loser\nchair,zoe,bob", "line 2: There is no candidate 'zoe'"),
        ("v.csv", "position,winner,loser\nchair,ann,cyd", "'cyd' is not a candidate for position 'chair'"),
        ("v.csv", "position,winner,loser\nchair,ann,ann", "'ann' cannot win against itself"),
        ("v.csv", "position,winner,loser\nchair,ann", "line 2: 3 columns are expected"),
        ("v.csv", "position,winner,loser,weight\nchair,ann,bob,0", "line 2: the weight must be above 0"),
        ("v.csv", "position,winner,loser,weight\nchair,ann,bob,x", "line 2: the weight must be a number"),
        ("v.csv", "position,first,second\nchair,ann,bob", "the header must be position,winner,loser"),
        ("v.yaml", "[]", "Answers are kept as CSV"),
        ("v.csv", "", "The file is empty"),
    ],
)
def test_bad_answers_are_refused(name, content, fragment):
    check_refused(lambda path: load_answers(path, TEAM), name, content, fragment)


def test_answers_are_saved_appended_and_loaded_in_order():
    given = [ANN, Comparison("editor", "bob", "cyd"), ANN]
    save_answers(given[:1], "votes.csv")
    append_answers(given[1:], "votes.csv")
    assert Path("votes.csv").read_text() == (
        "position,winner,loser\nchair,ann,bob\neditor,bob,cyd\nchair,ann,bob\n"
    )
    assert load_answers("votes.csv", TEAM) == given


def test_answers_may_have_weights():
    weighted = [Comparison("chair", "ann", "bob", 2.5), ANN]
    save_answers(weighted, "votes.csv")
    assert load_answers("votes.csv") == weighted
    append_answers(weighted, "votes.csv")
    assert load_answers("votes.csv", TEAM) == weighted * 2
    save_answers([ANN], "plain.csv")
    assert "header must be position,winner,loser,weight" in refusal(append_answers, weighted, "plain.csv")


@each(
    ("old", "kept"),
    [
        (None, []),
        ("", []),
        ("\n", []),
        ("position,winner,loser", []),
        ("position,winner,loser\r\n", []),
        ("position,winner,loser\nchair,bob,ann", [BOB]),
    ],
)
def test_answers_are_appended_whatever_the_file_ends_with(old, kept):
    if old is not None:
        write("votes.csv", old)
    append_answers([ANN], "votes.csv")
    append_answers([], "votes.csv")
    assert load_answers("votes.csv", TEAM) == [*kept, ANN]


def test_no_answers_yet_is_not_an_error():
    save_answers([], "votes.csv")
    assert load_answers("votes.csv", TEAM) == []


def test_answers_are_not_appended_to_another_table():
    write("team.csv", "candidate,position\nann,chair\n")
    assert "header must be position,winner,loser" in refusal(append_answers, [], "team.csv")
    assert "kept as CSV" in refusal(append_answers, [], "votes.json")
    assert "kept as CSV" in refusal(save_answers, [], "votes.json")
    assert "null character" in refusal(append_answers, [], "a\0.csv")


def test_answers_that_would_not_load_again_are_not_written(monkeypatch):
    assert "begins or ends with a space" in refusal(save_answers, [Comparison("x ", "a", "b")], "votes.csv")
    monkeypatch.setattr(answers, "ANSWERS_BYTES", 30)
    append_answers([], "votes.csv")
    assert "too large to load" in refusal(append_answers, [ANN], "votes.csv")
    assert load_answers("votes.csv", TEAM) == []
