"""The organiser's pages in a real browser: from a spreadsheet to a study, links for judges, mended texts."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from PIL import Image
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import duelmatch as dm
from duelmatch.studies import Settings, Store, Study
from duelmatch.web import Config
from web.browsing import PHONE, Browser, paste
from web.running import served


def values(browser: Browser, selector: str) -> list[str]:
    found = browser.driver.find_elements(By.CSS_SELECTOR, selector)
    return [str(each.get_attribute("value")) for each in found]


def photo(path: Path, kind: str = "PNG") -> Path:
    Image.new("RGB", (30, 20), "red").save(path, kind)
    return path


def test_a_spreadsheet_and_pictures_become_a_study(
    browser: Browser, place: tuple[str, Store], tmp_path: Path
) -> None:
    browser.go("/new")
    paste(browser, "#position-1", "Design\tCode\tFun")
    browser.until(lambda: values(browser, "thead .name") == ["Design", "Code", "Fun"])
    paste(browser, "#candidate-2", "Owls\nFoxes\n")
    browser.until(lambda: values(browser, "tbody .name") == ["", "Owls", "Foxes"])
    table = "team\tCode\tplace\tcapacity\tpicture\nOwls\tx\ttable 12\t2\towl.jpg\nBears\t\ttable 3\t\t\n"
    paste(browser, "#candidate-1", table)
    browser.until(lambda: values(browser, "tbody .name") == ["Bears", "Owls", "Foxes"])
    assert values(browser, "tbody .place") == ["table 3", "table 12", ""]
    assert "up to 2 positions" in browser.text("#grid")
    assert "“owl.jpg” is not shown" in browser.text("#candidate-2-error"), "no picture is dropped silently"
    files = [photo(tmp_path / "owl.jpg", "JPEG"), photo(tmp_path / "FOXES.png"), photo(tmp_path / "cats.png")]
    browser.find("#pictures").send_keys("\n".join(map(str, files)))
    browser.until(lambda: "cats.png: no candidate" in browser.text("#pictures-error"))
    browser.until(lambda: len(browser.driver.find_elements(By.CSS_SELECTOR, "#grid .thumb")) == 2)
    assert not browser.find("#candidate-2-error").is_displayed()
    browser.click("[aria-label='More about candidate 1']")
    browser.find("#more-file").send_keys(str(files[2]))
    browser.until(lambda: browser.find("#more .thumb").is_displayed())
    assert values(browser, "#more-picture") == [""], "an address that nobody would know is not shown"
    browser.click("#more-done")
    browser.until(lambda: len(browser.driver.find_elements(By.CSS_SELECTOR, "#grid .thumb")) == 3)
    browser.find("#name").send_keys("Hack day")
    browser.find("#judges").send_keys("name,votes,conflicts,email\nEve,2,Owls,eve@example.org\nNed,,,")
    browser.until(lambda: "Eve counts twice and does not judge Owls" in browser.text("#judges-read"))
    browser.until(lambda: "not a promise" in browser.text("#expected"))
    browser.check()
    browser.click("button[type=submit]")
    browser.until(lambda: browser.find("#made").is_displayed())
    token = values(browser, "#made-rows input")[0].rpartition("/")[2]
    study = place[1].study(place[1].access(token).study)  # type: ignore[union-attr]
    problem = study.problem
    assert problem.edges == (
        ("Bears", "Design"),
        ("Owls", "Design"),
        ("Foxes", "Design"),
        ("Owls", "Code"),
        ("Foxes", "Code"),
        ("Bears", "Fun"),
        ("Owls", "Fun"),
        ("Foxes", "Fun"),
    )
    assert (problem.capacity, problem.candidate_details["Owls"].place) == ({"Owls": 2}, "table 12")
    for name in problem.candidates:
        address = problem.candidate_details[name].picture or ""
        assert (place[1].picture(address.rpartition("/")[2]) or b"")[8:12] == b"WEBP"
    assert [(voter.name, voter.weight, voter.conflicts) for voter in study.voters()] == [
        ("Eve", 2, ("Owls",)),
        ("Ned", 1, ()),
    ]


def test_mistakes_are_told_next_to_their_field_until_they_are_mended(browser: Browser) -> None:
    browser.go("/new")
    browser.click("button[type=submit]")
    said = {
        "name": "Give it a name",
        "candidate-1": "two candidates",
        "position-1": "one position",
        "judges": "judge",
    }
    for field, words in said.items():
        browser.until(lambda id=field, text=words: text in browser.text(f"#{id}-error"))
        assert browser.find(f"#{field}").get_attribute("aria-invalid") == "true"
    assert browser.driver.switch_to.active_element.get_attribute("id") in said
    for field, text in (
        ("name", "x"),
        ("candidate-1", "Ann"),
        ("candidate-2", "Ann"),
        ("position-1", "Chair"),
    ):
        browser.find(f"#{field}").send_keys(text)
    assert "Number 1 is called “Ann”, too" in browser.text("#candidate-2-error")
    browser.find("#candidate-2").send_keys("e")
    browser.find("#judges").send_keys("name,conflicts\nEve,Zed")
    browser.until(lambda: "no candidate of that name" in browser.text("#judges-error"))
    for _ in range(3):
        browser.find("#judges").send_keys(Keys.BACKSPACE)
    browser.until(lambda: not browser.find("#judges-error").is_displayed())
    for field in said:
        assert not browser.find(f"#{field}-error").is_displayed()
        assert browser.find(f"#{field}").get_attribute("aria-invalid") is None
    browser.click("[aria-label='More about position 1']")
    browser.until(lambda: browser.find("#more-seats").is_displayed())
    browser.find("#more-seats").send_keys("3")
    browser.press(Keys.ESCAPE)
    browser.until(
        lambda: "seats" in browser.text("#grid-error")
    )  # the server knows that two cannot fill three
    browser.click("[aria-label='More about position 1']")
    browser.find("#more-seats").send_keys(Keys.BACKSPACE)
    browser.click("#more-done")
    browser.until(lambda: not browser.find("#grid-error").is_displayed())
    browser.until(lambda: "not a promise" in browser.text("#expected"))


def test_a_paste_that_cannot_be_read_says_so_until_something_else_is_in_the_grid(browser: Browser) -> None:
    browser.go("/new")
    paste(browser, "#candidate-1", "Ann\tx\nBob\tx\nCyd\tx")
    browser.until(lambda: "marks instead of the names of positions" in browser.text("#grid-error"))
    browser.driver.execute_async_script(
        "setTimeout(arguments[0], 900)"
    )  # what to expect is looked at by then
    assert browser.find("#grid-error").is_displayed()
    paste(browser, "#candidate-1", "Ann\nBob\nCyd")
    browser.until(lambda: values(browser, "tbody .name") == ["Ann", "Bob", "Cyd"])
    browser.until(lambda: not browser.find("#grid-error").is_displayed())


def test_what_was_pasted_before_the_key_is_read_once_it_is_right(driver: Chrome, tmp_path: Path) -> None:
    config = Config(create="key", create_key="sesame", rates=None)
    with Store(f"sqlite:///{tmp_path}/duels.db") as store, served(store, config) as address:
        browser = Browser(driver, address)
        browser.go("/new")
        paste(browser, "#candidate-1", "team\tChair\nOwls\tx\nFoxes\tx")
        browser.find("#judges").send_keys("Eve\nNed")
        for place in ("grid-status", "judges-read"):
            browser.until(lambda id=place: "as soon as the key" in browser.text(f"#{id}"))
        assert not browser.find("#grid-error").is_displayed(), "nothing is wrong with it"
        assert browser.text("#key-error") == "The key is needed."
        browser.find("#key").send_keys("open" + Keys.TAB)
        browser.until(lambda: browser.text("#key-error") == "That key is not right.")
        browser.picture("new-wrong-key-desk")
        browser.find("#key").clear()
        browser.find("#key").send_keys("sesame" + Keys.TAB)
        browser.until(lambda: values(browser, "tbody .name")[:2] == ["Owls", "Foxes"])
        browser.until(lambda: browser.text("#judges-read").startswith("2 judges"))
        for place in ("key", "grid", "judges"):
            assert not browser.find(f"#{place}-error").is_displayed()
        assert browser.text("#grid-status") == ""
        browser.check()


def test_a_table_with_a_mistake_fills_the_grid_and_is_mended_there(browser: Browser) -> None:
    browser.go("/new")
    paste(browser, "#candidate-1", "team\tChair\tCode\nOwls\tx\tx\nOwls\tx\tx\nBears\tx\t?")
    browser.until(lambda: values(browser, "tbody .name") == ["Owls", "Owls", "Bears"])
    browser.until(lambda: "must be x, or nothing, not '?'" in browser.text("#grid-error"))
    assert "Number 1 is called “Owls”, too" in browser.text("#candidate-2-error")
    browser.find("#candidate-2").clear()
    browser.find("#candidate-2").send_keys("Foxes")
    browser.until(lambda: not browser.find("#grid-error").is_displayed())
    browser.until(lambda: "not a promise" in browser.text("#expected"))


def test_a_server_that_has_just_started_is_asked_again_and_estimates_wait_for_each_other(
    browser: Browser,
) -> None:
    browser.go("/new")
    browser.driver.execute_script(
        """
        const real = window.fetch;
        window.busy = 1; window.now = 0; window.most = 0;
        window.fetch = async (path, ...rest) => {
          if (path.endsWith("/problems/read") && window.busy-- > 0)
            return new Response('{"detail": "The server was started just now."}',
              { status: 429, headers: { "Content-Type": "application/json" } });
          if (!path.endsWith("/estimate")) return real(path, ...rest);
          window.most = Math.max(window.most, ++window.now);
          try { return await real(path, ...rest); }
          finally { await new Promise((done) => setTimeout(done, 1500)); window.now--; }
        };
        """
    )
    paste(browser, "#candidate-1", "team\tChair\nOwls\tx\nFoxes\tx")
    browser.until(lambda: "This goes on by itself." in browser.text("#grid-status"))
    assert not browser.find("#grid-error").is_displayed()
    browser.until(lambda: values(browser, "tbody .name")[:2] == ["Owls", "Foxes"])
    assert browser.text("#grid-status") == ""
    browser.until(lambda: browser.driver.execute_script("return window.now") == 1)
    browser.find("#minutes").send_keys("7")  # while the first estimate is under way
    browser.until(lambda: "not a promise" in browser.text("#expected"), seconds=60)
    assert browser.driver.execute_script("return window.most") == 1


@pytest.fixture
def panel(place: tuple[str, Store]) -> Study:
    team = dm.Problem.complete(["Owls", "Foxes", "Bears"], ["Design", "Code"])
    return place[1].create(team, Settings("panel"), "Hack day", ["Eve"])


def test_judges_in_bulk_get_links_to_print_to_mail_and_anew(
    browser: Browser, place: tuple[str, Store], panel: Study, downloads: Path
) -> None:
    store = place[1]
    browser.go(f"/l/{panel.new_link('organiser')}")
    browser.click("#to-judges")
    browser.find("#judges").send_keys("name,email\nNed,=ned@example.org\nEve,")
    browser.click("#add-judges button")
    browser.until(lambda: "called 'Eve' already" in browser.text("#judges-error"))
    assert len(panel.voters()) == 1, "all or none"
    for _ in range(5):
        browser.find("#judges").send_keys(Keys.BACKSPACE)
    assert not browser.find("#judges-error").is_displayed()
    browser.click("#add-judges button")
    browser.until(lambda: browser.find("#made").is_displayed())
    assert [voter.name for voter in panel.voters()] == ["Eve", "Ned"]
    assert "only this computer finds" in browser.text("#made"), "phones cannot open 127.0.0.1"
    (link,) = values(browser, "#made-rows input")
    file = downloads / "links.csv"
    file.unlink(missing_ok=True)
    browser.click("#mailing-list")
    browser.until(lambda: file.exists() and file.stat().st_size)
    rows = list(csv.reader(io.StringIO(file.read_text(encoding="utf-8-sig"))))
    assert rows == [["name", "email", "link"], ["Ned", "'=ned@example.org", link]]
    first = browser.driver.current_window_handle
    browser.driver.execute_script("document.getElementById('made-form').target = '_self'")
    browser.click("#print-sheet")
    browser.until(lambda: browser.find(".sheet svg").is_displayed())
    assert browser.text(".sheet h2") == "Ned"
    assert link in browser.text(".sheet")
    browser.size(PHONE)
    browser.check()
    browser.go(f"/studies/{panel.id}/judges")
    assert "2 of whom have not begun" in browser.text("#list-title")
    browser.click("#choose-waiting")
    browser.click("#new-links")
    browser.driver.switch_to.alert.accept()
    browser.until(lambda: len(values(browser, "#made-rows input")) == 2)
    assert store.access(link.rpartition("/")[2]) is None, "the old link opens nothing any more"
    new = values(browser, "#made-rows input")[1].rpartition("/")[2]
    assert store.access(new).voter == panel.voters()[1].id  # type: ignore[union-attr]
    browser.go(f"/studies/{panel.id}/judges")
    browser.click("[data-voter] summary")
    browser.click("[data-voter] .conflict[value=Owls]")
    browser.click("[data-voter] .save-conflicts")
    browser.until(lambda: panel.voters()[0].conflicts == ("Owls",))
    browser.until(lambda: "Conflicts of interest: Owls" in browser.text(".people"))
    browser.click("[data-voter] summary")
    for name in ("Owls", "Foxes"):
        browser.click(f"[data-voter] .conflict[value={name}]")
    browser.click("[data-voter] .save-conflicts")
    browser.until(lambda: panel.voters()[0].conflicts == ("Foxes",))
    assert browser.driver.current_window_handle == first


def test_judges_of_all_pages_get_links_at_once(browser: Browser, place: tuple[str, Store]) -> None:
    team = dm.Problem.complete(["Owls", "Foxes"], ["Design"])
    names = [f"Judge {number}" for number in range(60)]
    study = place[1].create(team, Settings("panel"), "Hack day", names)
    browser.go(f"/l/{study.new_link('organiser')}")
    browser.go(f"/studies/{study.id}/judges")
    browser.click("#choose-waiting")
    browser.until(lambda: browser.text("#chosen") == "60 chosen")
    browser.click("[data-voter] .chosen")
    browser.until(lambda: browser.text("#chosen") == "59 chosen")
    browser.click("#new-links")
    browser.driver.switch_to.alert.accept()
    browser.until(lambda: len(values(browser, "#made-rows input")) == 59)
    browser.driver.execute_script("document.getElementById('made-form').target = '_self'")
    browser.click("#print-sheet")
    browser.until(lambda: browser.find(".sheet svg").is_displayed())
    assert len(browser.driver.find_elements(By.CSS_SELECTOR, ".sheet li")) == 59
    browser.go(f"/studies/{study.id}/judges")
    browser.click("#judges-after")
    browser.until(lambda: len(browser.driver.find_elements(By.CSS_SELECTOR, "[data-voter]")) == 10)
    browser.find("#find").send_keys("judge 7" + Keys.ENTER)
    browser.until(lambda: "1 of the 60 judges" in browser.text("#found"))
    assert browser.find("[data-voter]").get_attribute("data-voter") == study.voters()[7].id
    browser.check()


def test_what_voters_read_is_mended_and_a_late_candidate_taken_in(
    browser: Browser, panel: Study, tmp_path: Path
) -> None:
    browser.go(f"/l/{panel.new_link('organiser')}")
    browser.click("#to-candidates")
    browser.click("#candidates-1 summary")
    form = "#candidates-1 "
    for field, text in (
        ("title", "The Owls"),
        ("place", "table 12"),
        ("text", "A lamp."),
        ("link", "javascript:x"),
    ):
        browser.find(f"{form}[name={field}]").send_keys(text)
    (tmp_path / "bad.png").write_text("<svg/>", encoding="utf-8")
    browser.find(f"{form}.picture-file").send_keys(str(tmp_path / "bad.png"))
    browser.until(lambda: "bad.png: This is not a whole picture" in browser.text("#candidates-1-error"))
    browser.find(f"{form}.picture-file").send_keys(str(photo(tmp_path / "owl.png")))
    browser.until(lambda: browser.find(f"{form}.thumb").is_displayed())
    browser.click(f"{form}button[type=submit]")
    browser.until(lambda: "A link begins with https://" in browser.text("#candidates-1-error"))
    link = browser.find(f"{form}[name=link]")
    link.clear()
    link.send_keys("https://example.org")
    browser.until(lambda: not browser.find("#candidates-1-error").is_displayed())
    link.send_keys(Keys.ENTER)
    browser.until(lambda: browser.text(f"{form}.saved").startswith("Saved"))
    about = panel.problem.candidate_details["Owls"]
    assert (about.title, about.place, about.text) == ("The Owls", "table 12", "A lamp.")
    assert (about.picture or "").startswith("/pictures/")
    browser.click("#late summary")
    browser.find("#late-name").send_keys("Hares")
    browser.click(".late-position[value=Code]")
    browser.find("#late [name=place]").send_keys("table 4" + Keys.ENTER)
    browser.until(lambda: ("Hares", "Design") in panel.problem.edges)
    assert ("Hares", "Code") not in panel.problem.edges
    browser.until(lambda: panel.problem.candidate_details["Hares"].place == "table 4")
    browser.until(lambda: "Hares" in browser.text("#candidates-4"))
    name = browser.find("#study-name")
    name.clear()
    name.send_keys("Hack night" + Keys.ENTER)
    browser.until(lambda: panel.name == "Hack night")
    browser.until(lambda: browser.text(".eyebrow") == "Hack night")
    browser.check()
