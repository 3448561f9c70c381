"""All commands: their help, how they refuse, and how they behave in odd surroundings."""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import click
import pytest

import duelmatch as dm
from cases import each
from duelmatch.cli import COMMANDS
from duelmatch.errors import DuelmatchError
from duelmatch.explorers.planning import assumed_preferences
from problems import CYCLE, NO_PREFERENCES, ORDER
from terminal import read, run, shell

POSIX = pytest.mark.skipif(os.name == "nt", reason="pipes and devices are different there")
ORDER_CSV = "position,first,second,probability\ns,a,b,0.6\ns,b,c,0.6\ns,a,c,0.6\n"
HALF_JSON = json.dumps({"edges": {"s": ["a", "b", "c"]}, "preferences": {"s": [["a", "b", 0.6]]}})
FULL = "Error: The output cannot be written: No space left on device.\n"


class TestHelp:
    @each("name", COMMANDS)
    def test_of_every_command_has_an_example_and_json(self, name: str) -> None:
        command = import_module(f"duelmatch.cli.{name}").command
        assert command.name == name
        page = run(name, "--help").stdout
        assert f"duelmatch {name}" in page
        assert "\\b" not in page
        assert "\n    " in page.partition("Options:")[0], "the lines of the example are kept"
        parts = command.commands if isinstance(command, click.Group) else {}
        for part in parts:
            help_of_part = run(name, part, "--help").stdout
            assert f"duelmatch {name} {part}" in help_of_part, part
            assert "Example" in help_of_part, part
            assert "JSON" in help_of_part or part == "vote", part  # a dialogue has no JSON
            assert "``" not in help_of_part
        assert "...\n" not in page.partition("Commands:")[2], "every part is told in a sentence that fits"
        assert "``" not in page
        assert parts or "--json" in page

    @each("name", COMMANDS)
    def test_explains_every_option(self, name: str) -> None:
        command = import_module(f"duelmatch.cli.{name}").command
        parts = command.commands.values() if isinstance(command, click.Group) else [command]
        for parameter in (parameter for part in parts for parameter in part.params):
            assert not isinstance(parameter, click.Option) or parameter.help, parameter.name

    def test_lists_every_command(self) -> None:
        page = run("--help").stdout
        for name, text in COMMANDS.items():
            assert f"  {name} " in page
            assert text in page

    def test_the_version_is_printed(self) -> None:
        assert run("--version").stdout == f"duelmatch, version {dm.__version__}\n"

    @each("name", ["bash", "zsh", "fish"])
    def test_completion_prints_a_script(self, name: str) -> None:
        assert "_DUELMATCH_COMPLETE" in run("completion", name).stdout


class TestNames:
    @each("arguments", [["check"], ["winners"], ["plan", "--gap", "0.1"]])
    def test_of_any_characters_are_printed_safely(self, write: Any, arguments: list[str]) -> None:
        path = write('candidates: ["[red]x", "\\u202e[31m", ":smile:"]\npositions: ["[/]", "漢字"]\n')
        if arguments == ["winners"]:
            problem = dm.load_problem(path)
            dm.save_problem(problem, path, assumed_preferences(problem, 0.1))
        assert "\u202e" not in run(*arguments, path, code=0).stdout

    @each("command", ["check", "winners"])
    def test_are_in_the_picture(self, command: str) -> None:
        result = run(command, "example:prizes", "--plot", "picture.svg", code=0)
        assert Path("picture.svg").read_text(encoding="utf-8").startswith("<?xml")
        assert "Picture: " in result.stdout
        assert read(command, "example:prizes", "--plot", "picture.svg")["plot"] == "picture.svg"

    @each(
        ("arguments", "hint"),
        [
            (["simulat"], "No such command 'simulat'. Did you mean 'simulate'?"),
            (["check", "example:linup"], "Did you mean 'lineup'?"),
            (["ask", "example:lineup", "--algorithm", "condorcat"], "Did you mean 'condorcet'?"),
            (["study", "creat"], "create"),
        ],
    )
    def test_that_are_wrong_are_told_the_right_one(self, arguments: list[str], hint: str) -> None:
        assert hint in run(*arguments).stderr


