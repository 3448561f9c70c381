"""Files people write by hand: what is read, what is refused and how, and that nothing is lost."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cases import each
from duelmatch.errors import FileError, NoMatchingError, ProblemError
from duelmatch.files import problems as files
from duelmatch.files.answers import load_rankings
from duelmatch.files.problems import load_preferences, load_problem, read_document, save_problem
from duelmatch.preferences import Preferences
from duelmatch.problem import Details, Problem, is_shown
from duelmatch.rules import Rule
from files.team import TEAM, TEAM_JSON, TEAM_PREFERENCES, TEAM_YAML, check_refused, refusal, write

# The forms a problem can have


@each(
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


@each(
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


@each(
    "text",
    [
        TEAM_YAML,
        TEAM_JSON,
        f"# a, b\n---\n{TEAM_YAML}",
        "%YAML 1.1\n---\n" + TEAM_YAML.replace("candidates", '"candidates"'),
        "\n  candidate, position\nann,chair\nbob,chair\nbob,editor\ncyd,editor\n",
        '"position","first","second","probability"\nchair,ann,bob,0.55\neditor,bob,cyd,0.9\n',
    ],
)
def test_a_text_without_a_name_is_known_by_its_content(text):
    document = read_document(text, "standard input")
    assert document.problem() == TEAM
    assert document.has_preferences == ("0.55" in text)
    if document.has_preferences:
        assert document.preferences().probability("editor", "bob", "cyd") == 0.9


@each(
    ("text", "fragment"),
    [
        ("{edges: 1}", "The JSON is broken at line 1"),
        ("candidate;position\nann;chair\n", "Separate the columns with commas"),
        ("position,winner,loser\n", "the header must be candidate,position or position,first,"),
        ("ann", "must be a mapping with the keys"),
    ],
)
def test_a_text_without_a_name_is_refused_under_the_name_it_gets(text, fragment):
    sentence = refusal(read_document, text, "standard input")
    assert sentence.startswith("standard input: ")
    assert fragment in sentence


# The forms preferences can have


@each(
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
    # the layout
    ("t.yaml", "- ann\n- bob", "must be a mapping with the keys 'candidates', 'positions', 'edges', "
     "'rules' and 'preferences', not a list"),
    ("t.yaml", "just some words", "must be a mapping with the keys 'candidates', 'positions', 'edges', "
     "'rules' and 'preferences', not 'just some words'"),
    ("t.json", "3", "not 3."),
    ("t.json", "true", "not true."),
    ("t.yaml", "candidate: [ann]", "unknown key 'candidate'; the known ones are 'candidates', "
     "'positions', 'edges', 'rules' and 'preferences'. Did you mean 'candidates'?"),
    ("t.yaml", "seats: {x: 2}", "The key 'seats' belongs to a position: write positions: {NAME: {s"),
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
     "are 'name', 'title', 'text', 'picture', 'link', 'place' and 'capacity'. Did you mean 'text'?"),
    ("t.yaml", "positions: {x: {name: y}}", "'x' has an unknown key 'name'; the known ones are 'title'"),
    ("t.yaml", "positions: {x: words}", "The details of 'x' must be a mapping with the keys 'title', 'text'"),
    ("t.yaml", "positions: [{name: x, title: [y]}]", "The title of 'x' must be text, not a list"),
    ("t.yaml", "positions: [{name: x, text: 1.5}]", "The text of 'x' must be text, but 1.5 means a number"),
    ("t.yaml", "edges:", "'edges' must hold a list of candidates for each position"),
    ("t.yaml", "edges: everyone", "not 'everyone'"),
    ("t.yaml", "edges: {x: ann}", "The edges of 'x' must be a list of candidates, not 'ann'"),
    ("t.yaml", "edges: [ann]", "An edge must be a list of 2: [candidate, position], not 'ann'"),
    ("t.yaml", "edges: [[a, b, c]]", "An edge must be a list of 2: [candidate, position], not of 3"),
    # CSV
    ("t.csv", "ann,chair\nbob,chair", "line 1: the header must be candidate,position or "
     "position,first,second,probability, not 'ann,chair'."),
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
    ("p.yaml", "candidates: [\"a\\nb\"]\npositions: [x]", r"no line break or other character that cannot"),
    ("p.json", '{"candidates": ["%s"], "positions": ["x"]}' % ("a" * 900), "200 characters at most"),
    # capacities, seats, weights and rules
    ("r.yaml", "candidates: [{name: a, seats: 2}]\npositions: [s]", "A candidate has an unknown key 'seats'"),
    ("r.yaml", "candidates: [{name: a, capacity: x}]\npositions: [s]", "capacity of 'a' must be a number"),
    ("r.yaml", "candidates: [{name: a, capacity: 0}]\npositions: [s]", "a whole number of at least 1, not 0"),
    ("r.json", '{"candidates": ["a"], "positions": [{"name": "s", "seats": 1.5}]}', "of at least 1, not 1.5"),
    ("r.yaml", "candidates: [a]\npositions: {s: {weight: 0}}", "weight of 's' must be a number above 0"),
    ("r.yaml", "candidates: [a]\npositions: [s]\nrules: 3", "The key 'rules' must be a list of rules"),
    ("r.yaml", "candidates: [a]\npositions: [s]\nrules: [3]", "A rule must be a mapping with the keys"),
    ("r.yaml", "candidates: [a]\npositions: [s]\nrules: [{of: a}]", "'of' of a rule must be a list"),
    ("r.yaml", "candidates: [a]\npositions: [s]\nrules: [{of: [a], at_most: x}]", "a number, not 'x'"),
    ("r.yaml", "candidates: [a]\npositions: [s]\nrules: [{of: [[a, s, s]], at_most: 1}]", "not of 3"),
    ("r.yaml", "candidates: [a]\npositions: [s]\nrules: [{for: [a]}]", "A rule has an unknown key 'for'"),
    ("r.yaml", "candidates: [a]\npositions: [s]\nrules: [{of: [b], at_most: 1}]", "names 'b', but"),
    ("r.yaml", "candidates: [a]\npositions: [s]\nrules: [{of: [a], at_most: 0}]", "obeys the rule that 'a'"),
    ("p.csv", "candidate,position\nann,x\nann,x", "p.csv: The edge ('ann', 'x') is listed twice."),
]  # fmt: skip


@each(("name", "content", "fragment"), BAD_PROBLEMS)
def test_a_bad_problem_is_refused_in_a_sentence_that_begins_with_the_path(name, content, fragment):
    check_refused(load_problem, name, content, fragment)


def with_row(row: str) -> str:
    return f"edges: {{x: [a, b]}}\npreferences: {{x: [{row}]}}"


@each(
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
        ("t.csv", "candidate,position\na,x", "has no preferences; add them"),
        ("t.csv", "position,first,second,probability\nx,a,b,0,5", "line 2: 4 columns are expected"),
        ("t.csv", "position,first,second,probability\nx,a,b,high", "line 2: The probability of 'a' against"),
        ("t.csv", "position,first,second,probability\nx,a,b,nan", "must be a number, not nan"),
        ("t.csv", "position,first,second,probability\nx,a,b,1\nx,a,b,1", "line 3: The probability of"),
        ("t.csv", "position,first,second,probability\nx,a,b,2", "between 0 and 1"),
        ("t.csv", "position,first,second,probability\nx,a,a,0.6", "0.5 by definition"),
    ],
)  # fmt: skip
def test_bad_preferences_are_refused_in_a_sentence_that_begins_with_the_path(name, content, fragment):
    check_refused(load_preferences, name, content, fragment)


@each("name", ["t.yaml", "t.csv"])
def test_a_problem_without_a_matching_keeps_its_own_error(name):
    content = {
        "t.yaml": "candidates: [ann]\npositions: [x, y]",
        "t.csv": "candidate,position\nann,x\nann,y\n",
    }
    with pytest.raises(NoMatchingError, match=rf"^{name}: Not every position can be filled: the 2"):
        load_problem(write(name, content[name]))


def test_a_small_file_cannot_ask_for_a_huge_problem():
    names = ", ".join(f"n{i}" for i in range(2000))
    path = write("huge.yaml", f"candidates: [{names}]\npositions: [{names}]")
    assert "4,000,000 pairs of a candidate and a position" in refusal(load_problem, path)
    rows = "".join(f"c{i},p{i}\n" for i in range(2000))
    path = write("huge.csv", "candidate,position\n" + rows)
    assert "4,000,000 pairs of a candidate and a position" in refusal(load_problem, path)


def test_preferences_cannot_ask_for_a_huge_matrix():
    rows = "".join(f"p,c0,c{i},0.5\n" for i in range(1, 5001))
    path = write("huge.csv", "position,first,second,probability\n" + rows)
    assert "it has 5,001 edges, where 5,000 are allowed" in refusal(load_preferences, path)


# Saving


@each(("name", "expected"), [("team.yaml", TEAM_YAML), ("team.json", TEAM_JSON)])
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


@each(
    "problem",
    [
        Problem.from_edges([("ann", "chair")], candidates=["ann", "zoe"]),
        Problem.from_edges([("a", "y"), ("b", "x")], positions=["x", "y"]),
        Problem.from_edges([(" ann", "chair")]),
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


def test_what_could_not_be_loaded_again_is_not_saved(monkeypatch):
    details = {"ann": Details(title="\ud800")}
    broken = Problem(("ann",), ("chair",), (("ann", "chair"),), details)
    for name in ("team.yaml", "team.json"):
        assert "surrogate" in refusal(save_problem, broken, name)
    monkeypatch.setattr(files, "PROBLEM_BYTES", 50)
    assert "too large to load" in refusal(save_problem, TEAM, "team.yaml")
    assert os.listdir() == []


# Invariants

characters = st.characters(exclude_categories=["Cs"])
odd_names = st.sampled_from(
    ["No", "null", "~", "1e5", "007", "1_000", "12:30", "2024-05-01", "=", "<<", "- a", "&a", "*a", "#",
     "a: b", "a #b", "'", '"', "\\", "\x85", "\u2028", "\ufeff", "\r", "a\r\nb", "🪑", "é", "e\u0301",
     "\x1b[31m", "\0", "a\n", "\n a", "|", ">", "%", "@", "`", "!x", "[", "{", ",", "?", ":", "-", "...",
     "---", ".5", "0x1F", "\t", " a", "a  ", "name", "x" * 200]
)  # fmt: skip
shown = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])
names = (st.text(shown, min_size=1, max_size=8) | odd_names.filter(is_shown)).filter(str.strip)
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
        (load_rankings, (TEAM,)),
    ):
        sentence = f"{name}: loaded"
        try:
            load(name, *arguments)
        except (FileError, ProblemError) as error:
            sentence = str(error)
        assert sentence.startswith(f"{name}: ")
        assert sentence.isprintable()


@each("suffix", [".yaml", ".json"])
def test_capacities_seats_weights_and_rules_are_kept(suffix, tmp_path):
    problem = Problem.complete(
        ["ann", "bob", "cyd"],
        ["chair", "jury"],
        capacity={"ann": 2},
        seats={"jury": 2},
        weight={"chair": 2.5},
        rules=[Rule(of=["ann", ("bob", "jury")], at_least=1, at_most=2), Rule(together=["bob", "cyd"])],
    )
    path = tmp_path / f"team{suffix}"
    save_problem(problem, path)
    assert load_problem(path) == problem
    with pytest.raises(FileError, match="capacities, seats, weights, rules"):
        save_problem(problem, tmp_path / "team.csv")


def test_an_entry_with_a_number_and_details_keeps_both(tmp_path):
    path = tmp_path / "team.yaml"
    path.write_text("candidates: {ann: {title: Ann, capacity: 2}, bob: {capacity: 1}}\npositions: [s, t]\n")
    problem = load_problem(path)
    assert problem.capacity == {"ann": 2}
    assert problem.candidate_details == {"ann": Details(title="Ann")}
    save_problem(problem, path)
    assert load_problem(path).candidate_details == problem.candidate_details
