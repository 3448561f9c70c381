"""``duelmatch winners``: the best matchings when the preferences are known."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import duelmatch as dm
from duelmatch.cli import NO_WINNER, TOO_LARGE
from duelmatch.cli.options import Source, criterion_option, file_argument, plot_option
from duelmatch.cli.output import Output, Page, picked, printed
from duelmatch.cli.standing import differences
from duelmatch.errors import TooLargeError
from duelmatch.phrases import spoken

if TYPE_CHECKING:
    from duelmatch.theory import BordaWinner, CondorcetWinner


@click.command("winners")
@file_argument
@criterion_option
@plot_option
@printed
def command(source: Source, criterion: str, plot: Path | None) -> Output:
    """Find the Borda and the Condorcet winner from the preferences in FILE.

    The Borda winner does best on average against all maximum matchings; it always exists. The Condorcet
    winner beats every other one; it may not exist, and then --criterion condorcet ends with exit code 1.

    \b
    Example:
      duelmatch winners example:prizes
      duelmatch winners team.yaml --criterion condorcet --plot winner.svg
    """
    preferences = source.document.preferences()
    summary: dict[str, Any] = {"file": source.name, "borda": None, "condorcet": None}
    matchings: dict[str, dm.Matching] = {}
    sentences, code = [], 0
    if criterion != "condorcet":
        borda, too_large = None, None
        try:
            borda = dm.theory.borda_winner(preferences)
            matchings["Borda winner"] = borda.matching
        except TooLargeError as error:
            too_large, code = str(error), TOO_LARGE
        found = picked(borda, "matching", "score", "margin", "unique")
        summary["borda"] = found | {"too_large": too_large}
        sentences.append(_borda_sentence(borda, too_large))
    if criterion != "borda":
        condorcet = dm.theory.condorcet_winner(preferences)
        found = picked(condorcet, "matching", "margin", "closest_rival")
        summary["condorcet"] = {"exists": condorcet is not None} | found
        sentences.append(_condorcet_sentence(condorcet))
        if condorcet is not None:
            matchings["Condorcet winner"] = condorcet.matching
        elif criterion == "condorcet":
            code = NO_WINNER
    if plot is not None:
        from duelmatch.drawing import draw

        summary["plot"] = str(draw(preferences.problem, matchings, path=plot, title=source.name))
    return Output(summary, lambda page: _print(page, preferences, summary, matchings, sentences), code)


def _print(
    page: Page,
    preferences: dm.Preferences,
    summary: dict[str, Any],
    matchings: dict[str, dm.Matching],
    sentences: list[str],
) -> None:
    page.heading(summary["file"])
    if matchings:
        rows = []
        for position in preferences.problem.positions:
            names = [spoken(matching[position]) for matching in matchings.values()]
            mark = " *" if len(set(names)) > 1 else ""
            rows.append([position, *(name + mark for name in names)])
        page.table(["Position", *matchings], rows)
    for sentence in sentences:
        page.paragraph(sentence)
    if len(matchings) == 2:
        page.paragraph(_comparison(preferences, *matchings.values()))
    page.picture(summary)


def _borda_sentence(winner: BordaWinner | None, too_large: str | None) -> str:
    if winner is None:
        return f"Borda: not known. {too_large}"
    if winner.margin == inf:
        return "Borda: the only maximum matching there is."
    start = f"Borda: the best on average. It scores {winner.score:.4f} against a random matching, "
    if not winner.unique:
        return start + "but it is not alone: another matching scores the same."
    return start + f"{winner.margin:.4f} more than any other does."


def _condorcet_sentence(winner: CondorcetWinner | None) -> str:
    if winner is None:
        return (
            "Condorcet: there is no winner. Every matching loses to another or ties with it, so no number "
            "of duels would find one; look for the Borda winner, which always exists."
        )
    rival = winner.closest_rival
    if rival is None:
        return "Condorcet: the only maximum matching there is."
    changes = ", ".join(differences(rival, winner.matching))
    return (
        f"Condorcet: beats every other matching, with a score of {0.5 + winner.margin:.4f} or more "
        f"(margin {winner.margin:.4f}). The closest rival has {changes}."
    )


def _comparison(preferences: dm.Preferences, borda: dm.Matching, condorcet: dm.Matching) -> str:
    if borda == condorcet:
        return "Both are the same matching."
    return (
        "They differ where the table has a *. Head to head the Condorcet winner scores "
        f"{preferences.score(condorcet, borda):.4f} against the Borda winner; on average it scores "
        f"{preferences.borda_score(condorcet):.4f}."
    )
