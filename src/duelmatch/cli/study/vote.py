"""``duelmatch study vote``, ``ask``, ``tell`` and ``link``: questions, answers, and the way to both."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from duelmatch.cli.dialogue import NO_DIFFERENCE, Said, parsed, show_question, written
from duelmatch.cli.options import flag
from duelmatch.cli.output import Output, Page, conversation, printed, titles_of, working
from duelmatch.cli.store import link_address, on_study, server_option
from duelmatch.cli.study.changes import voter_called
from duelmatch.errors import ConflictError, DuelError, NotAllowedError, NotThereError, did_you_mean

if TYPE_CHECKING:
    from duelmatch.studies import Nothing, Question, Receipt, Study

WHY = {
    "done": "The study is over: there is nothing left to ask. See: duelmatch study status",
    "waiting": "There is nothing to ask now: other voters' answers are awaited. Try again in a while.",
    "all yours": "We have no more questions for you. Thank you.",
    "late": "The time for your ballot is over; the rest of it went to others. Thank you.",
    "left": "You have left the panel.",
    "budget": "All the planned answers are in. See: duelmatch study status",
    "paused": "The study is paused.",
    "closed": "The study is closed. See: duelmatch study status",
}

HELP = (
    "Of two: a number or a name, that one is better. Of more: all of them, best first: 2 > 1 = 3.",
    "t  tie: there is no difference; = means the same.",
    "s  skip: you cannot say.",
    "u  undo: take your last answer back.",
    "q  stop, as does the end of the input. Every answer is kept.",
)

voter_option = click.option(
    "--voter", required=True, metavar="NAME", help="Who answers. In a crowd, a new name is a new voter."
)


def _answering(study: Study, name: str) -> str:
    """Return the id of a voter; a crowd takes in whoever comes, but a panel is these judges and nobody else.

    :raises NotThereError: if no judge of a panel has this name.
    """
    if study.settings.kind != "panel":
        return study.voter_named(name)
    known = {voter.name: voter.id for voter in study.voters() if voter.name is not None}
    if name in known:
        return known[name]
    raise NotThereError(
        f"The panel has no judge called '{name:.80}'.{did_you_mean(name, known)} To add a judge: duelmatch "
        "study link --voter NAME."
    )


@click.command("vote")
@voter_option
@on_study
@conversation
def vote(voter: str, study: Study, page: Page) -> Output:
    """Answer a voter's questions one after the other. With --json, questions go to standard error.

    \b
    Example:
      duelmatch study vote --voter ann
    """
    from duelmatch.studies import Question

    voter_id, reason = _answering(study, voter), None
    with suppress(EOFError):
        while isinstance(asked := _asked(study, voter_id), Question):
            _show(page, study, asked)
            _answer(page, study, voter_id, asked)
        reason = asked.reason
        page.paragraph(WHY[reason])
    summary = {"study": study.id, "answers": study.answers_by(voter_id), "reason": reason}
    return Output(summary, lambda _: None)


def _asked(study: Study, voter: str) -> Question | Nothing:
    """Return a voter's question, or why there is none; the first one can take a while."""
    with working("Choosing a question"):
        return study.ask(voter)


def _answer(page: Page, study: Study, voter: str, asked: Question) -> None:
    """Read what a voter says until it is an answer, a skip or an undo.

    :raises EOFError: if the voter stops.
    """
    while True:
        text = page.ask(f"{_how(asked)} (t tie, s skip, u undo, q stop, ? help):", HELP)
        try:
            match text.casefold():
                case "q":
                    raise EOFError
                case "s":
                    study.skip(voter, asked.number)
                case "u":
                    study.undo(voter)
                case _:
                    titles = titles_of(study.problem.candidate_details)
                    meant = parsed(text, asked.candidates, titles, shown=True)
                    page.line(_kept(study.tell(voter, asked.number, meant)), style="dim")
        except (DuelError, ConflictError, NotAllowedError) as refusal:
            page.line(str(refusal))
        else:
            return


def _how(asked: Question) -> str:
    """Say how a question is answered."""
    if len(asked.candidates) == 2:
        return "Your answer"
    order = " > ".join(str(number) for number in range(len(asked.candidates), 0, -1))
    return f"Rank all of them, best first, such as {order}"


def _show(page: Page, study: Study, question: Question) -> None:
    place = f" ({question.place} of {question.of})" if question.place and question.of else ""
    show_question(page, study.problem, question.position, question.candidates, place)


def _kept(receipt: Receipt) -> str:
    kept = "Kept before, and counted once" if receipt.repeated else "Kept"
    return f"{kept}: {written(receipt.answer)} at {receipt.position}. Receipt: {receipt.hash[:12]}"


