"""The pages in a real browser: begin a study, vote by mouse and keyboard, watch, close, export."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import duelmatch as dm
from duelmatch.studies import Question, Settings, Store, Study, export_log
from duelmatch.verify import verify
from web.browsing import DESK, HOSTILE, PHONE, Browser, votes


@pytest.fixture
def study(shown_study: Study) -> Study:
    return shown_study


def test_a_study_is_begun_shared_and_voted_in(browser: Browser, place: tuple[str, Store]) -> None:
    browser.go("/")
    browser.picture("home-desk")
    browser.click("a.primary")
    browser.find("#name").send_keys("Festival")
    browser.click("details summary")
    browser.find("#paste").send_keys(f"candidates:\nAnn\nBob\n{HOSTILE}\npositions:\nChair\nEditor")
    browser.click("#read")
    browser.until(lambda: browser.find("tbody tr:nth-child(3) input").get_attribute("value") == HOSTILE)
    browser.click("tbody tr:nth-child(2) td:nth-child(3) input")
    assert browser.find("#judges").is_displayed(), "named voters decide, unless told otherwise"
    browser.click("input[name=who][value=crowd]")
    assert not browser.find("#judges").is_displayed()
    assert not browser.find("#until-part").is_displayed()
    browser.until(lambda: "not a promise" in browser.text("#expected"), seconds=90)
    browser.click("#secret")
    browser.picture("new-desk")
    browser.check()
    browser.click("button[type=submit]")
    browser.until(lambda: browser.find("#done").is_displayed())
    link = browser.find("#organiser-link").get_attribute("value")
    browser.click("#go")
    browser.until(lambda: "/studies/" in browser.driver.current_url)
    assert link.rsplit("/", 1)[1] not in browser.driver.current_url
    assert browser.driver.execute_script("return document.cookie") == ""
    study = place[1].study(browser.driver.current_url.rsplit("/", 1)[1])
    assert (study.settings.algorithm, study.settings.secret) == ("condorcet", True)
    assert study.problem.edges == (
        ("Ann", "Chair"),
        ("Bob", "Chair"),
        (HOSTILE, "Chair"),
        ("Ann", "Editor"),
        (HOSTILE, "Editor"),
    )
    browser.click("#open-link")
    browser.until(lambda: browser.find("#qr svg").is_displayed())
    shared = browser.find("#link-text").get_attribute("value")
    browser.picture("dashboard-new-desk")
    browser.check()
    browser.driver.get(shared)
    browser.size(PHONE)
    browser.until(lambda: browser.find("#begin").is_displayed())
    browser.picture("join-phone")
    browser.click("#begin")
    browser.question()
    browser.driver.get(shared)
    browser.question()
    assert len(study.voters()) == 1, "one voter per browser"
    browser.check()


def test_a_panel_is_created_with_a_link_for_each_judge(browser: Browser, place: tuple[str, Store]) -> None:
    browser.go("/new")
    browser.find("#name").send_keys("Prizes")
    browser.click("details summary")
    browser.find("#paste").send_keys("candidates:\nAnn\nBob\nCyd\nDan\npositions:\nFirst")
    browser.click("#read")
    browser.until(lambda: browser.find("tbody tr:nth-child(4) input").get_attribute("value") == "Dan")
    browser.find("#judges").send_keys("Eve\nNed\n\nEve")
    browser.until(lambda: "'Eve' is already in line 1" in browser.text("#judges-error"))
    for _ in range(3):
        browser.press(Keys.BACKSPACE)
    browser.until(lambda: not browser.find("#judges-error").is_displayed())
    browser.find("#size").send_keys("four")
    browser.click("#walking")
    browser.click("input[name=until][value=decided]")
    browser.click("button[type=submit]")
    browser.until(lambda: browser.find("#made").is_displayed())
    links = browser.driver.find_elements(By.CSS_SELECTOR, "#made-rows input")
    addresses = [link.get_attribute("value") for link in links]
    assert len(addresses) == 2
    browser.picture("created-desk")
    browser.check()
    access = place[1].access(addresses[0].rsplit("/", 1)[1])
    assert access is not None
    study = place[1].study(access.study)
    parameters = study.settings.parameters
    chosen = [parameters[name] for name in ("question_size", "until", "walking")]
    assert (study.settings.algorithm, chosen) == ("panel", [4, "decided", True])
    browser.driver.get(addresses[0])
    _, *names = browser.question()
    assert sorted(names) == ["Ann", "Bob", "Cyd", "Dan"]
    browser.press("2")  # the second is best
    browser.until(lambda: ranked(browser) == [f"1 {names[1]}"])
    browser.press("r")
    browser.until(lambda: ranked(browser) == [])
    for choice in (3, 1, 2):
        browser.click(f"#choice-{choice}")
    order = [names[2], names[0], names[1], names[3]]  # the last place is clear
    assert ranked(browser) == [f"{place} {name}" for place, name in enumerate(order, start=1)]
    browser.click("#ranked li:nth-child(2) .level")
    browser.until(lambda: ranked(browser)[1] == f"=1 {names[0]}")
    browser.picture("ranking-desk")
    browser.check()
    browser.size(PHONE)
    browser.picture("ranking-phone")
    browser.check()
    browser.size(DESK)
    browser.click("#send")
    browser.until(lambda: votes(study))
    assert votes(study) == [("First", (tuple(sorted([names[0], names[2]])), (names[1],), (names[3],)))]
    browser.until(lambda: browser.text("#receipt").startswith("Receipt of your last vote: "))
    receipt = browser.text("#receipt").rpartition(" ")[2]
    assert verify(export_log(study).splitlines(), [receipt]).damage is None


def ranked(browser: Browser) -> list[str]:
    """Return the ranking in the making as it is shown."""
    items = browser.driver.find_elements(By.CSS_SELECTOR, "#ranked li")
    parts = [[item.find_element(By.CLASS_NAME, part).text for part in ("number", "title")] for item in items]
    return [" ".join(part) for part in parts]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("team.csv", "candidate,position\nann,chair\nbob,chair\n"),
        ("team.yaml", "candidates: [{name: ann, text: <i>x</i>}, bob]\npositions: [chair]\n"),
        ("team.json", '{"candidates": ["ann", "bob"], "positions": ["chair"]}'),
    ],
)
def test_a_file_fills_the_grid(browser: Browser, name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("candidates: [ann\n", encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    browser.go("/new")
    browser.find("#file").send_keys(str(tmp_path / "broken.yaml"))
    browser.until(lambda: "YAML is broken" in browser.text("#grid-error"))
    browser.find("#file").send_keys(str(tmp_path / name))
    browser.until(lambda: browser.find("tbody tr:nth-child(2) input").get_attribute("value") == "bob")
    assert browser.find("thead input").get_attribute("value") == "chair"
    assert not browser.find("#grid-error").is_displayed()
    browser.check()


SEATED = """
candidates: [{name: ann, capacity: 2}, bob, cyd, dee]
positions: [{name: chair, weight: 2}, {name: jury, seats: 2}]
rules: [{of: [ann, bob], at_most: 2}, {together: [cyd, dee]}]
"""


def test_a_study_with_seats_and_rules_from_its_file_to_its_result(
    browser: Browser, place: tuple[str, Store], tmp_path: Path
) -> None:
    (tmp_path / "club.yaml").write_text(SEATED, encoding="utf-8")
    browser.go("/new")
    browser.find("#name").send_keys("Club")
    browser.find("#file").send_keys(str(tmp_path / "club.yaml"))
    browser.until(lambda: "2 seats" in browser.text("#grid"))
    assert "up to 2 positions" in browser.text("#grid")
    assert "counts 2" in browser.text("#grid")
    browser.click("#rules-part summary")
    chosen = "#rules fieldset:nth-child(2) label:has(input:checked)"
    browser.until(
        lambda: (
            [label.text for label in browser.driver.find_elements(By.CSS_SELECTOR, chosen)] == ["cyd", "dee"]
        )
    )
    browser.find("#judges").send_keys("Eve")
    browser.picture("seated-desk")
    browser.check()
    browser.click("button[type=submit]")
    browser.until(lambda: browser.find("#made").is_displayed())
    voter = browser.find("#made-rows input").get_attribute("value")
    organiser = browser.find("#organiser-link").get_attribute("value")
    study = place[1].study(place[1].access(voter.rsplit("/", 1)[1]).study)
    browser.driver.get(voter)
    while not study.status().done:
        _, *names = browser.question()
        count = len(votes(study))
        browser.press(str(1 + names.index(min(names))))
        browser.until(lambda: len(votes(study)) > count)  # noqa: B023  it is called at once
    browser.driver.get(organiser)
    browser.until(lambda: "The result is in" in browser.text("#main"))
    assert "cyd, dee" in browser.text("#main")
    browser.picture("seated-result")
    browser.check()
    study.close()
    report = verify(export_log(study).splitlines())
    assert report.found is not None
    assert (report.damage, report.found.lineup) == (None, ("ann", ("cyd", "dee")))


def test_a_crowd_decides_about_seats_and_rules_from_their_file_to_the_result(
    browser: Browser, place: tuple[str, Store], tmp_path: Path
) -> None:
    """One voter votes on the page; the others, who are many, by the same study's transactions."""
    (tmp_path / "club.yaml").write_text(SEATED, encoding="utf-8")
    browser.go("/new")
    browser.find("#name").send_keys("Club")
    browser.find("#file").send_keys(str(tmp_path / "club.yaml"))
    browser.until(lambda: browser.driver.find_elements(By.CSS_SELECTOR, ".rule"))
    browser.click("input[name=who][value=crowd]")
    browser.click("button[type=submit]")
    browser.until(lambda: browser.find("#done").is_displayed())
    organiser = browser.find("#organiser-link").get_attribute("value")
    study = place[1].study(place[1].access(organiser.rsplit("/", 1)[1]).study)
    browser.go(f"/l/{study.new_link('voter', study.add_voter())}")
    browser.question()
    for given in range(int(browser.text("#count").rsplit(" ", 1)[1])):
        _, *names = browser.question()
        browser.press(str(1 + names.index(min(names))))
        browser.until(lambda n=given: len(votes(study)) > n)
    browser.until(lambda: "That’s everything" in browser.text("#end-title"))
    while not study.status().done:
        voter = study.add_voter()
        while isinstance(question := study.ask(voter), Question):
            study.tell(voter, question.number, min(question.candidates))
    browser.driver.get(organiser)
    browser.until(lambda: "The result is in" in browser.text("#main"))
    assert "cyd, dee" in browser.text("#main")
    study.close()
    report = verify(export_log(study).splitlines())
    assert report.found is not None
    assert (report.damage, report.found.lineup) == (None, ("ann", ("cyd", "dee")))


