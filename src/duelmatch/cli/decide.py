"""``duelmatch decide``: what the answers of a panel decide, whatever the missing ones would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import duelmatch as dm
from duelmatch.cli.options import STDIN, Source, given_text
from duelmatch.cli.output import Output, Page, printed, working
from duelmatch.cli.standing import differences
from duelmatch.errors import ProblemError
from duelmatch.phrases import counted, filled_by, spoken

if TYPE_CHECKING:
    from duelmatch.explorers.panel.decision import Decision
    from duelmatch.files.answers import Sheet
    from duelmatch.preferences import Criterion

LISTED = 12
"""How many of the answers that would help, and of the line-ups that may win, are printed."""


@click.command("decide")
@click.argument("problem")
@click.argument("answers", required=False)
@click.option(
    "--criterion",
    type=click.Choice(["condorcet", "borda"]),
    default="condorcet",
    help="What makes a line-up the best: that it beats every other, or its average.",
)
@click.option(
    "--consistent/--no-consistent",
    default=True,
    help="Whether judges rank, so that what follows from a judge's answers is counted as said.",
)
@click.option(
    "--voter",
    "voters",
    multiple=True,
    metavar="NAME",
    help="A judge who has not answered anything yet; may be given more than once.",
)
@click.option(
    "--missing",
    type=click.Choice(["open", "dropped"]),
    default="open",
    help="What a judge has not said is open and may be anything, or is not counted.",
)
@printed
def command(
    problem: str,
    answers: str | None,
    criterion: Criterion,
    consistent: bool,
    voters: tuple[str, ...],
    missing: Literal["open", "dropped"],
) -> Output:
    """Say what a panel has decided, for certain, from the ANSWERS of its judges.

    ANSWERS is a CSV with a row per answer, under the header voter,position,winner,loser (and perhaps tie:
    yes or no), or a row per ranking, under voter,position,ranking, such as eve,chair,"ann > bob = cyd". A
    column weight gives a judge more than one vote. Or it is a PrefLib file (.soc, .soi, .toc, .toi) for a
    PROBLEM with one position; such a file can also stand alone. `-` is a CSV, or a problem, from standard
    input.

    What is printed holds whatever the answers are that are missing: there is no probability in it.

    \b
    Example:
      duelmatch decide team.yaml answers.csv
      duelmatch decide team.yaml answers.csv --criterion borda --missing dropped
      duelmatch decide election.soc
    """
    sheet = _read(problem, answers)
    if missing == "dropped":
        sheet.dropped.update((*(row.answer.voter or "" for row in sheet.rows), *sheet.weights, *voters))
    with working("Counting"):
        decision = dm.decide(
            sheet.problem,
            [row.answer for row in sheet.rows],
            criterion,
            consistent,
            voters=(*sheet.weights, *voters),
            missing=dict.fromkeys(sheet.dropped, "dropped"),
            conflicts=sheet.conflicts,
            voter_weight=sheet.weights,
            chosen=sheet.chosen,
        )
    return decided(decision, sheet)


def _read(problem: str, answers: str | None) -> Sheet:
    """Return the problem, the answers, and what there is to know of the judges."""
    from duelmatch.files.answers import ANSWERS_BYTES, AnswerRow, Sheet, read_sheet
    from duelmatch.files.documents import naming
    from duelmatch.files.preflib import INCOMPLETE_SUFFIXES, SUFFIXES, load_preflib_answers

    preflib = (*SUFFIXES, *INCOMPLETE_SUFFIXES)
    if answers is None:
        if Path(problem).suffix.lower() not in preflib:
            raise click.UsageError("ANSWERS is missing; only a PrefLib file can stand alone.")
        alone, given, weights = load_preflib_answers(problem)
        return Sheet(alone, [AnswerRow(0, answer) for answer in given], weights, is_preflib=True)
    if problem == answers == STDIN:
        raise click.UsageError("Only one of PROBLEM and ANSWERS can come from standard input.")
    found = Source(problem).document.problem()
    if Path(answers).suffix.lower() in preflib:
        with naming(answers):
            if len(found.positions) != 1:
                raise ProblemError("A PrefLib file is about one position, and the problem has more.")
            _, given, weights = load_preflib_answers(answers, found.positions[0])
            for answer in given:
                for candidate in answer.candidates:
                    found.edge_number(candidate, answer.position)
            return Sheet(found, [AnswerRow(0, answer) for answer in given], weights, is_preflib=True)
    with given_text(answers, ANSWERS_BYTES) as text:
        sheet = read_sheet(text, found)
        _check_panel(sheet)
    return sheet


def _check_panel(sheet: Sheet) -> None:
    """Refuse rows that are no panel's, naming the line."""
    from duelmatch.explorers.panel.decision import check_answers

    if not sheet.rows:
        raise ProblemError("There are no answers in it.")
    places = [f"line {row.line}" for row in sheet.rows]
    said = check_answers(sheet.problem, [row.answer for row in sheet.rows], places)
    for voter, weight in sheet.weights.items():
        if said.get(voter, weight) != weight:
            raise ProblemError(
                f"'{voter}' has weight {weight:g} in a row without an answer, and {said[voter]:g} elsewhere."
            )


