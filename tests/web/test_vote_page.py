"""The voter's page in a real browser: by mouse, touch and keyboard, offline, and in several languages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

import duelmatch as dm
from duelmatch.problem import Details
from duelmatch.studies import Question, Settings, Store, Study
from web.browsing import HOSTILE, PHONE, Browser, chromium, offline, votes


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
    # the next question may be others' to answer
    counted = "Question 5 of about [0-9]+|You have answered 4 questions"
    browser.until(lambda: re.fullmatch(counted, browser.text("#count")))
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
    browser.question()
    browser.press("s")
    browser.until(lambda: browser.find("#why button").is_displayed())
    browser.click("#why button")
    browser.until(lambda: "Skipped." in heard(browser))
    browser.question()
    browser.press("u")
    browser.until(lambda: "skipped question does not come back" in browser.driver.switch_to.alert.text)
    browser.driver.switch_to.alert.dismiss()
    assert len(votes(study)) == 1
    study.strike(voter)
    browser.press("u")
    browser.driver.switch_to.alert.accept()
    browser.until(
        lambda: (
            browser.text("#trouble") == "The organiser has struck out your votes. You are asked nothing more."
        )
    )


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
    assert "Your earlier answer stays" in browser.text("#trouble"), "nobody believes that the second one is"
    _, gone, _ = browser.question()
    names = {"Cyd the careful": "Cyd"}
    study.drop(names.get(gone, gone))
    browser.press("1")
    browser.until(lambda: gone not in browser.question())
    assert "the next one" in browser.text("#trouble"), "the answer tells nothing now"
    browser.press("1")
    browser.until(lambda: browser.text("#count").startswith("Question 3 of about "))
    assert not browser.find("#trouble").is_displayed()


def test_a_result_reaches_a_page_that_is_open_and_leaves_it(browser: Browser, study: Study) -> None:
    browser.go(f"/l/{study.new_link('voter', study.voters()[0].id)}")
    browser.question()
    browser.press("1")
    browser.until(lambda: votes(study))
    study.close()
    browser.question()
    browser.press("1")
    browser.until(lambda: browser.text("#end-title") == "Voting is closed")
    for shown in (True, False):
        study.publish(shown)
        browser.driver.execute_script("document.dispatchEvent(new Event('visibilitychange'))")
        browser.until(lambda there=shown: bool(browser.driver.find_elements(By.ID, "result")) == there)
        browser.until(lambda there=shown: ("If the organiser shows" in browser.text("#end-text")) != there)
        assert browser.text("#end-text").startswith("Thank you for taking part!")
    browser.check()


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


def test_the_page_of_a_secret_ballot_does_not_show_what_was_answered(
    browser: Browser, place: tuple[str, Store]
) -> None:
    team = dm.Problem.complete(["Ann", "Bob", "Cyd"], ["Chair", "Editor"])
    study = place[1].create(team, Settings("panel", secret=True), "Team", ["Eve", "Flo"])
    eve = study.voters()[0].id
    browser.go(f"/l/{study.new_link('voter', eve)}")
    browser.question()
    assert browser.text("#count") == "", "nobody is told how many"
    assert not browser.find("#undo").is_enabled()
    browser.press("1")
    browser.until(lambda: study.answers_by(eve) == 1)
    browser.until(lambda: "Kept: " in heard(browser))
    browser.driver.refresh()
    browser.question()
    assert browser.text("#count") == ""
    assert browser.find("#undo").is_enabled()
    question = study.ask(eve)  # and in another tab
    assert isinstance(question, Question)
    study.tell(eve, question.number, question.candidates[0])
    browser.press("2")
    browser.until(lambda: "as the ballot is secret it is not shown" in browser.text("#trouble"))
    browser.press("u")
    browser.until(lambda: study.answers_by(eve) == 1)
    browser.check()


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
        browser.until(lambda n=place_on_ballot: browser.text("#count") == f"Question {n} of 4")
        browser.question()
        browser.press("1")
    browser.until(lambda: "That’s everything" in browser.text("#end-title"))


# Offline.


def test_an_answer_outlasts_a_lost_connection_and_a_closed_page(browser: Browser, study: Study) -> None:
    voter, names = study.add_voter("Eve"), {"Cyd the careful": "Cyd"}
    browser.go(f"/l/{study.new_link('voter', voter)}")
    _, first, second = browser.question()
    with offline(browser):
        browser.press("1")
        browser.until(lambda: "kept on this device" in browser.text("#trouble"))
    browser.until(lambda: f"Kept: {first} > {second}." in heard(browser))
    browser.question()
    assert not browser.find("#trouble").is_displayed()
    assert len(votes(study)) == 1
    _, first, second = browser.question()
    with offline(browser):
        browser.press("2")
        browser.until(lambda: "kept on this device" in browser.text("#trouble"))
        browser.driver.get("about:blank")
    browser.go(f"/studies/{study.id}/vote")
    browser.question()
    won, lost = (names.get(title, title) for title in (second, first))
    assert votes(study)[1][1] == ((won,), (lost,))
    assert browser.driver.execute_script("return localStorage.length") == 0
    browser.driver.refresh()
    browser.question()
    assert len(votes(study)) == 2, "it is sent once, and not again"
    browser.until(lambda: browser.text("#count").startswith("Question 3 of about "))


def test_a_server_that_is_killed_in_the_middle_loses_and_doubles_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    url, titles = f"sqlite:///{tmp_path}/duels.db", {name: f"{name}!" for name in "ABCDEFG"}
    details = {name: Details(title=title) for name, title in titles.items()}
    edges = [(name, position) for name in titles for position in ("x", "y")]
    problem = dm.Problem(tuple(titles), ("x", "y"), tuple(edges), details)
    program = [sys.executable, str(Path(__file__).with_name("serving.py")), url, "1"]
    with (
        Store(url) as store,
        subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        study = store.create(problem, Settings("panel", parameters={"consistent": False}), "Kills", ["Eve"])
        port = server.stdout.readline().decode().strip()
        browser.driver.get(f"http://127.0.0.1:{port}/l/{study.new_link('voter', study.voters()[0].id)}")
        chosen = []
        for turn in range(8):  # nothing is decided by so few
            position, *shown = browser.question()
            script = "setTimeout(() => document.getElementById(arguments[0]).click(), 10)"
            browser.driver.execute_script(script, f"choice-{1 + turn % 2}")
            server.stdin.write(b"k")
            server.stdin.flush()
            server.stdout.read(1)
            won, lost = (name[0] for name in (shown if turn % 2 == 0 else shown[::-1]))
            chosen.append((position, ((won,), (lost,))))
            browser.until(lambda: len(votes(study)) >= len(chosen))
            browser.until(lambda said=f"Kept: {titles[won]} > {titles[lost]}.": said in heard(browser))
        assert votes(study) == chosen
        server.stdin.close()


# Rankings, conflicts, problems.


def test_a_ranking_is_dragged_and_moved_by_keys(browser: Browser, place: tuple[str, Store]) -> None:
    settings = Settings("panel", parameters={"question_size": 4})
    study = place[1].create(dm.Problem.complete(list("ABCD"), ["x"]), settings, "Rank", ["Eve"])
    browser.go(f"/l/{study.new_link('voter', study.voters()[0].id)}")
    browser.size(PHONE)
    _, *names = browser.question()

    def order() -> list[str]:
        return [each.text for each in browser.driver.find_elements(By.CSS_SELECTOR, "#ranked .title")]

    def handle(name: str) -> WebElement:
        return browser.find(f"#ranked [data-name='{name}'] .handle")

    browser.press("123")
    browser.until(lambda: order() == names)
    assert browser.driver.switch_to.active_element.get_attribute("id") == "send"
    assert f"{names[2]} is now number 3 of 4. Your ranking is complete." in heard(browser)
    ActionChains(browser.driver).click_and_hold(handle(names[0])).move_by_offset(0, 60).move_by_offset(
        0, 60
    ).release().perform()
    browser.until(lambda: order() == [names[1], names[2], names[0], names[3]])
    assert f"{names[0]} is now number 3 of 4." in heard(browser)
    handle(names[3]).send_keys(Keys.ARROW_UP * 3)
    browser.until(lambda: order() == [names[3], names[1], names[2], names[0]])
    assert browser.driver.switch_to.active_element == handle(names[3]), "it stays in focus"
    assert f"{names[3]} is now number 1 of 4." in heard(browser)
    browser.click(f"#ranked [data-name='{names[2]}'] .level")
    assert heard(browser) == f"{names[2]} is level with {names[1]}."
    browser.click(f"#ranked [data-name='{names[0]}'] .out")
    browser.until(lambda: browser.find("#choice-1").is_displayed())
    assert not browser.find("#send").is_displayed()
    browser.press("1")
    browser.check()
    browser.click("#send")
    browser.until(lambda: votes(study))
    ((_, answer),) = votes(study)
    assert answer == ((names[3],), tuple(sorted(names[1:3])), (names[0],))


@pytest.mark.parametrize("algorithm", ["panel", "condorcet"])
def test_a_conflict_is_declared_once_and_a_problem_reaches_the_organiser(
    browser: Browser, place: tuple[str, Store], algorithm: str
) -> None:
    people = tuple("ABCDE")
    details = {"A": Details(title="Anna", place="table 12", link="https://example.org/a")}
    edges = [(name, position) for name in people for position in ("x", "y")]
    problem = dm.Problem(people, ("x", "y"), tuple(edges), details)
    judges = ["Eve", "Ned"] if algorithm == "panel" else []
    study = place[1].create(problem, Settings(algorithm, seed=0), "Fair", judges)
    voter = study.voters()[0].id if judges else study.add_voter("Eve")
    browser.go(f"/l/{study.new_link('voter', voter)}")
    browser.size(PHONE)
    for _ in range(20):
        names = browser.question()[1:]
        if "Anna" in names:
            break
        browser.press("1")
    number = names.index("Anna") + 1
    assert browser.text(f"#choice-{number} .place") == "table 12"
    browser.click(f"#choice-{number} ~ .beside .link-like")
    browser.until(lambda: browser.find("#wrong").is_displayed())
    browser.picture(f"wrong-phone-{algorithm}")
    browser.find("#wrong-text").send_keys("empty <b>table</b>")
    browser.click("#wrong [value=absent]")
    browser.until(study.reports)
    browser.press("s")
    browser.until(lambda: browser.find("#why").is_displayed())
    browser.click(f"#why [value='conflict {number - 1}']")
    browser.until(lambda: "You will not be asked about" in browser.driver.switch_to.alert.text)
    browser.driver.switch_to.alert.accept()
    browser.until(lambda: "A" in next(each for each in study.voters() if each.id == voter).conflicts)
    browser.until(lambda: "You will not be asked about Anna again." in heard(browser))
    for _ in range(20):
        browser.until(lambda: browser.find("#main").get_attribute("aria-busy") is None)
        if browser.find("#end").is_displayed():
            break
        assert "Anna" not in browser.question()
        browser.press("1")
    browser.size((1280, 900))
    browser.go(f"/l/{study.new_link('organiser')}")
    assert "Anna: cannot be found (“empty <b>table</b>”)" in browser.text("#reports")
    browser.picture(f"reports-desk-{algorithm}")
    browser.check()
    browser.click("#reports button")
    browser.until(lambda: not study.reports())
    browser.until(lambda: not browser.driver.find_elements(By.ID, "reports"))


# Languages.


def test_the_page_speaks_the_voters_language(browser: Browser, place: tuple[str, Store]) -> None:
    names = {"a": "אורי בן־דוד", "b": "李小龙", "c": "Zoë"}
    details = {name: Details(title=title, place="Tisch 4") for name, title in names.items()}
    problem = dm.Problem(tuple(names), ("x",), tuple((name, "x") for name in names), details)
    study = place[1].create(problem, Settings("panel"), "בחירות", ["מאיה"])
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.driver.execute_cdp_cmd(
        "Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": "de-AT,de"}}
    )
    try:
        browser.go(f"/l/{study.new_link('voter', study.voters()[0].id)}")
        browser.size(PHONE)
        shown = browser.question()
        assert browser.find("html").get_attribute("lang") == "de"
        assert browser.text("#who").startswith("Sie stimmen ab als")
        assert browser.text("#count") == "Frage 1 von etwa 2"
        browser.picture("vote-phone-de")
        browser.press("1")
        browser.until(lambda: f"Notiert: {shown[1]} > {shown[2]}." in heard(browser))
        browser.check()
        browser.driver.find_element(By.LINK_TEXT, "Français").click()
        browser.until(lambda: browser.find("html").get_attribute("lang") == "fr")
        browser.size((1280, 900))
        browser.question()
        assert browser.text("#count") == "Question 2 sur environ 2"
        browser.driver.refresh()
        browser.question()
        assert "Passer" in browser.text("#skip"), "the language that was chosen is remembered"
        browser.press("s")
        browser.until(lambda: browser.find("#why").is_displayed())
        browser.picture("skip-desk-fr")
        browser.press(Keys.ESCAPE)
        browser.check()
    finally:
        browser.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {}})


def test_nothing_looks_chosen_after_a_tap(browser: Browser, study: Study) -> None:
    """A phone leaves the last thing that was tapped in its hover state: only what can hover may show one."""
    browser.go(f"/l/{study.new_link('voter', study.voters()[0].id)}")
    script = """const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
        const about = rules.filter((rule) => rule.cssText.includes(".choose:hover"));
        return about.map((rule) => rule.conditionText || "always");"""
    assert browser.driver.execute_script(script) == ["(hover: hover)"]
