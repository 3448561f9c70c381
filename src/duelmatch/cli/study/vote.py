"""``duelmatch study ask`` and ``tell``: a voter's question, and the answer."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from duelmatch.cli.options import json_option
from duelmatch.cli.output import Page, print_json
from duelmatch.cli.stores import opened_study, store_option, study_option, voter_option

if TYPE_CHECKING:
    from duelmatch.problem import Details
    from duelmatch.studies import Question, Study

WHY = {
    "done": "The study is over: the answer is certain enough. See: duelmatch study status",
    "waiting": "There is nothing to ask right now: answers of others are awaited. Try again in a while.",
    "all yours": "You have answered everything there is for you. Thank you.",
    "budget": "All the votes that were planned are there. See: duelmatch study status",
    "paused": "The study is paused.",
    "closed": "The study is closed. See: duelmatch study status",
}


@click.command("ask")
@voter_option
@store_option
@study_option
@json_option
def ask(voter: str, url: str, study_id: str | None, as_json: bool) -> None:
    """Show a voter's question: the one that is open, or else the next.

    \b
    Example:
      duelmatch study ask --voter ann
    """  # noqa: D301
    from duelmatch.studies import Question

    with opened_study(url, study_id) as study:
        question = study.ask(study.voter_named(voter))
    if as_json:
        found = asdict(question) if isinstance(question, Question) else None
        reason = None if isinstance(question, Question) else question.reason
        print_json({"study": study.id, "question": found, "reason": reason})
    elif isinstance(question, Question):
        _show(study, question, voter)
    else:
        Page().paragraph(WHY[question.reason])


def _show(study: Study, question: Question, voter: str) -> None:
    page = Page()
    problem = study.problem
    about = problem.position_details.get(question.position)
    page.heading(f"Question {question.number}: who is better for {_called(question.position, about)}?")
    for candidate in (question.left, question.right):
        about = problem.candidate_details.get(candidate)
        page.line(_called(candidate, about), style="bold", indent=2)
        for line in filter(None, (about.text, about.picture, about.link) if about else ()):
            page.line(line, indent=5)
    answer = ["duelmatch", "study", "tell", str(question.number), question.left, "--voter", voter]
    page.paragraph(f"To answer, for example: {shlex.join(answer)}")


def _called(name: str, details: Details | None) -> str:
    return name if details is None or details.title in (None, name) else f"{details.title} ({name})"


@click.command("tell")
@click.argument("question", type=click.IntRange(1, 2**31 - 1))
@click.argument("winner", required=False)
@click.option("--tie", is_flag=True, help="They are equal: a coin decides.")
@click.option("--skip", is_flag=True, help="Pass on this question.")
@click.option("--reason", default="", help="Why it is skipped.")
@voter_option
@store_option
@study_option
@json_option
def tell(
    question: int,
    winner: str | None,
    tie: bool,
    skip: bool,
    reason: str,
    voter: str,
    url: str,
    study_id: str | None,
    as_json: bool,
) -> None:
    """Answer a voter's QUESTION: WINNER is the better candidate.

    When this returns, the answer is on disk. Told twice, it counts once.

    \b
    Example:
      duelmatch study tell 1 foxes --voter ann
      duelmatch study tell 2 --tie --voter ann
    """  # noqa: D301
    if (winner is not None) + tie + skip != 1:
        raise click.UsageError("Give the WINNER, or --tie, or --skip.")
    with opened_study(url, study_id) as study:
        number = study.voter_named(voter)
        if skip:
            study.skip(number, question, reason)
            receipt = None
        else:
            receipt = study.tell(number, question, winner)
    if as_json:
        print_json({"study": study.id, "question": question, "answer": receipt and asdict(receipt)})
        return
    page = Page()
    if receipt is None:
        page.paragraph(f"Question {question} is skipped.")
        return
    kept = "Kept before, and once" if receipt.repeated else "Kept"
    coin = " A coin decided the tie." if receipt.tie else ""
    page.paragraph(f"{kept}: {receipt.winner} over {receipt.loser} at {receipt.position}.{coin}")
