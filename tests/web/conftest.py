"""One server and one browser for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from duelmatch.studies import Store
from duelmatch.web import Config
from web.browsing import CHROMIUM, DRIVER, Browser, chromium
from web.running import served


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Store]]:
    """Give the address of a server, and its store."""
    file = tmp_path_factory.mktemp("pages") / "duels.db"
    with Store(f"sqlite:///{file}") as store, served(store, Config(rates=None)) as address:
        yield address, store


@pytest.fixture(scope="session")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder into which the browser saves what it downloads."""
    return tmp_path_factory.mktemp("chromium")


@pytest.fixture(scope="session")
def driver(downloads: Path) -> Iterator[webdriver.Chrome]:
    """Give a running browser."""
    if not (CHROMIUM and DRIVER):
        pytest.skip("Chromium and its driver are not installed")
    with chromium(downloads) as driver:
        yield driver


@pytest.fixture
def browser(driver: webdriver.Chrome, place: tuple[str, Store]) -> Browser:
    """Give somebody at the browser, whom no study knows."""
    return Browser(driver, place[0])