def test_the_dashboard_follows_and_changes_the_study(browser: Browser, study: Study) -> None:
    voters = [study.add_voter(name) for name in ("Eve", "Flo")]
    browser.go(f"/l/{study.new_link('organiser')}")
    assert browser.text("#votes") == "0"
    for voter in voters:
        study.tell(voter, study.ask(voter).number, None)  # type: ignore[union-attr]
    browser.until(lambda: browser.text("#votes") == "2")
    assert HOSTILE in browser.text("#live")
    assert "Cyd the careful" in browser.text("#live")
    assert "Chair of the meeting" in browser.text("#live")
    browser.picture("dashboard-desk")
    browser.check()
    browser.size(PHONE, dark=True)
    browser.check()
    browser.picture("dashboard-phone-dark")
    browser.size(DESK)
    browser.click(f"[data-do='voters/{voters[0]}/strike']")
    browser.until(lambda: "1 vote would not count any more." in browser.text("#preview-changes"))
    browser.click("#preview-no")
    assert study.status().counted == 2
    browser.click(f"[data-do='voters/{voters[0]}/strike']")
    browser.click("#preview-yes")
    browser.until(lambda: study.status().counted == 1)
    browser.until(lambda: browser.find(f"[data-do='voters/{voters[0]}/reinstate']").is_displayed())
    browser.until(lambda: browser.text("#votes") == "1")
    assert browser.text("#struck") == "1"
    browser.click(f"[data-do='voters/{voters[1]}/leave']")
    browser.click("#preview-yes")
    browser.until(lambda: study.voters()[-1].left)
    browser.until(lambda: browser.find(f"[data-do='voters/{voters[1]}/return']").is_displayed())
    for action, phase in (("pause", "paused"), ("resume", "open"), ("close", "closed"), ("reopen", "open")):
        browser.until(lambda do=action: browser.find(f"[data-do='phase/{do}']").is_displayed())
        browser.click(f"[data-do='phase/{action}']")
        if action == "close":
            browser.click("#preview-yes")
        browser.until(lambda now=phase: study.status().phase == now)
        browser.until(lambda now=phase: browser.find("#standing").get_attribute("data-phase") == now)
        news = browser.find("#news")  # what a screen reader is told
        browser.until(lambda said=news: said.get_attribute("textContent") == browser.text("#headline"))
    browser.driver.execute_script("document.querySelector('[data-do=drop][data-body*=Cyd]').focus()")
    study.add_voter("Gil")
    browser.until(lambda: "Gil" in browser.text("#live"))
    focused = "return document.activeElement.dataset.body || ''"
    assert "Cyd" in browser.driver.execute_script(focused), "the same button is still in focus"
    browser.click("[data-do=drop][data-body*=onerror]")
    browser.click("#preview-yes")
    browser.until(lambda: study.status().dropped == (HOSTILE,))
    browser.until(lambda: browser.find("#live s").is_displayed())
    for name in ("Ann", "Cyd"):  # then nobody is left for the editor
        browser.until(lambda who=name: browser.find(f"[data-do=drop][data-body*={who}]").is_displayed())
        browser.click(f"[data-do=drop][data-body*={name}]")
        browser.click("#preview-yes")
        browser.until(lambda who=name: who in study.status().dropped or browser.text("#trouble"))
    assert browser.text("#trouble")
    script = "return document.getElementById('trouble').getBoundingClientRect().top"
    assert 0 <= browser.driver.execute_script(script) < DESK[1], "a refusal is in sight"
    browser.check()


