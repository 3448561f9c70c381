"""What voters have reported about candidates, in words, for the organiser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from duelmatch.studies import Report, Study, Trouble
from duelmatch.web.answer_pages import voter_name
from duelmatch.web.names import Named, Names

SENTENCES: Mapping[Trouble, str] = {
    "absent": "cannot be found",
    "link": "a link or picture does not work",
    "other": "something is wrong",
}


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A report as it is shown."""

    report: Report
    candidate: Named
    sentence: str
    voter: str
    time: str
    """As ISO 8601 has it; the page shows it as the reader writes times."""


MOST_SHOWN = 100


def reports_of(study: Study) -> list[ReportRow]:
    """Return the latest of what voters have said is wrong with candidates, and nobody has mended."""
    reports = study.reports(limit=MOST_SHOWN)
    if not reports:
        return []
    voters = study.names_of({report.voter for report in reports})
    names = Names.of(study.problem).candidates
    return [
        ReportRow(
            report,
            names[report.candidate],
            SENTENCES[report.problem],
            voter_name(report.voter, voters.get(report.voter)),
            datetime.fromtimestamp(report.at, UTC).isoformat(timespec="seconds"),
        )
        for report in reports
    ]
