"""What is copied out of spreadsheets: tables and names, however their cells are separated."""

from __future__ import annotations

from pathlib import Path

import pytest

import duelmatch as dm
from duelmatch.errors import FileError
from duelmatch.files.people import Person, read_people
from duelmatch.files.problems import read_pasted

ROWS = (
    ("candidate", "chair", "editor", "place", "text", "capacity"),
    ("Ann", "x", "✓", "table 12", 'Says "hi"', "2"),
    ("Bob", "x", "", "table 7", "", ""),
)
TABLE = {
    "candidates": [
        {"name": "Ann", "text": 'Says "hi"', "place": "table 12", "capacity": 2},
        {"name": "Bob", "place": "table 7"},
    ],
    "positions": ["chair", "editor"],
    "edges": {"chair": ["Ann", "Bob"], "editor": ["Ann"]},
}


def written(delimiter: str) -> str:
    cells = [[f'"{cell}"'.replace('"hi"', '""hi""') if '"' in cell else cell for cell in row] for row in ROWS]
    return "\r\n".join(map(delimiter.join, cells)) + "\r\n"


@pytest.mark.parametrize("delimiter", ["\t", ";", ","], ids=["tab", "semicolon", "comma"])
def test_a_table_is_the_same_however_it_is_separated(delimiter: str, tmp_path: Path) -> None:
    assert read_pasted(written(delimiter)) == TABLE
    if delimiter == ",":
        (tmp_path / "team.csv").write_text("\ufeff" + written(delimiter), encoding="utf-8")
        assert dm.load_problem(tmp_path / "team.csv").candidate_details["Ann"].place == "table 12"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann\nBob\n\nCyd\n", ["Ann", "Bob", "Cyd"]),
        ("Smith, Ann\nMiller, Bob", ["Smith, Ann", "Miller, Bob"]),
        ("name\nAnn\nBob", ["Ann", "Bob"]),
        ("Li, Si\nWu, Bo", ["Li, Si", "Wu, Bo"]),
        ("Ann\tBob\tCyd", ["Ann", "Bob", "Cyd"]),
        ("Act 2: the end\nAct 1", ["Act 2: the end", "Act 1"]),
        ("team\tstand\nOwls\t1\nFoxes\t2", [{"name": "Owls", "place": "1"}, {"name": "Foxes", "place": "2"}]),
    ],
)
def test_names_alone_are_candidates(text: str, expected: list[object]) -> None:
    assert read_pasted(text) == {"candidates": expected, "positions": []}


@pytest.mark.parametrize(
    "text",
    [
        "candidates: [a, b]\npositions: [c]",
        '{"candidates": ["a", "b"], "positions": ["c"]}',
        "candidates:\na\nb\npositions:\nc",
        "candidate,position\na,c\nb,c",
        "\tc\na\tx\nb\tx",
        "who\tc\na\t\nb\tx\n",
        ";c\na;\nb;",
    ],
)
def test_the_same_problem_however_it_is_written(text: str) -> None:
    found = read_pasted(text)
    assert (found["candidates"], found["positions"]) == (["a", "b"], ["c"])
    assert found.get("edges", {"c": ["a", "b"]})["c"][-1] == "b"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Owls\ttable 1\nFoxes\ttable 2", "The first row must name the columns"),
        ("name\tchair\nAnn\tmaybe", "line 2: what stands under 'chair' must be x, or nothing, not 'maybe'"),
        ("name\tchair\tchair\nAnn\tx\tx", "same heading"),
        ("Ann\tx\nBob\tx\nCyd\tx", "marks instead of the names of positions"),
        ("Ann;1;0\nBob;1;", "marks instead of the names of positions"),
        ("name\tchair\n\tx", "line 2: the name of the candidate is empty"),
        ("name\tchair\tcapacity\nAnn\tx\tmany", "capacity of 'Ann'"),
        ("   \n", "nothing in it"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        read_pasted(text)


def test_judges_are_names_or_a_table() -> None:
    assert read_people("Eve\n\n Ned \n") == [Person("Eve"), Person("Ned")]
    assert read_people("Smith, Eve\nNed") == [Person("Smith, Eve"), Person("Ned")]
    for delimiter in "\t;,":
        text = 'Judge|Votes|Conflicts|E-mail\nEve|3|"Ann, Bob"|eve@example.org\nNed|||\n'.replace(
            "|", delimiter
        )
        assert read_people(text) == [
            Person("Eve", 3, ("Ann", "Bob"), {"E-mail": "eve@example.org"}),
            Person("Ned", 1, (), {"E-mail": ""}),
        ]
    assert read_people("") == []
    wide = ",".join(f"c{column}" for column in range(30))
    (eve,) = read_people(f"{wide},name,weight\n{wide},Eve,2\n")
    assert (eve.name, eve.weight, len(eve.others)) == ("Eve", 2, 20), "wherever the headings are"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Eve\nNed\nEve", "line 3: 'Eve' is already in line 1"),
        ("Eve,eve@example.org", "headings in the first row"),
        ("Eve\t2\nNed\t1", "headings in the first row"),
        ("name,weight\nEve,two", "line 2: the weight must be a whole number, not 'two'"),
        ("name,email\n,x@example.org", "line 2: the name is empty"),
    ],
)
def test_a_list_of_judges_that_is_not_clear_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        read_people(text)
