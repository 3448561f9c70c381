"""An organiser's whole day in a real browser: from a pasted spreadsheet to the printed result."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner
from PIL import Image
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.interaction import POINTER_TOUCH
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from duelmatch.cli import main
from duelmatch.studies import Store, Study
from web.browsing import DESK, PHONE, Browser, offline, paste, votes

PRIZES = ("Design", "Idea", "Public", "Technology")
PROJECTS = ("Owls", "Foxs", "Bears", "Hares", "Lynxes", "Moles", "Newts", "Otters")
JUDGES = ("Eve", "Jürgen", "Ada", "Bea", "Gil", "Zoe")
SHEET = "\n".join(
    [
        "\t".join(("project", *PRIZES, "place", "capacity", "picture")),
        *(
            "\t".join((name, *"xxxx", f"table {number}", *(("2", "owls.png") if number == 1 else ("", ""))))
            for number, name in enumerate(PROJECTS, start=1)
        ),
    ]
)
A4 = {"paperWidth": 8.27, "paperHeight": 11.69}


class Judge:
    """Somebody who votes over HTTP, and has an opinion about everybody."""

    def __init__(self, http: httpx2.Client, link: str, study: str, taste: int) -> None:
        self._http, self._taste = http, taste
        self._headers = {"Authorization": f"Bearer {link.rpartition('/')[2]}"}
        self._path = f"/api/v1/studies/{study}"

    def prefers(self, position: str, candidates: list[str]) -> str:
        """Return the best of some: judges agree about the first, and less about the others."""
        shift = PRIZES.index(position) * 2 + self._taste % 2
        order = [*PROJECTS[shift:], *PROJECTS[:shift], "Late birds"]
        return min(candidates, key=order.index)

    def vote(self, most: int, left: bool = False) -> None:
        """Answer as many questions as there are, but not more than so many."""
        for _ in range(most):
            asked = self._http.post(f"{self._path}/question", headers=self._headers).json()
            if asked["number"] is None:
                return
            shown = asked["candidates"]
            said = shown[0] if left else self.prefers(asked["position"], shown)
            path = f"{self._path}/questions/{asked['number']}/answer"
            self._http.post(path, headers=self._headers, json={"answer": said}).raise_for_status()


def touch(browser: Browser, selector: str) -> None:
    """Tap with a finger."""
    finger = ActionBuilder(browser.driver, mouse=PointerInput(POINTER_TOUCH, "finger"))
    finger.pointer_action.move_to(browser.find(selector)).pointer_down().pointer_up()
    finger.perform()


@contextmanager
def sitting_down(browser: Browser, link: str, languages: str, size: tuple[int, int]) -> Iterator[None]:
    """Open somebody's link in a browser that is theirs."""
    headers = {"Accept-Language": languages}
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
    browser.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": headers})
    browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": size == PHONE})
    browser.size(size, dark=size == DESK)
    try:
        browser.driver.get(link)
        yield
        browser.check()
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        browser.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {}})
        browser.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})


def pages_of(browser: Browser) -> int:
    """Print; return how many pages that takes."""
    printed = base64.b64decode(browser.driver.execute_cdp_cmd("Page.printToPDF", A4)["data"])
    return len(re.findall(rb"/Type\s*/Page\b", printed))


def create(browser: Browser, tmp_path: Path) -> tuple[str, list[str]]:
    """Fill the grid from a spreadsheet; return the link of the organiser and those of the judges."""
    Image.new("RGB", (30, 20), "navy").save(tmp_path / "owls.png")
    browser.go("/")
    browser.click("a.primary")
    browser.find("#name").send_keys("Science day")
    paste(browser, "#candidate-1", SHEET)
    browser.until(lambda: browser.find("#candidate-8").get_attribute("value") == "Otters")
    assert "“owls.png” is not shown" in browser.text("#candidate-1-error")
    browser.find("#pictures").send_keys(str(tmp_path / "owls.png"))
    browser.until(lambda: browser.find("#grid .thumb").is_displayed())
    assert "up to 2 positions" in browser.text("#grid")
    browser.click("#rules-part summary")
    browser.click("#add-rule")
    for number in (2, 3):
        browser.click(f".rule label:nth-of-type({number}) input")
    paste_text = "name\temail\n" + "\n".join(f"{name}\t{name[0]}@example.org" for name in JUDGES)
    browser.driver.execute_script("arguments[0].value = arguments[1]", browser.find("#judges"), paste_text)
    browser.find("#judges").send_keys(Keys.END + " ")
    browser.until(lambda: "6 judges" in browser.text("#judges-read"))
    browser.until(lambda: "not a promise" in browser.text("#expected"), seconds=90)
    browser.picture("day-new")
    browser.check()
    browser.click("button[type=submit]")
    browser.until(lambda: browser.find("#made").is_displayed())
    found = browser.driver.find_elements(By.CSS_SELECTOR, "#made-rows input")
    links = [str(each.get_attribute("value")) for each in found]
    return str(browser.find("#organiser-link").get_attribute("value")), links


