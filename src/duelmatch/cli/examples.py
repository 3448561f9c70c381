"""``duelmatch examples``: the problems that come with the package."""

from __future__ import annotations

import click

import duelmatch as dm
from duelmatch.cli.output import Output, printed
from duelmatch.files.problems import EXAMPLE


@click.command("examples")
@click.argument("name", required=False)
@printed
def command(name: str | None) -> Output:
    """List the bundled examples, or print the file of the example NAME.

    Wherever a command expects FILE, example:NAME names one of them. Printed, an example is a good start
    for a file of your own.

    \b
    Example:
      duelmatch examples
      duelmatch examples lineup > mine.yaml
    """
    if name is not None:
        text = dm.instances.example_path(name.removeprefix(EXAMPLE)).read_text(encoding="utf-8")
        summary = {"file": EXAMPLE + name.removeprefix(EXAMPLE), "text": text}
        return Output(summary, lambda _: click.echo(text, nl=False))
    rows = [_about(name) for name in dm.instances.example_names()]
    cells = [(row["file"], row["question"], f"{row['candidates']} for {row['positions']}") for row in rows]
    return Output({"examples": rows}, lambda page: page.table(["Name", "Question", "Size"], cells))


def _about(name: str) -> dict[str, str | int]:
    problem = dm.instances.example(name).problem
    with dm.instances.example_path(name).open(encoding="utf-8") as file:
        question = file.readline().removeprefix("#").strip()
    return {
        "name": name,
        "file": EXAMPLE + name,
        "question": question,
        "candidates": len(problem.candidates),
        "positions": len(problem.positions),
    }
