"""``duelmatch winners``: the best matchings when the preferences are known."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import click

import duelmatch as dm
from duelmatch.cli.options import Source, criterion_option, file_argument, json_option, plot_option
from duelmatch.cli.output import Page, print_json
from duelmatch.cli.status import ANSWER_IS_NO, TOO_LARGE
from duelmatch.errors import TooLargeError


@click.command("winners")
@file_argument
@criterion_option
@plot_option
@json_option
@click.pass_context
def command(ctx: click.Context, source: Source, criterion: str, plot: Path | None, as_json: bool) -> None:
    """Find the Borda and the Condorcet winner from the preferences in FILE.

    The Borda winner does best on average against all maximum matchings; it always exists. The Condorcet
    winner beats every other one; it may not exist, and then --criterion condorcet ends with exit code 1.

    \b
    Example:
      duelmatch winners example:prizes
      duelmatch winners team.yaml --criterion condorcet --plot winner.svg
    """  # noqa: D301
    preferences = source.document.preferences()
    answer: dict[str, Any] = {"file": source.name, "borda": None, "condorcet": None}
    if criterion in ("borda", "both"):
        answer["borda"] = borda(preferences)
    if criterion in ("condorcet", "both"):
        answer["condorcet"] = condorcet(preferences)
    if plot is not None:
        from duelmatch.drawing import draw

        found = {f"{kind} winner": matching for kind, matching in _matchings(answer).items()}
        answer["plot"] = str(draw(preferences.problem, found, path=plot, title=source.name))
    if as_json:
        print_json(answer)
    else:
        _print(preferences, answer)
    if answer["borda"] and answer["borda"]["too_large"]:
        ctx.exit(TOO_LARGE)
    if criterion == "condorcet" and not answer["condorcet"]["exists"]:
        ctx.exit(ANSWER_IS_NO)


def borda(preferences: dm.Preferences) -> dict[str, Any]:
    """Return what ``winners --json`` says about the Borda winner."""
    try:
        winner, margin = preferences.borda_winner(), preferences.borda_margin()
    except TooLargeError as error:
        return {"matching": None, "score": None, "margin": None, "unique": None, "too_large": str(error)}
    return {
        "matching": dict(winner),
        "score": preferences.borda_score(winner),
        "margin": margin,
        "unique": margin > 0,
        "too_large": None,
    }


def condorcet(preferences: dm.Preferences) -> dict[str, Any]:
    """Return what ``winners --json`` says about the Condorcet winner."""
    winner = preferences.condorcet_winner()
    if winner is None:
        return {"exists": False, "matching": None, "margin": None, "closest_rival": None}
    rival = _closest_rival(preferences, winner)
    return {
        "exists": True,
        "matching": dict(winner),
        "margin": inf if rival is None else preferences.score(winner, rival) - 0.5,
        "closest_rival": None if rival is None else dict(rival),
    }


def _closest_rival(preferences: dm.Preferences, winner: dm.Matching) -> dm.Matching | None:
    problem = preferences.problem
    against = {(c, s): preferences.probability(s, c, winner[s]) for c, s in problem.edges}
    return dm.matchings.best_other(problem, against, winner)


def _matchings(answer: dict[str, Any]) -> dict[str, dict[str, str]]:
    found = {kind.capitalize(): answer[kind] for kind in ("borda", "condorcet")}
    return {kind: entry["matching"] for kind, entry in found.items() if entry and entry["matching"]}


def _print(preferences: dm.Preferences, answer: dict[str, Any]) -> None:
    page = Page()
    page.heading(answer["file"])
    found = _matchings(answer)
    if found:
        rows = []
        for position in preferences.problem.positions:
            names = [matching[position] for matching in found.values()]
            mark = " *" if len(set(names)) > 1 else ""
            rows.append([position, *(name + mark for name in names)])
        page.table({"Position": "left"} | {f"{kind} winner": "left" for kind in found}, rows)
    if answer["borda"]:
        page.paragraph(_borda_sentence(answer["borda"]))
    if answer["condorcet"]:
        page.paragraph(_condorcet_sentence(answer["condorcet"]))
    if len(found) == 2:
        page.paragraph(_comparison(preferences, *map(dm.Matching, found.values())))
    if "plot" in answer:
        page.picture(answer["plot"])


def _borda_sentence(entry: dict[str, Any]) -> str:
    if entry["too_large"]:
        return f"Borda: not known. {entry['too_large']}"
    start = f"Borda: the best on average. It scores {entry['score']:.4f} against a random matching, "
    if entry["margin"] == inf:
        return "Borda: the only maximum matching there is."
    if not entry["unique"]:
        return start + "but it is not alone: another matching scores the same."
    return start + f"{entry['margin']:.4f} more than any other does."


def _condorcet_sentence(entry: dict[str, Any]) -> str:
    if not entry["exists"]:
        return (
            "Condorcet: there is no winner. Every matching ties with some other or loses to it, so no number "
            "of duels would find one; ask for the Borda winner, which always exists."
        )
    if entry["closest_rival"] is None:
        return "Condorcet: the only maximum matching there is."
    rival = entry["closest_rival"]
    changes = [f"{rival[s]} at {s}" for s, candidate in entry["matching"].items() if rival[s] != candidate]
    return (
        f"Condorcet: beats every other matching, with a score of {0.5 + entry['margin']:.4f} or more "
        f"(margin {entry['margin']:.4f}). The closest rival has {', '.join(changes)}."
    )


def _comparison(preferences: dm.Preferences, borda_winner: dm.Matching, condorcet_winner: dm.Matching) -> str:
    if borda_winner == condorcet_winner:
        return "Both are the same matching."
    score = preferences.score(condorcet_winner, borda_winner)
    return (
        f"They differ where the table has a *. Head to head the Condorcet winner scores {score:.4f} against "
        f"the Borda winner; on average it scores {preferences.borda_score(condorcet_winner):.4f}."
    )
