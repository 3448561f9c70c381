"""Every language says everything, with the same names filled in, and each browser gets its own."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest

import duelmatch as dm
from duelmatch.studies import Settings, Store
from duelmatch.web.languages import ENGLISH, LANGUAGES, SAMPLES, catalogue
from web.messages import catalogues, collected

PLACEHOLDER = re.compile(r"%\(\w+\)s")


def test_every_catalogue_has_every_message_with_the_same_placeholders() -> None:
    messages = collected()
    assert len(messages) > 100
    for language, file in catalogues():
        entries = {(entry.msgid, entry.msgid_plural or None): entry for entry in file}
        assert set(entries) == set(messages), f"run make messages, then translate what {language} lacks"
        for (one, many), entry in entries.items():
            assert not entry.fuzzy, (language, one)
            said = list(entry.msgstr_plural.values()) if many else [entry.msgstr]
            for text in said:
                assert text.strip(), f"{language} lacks {one!r}"
                assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(one)), (language, one)
                assert "%" not in PLACEHOLDER.sub("", text), (language, one)
            if many:
                texts = {catalogue(language).ngettext(one, many, number) for number in SAMPLES}
                assert texts == set(said), f"{language} has a plural form that no sample number shows"


def test_a_message_that_nobody_has_translated_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    template = '{{ _("New here") }} {% trans n=3 %}{{ n }} vote{% pluralize %}{{ n }} votes{% endtrans %}'
    (tmp_path / "templates" / "new.html").write_text(template, encoding="utf-8")
    (tmp_path / "new.py").write_text('to_translate("New there")', encoding="utf-8")
    found = set(collected(tmp_path))
    assert found == {("New here", None), ("New there", None), ("%(n)s vote", "%(n)s votes")}
    for _, file in catalogues():
        assert not found & {(entry.msgid, entry.msgid_plural or None) for entry in file}


def test_a_page_is_in_the_language_of_its_reader(place: tuple[str, Store]) -> None:
    study = place[1].create(
        dm.Problem.complete(["Ann", "Bob"], ["Chair"]), Settings("panel"), "נבחרת <b>", ["דנה"]
    )
    (voter,) = study.voters()
    token = study.new_link("voter", voter.id)

    def vote(accepted: str, path: str = "vote") -> tuple[str, str]:
        headers = {"Accept-Language": accepted}
        with httpx2.Client(base_url=place[0], trust_env=False, headers=headers) as client:
            client.get(f"/l/{token}")
            text = client.get(f"/studies/{study.id}/{path}").text
        return re.findall('<html lang="([^"]+)"', text)[0], text

    for accepted, tag, skip in (
        ("de-CH, en;q=0.5", "de", "Überspringen"),
        ("it, fr-CA;q=0.8, de;q=0.7", "fr", "Passer"),
        ("es-MX", "es", "Omitir"),
        ("zh-CN,zh;q=0.9", "zh-Hans", "跳过"),
        ("tlh, de;q=0, *;q=0.1", "en", "Skip"),
        ("nonsense;q=x,,;", "en", "Skip"),
    ):
        language, text = vote(accepted)
        assert (language, skip in text) == (tag, True)
        assert "<bdi>דנה</bdi>" in text, "a name from right to left turns nothing around"
        assert "נבחרת &lt;b&gt;" in text
    assert "Rangfolge" in vote("en", "vote?language=de")[1]
    assert vote("de", "vote?language=xx")[0] == "de"
    assert "Das kann nur die Organisation tun" in vote("de", "answers")[1]
    with httpx2.Client(base_url=place[0], trust_env=False, headers={"Accept-Language": "de"}) as client:
        assert "There is nothing here" in client.get("/l/nonsense?language=en").text
        assert "What is stored about you" in client.get("/privacy").text, "the choice is remembered"
        assert '<html lang="en"' in client.get("/new").text, "pages for organisers are in English"
        lost = client.get("/studies/0123456789abcdef/vote?language=fr")
        assert (lost.status_code, "Il vous faut un lien" in lost.text) == (401, True)


def test_english_is_what_the_templates_say() -> None:
    assert catalogue(ENGLISH).gettext("Skip") == "Skip"
    assert catalogue("../../etc/passwd").gettext("Skip") == "Skip"
    assert set(LANGUAGES) >= {"en", "de", "fr", "es", "zh"}


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != ENGLISH])
def test_what_a_script_says_of_numbers_is_in_the_right_form(language: str) -> None:
    one, many = "You have answered %(num)s question", "You have answered %(num)s questions"
    forms = {number: catalogue(language).ngettext(one, many, number) for number in (0, 1, 2)}
    assert (forms[1] == forms[2]) == (language == "zh")
    assert (forms[0] == forms[1]) == (language in ("fr", "zh"))
