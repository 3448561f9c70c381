"""``duelmatch study create``: begin a study."""

from __future__ import annotations

from typing import Any

import click

from duelmatch.cli.options import Between, Source, file_argument, json_option
from duelmatch.cli.output import Page, counted, print_json
from duelmatch.cli.settings import settings_options, settle
from duelmatch.cli.stores import opened_store, store_option


@click.command("create")
@file_argument
@store_option
@click.option("--name", help="What the study is called.  [default: FILE's name]")
@settings_options
@click.option(
    "--lease",
    type=Between(0),
    default=300.0,
    show_default=True,
    help="Seconds after which an unanswered question goes to somebody else.",
)
@click.option(
    "--ties/--no-ties", default=True, help="Whether voters may call it a tie, which a coin then decides."
)
@click.option("--skips/--no-skips", default=True, help="Whether voters may pass.")
@click.option("--once", is_flag=True, help="Ask nobody the same question twice.")
@click.option(
    "--ahead",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    help="How many answers to ask for beyond what is needed now, so that nobody waits for others.",
)
@json_option
def create(
    source: Source,
    url: str,
    name: str | None,
    max_duels: int | None,
    lease: float,
    ties: bool,
    skips: bool,
    once: bool,
    ahead: int,
    as_json: bool,
    **given: Any,
) -> None:
    """Begin a study of the problem in FILE.

    The link key of the organiser is printed now and never again; it is stored hashed.

    \b
    Example:
      duelmatch study create example:lineup
      duelmatch study create team.yaml --store postgresql://me@localhost/duels --no-ties --lease 60
    """  # noqa: D301
    from duelmatch.studies import Settings
    from duelmatch.studies.settings import BATCH

    problem = source.document.problem()
    run = settle(given, {"batch": BATCH})
    settings = Settings(
        run.algorithm,
        run.delta,
        given["seed"],
        dict(run.parameters),
        lease,
        ties,
        skips,
        once,
        ahead,
        max_duels,
    )
    with opened_store(url, new=True) as store:
        study = store.create(problem, settings, name or source.stem)
        key = study.new_key("organiser")
    if as_json:
        print_json(
            {"study": study.id, "name": study.name, "organiser_key": key, "settings": settings.as_dict()}
        )
        return
    page = Page()
    page.heading(f"{study.name}: a new study")
    sizes = f"{counted(len(problem.candidates), 'candidate')}, {counted(len(problem.positions), 'position')}"
    page.facts(
        [("Study", study.id), ("Problem", sizes), ("Algorithm", run.algorithm), ("Organiser's key", key)]
    )
    page.paragraph("Keep the key: it is not shown again. Ask somebody: duelmatch study ask --voter NAME")
