"""Nothing on any page keeps people out: axe-core finds no barrier, light and dark, on phones and on desks."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Callable
from typing import Any

import pytest

import duelmatch as dm
from duelmatch.problem import Details
from duelmatch.studies import Question, Settings, Store, Study
from web.browsing import DESK, PHONE, Browser

AXE = (importlib.resources.files("selenium_axe_python") / "axe-core" / "axe.min.js").read_text(
    encoding="utf-8"
)
RUN = """
const done = arguments[arguments.length - 1];
const part = ({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`;
const told = ({ id, nodes }) => [id, nodes.map(part)];
axe.run(document, { ...arguments[0], resultTypes: ["violations"] }).then(
  ({ violations }) => done(violations.map(told)),
  (error) => done([["axe", [String(error)]]]),
);
"""
"""Which rules are broken, and by what."""


LONG = "Wilhelmina Featherstonehaugh-Cholmondeley"
"""A name that does not fit on a button in one line."""


@pytest.fixture(scope="module")
def lived(place: tuple[str, Store]) -> Study:
    """Give a study that has seen some of everything."""
    problem = dm.Problem.complete(["Owls", "Foxes", "Bears", "Hares"], ["Design", "Code"])
    details = {
        "Owls": Details(title="The Owls", text="A lamp.", place="table 12", link="https://example.org")
    }
    problem = dm.Problem(problem.candidates, problem.positions, problem.edges, details)
    study = place[1].create(problem, Settings("panel"), "Hack day", ["Eve", "Ned", "Zoe", "Ada", "Bea", LONG])
    eve, ned, zoe, *_ = (voter.id for voter in study.voters())
    for voter in (eve, ned, eve, ned, zoe):
        question = study.ask(voter)
        assert isinstance(question, Question)
        study.tell(voter, question.number, question.candidates[0])
    study.correct(1, None)
    study.strike(zoe)
    study.drop("Hares")
    return study


def opened(browser: Browser, place: tuple[str, Store], study: Study) -> dict[str, Callable[[], None]]:
    """Return how to get to every page, and to what it shows only when it is asked to."""
    organiser, (eve, *_) = study.new_link("organiser"), study.voters()
    at = f"/studies/{study.id}"

    def as_organiser(path: str) -> None:
        browser.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        browser.go(f"/l/{organiser}")
        browser.go(path)

    def new() -> None:
        browser.go("/new")
        browser.click("#rules-part summary")
        browser.click("#add-rule")
        browser.find("#candidate-1").send_keys("Ann")
        browser.find("#candidate-2").send_keys("Ann")
        browser.click("button[type=submit]")
        browser.until(lambda: browser.find("#candidate-2-error").is_displayed())

    def more() -> None:
        browser.go("/new")
        browser.click("[aria-label='More about candidate 1']")
        browser.until(lambda: browser.find("#more").is_displayed())

    def created() -> None:
        browser.go("/new")
        browser.find("#name").send_keys("Prizes")
        browser.click("#paste-part summary")
        browser.find("#paste").send_keys("candidates:\nAnn\nBob\npositions:\nFirst")
        browser.click("#read")
        browser.until(lambda: browser.find("#candidate-2").get_attribute("value") == "Bob")
        browser.find("#judges").send_keys("Eve\nNed")
        browser.click("button[type=submit]")
        browser.until(lambda: browser.find("#made").is_displayed())

    def sheet() -> None:
        created()
        browser.driver.execute_script("document.getElementById('made-form').target = '_self'")
        browser.click("#print-sheet")
        browser.until(lambda: browser.find(".sheet svg").is_displayed())

    def judges() -> None:
        as_organiser(f"{at}/judges")
        browser.click(".people summary")
        browser.driver.execute_script("document.querySelector('.people li:last-child details').open = true")

    def candidates() -> None:
        as_organiser(f"{at}/candidates")
        browser.click("#candidates-1 summary")
        browser.click("#late summary")

    def vote() -> None:
        browser.go(f"/l/{study.new_link('voter', eve.id)}")
        browser.question()

    def skipping() -> None:
        vote()
        browser.press("s")
        browser.until(lambda: browser.find("#why").is_displayed())

    def reporting() -> None:
        vote()
        browser.click(".card .link-like")
        browser.until(lambda: browser.find("#wrong").is_displayed())

    def ranking() -> None:
        settings = Settings("panel", parameters={"question_size": 4})
        ranked = place[1].create(study.problem, settings, "Ranked", ["Eve"])
        browser.go(f"/l/{ranked.new_link('voter', ranked.voters()[0].id)}")
        browser.question()
        browser.press("2")
        browser.until(lambda: browser.find("#ranked li").is_displayed())

    def somebody_else() -> None:
        vote()
        browser.go(f"/l/{study.new_link('voter', study.voters()[3].id)}")
        browser.until(lambda: browser.find("form[method=post]").is_displayed())

    def ended() -> None:
        ned = next(voter for voter in study.voters() if voter.name == "Ned")
        study.leave(ned.id)
        browser.go(f"/l/{study.new_link('voter', ned.id)}")
        browser.until(lambda: browser.text("#end-title"))

    def published() -> None:
        closed = place[1].create(study.problem, Settings("panel"), "Closed", ["Eve"])
        closed.close()
        closed.publish()
        browser.go(f"/l/{closed.new_link('voter', closed.voters()[0].id)}")
        browser.until(lambda: browser.find("#result").is_displayed())

    def joining() -> None:
        browser.go(f"/l/{study.new_link('open', judges=True)}")
        browser.until(lambda: browser.find("#begin").is_displayed())

    return {
        "home": lambda: browser.go("/"),
        "privacy": lambda: browser.go("/privacy"),
        "refusal": lambda: browser.go("/l/nonsense"),
        "new": new,
        "more": more,
        "created": created,
        "sheet": sheet,
        "vote": vote,
        "skipping": skipping,
        "reporting": reporting,
        "ranking": ranking,
        "somebody else": somebody_else,
        "ended": ended,
        "published": published,
        "joining": joining,
        "dashboard": lambda: as_organiser(at),
        "answers": lambda: as_organiser(f"{at}/answers"),
        "result": lambda: as_organiser(f"{at}/result"),
        "judges": judges,
        "candidates": candidates,
    }


def barriers(browser: Browser, dark: bool = False) -> list[Any]:
    """Return what axe-core complains about on the page as it is; in the dark only colours differ."""
    if not browser.driver.execute_script("return 'axe' in window"):
        browser.driver.execute_script(AXE)
    options = {"runOnly": ["color-contrast"]} if dark else {}
    found: list[Any] = browser.driver.execute_async_script(RUN, options)
    return found


PAGES = [
    "home",
    "privacy",
    "refusal",
    "new",
    "more",
    "created",
    "sheet",
    "vote",
    "ended",
    "joining",
    "published",
]
PAGES += [
    "skipping",
    "reporting",
    "ranking",
    "somebody else",
    "dashboard",
    "answers",
    "result",
    "judges",
    "candidates",
]


NARROW = (320, 640)
"""A desk's browser at 400%, which WCAG asks for (1.4.10), and the narrowest phones."""

CUT_OFF = """
const sees = (element) => { // what scrolls may be wider than the window
  const box = element.closest(".scroll");
  return box ? Infinity : document.documentElement.clientWidth;
};
return [...document.querySelectorAll("button, .button")]
  .filter((each) => each.checkVisibility())
  .filter((each) => each.getBoundingClientRect().right > sees(each) || each.scrollWidth > each.clientWidth)
  .map((each) => `${each.textContent.trim()} ${each.getBoundingClientRect().right}`);
"""


def test_axe_finds_a_barrier_where_there_is_one(browser: Browser) -> None:
    browser.go("/privacy")
    browser.driver.execute_script("document.querySelector('main').append(document.createElement('input'))")
    assert [rule for rule, _ in barriers(browser)] == ["label"]


@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_no_barrier_and_no_button_is_cut_off(
    browser: Browser, place: tuple[str, Store], lived: Study, page: str
) -> None:
    browser.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
    opened(browser, place, lived)[page]()
    for size, dark in ((DESK, False), (DESK, True), (PHONE, False), (PHONE, True)):
        browser.size(size, dark)
        found = barriers(browser, dark)
        browser.picture(f"{page}-{'phone' if size == PHONE else 'desk'}{'-dark' if dark else ''}")
        assert not found, json.dumps(found, indent=1)
        browser.check()
    browser.size(NARROW)
    browser.picture(f"{page}-narrow")
    assert browser.driver.execute_script(CUT_OFF) == []
    browser.check()
