"""``duelmatch study`` and ``duelmatch store``, as somebody at a terminal uses them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import Result

from cases import each
from duelmatch import cli
from duelmatch.studies import Store
from logs import chained
from terminal import PROGRAM, flat, read
from terminal import run as run_with_code

WRONG_USAGE, BAD_INPUT = cli.WRONG_USAGE, cli.BAD_INPUT


def run(*arguments: str, code: int = 0, stdin: str | None = None) -> Result:
    return run_with_code(*arguments, code=code, stdin=stdin)


@pytest.fixture
def lineup() -> str:
    """A study of a crowd in the default database; its id."""
    study: str = read("study", "create", "example:lineup", "--name", "Line-up", "--seed", "0")["study"]
    return study


@each("criterion", ["condorcet", "borda"])
def test_a_panel_from_beginning_to_end(criterion: str) -> None:
    Path("team.yaml").write_text("edges:\n  chair: [ann, bob]\n", encoding="utf-8")
    Path("duels.db").unlink(missing_ok=True)
    voters = ["--voter", "eve", "--voter", "ned", "--weight", "ned=2"]
    created = read("study", "create", "team.yaml", *voters, "--criterion", criterion)
    assert (created["name"], created["settings"]["algorithm"]) == ("team", "panel")
    assert len(created["organiser_token"]) == 59
    assert "Nobody leads" in run("study", "status", "--quick").stdout
    asked = read("study", "ask", "--voter", "ned")["question"]
    run("study", "tell", f"{asked['number']}", "ann", "--voter", "ned")
    assert read("study", "ask", "--voter", "eve")["reason"] == "done"
    assert "is over" in run("study", "ask", "--voter", "eve").stdout
    where = read("study", "status", "--quick")
    assert where["done"]
    assert (where["status"], where["matching"], where["shortfall"]) == ("decided", {"chair": "ann"}, 0.0)
    page = run("study", "status", "--quick").stdout
    assert "NOT CERTAIN" not in page
    assert "This is decided" in page


def test_a_position_of_several_seats_has_all_their_names() -> None:
    Path("jury.yaml").write_text(
        "candidates: [ann, bob, cyd]\npositions: {jury: {seats: 2}}\n", encoding="utf-8"
    )
    run("study", "create", "jury.yaml", "--voter", "eve", "--seed", "1")
    run("study", "vote", "--voter", "eve", stdin="1\n1\n1\n")
    page = run("study", "status", "--quick").stdout
    assert " and ".join(read("study", "status", "--quick")["matching"]["jury"]) in page


def test_a_conflict_of_interest_is_respected() -> None:
    run("study", "create", "example:lineup", "--voter", "eve", "--conflict", "eve=foxes")
    for _ in range(100):
        asked = read("study", "ask", "--voter", "eve")["question"]
        if asked is None:
            break
        assert "foxes" not in asked["candidates"]
        run("study", "tell", f"{asked['number']}", asked["candidates"][0], "--voter", "eve")
    assert asked is None


def test_a_crowd_is_sampled_ballot_by_ballot(lineup: str) -> None:
    pairs = 7  # all that there are in this problem, fewer than the ten of a ballot
    for place in range(1, pairs + 1):
        asked = read("study", "ask", "--voter", "ann")["question"]
        assert (asked["place"], asked["of"]) == (place, pairs)
        run("study", "tell", f"{asked['number']}", asked["candidates"][0], "--voter", "ann")
    assert read("study", "ask", "--voter", "ann")["reason"] == "all yours"
    where = read("study", "status")
    assert (where["p_value"], where["error_allowed"], where["status"]) == (1.0, 0.05, "undecided")
    assert where["answers_left"]["beyond"] or where["answers_left"]["low"]
    standings = where["standings"]
    assert (standings["estimate"], standings["answers"]) == (True, pairs)
    assert all(abs(sum(shares.values()) - 1) < 1e-9 for shares in standings["probability"].values())
    page = run("study", "status").stdout
    assert "an estimate without a guarantee" in page
    assert "Leads (NOT CERTAIN)" in page
    quick = read("study", "status", "--quick")
    assert (quick["standings"], quick["answers_left"]) == (None, None)


def test_a_guess_is_called_a_guess(lineup: str) -> None:
    assert "Nobody leads" in run("study", "status", "--quick").stdout
    asked = read("study", "ask", "--voter", "ann")["question"]
    run("study", "tell", f"{asked['number']}", asked["candidates"][0], "--voter", "ann")
    assert "nothing is certain yet" in run("study", "status", "--quick").stdout


def test_an_answer_given_twice_counts_once(lineup: str) -> None:
    one, other = read("study", "ask", "--voter", "ann")["question"]["candidates"]
    kept = run("study", "tell", "1", one, "--voter", "ann").stdout
    assert kept.startswith(f"Kept: {one} > {other} at ")
    assert run("study", "tell", "1", one, "--voter", "ann").stdout.startswith("Kept before")
    refused = run("study", "tell", "1", other, "--voter", "ann", code=BAD_INPUT)
    assert "was answered already, and differently" in refused.stderr
    assert read("study", "status", "--quick")["counted"] == 1


def test_draws_and_skips(lineup: str) -> None:
    run("study", "ask", "--voter", "ann")
    assert "no difference between" in run("study", "tell", "1", "--tie", "--voter", "ann").stdout
    run("study", "ask", "--voter", "ann")
    assert "skipped" in run("study", "tell", "2", "--skip", "--reason", "no idea", "--voter", "ann").stdout
    assert ", no idea" in run("study", "log").stdout


def test_rankings() -> None:
    run("study", "create", "example:lineup", "--voter", "ann", "--question-size", "3")
    one, two, three = read("study", "ask", "--voter", "ann")["question"]["candidates"]
    told = read("study", "tell", "1", f"{three} > {one} = {two}", "--voter", "ann")["answer"]
    assert told["answer"] == [[three], sorted([one, two])]


def test_a_voter_votes_in_one_go(lineup: str) -> None:
    said = run("study", "vote", "--voter", "ann", stdin="?\nnobody\n1\n=\ns\nu\n2\nq\n").stdout
    assert "t  tie: there is no difference" in said
    assert "'nobody' is not one of" in said
    assert said.count("Kept: ") == 3
    assert "(2 of 7)" in said
    assert read("study", "status", "--quick")["counted"] == 2
    ended = run("study", "vote", "--voter", "ann", "--json", stdin="")
    assert json.loads(ended.stdout) == {"study": lineup, "answers": 2, "reason": None}
    assert "Who is better for" in ended.stderr
    receipt = said.rpartition("Receipt: ")[2].split()[0]
    run("study", "export", "log.jsonl")
    assert read("verify", "log.jsonl", "--receipt", receipt)["damage"] is None


def test_a_ranking_question_says_how_it_is_answered() -> None:
    run("study", "create", "example:lineup", "--voter", "ann", "--question-size", "3")
    said = flat(run("study", "vote", "--voter", "ann", stdin="1\n2 > 1 > 3\nq\n").stdout)
    assert "Who comes first, second, … for" in said
    assert "Rank all of them, best first, such as 3 > 2 > 1 (t tie, s skip" in said
    assert "Rank all of them, best first: " in said, "a winner does not answer it"
    assert said.count("Kept: ") == 1
    one, two, three = read("study", "ask", "--voter", "ann")["question"]["candidates"]
    refusal = flat(run("study", "tell", "2", one, "--voter", "ann", code=BAD_INPUT).stderr)
    assert f"'{one}' alone does not answer question 2: rank all of '{one}', '{two}', '{three}'" in refusal


def test_ties_need_no_spaces() -> None:
    run("study", "create", "example:lineup", "--voter", "ann")
    one, two = read("study", "ask", "--voter", "ann")["question"]["candidates"]
    told = read("study", "tell", "1", f"{one}={two}", "--voter", "ann")["answer"]
    assert told["answer"] == [sorted([one, two])]


def test_studies_are_listed_and_answers_taken_back(lineup: str) -> None:
    run("study", "create", "example:lineup", "--voter", "eve", "--name", "Another")
    listed = read("study", "list")["studies"]
    assert [(study["name"], study["phase"]) for study in listed] == [("Line-up", "open"), ("Another", "open")]
    said = run("study", "list").stdout
    assert lineup in said
    here = ["--study", listed[1]["id"]]
    one = read("study", "ask", "--voter", "eve", *here)["question"]["candidates"][0]
    run("study", "tell", "1", one, "--voter", "eve", *here)
    assert "question 1 is taken back" in run("study", "undo", "--voter", "eve", *here).stdout
    assert read("study", "status", "--quick", *here)["counted"] == 0
    assert "no answer to take back" in run("study", "undo", "--voter", "eve", *here, code=BAD_INPUT).stderr
    assert "no voter 'nobody'" in run("study", "undo", "--voter", "nobody", *here, code=BAD_INPUT).stderr


class TestPanels:
    """What the status of a panel says, and what to do about it."""

    @pytest.fixture(autouse=True)
    def pair(self) -> None:
        Path("pair.yaml").write_text("candidates: [ann, bob]\npositions: [chair]\n", encoding="utf-8")

    @staticmethod
    def answer(voter: str, winner: str) -> None:
        asked = read("study", "ask", "--voter", voter)["question"]
        run("study", "tell", f"{asked['number']}", winner, "--voter", voter)

    @each(("until", "done"), [("unbeaten", True), ("decided", False)])
    def test_an_even_panel_can_be_asked_until_it_is_clear_who_wins(self, until: str, done: bool) -> None:
        Path("duels.db").unlink(missing_ok=True)
        judges = ["--voter", "eve", "--voter", "ned", "--until", until]
        created = read("study", "create", "pair.yaml", *judges)
        assert created["settings"]["parameters"]["until"] == until
        self.answer("eve", "ann")
        where = read("study", "status", "--quick")
        assert (where["status"], where["done"]) == ("unbeaten", done)
        if not done:
            self.answer("ned", "ann")
            assert read("study", "status", "--quick")["status"] == "decided"

    def test_words_agree_where_the_outcome_is_certain(self) -> None:
        run("study", "create", "pair.yaml", "--voter", "eve", "--voter", "ned")
        assert "Positions decided" in run("study", "status", "--quick").stdout
        self.answer("eve", "ann")
        said = flat(run("study", "status", "--quick").stdout)
        assert "Outcome unbeaten" in said
        assert "Positions decided" not in said
        assert "0 of" not in said
        assert "This is certain" in said

    def test_without_judges_nothing_is_decided(self) -> None:
        run("study", "create", "pair.yaml", "--voter", "eve", "--voter", "ned")
        self.answer("eve", "ann")
        for voter in ("eve", "ned"):
            run("study", "strike", voter)
        assert read("study", "status", "--quick")["status"] == "budget_spent"
        said = flat(run("study", "status", "--quick").stdout)
        assert "Nothing is decided: there is no judge whose answers count." in said
        assert "ann" not in said
        run("study", "close")
        run("study", "export", "log.jsonl")
        said = run("verify", "log.jsonl").stdout
        assert "They agree." in said
        assert "nobody leads" in said
        assert "ann" not in said

    def test_a_conflict_is_cleared_and_the_result_is_published(self) -> None:
        run("study", "create", "pair.yaml", "--voter", "eve", "--voter", "ned", "--conflict", "eve=ann")
        said = flat(run("study", "clear-conflict", "eve", "ann").stdout)
        assert "'eve' judges ann again." in said
        assert "Nothing changed" in flat(run("study", "clear-conflict", "eve", "ann").stdout)
        self.answer("eve", "ann")
        assert "once the study is closed" in flat(run("study", "publish").stdout)
        run("study", "close")
        assert "voters see the result." in flat(run("study", "publish").stdout)
        assert read("study", "publish", "--hide")["published"] is False
        run("study", "edit", "ann", "--title", "Anna A.")
        assert "│ ann │ Anna A. │" in flat(run("study", "status", "--quick").stdout)
        run("study", "export", "log.jsonl")
        said = flat(run("verify", "log.jsonl").stdout)
        assert "unbeaten: Anna A. (ann)" in said

    def test_a_leader_by_estimate_and_the_line_up_of_the_log_are_told_apart(self) -> None:
        Path("team.yaml").write_text("candidates: [ann, bob, cyd]\npositions: [chair, editor]\n")
        run(
            "study",
            "create",
            "team.yaml",
            "--voter",
            "eve",
            "--voter",
            "ned",
            "--voter",
            "zoe",
            "--seed",
            "0",
        )
        self.answer("eve", "bob")
        run("study", "close")
        status = read("study", "status")
        assert status["matching"] != status["standings"]["leader"], "this test is about two that differ"
        named = ", ".join(f"{who} for {where}" for where, who in status["matching"].items())
        said = flat(run("study", "status").stdout)
        assert f"Line-up of the log: {named}. It falls short of any other by at most 50.0" in said
        assert "Neither is a winner." in said
        assert "Answers to go" not in said
        assert "Open questions" not in said
        run("study", "export", "log.jsonl")
        said = flat(run("verify", "log.jsonl").stdout)
        assert "this log has no winner" in said
        assert "is an estimate. That is no part of the log's verdict" in said

    def test_the_way_out_is_named_where_judges_are_silent(self) -> None:
        run("study", "create", "pair.yaml", "--voter", "eve", "--voter", "ned", "--voter", "zoe")
        self.answer("eve", "ann")
        run("study", "close")
        run("study", "export", "log.jsonl")
        said = flat(run("verify", "log.jsonl").stdout)
        assert "Recorded nothing is decided Recomputed nothing is decided Nothing is decided: this" in said
        assert "Line-up of the log (NOT A WINNER)" in said
        assert "They agree." in said
        assert read("verify", "log.jsonl")["recorded"]["status"] == "budget_spent"
        run("study", "reopen")
        run("study", "leave", "ned")
        said = flat(run("study", "status", "--quick").stdout)
        assert "Open opinions of ned 1 (has left), zoe 1." in said
        assert "duelmatch study leave NAME --drop-open" in said
        assert sorted(read("study", "status", "--quick")["waiting_for"].values()) == [1, 1]
        for name in ("ned", "zoe"):
            run("study", "leave", name, "--drop-open")
        said = flat(run("study", "status", "--quick").stdout)
        assert "This is decided" in said
        assert "--drop-open" not in said

    def test_strangers_are_judges_only_if_that_is_said(self) -> None:
        run("study", "create", "pair.yaml", "--voter", "eve")
        refusal = flat(run("study", "link", "--open", code=BAD_INPUT).stderr)
        assert "whoever opens it becomes a judge" in refusal
        assert "/l/" in run("study", "link", "--open", "--judges").stdout
        assert "give --open, too" in flat(run("study", "link", "--judges", code=2).stderr)

    def test_what_is_for_panels_only_is_refused_for_a_crowd(self) -> None:
        crowd = ("study", "create", "pair.yaml", "--algorithm", "condorcet", "--voter", "eve")
        for more in (("--weight", "eve=2"), ("--conflict", "eve=ann"), ("--questions-each", "3")):
            assert "for panels only" in flat(run(*crowd, *more, code=BAD_INPUT).stderr)

    def test_a_draw_is_not_called_a_lead_of_nothing(self) -> None:
        run("study", "create", "pair.yaml", "--criterion", "borda", "--voter", "eve", "--voter", "ned")
        self.answer("eve", "ann")
        said = flat(run("study", "status", "--quick").stdout)
        assert "This is not certain yet: nobody can be ahead any more, but others may draw level." in said

    @each("option", ["--link", "--picture"])
    @each("address", ["javascript:alert(1)", "data:text/html,x", "JavaScript:x", "file:///etc/passwd"])
    def test_addresses_are_on_the_web(self, option: str, address: str) -> None:
        Path("duels.db").unlink(missing_ok=True)
        run("study", "create", "pair.yaml", "--voter", "eve")
        assert "https://" in run("study", "edit", "ann", option, address, code=BAD_INPUT).stderr
        run("study", "edit", "ann", option, "https://example.org/ann")
        Path("odd.json").write_text(
            json.dumps({"candidates": [{"name": "ann", option[2:]: address}, "bob"], "positions": ["chair"]}),
            encoding="utf-8",
        )
        assert "https://" in run("study", "create", "odd.json", code=BAD_INPUT).stderr

    def test_whoever_withdrew_stays_out(self) -> None:
        Path("pair.yaml").write_text("candidates: [ann, bob, cyd]\npositions: [chair]\n", encoding="utf-8")
        run("study", "create", "pair.yaml", "--voter", "eve")
        run("study", "drop", "cyd")
        refusal = flat(run("study", "add", "cyd", "chair", code=BAD_INPUT).stderr)
        assert "'cyd' withdrew from this study, which cannot be taken back" in refusal


def test_a_terminal_shows_that_a_question_is_being_chosen(lineup: str) -> None:
    import pty

    master, slave = pty.openpty()
    try:
        command = [*PROGRAM, "study", "ask", "--voter", "ann"]
        environment = os.environ | {"TERM": "xterm"}
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=slave, env=environment, check=True)
        assert b"Choosing a question ..." in os.read(master, 65536)
        assert b"Choosing" not in done.stdout
    finally:
        os.close(slave)
        os.close(master)


def test_whose_ballot_holds_up_the_proof_is_named(lineup: str) -> None:
    run("study", "ask", "--voter", "eve")
    for _ in range(3):
        one = read("study", "ask", "--voter", "ned")["question"]
        run("study", "tell", f"{one['number']}", one["candidates"][0], "--voter", "ned")
    assert "3 answers until the ballot of eve is in" in flat(run("study", "status", "--quick").stdout)
    run("study", "leave", "eve")
    assert "until the ballot of eve is in" in flat(run("study", "status", "--quick").stdout), (
        "somebody else is to finish it"
    )


def test_the_number_beside_a_candidate_goes_before_a_candidate_of_that_name() -> None:
    """Before, 1 was the candidate called 1, wherever it was shown."""
    Path("numbers.yaml").write_text("edges:\n  chair: [1, 2]\n", encoding="utf-8")
    shown: list[str] = []
    for attempt in range(40):  # the order is drawn: 1 is first in all of them once in 2^40 runs
        voter = ("--voter", "ann", "--store", f"sqlite:///numbers-{attempt}.db")
        run("study", "create", "numbers.yaml", *voter)
        shown = read("study", "ask", *voter)["question"]["candidates"]
        if shown == ["2", "1"]:
            assert "Kept: 2 > 1 at chair" in run("study", "vote", *voter, stdin="1\nq\n").stdout
            return
    pytest.fail(f"the last question showed {shown}")


@each("tie", ["t", "T", "="])
def test_a_tie_at_the_prompt_is_t_or_the_sign(lineup: str, tie: str) -> None:
    assert "Kept: no difference between" in run("study", "vote", "--voter", "ann", stdin=f"{tie}\nq\n").stdout


def test_a_tie_that_is_told_may_be_the_sign(lineup: str) -> None:
    run("study", "ask", "--voter", "ann")
    assert "no difference between" in run("study", "tell", "1", "=", "--voter", "ann").stdout


def test_what_is_told_is_a_name_first() -> None:
    """Who tells an answer has not been shown any numbers."""
    Path("numbers.yaml").write_text("edges:\n  chair: [1, 2]\n", encoding="utf-8")
    run("study", "create", "numbers.yaml", "--voter", "ann")
    run("study", "ask", "--voter", "ann")
    assert "Kept: 2 > 1 at chair" in run("study", "tell", "1", "2", "--voter", "ann").stdout


@each("answer", [[], ["foxes", "--tie"], ["--tie", "--skip"]])
def test_an_answer_is_one_thing(lineup: str, answer: list[str]) -> None:
    run("study", "ask", "--voter", "ann")
    refusal = run("study", "tell", "1", *answer, "--voter", "ann", code=WRONG_USAGE)
    assert "ANSWER, or --tie, or --skip" in refusal.stderr


@each(
    ("options", "sentence"),
    [
        (["--voter", "eve", "--weight", "ned=2"], "'ned' is not one of the voters"),
        (["--weight", "ned"], "NAME=VALUE"),
        (["--parameter", "size"], "NAME=VALUE"),
    ],
)
def test_voters_are_given_by_name(options: list[str], sentence: str) -> None:
    assert sentence in run("study", "create", "example:lineup", *options, code=WRONG_USAGE).stderr


@each(
    ("arguments", "sentence"),
    [
        (["study", "tell", "9", "foxes", "--voter", "ann"], "There is no question 9"),
        (["study", "tell", "1", "zoe", "--voter", "ann"], "'zoe' is not an answer to question 1"),
        (["study", "tell", "1", "foxes", "--voter", "bob"], "somebody else"),
        (["study", "status", "--study", "nonsense"], "There is no study 'nonsense'"),
        (["study", "status", "--quick", "--store", "sqlite:///other.db"], "There is no file 'other.db'"),
        (["study", "status", "--quick", "--store", "mysql://x"], "sqlite or postgresql"),
        (["study", "resume", "--study", "nonsense"], "There is no study"),
        (["study", "correct", "1", "zoe"], "has no answer to correct"),
        (["study", "create", "example:lineup", "--algorithm", "nonsense"], "no algorithm 'nonsense'"),
        (["study", "create", "example:lineup", "--parameter", "sise=3"], "no parameter 'sise'"),
        (["study", "edit", "foxes"], "Say what to change"),
        (["study", "add", "foxes", "friday"], "foxes"),
        (["study", "correct", "9", "--strike"], "There is no question 9"),
        (["study", "strike", "zoe"], "There is no voter 'zoe' in this study: it has 2 voters."),
        (["study", "reinstate", "7"], "There is no voter '7'"),
        (["study", "drop", "zoe"], "'zoe'"),
        (["study", "import", "nowhere.jsonl"], "no such file"),
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
    options = ["--no-ties", "--no-skips", "--lease", "60", "--ahead", "0", "--max-answers", "1"]
    settings = read("study", "create", "example:lineup", *options, "--parameter", "ballot_size=4")["settings"]
    expected = {"ties": False, "skips": False, "lease": 60.0, "ahead": 0, "max_answers": 1}
    assert settings | expected == settings
    assert settings["parameters"]["ballot_size"] == 4
    asked = read("study", "ask", "--voter", "ann")["question"]
    assert "no ties" in run("study", "tell", "1", "--tie", "--voter", "ann", code=BAD_INPUT).stderr
    run("study", "tell", "1", asked["candidates"][0], "--voter", "ann")
    assert read("study", "ask", "--voter", "ann")["reason"] == "budget"


@pytest.mark.usefixtures("really_drawn_seeds")
def test_the_seed_is_shown_and_accepted_back() -> None:
    shown = [run("study", "create", "example:lineup").stdout, run("study", "status", "--quick").stdout]
    (seed,) = {line.split()[1] for page in shown for line in page.splitlines() if line.startswith("Seed ")}
    assert int(seed) == read("study", "status", "--quick")["settings"]["seed"]
    assert read("study", "create", "example:lineup", "--seed", seed)["settings"]["seed"] == int(seed)


def test_a_study_is_paused_and_closed(lineup: str) -> None:
    for command, phase in (("pause", "paused"), ("resume", "open"), ("close", "closed"), ("reopen", "open")):
        assert f"Line-up is {phase}." in run("study", command).stdout
        assert read("study", command)["phase"] == phase
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
    one, other = asked["candidates"]
    run("study", "tell", str(number), one, "--voter", voter)
    return one, other


def test_a_mistake_is_corrected(lineup: str) -> None:
    winner, loser = answered("ann", 1)
    assert f"is {loser} > {winner} now. 1 answer counts." in run("study", "correct", "1", loser).stdout
    assert "no difference between" in run("study", "correct", "1", "=").stdout
    assert read("study", "correct", "1", "--strike")["counted"] == 0
    assert read("study", "correct", "1", winner, "--clerical")["counted"] == 1
    for wrong in ([], [winner, "--strike"]):
        assert "--strike" in run("study", "correct", "1", *wrong, code=WRONG_USAGE).stderr


def test_a_voter_is_struck_by_name_or_id(lineup: str) -> None:
    answered("ann", 1)
    answered("bob", 2)
    assert "'ann' does not count now. 1 answer counts." in run("study", "strike", "ann").stdout
    assert "taken this voter out" in run("study", "ask", "--voter", "ann", code=BAD_INPUT).stderr
    ann, bob = [entry["voter"] for entry in read("study", "log")["entries"] if entry["kind"] == "answered"]
    assert read("study", "reinstate", ann)["counted"] == 2
    assert read("study", "strike", bob) == read("study", "strike", "bob")
    assert read("study", "status", "--quick")["voters"] == 2
    assert "no name any more" in run("study", "forget-voter-name", "bob").stdout
    assert "no voter 'bob'" in run("study", "strike", "bob", code=BAD_INPUT).stderr


def test_a_panel_is_these_judges_and_a_wrong_name_changes_nothing() -> None:
    run("study", "create", "example:lineup", "--voter", "eve", "--voter", "ned")
    number = str(read("study", "ask", "--voter", "ned")["question"]["number"])
    before = read("study", "status", "--quick")["entries"]
    for command in (["ask"], ["vote"], ["tell", number, "--tie"]):
        refused = run("study", *command, "--voter", "nedd", code=BAD_INPUT)
        assert "no judge called 'nedd'. Did you mean 'ned'?" in refused.stderr
    assert read("study", "status", "--quick")["entries"] == before
    run("study", "link", "--voter", "nedd")
    assert read("study", "status", "--quick")["voters"] == 3


def test_what_a_judge_left_open_can_be_dropped_later() -> None:
    Path("team.yaml").write_text("edges:\n  chair: [ann, bob]\n", encoding="utf-8")
    run("study", "create", "team.yaml", "--voter", "eve", "--voter", "ned", "--weight", "ned=2")
    number = str(read("study", "ask", "--voter", "eve")["question"]["number"])
    run("study", "tell", number, "ann", "--voter", "eve")
    run("study", "leave", "ned")
    assert read("study", "status", "--quick")["status"] == "budget_spent"
    run("study", "leave", "ned", "--drop-open")
    assert read("study", "status", "--quick")["status"] == "decided"


def test_a_judge_leaves_and_comes_back() -> None:
    run("study", "create", "example:lineup", "--voter", "eve", "--voter", "ned")
    assert "'eve' has left." in run("study", "leave", "eve", "--drop-open").stdout
    assert read("study", "ask", "--voter", "eve")["reason"] == "left"
    run("study", "come-back", "eve")
    asked = read("study", "ask", "--voter", "eve")["question"]
    run("study", "conflict", "eve", asked["candidates"][0])
    again = read("study", "ask", "--voter", "eve")["question"]
    assert asked["candidates"][0] not in again["candidates"]


def test_a_candidate_withdraws(lineup: str) -> None:
    winner, _ = answered("ann", 1)
    assert f"'{winner}' is out. 0 answers count." in run("study", "drop", winner).stdout
    assert read("study", "drop", winner)["dropped"] == [winner]
    assert read("study", "status", "--quick")["counted"] == 0


def test_a_candidate_comes_late_and_texts_change(lineup: str) -> None:
    position = read("study", "ask", "--voter", "ann")["question"]["position"]
    assert "'owls' is in." in run("study", "add", "owls", position).stdout
    run("study", "edit", "owls", "--title", "The Owls")
    run("study", "rename", "Friday night")
    assert read("study", "status", "--quick")["name"] == "Friday night"
    assert [entry["kind"] for entry in read("study", "log")["entries"]][-3:] == [
        "added",
        "detailed",
        "renamed",
    ]


def test_a_study_moves_to_another_database(lineup: str) -> None:
    run("study", "ask", "--voter", "ann")
    run("study", "tell", "1", "--tie", "--voter", "ann")
    run("study", "export", "lineup.jsonl")
    moved = read("study", "import", "lineup.jsonl", "--store", "sqlite:///other.db", "--name", "Moved")
    assert (moved["answers"], moved["name"]) == (1, "Moved")
    printed = run("study", "export", "--store", "sqlite:///other.db").stdout
    assert printed == Path("lineup.jsonl").read_text(encoding="utf-8")
    assert run("study", "export", "-", "--store", "sqlite:///other.db").stdout == printed
    assert not Path("-").exists()
    assert '"ann"' not in printed


def test_an_export_does_not_take_the_place_of_a_pipe(lineup: str) -> None:
    os.mkfifo("log.jsonl")
    refused = run("study", "export", "log.jsonl", code=BAD_INPUT)
    assert refused.stderr == "Error: log.jsonl: This is a device or pipe, not a file.\n"
    assert Path("log.jsonl").is_fifo()


def test_a_study_is_created_and_imported_from_standard_input() -> None:
    run("study", "create", "-", stdin="edges:\n  chair: [ann, bob]\n")
    exported = run("study", "export", "--voters").stdout
    run("study", "import", "-", "--store", "sqlite:///other.db", stdin=exported)
    assert read("study", "status", "--quick", "--store", "sqlite:///other.db")["name"] == "standard input"
    refused = run("study", "import", "-", stdin="{}", code=BAD_INPUT)
    assert refused.stderr.startswith("Error: standard input: ")


def test_answers_are_exported_as_csv(lineup: str) -> None:
    run("study", "ask", "--voter", "ann")
    run("study", "tell", "1", "--tie", "--voter", "ann")
    run("study", "export", "answers.csv", "--voters")
    with Path("answers.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["voter"] == "ann"
    assert " = " in row["ranking"]
    run("study", "export", "table.csv", "--table")
    with Path("table.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (len(row["voter"]), row["counts"], row["struck"]) == (16, "yes", "no")
    refused = run("study", "export", "--table", "--csv", code=WRONG_USAGE)
    assert "--csv and --table are two kinds of file: give one." in flat(refused.stderr)


def test_a_study_that_has_just_begun_is_verified(lineup: str) -> None:
    run("study", "export", "log.jsonl")
    assert "1 entry, with its hash: nothing was changed." in flat(run("verify", "log.jsonl").stdout)


class TestVerify:
    """``duelmatch verify`` on what ``study export`` writes."""

    @pytest.fixture
    def closed(self) -> list[str]:
        """The log of a panel that has decided."""
        Path("team.yaml").write_text("edges:\n  chair: [ann, bob]\n", encoding="utf-8")
        run("study", "create", "team.yaml", "--voter", "eve")
        run("study", "ask", "--voter", "eve")
        run("study", "tell", "1", "bob", "--voter", "eve")
        run("study", "close")
        run("study", "export", "log.jsonl")
        return Path("log.jsonl").read_text(encoding="utf-8").splitlines()

    def test_an_export_agrees(self, closed: list[str]) -> None:
        said = run("verify", "log.jsonl").stdout
        assert "decided: bob" in said
        assert "They agree." in said
        report = json.loads(run("verify", "-", "--json", stdin="\n".join(closed)).stdout)
        assert (report["entries"], report["differs"]) == (len(closed), False)

    def test_an_open_study_has_no_verdict_to_compare_with(self, lineup: str) -> None:
        run("study", "export", "log.jsonl")
        assert "none; the study is open" in run("verify", "log.jsonl").stdout

    def test_another_verdict_differs(self, closed: list[str]) -> None:
        entries = [json.loads(line) for line in closed]
        entries[-1]["data"]["verdict"]["matching"] = {"chair": "ann"}
        Path("log.jsonl").write_text("\n".join(chained(entries)), encoding="utf-8")
        assert "They DIFFER." in run("verify", "log.jsonl", code=1).stdout

    def test_damage_is_named(self, closed: list[str]) -> None:
        Path("log.jsonl").write_text("\n".join([closed[0], *closed[2:]]), encoding="utf-8")
        assert "DAMAGED. Entry 2 " in run("verify", "log.jsonl", code=8).stdout
        said = run("verify", "-", "--receipt", "0" * 12, code=8, stdin=closed[0]).stdout
        assert "No entry has the hash" in said

    def test_a_receipt_leads_to_its_entry(self, closed: list[str]) -> None:
        (entry,) = (entry for entry in map(json.loads, closed) if entry["kind"] == "answered")
        said = run("verify", "log.jsonl", "--receipt", entry["hash"][:12]).stdout
        assert f"Receipt {entry['hash'][:12]}: entry {entry['seq']}, 'answered', of 20" in said
        for receipt in ("", "8c2f", "nonsense"):
            assert "is not a receipt" in run("verify", "-", "--receipt", receipt, code=WRONG_USAGE).stderr

    def test_a_byte_order_mark_is_passed_over(self, closed: list[str]) -> None:
        text = "\n".join(closed)
        Path("log.jsonl").write_text(text, encoding="utf-8-sig")
        assert "They agree." in run("verify", "log.jsonl").stdout
        assert "They agree." in run("verify", "-", stdin="\ufeff" + text).stdout

    def test_a_file_that_is_no_log_is_refused(self) -> None:
        assert "There is no entry" in run("verify", "-", code=8, stdin="").stdout
        assert "cannot be read" in run("verify", "nowhere.jsonl", code=BAD_INPUT).stderr


def test_a_store_is_backed_up_and_restored(lineup: str) -> None:
    rows = read("store", "backup", "all.gz")["rows"]
    assert rows["studies"] == 1
    assert read("store", "restore", "all.gz", "--store", "sqlite:///again.db")["rows"] == rows
    assert read("study", "status", "--quick", "--store", "sqlite:///again.db") == read(
        "study", "status", "--quick"
    )
    upgraded = read("store", "upgrade")
    assert upgraded["before"] == upgraded["after"]


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
