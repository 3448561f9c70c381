"""The page of measured error rates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from platform import python_version

import highspy
import numpy
import scipy
from benchmarks.error_rates.families import FAMILIES, Ahead, Family
from benchmarks.error_rates.schedules import Comparison
from benchmarks.error_rates.trials import ARMS, INSTANCES, MOST_DUELS, Case, Summary

import duelmatch as dm

SINGLE_ALGORITHMS = ("car-cond", "car-verify", "car-parallel", "clucb-borda-exact")

DUELPY = {
    "duelpy: verification-based Condorcet": (111_813, 520_627),
    "duelpy: SAVAGE, its radius corrected": (8_927, 43_567),
    "duelpy: KL-divergence PAC": (2_698, 15_558),
}
"""Medians of duelpy 1.0.0 with 5 and 10 arms, measured once on the same instance."""


def render(
    runs: int,
    cases: Mapping[Case, Summary],
    comparisons: Mapping[tuple[str, str], Comparison],
    single: Mapping[tuple[str, int], Summary],
) -> str:
    right = {case: summary for case, summary in cases.items() if case.factor == 1}
    broken = {case: summary for case, summary in cases.items() if case.factor != 1}
    highest = max(summary.interval[1] for summary in right.values())
    wrong = sum(summary.wrong for summary in right.values())
    total = sum(summary.runs for summary in right.values())
    single_runs = next(iter(single.values())).runs
    return f"""# Error rates

An algorithm may be wrong with probability delta. This page measures how often it is. `make stats` makes it by

```text
python -m benchmarks.error_rates --runs {runs} --out docs/error-rates.md
```

and this one is of duelmatch {dm.__version__}, Python {python_version()}, numpy {numpy.__version__}, scipy
{scipy.__version__} and highspy {highspy.Highs().version()}. All seeds are fixed, so the same versions give
the same verdicts and duels again. Seconds depend on the machine, and are for one processor.

## How often is an algorithm wrong?

