"""``duelmatch algorithms``: what there is to run."""

from __future__ import annotations

import click

from duelmatch.cli.options import json_option
from duelmatch.cli.output import Page, print_json
from duelmatch.explorers.catalogue import DEFAULT, algorithms, described


@click.command("algorithms")
@json_option
def command(as_json: bool) -> None:
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
    if as_json:
        print_json({"algorithms": rows})
        return
    page = Page()
    page.table(
        {"Name": "left", "Winner": "left", "What it promises": "left", "When to use it": "left"},
        [
            (
                str(row["name"]),
                "Either" if row["answered_by"] == "panel" else str(row["criterion"]).capitalize(),
                str(row["guarantee"]),
                str(row["use"]),
            )
            for row in rows
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
