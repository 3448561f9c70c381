"""``duelmatch ask``: find the winner by asking a person, duel by duel."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import duelmatch as dm
from duelmatch.cli.options import Source, file_argument, json_option
from duelmatch.cli.output import Page, counted, print_json, working
from duelmatch.cli.settings import RunSettings, settings_options, settle
from duelmatch.cli.standing import few_possible, how_sure
from duelmatch.cli.status import ANSWER_IS_NO, INTERRUPTED
from duelmatch.errors import DuelError, FileError
from duelmatch.explorers.catalogue import described

if TYPE_CHECKING:
    from duelmatch.files.journal import Journal

MANY = 200
"""Answers that take a moment to replay."""

ROUND = {"batch": 5}
"""With rounds of one duel there would be nothing to skip to; five cost hardly a duel more."""


@click.command("ask")
@file_argument
@settings_options
@click.option(
    "--votes",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="CSV",
    help="Where the answers are kept, and gone on from.  [default: FILE's name with .votes.csv, here]",
)
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
    """Find the winner of the problem in FILE by asking you who of two candidates is better for a position.

    Every answer is on disk before the next question is shown. Stop whenever you like, however you like; the
    same command goes on from there, with the settings that the run was begun with.

    \b
    Example:
      duelmatch ask example:lineup
      duelmatch ask team.yaml --algorithm borda --epsilon 0.1 --votes friday.csv
    """  # noqa: D301
    from duelmatch.cli.dialogue import Dialogue
    from duelmatch.files.journal import Journal, fingerprint

    if source.is_stdin:
        raise click.UsageError("The answers come from standard input, so the problem must be in a file.")
    problem = source.document.problem()
    path = votes or Path(f"{source.stem}.votes.csv")
    page = Page(stderr=as_json)
    with Journal(path) as journal:
        identity = {"problem": fingerprint(problem), "file": source.name}
        settings = _settings(journal, given, identity)
        resumed = len(journal.answers)
        run = _start(problem, settings, max_duels, journal)
        journal.begin(identity | settings.as_dict(), problem)
        _welcome(page, source, journal)

        def start() -> dm.Explorer:
            return _start(problem, settings, max_duels, journal)

        dialogue = Dialogue(page, run, journal, settings.seed, start)
        ended = dialogue.hold()
        result, progress = dialogue.run.result, dialogue.run.progress
    if as_json:
        matching = None if result.matching is None else dict(result.matching)
        print_json(
            {
                "file": source.name,
                "votes": str(path),
                **settings.as_dict(),
                "criterion": settings.criterion,
                "max_duels": max_duels,
                "resumed": resumed,
                "ended": ended,
                "status": result.status,
                "matching": matching,
                "duels": result.duels,
                "error_allowed": result.delta,
                "assuming": list(result.assuming),
                "p_value": progress.p_value,
                "possible": progress.possible,
                "possible_winners": [dict(matching) for matching in progress.possible_winners],
            }
        )
    else:
        to_go_on = ["duelmatch", "ask", source.name, "--votes", str(path)]
        if ended == "done":
            to_go_on += ["--max-duels", str(2 * max(result.duels, 1))]
        _report(page, settings, result, progress, shlex.join(to_go_on))
    if ended == "interrupted":
        ctx.exit(INTERRUPTED)
    if result.status == "no_winner":
        ctx.exit(ANSWER_IS_NO)


def _settings(journal: Journal, given: Mapping[str, Any], identity: Mapping[str, str]) -> RunSettings:
    """Return the settings: those of the run that is gone on with, if there is one, which must not differ."""
    recorded = journal.settings()
    if recorded is None:
        return settle(given, ROUND)
    try:
        before = settle({}, recorded)
    except (click.UsageError, KeyError, TypeError, ValueError):
        raise FileError(
            f"{journal.settings_path}: This does not say how the run was begun. Was it edited, or written by "
            "another version of duelmatch? Put the right file back, or choose another file with --votes."
        ) from None
    known = before.as_dict()
    differences = [
        f"{name} is {value} but was {known[name]}"
        for name, value in given.items()
        if value is not None and value != known[name]
    ]
    remedy = "Leave that option out to go on with the old run"
    if recorded.get("problem") != identity["problem"]:
        differences = [f"{identity['file']} has other candidates, positions or edges than it had"]
        remedy = "Put the old problem back to go on with it"
    if differences:
        raise FileError(
            f"{journal.path}: {counted(len(journal.answers), 'answer')} in this file belong to another run: "
            f"{'; '.join(differences)}. {remedy}, or begin a new run in another file with --votes."
        )
    return before


def _start(
    problem: dm.Problem, settings: RunSettings, max_duels: int | None, journal: Journal
) -> dm.Explorer:
    """Start the run and bring it to where the answers left it."""
    answers = journal.answers
    most = None if max_duels is None else max(max_duels, len(answers))
    run = dm.explorer(settings.algorithm, problem, settings.delta, settings.seed, most, **settings.parameters)
    try:
        with working("Going through the answers") if len(answers) > MANY else nullcontext():
            run.replay((answer.position, answer.winner, answer.loser) for answer in answers)
    except DuelError as error:
        raise FileError(
            f"{journal.path}: {error} The file was edited, or another version of duelmatch began it "
            f"(see {journal.settings_path.name}). Put it right, or choose another file with --votes."
        ) from None
    return run


def _welcome(page: Page, source: Source, journal: Journal) -> None:
    page.heading(f"{source.name}: who is better?")
    if journal.torn:
        page.paragraph(
            f"The last line of {journal.path} was not completely written and does not count: "
            f"'{journal.torn[:80]}'. That question will be asked again."
        )
    if journal.answers:
        page.paragraph(f"Going on with {counted(len(journal.answers), 'answer')} from {journal.path}.")
    else:
        page.paragraph(
            "Say who of two is the better choice for a position: 1 or 2, then Enter. ? explains the rest. "
            f"Answers are kept in {journal.path}; stop whenever you like, and the same command goes on."
        )


def _report(
    page: Page, settings: RunSettings, result: dm.Result, progress: dm.Progress, to_go_on: str
) -> None:
    certified = result.status in ("certified", "within_epsilon")
    mark = {"budget_spent": "NOT CERTIFIED", "no_winner": "no winner"}.get(result.status, "certified")
    page.heading(f"Result after {counted(result.duels, 'duel')}: {mark}")
    if result.matching is not None:
        heading = "Candidate" if certified else "Candidate (NOT CERTIFIED)"
        page.table({"Position": "left", heading: "left"}, result.matching.items())
    if result.status == "budget_spent":
        page.paragraph(how_sure(progress, settings.delta, settings.criterion))
        for line in few_possible(progress):
            page.line(line, indent=2)
        page.paragraph(f"To go on: {to_go_on}")
    else:
        page.paragraph(_meaning(settings, result))


def _meaning(settings: RunSettings, result: dm.Result) -> str:
    proviso = "".join(f", if {assumption.sentence}" for assumption in result.assuming)
    match result.status, settings.criterion:
        case "certified", "condorcet":
            meaning = f"This is the Condorcet winner{proviso}: put against any other matching, it wins."
        case "certified", _:
            meaning = "This is the Borda winner: no matching does better on average against all others."
        case "within_epsilon", "condorcet":
            whom = "the Condorcet winner" if result.assuming else "any other matching"
            meaning = (
                f"This is good enough{proviso}: put against {whom}, it wins, or loses by "
                f"{result.epsilon:g} at most."
            )
        case "within_epsilon", _:
            meaning = (
                "This is as good as the Borda winner, or nearly: its average score against all matchings "
                f"is within {result.epsilon:g} of the best there is."
            )
        case _:
            meaning = (
                "There is no Condorcet winner: every matching loses to some other, or ties with it. The "
                "Borda winner always exists: try --algorithm borda, with other --votes."
            )
    return (
        f"{meaning} The chance that this is wrong is {100 * result.delta:g}% at most, if each duel was "
        f"answered independently and with the same chances throughout. What {settings.algorithm} promises: "
        f"{described(settings.algorithm).guarantee}"
    )
