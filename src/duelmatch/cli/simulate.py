"""``duelmatch simulate``: how an algorithm does on known preferences, run many times."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from statistics import median_high
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

import duelmatch as dm
from duelmatch.cli.options import Source, file_argument, json_option, settings_options, settle
from duelmatch.cli.output import Page, counted, print_json, rounded, ticker
from duelmatch.cli.standing import probability
from duelmatch.cli.status import INTERRUPTED, refuse
from duelmatch.explorers.catalogue import Assumption

if TYPE_CHECKING:
    from duelmatch.cli.options import RunSettings
    from duelmatch.cli.runs import Run, Task
    from duelmatch.truth import Truth

CONFIDENCE = 0.95
"""Of the interval for the error rate."""

MOST_ROWS = 12


@click.command("simulate")
@file_argument
@settings_options
@click.option("--runs", type=click.IntRange(1, 100_000), default=100, show_default=True, help="How often.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="How many processes to use; the results are the same.  [default: one per processor]",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    source: Source,
    runs: int,
    jobs: int | None,
    max_duels: int | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Run an algorithm many times on the preferences in FILE, with random answers, and see how it does.

    How often it is right, against how often it may be wrong, and how many duels it takes. Ctrl-C stops, and
    reports the runs that are finished.

    \b
    Example:
      duelmatch simulate example:lineup
      duelmatch simulate example:prizes --algorithm borda --epsilon 0.02 --delta 0.01 --runs 1000
      duelmatch simulate example:lineup --max-duels 300
    """  # noqa: D301
    from duelmatch.cli.runs import Task

    settings = settle(given)
    preferences = source.document.preferences()
    truth = truth_of(preferences, settings)
    if truth.endless and max_duels is None:
        click.echo(f"Note: {truth.endless}; runs may never end. --max-duels stops them.", err=True)
    task = Task(preferences, settings, max_duels)
    start = perf_counter()
    done, interrupted = _collect(task, runs, jobs or _processors())
    if not done:
        refuse("Interrupted before any run had finished.", INTERRUPTED)
    answer = {
        "file": source.name,
        **settings.as_dict(),
        "criterion": settings.criterion,
        "max_duels": max_duels,
        "runs": runs,
        "finished": len(done),
        "interrupted": interrupted,
        **summary(done, truth),
        "information_limit": truth.information_limit(settings.delta),
        "seconds": perf_counter() - start,
    }
    if as_json:
        print_json(answer)
    else:
        _print(answer)
    if interrupted:
        ctx.exit(INTERRUPTED)


def truth_of(preferences: dm.Preferences, settings: RunSettings) -> Truth:
    """Return what the preferences say about the results of such runs."""
    from duelmatch.truth import Truth

    parameters = settings.parameters
    return Truth(
        preferences, settings.criterion, parameters.get("epsilon"), parameters.get("assume_winner", True)
    )


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _collect(task: Task, runs: int, jobs: int) -> tuple[list[Run], bool]:
    """Return the runs that finished, in order, and whether Ctrl-C kept others from it."""
    from duelmatch.cli.runs import finished_runs

    done: list[Run] = []
    try:
        with ticker(runs) as tick, closing(finished_runs(task, runs, jobs)) as finished:
            for run in finished:
                done.append(run)
                tick(run.result.duels)
    except KeyboardInterrupt:
        return sorted(done, key=lambda run: run.number), True
    return sorted(done, key=lambda run: run.number), False


def summary(runs: Sequence[Run], truth: Truth) -> dict[str, Any]:
    """Return what ``simulate --json`` says about the finished runs."""
    import numpy as np

    from duelmatch.truth import clopper_pearson

    right = {run.number: truth.right(run.result) for run in runs}
    claims = [run for run in runs if run.result.status != "budget_spent"]
    wrong = sum(right[run.number] is False for run in claims)
    answers = Counter((run.result.status, run.result.matching, right[run.number]) for run in runs)
    duels = np.array([run.result.duels for run in runs])
    low, high = (float(value) for value in np.percentile(duels, [5, 95]))
    return {
        "statuses": dict(Counter(run.result.status for run in runs).most_common()),
        "answers": [
            {
                "status": status,
                "matching": None if matching is None else dict(matching),
                "runs": number,
                "right": is_right,
            }
            for (status, matching, is_right), number in answers.most_common()
        ],
        "winner": None if truth.winner is None else dict(truth.winner),
        "too_large": truth.too_large,
        "wrong": None if truth.too_large else wrong,
        "error_rate": None if truth.too_large else wrong / len(runs),
        "error_interval": None if truth.too_large else list(clopper_pearson(wrong, len(runs), CONFIDENCE)),
        "error_allowed": max(run.result.delta for run in runs),
        "assuming": list(dict.fromkeys(one for run in runs for one in run.result.assuming)),
        "duels": {
            "median": float(np.median(duels)),
            "mean": float(duels.mean()),
            "percentile_5": low,
            "percentile_95": high,
        },
        "seconds_per_run": sum(run.seconds for run in runs) / len(runs),
        "each_run": [
            {
                "run": run.number,
                "seed": run.seed,
                "status": run.result.status,
                "right": right[run.number],
                "duels": run.result.duels,
                "seconds": run.seconds,
                "p_value": run.p_value,
                "possible": run.possible,
            }
            for run in runs
        ],
    }


