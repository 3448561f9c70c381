"""Stores to test with: a file of SQLite, and a real PostgreSQL server that is started for the tests."""

from __future__ import annotations

import gc
import secrets
import signal
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

import duelmatch as dm
from duelmatch.explorers import catalogue
from duelmatch.instances import generators
from duelmatch.studies import Settings, Store, Study
from postgres import server

signal.signal(signal.SIGINT, signal.default_int_handler)
"""A shell makes its background jobs ignore Ctrl-C, which the programs that tests start would inherit."""

gc.set_threshold(100_000, 20, 50)
"""Millions of objects live as long as the session does; to look through them again and again takes a tenth
of the processor time."""


@pytest.fixture(autouse=True)
def drawn_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the seed 0 wherever none is given, so that every test is repeatable."""
    monkeypatch.setattr("duelmatch.explorers.catalogue.secrets", SimpleNamespace(randbits=lambda bits: 0))


@pytest.fixture
def really_drawn_seeds(drawn_seeds: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw seeds as outside of the tests."""
    monkeypatch.setattr("duelmatch.explorers.catalogue.secrets", secrets)


@pytest.fixture(autouse=True)
def own_registrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget after each test the algorithms and generators that it has registered."""
    dm.algorithms()  # those of installed packages are found once, before the first copy
    for module in (catalogue, generators):
        for name in ("_known", "_registered"):
            monkeypatch.setattr(module, name, dict(getattr(module, name)))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[], str]]:
    """Give a function that makes a new database and returns its address."""
    with server() as running:
        yield running.new_database


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def new_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], str]:
    """Give a function that returns the address of an empty database."""
    if request.param == "postgresql":
        new: Callable[[], str] = request.getfixturevalue("postgres")
        return new
    numbers = count()
    folder: Path = tmp_path_factory.mktemp("stores")
    return lambda: f"sqlite:///{folder}/duels{next(numbers)}.db"


@pytest.fixture(scope="session")
def url(new_url: Callable[[], str]) -> str:
    """Return the address of the database that most tests share; each has studies of its own in it."""
    return new_url()


@pytest.fixture(scope="session")
def store(url: str) -> Iterator[Store]:
    with Store(url) as store:
        yield store


@pytest.fixture
def other_store(url: str) -> Iterator[Store]:
    """Another process would see the same database just so: with no memory in common."""
    with Store(url) as store:
        yield store


PROBLEM = dm.Problem.from_edges(
    [
        ("ann", "chair"),
        ("bob", "chair"),
        ("cyd", "chair"),
        ("bob", "editor"),
        ("cyd", "editor"),
        ("dan", "editor"),
    ]
)


@pytest.fixture
def new_study(store: Store) -> Callable[..., Study]:
    """Give a function that begins a study, with the settings it is given, and seed 0."""

    def new(
        problem: dm.Problem = PROBLEM,
        algorithm: str = "car-cond",
        voters: Sequence[str] = (),
        **settings: object,
    ) -> Study:
        chosen = Settings(algorithm, **{"seed": 0} | settings)  # type: ignore[arg-type]
        return store.create(problem, chosen, "A study", voters)

    return new


@pytest.fixture
def study(new_study: Callable[..., Study]) -> Study:
    return new_study()
