"""Takes the pictures of docs/organising.md: an event in a real Chromium, with judges who vote over HTTP.

    PYTHONPATH=.:tests python docs/pictures.py docs/images

`make pictures` does so. Needs Chromium and its driver.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

import httpx2
from PIL import Image, ImageDraw, ImageFont

from duelmatch.studies import Store
from duelmatch.web import Config
from web.browsing import PHONE, Browser, chromium, paste
from web.running import served

PRIZES = ("Best idea", "Best build", "Best talk", "Most useful")
PROJECTS = {
    "Bird box": "Counts who comes and goes, and draws it.",
    "Bus map": "Where the next bus is, on paper.",
    "Cloud lamp": "Shines as the weather will be.",
    "Garden robot": "Waters what is dry, and nothing else.",
    "Piano stairs": "Every step is a note.",
    "Quiet clock": "Wakes up one person, not two.",
    "Rain drum": "A roof that plays along.",
    "Seed library": "Lends seeds, and asks for some back.",
}
JUDGES = ("Ada", "Ben", "Cleo", "Dina", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jana")
TALL = (1240, 3200)


def sheet() -> str:
    """Return what somebody copies from a spreadsheet."""
    rows = [
        (name, *("x",) * len(PRIZES), f"table {number}", text)
        for number, (name, text) in enumerate(PROJECTS.items(), start=1)
    ]
    return "\n".join("\t".join(row) for row in [("project", *PRIZES, "place", "text"), *rows])


def photos(folder: Path) -> list[Path]:
    """Draw something for each project."""
    colours = ("#4e79a7", "#59a14f", "#9c755f", "#b07aa1", "#f28e2b", "#e15759", "#76b7b2", "#edc948")
    made = []
    for name, colour in zip(PROJECTS, colours, strict=True):
        image = Image.new("RGB", (480, 240), colour)
        draw = ImageDraw.Draw(image)
        draw.ellipse((160, 40, 320, 200), fill="white")
        draw.text((240, 120), name[0], fill=colour, anchor="mm", font=ImageFont.load_default(110))
        made.append(folder / f"{name}.png")
        image.save(made[-1])
    return made


class Photographer:
    """Keeps what is on the screen, in few colours: small files."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser, self._folder = browser, folder

    def screen(self) -> Image.Image:
        return Image.open(io.BytesIO(self.browser.driver.get_screenshot_as_png())).convert("RGB")

    def keep(self, name: str, image: Image.Image) -> None:
        path = self._folder / f"organising-{name}.png"
        image.quantize(96).save(path, optimize=True)
        print(f"{path}: {path.stat().st_size:,} bytes")

    def between(self, name: str, first: str, last: str | None = None, margin: int = 12) -> None:
        """Keep the part of the page from the top of one element to the bottom of another."""
        rectangle = "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
        script = rectangle + "return [r.left, r.top, r.right, r.bottom]"
        left, top, right, _ = self.browser.driver.execute_script(script, first)
        *_, bottom = self.browser.driver.execute_script(script, last or first)
        box = (max(0, left - margin), max(0, top - margin), right + margin, bottom + margin)
        self.keep(name, self.screen().crop(tuple(map(int, box))))


def vote(http: httpx2.Client, study: str, link: str, number: int, most: int) -> None:
    """Let a judge answer some questions; all have much the same taste, and the last takes the first shown."""
    base, headers = f"/api/v1/studies/{study}", {"Authorization": f"Bearer {link.rpartition('/')[2]}"}
    names = list(PROJECTS)
    for _ in range(most):
        asked = http.post(f"{base}/question", headers=headers).json()
        if asked["number"] is None:
            return
        start = 2 * PRIZES.index(asked["position"])
        order = [*names[start:], *names[:start]]
        if number % 3 == 2:
            order[1:3] = order[2:0:-1]
        said = asked["candidates"][0] if number == 9 else min(asked["candidates"], key=order.index)
        http.post(f"{base}/questions/{asked['number']}/answer", headers=headers, json={"answer": said})


def as_somebody(browser: Browser, link: str) -> None:
    browser.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
    browser.driver.get(link)


def create(camera: Photographer, folder: Path) -> tuple[str, list[str]]:
    """Create the study; return the links of the organiser and of the judges."""
    browser = camera.browser
    browser.size(TALL)
    browser.go("/new")
    browser.find("#name").send_keys("Science day")
    paste(browser, "#candidate-1", sheet())
    browser.until(lambda: browser.find("#candidate-8").get_attribute("value") == "Seed library")
    browser.find("#pictures").send_keys("\n".join(map(str, photos(folder))))
    browser.until(lambda: len(browser.driver.find_elements("css selector", "#grid .thumb")) == len(PROJECTS))
    browser.find("#judges").send_keys("\n".join(JUDGES))
    browser.find("#questions-each").send_keys("30")
    browser.find("#minutes").send_keys("15")
    browser.until(lambda: "not a promise" in browser.text("#expected"), seconds=120)
    browser.driver.execute_script("document.activeElement.blur()")
    camera.between("grid", "#page-title", "#add-candidate")
    camera.between("expect", "[aria-labelledby=expect-title]")
    browser.click("button[type=submit]")
    browser.until(lambda: browser.find("#made").is_displayed())
    links = [
        str(each.get_attribute("value"))
        for each in browser.driver.find_elements("css selector", "#made-rows input")
    ]
    organiser = str(browser.find("#organiser-link").get_attribute("value"))
    camera.between("links", "#page-title", "#made-form")
    browser.driver.execute_script("document.getElementById('made-form').target = '_self'")
    browser.click("#print-sheet")
    browser.until(lambda: browser.find(".sheet svg").is_displayed())
    camera.between("sheet", ".sheet", ".sheet li:nth-child(4)")
    return organiser, links


