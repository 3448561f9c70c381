"""What voters have said, as an organiser goes through it: answers, a page at a time, and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from duelmatch.studies import GivenAnswer, Report, Study, Trouble, Voter
from duelmatch.web.names import Named, Names

PER_PAGE = 50
MOST_REPORTS = 100

TROUBLES: Mapping[Trouble, str] = {
    "absent": "cannot be found",
    "link": "a link or picture does not work",
    "other": "something is wrong",
}


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer in words."""

    given: GivenAnswer
    time: str
    """As ISO 8601 has it; the page shows it as the reader writes times."""
    voter: str
    position: Named
    said: Markup
    reversed: list[list[str]] | None
    """The other answer to a question about two, to offer as a correction; None for rankings and draws."""
    uncounted: str
    """Why it does not count, if it does not."""


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """A page of answers, and where the next one begins."""

    voter: str | None
    voter_id: str | None
    rows: list[ShownAnswer]
    older: int | None

    @classmethod
    def of(cls, study: Study, before: int, voter: str | None) -> AnswerPage:
        """Look at the answers before an entry of the log."""
        found = study.answers(before, voter, PER_PAGE + 1)
        shown = found[:PER_PAGE]
        ids = {given.voter for given in shown} | ({voter} if voter is not None else set())
        voters = {person.id: person for person in study.voters(ids=ids)}
        people = {person.id: voter_name(person.id, person.name) for person in voters.values()}
        names, status = Names.of(study.problem), study.status()
        rows = [
            ShownAnswer(
                given,
                _time(given.at),
                people[given.voter],
                names.positions[given.position],
                said(given, names),
                [list(group) for group in given.answer[::-1]]
                if len(given.answer) == 2 == len(given.candidates)
                else None,
                _why_not(given, voters[given.voter], status.dropped),
            )
            for given in shown
        ]
        called = None if voter is None else people.get(voter, voter)
        return cls(called, voter, rows, shown[-1].entry if len(found) > PER_PAGE else None)


def voter_name(voter: str, name: str | None) -> str:
    """Return what a voter is called: the name, or the beginning of the id."""
    return name or f"Voter {voter[:6]}"


def said(given: GivenAnswer, names: Names) -> Markup:
    """Write an answer down: one over another, no difference, or a ranking.

    Every name is isolated, whichever way it is written; around it the sentence keeps its order.
    """
    groups = [
        [Markup("<bdi>{}</bdi>").format(names.candidates[name]) for name in group] for group in given.answer
    ]
    if len(groups) == 1:
        return Markup("no difference between ") + Markup(" and ").join(groups[0])
    if len(given.candidates) == 2:
        return groups[0][0] + Markup(" over ") + groups[1][0]
    return Markup(" &gt; ").join(Markup(" = ").join(group) for group in groups)


def _why_not(given: GivenAnswer, voter: Voter, dropped: tuple[str, ...]) -> str:
    if given.counts:
        return ""
    if given.struck:
        return "struck out"
    if voter.struck:
        return "all votes of this voter are struck out"
    if any(name in dropped for name in given.candidates):
        return "about a candidate who withdrew"
    if any(name in voter.conflicts for name in given.candidates):
        return "about a candidate whom this judge does not judge"
    return "came after closing"


@dataclass(frozen=True, slots=True)
class ShownReport:
    """A report of a voter about a candidate, in words; ``time`` as ISO 8601 has it."""

    report: Report
    candidate: Named
    sentence: str
    voter: str
    time: str


def reports_of(study: Study) -> list[ShownReport]:
    """Return the latest of what voters have said is wrong with candidates, and nobody has mended."""
    reports = study.reports(limit=MOST_REPORTS)
    if not reports:
        return []
    voters = study.names_of({report.voter for report in reports})
    names = Names.of(study.problem).candidates
    return [
        ShownReport(
            report,
            names[report.candidate],
            TROUBLES[report.problem],
            voter_name(report.voter, voters.get(report.voter)),
            _time(report.at),
        )
        for report in reports
    ]


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