def print_sheet(browser: Browser, links: list[str]) -> None:
    """Print what the judges are given; it opens in a tab of its own."""
    first = browser.driver.current_window_handle
    browser.click("#print-sheet")
    browser.until(lambda: len(browser.driver.window_handles) == 2)
    (other,) = set(browser.driver.window_handles) - {first}
    browser.driver.switch_to.window(other)
    browser.until(lambda: len(browser.driver.find_elements(By.CSS_SELECTOR, ".sheet svg")) == len(links))
    assert all(link in browser.text(".sheet") for link in links)
    assert pages_of(browser) == 1
    browser.driver.close()
    browser.driver.switch_to.window(first)


def vote_by_touch(browser: Browser, study: Study, eve: Judge) -> None:
    """Eve walks with her phone: she reports an empty table, and cannot judge a project she works with."""
    assert browser.text("#who") == "You vote as Eve"
    for given in range(3):
        position, *names = browser.question()
        assert browser.text("#choice-1 .place").startswith("table ")
        touch(browser, f"#choice-{names.index(eve.prefers(position, names)) + 1}")
        browser.until(lambda n=given: len(votes(study)) > n)
    assert eve.prefers(*votes_of(study, "Eve")[-1]) == votes(study)[-1][1][0][0]
    gone = browser.question()[1]
    touch(browser, "#choice-1 ~ .beside .link-like")
    browser.until(lambda: browser.find("#wrong").is_displayed())
    touch(browser, "#wrong [value=absent]")
    browser.until(lambda: [report.candidate for report in study.reports()] == [gone])
    browser.picture("day-vote-phone")
    touch(browser, "#choice-1 ~ .beside .link-like")
    browser.until(lambda: browser.find("#wrong").is_displayed())
    touch(browser, "#wrong [value=conflict]")
    browser.until(lambda: "You will not be asked about" in browser.driver.switch_to.alert.text)
    browser.driver.switch_to.alert.accept()
    browser.until(lambda: study.voters()[0].conflicts == (gone,))
    assert gone not in browser.question()


def votes_of(study: Study, name: str) -> list[tuple[str, list[str]]]:
    """Return what somebody was asked and has answered, in order."""
    voter = next(voter.id for voter in study.voters() if voter.name == name)
    given = study.answers(voter=voter, limit=None)[::-1]
    return [(each.position, [name for group in each.answer for name in group]) for each in given]


def vote_by_keys(browser: Browser, study: Study, juergen: Judge) -> None:
    """Jürgen sits at a dark desk, in German: he skips a question, and the network is gone for a while."""
    assert browser.find("html").get_attribute("lang") == "de"
    assert browser.text("#who") == "Sie stimmen ab als Jürgen"
    browser.question()
    browser.press("s")
    browser.until(lambda: browser.find("#why button").is_displayed())
    browser.click("#why button")
    browser.until(lambda: any(entry.kind == "skipped" for entry in study.entries()))
    position, *names = browser.question()
    with offline(browser):
        browser.press(str(names.index(juergen.prefers(position, names)) + 1))
        browser.until(lambda: "auf diesem Gerät" in browser.text("#trouble"))
        assert not votes_of(study, "Jürgen")
    browser.until(lambda: len(votes_of(study, "Jürgen")) == 1)
    position, *names = browser.question()
    browser.click(f"#choice-{names.index(juergen.prefers(position, names)) + 1}")
    browser.until(lambda: len(votes_of(study, "Jürgen")) == 2)
    browser.question()
    browser.picture("day-vote-desk-dark")


