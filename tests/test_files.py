"""Files people write by hand: what is read, what is refused and how, and that nothing is lost."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duelmatch import files
from duelmatch.errors import FileError, NoMatchingError, ProblemError
from duelmatch.files import (
    Vote,
    append_votes,
    load_preferences,
    load_problem,
    load_votes,
    save_problem,
    save_votes,
)
from duelmatch.preferences import Preferences
from duelmatch.problem import Details, Problem

TEAM = Problem.from_edges(
    [("ann", "chair"), ("bob", "chair"), ("bob", "editor"), ("cyd", "editor")],
)
TEAM_PREFERENCES = Preferences(TEAM, {("chair", "ann", "bob"): 0.55, ("editor", "cyd", "bob"): 0.1})
TEAM_YAML = """\
candidates: [ann, bob, cyd]
positions: [chair, editor]
edges:
  chair: [ann, bob]
  editor: [bob, cyd]
preferences:
  chair:
  - [ann, bob, 0.55]
  editor:
  - [cyd, bob, 0.1]
"""
TEAM_JSON = """\
{
  "candidates": ["ann", "bob", "cyd"],
  "positions": ["chair", "editor"],
  "edges": {
    "chair": ["ann", "bob"],
    "editor": ["bob", "cyd"]
  },
  "preferences": {
    "chair": [
      ["ann", "bob", 0.55]
    ],
    "editor": [
      ["cyd", "bob", 0.1]
    ]
  }
}
"""


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def refusal(load, *arguments) -> str:
    """Return the sentence of a refusal, having checked what holds for all of them."""
    with pytest.raises((FileError, ProblemError)) as caught:
        load(*arguments)
    sentence = str(caught.value)
    assert caught.value.__cause__ is None
    assert sentence.isprintable()
    assert len(sentence) <= 1000
    assert sentence.endswith((".", "?", "…"))
    return sentence


# The forms a problem can have


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("team.yaml", TEAM_YAML),
        ("team.yml", TEAM_YAML),
        ("TEAM.YAML", TEAM_YAML),
        ("team.json", TEAM_JSON),
        ("team.csv", "candidate,position\nann,chair\nbob,chair\nbob,editor\ncyd,editor\n"),
        ("bom.csv", b"\xef\xbb\xbfcandidate,position\r\nann,chair\r\nbob,chair\r\nbob,editor\r\ncyd,editor"),
        ("blank.csv", "\n\ncandidate,position\n\nann,chair\n , \nbob,chair\n,\nbob,editor\ncyd,editor\n\n"),
        ("loose.csv", 'Candidate , "position"\n ann, "chair"\n"bob",chair \nbob,editor\ncyd,editor'),
        ("mac.csv", "candidate,position\rann,chair\rbob,chair\rbob,editor\rcyd,editor\r"),
        ("bom.yaml", b"\xef\xbb\xbf" + TEAM_YAML.encode().replace(b"\n", b"\r\n")),
        ("bom.json", b"\xef\xbb\xbf" + TEAM_JSON.encode()),
        ("edges.yaml", "edges: {chair: [ann, bob], editor: [bob, cyd]}"),
        ("pairs.yaml", "edges: [[ann, chair], [bob, chair], [bob, editor], [cyd, editor]]"),
        ("comment.yaml", "# a team\n---\nedges: {chair: [ann, bob], editor: [bob, cyd]}\n...\n"),
    ],
)  # fmt: skip
def test_a_problem_can_be_written_in_many_ways(name, content):
    assert load_problem(write(name, content)) == TEAM


def test_without_edges_everyone_can_fill_everything():
    path = write("team.yaml", "candidates: [ann, bob]\npositions: [chair, editor]")
    assert load_problem(path) == Problem.complete(["ann", "bob"], ["chair", "editor"])


@pytest.mark.parametrize(
    "candidates",
    [
        "[{name: ann, title: Ann, text: Likes cake, link: 'https://example.org/a'}, bob]",
        "{ann: {title: Ann, text: Likes cake, link: 'https://example.org/a', picture: }, bob: }",
        "{ann: {title: Ann, text: Likes cake, link: 'https://example.org/a', picture: ~}, bob: null}",
    ],
)
def test_a_candidate_may_carry_details(candidates):
    problem = load_problem(write("team.yaml", f"candidates: {candidates}\npositions: [chair]"))
    assert problem.candidates == ("ann", "bob")
    assert problem.candidate_details == {
        "ann": Details(title="Ann", text="Likes cake", link="https://example.org/a")
    }


def test_whole_numbers_may_be_names():
    yaml = load_problem(write("years.yaml", "candidates: [2024, '007', -1]\npositions: {7: {title: 3}}"))
    json = load_problem(write("years.json", '{"candidates": [2024, "007", -1], "positions": [7]}'))
    assert yaml == json == Problem.complete(["2024", "007", "-1"], ["7"])
    assert yaml.position_details["7"].title == "3"


def test_a_word_marked_as_text_is_text():
    path = write("team.yaml", "candidates: [!!str 1.10, \"No\", 'null']\npositions: [chair]")
    assert load_problem(path).candidates == ("1.10", "No", "null")


def test_a_candidate_without_a_position_is_kept():
    path = write("team.yaml", "candidates: [zoe, ann]\nedges: {chair: [ann]}")
    assert load_problem(path).candidates == ("zoe", "ann")


def test_a_problem_with_preferences_that_are_not_complete_yet_is_still_a_problem():
    path = write("team.yaml", "edges: {chair: [ann, bob]}\npreferences: {chair: []}")
    assert load_problem(path).candidates == ("ann", "bob")
    assert "ann against bob at chair' is missing" in refusal(load_preferences, path)


# The forms preferences can have


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("team.yaml", TEAM_YAML),
        ("team.json", TEAM_JSON),
        (
            "flat.yaml",
            "edges: {chair: [ann, bob], editor: [bob, cyd]}\n"
            "preferences: [[chair, ann, bob, .55], [editor, cyd, bob, 1e-1]]",
        ),
        ("only.csv", "position,first,second,probability\nchair,ann,bob,0.55\neditor,cyd,bob,1e-1"),
    ],
)
def test_preferences_can_be_written_in_many_ways(name, content):
    path = write(name, content)
    assert load_preferences(path, TEAM) == TEAM_PREFERENCES
    assert dict(load_preferences(path).items()).keys() >= {("chair", "ann", "bob")}


def test_a_table_of_preferences_names_its_own_problem():
    rows = "position,first,second,probability\nchair,ann,bob,1\neditor,cyd,bob,0\n"
    assert load_preferences(write("team.csv", rows)).problem == Problem.from_edges(
        [("ann", "chair"), ("bob", "chair"), ("cyd", "editor"), ("bob", "editor")]
    )


def test_preferences_may_stand_in_a_file_of_their_own():
    path = write("p.yaml", "preferences: {chair: [[bob, ann, 0.45]], editor: [[bob, cyd, 1]]}")
    assert load_preferences(path, TEAM).probability("chair", "ann", "bob") == 0.55
    assert "'candidates' is missing" in refusal(load_preferences, path)


# What is refused, and how

BAD_PROBLEMS = [
    # the file
    ("missing.yaml", None, "missing.yaml: There is no such file."),
    ("team.txt", "candidates: [ann]", "must end in .yaml, .yml, .json or .csv"),
    ("team", "candidates: [ann]", "must end in .yaml, .yml, .json or .csv"),
    ("no\0pe.yaml", None, "embedded null"),
    ("empty.yaml", "", "empty.yaml: The file is empty."),
    ("empty.json", " \n", "The file is empty."),
    ("empty.csv", b"\xef\xbb\xbf\n", "The file is empty."),
    ("comment.yaml", "# nothing\n", "The file is empty."),
    ("null.json", "null", "The file is empty."),
    ("zero.yaml", b"\x7fELF\0\0", "not a text file: byte 4 is zero"),
    ("utf16.csv", "candidate,position".encode("utf-16"), "not a text file"),
    ("latin.yaml", "candidates: [J\xf6rg]".encode("latin-1"), "not UTF-8 text: byte 14 is wrong"),
    ("bom.csv", b"\xef\xbb\xbfann\xff", "not UTF-8 text: byte 6 is wrong"),
    # broken YAML
    ("b.yaml", "candidates: [ann\npositions: [x]", "broken at line 2, column 10"),
    ("b.yaml", "a: b: c", "broken at line 1, column 5"),
    ("b.yaml", "edges:\n\tchair: [ann]", "YAML is indented with spaces, never with tabs."),
    ("b.yaml", "a: \x07", "unacceptable character #x0007"),
    ("b.yaml", "edges: {x: [a]}\n---\nedges: {x: [a]}", "line 2: a second YAML document begins"),
    ("b.yaml", "candidates: [*ann]", "line 1: anchors and aliases (& and *) are not supported"),
    ("b.yaml", "candidates: &all [ann]\npositions: *all", "line 1: anchors and aliases"),
    ("b.yaml", "a: 1\nx: {<<: &b {c: d}}", "line 2: anchors and aliases"),
    ("b.yaml", "edges: {x: [a]}\nedges: {x: [b]}", "line 2: the key 'edges' is given twice"),
    ("b.yaml", "edges:\n  x: [a]\n  x: [b]", "line 3: the key 'x' is given twice"),
    ("b.yaml", "edges: {7: [a], '7': [b]}", "the key '7' is given twice"),
    ("b.yaml", "[" * 100_000, "line 1: lists and mappings are nested too deeply"),
    ("b.yaml", "- " * 100_000, "nested too deeply"),
    ("b.yaml", "? " * 100_000, "nested too deeply"),
    ("b.yaml", "{a: " * 100_000, "nested too deeply"),
    ("b.yaml", "!!python/object/apply:os.system [ls]", "line 1: the tag tag:yaml.org,2002:python/"),
    ("b.yaml", "candidates: !!set {ann}", "the tag tag:yaml.org,2002:set is not supported"),
    ("b.yaml", "? [a, b]\n: c", "A key must be text, not a list"),
    # broken JSON
    ("b.json", '{"edges": [}', "The JSON is broken at line 1, column 12: Expecting value."),
    ("b.json", '{"edges":\n {"x": ["a"]},}', "broken at line 2"),
    ("b.json", "{'edges': 1}", "broken at line 1, column 2"),
    ("b.json", '{"edges": {"x": ["a"], "x": ["b"]}}', "The key 'x' is given twice"),
    ("b.json", "[" * 100_000, "nested too deeply"),
    ("b.json", '{"a":' * 100_000, "nested too deeply"),
    ("b.json", '{"candidates": [NaN]}', "NaN is not a number that JSON allows"),
    ("b.json", '{"candidates": [-Infinity]}', "-Infinity is not a number that JSON allows"),
    ("b.json", '{"candidates": ["\\ud800"], "positions": ["x"]}', "half of a surrogate pair"),
    ("b.json", '{"edges": {"\\ud800": ["x"]}}', "half of a surrogate pair"),
    # the layout
    ("t.yaml", "- ann\n- bob", "must be a mapping with the keys candidates, positions, edges and "
     "preferences, not a list"),
    ("t.yaml", "just some words", "must be a mapping with the keys candidates, positions, edges and "
     "preferences, not 'just some words'"),
    ("t.json", "3", "not 3."),
    ("t.json", "true", "not true."),
    ("t.yaml", "candidate: [ann]", "unknown key 'candidate'; the known ones are candidates, positions, "
     "edges and preferences. Did you mean 'candidates'?"),
    ("t.yaml", "seed: 7", "unknown key 'seed'; the known ones"),
    ("t.yaml", "k" * 900, "not 'kkk"),
    ("t.yaml", "candidates: [ann]", "The key 'positions' is missing; give it, or give 'edges'."),
    ("t.yaml", "positions: [x]", "The key 'candidates' is missing"),
    ("t.yaml", "{}", "The key 'candidates' is missing"),
    ("t.yaml", "candidates:\npositions: [x]", "'candidates' must hold a list of names, not nothing"),
    ("t.yaml", "candidates: ann\npositions: [x]", "must hold a list of names, not 'ann'"),
    ("t.yaml", "candidates: [[ann]]\npositions: [x]", "A candidate must be text, not a list"),
    ("t.yaml", "candidates: [{title: x}]", "A candidate has no 'name'"),
    ("t.yaml", "candidates: [{name: a, txt: x}]", "A candidate has an unknown key 'txt'; the known ones "
     "are name, title, text, picture and link. Did you mean 'text'?"),
    ("t.yaml", "positions: {x: {name: y}}", "'x' has an unknown key 'name'; the known ones are title"),
    ("t.yaml", "positions: {x: words}", "The details of 'x' must be a mapping with the keys title, text"),
    ("t.yaml", "positions: [{name: x, title: [y]}]", "The title of 'x' must be text, not a list"),
    ("t.yaml", "positions: [{name: x, text: 1.5}]", "The text of 'x' must be text, but 1.5 means a number"),
    ("t.yaml", "edges:", "'edges' must hold a list of candidates for each position"),
    ("t.yaml", "edges: everyone", "not 'everyone'"),
    ("t.yaml", "edges: {x: ann}", "The edges of 'x' must be a list of candidates, not 'ann'"),
    ("t.yaml", "edges: [ann]", "An edge must be a list of 2: [candidate, position], not 'ann'"),
    ("t.yaml", "edges: [[a, b, c]]", "An edge must be a list of 2: [candidate, position], not of 3"),
    # words that YAML does not take for text
    ("n.yaml", "edges:\n  x: [No]", 'line 2: A candidate must be text, but No means yes or no; put quotes '
     'around it: "No".'),
    ("n.yaml", "edges: {on: [a]}", 'A key must be text, but on means yes or no'),
    ("n.yaml", "edges: {x: [1.10]}", 'but 1.10 means a number; put quotes around it: "1.10"'),
    ("n.yaml", "edges: {x: [1e5]}", "but 1e5 means a number"),
    ("n.yaml", "edges: {x: [007]}", "but 007 means a number"),
    ("n.yaml", "edges: {x: [1_000]}", "but 1_000 means a number"),
    ("n.yaml", "edges: {x: [12:30]}", "but 12:30 means a number"),
    ("n.yaml", "edges: {x: [2024-05-01]}", "but 2024-05-01 means a date"),
    ("n.yaml", "edges: {x: [2024-99-99]}", "but 2024-99-99 means a date"),
    ("n.yaml", "edges: {x: [Null]}", "but Null means nothing"),
    ("n.yaml", "edges: {x: [.nan]}", "but .nan means a number"),
    ("n.yaml", "edges: {x: [ann, ]}\ncandidates: [ann, ~]", "but ~ means nothing"),
    ("n.yaml", "candidates:\n- ann\n-\npositions: [x]", "A candidate must be text, not nothing"),
    ("n.json", '{"edges": {"x": [false]}}', "A candidate must be text, not false"),
    ("n.json", '{"edges": {"x": [1.10]}}', 'put quotes around it: "1.10"'),
    ("n.json", '{"edges": {"x": [1e999]}}', "but 1e999 means a number"),
    ("n.json", '{"edges": {"x": [null]}}', "not nothing"),
    # CSV
    ("t.csv", "ann,chair\nbob,chair", "line 1: the header must be candidate,position, not 'ann,chair'."),
    ("t.csv", "candidate;position\nann;chair", "not 'candidate;position'. Separate the columns with "
     "commas."),
    ("t.csv", "\nposition,candidate\n", "line 2: the header must be candidate,position"),
    ("t.csv", "candidate,position\nann,chair\n\nbob", "line 4: 2 columns are expected (candidate, "
     "position), but there is 1."),
    ("t.csv", "candidate,position\nann,chair,7", "line 2: 2 columns are expected (candidate, position), "
     "but there are 3."),
    ("t.csv", "candidate,position\n\"a\nb\",x\nann,\n", "line 4: the position is empty"),
    ("t.csv", 'candidate,position\nann,chair\n"bob,chair\n', "The CSV is broken at line 3"),
    ("t.csv", 'candidate,position\n"ann"x,chair\n', "The CSV is broken at line 2"),
    ("t.csv", "candidate,position\n" + "a" * 200_000 + ",x", "The CSV is broken at line 2: field larger"),
    ("t.csv", "candidate,position\n", "at least one candidate"),
    # what the problem itself refuses
    ("p.yaml", "edges: []", "p.yaml: A problem needs at least one candidate."),
    ("p.yaml", "edges: {x: [a, a]}", "p.yaml: The edge ('a', 'x') is listed twice."),
    ("p.yaml", "candidates: [b]\nedges: {x: [a]}", "('a', 'x') names an unknown candidate"),
    ("p.yaml", "positions: [y]\nedges: {x: [a]}", "('a', 'x') names an unknown position"),
    ("p.yaml", "candidates: [a, a]\npositions: [x]", "The candidate 'a' is listed twice"),
    ("p.yaml", "candidates: ['']\npositions: [x]", "A candidate has an empty name"),
    ("p.yaml", "candidates: [\"a\\nb\", \"a\\nb\"]\npositions: [x]", r"The candidate 'a\nb' is listed"),
    ("p.json", '{"candidates": ["%s"], "positions": ["x"]}' % ("a" * 900), "200 characters at most"),
    ("p.csv", "candidate,position\nann,x\nann,x", "p.csv: The edge ('ann', 'x') is listed twice."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "fragment"), BAD_PROBLEMS)
def test_a_bad_problem_is_refused_in_a_sentence_that_begins_with_the_path(name, content, fragment):
    if content is not None:
        write(name, content)
    sentence = refusal(load_problem, name)
    assert fragment in sentence
    assert sentence.startswith(name.replace("\0", r"\x00") + ": ")


def with_row(row: str) -> str:
    return f"edges: {{x: [a, b]}}\npreferences: {{x: [{row}]}}"


@pytest.mark.parametrize(
    ("name", "content", "fragment"),
    [
        ("t.yaml", "edges: {x: [a, b]}", "has no preferences; add them under the key 'preferences'"),
        ("t.yaml", "edges: {x: [a]}\npreferences:", "'preferences' must hold a list of [first, second"),
        ("t.yaml", "edges: {x: [a]}\npreferences: {x: 1}", "at 'x' must be a list of rows, not 1"),
        ("t.yaml", with_row("a"), "A preference at 'x' must be a list of 3: [first, second, probability]"),
        ("t.yaml", with_row("[a, b]"), "must be a list of 3: [first, second, probability], not of 2"),
        ("t.yaml", "preferences: [[x, a, b]]", "[position, first, second, probability], not of 3"),
        ("t.yaml", with_row("[a, b, '0.5']"), "'a' against 'b' at 'x' must be a number, not '0.5'"),
        ("t.yaml", with_row("[a, b, half]"), "must be a number, not 'half'"),
        ("t.yaml", with_row("[a, b, 55%]"), "must be a number, not '55%'"),
        ("t.yaml", with_row("[a, b, yes]"), "line 2: The probability of 'a' against 'b' at 'x' must be"),
        ("t.yaml", with_row("[a, b, .nan]"), "must be a number, not .nan"),
        ("t.yaml", with_row("[a, b, ]"), "not of 2"),
        ("t.yaml", with_row("[a, b, 1.5]"), "must lie between 0 and 1, not 1.5"),
        ("t.yaml", with_row("[a, b, -1]"), "must lie between 0 and 1"),
        ("t.yaml", with_row("[a, b, 1e999]"), "must lie between 0 and 1, not inf"),
        ("t.yaml", with_row("[a, b, 0.5], [a, b, 0.5]"), "'a' against 'b' at 'x' is given twice"),
        ("t.yaml", with_row("[a, b, 0.5], [b, a, 0.6]"), "contradict each other"),
        ("t.yaml", with_row("[a, z, 0.5]"), "no candidate 'z'"),
        ("t.yaml", "edges: {x: [a, b]}\npreferences: {y: [[a, b, 1]]}", "no position 'y'"),
        ("t.yaml", "edges: {x: [a, b]}\npreferences: {}", "is missing"),
        ("t.json", '{"preferences": [["x", "a", "b", NaN]]}', "NaN is not a number"),
        ("t.json", '{"preferences": [["x", "a", "b", true]]}', "must be a number, not true"),
        ("t.csv", "candidate,position\na,x", "must be position,first,second,probability"),
        ("t.csv", "position,first,second,probability\nx,a,b,0,5", "line 2: 4 columns are expected"),
        ("t.csv", "position,first,second,probability\nx,a,b,high", "line 2: the probability must be a"),
        ("t.csv", "position,first,second,probability\nx,a,b,nan", "line 2: the probability must be a"),
        ("t.csv", "position,first,second,probability\nx,a,b,1\nx,a,b,1", "line 3: The probability of"),
        ("t.csv", "position,first,second,probability\nx,a,b,2", "between 0 and 1"),
        ("t.csv", "position,first,second,probability\nx,a,a,0.6", "0.5 by definition"),
    ],
)  # fmt: skip
def test_bad_preferences_are_refused_in_a_sentence_that_begins_with_the_path(name, content, fragment):
    sentence = refusal(load_preferences, write(name, content))
    assert fragment in sentence
    assert sentence.startswith(f"{name}: ")


@pytest.mark.parametrize(
    ("name", "content", "fragment"),
    [
        ("v.csv", "position,winner,loser\nchair,ann,bob\nchiar,ann,bob", "line 3: There is no position"),
        ("v.csv", "position,winner,loser\nchair,zoe,bob", "line 2: There is no candidate 'zoe'"),
        ("v.csv", "position,winner,loser\nchair,ann,cyd", "'cyd' is not a candidate for position 'chair'"),
        ("v.csv", "position,winner,loser\nchair,ann,ann", "'ann' cannot win against itself"),
        ("v.csv", "position,winner,loser\nchair,ann", "line 2: 3 columns are expected"),
        ("v.csv", "position,first,second\nchair,ann,bob", "the header must be position,winner,loser"),
        ("v.yaml", "[]", "Votes are kept as CSV"),
        ("v.csv", "", "The file is empty"),
    ],
)  # fmt: skip
def test_bad_votes_are_refused_in_a_sentence_that_begins_with_the_path(name, content, fragment):
    sentence = refusal(load_votes, write(name, content), TEAM)
    assert fragment in sentence
    assert sentence.startswith(f"{name}: ")


@pytest.mark.parametrize("name", ["t.yaml", "t.csv"])
def test_a_problem_without_a_matching_keeps_its_own_error(name):
    content = {
        "t.yaml": "candidates: [ann]\npositions: [x, y]",
        "t.csv": "candidate,position\nann,x\nann,y\n",
    }
    with pytest.raises(NoMatchingError, match=rf"^{name}: No matching fills every position: the 2"):
        load_problem(write(name, content[name]))


def test_a_directory_is_not_a_file():
    Path("team.yaml").mkdir()
    assert refusal(load_problem, "team.yaml") == "team.yaml: This is a directory, not a file."
    assert "team.yaml: The file cannot be written: " in refusal(save_problem, TEAM, "team.yaml")


def test_a_pipe_is_not_waited_for():
    os.mkfifo("team.yaml")
    assert "not a file" in refusal(load_problem, "team.yaml")


def test_permission_denied_is_said(monkeypatch):
    def deny(*_, **__):
        raise PermissionError(13, "Permission denied")

    write("team.yaml", TEAM_YAML)
    monkeypatch.setattr(Path, "open", deny)
    sentence = "team.yaml: The file cannot be read: Permission denied."
    assert refusal(load_problem, Path("team.yaml")) == sentence
    assert "cannot be written: Permission denied" in refusal(save_problem, TEAM, "team.yaml")
    assert "cannot be written: Permission denied" in refusal(append_votes, [], "votes.csv")


@pytest.mark.parametrize("name", ["garbage.yaml", "garbage.json", "garbage.csv"])
@pytest.mark.parametrize("size", [4_999_999, 10_000_000])
def test_megabytes_of_garbage_are_refused_quickly(name, size):
    write(name, b"[x: {" * (size // 5))
    started = time.process_time()
    refusal(load_problem, name)
    refusal(load_preferences, name)
    assert time.process_time() - started < 2


def test_a_file_over_the_limit_is_too_large():
    write("large.yaml", TEAM_YAML + "#" * 10_000_000)
    assert "too large: 10,000,1" in refusal(load_problem, "large.yaml")


def test_a_small_file_cannot_ask_for_a_huge_problem():
    names = ", ".join(f"n{i}" for i in range(2000))
    path = write("huge.yaml", f"candidates: [{names}]\npositions: [{names}]")
    assert "candidates times positions are 4,000,000" in refusal(load_problem, path)
    rows = "".join(f"c{i},p{i}\n" for i in range(2000))
    path = write("huge.csv", "candidate,position\n" + rows)
    assert "candidates times positions are 4,000,000" in refusal(load_problem, path)


def test_preferences_cannot_ask_for_a_huge_matrix():
    rows = "".join(f"p,c0,c{i},0.5\n" for i in range(1, 5001))
    path = write("huge.csv", "position,first,second,probability\n" + rows)
    assert "it has 5,001 edges, where 5,000 are allowed" in refusal(load_preferences, path)


# Saving


@pytest.mark.parametrize(("name", "expected"), [("team.yaml", TEAM_YAML), ("team.json", TEAM_JSON)])
def test_what_is_saved_is_pleasant_to_read(name, expected):
    save_problem(TEAM, name, TEAM_PREFERENCES)
    assert Path(name).read_text() == expected


def test_a_complete_problem_is_saved_without_edges():
    save_problem(Problem.complete(["ann", "bob"], ["chair"]), "team.yaml")
    assert Path("team.yaml").read_text() == "candidates: [ann, bob]\npositions: [chair]\n"


def test_details_are_saved_a_line_each_and_long_texts_as_blocks():
    details = {"ann": Details(title="Ann", text="Likes cake.\nBakes too.\n")}
    problem = Problem(("ann", "No"), ("chair",), (("ann", "chair"), ("No", "chair")), details)
    save_problem(problem, "team.yaml")
    assert Path("team.yaml").read_text() == (
        "candidates:\n- name: ann\n  title: Ann\n  text: |\n    Likes cake.\n    Bakes too.\n"
        '- "No"\npositions: [chair]\n'
    )


def test_a_problem_is_saved_as_a_table():
    save_problem(TEAM, "team.csv")
    assert Path("team.csv").read_text() == (
        "candidate,position\nann,chair\nbob,chair\nbob,editor\ncyd,editor\n"
    )


@pytest.mark.parametrize(
    "problem",
    [
        Problem.from_edges([("ann", "chair")], candidates=["ann", "zoe"]),
        Problem.from_edges([("a", "y"), ("b", "x")], positions=["x", "y"]),
        Problem.from_edges([(" ann", "chair")]),
        Problem.from_edges([("a\0b", "chair")]),
        Problem(("ann",), ("chair",), (("ann", "chair"),), {"ann": Details(title="Ann")}),
    ],
)
def test_a_table_that_would_lose_something_is_not_saved(problem):
    assert "save it as .yaml or .json" in refusal(save_problem, problem, "team.csv")
    assert not Path("team.csv").exists()


def test_preferences_are_not_dropped_from_a_table():
    assert "cannot hold" in refusal(save_problem, TEAM, "team.csv", TEAM_PREFERENCES)


def test_preferences_of_another_problem_are_not_saved():
    other = Problem.complete(["ann"], ["chair"])
    assert "belong to another problem" in refusal(save_problem, other, "t.yaml", TEAM_PREFERENCES)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    write("team.yaml", "old")
    monkeypatch.setattr(os, "fsync", fail)
    sentence = "team.yaml: The file cannot be written: No space left on device."
    assert refusal(save_problem, TEAM, "team.yaml") == sentence
    assert os.listdir() == ["team.yaml"]
    assert Path("team.yaml").read_text() == "old"


def test_saving_keeps_the_mode_of_the_file_and_follows_a_link():
    write("real.yaml", "old")
    os.chmod("real.yaml", 0o640)
    os.symlink("real.yaml", "team.yaml")
    save_problem(TEAM, "team.yaml")
    assert Path("team.yaml").is_symlink()
    assert load_problem("real.yaml") == TEAM
    assert stat.S_IMODE(os.stat("real.yaml").st_mode) == 0o640


def test_saving_into_no_directory_or_under_no_known_ending_is_refused():
    assert "No such file or directory" in refusal(save_problem, TEAM, "nowhere/team.yaml")
    assert "must end in .yaml" in refusal(save_problem, TEAM, "team.txt")


def test_what_could_not_be_loaded_again_is_not_saved(monkeypatch):
    broken = Problem.complete(["\ud800", "ann"], ["chair"])
    for name in ("team.yaml", "team.json", "team.csv"):
        assert "surrogate" in refusal(save_problem, broken, name)
    monkeypatch.setattr(files, "PROBLEM_BYTES", 50)
    assert "too large to load" in refusal(save_problem, TEAM, "team.yaml")
    assert os.listdir() == []


# Votes


def test_votes_are_saved_appended_and_loaded_in_order():
    votes = [Vote("chair", "ann", "bob"), Vote("editor", "bob", "cyd"), Vote("chair", "ann", "bob")]
    save_votes(votes[:1], "votes.csv")
    append_votes(votes[1:], "votes.csv")
    assert Path("votes.csv").read_text() == (
        "position,winner,loser\nchair,ann,bob\neditor,bob,cyd\nchair,ann,bob\n"
    )
    assert load_votes("votes.csv", TEAM) == votes


@pytest.mark.parametrize("old", ["", "\n", "position,winner,loser", "position,winner,loser\r\n"])
def test_votes_are_appended_to_a_file_with_a_header_or_none(old):
    write("votes.csv", old)
    append_votes([Vote("chair", "ann", "bob")], "votes.csv")
    assert load_votes("votes.csv", TEAM) == [Vote("chair", "ann", "bob")]


def test_votes_are_appended_to_a_file_that_is_not_there_or_lacks_its_last_newline():
    append_votes([Vote("chair", "ann", "bob")], "votes.csv")
    write("votes.csv", Path("votes.csv").read_bytes().rstrip())
    append_votes([Vote("chair", "bob", "ann")], "votes.csv")
    append_votes([], "votes.csv")
    assert load_votes("votes.csv", TEAM) == [Vote("chair", "ann", "bob"), Vote("chair", "bob", "ann")]


def test_no_votes_yet_is_not_an_error():
    save_votes([], "votes.csv")
    assert load_votes("votes.csv", TEAM) == []


def test_votes_are_not_appended_to_another_table():
    write("team.csv", "candidate,position\nann,chair\n")
    assert "header must be position,winner,loser" in refusal(append_votes, [], "team.csv")
    assert "kept as CSV" in refusal(append_votes, [], "votes.json")
    assert "kept as CSV" in refusal(save_votes, [], "votes.json")
    assert "embedded null" in refusal(append_votes, [], "a\0.csv")


def test_votes_that_would_not_load_again_are_not_written(monkeypatch):
    assert "begins or ends with a space" in refusal(save_votes, [Vote("x ", "a", "b")], "votes.csv")
    monkeypatch.setattr(files, "VOTES_BYTES", 30)
    append_votes([], "votes.csv")
    vote = Vote("chair", "ann", "bob")
    assert "too large to load" in refusal(append_votes, [vote], "votes.csv")
    assert load_votes("votes.csv", TEAM) == []


# Invariants

characters = st.characters(exclude_categories=["Cs"])
odd_names = st.sampled_from(
    ["No", "null", "~", "1e5", "007", "1_000", "12:30", "2024-05-01", "=", "<<", "- a", "&a", "*a", "#",
     "a: b", "a #b", "'", '"', "\\", "\x85", "\u2028", "\ufeff", "\r", "a\r\nb", "🪑", "é", "e\u0301",
     "\x1b[31m", "\0", "a\n", "\n a", "|", ">", "%", "@", "`", "!x", "[", "{", ",", "?", ":", "-", "...",
     "---", ".5", "0x1F", "\t", " a", "a  ", "name", "x" * 200]
)  # fmt: skip
names = (st.text(characters, min_size=1, max_size=8) | odd_names).filter(str.strip)
texts = st.none() | st.text(characters, max_size=30) | odd_names | st.text("a \n:#-", max_size=12)
details = st.builds(Details, texts, texts, texts, texts)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """A problem in which position j can be filled by candidate j, and some more."""
    positions = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    least = len(positions)
    candidates = draw(st.lists(names, min_size=least, max_size=least + 2, unique=True))
    more = st.tuples(st.sampled_from(candidates), st.sampled_from(positions))
    edges = {*zip(candidates, positions, strict=False), *draw(st.sets(more))}
    return Problem(
        tuple(candidates),
        tuple(positions),
        tuple(edges),
        draw(st.dictionaries(st.sampled_from(candidates), details, max_size=2)),
        draw(st.dictionaries(st.sampled_from(positions), details, max_size=2)),
    )


@st.composite
def preferences(draw: st.DrawFn) -> Preferences:
    problem = draw(problems())
    win = {}
    for number, (first, position) in enumerate(problem.edges):
        for second, same in problem.edges[number + 1 :]:
            if same == position:
                rivals = (first, second) if draw(st.booleans()) else (second, first)
                win[(position, *rivals)] = draw(st.floats(0, 1))
    return Preferences(problem, win)


@given(preferences(), st.sampled_from([".yaml", ".json"]))
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_saved_is_loaded_exactly(known, suffix):
    problem = known.problem
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, f"team{suffix}")
        save_problem(problem, path, known)
        saved = path.read_bytes()
        loaded = load_problem(path)
        assert load_preferences(path) == known
        save_problem(loaded, path, load_preferences(path))
        assert path.read_bytes() == saved
    assert loaded == problem
    assert loaded.candidate_details == problem.candidate_details
    assert loaded.position_details == problem.position_details


@given(problems())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_table_is_loaded_exactly_or_not_saved(problem):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "team.csv")
        try:
            save_problem(problem, path)
        except FileError:
            assert not path.exists()
        else:
            assert load_problem(path) == problem


words = st.sampled_from(
    ["candidates", "positions", "edges", "preferences", "ann", "chair", ":", ": ", "\n", "\n  ", "- ", "[",
     "]", "{", "}", ",", '"', "'", "&a", "*a", "!!int ", "0.5", "No", "null", "#", "|", ">", "---\n", "\t",
     "position,winner,loser\n", "candidate,position\n", "position,first,second,probability\n", "NaN", "?",
     "%YAML 1.1\n", "\ufeff", "\\u", "<<"]
)  # fmt: skip
contents = (
    st.binary(max_size=60)
    | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | st.lists(words, max_size=25).map(lambda parts: "".join(parts).encode())
)


@given(contents, st.sampled_from(["team.yaml", "team.json", "team.csv"]))
@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_is_in_a_file_it_loads_or_is_refused_in_a_sentence(content, name):
    write(name, content)
    for load, arguments in (
        (load_problem, ()),
        (load_preferences, ()),
        (load_preferences, (TEAM,)),
        (load_votes, (TEAM,)),
    ):
        sentence = f"{name}: loaded"
        try:
            load(name, *arguments)
        except (FileError, ProblemError) as error:
            sentence = str(error)
        assert sentence.startswith(f"{name}: ")
        assert sentence.isprintable()