def test_a_vote_is_reversed_and_struck_out(browser: Browser, study: Study) -> None:
    voter = study.add_voter("Eve")
    question = study.ask(voter)
    assert isinstance(question, Question)
    one, other = question.candidates
    study.tell(voter, question.number, one)
    browser.go(f"/l/{study.new_link('organiser')}")
    browser.click(f"#answers-{voter}")
    browser.until(lambda: browser.text("h1") == "Votes of Eve")

    def change(word: str) -> None:
        browser.click(f"#answer-1 [aria-label^='{word}']")
        if word != "Let":
            browser.driver.switch_to.alert.accept()

    change("Reverse")
    browser.until(lambda: study.answers()[0].answer == ((other,), (one,)))
    title = {"Cyd": "Cyd the careful"}.get(other, other)
    browser.until(lambda: browser.find("#answer-1 strong").text.startswith(title))
    change("Strike")
    browser.until(lambda: study.status().counted == 0)
    browser.until(lambda: "does not count: struck out" in browser.text("#answer-1"))
    browser.picture("answers-desk")
    change("Let")
    browser.until(lambda: study.status().counted == 1)
    browser.until(lambda: "does not count" not in browser.text("#answer-1"))
    browser.size(PHONE)
    browser.check()


def test_links_are_shown_wherever_they_are_made(
    browser: Browser, study: Study, place: tuple[str, Store]
) -> None:
    """The panel for sharing is closed when there are votes, and a link is shown once only."""
    voter = study.add_voter("Eve")
    study.tell(voter, study.ask(voter).number, None)  # type: ignore[union-attr]
    browser.go(f"/l/{study.new_link('organiser')}")
    assert not browser.find("#link-text").is_displayed()
    browser.click(f"[data-do='voters/{voter}/link']")
    browser.until(lambda: browser.find("#qr svg").is_displayed())
    assert "Eve" in browser.text("#link-for")
    token = browser.find("#link-text").get_attribute("value").rsplit("/", 1)[1]
    assert place[1].access(token).voter == voter  # type: ignore[union-attr]
    browser.driver.refresh()
    browser.click("#duplicate")
    browser.driver.switch_to.alert.send_keys("Again")
    browser.driver.switch_to.alert.accept()
    browser.until(lambda: "of the copy" in browser.text("#link-for"))
    again = place[1].access(browser.find("#link-text").get_attribute("value").rsplit("/", 1)[1])
    assert again is not None
    assert place[1].study(again.study).name == "Again"
    assert not browser.find("#trouble").is_displayed()


