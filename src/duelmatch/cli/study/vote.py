"""``duelmatch study ask``, ``tell`` and ``link``: a voter's question, the answer, and the way to both."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from duelmatch.cli.dialogue import called, show_details
from duelmatch.cli.options import json_option
from duelmatch.cli.output import Page, print_either, print_json
from duelmatch.cli.store import on_study

if TYPE_CHECKING:
    from duelmatch.studies import Question, Study

WHY = {
    "done": "The study is over: the result is certain enough. See: duelmatch study status",
    "waiting": "There is nothing to ask now: other voters' answers are awaited. Try again in a while.",
    "all yours": "You have answered every question there is for you. Thank you.",
    "budget": "All the planned answers are in. See: duelmatch study status",
    "paused": "The study is paused.",
    "closed": "The study is closed. See: duelmatch study status",
}

voter_option = click.option(
    "--voter", required=True, metavar="NAME", help="Who answers; a new name is a new voter."
)


@click.command("ask")
@voter_option
@on_study
@json_option
def ask(voter: str, study: Study, as_json: bool) -> None:
    """Show a voter's question: the open one, or else the next.

    \b
    Example:
      duelmatch study ask --voter ann
    """  # noqa: D301
    from duelmatch.studies import Question

    question = study.ask(study.voter_named(voter))
    if not isinstance(question, Question):
        summary = {"study": study.id, "question": None, "reason": question.reason}
        print_either(as_json, summary, WHY[question.reason])
    elif as_json:
        print_json({"study": study.id, "question": asdict(question), "reason": None})
    else:
        _show(study, question, voter)


def _show(study: Study, question: Question, voter: str) -> None:
    page, problem = Page(), study.problem
    position = called(question.position, problem.position_details)
    page.heading(f"Question {question.number}: who is better for {position}?")
    for candidate in (question.left, question.right):
        page.line(called(candidate, problem.candidate_details), style="bold", indent=2)
        show_details(page, candidate, problem.candidate_details, indent=5)
    answer = ["duelmatch", "study", "tell", str(question.number), question.left, "--voter", voter]
    page.paragraph(f"To answer, for example: {shlex.join(answer)}")


@click.command("tell")
@click.argument("question", type=click.IntRange(1, 2**31 - 1))
@click.argument("winner", required=False)
@click.option("--tie", is_flag=True, help="They are equal: a coin decides.")
@click.option("--skip", is_flag=True, help="Skip this question.")
@click.option("--reason", default="", help="Why it is skipped.")
@voter_option
@on_study
@json_option
def tell(
    question: int,
    winner: str | None,
    tie: bool,
    skip: bool,
    reason: str,
    voter: str,
    study: Study,
    as_json: bool,
) -> None:
    """Answer a voter's QUESTION: WINNER is the better candidate.

    When this returns, the answer is on disk. Given twice, it counts once.

    \b
    Example:
      duelmatch study tell 1 foxes --voter ann
      duelmatch study tell 2 --tie --voter ann
    """  # noqa: D301
    if (winner is not None) + tie + skip != 1:
        raise click.UsageError("Give the WINNER, or --tie, or --skip.")
    number = study.voter_named(voter)
    summary = {"study": study.id, "question": question}
    if skip:
        study.skip(number, question, reason)
        print_either(as_json, summary | {"answer": None}, f"Question {question} is skipped.")
        return
    receipt = study.tell(number, question, winner)
    kept = "Kept before, and counted once" if receipt.repeated else "Kept"
    coin = " A coin decided the tie." if receipt.tie else ""
    sentence = f"{kept}: {receipt.winner} over {receipt.loser} at {receipt.position}.{coin}"
    print_either(as_json, summary | {"answer": asdict(receipt)}, sentence)


@click.command("link")
@on_study
@click.option("--voter", metavar="NAME", help="For this voter; a new name is a new voter.")
@click.option("--open", "anybody", is_flag=True, help="For anybody: one voter per browser.")
@click.option(
    "--server",
    metavar="ADDRESS",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="Where `duelmatch serve` can be reached.",
)
@json_option
def link(study: Study, voter: str | None, anybody: bool, server: str, as_json: bool) -> None:
    """Make a link for the browser: for the organiser, or with --voter or --open for voters.

    It is printed now and never again; only its hash is stored. The organiser can revoke it in the browser.

    \b
    Example:
      duelmatch study link
      duelmatch study link --voter ann --server https://duels.example.org
      duelmatch study link --open
    """  # noqa: D301
    if voter is not None and anybody:
        raise click.UsageError(
            "A link is for one voter, or for anybody: --voter and --open exclude each other."
        )
    if voter is not None:
        role, whom, token = "voter", f"'{voter}'", study.new_key("voter", study.voter_named(voter))
    elif anybody:
        role, whom, token = "open", "anybody who votes", study.new_key("open")
    else:
        role, whom, token = "organiser", "the organiser", study.new_key("organiser")
    address = f"{server.rstrip('/')}/l/{token}"
    if as_json:
        print_json({"study": study.id, "name": study.name, "role": role, "link": address})
        return
    Page().paragraph(f"{study.name}: a link for {whom}, shown now and never again.")
    click.echo(address)


COMMANDS = (ask, tell, link)
