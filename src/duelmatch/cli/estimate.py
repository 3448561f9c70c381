"""``duelmatch estimate``: pairwise answers, or a PrefLib file, into a problem with preferences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import duelmatch as dm
from duelmatch.cli.options import FILE_PATH, STDIN, STDIN_NAME, Between, given_text
from duelmatch.cli.output import Output, Page, printed
from duelmatch.phrases import counted

if TYPE_CHECKING:
    from duelmatch.estimation import Method


@click.command("estimate")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--out",
    type=FILE_PATH,
    metavar="PROBLEM",
    required=True,
    help="Where to put the problem with its preferences: a path that ends in .yaml or .json.",
)
@click.option(
    "--problem",
    type=FILE_PATH,
    metavar="FILE",
    help="Who can fill what; by default, whoever was compared at a position can fill it.",
)
@click.option(
    "--method",
    type=click.Choice(["bradley-terry", "frequencies"]),
    default="bradley-terry",
    help="Fit a strength for each candidate at each position, or take each pair on its own.",
)
@click.option(
    "--smoothing",
    type=Between(0),
    default=1.0,
    help="How many imagined answers to add to every pair, half for each side.",
)
@printed
def command(file: Path, out: Path, problem: Path | None, method: Method, smoothing: float) -> Output:
    """Estimate preferences from the answers in FILE, for all other commands to work with.

    FILE is a CSV with the columns position,winner,loser, such as `duelmatch ask` writes, or position,ranking
    with rankings such as "ann > bob = cyd"; perhaps also voter, tie (yes or no) and weight. Or it is a
    PrefLib file of complete orders (.soc, .toc), which become the preferences at one position: the share of
    voters who rank one candidate above the other. `-` is a CSV from standard input.

    \b
    Example:
      duelmatch estimate answers.csv --out team.yaml
      duelmatch simulate team.yaml
    """
    preferences = _estimated(file, problem, method, smoothing)
    found = preferences.problem
    dm.save_problem(found, out, preferences)
    sizes = {
        "candidates": len(found.candidates),
        "positions": len(found.positions),
        "pairs": found.graph.pairs,
    }
    candidates, positions, pairs = (counted(number, noun[:-1]) for noun, number in sizes.items())

    def show(page: Page) -> None:
        page.paragraph(f"{out}: {candidates} for {positions}, {pairs}.")
        page.line(f"These are estimates, not facts. Next: duelmatch winners {out}")

    return Output({"file": STDIN_NAME if str(file) == STDIN else str(file), "out": str(out)} | sizes, show)


def _estimated(file: Path, problem: Path | None, method: Method, smoothing: float) -> dm.Preferences:
    from duelmatch.files.answers import ANSWERS_BYTES, read_rankings
    from duelmatch.files.preflib import ALL_SUFFIXES

    if file.suffix.lower() in ALL_SUFFIXES:
        if problem is not None:
            raise click.UsageError("A PrefLib file is one position and all its candidates: no --problem.")
        return dm.load_preflib(file)
    known = None if problem is None else dm.load_problem(problem)
    with given_text(file, ANSWERS_BYTES) as text:
        answers = (row.answer for row in read_rankings(text, known))
        return dm.estimate_preferences(answers, known, method, smoothing)