def _print(answer: dict[str, Any]) -> None:
    page = Page()
    runs = counted(answer["finished"], "run")
    if answer["interrupted"]:
        runs = f"{answer['finished']:,} of {counted(answer['runs'], 'run')}"
    page.heading(f"{answer['file']}: {runs} of {answer['algorithm']}, delta {answer['delta']:g}")
    if answer["interrupted"]:
        page.paragraph("Interrupted. Runs that take long are missing more often than others.")
    page.table({"Status": "left", "Matching": "left", "Runs": "right", "Right": "left"}, list(_rows(answer)))
    duels = answer["duels"]
    facts = [
        ("Error rate", _error_rate(answer)),
        ("Duels, median", f"{duels['median']:,.0f}"),
        ("Duels, mean", f"{duels['mean']:,.0f}"),
        ("Duels, 5% to 95%", f"{duels['percentile_5']:,.0f} to {duels['percentile_95']:,.0f}"),
    ]
    if answer["information_limit"] is not None:
        facts.append(("Information limit", f"{rounded(answer['information_limit'])} duels on average"))
    facts.append(("Seconds per run", rounded(answer["seconds_per_run"])))
    page.facts(facts + _guesses(answer))
    page.paragraph(_meaning(answer))


def _guesses(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Say how sure the runs were that ended with the budget, in the middle."""
    guesses = [run for run in answer["each_run"] if run["status"] == "budget_spent"]
    facts = []
    chances = sorted(run["p_value"] for run in guesses if run["p_value"] is not None)
    if chances:
        facts.append(("p of a guess, median", probability(median_high(chances))))
    possible = sorted(run["possible"] for run in guesses if run["possible"] is not None)
    if possible:
        facts.append(("Still possible, median", counted(median_high(possible), "matching")))
    return facts


def _rows(answer: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    judgement = {True: "yes", False: "NO", None: "not known"}
    for entry in answer["answers"][:MOST_ROWS]:
        chosen = "; ".join(f"{position}: {name}" for position, name in (entry["matching"] or {}).items())
        status = "NOT CERTIFIED" if entry["status"] == "budget_spent" else entry["status"]
        yield status, chosen or "none", f"{entry['runs']:,}", judgement[entry["right"]]
    rest = answer["answers"][MOST_ROWS:]
    if rest:
        yield "", f"{counted(len(rest), 'other')}", f"{sum(entry['runs'] for entry in rest):,}", ""


def _error_rate(answer: dict[str, Any]) -> str:
    if answer["error_rate"] is None:
        return "not known: the winner is out of reach"
    low, high = answer["error_interval"]
    allowed = f"{100 * answer['error_allowed']:.3g}% allowed"
    verdict = allowed if low <= answer["error_allowed"] else f"MORE than the {allowed}"
    return f"{answer['error_rate']:.1%} ({CONFIDENCE:.0%} interval {low:.1%} to {high:.1%}); {verdict}"


def _meaning(answer: dict[str, Any]) -> str:
    epsilon = answer["epsilon"]
    match answer["criterion"], epsilon:
        case "condorcet", None if answer["winner"] is None:
            right = "There is no Condorcet winner, so it is right to say so and wrong to name one."
        case "condorcet", None:
            right = "Right: it is the Condorcet winner of these preferences."
        case "condorcet", _ if answer["winner"] is None or not answer["assume_winner"]:
            right = f"Right: under these preferences it loses to no matching by more than {epsilon:g}."
        case "condorcet", _:
            right = f"Right: under these preferences it loses to the Condorcet winner by {epsilon:g} at most."
        case _, None:
            right = "Right: no matching has a higher Borda score under these preferences."
        case _:
            right = f"Right: its Borda score under these preferences is within {epsilon:g} of the best."
    if Assumption.CONDORCET_WINNER in answer["assuming"]:
        holds = "which is so here" if answer["winner"] else "which is not so here: its promise does not hold"
        sentence = Assumption.CONDORCET_WINNER.sentence
        right += f" {answer['algorithm']} takes for granted that {sentence}, {holds}."
        if answer["assume_winner"]:
            right += " With --no-assume-winner nothing is taken for granted, at the price of more duels."
    guesses = answer["statuses"].get("budget_spent", 0)
    if guesses:
        right += (
            f" {counted(guesses, 'run')} ended with the budget: a guess is no error, but no answer either."
        )
        if _guesses(answer):
            right += (
                " p says how good it is: if another matching were the winner, evidence this strong for it "
                "would ever turn up with probability p at most."
            )
    return right
