"""What can be imported is what is promised, no more and no less."""

from __future__ import annotations

import ast
import importlib
import importlib.resources
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import duelmatch as dm

MODULES = [dm, dm.matchings, dm.theory, dm.instances]

PROMISED = {
    "duelmatch": {
        "DuelmatchError",
        "Duel",
        "Matching",
        "NoMatchingError",
        "Preferences",
        "Problem",
        "ProblemError",
        "TooLargeError",
        "instances",
        "load_problem",
        "matchings",
        "theory",
    },
    "duelmatch.matchings": {"best", "count", "game_value", "marginals", "sample"},
    "duelmatch.theory": {"borda_gaps", "borda_hardness", "condorcet_gaps", "lower_bound", "width"},
    "duelmatch.instances": {
        "bradley_terry",
        "cyclic",
        "equal_gaps",
        "paper_example",
        "planted",
        "rings",
        "uniform",
    },
}

PROMISED_MEMBERS = {
    "Problem": ["from_edges", "complete"],
    "Preferences": ["probability", "score", "borda_score", "borda_winner", "condorcet_winner"],
}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_all_is_sorted_unique_and_importable(module: ModuleType) -> None:
    assert sorted(module.__all__) == sorted(set(module.__all__))
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_all_leaves_no_public_name_of_its_own_out(module: ModuleType) -> None:
    """A function or class that a package defines belongs in ``__all__``; what it merely uses does not."""
    own = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    }
    assert own <= set(module.__all__)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_names_others_rely_on_are_there(module: ModuleType) -> None:
    assert PROMISED[module.__name__] <= set(module.__all__)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_star_import_brings_exactly_these(module: ModuleType) -> None:
    names: dict[str, object] = {}
    exec(f"from {module.__name__} import *", names)
    names.pop("__builtins__")
    assert set(names) == set(module.__all__)


def test_the_methods_others_rely_on_are_there() -> None:
    for owner, members in PROMISED_MEMBERS.items():
        for member in members:
            assert callable(getattr(getattr(dm, owner), member))


def test_problems_show_candidates_positions_and_edges() -> None:
    problem = dm.Problem.from_edges([("ann", "chair"), ("bob", "chair"), ("bob", "editor")])
    assert problem.candidates == ("ann", "bob")
    assert problem.positions == ("chair", "editor")
    assert problem.edges == (("ann", "chair"), ("bob", "chair"), ("bob", "editor"))


def test_duels_show_position_first_second_and_id() -> None:
    duel = dm.Duel("chair", "ann", "bob", 7)
    assert (duel.position, duel.first, duel.second, duel.id) == ("chair", "ann", "bob", 7)


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        ("matchings.sample", ["problem", "size", "seed", "method"]),
        ("matchings.best", ["problem", "weights", "required", "forbidden"]),
        (
            "matchings.game_value",
            ["problem", "Q", "required_x", "forbidden_x", "required_y", "forbidden_y", "method", "epsilon"],
        ),
        ("theory.lower_bound", ["preferences", "criterion", "delta"]),
        ("Problem.from_edges", ["edges", "candidates", "positions"]),
    ],
)
def test_arguments_can_be_given_by_the_names_in_the_manual(function: str, parameters: list[str]) -> None:
    found: object = dm
    for part in function.split("."):
        found = getattr(found, part)
    assert list(inspect.signature(found).parameters)[: len(parameters)] == parameters  # type: ignore[arg-type]


def test_errors_are_one_family() -> None:
    family = [value for name in dm.__all__ if inspect.isclass(value := getattr(dm, name)) and "Error" in name]
    assert len(family) >= 5
    assert all(issubclass(error, dm.DuelmatchError) for error in family)
    assert issubclass(dm.ProblemError, ValueError)
    assert issubclass(dm.NoMatchingError, dm.ProblemError)
    assert not issubclass(dm.TooLargeError, dm.ProblemError)


@pytest.mark.parametrize("package", ["matchings", "theory", "instances"])
def test_every_module_says_what_it_is_about(package: str) -> None:
    parent = importlib.import_module(f"duelmatch.{package}")
    for found in pkgutil.iter_modules(parent.__path__, f"{parent.__name__}."):
        module = importlib.import_module(found.name)
        assert module.__doc__, found.name


def test_a_name_is_imported_only_when_it_is_used() -> None:
    code = """
import sys
import duelmatch as dm
assert "numpy" not in sys.modules
assert set(dm.__all__) <= set(dir(dm))
from duelmatch import FileError, load_problem
assert FileError is dm.errors.FileError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_needs_nothing_compiled_does_without_the_compiler(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["numba"] = None  # importing it is an error
import duelmatch.client, duelmatch.experiments.session, duelmatch.web.serving
from click.testing import CliRunner
from duelmatch.cli import main
from duelmatch.studies import Store
Store("sqlite:///studies.db").close()
list_studies = "study list --store sqlite:///studies.db"
for command in ("--version", "--help", "algorithms", "examples", "check example:lineup",
                "winners example:lineup", "plan example:lineup", list_studies, "study ask --help",
                "serve --help"):
    found = CliRunner().invoke(main, command.split(), catch_exceptions=False)
    assert found.exit_code == 0, (command, found.output)
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_a_name_that_is_not_there_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'duelmatch' has no attribute 'nonsense'"):
        _ = dm.nonsense  # type: ignore[attr-defined]
    with pytest.raises(ImportError):
        from duelmatch import nonsense  # type: ignore[attr-defined] # noqa: F401


def test_a_type_checker_sees_every_name() -> None:
    """The imports for type checkers, ``__all__`` and the homes of lazy names say the same."""
    tree = ast.parse(inspect.getsource(dm))
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)]
    seen = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(seen) == set(dm.__all__)
    for name, home in seen.items():
        assert getattr(importlib.import_module(home or ""), name) is getattr(dm, name)


def test_the_package_is_marked_as_typed() -> None:
    assert importlib.resources.files("duelmatch").joinpath("py.typed").is_file()
