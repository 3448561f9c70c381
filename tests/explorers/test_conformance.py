"""Every algorithm that comes with the package keeps the contract, with either schedule."""

from __future__ import annotations

import subprocess
import sys

import pytest

import duelmatch as dm
from cases import each
from duelmatch.explorers import clucb
from duelmatch.explorers.catalogue import described
from duelmatch.testing import ExplorerConformance

SCHEDULES = ("sparse", "every")
COARSE = {"epsilon": 0.3}


class TestClucbBordaPacSparse(ExplorerConformance):
    algorithm, parameters = "clucb-borda-pac", {**COARSE, "schedule": "sparse"}


class TestClucbBordaPacEvery(ExplorerConformance):
    algorithm, parameters = "clucb-borda-pac", {**COARSE, "schedule": "every"}


class TestClucbBordaExactSparse(ExplorerConformance):
    algorithm, parameters = "clucb-borda-exact", {"schedule": "sparse"}


class TestClucbBordaExactEvery(ExplorerConformance):
    algorithm, parameters = "clucb-borda-exact", {"schedule": "every"}


class TestCarCondSparse(ExplorerConformance):
    algorithm, parameters = "car-cond", {"schedule": "sparse"}


class TestCarCondEvery(ExplorerConformance):
    algorithm, parameters = "car-cond", {"schedule": "every"}


class TestCarVerifySparse(ExplorerConformance):
    algorithm, parameters = "car-verify", {"schedule": "sparse"}


class TestCarVerifyEvery(ExplorerConformance):
    algorithm, parameters = "car-verify", {"schedule": "every"}


class TestCarParallelSparse(ExplorerConformance):
    algorithm, parameters = "car-parallel", {"schedule": "sparse"}


class TestCarParallelEvery(ExplorerConformance):
    algorithm, parameters = "car-parallel", {"schedule": "every"}


class TestClucbBordaPacWithOpponentsFromTheChain(ExplorerConformance):
    algorithm, parameters = "clucb-borda-pac", {**COARSE, "schedule": "sparse"}

    @pytest.fixture(autouse=True)
    def too_large_to_count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise dm.TooLargeError("not today")

        monkeypatch.setattr(clucb, "edge_marginals", refuse)
        monkeypatch.setattr(clucb, "RejectionSampler", refuse)


def test_every_algorithm_and_schedule_is_among_them() -> None:
    covered = {
        (suite.algorithm, suite.parameters.get("schedule"))
        for suite in ExplorerConformance.__subclasses__()
        if suite.__module__ == __name__
    }
    assert covered == {
        (algorithm, schedule)
        for algorithm in dm.algorithms("crowd")
        for schedule in (SCHEDULES if "schedule" in described(algorithm).defaults else (None,))
    }


@each("name", ["pytest", "hypothesis"])
def test_the_package_itself_does_without(name: str) -> None:
    code = f"import sys; sys.modules[{name!r}] = None; import duelmatch, duelmatch.cli"
    subprocess.run([sys.executable, "-c", code], check=True)


class TestCondorcet(ExplorerConformance):
    algorithm = "condorcet"


class TestCondorcetWithoutAssumption(ExplorerConformance):
    algorithm, parameters = "condorcet", {"assume_winner": False}


class TestCondorcetGoodEnough(ExplorerConformance):
    algorithm, parameters = "condorcet", {"epsilon": 0.1}


class TestBorda(ExplorerConformance):
    algorithm = "borda"


class TestBordaGoodEnoughInBatches(ExplorerConformance):
    algorithm, parameters = "borda", {"epsilon": 0.1, "batch": 10}


def test_without_pytest_the_suite_says_what_it_needs() -> None:
    code = "import sys; sys.modules['pytest'] = None; import duelmatch.testing"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError: duelmatch.testing needs pytest: pip install pytest" in ended.stderr
