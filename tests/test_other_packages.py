"""A package that duelmatch knows nothing of brings an algorithm and a generator; both run everywhere.

It is built and installed by pip, into a folder of its own, as anybody's package would be.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import duelmatch as dm

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "outside"
version = "1.0"

[project.entry-points."duelmatch.algorithms"]
survey = "outside.survey:SURVEY"

[project.entry-points."duelmatch.instances"]
ladder = "outside.ladder:ladder"
"""

LADDER = '''
import duelmatch as dm


def ladder(candidates, step=0.1):
    """At one position, everyone beats all who come later."""
    names = [f"c{number}" for number in range(candidates)]
    problem = dm.Problem.complete(names, ["top"])
    pairs = [(a, b) for number, a in enumerate(names) for b in names[number + 1 :]]
    return dm.Preferences(problem, {("top", a, b): 0.5 + step for a, b in pairs})
'''

EXPERIMENT = """
seed = 1
repetitions = 4
[[problems]]
generator = "ladder"
candidates = [2, 3]
step = 0.4
[[algorithms]]
name = "survey"
times = [40, 200]
"""

STUDY = """
import sys
from duelmatch.studies import Question, Store

with Store(sys.argv[1]) as store:
    (listed,) = store.studies()
    study = store.study(listed.id)
    voter = study.voter_named("ann")
    while isinstance(question := study.ask(voter), Question):
        study.tell(voter, question.number, min(question.candidates))
    print(study.status().result)
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install the package; return the environment in which it can be found."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    (source / "pyproject.toml").write_text(PYPROJECT)
    package = source / "outside"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "ladder.py").write_text(LADDER)
    shutil.copy(Path(__file__).with_name("survey.py"), package)
    install = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    here = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(target), str(source)]
    subprocess.run([*install, *here], check=True)
    path = os.pathsep.join(filter(None, (str(target), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}


PROGRAM = """
import json, sys
from click.testing import CliRunner
from duelmatch.cli import main

for line in sys.stdin:
    command, given = json.loads(line)
    done = CliRunner().invoke(main, command, prog_name="duelmatch", input=given)
    print(json.dumps([done.exit_code, done.stdout, done.stderr]), file=sys.__stdout__, flush=True)
"""
Run = Callable[..., str]


@pytest.fixture(scope="module")
def run(environment: dict[str, str]) -> Iterator[Run]:
    """Give a function that runs commands in a process which finds the package; it returns what they print."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None

    def printed(*command: str | Path, given: str | None = None) -> str:
        process.stdin.write(json.dumps([list(map(str, command)), given]) + "\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
        code, out, err = json.loads(process.stdout.readline())  # type: ignore[union-attr]
        assert code == 0, err
        return str(out)

    with process:
        yield printed
        process.stdin.close()


def told(run: Run, *command: str | Path, given: str | None = None) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(*command, "--json", given=given))
    return answer


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("problem") / "team.yaml"
    team = dm.Problem.complete(["ann", "bob"], ["chair"])
    dm.save_problem(team, path, dm.Preferences(team, {("chair", "ann", "bob"): 0.9}))
    return path


def test_it_is_listed_with_its_parameters(run: Run) -> None:
    (survey,) = [row for row in told(run, "algorithms")["algorithms"] if row["name"] == "survey"]
    assert [parameter["name"] for parameter in survey["parameters"]] == ["times"]
    assert "--times" in run("simulate", "--help")


def test_it_is_simulated_by_several_processes(run: Run, problem: Path) -> None:
    options = ("--algorithm", "survey", "--times", "60", "--runs", "8", "--jobs", "2", "--seed", "3")
    found = told(run, "simulate", problem, *options)
    assert (found["algorithm"], found["times"], found["wrong"]) == ("survey", 60, 0)
    assert found["statuses"] == {"certified": 8}


def test_it_asks_at_the_terminal(run: Run, problem: Path, tmp_path: Path) -> None:
    options = ("--algorithm", "survey", "--times", "12", "--votes", tmp_path / "kept.csv")
    found = told(run, "ask", problem, *options, given="ann\n" * 12)
    assert (found["status"], found["matching"], found["duels"]) == ("certified", {"chair": "ann"}, 12)


def test_both_are_in_an_experiment_and_its_report(run: Run, tmp_path: Path) -> None:
    (tmp_path / "outside.toml").write_text(EXPERIMENT)
    out = tmp_path / "out"
    run("experiment", "run", tmp_path / "outside.toml", "--out", out, "--jobs", "2")
    run("experiment", "report", out)
    cells = (out / "report" / "cells.csv").read_text(encoding="utf-8")
    assert cells.count("ladder (candidates") == 4
    assert cells.count("survey (times") == 4
    assert "survey (times 200)" in (out / "report" / "report.html").read_text(encoding="utf-8")


def test_a_study_runs_it(run: Run, environment: dict[str, str], problem: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/studies.db"
    options = ("--algorithm", "survey", "--parameter", "times=12", "--store", store)
    told(run, "study", "create", problem, *options)
    (tmp_path / "voter.py").write_text(STUDY)
    voter = [sys.executable, tmp_path / "voter.py", store]
    done = subprocess.run(voter, env=environment, capture_output=True, text=True, check=True)
    assert "chair: ann (certified after 12 duels" in done.stdout
