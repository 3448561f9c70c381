"""The section of the page of error rates that is about condorcet and borda."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.error_rates.frugal import DELTA, FAMILIES, MOST_DUELS, Setting
from benchmarks.error_rates.page import interval, percent, table
from benchmarks.error_rates.trials import INSTANCES, Summary

HEADING = "## condorcet and borda"


def render(runs: int, rows: Mapping[Setting, Summary]) -> str:
    """Return the section."""
    right = {setting: summary for setting, summary in rows.items() if not setting.broken}
    broken = {setting: summary for setting, summary in rows.items() if setting.broken}
    wrong = sum(summary.wrong for summary in right.values())
    total = sum(summary.runs for summary in right.values())
    highest = max(summary.interval[1] for summary in right.values())
    broken_runs = next(iter(broken.values())).runs
    return f"""{HEADING}

Their bets leave less slack than the paper's bounds, so they are measured separately, at delta =
{DELTA:g}, with {runs:,} or more runs per family, half of
them for each algorithm where both apply:

```text
python -m benchmarks.error_rates --part frugal --frugal-runs {runs} --out docs/error-rates.md
```

**{wrong:,} of {total:,} runs gave a wrong answer.** No row's 99% interval (Clopper-Pearson) reaches above
{percent(highest)}; {percent(DELTA)} is allowed.

Run r is on instance r mod {INSTANCES} of its family, with seed r, and stops after {MOST_DUELS:,} duels unless
stated otherwise. It is then *unfinished*, which is neither an answer nor an error, but counts as a run. The
margins are small on purpose: the smaller the winner's lead, the more often a run that decided too early would
be wrong.

{table("| Family | Instances |", "ll", ((family.name, family.about) for family in FAMILIES.values()))}

Runs of condorcet assume a winner (`assume_winner=True`), with these exceptions. *Perhaps none*:
`assume_winner=False`. If there is no winner, every certified matching is an error; if there is one, the
answer that there is none is an error. *Epsilon*: an error is an answer that loses to the winner, or is
below it, by more than epsilon; if there may be no winner, one that loses to any matching by more.
*Tables*: the wealth is kept by edges, as it is for thousands of matchings. *Told out of order*: duel by
duel in random order, with a duel given back in every round.

{error_table(right)}

### Would an error of condorcet or borda show?

All matchings are almost equal, and the algorithms are broken on purpose: they stop at the threshold of a
larger delta, or every duel says slightly too much against every rival. {broken_runs:,} runs a row.

{power_table(broken)}
"""


def error_table(rows: Mapping[Setting, Summary]) -> str:
    return table(
        "| Algorithm | Family | Variant | Runs | Wrong | 99% interval | Unfinished "
        "| Median duels | 90% quantile | Median seconds |",
        "lllrrrrrrr",
        (
            (
                f"`{setting.algorithm}`",
                setting.family,
                variant(setting),
                f"{summary.runs:,}",
                summary.wrong,
                interval(summary),
                f"{summary.unfinished:,}",
                f"{summary.median_duels:,.0f}",
                f"{summary.high_duels:,.0f}",
                f"{summary.median_seconds:.2f}",
            )
            for setting, summary in rows.items()
        ),
    )


def power_table(rows: Mapping[Setting, Summary]) -> str:
    return table(
        "| Algorithm | Broken how | Runs | Wrong | 99% interval | Unfinished | Above delta? |",
        "llrrrrl",
        (
            (
                f"`{setting.algorithm}`",
                setting.variant,
                f"{summary.runs:,}",
                summary.wrong,
                interval(summary),
                f"{summary.unfinished:,}",
                "**yes**" if summary.interval[0] > DELTA else "no",
            )
            for setting, summary in rows.items()
        ),
    )


def variant(setting: Setting) -> str:
    """Name a variant, with its budget where that is another."""
    if setting.most_duels == MOST_DUELS:
        return setting.variant
    return f"{setting.variant}, at most {setting.most_duels:,} duels"


def section_of(page: str, heading: str = HEADING) -> str:
    """Return the section of a page; empty if it has none."""
    return _split(page, heading)[1]


def replace_section(page: str, section: str, heading: str = HEADING) -> str:
    """Put a new section in the place of the old one, or at the end."""
    before, _, after = _split(page, heading)
    return "\n\n".join(part for part in (before, section.strip(), after) if part) + "\n"


def _split(page: str, heading: str) -> tuple[str, str, str]:
    """Return what comes before the section, the section, and what comes after it."""
    before, found, rest = page.partition(heading + "\n")
    section, following, after = rest.partition("\n## ")
    return before.strip(), (found + section).strip(), (following + after).strip()
