"""Which database of studies a command works on, and which study in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from duelmatch.errors import StoreError, StudyError, listed

if TYPE_CHECKING:
    from duelmatch.studies import Store, Study

DEFAULT_STORE = "sqlite:///duels.db"

store_option = click.option(
    "--store",
    "url",
    metavar="URL",
    default=DEFAULT_STORE,
    envvar="DUELMATCH_STORE",
    show_default=True,
    show_envvar=True,
    help="The database: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME.",
)
study_option = click.option(
    "--study", "study_id", metavar="ID", help="Which study; not needed if there is one only."
)
voter_option = click.option(
    "--voter", required=True, metavar="NAME", help="Who votes; a new name is a new voter."
)


@contextmanager
def opened_store(url: str, new: bool = False) -> Iterator[Store]:
    """Open a store; unless it may be a new one, it must be there."""
    from duelmatch.studies import Store

    if not new:
        check_there(url)
    with Store(url) as store:
        yield store


@contextmanager
def opened_study(url: str, study_id: str | None) -> Iterator[Study]:
    """Open the study with this id, or the only one there is."""
    with opened_store(url) as store:
        if study_id is None:
            found = [listed.id for listed in store.studies()]
            if not found:
                raise StudyError(
                    "There is no study in this database; begin one with: duelmatch study create FILE"
                )
            if len(found) > 1:
                raise StudyError(
                    f"There are {len(found):,} studies here, {listed(found)}: say which with --study."
                )
            (study_id,) = found
        yield store.study(study_id)


def check_there(url: str) -> None:
    """Refuse a file that is not there, rather than to make an empty one.

    :raises StoreError: if it is not there.
    """
    prefix = "sqlite:///"
    if url.startswith(prefix) and not Path(url.removeprefix(prefix)).exists():
        raise StoreError(
            f"There is no file '{url.removeprefix(prefix)}'. Begin with: duelmatch study create FILE"
        )
