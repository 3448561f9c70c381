"""``duelmatch study export`` and ``import``: a study as a file, and back."""

from __future__ import annotations

from pathlib import Path

import click

from duelmatch.cli.options import STDIN, STDIN_NAME, json_option, stdin_text
from duelmatch.cli.output import Page, counted, print_json
from duelmatch.cli.stores import opened_store, opened_study, store_option, study_option
from duelmatch.errors import FileError

MOST_BYTES = 500_000_000


@click.command("export")
@click.argument("target", metavar="FILE", required=False, type=click.Path(dir_okay=False, path_type=Path))
@store_option
@study_option
@click.option("--csv", "as_csv", is_flag=True, help="The answers as CSV, also if FILE does not end in .csv.")
@click.option("--voters", is_flag=True, help="With the names of the voters.")
def export(target: Path | None, url: str, study_id: str | None, as_csv: bool, voters: bool) -> None:
    """Write all of a study to FILE as JSON, or its answers as CSV if FILE ends in .csv.

    Without FILE, it is printed.

    Names of voters are left out unless asked for; they appear by number. Links are never in it.

    \b
    Example:
      duelmatch study export lineup.json
      duelmatch study export answers.csv
    """  # noqa: D301
    from duelmatch.files.text import naming, write_text
    from duelmatch.studies.exchange import export_csv, export_json

    with opened_study(url, study_id) as study:
        wants_csv = as_csv or (target is not None and target.suffix.lower() == ".csv")
        text = (export_csv if wants_csv else export_json)(study, voters)
    if target is None:
        click.echo(text, nl=False)
        return
    with naming(target) as path:
        write_text(path, text, MOST_BYTES)
    Page().paragraph(f"{study.name} is in {target}.")


@click.command("import")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@store_option
@json_option
def take_in(file: Path, url: str, as_json: bool) -> None:
    """Put a study that was exported as JSON into a database, under a new id.

    \b
    Example:
      duelmatch study import lineup.json --store postgresql://me@localhost/duels
    """  # noqa: D301
    from duelmatch.files.text import naming, read_text
    from duelmatch.studies.exchange import import_json

    text = stdin_text(MOST_BYTES) if str(file) == STDIN else None
    with naming(file if text is None else STDIN_NAME) as path:
        if path.suffix.lower() == ".csv":
            raise FileError("A CSV has the answers only; import what was exported as JSON.")
        text = text or read_text(path, MOST_BYTES)
        with opened_store(url, new=True) as store:
            study = import_json(store, text)
            where = study.status()
    if as_json:
        print_json({"study": study.id, "name": study.name, "votes": where.counted, "entries": where.entries})
    else:
        Page().paragraph(f"{study.name} is here as study {study.id}, with {counted(where.counted, 'vote')}.")
