"""A real browser for tests, and somebody at it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from duelmatch.studies import Ranking, Study

HOSTILE = "<script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"
PHONE, DESK = (390, 844), (1280, 900)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
PICTURES = os.environ.get("DUELMATCH_SCREENSHOTS")


PASTE = """
const [selector, text, done] = arguments;
const target = document.querySelector(selector);
target.focus();
const clipboardData = new DataTransfer();
clipboardData.setData("text/plain", text);
target.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
"""


@contextmanager
def chromium(folder: Path) -> Iterator[webdriver.Chrome]:
    """Run a browser that keeps everything in a folder."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={folder}/profile")
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


class Browser:
    """Somebody at a browser, without cookies at first."""

    def __init__(self, driver: webdriver.Chrome, address: str) -> None:
        self.driver, self.address = driver, address
        driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.size(DESK)

    def size(self, size: tuple[int, int], dark: bool = False) -> None:
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}  # nothing is in the middle of a change
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def go(self, path: str) -> None:
        self.driver.get(self.address + path)

    def find(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return str(self._now(selector, lambda found: found.text))

    def click(self, selector: str) -> None:
        """Click on an element as soon as it is there."""
        self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, selector))
        self._now(selector, lambda found: found.click())

    def _now(self, selector: str, use: Callable[[Any], Any]) -> Any:
        """Find and use an element; if the page has just put something new in its place, use that."""
        for _ in range(20):
            with suppress(StaleElementReferenceException):
                return use(self.find(selector))
        raise AssertionError(f"{selector} never stays")

    def press(self, keys: str) -> None:
        ActionChains(self.driver).send_keys(keys).perform()

    def until(self, truth: Callable[[], Any], seconds: float = 20) -> Any:
        wait = WebDriverWait(self.driver, seconds, poll_frequency=0.05, ignored_exceptions=[Exception])
        return wait.until(lambda _: truth())

    def picture(self, name: str) -> None:
        """Keep a picture of the whole page, if somebody wants to look."""
        if PICTURES:
            Path(PICTURES).mkdir(parents=True, exist_ok=True)
            height = self.driver.execute_script("return document.documentElement.scrollHeight")
            width = self.driver.execute_script("return window.innerWidth")
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            self.driver.save_screenshot(f"{PICTURES}/{name}.png")

    def check(self) -> None:
        """No foreign script ran, nothing broke the policy or sticks out, and all can be read out."""
        assert self.driver.title != "broken"
        complaints = [entry["message"] for entry in self.driver.get_log("browser")]
        assert not [text for text in complaints if "Content Security" in text or "Uncaught" in text]
        tree = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        for node in tree:
            role, name = (node.get(part, {}).get("value") for part in ("role", "name"))
            if role in ("button", "link", "textbox", "checkbox", "radio", "dialog", "heading", "image"):
                assert node["ignored"] or name, f"a {role} without a name for a screen reader"
        script = (
            "const { scrollWidth, clientWidth } = document.documentElement; return scrollWidth - clientWidth"
        )
        assert self.driver.execute_script(script) <= 0

    # Voting.

    def question(self) -> tuple[str, ...]:
        """Wait until a question can be answered; return the position and the candidates."""
        self.until(lambda: self.find("#question-part").is_displayed() and self.text("#choice-1 .title"))
        self.until(lambda: self.find("#main").get_attribute("aria-busy") is None)
        self.driver.execute_async_script("setTimeout(arguments[0], 350)")  # no double click takes so long
        titles = self.driver.find_elements(By.CSS_SELECTOR, ".choose .title")
        return self.text("#question"), *(title.text for title in titles)


def votes(study: Study) -> list[tuple[str, Ranking]]:
    """Return what counts, in order: the position, and who is better than whom."""
    return [(given.position, given.answer) for given in study.answers(limit=None)[::-1] if given.counts]


def paste(browser: Browser, selector: str, text: str) -> None:
    """Paste what a spreadsheet has copied."""
    browser.driver.execute_script(PASTE, selector, text)


@contextmanager
def offline(browser: Browser) -> Iterator[None]:
    """Take the network away."""
    line = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, **line})
    try:
        yield
    finally:
        browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": False, **line})
