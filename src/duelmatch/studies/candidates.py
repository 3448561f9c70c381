"""Problems whose candidates come and go, and what voters see of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from duelmatch.errors import ProblemError
from duelmatch.problem import Details, Problem
from duelmatch.studies.pictures import UPLOADED
from duelmatch.studies.texts import look_alike, look_of, plain

LONGEST = {"title": 200, "text": 5_000, "place": 200, "picture": 2_000, "link": 2_000}
"""Characters, as on the pages."""

_ON_THE_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_SHOWN = re.compile(r"(?i:https://[^\s/])|" + UPLOADED.pattern)


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
