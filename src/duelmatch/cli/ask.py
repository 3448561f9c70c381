"""``duelmatch ask``: find the winner by asking a person, duel by duel."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import duelmatch as dm
from duelmatch.cli import INTERRUPTED, NO_WINNER
from duelmatch.cli.options import (
    RunSettings,
    Source,
    file_argument,
    json_option,
    settings_options,
    settle,
    votes_option,
)
from duelmatch.cli.output import Page, print_json, working
from duelmatch.cli.standing import few_possible, how_sure, meaning, print_matching
from duelmatch.errors import DuelError, FileError, ProblemError
from duelmatch.explorers.catalogue import described
from duelmatch.phrases import counted

if TYPE_CHECKING:
    from duelmatch.files.journal import Journal

REPLAYING = "Replaying the answers"
MANY = 200
"""Answers that take a moment to replay."""

ROUND = {"batch": 5}
"""With rounds of one duel there would be nothing to skip to; five cost hardly a duel more."""


@click.command("ask")
@file_argument
@settings_options(**ROUND)
@votes_option("votes")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    source: Source,
    votes: Path | None,
    max_duels: int | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Find the winner of the problem in FILE by asking you which of two candidates is better for a position.

    Answer with 1 or 2, or t (a tie) for no difference; s skips, u takes the last answer back, q stops. Every
    answer is on disk before the next question is shown. Stop whenever and however you like; the same
    command resumes the run, with the settings it was started with.

    \b
    Example:
      duelmatch ask example:lineup
      duelmatch ask team.yaml --algorithm borda --epsilon 0.1 --votes friday.csv
    """
    from duelmatch.cli.dialogue import Dialogue
    from duelmatch.files.journal import COMPARISONS, TIES, Journal, fingerprint

    if source.is_stdin:
        raise click.UsageError("The answers come from standard input, so the problem must be in a file.")
    problem = source.document.problem()
    path = votes or Path(f"{source.stem}.votes.csv")
    page = Page(stderr=as_json)
    with Journal(path, COMPARISONS, TIES) as journal:
        identity = {"problem": fingerprint(problem), "file": source.name}
        settings = settings_of(journal, given, identity, ROUND)
        resumed = len(journal.answers)
        recorded = journal.settings()
        aim = max_duels if recorded is None else recorded.get("aim")
        start = partial(_start, problem, settings, aim, max_duels, journal)
        dialogue = Dialogue(page, journal, settings.seed, start)
        journal.begin(identity | settings.as_dict() | {"aim": aim}, problem)
        _welcome(page, source, journal)
        ended = dialogue.hold()
        result, progress = dialogue.run.result, dialogue.run.progress
        standings = standings_of(dialogue.run) if result.duels else None
    if as_json:
        about = {"file": source.name, "votes": str(path), **settings.as_dict(), "max_duels": max_duels}
        print_json(about | {"resumed": resumed, "ended": ended} | result_as_dict(result, progress, standings))
    else:
        resume = ["duelmatch", "ask", source.name, "--votes", str(path)]
        if ended == "done":
            resume += ["--max-duels", str(2 * max(result.duels, 1))]
        report(page, result, progress, standings, shlex.join(resume))
    if ended == "interrupted":
        ctx.exit(INTERRUPTED)
    if result.status == "no_winner":
        ctx.exit(NO_WINNER)


def settings_of(
    journal: Journal[Any], given: Mapping[str, Any], identity: Mapping[str, str], usual: Mapping[str, Any]
) -> RunSettings:
    """Return the settings: those of the run that is resumed, if there is one, which must not differ."""
    recorded = journal.settings()
    if recorded is None:
        return settle(given, usual)
    try:
        before = settle({}, recorded)
    except (click.UsageError, KeyError, TypeError, ValueError):
        raise FileError(
            f"{journal.settings_path}: This does not say how the run was begun. Was it edited, or written by "
            "another version of duelmatch? Restore the file, or choose another one with --votes."
        ) from None
    check_same_run(journal, recorded, given, before.as_dict(), identity)
    return before


def check_same_run(
    journal: Journal[Any],
    recorded: Mapping[str, Any],
    given: Mapping[str, Any],
    known: Mapping[str, Any],
    identity: Mapping[str, str],
) -> None:
    """Refuse to resume a run that was begun otherwise: what is given, unless None, must be what is known.

    :raises FileError: naming the differences.
    """
    differences = [
        f"it began {_option(name, known.get(name))}, not {_option(name, value)}"
        for name, value in given.items()
        if value is not None and value != known.get(name)
    ]
    remedy = "Leave that option out to resume the old run"
    if recorded.get("problem") != identity["problem"]:
        differences = [f"{identity['file']} has other candidates, positions or edges than it had"]
        remedy = "Put the old problem back to resume it"
    if differences:
        raise FileError(
            f"{journal.path}: {counted(len(journal.answers), 'answer')} in this file belong to another run: "
            f"{'; '.join(differences)}. {remedy}, or begin a new run in another file with --votes."
        )


