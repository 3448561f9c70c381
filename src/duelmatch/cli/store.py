"""``duelmatch store``: look after a database of studies. And for all commands: which database and study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duelmatch.cli.options import ANY_PATH, FILE_PATH
from duelmatch.cli.output import Output, printed, working
from duelmatch.errors import StoreError, StudyError, listed

if TYPE_CHECKING:
    from duelmatch.studies import Store, Study

store_option = click.option(
    "--store",
    "url",
    metavar="URL",
    default="sqlite:///duels.db",
    envvar="DUELMATCH_STORE",
    show_envvar=True,
    help="The database: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME.",
)
study_option = click.option(
    "--study", "study_id", metavar="ID", help="Which study; not needed if there is only one."
)


def server_option(help: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option that says where links lead."""
    return click.option("--server", metavar="ADDRESS", default="http://127.0.0.1:8000", help=help)


def link_address(server: str, token: str) -> str:
    """Return the address of a link."""
    return f"{server.rstrip('/')}/l/{token}"


def on_study(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options --store and --study, and pass it the study that they name, open."""

    @wraps(command)
    def with_study(*arguments: Any, url: str, study_id: str | None, **options: Any) -> None:
        with opened_store(url) as store:
            command(*arguments, study=_found(store, study_id), **options)

    return store_option(study_option(with_study))


def _found(store: Store, study_id: str | None) -> Study:
    """Return the study with this id, or the only one there is."""
    if study_id is None:
        found = [study.id for study in store.studies()]
        if not found:
            raise StudyError(
                "There is no study in this database. Create one with: duelmatch study create FILE"
            )
        if len(found) > 1:
            raise StudyError(
                f"There are {len(found):,} studies here, {listed(found)}: say which with --study."
            )
        (study_id,) = found
    return store.study(study_id)


def opened_store(url: str, new: bool = False) -> Store:
    """Open a database; unless it may be a new one, it must be there."""
    from duelmatch.studies import Store

    if not new:
        _check_there(url)
    return Store(url)


def _check_there(url: str) -> None:
    """Refuse a file that is not there, rather than make an empty one."""
    prefix = "sqlite:///"
    if url.startswith(prefix) and not Path(url.removeprefix(prefix)).exists():
        raise StoreError(
            f"There is no file '{url.removeprefix(prefix)}'. Begin with: duelmatch study create FILE"
        )


@click.group("store")
def command() -> None:
    """Look after a database of studies: upgrade it, back it up, restore it.

    \b
    Example:
      duelmatch store backup friday.gz
      duelmatch store restore friday.gz --store postgresql://me@localhost/duels
    """


@command.command("upgrade")
@store_option
@printed
def upgrade(url: str) -> Output:
    """Upgrade a database to this version of duelmatch. Make a backup first.

    \b
    Example:
      duelmatch store upgrade
    """
    from duelmatch.studies.database import Database

    _check_there(url)
    with closing(Database(url)) as database, working("Changing the tables"):
        before, after = database.upgrade()
    now = "" if before == after else " now"
    return Output(
        {"before": before, "after": after}, f"{database} is up to date{now}: its tables are at {after}."
    )


@command.command("backup")
@click.argument("file", metavar="FILE", type=FILE_PATH)
@store_option
@printed
def backup(file: Path, url: str) -> Output:
    """Write all studies, voters and links to FILE. It is gzipped, and voting goes on meanwhile.

    Only you can read FILE: it holds the names of voters, and the hashes of links.

    \b
    Example:
      duelmatch store backup friday.gz
    """
    from duelmatch.studies.backup import backup as write_backup

    with opened_store(url) as store, working("Writing"):
        counts = write_backup(store.database, file)
    return _report(counts, f"are in {file}")


@command.command("restore")
@click.argument("file", metavar="FILE", type=ANY_PATH)
@store_option
@printed
def restore(file: Path, url: str) -> Output:
    """Put what `backup` wrote into an empty database. It may be of either kind, and gets all or nothing.

    \b
    Example:
      duelmatch store restore friday.gz --store sqlite:///again.db
    """
    from duelmatch.studies.backup import restore as put_back
    from duelmatch.studies.database import Database

    with closing(Database(url)) as database, working("Reading"):
        counts = put_back(database, file)
    return _report(counts, "are restored")


def _report(counts: Mapping[str, int], done: str) -> Output:
    studies, entries = counts.get("studies", 0), counts.get("entries", 0)
    many = f"{studies:,} {'study' if studies == 1 else 'studies'} with {entries:,} "
    sentence = f"{many}{'entry' if entries == 1 else 'entries'} in the log {done}."
    return Output({"rows": dict(counts)}, sentence)
