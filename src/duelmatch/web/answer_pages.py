"""What voters have said, as an organiser goes through it: answers, a page at a time, and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from duelmatch.studies import GivenAnswer, Ranking, Report, Study, Trouble, Voter
from duelmatch.web.names import Named, Names, voter_name

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
    voter: str
    position: Named
    said: Markup
    uncounted: str
    """Why it does not count, if it does not."""

    @property
    def reversed(self) -> Ranking | None:
        """The other answer to a question about two, to offer as a correction; None for rankings and draws."""
        given = self.given
        return given.answer[::-1] if len(given.answer) == 2 == len(given.candidates) else None


class AnswerPage:
    """A page of answers, those before an entry of the log, of all voters or of one."""

    def __init__(self, study: Study, before: int, voter: str | None) -> None:
        found = study.answers(before, voter, PER_PAGE + 1)
        shown = found[:PER_PAGE]
        ids = {given.voter for given in shown} | ({voter} if voter is not None else set())
        people = {person.id: person for person in study.voters(ids=ids)}
        called = {person.id: voter_name(person.id, person.name) for person in people.values()}
        names, dropped = Names.of(study.problem), study.status().dropped
        self.voter_id = voter
        self.voter = None if voter is None else called.get(voter, voter)
        self.rows = [
            ShownAnswer(
                given,
                called[given.voter],
                names.positions[given.position],
                said(given, names),
                _why_not(given, people[given.voter], dropped),
            )
            for given in shown
        ]
        self.older = shown[-1].entry if len(found) > PER_PAGE else None
        """Before which entry the next page begins, if there is one."""


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


def reports_of(study: Study) -> list[tuple[Report, Named, str]]:
    """Return the latest reports of what nobody has mended: each with the candidate, and who says so."""
    reports = study.reports(limit=MOST_REPORTS)
    if not reports:
        return []
    voters = study.names_of({report.voter for report in reports})
    names = Names.of(study.problem).candidates
    return [
        (report, names[report.candidate], voter_name(report.voter, voters.get(report.voter)))
        for report in reports
    ]
