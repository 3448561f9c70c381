"""Families of decisions beyond one-to-one, on which condorcet and borda are measured: part ``beyond``.

Every family has a winner that is little ahead, as for the others. The page sets the duels beside the
information limit of the same instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import inf
from time import process_time

import numpy as np
from benchmarks.error_rates.families import Ahead, Family, Rng, strengths
from benchmarks.error_rates.page import interval, percent, table
from benchmarks.error_rates.trials import INSTANCES, Summary, Trial

import duelmatch as dm
from duelmatch.experiments.cell import Verdict
from duelmatch.graph import Indices
from duelmatch.matchings.decisions import decisions_of
from duelmatch.preferences import Criterion

BOTH: tuple[Criterion, Criterion] = ("condorcet", "borda")
TIE = 1e-9
HEADING = "## condorcet and borda beyond one-to-one"
AHEAD = Ahead(borda=(0.03, 0.1), condorcet=(0.03, 0.1))
NAMES = ["a", "b", "c", "d", "e", "f"]


def family(name: str, about: str, candidates: int, positions: int, **conditions: object) -> Family:
    """Return a family in which everyone fits every position, under the same conditions in all instances."""

    def problem(rng: Rng) -> dm.Problem:
        return dm.Problem.complete(NAMES[:candidates], list("stu")[:positions], **conditions)  # type: ignore[arg-type]

    return Family(name, about, problem, strengths(1.2, noise=0.1), AHEAD)


FAMILIES = {
    drawn.name: drawn
    for drawn in (
        family(
            "two each",
            "3 candidates, 3 positions, everyone may fill two",
            3,
            3,
            capacity=dict.fromkeys("abc", 2),
        ),
        family(
            "one may hold both",
            "4 candidates, 2 positions, one of them may fill both",
            4,
            2,
            capacity={"a": 2},
        ),
        family("a pair", "5 candidates, 1 position of two seats", 5, 1, seats={"s": 2}),
        family("a trio", "5 candidates, 1 position of three seats", 5, 1, seats={"s": 3}),
        family("a pair and one", "4 candidates, 2 positions of two seats and one", 4, 2, seats={"s": 2}),
        family("two winners each", "5 candidates, 2 positions of two seats", 5, 2, seats={"s": 2, "t": 2}),
        family("headline", "4 candidates, 2 positions, one of which counts double", 4, 2, weight={"s": 2.0}),
        family(
            "1, 2 and 4",
            "3 candidates, 3 positions that count 1, 2 and 4",
            3,
            3,
            weight={"t": 2.0, "u": 4.0},
        ),
        family(
            "not both",
            "5 candidates, 2 positions, at most one of two",
            5,
            2,
            rules=[dm.Rule(of=["a", "b"], at_most=1)],
        ),
        family(
            "a newcomer",
            "5 candidates, 2 positions, at least one of two",
            5,
            2,
            rules=[dm.Rule(of=["d", "e"], at_least=1)],
        ),
        family(
            "together",
            "5 candidates, 3 positions, two go together",
            5,
            3,
            rules=[dm.Rule(together=["a", "b"])],
        ),
        family(
            "pairs of few",
            "3 candidates, 2 positions of two seats, everyone may fill two",
            3,
            2,
            capacity=dict.fromkeys("abc", 2),
            seats={"s": 2, "t": 2},
        ),
        family(
            "all at once",
            "4 candidates, 2 positions of two seats and one, with weights, capacities and rules",
            4,
            2,
            capacity={"a": 2, "b": 2},
            seats={"s": 2},
            weight={"t": 1.5},
            rules=[dm.Rule(of=["a", "b"], at_most=2), dm.Rule(of=["c", ("d", "s")], at_least=1)],
        ),
    )
}

Row = tuple[Criterion, str, str]
"""The algorithm, the family and the variant of a row: BALLOTS, or nothing where single duels are asked."""

BALLOTS = "ballots of 5"
BALLOT_SIZE = 5
ON_BALLOTS = ("two each", "a pair", "two winners each", "not both", "together", "all at once")

JUDGES = 7
"""On every panel."""


def render(
    runs: int,
    rows: Mapping[Row, Summary],
    limits: Mapping[tuple[Criterion, str], float],
    panels: Mapping[tuple[Criterion, str], Summary],
    delta: float,
) -> str:
    """Return the section; ``limits`` are the information limits at delta, means over the instances."""
    wrong, total = sum(row.wrong for row in rows.values()), sum(row.runs for row in rows.values())
    highest = max(row.interval[1] for row in rows.values())
    panels_wrong = sum(row.wrong for row in panels.values())
    panels_total = sum(row.runs for row in panels.values())
    lines = [
        (
            f"`{algorithm}`",
            f"{name}, {variant}" if variant else name,
            f"{row.runs:,}",
            row.wrong,
            interval(row),
            f"{row.unfinished:,}",
            f"{row.median_duels:,.0f}",
            f"{row.high_duels:,.0f}",
            "" if limits[algorithm, name] in (0.0, inf) else f"{limits[algorithm, name]:,.0f}",
        )
        for (algorithm, name, variant), row in rows.items()
    ]
    return f"""{HEADING}

