"""``duelmatch simulate``: how an algorithm does on known preferences, run many times."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from operator import attrgetter
from statistics import median_high
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from duelmatch.cli import INTERRUPTED, refuse
from duelmatch.cli.options import Source, file_argument, settings_options, settle
from duelmatch.cli.output import Output, Page, printed, progress_bar, rounded
from duelmatch.cli.standing import against, probability
from duelmatch.explorers.catalogue import Assumption
from duelmatch.phrases import counted

if TYPE_CHECKING:
    from duelmatch.experiments.simulation import Run

MOST_ROWS = 12


@click.command("simulate")
@file_argument
@settings_options()
@click.option("--runs", type=click.IntRange(1, 100_000), default=100, help="How many runs.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="How many processes to use; the results are the same.  [default: one per processor]",
)
@printed
def command(source: Source, runs: int, jobs: int | None, max_duels: int | None, **given: Any) -> Output:
    """Run an algorithm many times on the preferences in FILE, with random answers, and see how it does.

    Reports how often it is right, how often it may be wrong, and how many duels it takes. Ctrl-C stops, and
    the finished runs are reported.

    \b
    Example:
      duelmatch simulate example:lineup
      duelmatch simulate example:prizes --algorithm borda --epsilon 0.02 --delta 0.01 --runs 1000
      duelmatch simulate example:lineup --max-duels 300
    """
    from duelmatch.experiments.cell import single_cell
    from duelmatch.experiments.simulation import simulations, summarise

    settings = settle(given)
    asked = {"file": source.name, **settings.as_dict(), "criterion": settings.criterion}
    chosen = {"delta": settings.delta, "seed": settings.seed, "max_duels": max_duels, **settings.parameters}
    cell = single_cell(source.document.preferences(), settings.algorithm, **chosen)
    simulated = simulations(cell, runs, jobs)
    endless = cell.known.endless(cell.variant.epsilon)
    if endless and max_duels is None:
        click.echo(f"Note: {endless}; runs may never end. --max-duels stops them.", err=True)
    start, done, interrupted = perf_counter(), [], False
    try:
        with closing(simulated):
            for run in _watched(simulated, runs) if sys.stderr.isatty() else simulated:
                done.append(run)
    except KeyboardInterrupt:
        interrupted = True
    done.sort(key=attrgetter("number"))
    if not done:
        refuse("Interrupted before any run had finished.", INTERRUPTED)
    answer = {
        **asked,
        "max_duels": max_duels,
        "runs": runs,
        "interrupted": interrupted,
        **asdict(summarise(cell, done)),
        "seconds": perf_counter() - start,
    }
    return Output(answer, lambda page: _print(page, answer), INTERRUPTED if interrupted else 0)


def _watched(finished: Iterable[Run], runs: int) -> Iterator[Run]:
    """Yield the runs, and show on the way how far they are."""
    start, duels = perf_counter(), 0
    with progress_bar(runs) as show:
        for number, run in enumerate(finished, start=1):
            duels += run.duels
            show(number, f"{duels:,} duels", (perf_counter() - start) / number * (runs - number))
            yield run


def _print(page: Page, answer: dict[str, Any]) -> None:
    duels = answer["duels"]
    runs = f"{answer['finished']:,} of {answer['runs']:,}" if answer["interrupted"] else f"{answer['runs']:,}"
    facts = [
        ("Runs", runs),
        ("Error rate", _error_rate(answer)),
        ("Duels, median", f"{duels['median']:,.0f}"),
        ("Duels, mean", f"{duels['mean']:,.0f}"),
        ("Duels, 5% to 95%", f"{duels['percentile_5']:,.0f} to {duels['percentile_95']:,.0f}"),
    ]
    if answer["information_limit"] is not None:
        facts.append(("Information limit", f"{rounded(answer['information_limit'])} duels on average"))
    facts += [("Seconds per run", rounded(answer["seconds_per_run"])), ("Seed", str(answer["seed"]))]
    facts += _guesses(answer)
    rows, meaning = _rows(answer), _meaning(answer)
    page.heading(f"{answer['file']}: {answer['algorithm']}, delta {answer['delta']:g}")
    if answer["interrupted"]:
        page.paragraph("Interrupted. Runs that take long are missing more often than others.")
    page.table(["Status", "Matching", "Runs", "Right"], rows, right=["Runs"])
    page.facts(facts)
    page.paragraph(meaning)


def _guesses(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Say how sure the runs were that ended with the budget, in the middle."""
    guesses = [run for run in answer["each_run"] if run["status"] == "budget_spent"]
    facts = []
    if chances := [run["p_value"] for run in guesses if run["p_value"] is not None]:
        facts.append(("p of a guess, median", probability(median_high(chances))))
    if possible := [run["possible"] for run in guesses if run["possible"] is not None]:
        facts.append(("Still possible, median", counted(median_high(possible), "matching")))
    return facts


def _rows(answer: dict[str, Any]) -> list[tuple[object, ...]]:
    judgement = {True: "yes", False: "NO", None: "not known"}
    rows: list[tuple[object, ...]] = []
    for entry in answer["answers"][:MOST_ROWS]:
        status = "NOT CERTIFIED" if entry["status"] == "budget_spent" else entry["status"]
        rows.append((status, entry["matching"] or "none", entry["runs"], judgement[entry["right"]]))
    if rest := answer["answers"][MOST_ROWS:]:
        rows.append(("", counted(len(rest), "other"), sum(entry["runs"] for entry in rest), ""))
    return rows


def _error_rate(answer: dict[str, Any]) -> str:
    if answer["error_rate"] is None:
        return "not known: the winner is out of reach"
    low, high = answer["error_interval"]
    allowed = f"{100 * answer['error_allowed']:.3g}% allowed"
    verdict = allowed if low <= answer["error_allowed"] else f"MORE than the {allowed}"
    return f"{answer['error_rate']:.1%} (95% interval {low:.1%} to {high:.1%}); {verdict}"


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
            others = against(answer["reference"])
            right = f"Right: no matching has a higher Borda score{others} under these preferences."
        case _:
            others = against(answer["reference"])
            right = (
                f"Right: its Borda score{others} under these preferences is within {epsilon:g} of the best."
            )
    if Assumption.CONDORCET_WINNER in answer["assuming"]:
        missing = answer["winner"] is None
        holds = f"which is {'not so here: its promise does not hold' if missing else 'so here'}"
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
                " p says how good it is: if another matching were the winner, the chance of ever seeing "
                "evidence this strong for it would be at most p."
            )
    return right
