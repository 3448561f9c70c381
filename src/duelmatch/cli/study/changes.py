"""What counts in a study, and whether it asks: ``duelmatch study correct``, ``drop``, ``pause`` and so on.

Nothing is deleted: each is an entry in the log, and the study is computed again from what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from duelmatch.cli.dialogue import parsed, written
from duelmatch.cli.options import flag
from duelmatch.cli.output import Output, printed, working
from duelmatch.cli.store import on_study
from duelmatch.errors import ConflictError, NotThereError, StudyError
from duelmatch.phrases import counted

if TYPE_CHECKING:
    from duelmatch.studies import Study, Voter


Change = tuple[str, dict[str, object]]
"""What was changed: a sentence, and for programs."""


def changing(command: Callable[..., Change]) -> Callable[..., None]:
    """Pass a command the study to change, and print what it returns with how many answers count now."""

    @wraps(command)
    def change(*arguments: Any, study: Study, **options: Any) -> Output:
        sentence, summary = command(*arguments, study=study, **options)
        with working("Counting"):
            number = study.status().counted
        name, count = study.name, f"{counted(number, 'answer')} {'counts' if number == 1 else 'count'}."
        return Output(
            {"study": study.id, "name": name} | summary | {"counted": number}, f"{name}: {sentence} {count}"
        )

    return on_study(printed(change))


@click.command("correct")
@click.argument("question", type=click.IntRange(1, 2**31 - 1))
@click.argument("answer", required=False)
@flag("--strike", "Strike the answer: it does not count at all.")
@flag("--clerical", "It was written down wrongly, and is corrected without regard to results.")
@changing
def correct(question: int, answer: str | None, strike: bool, clerical: bool, study: Study) -> Change:
    """Change an answer that was given by mistake. ANSWER to QUESTION was meant, or nothing.

    ANSWER is a candidate, = for no difference, or a ranking. `duelmatch study log` has the numbers of the
    questions. A struck answer counts again when its ANSWER is given. Correct what was not meant, never what
    you do not like: the guarantees depend on it.

    \b
    Example:
      duelmatch study correct 12 harbour --clerical
      duelmatch study correct 12 --strike
    """
    if (answer is None) != strike:
        raise click.UsageError("Give the ANSWER that was meant, or --strike.")
    if answer is None:
        study.correct(question, None, clerical)
        what = "is struck"
    else:
        given = study.answer_of(question)
        if given is None:
            raise ConflictError(f"Question {question} has no answer to correct.")
        candidates = [name for group in given.answer for name in group]
        meant = parsed(answer, candidates)
        study.correct(question, [tuple(candidates)] if meant is None else meant, clerical)
        now = study.answer_of(question)
        what = f"is {written(now.answer if now else ())} now"
    return f"the answer to question {question} {what}.", {"question": question, "answer": answer}


def _voter_command(action: str, does: str, done: str, **options: Any) -> click.Command:
    """Return the command for something that is done about one voter."""

    @click.command(
        action, help=f"{does}\n\nVOTER is a name, or an id.\n\n\b\nExample:\n  duelmatch study {action} ann"
    )
    @click.argument("name", metavar="VOTER")
    @changing
    def command(name: str, study: Study) -> Change:
        voter = voter_called(study, name)
        getattr(study, action.replace("-", "_"))(voter.id, **options)
        return f"'{name}' {done}.", {"voter": voter.id, "done": action}

    return command


def voter_called(study: Study, name: str) -> Voter:
    """Return the voter of this name, or else of this id; nobody is added."""
    voters = study.voters()
    for voter in sorted(voters, key=lambda voter: voter.name != name):
        if name in (voter.name, voter.id):
            return voter
    raise NotThereError(
        f"There is no voter '{name!s:.80}' in this study: it has {counted(len(voters), 'voter')}."
    )


@click.command("leave")
@click.argument("name", metavar="VOTER")
@flag("--drop-open", "Do not count the opinions that they have not given.")
@changing
def leave(name: str, drop_open: bool, study: Study) -> Change:
    """Ask a VOTER nothing more. What they have said still counts.

    What a judge has not said stays open, so that the result may wait for it, unless --drop-open is given.
    VOTER is a name, or an id. `duelmatch study come-back` undoes this.

    \b
    Example:
      duelmatch study leave ann --drop-open
    """
    voter = voter_called(study, name)
    study.leave(voter.id, "dropped" if drop_open else "open")
    return f"'{name}' has left.", {"voter": voter.id, "done": "leave"}


@click.command("conflict")
@click.argument("name", metavar="VOTER")
@click.argument("candidates", metavar="CANDIDATE...", nargs=-1, required=True)
@changing
def conflict(name: str, candidates: Sequence[str], study: Study) -> Change:
    """Let a VOTER not judge some candidates. What they said about them does not count.

    \b
    Example:
      duelmatch study conflict ann foxes
    """
    voter = voter_called(study, name)
    study.conflict(voter.id, candidates)
    return f"'{name}' does not judge {', '.join(candidates)}.", {"voter": voter.id}


NOT_IN_CONFLICT = "Nothing changed: '{}' had no such conflict of interest."


@click.command("clear-conflict")
@click.argument("name", metavar="VOTER")
@click.argument("candidates", metavar="CANDIDATE...", nargs=-1, required=True)
@changing
def clear_conflict(name: str, candidates: Sequence[str], study: Study) -> Change:
    """Let a VOTER judge some candidates again. On a panel, what they said about them counts again.

    \b
    Example:
      duelmatch study clear-conflict ann foxes
    """
    voter = voter_called(study, name)
    cleared = [candidate for candidate in candidates if candidate in voter.conflicts]
    study.clear_conflict(voter.id, candidates)
    said = f"'{name}' judges {', '.join(cleared)} again." if cleared else NOT_IN_CONFLICT.format(name)
    return said, {"voter": voter.id}


@click.command("drop")
@click.argument("candidate")
@changing
def drop(candidate: str, study: Study) -> Change:
    """Take out a CANDIDATE who withdrew. Answers about the others still count. This cannot be undone.

    \b
    Example:
      duelmatch study drop comets
    """
    study.drop(candidate)
    return f"'{candidate}' is out.", {"dropped": study.status().dropped}


@click.command("add")
@click.argument("candidate")
@click.argument("positions", metavar="POSITION...", nargs=-1, required=True)
@changing
def add(candidate: str, positions: Sequence[str], study: Study) -> Change:
    """Take in a late CANDIDATE for some positions.

    \b
    Example:
      duelmatch study add owls friday saturday
    """
    study.add(candidate, positions)
    return f"'{candidate}' is in.", {"added": candidate}


@click.command("edit")
@click.argument("name")
@flag("--position", "NAME is a position, not a candidate.")
@click.option("--title", help="What voters read instead of the name.")
@click.option("--text", help="What voters should know.")
@click.option("--picture", help="The address of a picture.")
@click.option("--link", help="The address of a page.")
@click.option("--place", help="Where to find the candidate, such as 'table 12'.")
@changing
def edit(name: str, position: bool, study: Study, **details: str | None) -> Change:
    """Change what voters see of a candidate or position. It is called NAME; an empty text takes it away.

    \b
    Example:
      duelmatch study edit foxes --title "The Foxes" --text "Five people from Leeds"
    """
    given = {key: value or None for key, value in details.items() if value is not None}
    if not given:
        raise StudyError("Say what to change: --title, --text, --picture, --link or --place.")
    study.edit(None if position else {name: given}, {name: given} if position else None)
    return f"'{name}' is changed.", {"edited": name}


@click.command("rename")
@click.argument("name")
@on_study
@printed
def rename(name: str, study: Study) -> Output:
    """Give the study another NAME.

    \b
    Example:
      duelmatch study rename "Friday night"
    """
    study.rename(name)
    return Output({"study": study.id, "name": study.name}, f"The study is called {study.name}.")


@click.command("publish")
@flag("--hide", "Do not show it any more.")
@on_study
@printed
def publish(hide: bool, study: Study) -> Output:
    """Show voters the result while the study is closed. It is on their page.

    \b
    Example:
      duelmatch study publish
    """
    study.publish(not hide)
    name, phase = study.name, study.status().phase
    sentence = "voters see the result" + ("" if phase == "closed" else " once the study is closed")
    return Output(
        {"study": study.id, "name": name, "published": not hide},
        f"{name}: {'voters do not see the result' if hide else sentence}.",
    )


def _phase(action: str, does: str) -> click.Command:
    """Return the command for something that a study can do as a whole."""

    @click.command(action, help=f"{does}\n\n\b\nExample:\n  duelmatch study {action}")
    @on_study
    @printed
    def command(study: Study) -> Output:
        act: Callable[[], None] = getattr(study, action)
        act()
        phase, name = study.status().phase, study.name
        return Output({"study": study.id, "name": name, "phase": phase}, f"{name} is {phase}.")

    return command


COMMANDS = (
    correct,
    _voter_command(
        "strike",
        "Strike out all answers of a VOTER, given or to come. They are asked nothing more.",
        "does not count now",
    ),
    _voter_command("reinstate", "Let the answers of a struck VOTER count again.", "counts now"),
    leave,
    _voter_command("come-back", "Ask a VOTER again who had left.", "is back"),
    _voter_command(
        "forget-voter-name", "Delete the name of a VOTER. The answers stay.", "has no name any more"
    ),
    conflict,
    clear_conflict,
    drop,
    add,
    edit,
    rename,
    _phase("pause", "Ask nothing for now. Answers to open questions still count."),
    _phase("resume", "Ask again after a pause."),
    _phase(
        "close", "End a study and record its verdict. Answers that still come count only if it is reopened."
    ),
    _phase("reopen", "Reopen a closed study. Answers that came in the meantime count now."),
    publish,
)
