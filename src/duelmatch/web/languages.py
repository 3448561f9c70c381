"""The voter's language: which one a browser wants, and what the pages say in it.

English is what the templates are written in. The other languages are gettext catalogues, ``locale/*.po``: a
new one is such a file, and a line in ``LANGUAGES``. They are read as they are, so nothing has to be compiled.
Pages for organisers are in English; a template is in whatever language it is rendered in.
"""

from __future__ import annotations

import gettext
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import polib
from fastapi import Request, Response
from jinja2 import Environment, pass_context
from jinja2.runtime import Context

LANGUAGES: Mapping[str, tuple[str, str]] = {
    "en": ("en", "English"),
    "de": ("de", "Deutsch"),
    "fr": ("fr", "Français"),
    "es": ("es", "Español"),
    "zh": ("zh-Hans", "中文"),
}
"""By the first part of the code that browsers send: the code for ``lang``, and what it calls itself."""

ENGLISH = "en"
LOCALE = Path(__file__).with_name("locale")
COOKIE = "language"
LASTS = 365 * 86_400
"""Seconds."""

SAMPLES = (0, 1, 2, 3, 5, 11, 21, 100)
"""Numbers that have all the plural forms that there are: scripts take the form of the one that is alike."""


def to_translate(message: str) -> str:
    """Mark a message that is looked up later, for those who collect what there is to translate."""
    return message


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return what there is in a language; for English, what the templates say."""
    if language == ENGLISH or language not in LANGUAGES:
        return gettext.NullTranslations()
    file = polib.pofile(str(LOCALE / f"{language}.po"))
    return gettext.GNUTranslations(io.BytesIO(file.to_binary()))


def accepted(header: str) -> str | None:
    """Return the language that a browser likes best, of those that there are.

    >>> accepted("it;q=0.9, fr-CA;q=0.8, en;q=0.5"), accepted("zh-TW"), accepted("it, *;q=0.1")
    ('fr', 'zh', None)
    """
    wanted: list[tuple[float, str]] = []
    for part in header[:1000].split(","):
        tag, _, weight = part.partition(";")
        language = tag.strip().lower().partition("-")[0]
        try:
            quality = float(weight.strip().removeprefix("q=")) if weight.strip() else 1.0
        except ValueError:
            continue
        if language in LANGUAGES and quality > 0:
            wanted.append((quality, language))
    return max(wanted, key=lambda found: found[0])[1] if wanted else None


def language_of(request: Request) -> str:
    """Return the language of whoever is reading: the one chosen on a page, or else the browser's."""
    for chosen in (request.query_params.get("language"), request.cookies.get(COOKIE)):
        if chosen in LANGUAGES:
            return str(chosen)
    return accepted(request.headers.get("accept-language", "")) or ENGLISH


def remember_language(request: Request, response: Response) -> None:
    """Let the browser remember the language that was just chosen."""
    chosen = request.query_params.get("language")
    if chosen in LANGUAGES:
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, str(chosen), LASTS, secure=secure, httponly=True, samesite="lax")


def install(environment: Environment) -> None:
    """Let templates translate: ``_`` and ``trans`` for the page, ``word`` and ``forms`` for its script."""
    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(word, _ngettext, newstyle=True)  # type: ignore[attr-defined]
    environment.globals |= {"word": word, "forms": forms, "LANGUAGES": LANGUAGES}


@pass_context
def _ngettext(context: Context, one: str, many: str, number: int) -> str:
    return catalogue(context.get("language", ENGLISH)).ngettext(one, many, number)


@pass_context
def word(context: Context, message: str) -> str:
    """Return a message with its placeholders, which the page's script fills."""
    return catalogue(context.get("language", ENGLISH)).gettext(message)


@pass_context
def forms(context: Context, one: str, many: str) -> dict[int, str]:
    """Return a message for every sample number; the script takes the one whose plural form is alike."""
    found = catalogue(context.get("language", ENGLISH))
    return {number: found.ngettext(one, many, number) for number in SAMPLES}
