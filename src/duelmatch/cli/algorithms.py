"""``duelmatch algorithms``: what there is to run."""

from __future__ import annotations

import click

from duelmatch.cli.output import Output, Page, printed
from duelmatch.explorers.catalogue import DEFAULT, algorithms, described


@click.command("algorithms")
@printed
def command() -> Output:
    """List the algorithms: which winner each one finds, what it promises, and when to use it.

    \b
    Example:
      duelmatch algorithms
      duelmatch simulate example:lineup --algorithm borda
    """
    rows = [
        {
            "name": algorithm.name,
            "criterion": algorithm.criterion,
            "guarantee": algorithm.guarantee,
            "use": algorithm.use,
            "assuming": list(algorithm.assuming),
            "answers": list(algorithm.answers),
            "answered_by": algorithm.answered_by,
            "parameters": [
                {"name": own.name, "default": own.default, "range": own.range, "help": own.help}
                for own in algorithm.parameters
            ],
            "default": algorithm.name == DEFAULT,
        }
        for algorithm in map(described, algorithms())
    ]
    return Output({"algorithms": rows}, _print)


def _print(page: Page) -> None:
    page.table(
        ["Name", "Winner", "What it promises", "When to use it"],
        [
            (
                algorithm.name,
                "Either" if algorithm.answered_by == "panel" else algorithm.criterion.capitalize(),
                algorithm.guarantee,
                algorithm.use,
            )
            for algorithm in map(described, algorithms())
        ],
    )
    page.paragraph(
        f"The default is {DEFAULT}. All promises but that of panel assume that each duel is answered "
        "independently, with probabilities that stay the same; for voters with ballots, that each voter is "
        "an independent draw. A panel is a known group of judges, who are counted: duelmatch decide --help."
    )
    for algorithm in map(described, algorithms("crowd")):
        names = ", ".join(f"--{own.name.replace('_', '-')}" for own in algorithm.parameters)
        page.paragraph(f"{algorithm.name} has {names or 'no parameters'}.")
    page.paragraph("`duelmatch simulate --help` explains them.")
