"""``duelmatch study status``, ``log``, ``export`` and ``import``: all there is to know about a study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duelmatch.cli.options import STDIN, STDIN_NAME, json_option, stdin_text
from duelmatch.cli.output import Page, counted, print_either, print_json, rounded, working
from duelmatch.cli.standing import meaning, print_matching, probability, still_possible
from duelmatch.cli.store import on_study, opened_store, store_option
from duelmatch.errors import FileError
from duelmatch.files.text import printable

if TYPE_CHECKING:
    from duelmatch.studies import Entry, Status, Study

MOST_BYTES = 500_000_000


@click.command("status")
@on_study
@json_option
def status(study: Study, as_json: bool) -> None:
    """Say where a study stands: answers, voters, the leader, and how sure that is.

    \b
    Example:
      duelmatch study status
    """  # noqa: D301
    with working("Replaying the answers"):
        where = study.status()
    if as_json:
        print_json(_as_dict(where, study))
        return
    page = Page()
    page.heading(f"{where.name}: {where.state}")
    page.facts(_facts(where, study))
    print_matching(page, where.result)
    guess = "This is a guess from the answers so far: nothing is certain yet."
    page.paragraph(guess if where.result.status == "budget_spent" else meaning(where.result))


def _facts(where: Status, study: Study) -> Iterator[tuple[str, str]]:
    uncounted = where.answers - where.counted
    yield "Study", where.id
    yield "Algorithm", study.settings.algorithm
    yield "Seed", f"{study.settings.seed}"
    yield "Answers", f"{where.counted:,}" + (f" (and {uncounted:,} that do not count)" if uncounted else "")
    yield "Voters", f"{where.voters:,}"
    yield "Open questions", f"{where.open_questions:,}"
    if where.dropped:
        yield "Withdrawn", ", ".join(where.dropped)
    decided = len(where.progress.accepted) + len(where.progress.rejected)
    yield "Decided", f"{decided:,} of {counted(decided + len(where.progress.undecided), 'edge')}"
    if where.done:
        return
    if where.progress.p_value is not None and where.progress.leader is not None:
        yield "Leader", f"p {probability(where.progress.p_value)}; {still_possible(where.progress)}"
    left = where.votes_left
    yield "Answers to go", "not known yet" if left is None else f"about {rounded(left)}"


def _as_dict(where: Status, study: Study) -> dict[str, Any]:
    names = ("id", "name", "state", "done", "entries", "voters", "questions", "open_questions", "answers")
    return {name: getattr(where, name) for name in (*names, "counted", "missing", "unused", "dropped")} | {
        "status": where.result.status,
        "matching": where.result.matching,
        "error_allowed": where.result.delta,
        "assuming": where.result.assuming,
        "accepted": where.progress.accepted,
        "rejected": where.progress.rejected,
        "undecided": where.progress.undecided,
        "votes_left": where.votes_left,
        "p_value": where.progress.p_value,
        "possible": where.progress.possible,
        "settings": study.settings.as_dict(),
    }


@click.command("log")
@on_study
@click.option("--after", type=click.IntRange(0), default=0, help="Only what follows this entry.")
@click.option("--limit", type=click.IntRange(1), help="No more entries than this.")
@json_option
def log(study: Study, after: int, limit: int | None, as_json: bool) -> None:
    """Print what has happened in a study, entry by entry; voters by number.

    \b
    Example:
      duelmatch study log --after 100
    """  # noqa: D301
    entries = study.log(after, limit)
    if as_json:
        print_json({"study": study.id, "entries": [asdict(entry) for entry in entries]})
        return
    for entry in entries:
        time = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
        click.echo(f"{entry.seq:>6}  {time}  {_sentence(entry, study)}")


def _sentence(entry: Entry, study: Study) -> str:
    parts = [entry.kind]
    if entry.question is not None:
        parts.append(f"question {entry.question}")
    if entry.voter is not None:
        parts.append(f"voter {entry.voter}")
    if entry.one is not None and entry.other is not None:
        (one, position), (other, _) = (study.problem.edges[edge] for edge in (entry.one, entry.other))
        word = "or" if entry.kind == "asked" else "over"
        parts.append(f"{position}: {one} {word} {other}")
    if entry.note is not None and entry.kind != "created":
        parts += [name if value is True else f"{value}" for name, value in entry.note.items()]
    return printable(", ".join(parts))


@click.command("export")
@click.argument("target", metavar="[FILE]", required=False, type=click.Path(dir_okay=False, path_type=Path))
@on_study
@click.option("--csv", "as_csv", is_flag=True, help="Write the answers as CSV, whatever FILE is called.")
@click.option("--voters", is_flag=True, help="Include the names of the voters.")
@json_option
def export(target: Path | None, study: Study, as_csv: bool, voters: bool, as_json: bool) -> None:
    """Write all of a study to FILE as JSON, or only its answers as CSV if FILE ends in .csv.

    Without FILE, print it. Voters appear by number unless you ask for their names with --voters. Links are
    never included.

    \b
    Example:
      duelmatch study export lineup.json
      duelmatch study export answers.csv
    """  # noqa: D301
    from duelmatch.files.text import naming, write_text
    from duelmatch.studies.exchange import export_csv, export_json

    wants_csv = as_csv or (target is not None and target.suffix.lower() == ".csv")
    text = (export_csv if wants_csv else export_json)(study, voters)
    if target is None:
        click.echo(text, nl=False)
        return
    with naming(target) as path:
        write_text(path, text, MOST_BYTES)
    print_either(as_json, {"study": study.id, "file": str(target)}, f"{study.name} is in {target}.")


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
    summary = {"study": study.id, "name": study.name, "votes": where.counted, "entries": where.entries}
    sentence = f"{study.name} is here as study {study.id}, with {counted(where.counted, 'answer')}."
    print_either(as_json, summary, sentence)


COMMANDS = (status, log, export, take_in)
