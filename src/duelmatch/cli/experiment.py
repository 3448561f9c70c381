"""``duelmatch experiment``: many simulated runs, saved as they finish, resumed, compared and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duelmatch.cli import INTERRUPTED, refuse
from duelmatch.cli.options import ANY_PATH, FILE_PATH, FOLDER_PATH, flag
from duelmatch.cli.output import Output, Page, picked, printed, progress_bar, working
from duelmatch.phrases import counted

if TYPE_CHECKING:
    from duelmatch.experiments import ExperimentStatus, Tick

MOST_ROWS = 40

jobs_option = click.option(
    "--jobs", type=click.IntRange(1), help="How many processes to use.  [default: one per processor]"
)
folder_argument = click.argument("folder", metavar="DIR", type=FOLDER_PATH)


@click.group("experiment")
def command() -> None:
    """Compare algorithms over thousands of simulated runs.

    An experiment is a TOML file: problems, algorithms, deltas, repetitions, a seed. Results are saved in a
    folder as runs finish; after an interruption, the same command carries on.

    \b
    Example:
      duelmatch experiment run compare.toml --out compare
      duelmatch experiment status compare
      duelmatch experiment report compare
    """


@command.command("run")
@click.argument("file", type=FILE_PATH)
@click.option(
    "--out",
    type=FOLDER_PATH,
    metavar="DIR",
    required=True,
    help="The folder for the results; it is created if it does not exist.",
)
@jobs_option
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Use the Dask cluster with this scheduler, such as tcp://host:8786.",
)
@flag(
    "--accept-changes",
    "Carry on although FILE or the version of duelmatch has changed; results that still fit are used.",
)
@printed
def run(file: Path, out: Path, jobs: int | None, scheduler: str | None, accept_changes: bool) -> Output:
    """Run the experiment in FILE, or whatever is still missing of it.

    Every result is on disk as soon as its run is finished. Ctrl-C, a crash or a power failure loses only the
    runs in progress; the same command then does the rest.

    \b
    Example of a FILE:
      seed = 1
      repetitions = 200
      deltas = [0.1, 0.01, 0.001]
      [[problems]]
      generator = "equal_gaps"
      positions = 3
      gap = [0.1, 0.2, 0.4]
      [[algorithms]]
      name = "car-cond"
    """
    if jobs is not None and scheduler is not None:
        raise click.UsageError("--jobs is for this machine, and --scheduler for a cluster: give one.")
    status = _run(file, out, jobs, scheduler, accept_changes)

    def show(page: Page) -> None:
        page.paragraph(
            f"{status.title}: all {counted(status.runs, 'run')} are done, with seed {status.seed}."
        )
        _say_what_failed(page, status)
        page.paragraph(f"To look at them: duelmatch experiment report {out}")

    return Output(_as_dict(status), show)


def _run(
    file: Path, out: Path, jobs: int | None, scheduler: str | None = None, accept_changes: bool = False
) -> ExperimentStatus:
    """Do what is missing, and show how far it is; say what is saved when it is interrupted."""
    from duelmatch import experiments

    experiment = experiments.load(file)
    try:
        with progress_bar(experiment.runs) as show:
            return experiments.run(
                experiment,
                out,
                jobs,
                scheduler,
                accept_changes,
                lambda tick: show(tick.done, _words(tick), tick.seconds_left),
            )
    except KeyboardInterrupt:
        done = experiments.status(out).done if (out / "experiment.json").exists() else 0
        runs = counted(experiment.runs, "run")
        refuse(f"Interrupted. {done:,} of {runs} are saved; the same command does the rest.", INTERRUPTED)


@command.command("status")
@folder_argument
@printed
def status_(folder: Path) -> Output:
    """Show the progress of the experiment in DIR. It may still be running.

    \b
    Example:
      duelmatch experiment status compare
    """
    from duelmatch import experiments

    status = experiments.status(folder)
    return Output(_as_dict(status), lambda page: _print_status(page, status))


def _print_status(page: Page, status: ExperimentStatus) -> None:
    page.heading(f"{status.title}: {status.done:,} of {counted(status.runs, 'run')} done; seed {status.seed}")
    rows = [
        (cell.instance.label, cell.variant.label, f"{cell.delta:g}", f"{done:,} of {status.repetitions:,}")
        for cell, done in status.cells
    ]
    page.table(["Problem", "Algorithm", "Delta", "Runs"], rows[:MOST_ROWS], right=["Delta", "Runs"])
    if len(rows) > MOST_ROWS:
        page.line(f"... and {counted(len(rows) - MOST_ROWS, 'more cell')}; --json lists them all.")
    _say_what_failed(page, status)
    if status.unused:
        page.paragraph(
            f"{counted(status.unused, 'further result')} belong to an earlier form of the experiment; they "
            "stay in the folder, unused."
        )


@command.command("report")
@folder_argument
@click.option(
    "--to",
    type=FOLDER_PATH,
    metavar="DIR",
    help="Where the page and the figures go.  [default: report, in the experiment's folder]",
)
@printed
def report(folder: Path, to: Path | None) -> Output:
    """Write a page about the experiment in DIR, even if it is unfinished.

    The page, report.html, has tables and figures. It is self-contained, so you can send it to anyone. The
    figures are saved beside it as SVG and PNG, and the tables as CSV.

    \b
    Example:
      duelmatch experiment report compare
    """
    from duelmatch import experiments

    with working("Drawing"):
        page_path = experiments.report(folder, to)
    files = sorted(str(path.relative_to(page_path.parent)) for path in page_path.parent.rglob("*.*"))
    return Output({"report": str(page_path), "files": files}, lambda _: click.echo(f"Report: {page_path}"))


@command.command("figure")
@click.argument("source", type=ANY_PATH)
@click.argument("name")
@click.option(
    "--to",
    type=FILE_PATH,
    metavar="FILE",
    required=True,
    help="The file to draw to; its ending picks the format: .svg, .pdf, .pgf or .png.",
)
@click.option(
    "--panel",
    "panels",
    metavar="TEXT",
    multiple=True,
    help="Draw only the panels with TEXT in their title; may be given more than once.",
)
@click.option(
    "--out",
    type=FOLDER_PATH,
    metavar="DIR",
    help="The folder for the results, if SOURCE is a file.  [default: FILE without its ending, here]",
)
@jobs_option
@printed
def figure(
    source: Path, name: str, to: Path, panels: tuple[str, ...], out: Path | None, jobs: int | None
) -> Output:
    """Draw one figure of a report, such as duels-against-gap, by itself.

    SOURCE is the folder of an experiment, or the file of one: then whatever is missing of it is run first.
    The figure can be SVG, PDF, PNG, or PGF, which LaTeX sets in the font of the document.

    \b
    Example:
      duelmatch experiment figure compare duels-by-algorithm --to duels.pdf
      duelmatch experiment figure compare.toml duels-against-delta --to delta.pgf --panel lineup
    """
    from duelmatch import experiments
    from duelmatch.drawing import check_format

    check_format(to)
    folder = source
    if source.is_dir():
        if out is not None or jobs is not None:
            raise click.UsageError(
                "--out and --jobs are for the file of an experiment; a folder has its results."
            )
    else:
        folder = Path(source.stem) if out is None else out
        _run(source, folder, jobs)
    with working("Drawing"):
        experiments.figure(folder, name, to, panels)
    kept = f"\nResults, kept for other figures: {folder}" if folder != source else ""
    return Output({"figure": str(to), "results": str(folder)}, lambda _: click.echo(f"Figure: {to}{kept}"))


def _say_what_failed(page: Page, status: ExperimentStatus) -> None:
    if status.failed:
        page.paragraph(f"{counted(status.failed, 'run')} ended with an error, such as: {status.failures[0]}")


def _as_dict(status: ExperimentStatus) -> dict[str, Any]:
    cells = [
        {
            "problem": cell.instance.label,
            "algorithm": cell.variant.label,
            "delta": cell.delta,
            "cell": cell.key,
            "done": done,
        }
        for cell, done in status.cells
    ]
    about = picked(status, "title", "seed", "runs", "done", "failed", "failures", "unused", "repetitions")
    return about | {"cells": cells, "sessions": status.sessions}


def _words(tick: Tick) -> str:
    words = f"{counted(tick.wrong, 'wrong answer')}"
    return f"{words}, {tick.failed:,} failed" if tick.failed else words
