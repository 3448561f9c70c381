"""``duelmatch study``: run a study with many voters, or look after one."""

from __future__ import annotations

from typing import Any

import click

from duelmatch.cli.options import Between, Source, file_argument, json_option, settings_options, settle
from duelmatch.cli.output import Page, counted, print_json
from duelmatch.cli.store import opened_store, store_option
from duelmatch.cli.study import changes, show, vote

BATCH = 10
"""As in :mod:`duelmatch.studies.settings`, which needs a database library that help does not."""


@click.group("study")
def command() -> None:
    """Run a study with many voters: ask them, take their answers, see where it stands.

    A study is kept in a database: the file duels.db in the current folder, or what --store or the environment
    variable DUELMATCH_STORE says. If there are several studies in it, --study says which one.

    \b
    Example:
      duelmatch study create example:lineup
      duelmatch study ask --voter ann
      duelmatch study tell 1 foxes --voter ann
      duelmatch study status
    """  # noqa: D301


@command.command("create")
@file_argument
@store_option
@click.option("--name", help="What the study is called.  [default: FILE's name]")
@settings_options(batch=BATCH)
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
@click.option("--skips/--no-skips", default=True, help="Whether voters may skip a question.")
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
    source: Source, url: str, name: str | None, max_duels: int | None, as_json: bool, **given: Any
) -> None:
    """Begin a study of the problem in FILE.

    The token of the organiser's link is printed now and never again; only its hash is stored.

    \b
    Example:
      duelmatch study create example:lineup
      duelmatch study create team.yaml --store postgresql://me@localhost/duels --no-ties --lease 60
    """  # noqa: D301
    from duelmatch.studies import Settings

    problem = source.document.problem()
    own = {option: given.pop(option) for option in ("lease", "ties", "skips", "once", "ahead")}
    run = settle(given, {"batch": BATCH})
    settings = Settings(run.algorithm, run.delta, run.seed, dict(run.parameters), **own, max_votes=max_duels)
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
        [
            ("Study", study.id),
            ("Problem", sizes),
            ("Algorithm", run.algorithm),
            ("Seed", f"{run.seed}"),
            ("Organiser's key", key),
        ]
    )
    page.paragraph("Keep the key: it is not shown again. Ask somebody: duelmatch study ask --voter NAME")


for part in (*vote.COMMANDS, *show.COMMANDS, *changes.COMMANDS):
    command.add_command(part)
