"""Families of decisions beyond one-to-one, on which condorcet and borda are measured: part ``beyond``.

Every family has a winner that is little ahead, as for the others. The page sets the duels beside the
information limit of the same instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf

from benchmarks.error_rates.families import Ahead, Family, Rng, strengths
from benchmarks.error_rates.page import interval, percent, table
from benchmarks.error_rates.trials import INSTANCES, Summary

import duelmatch as dm
from duelmatch.preferences import Criterion

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

Row = tuple[Criterion, str]
"""The algorithm and the family of a row."""


def render(runs: int, rows: Mapping[Row, Summary], limits: Mapping[Row, float], delta: float) -> str:
    """Return the section; ``limits`` are the information limits at delta, means over the instances."""
    wrong, total = sum(row.wrong for row in rows.values()), sum(row.runs for row in rows.values())
    highest = max(row.interval[1] for row in rows.values())
    lines = [
        (
            f"`{algorithm}`",
            name,
            f"{row.runs:,}",
            row.wrong,
            interval(row),
            f"{row.unfinished:,}",
            f"{row.median_duels:,.0f}",
            f"{row.high_duels:,.0f}",
            "" if limits[algorithm, name] in (0.0, inf) else f"{limits[algorithm, name]:,.0f}",
        )
        for (algorithm, name), row in rows.items()
    ]
    return f"""{HEADING}

With capacities, seats, weights and rules, at delta = {delta:g}, {runs:,} runs a row:

```text
python -m benchmarks.error_rates --part beyond --beyond-runs {runs} --out docs/error-rates.md
```

**{wrong:,} of {total:,} runs gave a wrong answer.** No row's 99% interval (Clopper-Pearson) reaches above
{percent(highest)}; {percent(delta)} is allowed. Run r is on instance r mod {INSTANCES} of its family.

{table("| Family | Instances |", "ll", ((drawn.name, drawn.about) for drawn in FAMILIES.values()))}

{
        table(
            "| Algorithm | Family | Runs | Wrong | 99% interval | Unfinished | Median duels | 90% quantile "
            "| Information limit |",
            "llrrrrrrr",
            lines,
        )
    }
"""


def rows() -> Iterator[Row]:
    """Yield the algorithm and the family of every row."""
    both: tuple[Criterion, Criterion] = ("condorcet", "borda")
    for algorithm in both:
        for name in FAMILIES:
            yield algorithm, name
