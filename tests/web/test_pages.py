"""The pages in a real browser: begin a study, vote by mouse and keyboard, watch, close, export."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import duelmatch as dm
from duelmatch.problem import Details
from duelmatch.studies import Question, Ranking, Settings, Store, Study, export_log
from duelmatch.verify import verify
from web.browsing import DESK, PHONE, Browser, chromium

HOSTILE = "<script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"


@pytest.fixture
def study(place: tuple[str, Store], monkeypatch: pytest.MonkeyPatch) -> Study:
    # Earlier versions took any link, and their studies are still shown.
    monkeypatch.setattr("duelmatch.studies.store.check_addresses", lambda link, picture: None)
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


def votes(study: Study) -> list[tuple[str, Ranking]]:
    """Return what counts, in order: the position, and who is better than whom."""
    return [(given.position, given.answer) for given in study.answers(limit=None)[::-1] if given.counts]


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
    assert not browser.find("#until").is_displayed()
    browser.until(lambda: "answers in all" in browser.text("#expected"))
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
    assert study.settings.algorithm == "condorcet"
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
    browser.until(lambda: "'Eve' stands in line 1 already" in browser.text("#judges-error"))
    for _ in range(3):
        browser.press(Keys.BACKSPACE)
    browser.until(lambda: not browser.find("#judges-error").is_displayed())
    browser.find("#size").send_keys("four")
    browser.find("#until").send_keys("it is clear")
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
    assert (study.settings.algorithm, parameters["question_size"], parameters["until"]) == (
        "panel",
        4,
        "decided",
    )
    browser.driver.get(addresses[0])
    _, *names = browser.question()
    assert sorted(names) == ["Ann", "Bob", "Cyd", "Dan"]
    browser.press("2")  # the second is best
    browser.until(lambda: browser.text("#so-far") == names[1])
    browser.press("t")  # and level with it
    browser.press("4")
    browser.until(lambda: browser.text("#so-far") == f"{names[1]} = {names[3]}")
    browser.press("r")
    browser.until(lambda: "Choose the best first" in browser.text("#so-far"))
    browser.click("#choice-3")
    browser.click("#level")
    browser.click("#choice-1")
    browser.picture("ranking-desk")
    browser.check()
    browser.size(PHONE)
    browser.picture("ranking-phone")
    browser.check()
    browser.size(DESK)
    browser.press("2")  # the last place is then clear
    browser.until(lambda: votes(study))
    assert votes(study) == [("First", (tuple(sorted([names[0], names[2]])), (names[1],), (names[3],)))]
    browser.until(lambda: browser.text("#receipt").startswith("Receipt of your last vote: "))
    receipt = browser.text("#receipt").rpartition(" ")[2]
    assert verify(export_log(study).splitlines(), [receipt]).damage is None


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
    labels = browser.driver.find_elements(By.CSS_SELECTOR, "#rules fieldset:nth-child(2) label")
    assert [label.text for label in labels if label.find_element(By.CSS_SELECTOR, "input").is_selected()] == [
        "cyd",
        "dee",
    ]
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
    browser.until(lambda: "'cyd' and 'dee' are all chosen, or none of them is" in browser.text("#conditions"))
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
    browser.until(lambda: "all that you are asked" in browser.text("#end-title"))
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
    browser.until(lambda: browser.text("#count").startswith("You have answered 4"))
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
    browser.until(lambda: browser.text("#count").startswith("You have answered 1"))
    assert f"Kept: {first} > {second}." in browser.find("#status").get_attribute("textContent"), (
        "the first answer is kept"
    )
    _, gone, _ = browser.question()
    names = {"Cyd the careful": "Cyd"}
    study.drop(names.get(gone, gone))
    browser.press("1")
    browser.until(lambda: gone not in browser.question())
    assert "the next one" in browser.text("#trouble"), "the answer tells nothing now"
    browser.press("1")
    browser.until(lambda: browser.text("#count").startswith("You have answered 2"))
    assert not browser.find("#trouble").is_displayed()


def test_only_safe_links_are_links(browser: Browser, study: Study) -> None:
    voter = study.add_voter()
    browser.go(f"/l/{study.new_link('voter', voter)}")
    seen: dict[str, str | None] = {}
    for _ in range(12):
        for number, name in enumerate(browser.question()[1:], start=1):
            more = browser.driver.find_elements(By.CSS_SELECTOR, f"#choice-{number} ~ .more")
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
                each.until(lambda it=each, text=kept: text in it.find("#status").get_attribute("textContent"))
        for each in both:
            each.until(lambda it=each: it.text("#count").startswith("You have answered 3"))
            each.check()
    assert [voter.answers for voter in study.voters()] == [0, 0, 3, 3]
    owner = {entry.data["question"]: entry.voter for entry in study.entries() if entry.kind == "asked"}
    for entry in study.entries():
        assert entry.kind != "answered" or owner[entry.data["question"]] == entry.voter


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
    browser.driver.switch_to.alert.accept()
    browser.until(lambda: study.status().counted == 1)
    browser.until(lambda: browser.find(f"[data-do='voters/{voters[0]}/reinstate']").is_displayed())
    browser.until(lambda: browser.text("#votes") == "1")
    assert browser.text("#struck") == "1"
    browser.click(f"[data-do='voters/{voters[1]}/conflicts']")
    browser.driver.switch_to.alert.send_keys("Ann, Cyd")
    browser.driver.switch_to.alert.accept()
    browser.until(lambda: study.voters()[-1].conflicts == ("Ann", "Cyd"))
    browser.until(lambda: browser.find(f"[data-do='voters/{voters[1]}/leave']").is_displayed())
    browser.click(f"[data-do='voters/{voters[1]}/leave']")
    browser.driver.switch_to.alert.accept()
    browser.until(lambda: study.voters()[-1].left)
    browser.until(lambda: browser.find(f"[data-do='voters/{voters[1]}/return']").is_displayed())
    browser.click("[data-do=edit][data-body*=Cyd]")
    browser.driver.switch_to.alert.send_keys("Cyd the brave")
    browser.driver.switch_to.alert.accept()
    browser.until(lambda: "Cyd the brave" in browser.text("#live"))
    browser.find("#new-candidate").send_keys("Dee")
    browser.click("#add input[value=Editor]")
    browser.click("#add button")
    browser.until(lambda: ("Dee", "Chair") in study.problem.edges)
    assert ("Dee", "Editor") not in study.problem.edges
    for action, phase in (("pause", "paused"), ("resume", "open"), ("close", "closed"), ("reopen", "open")):
        browser.until(lambda do=action: browser.find(f"[data-do='phase/{do}']").is_displayed())
        browser.click(f"[data-do='phase/{action}']")
        if action == "close":
            browser.driver.switch_to.alert.accept()
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
    browser.driver.switch_to.alert.accept()
    browser.until(lambda: study.status().dropped == (HOSTILE,))
    browser.until(lambda: browser.find("#live s").is_displayed())
    for name in ("Ann", "Cyd"):  # then nobody is left for the editor
        browser.until(lambda who=name: browser.find(f"[data-do=drop][data-body*={who}]").is_displayed())
        browser.click(f"[data-do=drop][data-body*={name}]")
        browser.driver.switch_to.alert.accept()
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
    browser.until(lambda: browser.text("#count") == "You have answered 1; no more are asked for")
    browser.picture("closed-desk")
    browser.go(f"/l/{study.new_link('organiser')}")
    browser.driver.find_element(By.LINK_TEXT, "Votes (CSV)").click()
    file = downloads / "Who-does-what.csv"
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


def test_a_judge_is_told_what_is_still_needed(browser: Browser, place: tuple[str, Store]) -> None:
    best = {"Chair": "Bob", "Editor": "Ann"}
    team = dm.Problem.complete(["Ann", "Bob", "Cyd"], list(best))
    study = place[1].create(team, Settings("panel"), "Team", ["Eve", "Flo", "Gil"])
    eve, *others = (voter.id for voter in study.voters())
    browser.go(f"/l/{study.new_link('voter', eve)}")
    browser.question()
    assert re.fullmatch(
        r"You have answered 0, about [0-9]+ are still needed from everyone",
        browser.until(lambda: browser.text("#count")),
    )
    for voter in [eve, *others] * 20:
        question = study.ask(voter)
        if isinstance(question, Question):
            liked = best[question.position]
            study.tell(
                voter, question.number, liked if liked in question.candidates else min(question.candidates)
            )
    browser.driver.refresh()
    browser.until(lambda: "the result is clear" in browser.text("#end-title"))
    browser.until(lambda: browser.text("#count").endswith("; no more are asked for"))


def test_who_skips_all_is_not_told_that_the_result_is_clear_and_an_open_link_is_asked_for(
    browser: Browser, place: tuple[str, Store]
) -> None:
    study = place[1].create(
        dm.Problem.complete(["Ann", "Bob"], ["Chair"]), Settings("panel"), "Team", ["Eve"]
    )
    (eve,) = study.voters()
    study.skip(eve.id, study.ask(eve.id).number)  # type: ignore[union-attr]
    browser.go(f"/l/{study.new_link('voter', eve.id)}")
    browser.until(lambda: browser.text("#end-title") == "That is all that you are asked")
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


def test_a_voter_of_a_crowd_sees_how_long_the_ballot_is(browser: Browser, place: tuple[str, Store]) -> None:
    team = dm.Problem.complete(["Ann", "Bob", "Cyd"], ["Chair", "Editor"])
    study = place[1].create(team, Settings("condorcet", seed=0), "Team")
    browser.go(f"/l/{study.new_link('voter', study.add_voter())}")
    for place_on_ballot in range(1, 5):
        browser.question()
        browser.until(lambda n=place_on_ballot: browser.text("#count") == f"Question {n} of 4")
        browser.press("1")
    browser.until(lambda: "all that you are asked" in browser.text("#end-title"))


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