def test_enter_in_the_grid_goes_on_and_begins_nothing(browser: Browser, place: tuple[str, Store]) -> None:
    before = len(place[1].studies())
    browser.go("/new")
    for selector, text in (("thead input", "Chair"), ("tbody input", "Ann")):
        browser.find(selector).send_keys(text + Keys.ENTER)
    for name in ("Bob", "Cyd", "Dee"):
        browser.press(name + Keys.ENTER)
    fields = browser.driver.find_elements(By.CSS_SELECTOR, "tbody td:first-child input")
    assert [field.get_attribute("value") for field in fields] == ["Ann", "Bob", "Cyd", "Dee", ""]
    assert len(place[1].studies()) == before


def test_without_scripts_a_page_says_what_it_needs(browser: Browser, study: Study) -> None:
    voter = study.add_voter()
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        for path in ("/new", f"/l/{study.new_link('organiser')}", f"/l/{study.new_link('voter', voter)}"):
            browser.go(path)
            assert "needs JavaScript" in browser.text("main .notice")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_closed_study_says_so_and_is_exported(browser: Browser, study: Study, downloads: Path) -> None:
    voter = study.add_voter("Eve")
    browser.go(f"/l/{study.new_link('voter', voter)}")
    browser.question()
    browser.press("1")
    browser.question()
    study.close()
    browser.driver.refresh()
    browser.until(lambda: "closed" in browser.text("#end-title"))
    browser.until(lambda: browser.text("#count") == "You have answered 1 question")
    browser.picture("closed-desk")
    browser.go(f"/l/{study.new_link('organiser')}")
    browser.driver.find_element(By.LINK_TEXT, "Votes (CSV)").click()
    file = downloads / "Who-does-what-votes.csv"
    browser.until(lambda: file.exists() and file.stat().st_size)
    assert file.read_text().startswith("voter,position,ranking")
    assert "Eve" not in file.read_text()
    browser.go(f"/studies/{study.id}/result")
    assert "Who does what?" in browser.text("main")
    browser.picture("result-desk")
    browser.check()


