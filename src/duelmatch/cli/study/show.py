"""``duelmatch study status``, ``log``, ``export`` and ``import``: all there is to know about a study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duelmatch.cli.dialogue import written
from duelmatch.cli.options import ANY_PATH, STDOUT, flag, given_text
from duelmatch.cli.output import Output, Page, picked, printed, titles_of, unsettled_label, utc_time, working
from duelmatch.cli.standing import (
    NO_JUDGE,
    edges_decided,
    estimated,
    lineup,
    meaning,
    nothing_counts,
    panel_facts,
    panel_meaning,
    print_awaited,
    print_found,
    print_matching,
    print_standings,
    probability,
    still_possible,
    to_go,
)
from duelmatch.cli.store import on_study, opened_store, store_option
from duelmatch.errors import FileError
from duelmatch.phrases import counted, printable, votes_in_100

if TYPE_CHECKING:
    from duelmatch.models.standings import Standings
    from duelmatch.studies import Entry, Estimates, Status, Study

MOST_BYTES = 500_000_000

OPEN = ("undecided", "budget_spent")
"""Nothing is certain."""

NOBODY_LEADS = "Nobody leads: there is no answer that counts."
GUESS = "This is a guess from the answers so far: nothing is certain yet."


@click.command("status")
@on_study
@flag("--quick", "Leave out the estimates, which take a few seconds.")
@printed
def status(study: Study, quick: bool) -> Output:
    """Say where a study stands. That is: answers, voters, who leads, how sure that is, and what is to come.

    Who is probably in the best line-up, and how many more answers it takes, are estimates: from a model of
    all answers that count, and from simulations of how the study may go on.

    \b
    Example:
      duelmatch study status
      duelmatch study status --quick --json
    """
    with working("Going through the log"):
        where = study.status()
    with working("Estimating where it stands (--quick leaves that out)"):
        estimates = None if quick else study.estimates()
    return Output(
        _as_dict(where, study, estimates), lambda page: _print_status(page, where, study, estimates)
    )


def _print_status(page: Page, where: Status, study: Study, estimates: Estimates | None) -> None:
    page.heading(f"{where.name}: {where.phase}")
    page.facts(_facts(where, study, estimates))
    if estimates is None or estimates.standings is None or where.outcome not in OPEN:
        _print_result(page, where)
    else:
        print_standings(page, estimates)
        _print_unsettled(page, where, estimates.standings)
    if where.algorithm == "panel":
        print_awaited(page, where, study)
    titles = [titles_of(study.problem.position_details), titles_of(study.problem.candidate_details)]
    if any(titles):
        page.table(["Name", "Title, which voters read"], [row for each in titles for row in each.items()])


def _print_unsettled(page: Page, where: Status, standings: Standings) -> None:
    """Name the line-up that the log has where nothing is decided, if it is not the one that leads."""
    matching, panel = where.result.matching, where.algorithm == "panel"
    if matching is None or matching == standings.leader:
        return
    bound = where.result.shortfall if panel else None
    certain = ""
    if bound is not None:
        certain = (
            f" It falls short of any other by at most {votes_in_100(bound)} at each position, for certain."
        )
    records = "The log has recorded it, as undecided, and 'duelmatch verify' names it."
    if where.phase != "closed":
        records = "If the study is closed now, the log records it, as undecided"
        records += ", or one that falls short less." if panel else "."
    page.paragraph(
        f"{unsettled_label(bound)}: {lineup(matching)}.{certain} {records} The estimate is no part of the "
        "log. Neither is a winner."
    )


def _print_result(page: Page, where: Status) -> None:
    if not (where.certain or where.counted):
        page.paragraph(NO_JUDGE if nothing_counts(where.result) else NOBODY_LEADS)
    elif where.algorithm == "panel" and where.result.matching is not None:
        heading = "Candidate" if where.certain else f"{unsettled_label(where.result.shortfall)} (NOT CERTAIN)"
        print_matching(page, where.result.matching, heading)
        page.paragraph(panel_meaning(where.result))
    else:
        print_found(page, where.result)
        page.paragraph(meaning(where.result) if where.certain else GUESS)


def _facts(where: Status, study: Study, estimates: Estimates | None) -> Iterator[tuple[str, str]]:
    uncounted = where.answers - where.counted
    yield "Study", where.id
    yield "Algorithm", where.algorithm
    yield "Seed", f"{study.settings.seed}"
    yield "Answers", f"{where.counted:,}" + (f" (and {uncounted:,} that do not count)" if uncounted else "")
    away = ((where.voters_out, "left without a vote"), (where.voters_struck, "struck"))
    others = " and ".join(f"{number:,} {why}" for number, why in away if number)
    yield "Voters", f"{where.voters_there:,}" + (f" (and {others})" if others else "")
    if where.phase != "closed":
        yield "Open questions", f"{where.open_questions:,}"
    if where.dropped:
        yield "Withdrawn", ", ".join(where.dropped)
    progress = where.progress
    if where.algorithm == "panel":
        yield from panel_facts(where, len(study.problem.positions))
    else:
        yield "Decided", edges_decided(progress)
    if where.held_up:
        names = {voter.id: voter.name or voter.id for voter in study.voters()}
        voter, _ = progress.waiting_for[0]
        yield "Held up", f"{counted(where.held_up, 'answer')} until the ballot of {names[voter]} is in"
    if not where.done and progress.p_value is not None and progress.leader is not None:
        yield "Leader", f"p {probability(progress.p_value)}; {still_possible(progress)}"
    standings = None if estimates is None else estimates.standings
    known = standings is None or standings.leader == where.result.matching  # the bound is of that one
    if where.shortfall is not None and where.outcome in OPEN and where.counted and known:
        yield "Behind the best by", f"at most {votes_in_100(where.shortfall)} at each position"
    if not where.done and where.phase != "closed":
        yield "Answers to go", to_go(where.answers_left(estimates))
    yield "Last entry", f"{where.entries:,}, {where.hash[:12]}"


def _as_dict(where: Status, study: Study, estimates: Estimates | None) -> dict[str, Any]:
    names = ("id", "name", "phase", "done", "entries", "hash", "voters", "questions", "open_questions")
    more = ("answers", "counted", "struck", "missing", "unused", "dropped", "assuming")
    progress, left = where.progress, where.answers_left(estimates)
    found = None if estimates is None else estimates.standings
    standings = None if found is None else estimated(found) | picked(estimates, "answers", "entry")
    return picked(where, *names, *more) | {
        "status": where.outcome,
        "matching": where.result.matching,
        "error_allowed": where.result.delta,
        "shortfall": where.shortfall,
        "standings": standings,
        "answers_left": None if left is None else asdict(left),
        **picked(progress, "accepted", "rejected", "undecided", "decided", "p_value", "possible"),
        "waiting_for": dict(progress.waiting_for),
        "settings": study.settings.as_dict(),
    }


@click.command("list")
@store_option
@printed
def list_all(url: str) -> Output:
    """List the studies of a database, oldest first.

    \b
    Example:
      duelmatch study list
    """
    with opened_store(url) as store:
        studies = store.studies()
    summary = {"studies": [asdict(study) for study in studies]}
    if not studies:
        return Output(summary, "There is no study here. Create one with: duelmatch study create FILE")
    rows = [(study.id, study.name, study.phase, utc_time(study.created_at)) for study in studies]
    return Output(summary, lambda page: page.table(["Study", "Name", "Phase", "Created (UTC)"], rows))


@click.command("log")
@on_study
@click.option(
    "--after", type=click.IntRange(0), default=0, show_default=False, help="Only what follows this entry."
)
@click.option("--limit", type=click.IntRange(1), help="No more entries than this.")
@printed
def log(study: Study, after: int, limit: int | None) -> Output:
    """Print what has happened in a study, entry by entry. Voters appear by their ids.

    \b
    Example:
      duelmatch study log --after 100
    """
    entries = study.entries(after, limit)

    def show(_: Page) -> None:
        for entry in entries:
            click.echo(f"{entry.seq:>6}  {utc_time(entry.at)}  {_sentence(entry)}")

    return Output({"study": study.id, "entries": [entry._asdict() for entry in entries]}, show)


def _sentence(entry: Entry) -> str:
    """Write the main things of an entry down; exports have everything."""
    data, parts = entry.data, [entry.kind]
    if "question" in data:
        parts.append(f"question {data['question']}")
    if entry.voter is not None:
        parts.append(f"voter {entry.voter}")
    if entry.kind == "asked":
        parts.append(f"{data['position']}: {' or '.join(data['candidates'])}")
    if data.get("answer") is not None:
        parts.append(written(data["answer"]))
    parts += [str(data[name]) for name in ("candidate", "reason", "name") if data.get(name)]
    if entry.kind == "closed" and data.get("verdict"):
        parts.append(data["verdict"]["status"])
    return printable(", ".join(parts))


@click.command("export")
@click.argument(
    "target",
    metavar="[FILE]",
    required=False,
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
)
@on_study
@flag("--csv", "The answers that count as CSV, for `duelmatch decide`.", "as_csv")
@flag("--table", "All answers as CSV, with times and whether they count.", "as_table")
@flag("--voters", "Include the names of the voters.")
@printed
def export(target: Path | None, study: Study, as_csv: bool, as_table: bool, voters: bool) -> Output | None:
    """Write the log of a study to FILE, or its answers. If FILE ends in .csv, it gets the answers.

    Without FILE, or if FILE is -, it is printed. The log is JSON, an entry per line, each with the hash of
    the one before: `duelmatch verify` checks it, and `duelmatch study import` reads it. The CSV of a panel
    also has weights, conflicts and judges who have said nothing: `duelmatch decide` says what the study says.

    Voters appear by their ids, unless their names are asked for. Links are never included.

    \b
    Example:
      duelmatch study export lineup.jsonl
      duelmatch study export answers.csv
    """
    from duelmatch.files.documents import naming
    from duelmatch.files.writing import write_text
    from duelmatch.studies import export_answers, export_log, export_table

    if as_csv and as_table:
        raise click.UsageError("--csv and --table are two kinds of file: give one.")
    wants_csv = as_csv or as_table or (target is not None and target.suffix.lower() == ".csv")
    text = (export_table if as_table else export_answers if wants_csv else export_log)(study, voters)
    if target is None or str(target) == STDOUT:
        click.echo(text, nl=False)
        return None
    with naming(target) as path:
        write_text(path, text, MOST_BYTES)
    sentence = f"{study.name} is in {target}."
    if wants_csv and study.settings.kind == "panel":
        sentence += f" To count it: {_decide_command(study, target)}"
    return Output({"study": study.id, "file": str(target)}, sentence)


def _decide_command(study: Study, target: Path) -> str:
    """Return the command that gives the verdict of a panel from its answers."""
    parameters = study.settings.parameters
    criterion = "" if parameters["criterion"] == "condorcet" else f" --criterion {parameters['criterion']}"
    consistent = "" if parameters["consistent"] else " --no-consistent"
    return f"duelmatch decide PROBLEM {target}{criterion}{consistent}"


@click.command("import")
@click.argument("file", metavar="FILE", type=ANY_PATH)
@store_option
@click.option("--name", help="What the study is called.  [default: as in FILE]")
@printed
def take_in(file: Path, url: str, name: str | None) -> Output:
    """Put the exported log of a study into a database. It gets a new id.

    \b
    Example:
      duelmatch study import lineup.jsonl --store postgresql://me@localhost/duels
    """
    from duelmatch.studies import import_log

    if file.suffix.lower() == ".csv":
        raise FileError(f"{file}: A CSV has the answers only; import an exported log.")
    with given_text(file, MOST_BYTES) as text, opened_store(url, new=True) as store:
        study = import_log(store, text, **({} if name is None else {"name": name}))
        where = study.status()
    summary = {"study": study.id, "name": where.name, "answers": where.counted, "entries": where.entries}
    sentence = f"{where.name} is here as study {study.id}, with {counted(where.counted, 'answer')}."
    return Output(summary, sentence)


COMMANDS = (status, list_all, log, export, take_in)