@click.command("ask")
@voter_option
@on_study
@printed
def ask(voter: str, study: Study) -> Output:
    """Show a voter's open question, or else the next.

    \b
    Example:
      duelmatch study ask --voter ann
    """
    from duelmatch.studies import Question

    question = _asked(study, _answering(study, voter))
    if not isinstance(question, Question):
        summary = {"study": study.id, "question": None, "reason": question.reason}
        return Output(summary, WHY[question.reason])

    def show(page: Page) -> None:
        _show(page, study, question)
        answer = question.candidates[0] if len(question.candidates) == 2 else " > ".join(question.candidates)
        example = ["duelmatch", "study", "tell", str(question.number), answer, "--voter", voter]
        page.paragraph(f"To answer, for example: {shlex.join(example)}")

    return Output({"study": study.id, "question": asdict(question), "reason": None}, show)


@click.command("tell")
@click.argument("question", type=click.IntRange(1, 2**31 - 1))
@click.argument("answer", required=False)
@flag("--tie", "There is no difference.")
@flag("--skip", "Skip this question.")
@click.option("--reason", default="", show_default=False, help="Why it is skipped.")
@voter_option
@on_study
@printed
def tell(
    question: int, answer: str | None, tie: bool, skip: bool, reason: str, voter: str, study: Study
) -> Output:
    """Answer a voter's QUESTION. ANSWER is the better candidate, or a ranking.

    When this returns, the answer is on disk. Given twice, it counts once.

    \b
    Example:
      duelmatch study tell 1 foxes --voter ann
      duelmatch study tell 2 --tie --voter ann
      duelmatch study tell 3 "foxes > comets = harbour" --voter ann
    """
    if (answer is not None) + tie + skip != 1:
        raise click.UsageError("Give the ANSWER, or --tie, or --skip.")
    voter_id = _answering(study, voter)
    summary = {"study": study.id, "question": question}
    if skip:
        study.skip(voter_id, question, reason)
        return Output(summary | {"answer": None}, f"Question {question} is skipped.")
    said = None if answer is None else _as_told(answer, study.problem.candidates)
    receipt = study.tell(voter_id, question, said)
    return Output(summary | {"answer": asdict(receipt)}, _kept(receipt))


def _as_told(answer: str, candidates: Collection[str]) -> Said:
    """Return a ranking if there is a sign of one, or else a name, which may have such signs in it."""
    if answer.strip() == NO_DIFFERENCE:
        return None
    if answer in candidates or (">" not in answer and "=" not in answer):
        return answer
    return [tuple(name.strip() for name in group.split("=")) for group in answer.split(">")]


@click.command("undo")
@voter_option
@on_study
@printed
def undo(voter: str, study: Study) -> Output:
    """Take back a voter's last answer. Its question is open again.

    \b
    Example:
      duelmatch study undo --voter ann
    """
    question = study.undo(voter_called(study, voter).id)
    sentence = f"The answer to question {question.number} is taken back. It is open again."
    return Output({"study": study.id, "question": asdict(question)}, sentence)


@click.command("link")
@on_study
@click.option("--voter", metavar="NAME", help="For this voter; a new name is a new voter.")
@flag("--open", "For anybody: one voter per browser.", "anybody")
@flag(
    "--judges",
    "With --open, for a panel: whoever opens the link becomes a judge, and their open answers count.",
)
@server_option("Where `duelmatch serve` can be reached.")
@printed
def link(study: Study, voter: str | None, anybody: bool, judges: bool, server: str) -> Output:
    """Make a link for the browser. It is for the organiser, or with --voter or --open for voters.

    It is printed now and never again; only its hash is stored. The organiser can revoke it in the browser.

    \b
    Example:
      duelmatch study link
      duelmatch study link --voter ann --server https://duels.example.org
      duelmatch study link --open
    """
    if voter is not None and anybody:
        raise click.UsageError(
            "A link is for one voter, or for anybody: --voter and --open exclude each other."
        )
    if judges and not anybody:
        raise click.UsageError("--judges is for an open link: give --open, too.")
    if voter is not None:
        role, whom, token = "voter", f"'{voter}'", study.new_link("voter", study.voter_named(voter))
    elif anybody:
        role, whom, token = "open", "anybody who votes", study.new_link("open", judges=judges)
    else:
        role, whom, token = "organiser", "the organiser", study.new_link("organiser")
    address = link_address(server, token)

    def show(page: Page) -> None:
        page.paragraph(f"{study.name}: a link for {whom}, shown now and never again.")
        click.echo(address)

    return Output({"study": study.id, "name": study.name, "role": role, "link": address}, show)


COMMANDS = (vote, ask, tell, undo, link)