With capacities, seats, weights and rules, at delta = {delta:g}, {runs:,} runs a row:

```text
python -m benchmarks.error_rates --part beyond --beyond-runs {runs} --out docs/error-rates.md
```

**{wrong:,} of {total:,} runs gave a wrong answer.** No row's 99% interval (Clopper-Pearson) reaches above
{percent(highest)}; {percent(delta)} is allowed. Run r is on instance r mod {
        INSTANCES
    } of its family. In rows of
{BALLOTS} every voter answers {BALLOT_SIZE} questions, and a ballot is one bet.

{table("| Family | Instances |", "ll", ((drawn.name, drawn.about) for drawn in FAMILIES.values()))}

{
        table(
            "| Algorithm | Family | Runs | Wrong | 99% interval | Unfinished | Median duels | 90% quantile "
            "| Information limit |",
            "llrrrrrrr",
            lines,
        )
    }

Panels of {JUDGES} judges who rank by random utilities, on the same problems, {
        runs:,} of each family and criterion. A panel promises
certainty: a verdict is wrong if the count of all its answers says otherwise. **{panels_wrong:,} of {
        panels_total:,} were.** *Unfinished*:
all answers were there, and there is no winner of this kind.

{
        table(
            "| Criterion | Family | Panels | Wrong | Unfinished | Median answers | 90% quantile |",
            "llrrrrr",
            (
                (
                    f"`{criterion}`",
                    name,
                    f"{row.runs:,}",
                    row.wrong,
                    row.unfinished,
                    f"{row.median_duels:,.0f}",
                    f"{row.high_duels:,.0f}",
                )
                for (criterion, name), row in panels.items()
            ),
        )
    }
"""


def rows() -> Iterator[Row]:
    """Yield the algorithm, the family and the variant of every row."""
    for algorithm in BOTH:
        for name in FAMILIES:
            yield algorithm, name, ""
        for name in ON_BALLOTS:
            yield algorithm, name, BALLOTS


def panel_rows() -> Iterator[tuple[Criterion, str]]:
    """Yield the criterion and the family of every row of panels."""
    yield from product(BOTH, FAMILIES)


def run_panel(criterion: Criterion, name: str, run: int) -> Trial:
    """Ask a random panel until it is certain, and compare with the count of all its answers."""
    problem = FAMILIES[name].problem(np.random.default_rng(run))
    rng = np.random.default_rng([run, 23])
    liked = rng.standard_normal(problem.graph.edges)
    rankings = {}
    for judge in range(JUDGES):
        utility = liked + rng.gumbel(size=problem.graph.edges)
        for place, position in enumerate(problem.positions):
            edges = np.arange(problem.graph.edges)[problem.graph.at(place)]
            order = edges[np.argsort(-utility[edges])]
            rankings[f"v{judge}", position] = [problem.edges[edge][0] for edge in order]
    panel = dm.Panel(problem, rankings)
    started = process_time()
    result = dm.simulate(panel, "panel", criterion=criterion, seed=run)
    seconds = process_time() - started
    return Trial(_judged(result, panel.preferences(), criterion), result.duels, seconds)


def _judged(result: dm.Result, known: dm.Preferences, criterion: Criterion) -> Verdict:
    """Compare a verdict with all decisions, one by one."""
    everyone = [dm.Matching(known.problem.matching(row.tolist())) for row in all_decisions(known.problem)]
    if result.matching is None or result.status == "budget_spent":
        return "unfinished"
    others = [other for other in everyone if other != result.matching]
    if criterion == "borda":
        own = known.borda_score(result.matching)
        ahead = [own - known.borda_score(other) for other in others]
    else:
        ahead = [known.score(result.matching, other) - 0.5 for other in others]
    least = min(ahead, default=1.0)
    if result.status == "no_winner":
        beaten = [min(known.score(one, other) for other in everyone) < 0.5 - TIE for one in everyone]
        return "right" if all(beaten) else "wrong"
    is_so = least > TIE if result.status == "decided" else least > -TIE
    return "right" if is_so else "wrong"


def all_decisions(problem: dm.Problem) -> Indices:
    """List the decisions of a small problem."""
    rows = decisions_of(problem.graph).listed(None, 10_000)
    assert rows is not None, "these problems are small"
    return rows