def decided(
    decision: Decision, sheet: Sheet, about: Mapping[str, Any] | None = None, exit_code: int = 0
) -> Output:
    """Return what is decided; programs are told ``about`` how it was asked, too."""
    people = _people(decision, sheet)
    summary = {**(about or {}), **_as_dict(decision, people)}
    return Output(summary, lambda page: _print(page, decision, people), exit_code)


def _people(decision: Decision, sheet: Sheet) -> tuple[int, int, int]:
    """Return how many judges, answers and open opinions there are.

    A line of a PrefLib file stands for as many judges as it says. Who has said nothing, and of whom nothing
    is open, decides nothing.
    """
    speaking = {row.answer.voter for row in sheet.rows}
    stands_for = {voter: 1 for voter in decision.voters if voter in speaking or voter not in sheet.dropped}
    if sheet.is_preflib:
        stands_for |= {voter: round(weight) for voter, weight in sheet.weights.items()}
    answers = sum(stands_for[row.answer.voter or ""] for row in sheet.rows)
    is_open = sum(stands_for[voter] * number for voter, number in decision.open_answers.items())
    return sum(stands_for.values()), answers if sheet.is_preflib else decision.answers, is_open


def _as_dict(decision: Decision, people: tuple[int, int, int]) -> dict[str, Any]:
    result, progress, closest = decision.result, decision.progress, decision.closest
    judges, answers, is_open = people
    return {
        "status": result.status,
        "criterion": decision.criterion,
        "matching": dict(result.matching or {}),
        "shortfall": result.shortfall,
        "assuming": list(result.assuming),
        "voters": judges,
        "answers": answers,
        "open_answers": is_open,
        "open_answers_of": dict(decision.open_answers),
        "closest": None if closest is None else asdict(closest),
        "decided": progress.decided,
        "may_win": decision.may_win,
        "possible": progress.possible,
        "possible_winners": [dict(matching) for matching in progress.possible_winners],
        "fewest_questions": progress.fewest_questions,
        "needed": [asdict(one) for one in decision.needed],
    }


