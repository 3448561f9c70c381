"""What there is to translate, collected from templates and modules.

`make messages` runs this: a new message is added to every catalogue without a translation, which
test_languages.py then asks for, and what is not said any more is taken out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polib
from babel.messages.extract import extract_from_dir

from duelmatch.web.languages import ENGLISH, LANGUAGES, LOCALE

Message = tuple[str, str | None]
"""What is said, and for numbers what is said of many."""

KEYWORDS = {
    "_": None, "gettext": None, "word": None, "to_translate": None, "ngettext": (1, 2), "forms": (1, 2)
}  # fmt: skip


def collected(folder: Path = LOCALE.parent) -> dict[Message, list[str]]:
    """Return all messages, and in which files they are, as they come."""
    found: dict[Message, list[str]] = {}
    options = {"templates/**.html": {"trimmed": "true", "newstyle_gettext": "true", "silent": "false"}}
    methods = [("**.py", "python"), ("templates/**.html", "jinja2")]
    for file, _, said, _, _ in extract_from_dir(folder, methods, options, KEYWORDS):
        message = (said, None) if isinstance(said, str) else (said[0], said[1])
        files = found.setdefault(message, [])
        if file not in files:
            files.append(file)
    return found


def catalogues() -> Iterator[tuple[str, polib.POFile]]:
    """Yield the catalogues, by language."""
    for language in LANGUAGES:
        if language != ENGLISH:
            yield language, polib.pofile(str(LOCALE / f"{language}.po"), wrapwidth=100)


def main() -> None:
    messages = collected()
    for language, file in catalogues():
        known = {(entry.msgid, entry.msgid_plural or None): entry for entry in file}
        file.clear()
        for (one, many), files in messages.items():
            entry = known.get((one, many)) or polib.POEntry(msgid=one, msgid_plural=many or "")
            entry.occurrences = [(name, "") for name in files]
            file.append(entry)
        file.save()
        print(f"{language}: {len(file.untranslated_entries())} to translate")


if __name__ == "__main__":
    main()