class TestRefusals:
    @each(
        ("text", "message"),
        [
            ("candidates: [a", "The YAML is broken"),
            ("candidates: [a]\npositions: [s, t]\n", "Not every position can be filled"),
            ("candidates: []\npositions: []\n", "at least one"),
            ("[]", "must be a mapping"),
            ("", "empty"),
        ],
    )
    def test_a_bad_file_is_one_line_and_exit_code_3(self, write: Any, text: str, message: str) -> None:
        for command in ("check", "winners", "plan"):
            result = run(command, write(text), code=3)
            assert result.stdout == ""
            assert result.stderr.startswith("Error: ")
            assert result.stderr.count("\n") == 1
            if command != "winners":
                assert message in result.stderr

    def test_a_missing_file_or_example_is_exit_code_3(self) -> None:
        run("check", "nowhere.yaml", code=3)
        assert (
            "the examples are 'awards', 'festival', 'lineup'"
            in run("check", "example:nothing", code=3).stderr
        )

    def test_a_picture_that_cannot_be_written_is_exit_code_3(self) -> None:
        assert run("check", "example:lineup", "--plot", "no/where.svg", code=3).stderr.count("\n") == 1

    def test_no_matplotlib_is_exit_code_5(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        refusal = run("check", "example:lineup", "--plot", "a.svg", code=5)
        assert "pip install 'duelmatch[plots]'" in refusal.stderr

    def test_a_computation_that_gives_up_is_exit_code_6(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def give_up(*_: object) -> None:
            raise DuelmatchError("It did not settle.")

        monkeypatch.setattr("duelmatch.theory.lower_bound", give_up)
        assert run("plan", "example:lineup", code=6).stderr == "Error: It did not settle.\n"

    def test_ctrl_c_is_exit_code_130(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(*_: object) -> None:
            signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr("duelmatch.theory.lower_bound", interrupt)
        assert run("plan", "example:lineup", code=130).stderr == "Error: Interrupted.\n"

    def test_an_error_that_is_not_about_the_output_is_not_hidden(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise ConnectionResetError

        monkeypatch.setattr("duelmatch.theory.lower_bound", fail)
        assert isinstance(run("plan", "example:lineup").exception, ConnectionResetError)

    @each("arguments", [["check"], ["chekc"], ["check", "example:lineup", "--nonsense"]])
    def test_wrong_usage_is_exit_code_2(self, arguments: list[str]) -> None:
        run(*arguments, code=2)


class TestStandardInput:
    @each("text", [ORDER, ORDER_CSV])
    @each("command", [["check"], ["winners"], ["plan"], ["simulate", "--runs", "1", "--delta", "0.5"]])
    def test_a_dash_reads_it(self, command: list[str], text: str) -> None:
        result = run(*command, "-", "--json", stdin=text)
        assert result.stderr == ""
        assert json.loads(result.stdout)["file"] == "standard input"

    @each(
        ("arguments", "text", "sentence"),
        [
            (["check", "-"], "", "standard input: The file is empty."),
            (["winners", "-"], HALF_JSON, "standard input: The probability of 'a against c at s'"),
            (["estimate", "-", "--out", "o.yaml"], "a,b\n", "standard input: line 1: the header must be"),
            (
                ["estimate", "-", "--out", "o.yaml"],
                "position,winner,loser\n",
                "standard input: There are no answers",
            ),
            (["ask", "-"], CYCLE, "The answers come from standard input, so the problem must be in a file."),
        ],
    )
    def test_what_is_wrong_with_it_is_said(self, arguments: list[str], text: str, sentence: str) -> None:
        result = run(*arguments, stdin=text)
        assert result.exit_code in (2, 3)
        assert sentence in result.stderr


@POSIX
class TestARealProcess:
    """One start of the program takes a second, so each is asked several things."""

    def test_whose_disk_is_full_says_so_in_one_line(self) -> None:
        commands = ("algorithms", "algorithms --json", "--help", "completion bash")
        for arguments, unbuffered in product(commands, ("", "1")):
            done = shell(f"duelmatch {arguments} >/dev/full", PYTHONUNBUFFERED=unbuffered)
            assert (done.returncode, done.stderr) == (7, FULL), (arguments, unbuffered)
        assert shell("duelmatch check nowhere.yaml 2>/dev/full").returncode == 3

    def test_whose_reader_is_gone_is_quiet(self) -> None:
        for arguments in ("algorithms", "algorithms --json", "completion bash", "--help"):
            done = shell(f"duelmatch {arguments} | true")
            assert (done.returncode, done.stderr) in ((141, ""), (0, "")), arguments

    def test_without_any_streams_ends_well(self) -> None:
        done = shell("duelmatch examples >&-; duelmatch check - <&-")
        assert (done.returncode, done.stderr) == (3, "Error: standard input: It is closed.\n")

    def test_in_ascii_or_a_narrow_terminal_prints_what_it_can(self, write: Any) -> None:
        path = write("candidates: [Zoë, 漢字]\npositions: [s]\n")
        page = shell(f"duelmatch check {path}", PYTHONIOENCODING="ascii", COLUMNS="30", NO_COLOR="1")
        assert page.returncode == 0
        assert page.stdout.isascii()
        assert "Zo?" in page.stdout
        assert "\x1b" not in page.stdout
        assert max(map(len, page.stdout.splitlines())) <= 30
        about = shell(f"duelmatch check {path} --json", PYTHONIOENCODING="ascii")
        assert list(json.loads(about.stdout)["per_position"][0]["candidates"]) == ["Zoë", "漢字"]

    def test_completes_examples(self) -> None:
        done = shell(
            "duelmatch",
            _DUELMATCH_COMPLETE="fish_complete",
            COMP_WORDS="duelmatch check example:l",
            COMP_CWORD="example:l",
        )
        assert done.stdout.strip() == "plain,example:lineup"


def test_a_problem_without_preferences_is_refused_where_they_are_needed(write: Any) -> None:
    for command in ("winners", "simulate"):
        assert "no preferences" in run(command, write(NO_PREFERENCES), code=3).stderr
