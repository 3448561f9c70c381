"""What counts in a study, and whether it asks: ``duelmatch study correct``, ``drop``, ``pause`` and so on.

Nothing is deleted: each is an entry in the log, and the study is computed again from what counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from duelmatch.cli.options import json_option
from duelmatch.cli.output import counted, print_either
from duelmatch.cli.store import on_study
from duelmatch.errors import NotThereError

if TYPE_CHECKING:
    from duelmatch.studies import Study, Voter


@click.command("correct")
@click.argument("question", type=click.IntRange(1, 2**31 - 1))
@click.argument("winner", required=False)
@click.option("--strike", is_flag=True, help="Strike the answer: it does not count at all.")
@on_study
@json_option
def correct(question: int, winner: str | None, strike: bool, study: Study, as_json: bool) -> None:
    """Change the answer to a QUESTION that was answered by mistake: WINNER was meant, or nothing.

    `duelmatch study log` has the numbers of the questions. A struck answer counts again when its WINNER is
    given. Correct what was not meant, never what you do not like: the guarantees depend on it.

    \b
    Example:
      duelmatch study correct 12 harbour
      duelmatch study correct 12 --strike
    """  # noqa: D301
    if (winner is None) != strike:
        raise click.UsageError("Give the WINNER that was meant, or --strike.")
    study.correct(question, winner)
    what = "is struck" if winner is None else f"is '{winner}' now"
    sentence = f"the answer to question {question} {what}."
    _report(study, as_json, sentence, {"question": question, "winner": winner})


@click.command("invalidate")
@click.argument("name", metavar="VOTER")
@on_study
@json_option
def invalidate(name: str, study: Study, as_json: bool) -> None:
    """Let no answer of a VOTER count, given or to come, and ask them nothing more.

    VOTER is a name, or the number in the log. `duelmatch study reinstate` undoes this.

    \b
    Example:
      duelmatch study invalidate ann
    """  # noqa: D301
    voter = _voter_called(study, name)
    study.invalidate(voter.number)
    sentence = f"the answers of '{name}' do not count now."
    _report(study, as_json, sentence, {"voter": voter.number, "valid": False})


@click.command("reinstate")
@click.argument("name", metavar="VOTER")
@on_study
@json_option
def reinstate(name: str, study: Study, as_json: bool) -> None:
    """Let the answers of an invalidated VOTER count again.

    VOTER is a name, or the number in the log.

    \b
    Example:
      duelmatch study reinstate ann
    """  # noqa: D301
    voter = _voter_called(study, name)
    study.reinstate(voter.number)
    sentence = f"the answers of '{name}' count now."
    _report(study, as_json, sentence, {"voter": voter.number, "valid": True})


def _voter_called(study: Study, name: str) -> Voter:
    """Return the voter of this name, or else of this number; nobody is added."""
    voters = study.voters()
    named = [voter for voter in voters if voter.name == name]
    numbered = [voter for voter in voters if str(voter.number) == name]
    if not named and not numbered:
        raise NotThereError(
            f"There is no voter '{name!s:.80}' in this study: it has {counted(len(voters), 'voter')}."
        )
    return (named or numbered)[0]


@click.command("drop")
@click.argument("candidate")
@on_study
@json_option
def drop(candidate: str, study: Study, as_json: bool) -> None:
    """Take out a CANDIDATE who withdrew; answers about the others still count. This cannot be undone.

    \b
    Example:
      duelmatch study drop comets
    """  # noqa: D301
    study.drop(candidate)
    _report(study, as_json, f"'{candidate}' is out.", {"dropped": study.status().dropped})


def _report(study: Study, as_json: bool, sentence: str, summary: dict[str, object]) -> None:
    number = study.status().counted
    count = f"{counted(number, 'answer')} {'counts' if number == 1 else 'count'}."
    about = {"study": study.id, "name": study.name, **summary, "counted": number}
    print_either(as_json, about, f"{study.name}: {sentence} {count}")


def _phase(action: str, does: str) -> click.Command:
    """Return the command for something that a study can do as a whole."""

    @click.command(action, help=f"{does}\n\n\b\nExample:\n  duelmatch study {action}")
    @on_study
    @json_option
    def command(study: Study, as_json: bool) -> None:
        getattr(study, action)()
        state = study.status().state
        summary = {"study": study.id, "name": study.name, "state": state}
        print_either(as_json, summary, f"{study.name} is {state}.")

    return command


COMMANDS = (
    correct,
    invalidate,
    reinstate,
    drop,
    _phase("pause", "Ask nothing for now; answers to open questions still count."),
    _phase("resume", "Ask again after a pause."),
    _phase(
        "close",
        "End a study: nobody is asked any more, and answers that still come count only if it is reopened.",
    ),
    _phase("reopen", "Reopen a closed study; answers that came in the meantime count now."),
)