def _option(name: str, value: object) -> str:
    """Say how an option was given.

    >>> _option("delta", 0.1), _option("assume_winner", False), _option("epsilon", None)
    ('with --delta 0.1', 'with --no-assume-winner', 'without --epsilon')
    """
    flag = name.replace("_", "-")
    if value is None:
        return f"without --{flag}"
    if isinstance(value, bool):
        return f"with --{flag}" if value else f"with --no-{flag}"
    return f"with --{flag} {value}"


def _start(
    problem: dm.Problem,
    settings: RunSettings,
    aim: int | None,
    max_duels: int | None,
    journal: Journal[dm.Answer],
) -> dm.Explorer:
    """Start the run and replay the answers that there are."""
    if settings.parameters.get("question_size", 2) > 2:
        raise click.UsageError("At the terminal two are compared at a time: leave out --question-size.")
    answers = journal.answers
    run = begun_run(problem, settings, aim, max_duels, len(answers))
    with replaying(journal), working(REPLAYING) if len(answers) > MANY else nullcontext():
        run.replay(
            (answer.position, winner, loser, *("=" * tie))
            for answer in answers
            for winner, loser, tie in answer.pairs()
        )
    return run


def begun_run(
    problem: dm.Problem, settings: RunSettings, aim: int | None, max_duels: int | None, answers: int
) -> dm.Explorer:
    """Begin a run, which will first be told the ``answers`` that there are.

    What is asked depends on the budget that the run began with, the aim; it may end sooner or later now.
    """
    run = dm.explorer(settings.algorithm, problem, settings.delta, settings.seed, aim, **settings.parameters)
    run.max_duels = None if max_duels is None else max(max_duels, answers)
    return run


@contextmanager
def replaying(journal: Journal[Any]) -> Iterator[None]:
    """Refuse a journal whose answers a run does not take."""
    try:
        yield
    except (DuelError, ProblemError) as error:
        raise FileError(
            f"{journal.path}: {error} The file was edited, or another version of duelmatch began it "
            f"(see {journal.settings_path.name}). Restore it, or choose another file with --votes."
        ) from None


def _welcome(page: Page, source: Source, journal: Journal[dm.Answer]) -> None:
    page.heading(f"{source.name}: who is better?")
    if journal.torn:
        page.paragraph(
            f"The last line of {journal.path} was not completely written and does not count: "
            f"'{journal.torn[:80]}'. That question will be asked again."
        )
    if journal.answers:
        page.paragraph(f"Resuming with {counted(len(journal.answers), 'answer')} from {journal.path}.")
    else:
        page.paragraph(
            "Say which of two candidates is better for a position: 1 or 2, or t for no difference, then "
            "Enter. ? explains the rest. "
            f"Answers are kept in {journal.path}; stop whenever you like, and the same command resumes."
        )


def result_as_dict(
    result: dm.Result, progress: dm.Progress, standings: dm.Standings | None
) -> dict[str, Any]:
    """Return the result of a run for programs, whether or not it is over."""
    return {
        "status": result.status,
        "matching": result.matching,
        "criterion": described(result.algorithm).criterion,
        "duels": result.duels,
        "error_allowed": result.delta,
        "assuming": result.assuming,
        "p_value": progress.p_value,
        "possible": progress.possible,
        "possible_winners": progress.possible_winners,
        "shortfall": progress.shortfall,
        "standings": None if standings is None else estimated(standings),
    }


def standings_of(run: dm.Explorer) -> dm.Standings | None:
    """Return the standings; None where Borda counts against more decisions than can be counted."""
    try:
        return run.standings()
    except dm.TooLargeError:
        return None


def estimated(standings: dm.Standings) -> dict[str, Any]:
    """Return what is estimated, without a guarantee: the leader, and who else may be in the best line-up."""
    return {
        "estimate": True,
        "leader": standings.leader,
        "leader_probability": standings.leader_probability,
        "probability": standings.by_position,
        "expected_shortfall": standings.expected_shortfall,
    }


def report(
    page: Page, result: dm.Result, progress: dm.Progress, standings: dm.Standings | None, resume: str
) -> None:
    """Print the result of a run for people, whether or not it is over."""
    mark = {"budget_spent": "NOT CERTIFIED", "no_winner": "no winner"}.get(result.status, "certified")
    page.heading(f"Result after {counted(result.duels, 'duel')}: {mark}")
    print_matching(page, result)
    if result.status == "budget_spent":
        page.paragraph(how_sure(progress, result))
        for line in few_possible(progress):
            page.line(line, indent=2)
        if progress.shortfall is not None:
            bound = f"It is worse than the best by {progress.shortfall:.3g} per position at most"
            page.paragraph(f"{bound}, which is wrong with probability {result.delta:g} at most.")
        if standings is not None:
            page.paragraph(f"By an estimate from all answers, without a guarantee: {_probably(standings)}")
        page.paragraph(f"To resume: {resume}")
    else:
        page.paragraph(meaning(result))
        if result.status == "no_winner":
            page.paragraph("The Borda winner always exists: try --algorithm borda, with other --votes.")
    page.paragraph(f"Seed {result.seed}; the same answers with this --seed give the same run.")


def _probably(standings: dm.Standings) -> str:
    chosen = "; ".join(f"{standings.said_of(position)} for {position}" for position in standings.leader)
    return f"{chosen}; expected to be worse than the best by {standings.expected_shortfall:.3f} per position."
