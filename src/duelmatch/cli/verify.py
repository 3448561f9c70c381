"""``duelmatch verify``: whether a log is whole, and what follows from it."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click

from duelmatch.cli import DAMAGED
from duelmatch.cli.options import STDIN, STDIN_NAME
from duelmatch.cli.output import Output, Page, printed, spoken_titles, titled, unsettled_label, utc_time
from duelmatch.errors import FileError
from duelmatch.files.documents import explaining, naming
from duelmatch.phrases import votes_in_100
from duelmatch.verify import LineupVerdict, Verification, checked_receipt, verify

AGREED, DIFFERS = 0, 1
NOTHING = "nothing is decided"
NOBODY_LEADS = "nothing is decided, and nobody leads: there is no vote that counts"
ESTIMATE = (
    "Who leads on the pages and in 'duelmatch study status' is an estimate. That is no part of the log's "
    "verdict, and may be another line-up."
)


class ReceiptText(click.ParamType[str]):
    """A receipt, or enough of its beginning."""

    name = "hash"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse what is none."""
        try:
            return checked_receipt(value)
        except FileError as error:
            self.fail(str(error), param, ctx)


@click.command("verify")
@click.argument("log", metavar="LOG", type=click.Path(allow_dash=True, path_type=Path))
@click.option(
    "--receipt",
    "receipts",
    metavar="HASH",
    multiple=True,
    type=ReceiptText(),
    help="A hash that a voter was given, or its first 12 characters: the entry must be there. Can be "
    "repeated.",
)
@printed
def command(log: Path, receipts: Sequence[str]) -> Output:
    """Check the log of a study, and recompute its verdict.

    LOG is what `duelmatch study export` has written; - is standard input. Every entry has the hash of the
    one before it, so one that was changed, removed or moved is found. Whether the end was cut off can be seen
    from receipts only. The verdict is computed anew by a second implementation and compared with the
    recorded one.

    Exit codes: 0 if all agrees, 1 if the verdict is another, 8 if the log is damaged, 2 for wrong usage, and
    3 if LOG cannot be read, or is no log.

    \b
    Example:
      duelmatch study export log.jsonl
      duelmatch verify log.jsonl --receipt 8c2f01d9a47e
    """
    report = verify(_lines(log), receipts)
    shown = asdict(report) | {"differs": report.differs}
    del shown["titles"]  # programs know everything by its name
    return Output(
        shown,
        lambda page: _print(page, report),
        DAMAGED if report.damage else DIFFERS if report.differs else AGREED,
    )


def _lines(log: Path) -> Iterator[str]:
    """Yield the lines of a file, or of standard input, with or without a byte order mark."""
    with naming(STDIN_NAME if str(log) == STDIN else log), explaining("read"), ExitStack() as stack:
        file = sys.stdin.buffer if str(log) == STDIN else stack.enter_context(open(log, "rb"))
        for line in file:
            yield line.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape")


def _print(page: Page, report: Verification) -> None:
    page.heading("Log")
    if report.damage:
        page.paragraph(f"DAMAGED. {report.damage}")
        return
    entries = (
        "1 entry, with its hash"
        if report.entries == 1
        else f"{report.entries:,} entries, each with the hash of the one before"
    )
    page.paragraph(f"{entries}: nothing was changed.")
    for one in report.receipts:
        time = f"{utc_time(one.at)} (UTC)"
        page.line(f"Receipt {one.receipt[:12]}: entry {one.entry:,}, '{one.kind}', of {time}.")
    page.heading("Verdict")
    recorded = "none; the study is open" if report.recorded is None else _said(report.recorded, report)
    recomputed = str(report.reason) if report.found is None else _said(report.found, report)
    page.facts([("Recorded", recorded), ("Recomputed", recomputed)])
    shown = report.found or report.recorded
    if shown is not None and shown.lineup is not None:
        heading = "Candidate"
        if shown.status == "budget_spent":
            heading = f"{unsettled_label(shown.shortfall)} (NOT A WINNER)"
            page.paragraph(_undecided(shown))
        page.table(
            ["Position", heading],
            [
                [titled(place, report.titles), spoken_titles(names, report.titles)]
                for place, names in zip(report.positions, shown.lineup, strict=True)
            ],
        )
    if report.recorded is not None and report.found is not None:
        page.paragraph("They DIFFER." if report.differs else "They agree.")


def _undecided(verdict: LineupVerdict) -> str:
    """Say what the line-up is that a log records although nothing is decided."""
    if verdict.shortfall is None:
        sentence = "Nothing is proven: this log has no winner. Below is the line-up that its test put first."
    else:
        sentence = (
            "Nothing is decided: this log has no winner. Below is the line-up of the log, and how far it can "
            "fall short: whatever the missing votes say, it is behind any other by at most "
            f"{votes_in_100(verdict.shortfall)} at each position."
        )
    return f"{sentence} {ESTIMATE}"


def _said(verdict: LineupVerdict, report: Verification) -> str:
    text = verdict.status
    if verdict.status == "budget_spent":
        text = NOBODY_LEADS if verdict.lineup is None else NOTHING
        if not report.differs:
            return text
    if verdict.lineup is not None:
        text += f": {', '.join(spoken_titles(names, report.titles) for names in verdict.lineup)}"
    if verdict.shortfall:
        text += f" (behind another by {verdict.shortfall:.4f} per position at most)"
    return text
