"""What people type: names, and what voters see of candidates and positions; checked before it goes anywhere.

Also the problems that result when candidates come, or are described anew.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from duelmatch.errors import ProblemError, StudyError
from duelmatch.problem import LONGEST_NAME, Details, Problem, is_shown
from duelmatch.studies.pictures import UPLOADED

LONGEST = {"title": 200, "text": 5_000, "place": 200, "picture": 2_000, "link": 2_000}
"""Characters of the details of a candidate, as on the pages."""

_ON_THE_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_SHOWN = re.compile(r"(?i:https://[^\s/])|" + UPLOADED.pattern)

JOINERS = "\u200c\u200d"
"""Characters without width that matter in some scripts, and in none of Europe's."""


IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Unicode's Default_Ignorable_Code_Point: what is not shown, or not by itself. Python does not have it."""

UNKNOWN = ("Co", "Cn")
"""Categories of characters that have no shape, or one that only some fonts know: they look like any other."""


def tidy(text: str) -> str:
    """Return a text as one would type what it looks like: composed, with single spaces, nothing invisible.

    >>> tidy(" Zoe\u0301 \u200bA. \u00a0 Smith\ufeff") == "Zo\u00e9 A. Smith"
    True
    """
    shown = [""]
    for character in unicodedata.normalize("NFC", text):
        joins = character in JOINERS and shown[-1] > "\u02ff" and shown[-1] not in JOINERS
        if joins or not _is_invisible(character):
            shown.append(character)
    return _SPACES.sub(" ", "".join(shown)).strip()


_SPACES = re.compile(r"(?:[^\S\r\n\x1c-\x1e\x85\u2028\u2029]|\u2800)+")
"""All but what breaks lines; U+2800 is the pattern of Braille without a dot."""


def _is_invisible(character: str) -> bool:
    code = ord(character)
    return code > 0x7F and (
        unicodedata.category(character) == "Cf" or any(first <= code <= last for first, last in IGNORABLE)
    )


def look_of(name: str) -> str:
    """Return what all names have in common that look like this one.

    >>> look_of("\uff25ve\u3164") == look_of("E\u034fve") == "Eve"
    True
    """
    if name.isascii():
        return " ".join(name.split())  # the same, and most of a long list
    name = unicodedata.normalize("NFKC", name)
    return re.sub(r"\s+", " ", tidy(name).translate(_WITHOUT_JOINERS))


def look_alike(names: Iterable[str]) -> str | None:
    """Return a name that looks like another of them; None if all can be told apart."""
    seen: set[str] = set()
    for name in names:
        look = look_of(name)
        if look in seen:
            return name
        seen.add(look)
    return None


_WITHOUT_JOINERS = dict.fromkeys(map(ord, JOINERS))


def plain(
    text: object, what: str, longest: int = LONGEST_NAME, empty: bool = False, lines: bool = False
) -> str:
    """Return a text in its tidy form, if it is one that every database and terminal can hold.

    One of several ``lines`` stays as it is. It names nobody, so it may have characters that are not known.
    """
    if not isinstance(text, str):
        raise StudyError(f"{what} must be text, not {text!r:.80}.")
    text = text.strip() if lines else tidy(text)
    if not text and not empty:
        raise StudyError(f"{what} is empty.")
    if len(text) > longest:
        raise StudyError(f"{what} may have {longest} characters at most, not {len(text):,}.")
    shown = text.replace("\n", "").replace("\r", "") if lines else text
    if not is_shown(shown):
        raise StudyError(f"{what} has a character that cannot be shown, such as a line break.")
    unknown = "" if lines else next((one for one in text if unicodedata.category(one) in UNKNOWN), "")
    if unknown:
        raise StudyError(f"{what} has a character that is not known here: U+{ord(unknown):04X}.")
    return text


def with_candidate(problem: Problem, candidate: str, positions: Iterable[str]) -> Problem:
    """Return the problem with one more candidate, if it is a new one, for some positions."""
    if candidate in problem.candidates:
        raise ProblemError(f"'{candidate}' is a candidate already.")
    places = list(positions)
    if not places:
        raise ProblemError(f"'{candidate}' needs a position to run for.")
    return problem.with_candidate(candidate, places)


def with_details(problem: Problem, details: Mapping[str, Mapping[str, Any]]) -> Problem:
    """Return the problem with other titles, texts, pictures and links of some candidates and positions.

    ``details`` is {"candidates": {name: {"title": …}}, "positions": {…}}; None removes one.
    """
    changed: dict[str, Any] = {}
    for kind in ("candidate", "position"):
        known = dict(getattr(problem, f"{kind}_details"))
        for name, new in details.get(f"{kind}s", {}).items():
            getattr(problem, f"{kind}_number")(name)
            known[name] = replace(known.get(name, Details()), **new)
        changed[f"{kind}_details"] = known
    return replace(problem, **changed)


def checked_details(details: Any) -> dict[str, str | None]:
    """Return the details of a candidate or position, given as a mapping or as ``Details``."""
    known = {field.name for field in fields(Details)}
    given = asdict(details) if isinstance(details, Details) else details
    if not isinstance(given, Mapping) or set(given) - known:
        raise ProblemError(f"Details are {', '.join(sorted(known))}, not {given!r:.80}.")
    checked = {
        name: None if text in (None, "") else plain(text, f"The {name}", LONGEST[name], lines=name == "text")
        for name, text in given.items()
    }
    check_addresses(checked.get("link"), checked.get("picture"))
    return checked


def check_names(problem: Problem) -> None:
    """Refuse a problem whose candidates or positions voters could not read, or not tell apart."""
    named = {"candidate": problem.candidates, "position": problem.positions}
    for kind, names in named.items():
        if alike := look_alike(names):
            raise StudyError(f"Two {kind}s look the same: '{alike:.80}'. Nobody could tell them apart.")
    check_shown(problem)
    for kind, names in named.items():
        for each in names:
            plain(each, f"The name of a {kind}")


def check_shown(problem: Problem) -> None:
    """Refuse details that no form would have taken: a log that is imported may be edited, hashes and all."""
    for about in (*problem.candidate_details.values(), *problem.position_details.values()):
        checked_details(about)
    check_titles(problem)


def check_titles(problem: Problem, changed: Collection[str] | None = None) -> None:
    """Refuse two candidates, or two positions, of whom voters would read the same.

    With ``changed``, only where one of these is among the two.
    """
    for kind, names, details in (
        ("candidates", problem.candidates, problem.candidate_details),
        ("positions", problem.positions, problem.position_details),
    ):
        read = {name: (details[name].title if name in details else None) or name for name in names}
        if changed is None:
            alike = look_alike(read.values())
        else:
            times = Counter(map(look_of, read.values()))
            theirs = [read[name] for name in changed if name in read]
            alike = next((text for text in theirs if times[look_of(text)] > 1), None)
        if alike is not None:
            raise ProblemError(f"Voters would read '{alike:.80}' for two {kind}. Give them different titles.")


def check_addresses(link: str | None, picture: str | None) -> None:
    """Refuse a link that a browser would not open as a page, and a picture that the pages would not show."""
    if link is not None and not _ON_THE_WEB.match(link):
        raise ProblemError(f"A link begins with https:// or http://, and '{link:.80}' does not.")
    if picture is not None and not _SHOWN.match(picture):
        raise ProblemError(
            f"The address of a picture begins with https://, and '{picture:.80}' does not. A picture in a "
            "file is uploaded on the organiser's pages."
        )