def _print(page: Page, decision: Decision, people: tuple[int, int, int]) -> None:
    result, progress = decision.result, decision.progress
    assert result.matching is not None, "a panel always has a leader"
    page.paragraph(_headline(decision), style="bold")
    is_open = result.status == "budget_spent"
    columns = ["Position", "Candidate", ""] if is_open else ["Position", "Candidate"]
    rows = [
        (position, spoken(names), "decided" if progress.decided.get(position) == names else "open")
        for position, names in result.matching.items()
    ]
    page.table(columns, [row[: len(columns)] for row in rows])
    judges, answers, number_open = people
    sizes = f"{counted(judges, 'judge')}, {counted(answers, 'answer')}"
    opinions = f"{counted(number_open, 'opinion')} {'is' if number_open == 1 else 'are'} open"
    page.paragraph(f"{sizes}. {opinions if number_open else 'Nothing is open'}.")
    if result.assuming:
        page.line("Taken for granted: " + "; ".join(one.sentence for one in result.assuming) + ".")
    page.paragraph(_margin(decision))
    if not is_open:
        return
    if progress.possible is not None:
        some = [filled_by(matching, ", ") for matching in progress.possible_winners[:LISTED]]
        more = f", … and {progress.possible - len(some):,} more" if progress.possible > len(some) else ""
        names = f": {' | '.join(some)}{more}." if some else "."
        page.paragraph(f"{counted(progress.possible, 'line-up')} can still win{names}")
    if not decision.may_win:
        page.paragraph(_cannot_win(decision))
    _print_needed(page, decision)


def _print_needed(page: Page, decision: Decision) -> None:
    if decision.needed:
        page.paragraph(
            f"{counted(decision.progress.fewest_questions or 0, 'answer')} could settle it, if all of them "
            "spoke for this line-up:"
        )
        page.table(
            ["Position", "Prefer", "to", "Answers", "Whose are open"],
            [
                (one.position, one.first, one.second, one.answers, _some(one.voters))
                for one in decision.needed[:LISTED]
            ],
            right=["Answers"],
        )
        if len(decision.needed) > LISTED:
            page.line(f"… and {len(decision.needed) - LISTED:,} more pairs (--json has all).")
    elif decision.open_answers:
        most = sorted(decision.open_answers.items(), key=lambda item: -item[1])
        page.paragraph("Open: " + ", ".join(f"{voter} {number:,}" for voter, number in most[:LISTED]) + ".")


def _headline(decision: Decision) -> str:
    borda = decision.criterion == "borda"
    match decision.result.status:
        case "decided":
            best = "has the best score, alone" if borda else "beats every other"
            return f"Decided: this line-up {best}, whatever the open answers are."
        case "unbeaten":
            return (
                "Unbeaten: no other line-up can beat this one, whatever the open answers are; some may draw."
            )
        case "tied":
            return "Tied: no line-up has a better score than this one, and another has the same, for certain."
        case "no_winner":
            return (
                "No winner: every line-up is beaten by another. This one's worst defeat is the smallest: it "
                f"loses by {decision.result.shortfall or 0:.4f} per position."
            )
    return "Not decided yet. This is the line-up with the smallest certain shortfall that was found."


def _cannot_win(decision: Decision) -> str:
    """Say that the line-up on top is not one of those that can win."""
    certain = "it is certain to be beaten by another"
    if decision.criterion == "borda":
        certain = "another is certain to have a better score"
    least = " It falls short least all the same." if decision.progress.possible != 0 else ""
    return f"The line-up above is not one that can: {certain}.{least}"


def _margin(decision: Decision) -> str:
    closest, result = decision.closest, decision.result
    if closest is None:
        return "There is no other line-up."
    assert result.matching is not None, "a panel always has a leader"
    changes = differences(closest.matching, result.matching)
    rival = f"the one with {', '.join(changes[:LISTED])}{', …' * (len(changes) > LISTED)}"
    if closest.ahead < 0:
        by = f"by {-closest.ahead:.4f} per position"
        if decision.criterion == "borda":
            return f"Its score may still be below that of {rival}, {by}."
        return f"It may still lose to {rival}, {by}."
    if closest.ahead == 0:
        return f"The closest other line-up is {rival}: the two may draw."
    votes = "" if closest.votes is None else f" ({counted(round(closest.votes), 'vote')} in all)"
    ahead = f"by {closest.ahead:.4f} per position{votes} at least"
    return f"The closest other line-up is {rival}: this one is ahead of it {ahead}."


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + f" and {len(names) - 5:,} more" * (len(names) > 5)
