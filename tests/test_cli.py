"""The command line: what it answers, how it refuses, and how it behaves in odd surroundings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from math import log
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import duelmatch as dm
from duelmatch.cli import COMMANDS, main
from duelmatch.cli.check import log_matchings_bound
from duelmatch.cli.plan import assumed
from duelmatch.errors import DuelmatchError, TooLargeError

PROGRAM = str(Path(sys.executable).with_name("duelmatch"))

NO_PREFERENCES = "candidates: [a, b, c]\npositions: [s, t]\n"
CYCLE = """
candidates: [a, b, c]
positions: [s]
preferences:
  s: [[a, b, 0.6], [b, c, 0.6], [c, a, 0.6]]
"""
TIE = "candidates: [a, b]\npositions: [s]\npreferences:\n  s: [[a, b, 0.5]]\n"
ONLY_ONE = "candidates: [a]\npositions: [s]\npreferences: {}\n"
HALF_CERTAIN = "edges:\n  s: [a]\n  t: [a, b, c]\n"


def run(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="duelmatch", **options)


def answer(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def shell(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=os.environ | environment,
    )


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str, name: str = "problem.yaml") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


class TestCheck:
    def test_counts_what_is_there(self) -> None:
        about = answer("check", "example:lineup")
        assert (about["candidates"], about["positions"], about["edges"]) == (5, 3, 10)
        assert (about["duels"], about["matchings"]) == (12, 19)
        assert about["never"] == about["certain"] == []

    def test_names_the_edges_that_are_decided(self, write: Any) -> None:
        path = write(HALF_CERTAIN)
        about = answer("check", path)
        assert about["certain"] == [["a", "s"]]
        assert about["never"] == [["a", "t"]]
        page = run("check", path).stdout
        assert "Certain, in every maximum matching: a at s." in page
        assert "Can never matter, in no maximum matching: a at t." in page

    def test_shares_add_up_to_one(self) -> None:
        for entry in answer("check", "example:prizes")["per_position"]:
            assert sum(entry["candidates"].values()) == pytest.approx(1)

    def test_says_so_when_there_are_too_many_to_count(self, tmp_path: Path) -> None:
        path = tmp_path / "large.yaml"
        dm.save_problem(dm.instances.random_problem(45, 45, density=0.6), path)
        result = run("check", str(path))
        assert result.exit_code == 0
        assert "too many to count exactly; at most 10^" in result.stdout
        about = answer("check", str(path))
        assert about["matchings"] is None
        assert "GiB" in about["too_large"]

    @pytest.mark.parametrize("seed", range(20))
    def test_its_upper_bound_holds(self, seed: int) -> None:
        problem = dm.instances.random_problem(5 + seed % 3, 5, density=0.6, seed=seed)
        assert log_matchings_bound(problem.graph) >= log(dm.matchings.count(problem)) - 1e-9

    def test_reads_a_table_of_preferences(self, write: Any) -> None:
        path = write("position,first,second,probability\ns,a,b,0.6\n", "wins.csv")
        assert answer("check", path)["candidates"] == 2


class TestWinners:
    def test_agree_with_the_library(self) -> None:
        for name in dm.instances.example_names():
            prefs = dm.instances.example(name)
            found = answer("winners", f"example:{name}")
            assert found["borda"]["matching"] == prefs.borda_winner()
            assert found["borda"]["score"] == prefs.borda_score(prefs.borda_winner())
            assert found["borda"]["margin"] == prefs.borda_margin()
            winner = prefs.condorcet_winner()
            assert winner is not None
            assert found["condorcet"]["matching"] == winner
            margin = prefs.condorcet_margin(prefs.problem.edge_numbers(winner))
            assert found["condorcet"]["margin"] == pytest.approx(margin)

    def test_mark_where_they_differ(self) -> None:
        page = run("winners", "example:prizes").stdout
        assert "piano *" in page
        assert "robot *" in page
        assert "lamp *" not in page

    def test_no_condorcet_winner_is_exit_code_1_when_asked_for(self, write: Any) -> None:
        path = write(CYCLE)
        result = run("winners", path, "--criterion", "condorcet")
        assert result.exit_code == 1
        assert "there is no winner" in result.stdout
        assert run("winners", path).exit_code == 0

    def test_a_tie_is_said(self, write: Any) -> None:
        path = write(TIE)
        assert answer("winners", path)["borda"]["unique"] is False
        assert "not alone" in run("winners", path).stdout

    def test_a_single_matching_has_no_margin(self, write: Any) -> None:
        path = write(ONLY_ONE)
        found = answer("winners", path)
        assert found["borda"]["margin"] is None
        assert found["borda"]["unique"] is True
        assert found["condorcet"]["margin"] is None
        assert "the only maximum matching" in run("winners", path).stdout

    def test_a_borda_score_out_of_reach_is_exit_code_4(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise TooLargeError("Too large.")

        monkeypatch.setattr("duelmatch.preferences.edge_marginals", refuse)
        result = run("winners", "example:lineup")
        assert result.exit_code == 4
        assert "Borda: not known. Too large." in result.stdout
        assert "Condorcet: beats every other" in result.stdout


class TestPlan:
    def test_agrees_with_the_library(self) -> None:
        prefs = dm.instances.example("lineup")
        plan = answer("plan", "example:lineup", "--delta", "0.01", "--epsilon", "0.1")
        assert plan["borda"]["information_limit"] == dm.theory.lower_bound(prefs, "borda", 0.01)
        assert plan["borda"]["upper_bounds"] == {
            "clucb-borda-pac": dm.theory.clucb_borda_pac_bound(prefs, 0.01, 0.1),
            "clucb-borda-exact": dm.theory.clucb_borda_exact_bound(prefs, 0.01),
        }
        assert plan["condorcet"]["upper_bounds"] == {
            "car-cond": dm.theory.car_cond_bound(prefs, 0.01),
            "car-verify": dm.theory.car_verify_bound(prefs, 0.01),
        }

    def test_without_preferences_it_says_what_can_be_said(self, write: Any) -> None:
        path = write(NO_PREFERENCES)
        plan = answer("plan", path)
        assert plan["duels"] == 6
        assert plan["borda"] is plan["condorcet"] is None
        assert "--gap 0.1" in run("plan", path).stdout

    def test_an_assumed_gap_is_called_an_assumption(self, write: Any) -> None:
        path = write(NO_PREFERENCES)
        plan = answer("plan", path, "--gap", "0.1")
        assert plan["assumed_gap"] == 0.1
        assert 0 < plan["condorcet"]["information_limit"] < plan["condorcet"]["upper_bounds"]["car-cond"]
        page = " ".join(run("plan", path, "--gap", "0.1").stdout.split())
        assert "An assumption, not knowledge: one matching's candidates win all their duels with" in page

    def test_an_assumed_winner_wins_by_both_criteria(self) -> None:
        prefs = assumed(dm.instances.example("prizes").problem, 0.1)
        assert prefs.condorcet_winner() == prefs.borda_winner()
        assert prefs.borda_margin() > 0

    def test_wrong_preferences_are_not_taken_for_none(self, write: Any) -> None:
        result = run("plan", write(NO_PREFERENCES + "preferences:\n  s: [[a, b, 2]]\n"))
        assert result.exit_code == 3

    def test_the_papers_lower_bound_is_shown_where_it_holds(self, write: Any) -> None:
        path = write("candidates: [a, b]\npositions: [s]\npreferences:\n  s: [[a, b, 0.51]]\n")
        bounds = answer("plan", path)
        assert bounds["borda"]["paper_lower_bound"]["duels"] > 0
        assert "The paper's lower bound (Theorem 7) " in run("plan", path).stdout

    def test_no_condorcet_winner_is_exit_code_1_when_asked_for(self, write: Any) -> None:
        path = write(CYCLE)
        assert run("plan", path, "--criterion", "condorcet").exit_code == 1
        assert "There is none" in run("plan", path).stdout

    def test_a_tie_takes_for_ever(self, write: Any) -> None:
        path = write(TIE)
        assert answer("plan", path)["borda"]["information_limit"] is None
        assert "no end" in run("plan", path).stdout

    def test_quick_leaves_out_the_information_limit(self) -> None:
        plan = answer("plan", "example:lineup", "--quick")
        assert plan["borda"]["information_limit"] is plan["condorcet"]["information_limit"] is None
        assert "Information limit:" not in run("plan", "example:lineup", "--quick").stdout

    @pytest.mark.parametrize(
        "options",
        [["--delta", "0"], ["--delta", "nan"], ["--epsilon", "0"], ["--epsilon", "inf"], ["--gap", "0.6"]],
    )
    def test_numbers_out_of_range_are_wrong_usage(self, options: list[str]) -> None:
        assert run("plan", "example:lineup", *options).exit_code == 2


class TestExamples:
    def test_are_listed_with_their_question(self) -> None:
        rows = answer("examples")["examples"]
        assert [row["name"] for row in rows] == list(dm.instances.example_names())
        assert all(row["question"].endswith("?") for row in rows)

    def test_can_be_printed_and_used_as_a_file(self, write: Any) -> None:
        path = write(run("examples", "models").stdout)
        assert dm.load_preferences(path) == dm.instances.example("models")

    @pytest.mark.parametrize("name", ["lineup", "models", "prizes"])
    def test_have_both_winners_and_are_explained(self, name: str) -> None:
        prefs = dm.instances.example(name)
        assert prefs.borda_margin() > 0.005
        assert prefs.condorcet_winner() is not None
        assert not prefs.problem.graph.is_complete
        assert set(prefs.problem.candidate_details) == set(prefs.problem.candidates)
        assert all(0.2 <= probability <= 0.8 for _, probability in prefs.items())

    def test_filling_the_lineup_slot_by_slot_is_wrong(self) -> None:
        prefs = dm.instances.example("lineup")
        chosen: dict[str, str] = {}
        for position in prefs.problem.positions:
            free = [c for c, p in prefs.problem.edges if p == position and c not in chosen.values()]
            beats_all = [c for c in free if all(prefs.probability(position, c, d) >= 0.5 for d in free)]
            chosen[position] = beats_all[0]
        assert chosen["sunset"] == "foxes"
        winner = prefs.condorcet_winner()
        assert winner is not None
        assert winner["headline"] == "foxes"
        assert prefs.score(chosen, winner) < 0.5

    def test_the_two_winners_of_the_prizes_differ(self) -> None:
        prefs = dm.instances.example("prizes")
        assert prefs.borda_winner() != prefs.condorcet_winner()


class TestEveryCommand:
    @pytest.mark.parametrize("name", COMMANDS)
    def test_is_a_module_with_help_and_an_example(self, name: str) -> None:
        command = import_module(f"duelmatch.cli.{name}").command
        assert command.name == name
        page = run(name, "--help").stdout
        assert "Example" in page
        assert f"duelmatch {name}" in page
        parts = command.commands if isinstance(command, click.Group) else {}
        for part in parts:
            help_of_part = run(name, part, "--help").stdout
            assert f"duelmatch {name} {part}" in help_of_part
            assert "Example" in help_of_part
            assert "JSON" in help_of_part
        assert parts or "--json" in page

    def test_is_listed_in_the_help(self) -> None:
        page = run("--help").stdout
        for name, text in COMMANDS.items():
            assert f"  {name} " in page
            assert text in page

    @pytest.mark.parametrize("arguments", [["check"], ["winners"], ["plan", "--gap", "0.1"]])
    def test_can_draw_or_answer_a_problem_of_any_names(self, write: Any, arguments: list[str]) -> None:
        path = write('candidates: ["[red]x", "\\e[31m", ":smile:"]\npositions: ["[/]", "漢字"]\n')
        if arguments == ["winners"]:
            problem = dm.load_problem(path)
            dm.save_problem(problem, path, assumed(problem, 0.1))
        result = run(*arguments, path)
        assert result.exit_code == 0, result.output
        assert "\x1b" not in result.stdout

    @pytest.mark.parametrize("command", ["check", "winners"])
    def test_with_plot_writes_a_picture(self, tmp_path: Path, command: str) -> None:
        picture = tmp_path / "picture.svg"
        result = run(command, "example:prizes", "--plot", str(picture))
        assert result.exit_code == 0
        assert picture.read_text(encoding="utf-8").startswith("<?xml")
        assert "Picture: " in result.stdout


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("candidates: [a", "The YAML is broken"),
            ("candidates: [a]\npositions: [s, t]\n", "No matching fills every position"),
            ("candidates: []\npositions: []\n", "at least one"),
            ("[]", "must be a mapping"),
            ("", "empty"),
        ],
    )
    def test_a_bad_file_is_one_line_and_exit_code_3(self, write: Any, text: str, message: str) -> None:
        for command in ("check", "winners", "plan"):
            result = run(command, write(text))
            assert result.exit_code == 3
            assert result.stdout == ""
            assert result.stderr.startswith("Error: ")
            assert result.stderr.count("\n") == 1
            if command != "winners":
                assert message in result.stderr

    def test_a_missing_file_or_example_is_exit_code_3(self) -> None:
        assert run("check", "nowhere.yaml").exit_code == 3
        result = run("check", "example:nothing")
        assert result.exit_code == 3
        assert "the examples are 'lineup'" in result.stderr

    def test_winners_without_preferences_is_exit_code_3(self, write: Any) -> None:
        result = run("winners", write(NO_PREFERENCES))
        assert result.exit_code == 3
        assert "no preferences" in result.stderr

    def test_a_picture_that_cannot_be_written_is_exit_code_3(self, tmp_path: Path) -> None:
        result = run("check", "example:lineup", "--plot", str(tmp_path / "no" / "where.svg"))
        assert result.exit_code == 3
        assert result.stderr.count("\n") == 1

    def test_no_matplotlib_is_exit_code_5(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        result = run("check", "example:lineup", "--plot", str(tmp_path / "a.svg"))
        assert result.exit_code == 5
        assert "pip install 'duelmatch[plots]'" in result.stderr

    def test_a_computation_that_gives_up_is_exit_code_6(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def give_up(*_: object) -> None:
            raise DuelmatchError("It did not settle.")

        monkeypatch.setattr("duelmatch.theory.lower_bound", give_up)
        result = run("plan", "example:lineup")
        assert (result.exit_code, result.stderr) == (6, "Error: It did not settle.\n")

    def test_ctrl_c_is_exit_code_130(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(*_: object) -> None:
            signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr("duelmatch.theory.lower_bound", interrupt)
        result = run("plan", "example:lineup")
        assert (result.exit_code, result.stderr) == (130, "Error: Interrupted.\n")

    def test_wrong_usage_is_exit_code_2(self) -> None:
        assert run("check").exit_code == 2
        assert run("chekc").exit_code == 2
        assert run("check", "example:lineup", "--nonsense").exit_code == 2


class TestSurroundings:
    def test_the_version_is_printed(self) -> None:
        assert run("--version").stdout == f"duelmatch, version {dm.__version__}\n"

    @pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
    def test_completion_prints_a_script(self, name: str) -> None:
        assert "_DUELMATCH_COMPLETE" in run("completion", name).stdout

    def test_examples_are_completed(self) -> None:
        done = shell(
            _DUELMATCH_COMPLETE="fish_complete",
            COMP_WORDS="duelmatch check example:l",
            COMP_CWORD="example:l",
        )
        assert done.stdout.strip() == "plain,example:lineup"

    def test_an_output_in_ascii_is_no_trouble(self, write: Any) -> None:
        path = write("candidates: [Zoë, 漢字]\npositions: [s]\n")
        page = shell("check", path, PYTHONIOENCODING="ascii")
        assert page.returncode == 0
        assert page.stdout.isascii()
        assert "Zo?" in page.stdout
        told = shell("check", path, "--json", PYTHONIOENCODING="ascii")
        assert list(json.loads(told.stdout)["per_position"][0]["candidates"]) == ["Zoë", "漢字"]

    def test_a_narrow_terminal_is_kept_to(self) -> None:
        page = shell("winners", "example:prizes", COLUMNS="30")
        assert page.returncode == 0
        assert max(map(len, page.stdout.splitlines())) <= 30

    def test_colours_are_off_in_a_pipe_and_with_no_color(self) -> None:
        for environment in ({}, {"NO_COLOR": "1"}):
            assert "\x1b" not in shell("check", "example:lineup", **environment).stdout

    @pytest.mark.skipif(os.name == "nt", reason="pipes close differently")
    def test_a_closed_pipe_is_quiet(self) -> None:
        for arguments in (
            "winners example:lineup",
            "check example:lineup --json",
            "examples lineup",
            "--help",
        ):
            command = f"'{PROGRAM}' {arguments} | true"
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
            assert done.stderr == ""


def test_options_are_documented_by_their_help() -> None:
    for name in COMMANDS:
        for parameter in import_module(f"duelmatch.cli.{name}").command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.name}"


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_examples_in_every_help_keep_their_lines(command: str) -> None:
    text = run(command, "--help").stdout
    assert "\\b" not in text
    assert "\n    " in text.partition("Options:")[0]


def test_check_checks_the_preferences_too(tmp_path: Path) -> None:
    path = tmp_path / "team.yaml"
    path.write_text("edges: {chair: [ann, bob]}\npreferences: {chair: [[ann, bob, 1.5]]}\n", encoding="utf-8")
    result = run("check", str(path))
    assert result.exit_code == 3
    assert "between 0 and 1" in result.stderr


ORDER_CSV = "position,first,second,probability\ns,a,b,0.6\ns,b,c,0.6\ns,a,c,0.6\n"
HALF_JSON = json.dumps({"edges": {"s": ["a", "b", "c"]}, "preferences": {"s": [["a", "b", 0.6]]}})


@pytest.mark.parametrize("text", [CYCLE.replace("c, a, 0.6", "c, a, 0.4"), ORDER_CSV])
@pytest.mark.parametrize("command", ["check", "winners", "plan", "simulate"])
def test_a_dash_reads_standard_input(command: str, text: str) -> None:
    result = run(command, "-", "--json", *(["--runs", "1"] * (command == "simulate")), input=text)
    assert result.stderr == ""
    assert json.loads(result.stdout)["file"] == "standard input"


@pytest.mark.parametrize(
    ("arguments", "text", "sentence"),
    [
        (["check", "-"], "", "standard input: The file is empty."),
        (
            ["winners", "-"],
            HALF_JSON,
            "standard input: The probability of 'a against c at s'",
        ),
        (["estimate", "-", "--out", "o.yaml"], "a,b\n", "standard input: line 1: the header must be"),
        (
            ["estimate", "-", "--out", "o.yaml"],
            "position,winner,loser\n",
            "standard input: There are no answers",
        ),
        (["ask", "-"], CYCLE, "The answers come from standard input, so the problem must be in a file."),
    ],
)
def test_what_is_wrong_with_standard_input_is_said_in_a_sentence(
    arguments: list[str], text: str, sentence: str
) -> None:
    result = run(*arguments, input=text)
    assert result.exit_code in (2, 3)
    assert sentence in result.stderr


def test_a_closed_standard_input_is_said() -> None:
    command = ["sh", "-c", f"'{PROGRAM}' check - <&-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == "Error: standard input: It is closed.\n"


def test_estimate_reads_answers_from_standard_input(tmp_path: Path) -> None:
    out = tmp_path / "team.yaml"
    result = run("estimate", "-", "--out", str(out), input="position,winner,loser,weight\ns,a,b,3\n")
    assert result.exit_code == 0
    assert dm.load_preferences(out).probability("s", "a", "b") == pytest.approx(3.5 / 4)
