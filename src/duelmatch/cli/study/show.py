"""``duelmatch study status`` and ``log``: where a study stands, and what has happened in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from duelmatch.cli.options import json_option
from duelmatch.cli.output import Page, counted, print_json, rounded, working
from duelmatch.cli.standing import probability, still_possible
from duelmatch.cli.stores import opened_study, store_option, study_option
from duelmatch.explorers.catalogue import described

if TYPE_CHECKING:
    from duelmatch.studies import Entry, Status, Study


@click.command("status")
@store_option
@study_option
@json_option
def status(url: str, study_id: str | None, as_json: bool) -> None:
    """Say where a study stands: votes, voters, the leader, and how sure that is.

    \b
    Example:
      duelmatch study status
    """  # noqa: D301
    with opened_study(url, study_id) as study, working("Going through the answers"):
        where = study.status()
    if as_json:
        print_json(as_dict(where, study))
        return
    page = Page()
    page.heading(f"{where.name}: {where.state}")
    page.facts(_facts(where))
    if where.result.matching is not None:
        sure = where.result.status in ("certified", "within_epsilon")
        heading = "Candidate" if sure else "Candidate (NOT CERTIFIED)"
        page.table({"Position": "left", heading: "left"}, where.result.matching.items())
    page.paragraph(_meaning(where, study))


def _facts(where: Status) -> Iterator[tuple[str, str]]:
    uncounted = where.answers - where.counted
    yield "Study", where.id
    yield "Votes", f"{where.counted:,}" + (f" (and {uncounted:,} that do not count)" if uncounted else "")
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
    yield "Votes to go", "not known yet" if left is None else f"about {rounded(left)}"


def _meaning(where: Status, study: Study) -> str:
    match where.result.status:
        case "no_winner":
            return "There is no Condorcet winner: every matching loses to some other, or ties with it."
        case "budget_spent":
            return "This is a guess from the votes so far: nothing is certain yet."
    return (
        f"The chance that this is wrong is {100 * where.result.delta:g}% at most, if each duel was answered "
        "independently and with the same chances throughout. "
        f"{described(study.settings.algorithm).guarantee}"
    )


def as_dict(where: Status, study: Study) -> dict[str, Any]:
    """Return a status for programs to read."""
    matching = None if where.result.matching is None else dict(where.result.matching)
    names = ("id", "name", "state", "done", "entries", "voters", "questions", "open_questions", "answers")
    return {name: getattr(where, name) for name in (*names, "counted", "missing", "unused", "dropped")} | {
        "status": where.result.status,
        "matching": matching,
        "error_allowed": where.result.delta,
        "assuming": list(where.result.assuming),
        "accepted": where.progress.accepted,
        "rejected": where.progress.rejected,
        "undecided": where.progress.undecided,
        "votes_left": where.votes_left,
        "p_value": where.progress.p_value,
        "possible": where.progress.possible,
        "settings": study.settings.as_dict(),
    }


@click.command("log")
@store_option
@study_option
@click.option("--after", type=click.IntRange(0), default=0, help="Only what follows this entry.")
@click.option("--limit", type=click.IntRange(1), help="No more entries than that.")
@json_option
def log(url: str, study_id: str | None, after: int, limit: int | None, as_json: bool) -> None:
    """Print what has happened in a study, entry by entry; voters by number.

    \b
    Example:
      duelmatch study log --after 100
    """  # noqa: D301
    with opened_study(url, study_id) as study:
        entries = study.log(after, limit)
    if as_json:
        from dataclasses import asdict

        print_json({"study": study.id, "entries": [asdict(entry) for entry in entries]})
        return
    for entry in entries:
        time = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
        click.echo(f"{entry.seq:>6}  {time}  {_sentence(entry, study)}")


def _sentence(entry: Entry, study: Study) -> str:
    from duelmatch.files.text import printable

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
