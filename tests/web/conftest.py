"""A server with its store, one browser, and a study to look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from selenium import webdriver

import duelmatch as dm
from duelmatch.problem import Details
from duelmatch.studies import Settings, Store, Study
from duelmatch.web import Config, creating, watching
from duelmatch.web.worker import SIMULATING
from web.browsing import CHROMIUM, DRIVER, HOSTILE, Browser, chromium
from web.running import served


@pytest.fixture(autouse=True, scope="session")
def short_simulations() -> Iterator[None]:
    """Let servers in this process simulate for a twentieth of the time, in which not all can be told."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (creating, watching):
            patch.setattr(module, "SIMULATING", SIMULATING / 20)
        yield


@pytest.fixture
def whole_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let them simulate for as long as they do elsewhere."""
    for module in (creating, watching):
        monkeypatch.setattr(module, "SIMULATING", SIMULATING)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Store]]:
    """Give the address of a server, and its store."""
    file = tmp_path_factory.mktemp("pages") / "duels.db"
    with Store(f"sqlite:///{file}") as store, served(store, Config(rates=None)) as address:
        yield address, store


@pytest.fixture(scope="session")
def address(place: tuple[str, Store]) -> str:
    return place[0]


@pytest.fixture(scope="session")
def client(store: Store) -> Iterator[httpx2.Client]:
    """Give a client of a server with each kind of database."""
    with (
        served(store, Config(rates=None)) as address,
        httpx2.Client(base_url=address, timeout=30, trust_env=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chromium")


@pytest.fixture(scope="session")
def driver(downloads: Path) -> Iterator[webdriver.Chrome]:
    if not (CHROMIUM and DRIVER):
        pytest.skip("Chromium and its driver are not installed")
    with chromium(downloads) as driver:
        yield driver


@pytest.fixture
def browser(driver: webdriver.Chrome, place: tuple[str, Store]) -> Browser:
    return Browser(driver, place[0])


@pytest.fixture
def shown_study(place: tuple[str, Store], monkeypatch: pytest.MonkeyPatch) -> Study:
    # Earlier versions took any link, and their studies are still shown.
    monkeypatch.setattr("duelmatch.studies.texts.check_addresses", lambda link, picture: None)
    problem = dm.Problem(
        ("Ann", HOSTILE, "Cyd"),
        ("Chair", "Editor"),
        tuple((name, at) for name in ("Ann", HOSTILE, "Cyd") for at in ("Chair", "Editor")),
        {
            "Ann": Details(text="Has led two teams.\nLikes cake.", link="https://example.org/ann"),
            "Cyd": Details(title="Cyd the careful", link="javascript:document.title='broken'"),
        },
        {"Chair": Details(title="Chair of the meeting", text="Keeps the time and the peace.")},
    )
    settings = Settings("panel", parameters={"consistent": False})
    return place[1].create(problem, settings, "Who does what?", ["Ada", "Bea"])