def mend(browser: Browser, study: Study) -> None:
    """Solve what was reported, mend a typo that is in all voters' sight, and take in who came late."""
    assert "cannot be found" in browser.text("#reports")
    browser.click("#reports button")
    browser.until(lambda: not study.reports())
    browser.click("#to-candidates")
    browser.click("#candidates-2 summary")
    browser.find("#candidates-2 [name=title]").send_keys("Foxes" + Keys.ENTER)
    browser.until(lambda: browser.text("#candidates-2 .saved").startswith("Saved"))
    browser.click("#late summary")
    browser.find("#late-name").send_keys("Late birds" + Keys.ENTER)
    browser.until(lambda: ("Late birds", "Public") in study.problem.edges)
    browser.until(lambda: "Late birds" in browser.text("#candidates-9"))


def strike(browser: Browser, study: Study) -> None:
    """Strike who always took the left, after looking at what that changes."""
    zoe = study.voters()[-1]
    assert f"Takes the first of the two shown in {zoe.answers} of {zoe.answers} votes." in browser.text(
        "#live"
    )
    for _ in range(5):  # a server that is busy says so, and one looks again
        browser.click(f"[data-do='voters/{zoe.id}/strike']")
        browser.until(lambda: "Working out" not in browser.text("#preview-changes"), seconds=30)
        if "would" in (said := browser.text("#preview-changes")):
            break
        browser.click("#preview-no")
    assert f"{zoe.answers} votes would not count any more." in said
    assert "Who leads" in said
    assert "look at their votes" in browser.text("#marked")
    browser.picture("day-strike")
    browser.click("#preview-yes")
    browser.until(lambda: study.voters()[-1].struck)
    browser.until(lambda: browser.text("#struck") == str(zoe.answers))


@pytest.fixture
def http(place: tuple[str, Store]) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=place[0], trust_env=False, timeout=30) as client:
        yield client


def test_the_whole_day(
    browser: Browser, place: tuple[str, Store], http: httpx2.Client, downloads: Path, tmp_path: Path
) -> None:
    organiser, links = create(browser, tmp_path)
    print_sheet(browser, links)
    access = place[1].access(organiser.rpartition("/")[2])
    assert access is not None
    study = place[1].study(access.study)
    assert study.problem.capacity["Owls"] == 2
    assert [rule.at_most for rule in study.problem.rules] == [1]
    judges = [Judge(http, link, study.id, number) for number, link in enumerate(links)]
    with sitting_down(browser, links[0], "en", PHONE):
        vote_by_touch(browser, study, judges[0])
    with sitting_down(browser, links[1], "de-AT,de;q=0.9,en;q=0.5", DESK):
        vote_by_keys(browser, study, judges[1])
    with sitting_down(browser, organiser, "en", DESK):
        assert study.status().answers == 5  # those about the project that Eve works with do not count
        browser.until(lambda: browser.text("#votes") == str(len(votes(study))))
        judges[5].vote(15, left=True)
        for judge in judges[2:5]:
            judge.vote(5)
        browser.until(lambda: browser.text("#votes") == str(len(votes(study))))
        mend(browser, study)
        browser.go(f"/studies/{study.id}")
        strike(browser, study)
        while not study.status().done:
            for judge in judges[:5]:
                judge.vote(20)
        browser.until(lambda: browser.text("#headline") == "The result is in", seconds=30)
        browser.picture("day-dashboard")
        browser.click("[data-do='phase/close']")
        browser.click("#preview-yes")
        browser.until(lambda: browser.find("#standing").get_attribute("data-phase") == "closed")
        browser.click("[data-do=publish]")
        browser.until(lambda: study.status().published)
        browser.until(lambda: browser.text("[data-do=publish]").startswith("Hide"))
        browser.click("#to-result")
        browser.until(lambda: "Decided by this panel" in browser.text("#kind"))
        assert browser.text("tbody td strong") == "Owls"
        browser.picture("day-result")
        assert pages_of(browser) == 1
        (hash_,) = re.findall(r"--receipt ([0-9a-f]{64})", browser.text("main"))
        log = downloads / "Science-day.jsonl"
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Log").click()
        browser.until(lambda: log.exists() and log.stat().st_size)
    checked = CliRunner().invoke(main, ["verify", str(log), "--receipt", hash_])
    assert checked.exit_code == 0, checked.output
    assert "'published'" in checked.output
    assert "They agree." in checked.output
    with sitting_down(browser, links[1], "de", DESK):
        browser.until(lambda: "beendet" in browser.text("#end-title"))
        assert "Die Jury hat entschieden." in browser.text("#result")
        assert browser.text("#result tbody td") == "Owls"
        browser.picture("day-voter-result")
