"""``duelmatch study correct``, ``invalidate``, ``reinstate`` and ``drop``: what counts in a study.

Nothing is deleted: each is an entry in the log, and the study is worked out anew from what counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from duelmatch.cli.options import json_option
from duelmatch.cli.output import Page, counted, print_json
from duelmatch.cli.stores import opened_study, store_option, study_option
from duelmatch.errors import NotThereError

if TYPE_CHECKING:
    from duelmatch.studies import Study, Voter


@click.command("correct")
@click.argument("question", type=click.IntRange(1, 2**31 - 1))
@click.argument("winner", required=False)
@click.option("--strike", is_flag=True, help="Let the answer not count at all.")
@store_option
@study_option
@json_option
def correct(
    question: int, winner: str | None, strike: bool, url: str, study_id: str | None, as_json: bool
) -> None:
    """Change the answer to a QUESTION that was answered by mistake: WINNER was meant, or nothing.

    `duelmatch study log` has the numbers of the questions. An answer that was struck out counts again when
    its WINNER is given. Correct what was not meant, never what you do not like: the guarantees depend on it.

    \b
    Example:
      duelmatch study correct 12 harbour
      duelmatch study correct 12 --strike
    """  # noqa: D301
    if (winner is None) != strike:
        raise click.UsageError("Give the WINNER that was meant, or --strike.")
    with opened_study(url, study_id) as study:
        study.correct(question, winner)
        votes = study.status().counted
    if as_json:
        print_json(
            {
                "study": study.id,
                "name": study.name,
                "question": question,
                "winner": winner,
                "counted": votes,
            }
        )
        return
    what = "is struck out" if winner is None else f"is '{winner}' now"
    Page().paragraph(f"{study.name}: the answer to question {question} {what}. {_votes_count(votes)}")


@click.command("invalidate")
@click.argument("voter")
@store_option
@study_option
@json_option
def invalidate(voter: str, url: str, study_id: str | None, as_json: bool) -> None:
    """Let no answer of a VOTER count, given or to come, and ask them nothing more.

    VOTER is a name, or the number that the log has. `duelmatch study reinstate` takes it back.

    \b
    Example:
      duelmatch study invalidate ann
    """  # noqa: D301
    _judge(voter, url, study_id, as_json, valid=False)


@click.command("reinstate")
@click.argument("voter")
@store_option
@study_option
@json_option
def reinstate(voter: str, url: str, study_id: str | None, as_json: bool) -> None:
    """Let the answers of a VOTER count again, who was invalidated.

    VOTER is a name, or the number that the log has.

    \b
    Example:
      duelmatch study reinstate ann
    """  # noqa: D301
    _judge(voter, url, study_id, as_json, valid=True)


def _judge(name: str, url: str, study_id: str | None, as_json: bool, valid: bool) -> None:
    with opened_study(url, study_id) as study:
        voter = _voter_called(study, name)
        (study.reinstate if valid else study.invalidate)(voter.number)
        votes = study.status().counted
    if as_json:
        print_json(
            {"study": study.id, "name": study.name, "voter": voter.number, "valid": valid, "counted": votes}
        )
        return
    word = "count" if valid else "do not count"
    Page().paragraph(f"{study.name}: the answers of '{name}' {word} now. {_votes_count(votes)}")


def _voter_called(study: Study, name: str) -> Voter:
    """Return the voter of this name, or else of this number; nobody is added."""
    voters = study.voters()
    for voter in voters:
        if voter.name == name:
            return voter
    for voter in voters:
        if str(voter.number) == name:
            return voter
    raise NotThereError(
        f"There is no voter '{name!s:.80}' in this study: it has {counted(len(voters), 'voter')}."
    )


@click.command("drop")
@click.argument("candidate")
@store_option
@study_option
@json_option
def drop(candidate: str, url: str, study_id: str | None, as_json: bool) -> None:
    """Take out a CANDIDATE who withdrew; votes about the others still count. This cannot be taken back.

    \b
    Example:
      duelmatch study drop comets
    """  # noqa: D301
    with opened_study(url, study_id) as study:
        study.drop(candidate)
        where = study.status()
    if as_json:
        print_json(
            {"study": study.id, "name": study.name, "dropped": where.dropped, "counted": where.counted}
        )
        return
    Page().paragraph(f"{study.name}: '{candidate}' is out. {_votes_count(where.counted)}")


def _votes_count(votes: int) -> str:
    return f"{counted(votes, 'vote')} {'counts' if votes == 1 else 'count'}."
