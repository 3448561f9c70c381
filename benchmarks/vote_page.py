"""How heavy is the voter's page, and how long does a slow phone take to its first question?

Prints a Markdown table: requests, bytes on the wire, and the time from opening the page until the first
question is there, in a real Chromium that is slowed down as its developer tools do it. The page is opened
with nothing cached, and again. Needs Chromium and its driver.

    python benchmarks/vote_page.py
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from selenium import webdriver

import duelmatch as dm
from duelmatch.studies import Settings, Store
from duelmatch.web import Config

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from web.browsing import CHROMIUM, DRIVER, PHONE, Browser
from web.running import served

LINES = {  # milliseconds of latency, bits per second down and up
    "no limit": None,
    "fast 3G": (150, 1_600_000, 750_000),
    "slow 3G": (400, 400_000, 400_000),
}
TURNS = 5


def opened(folder):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))


def slow_down(driver, line):
    driver.execute_cdp_cmd("Network.enable", {})
    latency, down, up = line or (0, -8, -8)
    limits = {"latency": latency, "downloadThroughput": down / 8, "uploadThroughput": up / 8}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": False, **limits})
    driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 1 if line is None else 4})


def measure(browser, path):
    """Open the page; return requests, bytes, and milliseconds to the first question."""
    driver = browser.driver
    driver.get_log("performance")
    browser.go(path)
    while not driver.execute_script("return Boolean(document.getElementById('choice-1'))"):
        time.sleep(0.01)
    took = driver.execute_script("return performance.getEntriesByName('first question')[0].startTime")
    time.sleep(0.5)
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [each for each in messages if each["method"] == "Network.requestWillBeSent"]
    loaded = [each["params"] for each in messages if each["method"] == "Network.loadingFinished"]
    return len(sent), sum(each["encodedDataLength"] for each in loaded), took


def main():
    print("| line, processor | cache | requests | bytes | first question after, ms (least of 5) |")
    print("|---|---|---|---|---|")
    people = [f"Project {number}" for number in range(1, 9)]
    problem = dm.Problem.complete(people, ["Design", "Idea", "Public", "Technology"])
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(f"sqlite:///{folder}/duels.db") as store,
        served(store, Config(rates=None)) as address,
    ):
        judges = [f"Judge {number}" for number in range(1, 21)]
        study = store.create(problem, Settings("panel"), "Prizes", judges)
        driver = opened(folder)
        try:
            browser = Browser(driver, address)
            browser.size(PHONE)
            browser.go(f"/l/{study.new_link('voter', study.voters()[0].id)}")
            for name, line in LINES.items():
                slow_down(driver, line)
                for cached in (False, True):
                    found = []
                    for _ in range(TURNS):
                        if not cached:
                            driver.execute_cdp_cmd("Network.clearBrowserCache", {})
                        found.append(measure(browser, f"/studies/{study.id}/vote"))
                    requests, size, took = min(found, key=lambda each: each[2])
                    state = "filled" if cached else "empty"
                    slow = name if line is None else f"{name}, 4 times slower"
                    print(f"| {slow} | {state} | {requests} | {size:,.0f} | {took:,.0f} |", flush=True)
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
