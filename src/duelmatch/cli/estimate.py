"""``duelmatch estimate``: pairwise answers, or a PrefLib file, into a problem with preferences."""

from __future__ import annotations

from pathlib import Path

import click

from duelmatch.cli.options import STDIN, STDIN_NAME, Between, json_option, stdin_text
from duelmatch.cli.output import Page, counted, print_json


@click.command("estimate")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PROBLEM",
    required=True,
    help="Where to put the problem with its preferences: a path that ends in .yaml or .json.",
)
@click.option(
    "--problem",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Who can fill what; by default, whoever was compared at a position can fill it.",
)
@click.option(
    "--method",
    type=click.Choice(["bradley-terry", "frequencies"]),
    default="bradley-terry",
    show_default=True,
    help="A strength for each candidate at each position, or every pair by itself.",
)
@click.option(
    "--smoothing",
    type=Between(0),
    default=1.0,
    show_default=True,
    help="How many imagined answers to add to every pair, half for each side.",
)
@json_option
def command(
    file: Path, out: Path, problem: Path | None, method: str, smoothing: float, as_json: bool
) -> None:
    """Estimate preferences from the answers in FILE, for all other commands to work with.

    FILE is a CSV of position,winner,loser and perhaps weight; what `duelmatch ask` keeps is one. Or it is a
    PrefLib file of complete orders (.soc, .toc), which become the preferences of one position: the share of
    voters who put one before the other. `-` is standard input, for a CSV.

    \b
    Example:
      duelmatch estimate results.csv --out team.yaml
      duelmatch simulate team.yaml
    """  # noqa: D301
    import duelmatch as dm
    from duelmatch.files.answers import ANSWERS_BYTES, read_answers
    from duelmatch.files.preflib import SUFFIXES
    from duelmatch.files.text import naming

    if file.suffix.lower() in (*SUFFIXES, ".soi", ".toi"):
        if problem is not None:
            raise click.UsageError("A PrefLib file is one position and all its candidates: no --problem.")
        preferences = dm.load_preflib(file)
    elif str(file) == STDIN:
        known = None if problem is None else dm.load_problem(problem)
        text = stdin_text(ANSWERS_BYTES)
        with naming(STDIN_NAME):
            answers = read_answers(text, known)
            preferences = dm.estimate_preferences(answers, known, method, smoothing)  # type: ignore[arg-type]
    else:
        preferences = dm.estimate_preferences(file, problem, method, smoothing)  # type: ignore[arg-type]
    found = preferences.problem
    dm.save_problem(found, out, preferences)
    if as_json:
        print_json(
            {
                "file": STDIN_NAME if str(file) == STDIN else str(file),
                "out": str(out),
                "candidates": len(found.candidates),
                "positions": len(found.positions),
                "pairs": found.graph.pairs,
            }
        )
        return
    candidates, positions = (
        counted(len(found.candidates), "candidate"),
        counted(len(found.positions), "position"),
    )
    page = Page()
    page.paragraph(f"{out}: {candidates} for {positions}, {counted(found.graph.pairs, 'pair')}.")
    page.line(f"Estimates, not facts. Next: duelmatch winners {out}")