def test_the_first_page_leads_back_to_ones_studies(place: tuple[str, Store], study: Study) -> None:
    token = study.new_link("organiser")
    voted = place[1].create(
        dm.Problem.complete(["a", "b"], ["c"]), Settings("condorcet", seed=0), "<b>Another</b>"
    )
    with httpx2.Client(base_url=place[0], trust_env=False, follow_redirects=True) as client:
        assert "Your studies" not in client.get("/").text
        client.get(f"/l/{token}")
        client.get(f"/l/{voted.new_link('open')}")
        first = client.get("/").text
        assert f'href="/studies/{study.id}"' in first
        assert f'href="/studies/{voted.id}/vote"' in first
        assert "&lt;b&gt;Another" in first
        study.new_link("organiser")
        study.revoke(place[1].access(token).link)  # type: ignore[union-attr]
        assert study.id not in client.get("/").text


def test_who_skips_all_is_not_told_that_the_result_is_clear_and_an_open_link_is_asked_for(
    browser: Browser, place: tuple[str, Store]
) -> None:
    study = place[1].create(
        dm.Problem.complete(["Ann", "Bob"], ["Chair"]), Settings("panel"), "Team", ["Eve"]
    )
    (eve,) = study.voters()
    study.skip(eve.id, study.ask(eve.id).number)  # type: ignore[union-attr]
    browser.go(f"/l/{study.new_link('voter', eve.id)}")
    browser.until(lambda: browser.text("#end-title") == "That’s everything")
    browser.go(f"/l/{study.new_link('organiser')}")
    said = browser.until(lambda: browser.text("#standing"))
    assert "nobody can be asked" in said
    assert "the result is certain." not in said
    browser.driver.execute_script("document.getElementById('share').open = true")
    browser.click("#open-link")
    assert "whoever opens the link becomes a judge" in browser.driver.switch_to.alert.text
    browser.driver.switch_to.alert.dismiss()
    assert {link.role for link in study.links()} == {"voter", "organiser"}
    browser.click("#open-link")
    browser.driver.switch_to.alert.accept()
    browser.until(lambda: browser.find("#qr svg").is_displayed())
    assert {link.role for link in study.links()} == {"voter", "organiser", "open"}


def test_pages_refuse_with_a_page(place: tuple[str, Store], study: Study) -> None:
    with httpx2.Client(base_url=place[0], trust_env=False) as client:
        for path in (f"/studies/{study.id}", "/l/nonsense", "/studies/0123456789abcdef/vote", "/studies/x"):
            answer = client.get(path)
            assert answer.status_code in (401, 404, 422)
            assert answer.headers["content-type"].startswith("text/html")
        lost = client.get("/nothing", headers={"Accept": "text/html"})
        assert (lost.status_code, lost.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert "There is nothing here" in lost.text
        assert client.get("/nothing").headers["content-type"] == "application/problem+json"
