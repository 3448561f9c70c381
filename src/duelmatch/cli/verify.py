"""``duelmatch verify``: whether a log is whole, and what follows from it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TextIO

import click

from duelmatch.cli.options import json_option
from duelmatch.cli.output import Page, print_json
from duelmatch.verify import Report, Verdict, verify

AGREED, DIFFERS, DAMAGED = 0, 1, 2


@click.command("verify")
@click.argument("log", metavar="LOG", type=click.File(encoding="utf-8", errors="surrogateescape"))
@click.option(
    "--receipt",
    "receipts",
    metavar="HASH",
    multiple=True,
    help="A hash that a voter was given, or its first letters: the entry must be there. Can be repeated.",
)
@json_option
def command(log: TextIO, receipts: Sequence[str], as_json: bool) -> None:
    """Check the log of a study, and recompute its verdict.

    LOG is what ``duelmatch study export`` has written; - is standard input. Every entry has the hash of the
    one before it, so one that was changed, removed or moved is found. Whether the end was cut off can be seen
    from receipts only. The verdict is computed anew by a second implementation and compared with the
    recorded one.

    Exit codes: 0 if all agrees, 1 if the verdict is another, 2 if the log is damaged.

    \b
    Example:
      duelmatch study export log.jsonl
      duelmatch verify log.jsonl --receipt 8c2f01d9
    """  # noqa: D301
    report = verify(_lines(log), receipts)
    if as_json:
        print_json(asdict(report) | {"differs": report.differs})
    else:
        _print(report)
    sys.exit(DAMAGED if report.damage else DIFFERS if report.differs else AGREED)


def _lines(log: Iterable[str]) -> Iterable[str]:
    yield from log


def _print(report: Report) -> None:
    page = Page()
    page.heading("Log")
    if report.damage:
        page.paragraph(f"DAMAGED. {report.damage}")
        return
    page.paragraph(f"{report.entries:,} entries, each with the hash of the one before: nothing was changed.")
    page.heading("Verdict")
    page.facts(
        [
            ("Recorded", "none; the study is open" if report.recorded is None else _said(report.recorded)),
            ("Recomputed", report.reason if report.found is None else _said(report.found)),  # type: ignore[list-item]
        ]
    )
    shown = report.found or report.recorded
    if shown is not None and shown.lineup is not None:
        page.table(
            {"Position": "left", "Candidate": "left"},
            [list(row) for row in zip(report.positions, shown.lineup, strict=True)],
        )
    if report.recorded is not None and report.found is not None:
        page.paragraph("They DIFFER." if report.differs else "They agree.")


def _said(verdict: Verdict) -> str:
    text = verdict.status
    if verdict.lineup is not None:
        text += f": {', '.join(verdict.lineup)}"
    if verdict.shortfall:
        text += f" (behind another by {verdict.shortfall:.4f} per position at most)"
    return text
