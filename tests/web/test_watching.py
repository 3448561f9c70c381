"""Watching and deciding in a real browser: standings with bars, hints, and a result that fits on a page."""

from __future__ import annotations

import base64
import re

import httpx2
import pytest

import duelmatch as dm
from duelmatch.studies import Question, Settings, Store, Study, export_log
from duelmatch.verify import verify
from web.browsing import PHONE, Browser

DAY = dm.Problem.complete([f"Project {name}" for name in "ABCDE"], ["Best idea", "Best talk", "Best demo"])


@pytest.fixture
def day(place: tuple[str, Store]) -> Study:
    """Give a panel that has voted, and is not decided; one judge has always taken the first.

    Who is asked what depends on the voters' ids. In one of six such panels the leader may change before
    anything is settled, and nothing can be said about what decides the rest: then it is another one.
    """
    return next(study for study in map(voted, [place[1]] * 20) if study.status().progress.needed)


def voted(store: Store) -> Study:
    judges = [f"Judge {number}" for number in range(1, 9)]
    study = store.create(DAY, Settings("panel", seed=3), "Science day", judges)
    for turn in range(15):
        for number, voter in enumerate(study.voters()):
            if turn > 6 and number:
                break
            question = study.ask(voter.id)
            if isinstance(question, Question):
                first = question.candidates[0] if number == 0 else min(question.candidates)
                study.tell(voter.id, question.number, first)
    return study


@pytest.mark.usefixtures("whole_simulations")
def test_a_jury_sees_who_leads_how_sure_that_is_and_what_is_left(browser: Browser, day: Study) -> None:
    browser.go(f"/l/{day.new_link('organiser')}")
    browser.until(lambda: browser.text(".contenders"), seconds=90)
    for pattern in (
        r"Votes still needed\n[\d,]+ to [\d,]+",
        r"These \d+ answers would settle the rest if they favour the leader",
    ):
        browser.until(lambda pattern=pattern: re.search(pattern, browser.text("#live")), seconds=60)
    said = browser.text("#live")
    assert "The bars are an estimate from all" in said
    assert "with a probability of" in said
    assert "Takes the first of the two shown in" in said
    assert not re.search(r"\b0\.0%", said)
    browser.picture("standings-desk")
    browser.check()
    browser.size(PHONE, dark=True)
    browser.picture("standings-phone-dark")
    browser.check()


def test_the_result_always_has_an_answer_prints_on_one_page_and_can_be_checked(
    browser: Browser, day: Study, place: tuple[str, Store]
) -> None:
    token = day.new_link("organiser")
    browser.go(f"/l/{token}")
    browser.until(lambda: browser.text(".contenders"), seconds=90)
    browser.go(f"/studies/{day.id}/result")
    assert "Leading by estimate" in browser.text("#kind")
    assert browser.text("tbody td strong").startswith("Project ")
    browser.picture("result-estimate-desk")
    browser.check()
    paper = {"paperWidth": 8.27, "paperHeight": 11.69}
    printed = base64.b64decode(browser.driver.execute_cdp_cmd("Page.printToPDF", paper)["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    (hash_,) = re.findall(r"--receipt ([0-9a-f]{64})", browser.text("main"))
    report = verify(export_log(day).splitlines(), receipts=[hash_])
    assert report.damage is None
    assert report.receipts[0].entry is not None
    names = set()
    with httpx2.Client(base_url=place[0], trust_env=False) as client:
        for layout in ("csv", "table", "log"):
            answer = client.get(
                f"/api/v1/studies/{day.id}/export?format={layout}",
                headers={"Authorization": f"Bearer {token}"},
            )
            names.add(answer.headers["content-disposition"])
    assert len(names) == 3
    day.close()
    browser.go(f"/studies/{day.id}/result")
    browser.until(lambda: "it was not decided" in browser.text("#kind"))