def on_phones(camera: Photographer, links: list[str]) -> None:
    """Keep three phones side by side: a question, the same in the dark in German, and what may be wrong."""
    browser, shots = camera.browser, []
    for dark, language in ((False, "en"), (True, "de")):
        browser.size(PHONE, dark)
        headers = {"headers": {"Accept-Language": language}}
        browser.driver.execute_cdp_cmd("Network.enable", {})
        browser.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", headers)
        as_somebody(browser, links[0])
        browser.question()
        browser.until(lambda: "1" in browser.text("#count"))
        shots.append(camera.screen())
    browser.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {}})
    browser.size(PHONE)
    as_somebody(browser, links[0])
    browser.question()
    browser.click(".card .link-like")
    browser.until(lambda: browser.find("#wrong").is_displayed())
    shots.append(camera.screen())
    width, height = shots[0].size
    whole = Image.new("RGB", (3 * width + 40, height), "white")
    for place, shot in enumerate(shots):
        whole.paste(shot, (place * (width + 20), 0))
    camera.keep("vote", whole.resize((whole.width * 3 // 4, height * 3 // 4), Image.Resampling.LANCZOS))


def watch(camera: Photographer, http: httpx2.Client, study: str, organiser: str, links: list[str]) -> None:
    """Keep the dashboard, and what is changed on the way."""
    browser = camera.browser
    for number, link in enumerate(links):
        vote(http, study, link, number, 14)
    browser.size(TALL)
    as_somebody(browser, organiser)
    browser.until(lambda: browser.text(".contenders"), seconds=120)
    camera.between("dashboard", "h1", "#standings")
    browser.driver.execute_script("document.querySelector('.people-columns .tall').style.maxHeight = 'none'")
    camera.between("judges", ".people-columns > section")
    for name, selector in (
        ("strike", "[data-preview*=strike][aria-label$=Jana]"),
        ("withdraw", "[aria-label='Rain drum withdrew']"),
    ):
        for _ in range(5):
            browser.click(selector)
            browser.until(lambda: "Working out" not in browser.text("#preview-changes"), seconds=60)
            if "would" in browser.text("#preview-changes"):
                break
            browser.click("#preview-no")
        camera.between(name, "#preview", margin=0)
        browser.click("#preview-yes")
        browser.until(lambda: not browser.find("#preview").is_displayed())
        browser.until(lambda s=selector: not browser.driver.find_elements("css selector", s), seconds=60)
    browser.click("#to-candidates")
    browser.click("#candidates-1 summary")
    browser.driver.execute_script("document.activeElement.blur()")
    camera.between("mend", "h1", "#candidates-2")


def end(camera: Photographer, http: httpx2.Client, study: str, organiser: str, links: list[str]) -> None:
    """Keep the result, as the organiser and a voter see it."""
    browser = camera.browser
    for _ in range(3):
        for number, link in enumerate(links[:9]):
            vote(http, study, link, number, 30)
    as_somebody(browser, organiser)
    browser.until(lambda: browser.text("#headline") == "The result is in", seconds=60)
    browser.click("[data-do='phase/close']")
    browser.click("#preview-yes")
    browser.until(lambda: browser.find("[data-do=publish]").is_displayed())
    camera.between("closed", "#standing")
    browser.click("[data-do=publish]")
    browser.until(lambda: browser.text("[data-do=publish]").startswith("Hide"))
    browser.size((820, 1000))
    browser.go(f"/studies/{study}/result")
    browser.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "light"}]},
    )
    camera.between("result", "main", "footer")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def main() -> None:
    folder = Path(sys.argv[1])
    with (
        tempfile.TemporaryDirectory() as kept,
        Store(f"sqlite:///{kept}/duels.db") as store,
        served(store, Config(rates=None, nearby="http://192.168.1.20:8000")) as address,
        httpx2.Client(base_url=address, trust_env=False, timeout=60) as http,
        chromium(Path(kept)) as driver,
    ):
        camera = Photographer(Browser(driver, address), folder)
        organiser, links = create(camera, Path(kept))
        access = store.access(organiser.rpartition("/")[2])
        assert access is not None
        organiser, *links = (f"{address}/l/{link.rpartition('/')[2]}" for link in (organiser, *links))
        on_phones(camera, links)
        watch(camera, http, access.study, organiser, links)
        end(camera, http, access.study, organiser, links)


if __name__ == "__main__":
    main()
