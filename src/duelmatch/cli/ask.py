"""``duelmatch ask``: find the winner by asking a person, duel by duel."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import duelmatch as dm
from duelmatch.cli import INTERRUPTED, NO_WINNER
from duelmatch.cli.options import RunSettings, Source, file_argument, settings_options, settle, votes_option
from duelmatch.cli.output import Output, Page, conversation, working
from duelmatch.cli.standing import estimated, few_possible, how_sure, meaning, print_found
from duelmatch.errors import DuelError, FileError, ProblemError
from duelmatch.explorers.catalogue import described
from duelmatch.phrases import counted

if TYPE_CHECKING:
    from duelmatch.files.journal import Journal

MANY = 200
"""Answers that take a moment to replay."""

ROUND = {"batch": 5}
"""With rounds of one duel there would be nothing to skip to; five cost hardly a duel more."""


@click.command("ask")
@file_argument
@settings_options(**ROUND)
@votes_option("votes")
@conversation
def command(source: Source, votes: Path | None, max_duels: int | None, page: Page, **given: Any) -> Output:
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
    with Journal(path, COMPARISONS, TIES) as journal:
        identity = {"problem": fingerprint(problem), "file": source.name}
        settings, aim, begin = settled(problem, journal, given, identity, ROUND, max_duels)
        resumed = len(journal.answers)

        def start() -> dm.Explorer:
            run = begin()
            with replaying(journal):
                run.replay(
                    (answer.position, winner, loser, *("=" * tie))
                    for answer in journal.answers
                    for winner, loser, tie in answer.pairs()
                )
            return run

        dialogue = Dialogue(page, journal, settings.seed, start)
        journal.begin(identity | settings.as_dict() | {"aim": aim}, problem)
        page.heading(f"{source.name}: who is better?")
        say_what_is_kept(
            page,
            journal,
            "Say which of two candidates is better for a position: 1 or 2, or t for no difference, then "
            "Enter. ? explains the rest. ",
        )
        ended = dialogue.hold()
    about = {"file": source.name, "votes": str(path), **settings.as_dict(), "max_duels": max_duels}
    resume = ["duelmatch", "ask", source.name, "--votes", str(path)]
    return reported(about | {"resumed": resumed, "ended": ended}, dialogue.run, resume)


def settled(
    problem: dm.Problem,
    journal: Journal[Any],
    given: Mapping[str, Any],
    identity: Mapping[str, str],
    usual: Mapping[str, Any],
    max_duels: int | None,
) -> tuple[RunSettings, int | None, Callable[[], dm.Explorer]]:
    """Return the settings and the budget of the run in a journal, or of a new one, and what begins it.

    What is asked depends on the budget that the run began with; it may end sooner or later now.
    """
    recorded = journal.settings()
    if recorded is None:
        settings, aim = settle(given, usual), max_duels
    else:
        settings, aim = _settings_before(journal, recorded), recorded.get("aim")
        check_same_run(journal, recorded, given, settings.as_dict(), identity)
    if settings.parameters.get("question_size", 2) > 2:
        raise click.UsageError("Candidates are compared two at a time here: leave out --question-size.")

    def begin() -> dm.Explorer:
        run = dm.explorer(
            settings.algorithm, problem, settings.delta, settings.seed, aim, **settings.parameters
        )
        run.max_duels = None if max_duels is None else max(max_duels, len(journal.answers))
        return run

    return settings, aim, begin


def _settings_before(journal: Journal[Any], recorded: Mapping[str, Any]) -> RunSettings:
    try:
        return settle({}, recorded)
    except (click.UsageError, KeyError, TypeError, ValueError):
        raise FileError(
            f"{journal.settings_path}: This does not say how the run was begun. Was it edited, or written by "
            "another version of duelmatch? Restore the file, or choose another one with --votes."
        ) from None


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


@contextmanager
def replaying(journal: Journal[Any]) -> Iterator[None]:
    """Refuse a journal whose answers a run does not take."""
    try:
        with working("Replaying the answers") if len(journal.answers) > MANY else nullcontext():
            yield
    except (DuelError, ProblemError) as error:
        raise FileError(
            f"{journal.path}: {error} The file was edited, or another version of duelmatch began it "
            f"(see {journal.settings_path.name}). Restore it, or choose another file with --votes."
        ) from None


def say_what_is_kept(page: Page, journal: Journal[Any], how_to_begin: str = "") -> None:
    """Say whether a run is resumed or begins, and where its answers are kept."""
    if journal.torn:
        page.paragraph(
            f"The last line of {journal.path} was not completely written and does not count: "
            f"'{journal.torn[:80]}'. That question will be asked again."
        )
    if journal.answers:
        page.paragraph(f"Resuming with {counted(len(journal.answers), 'answer')} from {journal.path}.")
    else:
        page.paragraph(
            f"{how_to_begin}Answers are kept in {journal.path}; stop whenever you like, and the same command "
            "resumes."
        )


def reported(about: Mapping[str, Any], run: dm.Explorer, resume: Sequence[str]) -> Output:
    """Return what there is to say of a run, whether or not it is over; ``resume`` is the command to go on."""
    result, progress = run.result, run.progress
    standings = None
    if result.duels:
        with suppress(dm.TooLargeError):  # Borda counts against more decisions than can be counted
            standings = run.standings()
    more = ["--max-duels", str(2 * max(result.duels, 1))] if about["ended"] == "done" else []
    return Output(
        {**about, **_result_as_dict(result, progress, standings)},
        lambda page: _report(page, result, progress, standings, shlex.join([*resume, *more])),
        exit_code(about["ended"], result),
    )


def exit_code(ended: str, result: dm.Result) -> int:
    """Return how a command ends that has asked until the run was over, or somebody stopped it."""
    if ended == "interrupted":
        return INTERRUPTED
    return NO_WINNER if result.status == "no_winner" else 0


def _result_as_dict(
    result: dm.Result, progress: dm.Progress, standings: dm.Standings | None
) -> dict[str, Any]:
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


def _report(
    page: Page, result: dm.Result, progress: dm.Progress, standings: dm.Standings | None, resume: str
) -> None:
    mark = {"budget_spent": "NOT CERTIFIED", "no_winner": "no winner"}.get(result.status, "certified")
    page.heading(f"Result after {counted(result.duels, 'duel')}: {mark}")
    print_found(page, result)
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
