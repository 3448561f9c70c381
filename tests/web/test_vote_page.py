"""The voter's page in a real browser: by mouse, touch and keyboard, offline, and in several languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import duelmatch as dm
from duelmatch.studies import Question, Settings, Store, Study
from web.browsing import HOSTILE, PHONE, Browser, chromium, votes


@pytest.fixture
def study(shown_study: Study) -> Study:
    return shown_study


def heard(browser: Browser) -> str:
    """Return what a screen reader was told last, without the marks around names."""
    said = browser.find("#status").get_attribute("textContent")
    return re.sub("[\u2068\u2069]", "", said)


def test_votes_by_mouse_and_keyboard(browser: Browser, study: Study) -> None:
    voter = study.add_voter("Eve")
    browser.go(f"/l/{study.new_link('voter', voter)}")
    for how in ("mouse 1", "mouse 2", "1", "2"):
        position, *shown = browser.question()
        at = "Chair" if position.startswith("Chair") else "Editor"
        before = len(votes(study))
        if how.startswith("mouse"):
            browser.click(f"#choice-{how[-1]}")
        else:
            browser.press(how)
        names = [{"Cyd the careful": "Cyd"}.get(name, name) for name in shown]
        won, lost = names if how.endswith("1") else names[::-1]
        browser.until(lambda n=before: len(votes(study)) > n)
        assert votes(study)[-1] == (at, ((won,), (lost,)))
    browser.until(lambda: browser.text("#count").startswith("Question 5 of about "))
    assert browser.text("#who") == "You vote as Eve"
    browser.picture("vote-desk")
    browser.check()
    browser.size(PHONE)
    browser.picture("vote-phone")
    browser.check()
    browser.size(PHONE, dark=True)
    browser.picture("vote-phone-dark")


def test_undo_skip_reload_and_double_click(browser: Browser, study: Study) -> None:
    voter = study.add_voter()
    browser.go(f"/l/{study.new_link('voter', voter)}")
    shown = browser.question()
    browser.driver.refresh()
    assert browser.question() == shown, "a reload shows the same question"
    ActionChains(browser.driver).double_click(browser.find("#choice-1")).perform()
    browser.question()
    assert len(votes(study)) == 1, "a double click is one vote"
    browser.press("u")
    browser.until(lambda: not votes(study))
    assert browser.question() == shown, "undo shows the question again"
    browser.press("s")
    browser.until(lambda: browser.find("#why").is_displayed())
    browser.picture("skip-desk")
    browser.press(Keys.ESCAPE)
    assert browser.question() == shown
    browser.press("s")
    browser.until(lambda: browser.find("#why button").is_displayed())
    browser.click("#why button")
    browser.until(lambda: any(entry.kind == "skipped" for entry in study.entries()))
    browser.question()
    assert votes(study) == []
    browser.press("t")
    browser.until(lambda: len(votes(study)) == 1)
    ((_, answer),) = votes(study)
    assert len(answer) == 1, "no difference"
    browser.check()


def test_another_tab_and_a_candidate_who_withdrew(browser: Browser, study: Study) -> None:
    voter = study.add_voter()
    browser.go(f"/l/{study.new_link('voter', voter)}")
    _, first, second = browser.question()
    question = study.ask(voter)
    assert isinstance(question, Question)
    study.tell(voter, question.number, question.candidates[0])
    browser.press("2")
    browser.until(lambda: browser.text("#count").startswith("Question 2 of about "))
    assert f"Kept: {first} > {second}." in heard(browser), "the first answer is kept"
    _, gone, _ = browser.question()
    names = {"Cyd the careful": "Cyd"}
    study.drop(names.get(gone, gone))
    browser.press("1")
    browser.until(lambda: gone not in browser.question())
    assert "the next one" in browser.text("#trouble"), "the answer tells nothing now"
    browser.press("1")
    browser.until(lambda: browser.text("#count").startswith("Question 3 of about "))
    assert not browser.find("#trouble").is_displayed()


def test_only_safe_links_are_links(browser: Browser, study: Study) -> None:
    voter = study.add_voter()
    browser.go(f"/l/{study.new_link('voter', voter)}")
    seen: dict[str, str | None] = {}
    for _ in range(12):
        for number, name in enumerate(browser.question()[1:], start=1):
            more = browser.driver.find_elements(By.CSS_SELECTOR, f"#choice-{number} ~ .beside .more")
            seen[name] = more[0].get_attribute("href") if more else None
        if len(seen) == 3:
            break
        before = len(votes(study))
        browser.press("1")
        browser.until(lambda n=before: len(votes(study)) > n)
    assert seen["Ann"] == "https://example.org/ann"
    assert seen["Cyd the careful"] is None
    assert HOSTILE in seen
    browser.check()


def test_two_voters_at_once(browser: Browser, study: Study, tmp_path: Path) -> None:
    """In two browsers, each with a question open while the other votes."""
    with chromium(tmp_path) as driver:
        both = (browser, Browser(driver, browser.address))
        for each, name in zip(both, ("Eve", "Flo"), strict=True):
            each.go(f"/l/{study.new_link('voter', study.add_voter(name))}")
        for _ in range(3):
            shown = [each.question() for each in both]
            for each in both:
                each.press("1")
            for each, before in zip(both, shown, strict=True):
                kept = f"Kept: {before[1]} > {before[2]}."
                each.until(lambda it=each, text=kept: text in heard(it))
        for each in both:
            each.until(lambda it=each: it.text("#count").startswith("Question 4 of about "))
            each.check()
    assert [voter.answers for voter in study.voters()] == [0, 0, 3, 3]
    owner = {entry.data["question"]: entry.voter for entry in study.entries() if entry.kind == "asked"}
    for entry in study.entries():
        assert entry.kind != "answered" or owner[entry.data["question"]] == entry.voter


def test_a_judge_is_told_what_is_still_needed(browser: Browser, place: tuple[str, Store]) -> None:
    best = {"Chair": "Bob", "Editor": "Ann"}
    team = dm.Problem.complete(["Ann", "Bob", "Cyd"], list(best))
    study = place[1].create(team, Settings("panel"), "Team", ["Eve", "Flo", "Gil"])
    eve, *others = (voter.id for voter in study.voters())
    browser.go(f"/l/{study.new_link('voter', eve)}")
    browser.question()
    assert re.fullmatch("Question 1 of about [0-9]+", browser.until(lambda: browser.text("#count")))
    for voter in [eve, *others] * 20:
        question = study.ask(voter)
        if isinstance(question, Question):
            liked = best[question.position]
            study.tell(
                voter, question.number, liked if liked in question.candidates else min(question.candidates)
            )
    browser.driver.refresh()
    browser.until(lambda: "the result is clear" in browser.text("#end-title"))
    browser.until(lambda: browser.text("#count").startswith("You have answered "))


def test_a_voter_of_a_crowd_sees_how_long_the_ballot_is(browser: Browser, place: tuple[str, Store]) -> None:
    team = dm.Problem.complete(["Ann", "Bob", "Cyd"], ["Chair", "Editor"])
    study = place[1].create(team, Settings("condorcet", seed=0), "Team")
    browser.go(f"/l/{study.new_link('voter', study.add_voter())}")
    for place_on_ballot in range(1, 5):
        browser.question()
        browser.until(lambda n=place_on_ballot: browser.text("#count") == f"Question {n} of 4")
        browser.press("1")
    browser.until(lambda: "all that you are asked" in browser.text("#end-title"))
