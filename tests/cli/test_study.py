"""``duelmatch study`` and ``duelmatch store``, as somebody at a terminal uses them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import Result

from cases import each
from duelmatch import cli
from duelmatch.studies import Store
from terminal import read
from terminal import run as run_with_code

WRONG_USAGE, BAD_INPUT = cli.WRONG_USAGE, cli.BAD_INPUT


def run(*arguments: str, code: int = 0, stdin: str | None = None) -> Result:
    return run_with_code(*arguments, code=code, stdin=stdin)


@pytest.fixture
def lineup() -> str:
    """A study in the default database; its id."""
    study: str = read(
        "study", "create", "example:lineup", "--name", "Line-up", "--seed", "0", "--batch", "1"
    )["study"]
    return study


@each("algorithm", ["condorcet", "borda"])
def test_a_study_from_beginning_to_end(algorithm: str) -> None:
    Path("team.yaml").write_text("edges:\n  chair: [ann, bob]\n", encoding="utf-8")
    Path("duels.db").unlink(missing_ok=True)
    created = read("study", "create", "team.yaml", "--algorithm", algorithm, "--delta", "0.3")
    assert created["name"] == "team"
    assert len(created["organiser_key"]) == 59
    for number in range(1, 10_000):
        asked = read("study", "ask", "--voter", "eve")
        if asked["question"] is None:
            break
        assert asked["question"]["number"] == number
        run("study", "tell", str(number), "ann", "--voter", "eve")
    assert asked["reason"] == "done"
    assert "is over" in run("study", "ask", "--voter", "eve").stdout
    where = read("study", "status")
    assert where["done"]
    assert where["status"] == "certified"
    assert where["matching"] == {"chair": "ann"}
    page = run("study", "status").stdout
    assert "NOT CERTIFIED" not in page
    assert "not yet proven" not in page
    assert "at most 30%" in page


def test_a_guess_is_called_a_guess(lineup: str) -> None:
    assert "nothing is certain yet" in run("study", "status").stdout


def test_how_sure_it_is_of_the_leader_is_told(lineup: str) -> None:
    answered("ann", 1)
    assert "p 1; 19 matchings still possible" in run("study", "status").stdout
    where = read("study", "status")
    assert (where["p_value"], where["possible"], where["votes_left"]) == (1.0, 19, None)


def test_an_answer_given_twice_counts_once(lineup: str) -> None:
    asked = read("study", "ask", "--voter", "ann")["question"]
    assert run("study", "tell", "1", asked["left"], "--voter", "ann").stdout.startswith("Kept: ")
    assert run("study", "tell", "1", asked["right"], "--voter", "ann").stdout.startswith("Kept before")
    assert read("study", "status")["counted"] == 1


def test_ties_and_skips(lineup: str) -> None:
    run("study", "ask", "--voter", "ann")
    assert "A coin decided" in run("study", "tell", "1", "--tie", "--voter", "ann").stdout
    run("study", "ask", "--voter", "ann")
    assert "skipped" in run("study", "tell", "2", "--skip", "--reason", "no idea", "--voter", "ann").stdout
    assert "skipped, question 2, voter 1, no idea" in run("study", "log").stdout


@each("answer", [[], ["foxes", "--tie"], ["--tie", "--skip"]])
def test_an_answer_is_one_thing(lineup: str, answer: list[str]) -> None:
    run("study", "ask", "--voter", "ann")
    refusal = run("study", "tell", "1", *answer, "--voter", "ann", code=WRONG_USAGE)
    assert "WINNER, or --tie, or --skip" in refusal.stderr


@each(
    ("arguments", "sentence"),
    [
        (["study", "tell", "9", "foxes", "--voter", "ann"], "There is no question 9"),
        (["study", "tell", "1", "zoe", "--voter", "ann"], "not 'zoe'"),
        (["study", "tell", "1", "foxes", "--voter", "bob"], "somebody else"),
        (["study", "status", "--study", "nonsense"], "There is no study 'nonsense'"),
        (["study", "status", "--store", "sqlite:///other.db"], "There is no file 'other.db'"),
        (["study", "status", "--store", "mysql://x"], "sqlite or postgresql"),
        (["study", "resume", "--study", "nonsense"], "There is no study"),
        (["study", "correct", "1", "zoe"], "has no answer to correct"),
        (["study", "correct", "9", "--strike"], "There is no question 9"),
        (["study", "invalidate", "zoe"], "There is no voter 'zoe' in this study: it has 2 voters."),
        (["study", "reinstate", "7"], "There is no voter '7'"),
        (["study", "drop", "zoe"], "'zoe'"),
        (["study", "import", "nowhere.json"], "no such file"),
        (["study", "import", "answers.csv"], "answers only"),
        (["study", "ask", "--voter", ""], "empty"),
        (["store", "restore", "nowhere.gz", "--store", "sqlite:///new.db"], "no such file"),
        (["store", "backup", "nowhere/x.gz"], "cannot be written"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(lineup: str, arguments: list[str], sentence: str) -> None:
    run("study", "ask", "--voter", "ann")
    refusal = run(*arguments, code=BAD_INPUT)
    assert sentence in refusal.stderr
    assert refusal.stderr.startswith("Error: ")
    assert refusal.stderr.count("\n") == 1


def test_one_of_several_studies_is_named(lineup: str) -> None:
    other = read("study", "create", "example:models")["study"]
    refusal = run("study", "status", code=BAD_INPUT).stderr
    assert lineup in refusal
    assert other in refusal
    assert read("study", "status", "--study", other)["name"] == "models"


def test_the_store_can_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUELMATCH_STORE", "sqlite:///elsewhere.db")
    read("study", "create", "example:lineup")
    assert Path("elsewhere.db").exists()
    assert not Path("duels.db").exists()


def test_settings_are_kept() -> None:
    options = ["--no-ties", "--no-skips", "--once", "--lease", "60", "--ahead", "0", "--max-duels", "1"]
    settings = read("study", "create", "example:lineup", *options)["settings"]
    expected = {"ties": False, "skips": False, "once": True, "lease": 60.0, "ahead": 0, "max_votes": 1}
    assert settings | expected == settings
    asked = read("study", "ask", "--voter", "ann")["question"]
    assert "no ties" in run("study", "tell", "1", "--tie", "--voter", "ann", code=BAD_INPUT).stderr
    run("study", "tell", "1", asked["left"], "--voter", "ann")
    assert read("study", "ask", "--voter", "ann")["reason"] == "budget"


@pytest.mark.usefixtures("really_drawn_seeds")
def test_the_seed_is_shown_and_accepted_back() -> None:
    shown = [run("study", "create", "example:lineup").stdout, run("study", "status").stdout]
    (seed,) = {line.split()[1] for page in shown for line in page.splitlines() if line.startswith("Seed ")}
    assert int(seed) == read("study", "status")["settings"]["seed"]
    assert read("study", "create", "example:lineup", "--seed", seed)["settings"]["seed"] == int(seed)


def test_a_study_is_paused_and_closed(lineup: str) -> None:
    for command, state in (("pause", "paused"), ("resume", "open"), ("close", "closed"), ("reopen", "open")):
        assert f"Line-up is {state}." in run("study", command).stdout
        assert read("study", command)["state"] == state
    assert [entry["kind"] for entry in read("study", "log")["entries"]][1:] == [
        "paused",
        "resumed",
        "closed",
        "reopened",
    ]
    assert len(read("study", "log", "--after", "1", "--limit", "2")["entries"]) == 2


def answered(voter: str, number: int) -> tuple[str, str]:
    """Let somebody answer the next question; return who won, and who did not."""
    asked = read("study", "ask", "--voter", voter)["question"]
    assert asked["number"] == number
    run("study", "tell", str(number), asked["left"], "--voter", voter)
    return asked["left"], asked["right"]


def test_a_mistake_is_corrected(lineup: str) -> None:
    winner, loser = answered("ann", 1)
    assert f"is '{loser}' now. 1 answer counts." in run("study", "correct", "1", loser).stdout
    assert read("study", "correct", "1", "--strike")["counted"] == 0
    assert read("study", "correct", "1", winner)["counted"] == 1
    for wrong in ([], [winner, "--strike"]):
        assert "--strike" in run("study", "correct", "1", *wrong, code=WRONG_USAGE).stderr


def test_a_voter_is_invalidated_by_name_or_number(lineup: str) -> None:
    answered("ann", 1)
    answered("2", 2)
    assert "'ann' do not count now. 1 answer counts." in run("study", "invalidate", "ann").stdout
    assert "taken this voter out" in run("study", "ask", "--voter", "ann", code=BAD_INPUT).stderr
    assert read("study", "reinstate", "1")["counted"] == 2
    assert read("study", "invalidate", "2") == read("study", "invalidate", "2")
    assert read("study", "status")["voters"] == 2


def test_a_candidate_withdraws(lineup: str) -> None:
    winner, _ = answered("ann", 1)
    assert f"'{winner}' is out. 0 answers count." in run("study", "drop", winner).stdout
    assert read("study", "drop", winner)["dropped"] == [winner]
    assert read("study", "status")["counted"] == 0


def test_a_study_moves_to_another_database(lineup: str) -> None:
    run("study", "ask", "--voter", "ann")
    run("study", "tell", "1", "--tie", "--voter", "ann")
    run("study", "export", "lineup.json")
    moved = read("study", "import", "lineup.json", "--store", "sqlite:///other.db")
    assert (moved["votes"], moved["entries"]) == (1, 4)
    printed = run("study", "export", "--store", "sqlite:///other.db").stdout
    assert json.loads(printed) == json.loads(Path("lineup.json").read_text(encoding="utf-8"))
    assert '"ann"' not in printed


def test_a_study_is_begun_and_imported_from_standard_input() -> None:
    run("study", "create", "-", stdin="edges:\n  chair: [ann, bob]\n")
    exported = run("study", "export").stdout
    run("study", "import", "-", "--store", "sqlite:///other.db", stdin=exported)
    assert read("study", "status", "--store", "sqlite:///other.db")["name"] == "standard input"
    refused = run("study", "import", "-", stdin="{}", code=BAD_INPUT)
    assert refused.stderr.startswith("Error: standard input: This is not an exported study.")


def test_answers_are_exported_as_csv(lineup: str) -> None:
    run("study", "ask", "--voter", "ann")
    run("study", "tell", "1", "--tie", "--voter", "ann")
    run("study", "export", "answers.csv", "--voters")
    with Path("answers.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["voter"], row["tie"], row["counts"]) == ("ann", "yes", "yes")
    assert run("study", "export", "--csv").stdout.splitlines()[1].split(",")[2] == "1"


def test_a_store_is_backed_up_and_restored(lineup: str) -> None:
    rows = read("store", "backup", "all.gz")["rows"]
    assert rows["studies"] == 1
    assert read("store", "restore", "all.gz", "--store", "sqlite:///again.db")["rows"] == rows
    assert read("study", "status", "--store", "sqlite:///again.db") == read("study", "status")
    assert read("store", "upgrade") == {"before": "0001", "after": "0001"}


@each(("options", "role"), [([], "organiser"), (["--voter", "ann"], "voter"), (["--open"], "open")])
def test_a_link_opens_the_study_in_its_role(lineup: str, options: list[str], role: str) -> None:
    said = json.loads(
        run("study", "link", "--server", "https://duels.example.org/", "--json", *options).stdout
    )
    address, _, token = said["link"].rpartition("/")
    assert address == "https://duels.example.org/l"
    with Store("sqlite:///duels.db") as store:
        access = store.access(token)
        assert access is not None
        assert (access.study, access.role) == (said["study"], role)
    shown = run("study", "link", *options).stdout
    assert "http://127.0.0.1:8000/l/" in shown.splitlines()[-1]


def test_a_link_is_for_one_or_for_all(lineup: str) -> None:
    run("study", "link", "--open", "--voter", "ann", code=WRONG_USAGE)
