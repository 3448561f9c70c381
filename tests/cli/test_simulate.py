"""``duelmatch simulate``: honest counts, the same whatever the number of processes."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import duelmatch as dm
from duelmatch.cli import main
from duelmatch.cli.simulate import MOST_ROWS, _rows
from duelmatch.experiments import Run, simulations, single_cell, summarise
from problems import TIE

PROGRAM = str(Path(sys.executable).with_name("duelmatch"))
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and terminals are different there")

CLEAR = "candidates: [a, b]\npositions: [s]\npreferences:\n  s: [[a, b, 0.9]]\n"
HARD = "candidates: [a, b]\npositions: [s]\npreferences:\n  s: [[a, b, 0.501]]\n"
CYCLE = """
candidates: [a, b, c]
positions: [s]
preferences:
  s: [[a, b, 0.9], [b, c, 0.9], [c, a, 0.9]]
"""


@pytest.fixture(autouse=True)
def _in_a_folder_with_problems() -> None:
    for name, text in (("clear", CLEAR), ("hard", HARD), ("cycle", CYCLE), ("tie", TIE)):
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")


def simulate(*arguments: str) -> Result:
    """Run the command with car-cond, seed 1 and one job, unless told otherwise."""
    usual = {"--algorithm": "car-cond", "--seed": "1", "--jobs": "1"}
    given = [word for name, value in usual.items() if name not in arguments for word in (name, value)]
    return CliRunner().invoke(main, ["simulate", *arguments, *given], prog_name="duelmatch")


def answer(*arguments: str) -> Any:
    result = simulate(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def without_times(told: dict[str, Any]) -> dict[str, Any]:
    for run in told["each_run"]:
        del run["seconds"]
    return {key: value for key, value in told.items() if not key.startswith("seconds")}


class TestRuns:
    def test_can_be_repeated_one_by_one_with_their_seeds(self) -> None:
        told = answer("clear.yaml", "--runs", "3", "--seed", "5", "--algorithm", "borda", "--epsilon", "0.1")
        prefs = dm.load_preferences("clear.yaml")
        cell = single_cell(prefs, "borda", seed=5, epsilon=0.1)
        for run, own in zip(told["each_run"], simulations(cell, 3, jobs=1), strict=True):
            result = dm.simulate(prefs, "borda", delta=0.05, seed=run["seed"], epsilon=0.1)
            assert result == own.result, run
            assert (result.status, result.duels, cell.seed(run["run"])) == (
                run["status"],
                run["duels"],
                run["seed"],
            )

    def test_do_not_depend_on_the_number_of_processes(self) -> None:
        alone = answer("clear.yaml", "--runs", "7", "--jobs", "1")
        together = answer("clear.yaml", "--runs", "7", "--jobs", "3")
        assert without_times(alone) == without_times(together)

    def test_have_seeds_of_their_own(self) -> None:
        prefs = dm.load_preferences("clear.yaml")
        cells = [single_cell(prefs, "car-cond", seed=seed) for seed in range(20)]
        seeds = {cell.seed(number) for cell in cells for number in range(500)}
        assert len(seeds) == 10_000
        assert max(seeds) < 2**53

    def test_more_of_them_keep_the_first_ones(self) -> None:
        few = answer("clear.yaml", "--runs", "2")["each_run"]
        more = answer("clear.yaml", "--runs", "4")["each_run"]
        assert [run["duels"] for run in more[:2]] == [run["duels"] for run in few]

    def test_have_a_drawn_seed_unless_one_is_given_and_it_is_shown(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("duelmatch.cli.options.drawn_seed", lambda: 4711)
        command = ["simulate", "clear.yaml", "--algorithm", "car-cond", "--runs", "1", "--jobs", "1"]
        told = json.loads(CliRunner().invoke(main, [*command, "--json"]).stdout)
        again = answer("clear.yaml", "--runs", "1", "--seed", "4711")
        assert told["seed"] == 4711
        assert without_times(told) == without_times(again)
        assert re.search(r"^Seed +4711$", CliRunner().invoke(main, command).stdout, re.MULTILINE)

    def test_that_fail_say_why(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*given: object, **more: object) -> None:
            raise dm.TooLargeError("Out of reach.")

        monkeypatch.setattr("duelmatch.experiments.simulation.simulated_run", fail)
        result = simulate("clear.yaml")
        assert (result.exit_code, result.stderr) == (4, "Error: Out of reach.\n")


class TestReport:
    def test_counts_statuses_matchings_and_duels(self) -> None:
        told = answer("clear.yaml", "--runs", "5")
        assert told["statuses"] == {"certified": 5}
        assert told["answers"] == [
            {"status": "certified", "matching": {"s": "a"}, "runs": 5, "right": True},
        ]
        assert (told["wrong"], told["error_rate"], told["finished"]) == (0, 0.0, 5)
        assert told["winner"] == {"s": "a"}
        duels = sorted(run["duels"] for run in told["each_run"])
        assert told["duels"]["median"] == duels[2]
        assert told["duels"]["mean"] == pytest.approx(sum(duels) / 5)
        assert duels[0] <= told["duels"]["percentile_5"] <= told["duels"]["percentile_95"] <= duels[-1]
        assert told["information_limit"] == dm.theory.lower_bound(
            dm.load_preferences("clear.yaml"), "condorcet", 0.05
        )

    def test_rare_answers_are_counted_together(self) -> None:
        answers = [
            {"status": "certified", "matching": {"s": f"c{n}"}, "runs": n, "right": None} for n in range(15)
        ]
        *rows, rest = _rows({"answers": answers})
        assert (len(rows), rest[1:3]) == (MOST_ROWS, ("3 others", 12 + 13 + 14))

    def test_is_a_page_for_people(self) -> None:
        page = simulate("clear.yaml", "--runs", "4").stdout
        assert page.startswith("clear.yaml: car-cond, delta 0.05\n")
        assert "\nRuns               4\n" in page
        assert re.search(r"│ certified │ s: a +│ +4 │ yes +│", page)
        assert "Error rate         0.0% (95% interval 0.0% to 60.2%); 5% allowed" in page
        for label in (
            "Duels, median",
            "Duels, mean",
            "Duels, 5% to 95%",
            "Information limit",
            "Seconds per run",
        ):
            assert f"\n{label} " in page

    def test_says_nothing_on_stderr_without_a_terminal(self) -> None:
        assert simulate("clear.yaml", "--runs", "2").stderr == ""

    def test_a_spent_budget_is_neither_right_nor_an_error(self) -> None:
        told = answer("hard.yaml", "--runs", "4", "--max-duels", "30")
        assert told["statuses"] == {"budget_spent": 4}
        assert told["duels"]["median"] == 30
        assert told["wrong"] == 0
        page = simulate("hard.yaml", "--runs", "4", "--max-duels", "30").stdout
        assert "NOT CERTIFIED" in page
        assert "4 runs ended with the budget" in " ".join(page.split())

    def test_no_winner_is_right_if_there_is_none(self) -> None:
        result = simulate(
            "cycle.yaml",
            "--runs",
            "2",
            "--algorithm",
            "car-verify",
            "--max-duels",
            "9999",
            "--json",
        )
        told = json.loads(result.stdout)
        assert told["answers"] == [{"status": "no_winner", "matching": None, "runs": 2, "right": True}]
        assert told["information_limit"] is None

    def test_a_condorcet_winner_is_taken_for_granted_only_if_told_so(self) -> None:
        options = ["cycle.yaml", "--runs", "3", "--algorithm", "condorcet"]
        assumed = json.loads(simulate(*options, "--assume-winner", "--json").stdout)
        assert assumed["assuming"] == ["condorcet_winner"]
        assert assumed["wrong"] == 3
        page = " ".join(simulate(*options, "--assume-winner").stdout.split())
        assert "a Condorcet winner exists, which is not so here: its promise does not hold" in page
        told = json.loads(simulate(*options, "--json").stdout)
        assert {(entry["status"], entry["right"]) for entry in told["answers"]} == {("no_winner", True)}
        assert told["assuming"] == []

    def test_guesses_of_the_frugal_algorithms_say_how_good_they_are(self) -> None:
        options = ["hard.yaml", "--runs", "3", "--algorithm", "borda", "--max-duels", "30"]
        told = answer(*options)
        for run in told["each_run"]:
            result = dm.simulate(dm.load_preferences("hard.yaml"), "borda", seed=run["seed"], max_duels=30)
            assert (result.status, result.duels) == (run["status"], run["duels"])
            assert 0.05 < run["p_value"] <= 1
            assert run["possible"] == 2
        page = simulate(*options).stdout
        assert re.search(r"^p of a guess, median +(1|0\.\d+)$", page, re.MULTILINE)
        assert re.search(r"^Still possible, median +2 matchings$", page, re.MULTILINE)
        assert "p of a guess" not in simulate("hard.yaml", "--runs", "2", "--max-duels", "30").stdout

    def test_warns_of_runs_without_an_end(self) -> None:
        for file, algorithm, reason in (
            ("cycle.yaml", "condorcet", "there is no Condorcet winner"),
            ("tie.yaml", "borda", "two matchings share the best Borda score"),
        ):
            options = ("--runs", "1", "--algorithm", algorithm, "--epsilon", "0.5")
            assert simulate(file, *options).stderr == "", file
            cell = single_cell(dm.load_preferences(file), algorithm)
            assert cell.known.endless(cell.variant.epsilon) == reason

    def test_counts_wrong_claims_and_not_wrong_guesses(self) -> None:
        """The exact 95% interval of 2 in 4 is from 6.76% to 93.24%."""
        cell = single_cell(dm.load_preferences("clear.yaml"), "car-cond")
        told = {"certified": ("a", "b"), "no_winner": (None,), "budget_spent": ("b",)}
        results = [
            dm.Result("car-cond", status, name and dm.Matching({"s": name}), 10, 0.05)  # type: ignore[arg-type]
            for status, names in told.items()
            for name in names
        ]
        right = cell.known.right
        runs = [Run(n, n, 0.1, result, right(result)) for n, result in enumerate(results)]
        summary = summarise(cell, runs)
        assert (summary.wrong, summary.error_rate) == (2, 0.5)
        assert summary.error_interval == pytest.approx((0.0676, 0.9324), abs=1e-4)

    def test_a_borda_winner_out_of_reach_leaves_the_error_rate_open(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise dm.TooLargeError("Too large.")

        monkeypatch.setattr("duelmatch.matchings.counting.edge_marginals", refuse)
        monkeypatch.setattr("duelmatch.experiments.cell._known", {})  # which may know it
        told = answer("clear.yaml", "--runs", "1", "--algorithm", "clucb-borda-pac")
        assert told["error_rate"] is None
        assert told["answers"][0]["right"] is None
        page = simulate("clear.yaml", "--runs", "1", "--algorithm", "clucb-borda-pac").stdout
        assert re.search(r"^Error rate +not known", page, re.MULTILINE)


class TestUsage:
    @pytest.mark.parametrize(
        "options",
        [
            ["--algorithm", "nonsense"],
            ["--delta", "1"],
            ["--delta", "1e-300"],
            ["--runs", "0"],
            ["--jobs", "0"],
            ["--epsilon", "0.1"],
            ["--algorithm", "clucb-borda-pac", "--oracle", "lp"],
            ["--algorithm", "clucb-borda-pac", "--batch", "5"],
            ["--algorithm", "borda", "--no-assume-winner"],
            ["--algorithm", "condorcet", "--batch", "0"],
            ["--algorithm", "condorcet", "--schedule", "every"],
            ["--seed", "-1"],
            ["--max-duels", "-1"],
        ],
    )
    def test_wrong_options_are_exit_code_2(self, options: list[str]) -> None:
        assert simulate("clear.yaml", *options).exit_code == 2

    def test_preferences_are_needed(self) -> None:
        Path("bare.yaml").write_text("candidates: [a, b]\npositions: [s]\n", encoding="utf-8")
        assert simulate("bare.yaml").exit_code == 3

    def test_names_of_algorithms_are_completed(self) -> None:
        done = subprocess.run(
            [PROGRAM],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ
            | {
                "_DUELMATCH_COMPLETE": "fish_complete",
                "COMP_WORDS": "duelmatch simulate x.yaml --algorithm car-p",
                "COMP_CWORD": "car-p",
            },
        )
        assert done.stdout.strip() == "plain,car-parallel"


@POSIX
class TestARealProcess:
    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_shows_its_progress_and_ctrl_c_reports_what_is_finished(self, jobs: str) -> None:
        """Stderr is a terminal; the signal goes to all processes, as Ctrl-C does."""
        import pty

        master, slave = pty.openpty()
        process = subprocess.Popen(
            [PROGRAM, "simulate", "clear.yaml", "--runs", "99999", "--jobs", jobs],
            stdout=subprocess.PIPE,
            stderr=slave,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
            start_new_session=True,
        )
        os.close(slave)
        try:
            shown, deadline = "", time.monotonic() + 60
            while not re.search(r"[1-9]\d*/99999", shown) and time.monotonic() < deadline:
                if select.select([master], [], [], 1)[0]:
                    shown += os.read(master, 65536).decode()
            os.killpg(process.pid, signal.SIGINT)
            reader = threading.Thread(target=_drain, args=(master,))
            reader.start()
            output, _ = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
            reader.join()
            os.close(master)
        page = output.decode()
        assert process.returncode == 130
        assert "duels" in shown
        assert re.search("a (second|minute)", shown)
        assert "\x1b" not in page
        assert re.search(r"\nRuns +[\d,]+ of 99,999\n", page)
        assert "Interrupted. Runs that take long are missing" in page


def _drain(terminal: int) -> None:
    with suppress(OSError):  # what Linux says when the other side is closed
        while os.read(terminal, 65536):
            pass


def test_help_is_quick() -> None:
    """Commands import what they need when they run: nothing numeric for --help."""
    code = "import sys; sys.argv = ['duelmatch', *sys.argv[1:]]; from duelmatch.cli import main; main()"
    for arguments in (
        ["--help"],
        ["simulate", "--help"],
        ["ask", "--help"],
        ["plan", "--help"],
        ["algorithms"],
    ):
        listed = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {code}"
        done = subprocess.run(
            [sys.executable, "-c", listed, *arguments], capture_output=True, text=True, check=True
        )
        assert not {"numpy", "scipy", "numba", "highspy"} & set(done.stderr.split()), arguments


def test_a_panel_is_not_simulated_here_and_the_sentence_says_where() -> None:
    done = simulate("clear.yaml", "--algorithm", "panel")
    assert done.exit_code == 2
    assert "panel counts a known panel of judges" in done.output
    assert "duelmatch decide --help" in done.output


@pytest.mark.parametrize("option", [["--algorithm", "survey"], ["--algorithm=survey"]])
def test_the_option_of_an_algorithm_that_is_not_there_is_blamed_on_the_algorithm(option: list[str]) -> None:
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["simulate", "example:lineup", *arguments, "--times", "100"])

    said = run(*option).stderr
    assert "'survey'" in said
    assert "--times" not in said
    assert "--times" in run().stderr
