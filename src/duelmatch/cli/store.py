"""``duelmatch store``: look after a database of studies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from duelmatch.cli.options import json_option
from duelmatch.cli.output import Page, print_json, working
from duelmatch.cli.stores import check_there, store_option


@click.group("store")
def command() -> None:
    """Look after a database of studies: bring it up to date, back it up, restore it.

    \b
    Example:
      duelmatch store backup friday.gz
      duelmatch store restore friday.gz --store postgresql://me@localhost/duels
    """  # noqa: D301


@command.command("upgrade")
@store_option
@json_option
def upgrade(url: str, as_json: bool) -> None:
    """Bring a database up to date with this version of duelmatch. Make a backup first.

    \b
    Example:
      duelmatch store upgrade
    """  # noqa: D301
    from duelmatch.studies.database import Database

    check_there(url)
    database = Database(url)
    try:
        with working("Changing the tables"):
            before, after = database.upgrade()
    finally:
        database.close()
    if as_json:
        print_json({"before": before, "after": after})
    elif before == after:
        Page().paragraph(f"{database} is up to date: its tables are at {after}.")
    else:
        Page().paragraph(f"{database} is up to date now: its tables are at {after}.")


@command.command("backup")
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@store_option
@json_option
def backup(file: Path, url: str, as_json: bool) -> None:
    """Write all studies, voters and links to FILE (gzipped), while voting goes on.

    FILE is readable for you alone: it holds the names of voters, and the hashes of links.

    \b
    Example:
      duelmatch store backup friday.gz
    """  # noqa: D301
    from duelmatch.studies import Store
    from duelmatch.studies.backup import backup as write_backup

    check_there(url)
    with Store(url) as store, working("Writing"):
        counts = write_backup(store.database, file)
    _report(counts, f"are in {file}", as_json)


@command.command("restore")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@store_option
@json_option
def restore(file: Path, url: str, as_json: bool) -> None:
    """Put what `backup` wrote into an empty database, of either kind: all of it, or nothing.

    \b
    Example:
      duelmatch store restore friday.gz --store sqlite:///again.db
    """  # noqa: D301
    from duelmatch.studies.backup import restore as put_back
    from duelmatch.studies.database import Database

    database = Database(url)
    try:
        with working("Reading"):
            counts = put_back(database, file)
    finally:
        database.close()
    _report(counts, "are restored", as_json)


def _report(counts: Mapping[str, int], done: str, as_json: bool) -> None:
    if as_json:
        print_json({"rows": dict(counts)})
        return
    studies, entries = counts.get("studies", 0), counts.get("entries", 0)
    many = f"{studies:,} {'study' if studies == 1 else 'studies'} with {entries:,} "
    Page().paragraph(f"{many}{'entry' if entries == 1 else 'entries'} in the log {done}.")