**{wrong} of {total:,} answers were wrong.** No row's 99% interval (Clopper-Pearson) reaches above
{percent(highest)}. The bounds of the paper are far from tight, so this is expected and proves little by
itself. [Below](#would-errors-show) is the same with bounds that are too narrow.

Run r is on instance r mod {INSTANCES} of its family, with seed r and the default schedule, `sparse`. The
instances come from a seeded sequence of draws: those whose winner is ahead of the next best matching by a
margin in the family's range.

{family_table()}

For `clucb-borda-pac`, epsilon is 0.8 times the smallest margin of the family, so every answer except the
winner is wrong. *Refuted*: `car-verify` says that there is no winner. Its guarantee allows this, because
its first guess may be wrong. *Unfinished*: {MOST_DUELS:,} duels were used up, which is neither an answer
nor an error.

{error_table(right)}

## Would errors show?

These runs are on the near-tie family with delta = 0.2 again, but with algorithms that are broken on purpose:
every confidence radius, and CAR-Cond's margin eps_q, is multiplied by a factor below 1.

{sensitivity_table(broken)}

The margin has to be narrowed along with the radii. It is never below $1 / \\sqrt t$, which is two standard
deviations of a mean of t answers, and so protects CAR-Cond even if the radii are far too small.

## What does looking rarely cost?

The table divides the duels under `schedule="sparse"` by those under `schedule="every"`, which decides as soon
as it can, at delta = 0.05. Both get the same answers: the n-th duel of two candidates ends the same way.

{schedule_table(comparisons)}

Ratios far below 1 are not a mistake. Under `every` the CLUCB algorithms pay for a bias that their
opponents do not have, as the listings do; under `sparse` they do not. `clucb-borda-exact` ends an epoch
once no rival can be more than epsilon ahead, and starts the next, with half the epsilon, from scratch. To
be certified, the rival's possible lead has to fall from above epsilon to below 0 between two updates, and
the longer steps of the sparse schedule get there some epochs earlier. If edges meet themselves with
different probabilities, it is better for `clucb-borda-pac` to ask about all of them equally often than to
make their radii equal, as the listing does.

## One position

One candidate beats each of the others with probability 0.6, and all other duels are even; delta = 0.05.
The table has the median duels of {single_runs} runs with seeds 0 to {single_runs - 1}, beside those of
duelpy 1.0.0, measured once on the same instance.

{single_table(single)}
"""


def table(head: str, align: str, rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table; ``align`` has l or r for each column."""
    rule = "|".join({"l": "---", "r": "---:"}[side] for side in align)
    lines = [head, f"|{rule}|", *("| " + " | ".join(map(str, row)) + " |" for row in rows)]
    return "\n".join(lines)


def family_table() -> str:
    def columns(family: Family) -> Iterator[str]:
        yield from (family.name, family.about)
        assert isinstance(family.fits, Ahead)
        for low, high in (family.fits.borda, family.fits.condorcet):
            yield f"{low:g} to {high:g}"

    head = "| Family | Instances | Borda margin | Condorcet margin |"
    return table(head, "llrr", map(columns, FAMILIES.values()))


def error_table(cases: Mapping[Case, Summary]) -> str:
    return table(
        "| Algorithm | Family | delta | Runs | Wrong | 99% interval | Refuted | Unfinished "
        "| Median duels | 90% quantile | Median seconds |",
        "llrrrrrrrrr",
        (
            (
                f"`{case.algorithm}`",
                case.family,
                case.delta,
                summary.runs,
                summary.wrong,
                interval(summary),
                summary.refuted if case.algorithm == "car-verify" else "",
                summary.unfinished,
                f"{summary.median_duels:,.0f}",
                f"{summary.high_duels:,.0f}",
                f"{summary.median_seconds:.2f}",
            )
            for case, summary in cases.items()
        ),
    )


def sensitivity_table(cases: Mapping[Case, Summary]) -> str:
    return table(
        "| Algorithm | Factor | Runs | Wrong | 99% interval | Refuted | Above delta? |",
        "lrrrrrl",
        (
            (
                f"`{case.algorithm}`",
                case.factor,
                summary.runs,
                summary.wrong,
                interval(summary),
                summary.refuted if case.algorithm == "car-verify" else "",
                "**yes**" if summary.interval[0] > case.delta else "no",
            )
            for case, summary in cases.items()
        ),
    )


def schedule_table(comparisons: Mapping[tuple[str, str], Comparison]) -> str:
    return table(
        "| Algorithm | Family | Runs | Mean duels of every | Duels, sparse / every | 95% interval "
        "| Time, sparse / every |",
        "llrrrrr",
        (
            (
                f"`{algorithm}`",
                family,
                compared.runs,
                f"{compared.every_duels:,.0f}",
                f"{compared.duels:.3f}",
                f"{compared.interval[0]:.3f} to {compared.interval[1]:.3f}",
                f"{compared.seconds:.2f}",
            )
            for (algorithm, family), compared in comparisons.items()
        ),
    )


def single_table(single: Mapping[tuple[str, int], Summary]) -> str:
    head = "| Algorithm | " + " | ".join(f"{arms} candidates" for arms in ARMS) + " | Wrong |"
    ours = []
    for algorithm in SINGLE_ALGORITHMS:
        summaries = [single[algorithm, arms] for arms in ARMS]
        duels = [f"{summary.median_duels:,.0f}" for summary in summaries]
        wrong, runs = (sum(getattr(summary, of) for summary in summaries) for of in ("wrong", "runs"))
        ours.append((f"`{algorithm}`", *duels, f"{wrong} of {runs}"))
    theirs = [(name, *(f"{duels:,}" for duels in both), "") for name, both in DUELPY.items()]
    return table(head, "lrrr", [*ours, *theirs])


def interval(summary: Summary) -> str:
    low, high = summary.interval
    return f"{percent(low)} to {percent(high)}"


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"
