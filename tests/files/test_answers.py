"""Answers as CSV: what is not an answer to the problem is refused, naming the line."""

from __future__ import annotations

from cases import each
from duelmatch.answers import Answer
from duelmatch.files.answers import load_rankings, read_sheet
from files.team import TEAM, check_refused, write


@each(
    ("content", "fragment"),
    [
        ("position,winner,loser\nchair,ann,bob\nchiar,ann,bob", "line 3: There is no position"),
        ("position,winner,loser\nchair,zoe,bob", "line 2: There is no candidate 'zoe'"),
        ("position,winner,loser\nchair,ann,cyd", "'cyd' is not a candidate for position 'chair'"),
        ("position,winner,loser\nchair,ann,ann", "'ann' cannot win against itself"),
        ("position,winner,loser\nchair,ann", "line 2: 3 columns are expected"),
        ("position,winner,loser,weight\nchair,ann,bob,0", "line 2: the weight must be above 0"),
        ("position,winner,loser,weight\nchair,ann,bob,x", "line 2: the weight must be a number"),
        ("position,first,second\nchair,ann,bob", "the header must be position,winner,loser"),
        ("[]", "the header must be position,winner,loser"),
        ("", "The file is empty"),
    ],
)
def test_bad_answers_are_refused(content, fragment):
    check_refused(lambda path: load_rankings(path, TEAM), "v.csv", content, fragment)


def test_answers_are_loaded_in_order_with_their_weights_and_lines():
    write("v.csv", "position,winner,loser,weight\nchair,ann,bob,2.5\n\neditor,bob,cyd,1\n")
    rows = load_rankings("v.csv", TEAM)
    assert [row.answer for row in rows] == [
        Answer("chair", ("ann", "bob"), weight=2.5),
        Answer("editor", ("bob", "cyd")),
    ]
    assert [row.line for row in rows] == [2, 4]


def test_no_answers_yet_is_not_an_error():
    write("v.csv", "position,winner,loser\n")
    assert load_rankings("v.csv", TEAM) == []


def test_a_struck_answer_takes_out_its_judge_where_no_other_answer_of_theirs_counts():
    struck = "voter,position,ranking,struck\neve,chair,ann > bob,yes\nned,chair,bob > ann,\n"
    assert read_sheet(struck, TEAM).conflicts == {"eve": [("chair", "ann", "bob")]}
    said_again = struck + "eve,chair,bob > ann,\n"
    assert read_sheet(said_again, TEAM).conflicts == {}
    assert [row.line for row in read_sheet(said_again, TEAM).rows] == [3, 4]
