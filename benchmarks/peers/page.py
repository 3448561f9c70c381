"""The page of the comparison with other packages: docs/peers.md, from template.md."""

from importlib.metadata import version
from pathlib import Path
from platform import python_version

import numpy as np
from scipy.stats import beta, t

from peers.stopping import DELTA, EPSILON, MOST

PACKAGES = ("choix", "crowd-kit", "evalica", "arena-rank", "duelpy", "numpy", "scipy")
CRITERIA = ("condorcet", "borda")
RANDOM = "choix"
"""What most people would do: pairs drawn evenly and Bradley-Terry. Ratios are to it."""
FEW = "arena-rank"
"""It has played fewer runs, so it is in no comparison run by run."""
LEAST = 1e-3
"""No mean counts as less, or a few lucky runs would decide a geometric mean."""
COSTS = (("Bradley-Terry", (8, 4, 1)), ("real votes", (12, 4, 1)), ("Bradley-Terry", (16, 1, 1)))


def render(results, budgets, methods, wanted):
    """Return the page of what was played: pairs of a task and what it found."""
    cells, stops = {}, {}
    for (kind, family, size, method, _), found in results:
        into = cells if kind == "budget" else stops
        into.setdefault((family, tuple(size)), {}).setdefault(method, []).append(found)
    runs = [len(played.get(method, ())) for played in cells.values() for method in methods if method != FEW]
    template = Path(__file__).with_name("template.md").read_text(encoding="utf-8")
    groups = {
        "Several positions": [cell for cell in cells if cell[1][1] > 1],
        "One position": [cell for cell in cells if cell[1][1] == 1],
    }
    return template.format(
        runs=min(runs),
        wanted=wanted,
        summary=summary(cells, groups, budgets, methods),
        behind=behind(cells, budgets, methods),
        stopping=stopping(stops),
        certified=certified(cells),
        costs=costs(cells, methods),
        condorcet=tables(cells, groups, budgets, methods, "condorcet"),
        borda=tables(cells, groups, budgets, methods, "borda"),
        versions=", ".join(f"{name} {version(name)}" for name in PACKAGES) + f", Python {python_version()}",
        delta=f"{DELTA:.0%}",
        epsilon=f"{EPSILON:g}",
        most=f"{MOST:,}",
    )


def named(cell):
    family, (candidates, positions, density) = cell
    return f"{family} {candidates} x {positions}" + (f", {density:g}" if density < 1 else "")


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def values(played, method, criterion, place):
    return np.array([found[criterion][place] for found in played.get(method, [])])


def half_width(sample):
    """Return half of the 95% interval of a mean."""
    return t.ppf(0.975, len(sample) - 1) * sample.std(ddof=1) / np.sqrt(len(sample))


def shown(sample, bold=False):
    if not len(sample):
        return ""
    text = f"{1e3 * sample.mean():.1f}" + (f" ± {1e3 * half_width(sample):.1f}" if len(sample) > 1 else "")
    return f"**{text}**" if bold else text


def tables(cells, groups, budgets, methods, criterion):
    parts = []
    for title, chosen in groups.items():
        for place, budget in enumerate(budgets):
            samples = {
                (method, cell): values(cells[cell], method, criterion, place)
                for method in methods
                for cell in chosen
            }
            lowest = {
                cell: min(samples[method, cell].mean() for method in methods if method != FEW)
                for cell in chosen
            }
            rows = [
                [method]
                + [
                    shown(
                        samples[method, cell], method != FEW and samples[method, cell].mean() <= lowest[cell]
                    )
                    for cell in chosen
                ]
                for method in methods
            ]
            parts.append(f"### {title}, {budget:,} answers ({criterion})\n")
            parts.append(table(["method", *map(named, chosen)], rows) + "\n")
    return "\n".join(parts).rstrip()


def summary(cells, groups, budgets, methods):
    rng = np.random.default_rng(0)
    head = ["method"] + [f"{title.lower()}, {budget:,}" for title in groups for budget in budgets]
    rows = [
        [method]
        + [
            ratio(cells, chosen, method, place, rng)
            for chosen in groups.values()
            for place in range(len(budgets))
        ]
        for method in methods
        if method not in (RANDOM, FEW)
    ]
    return table(head, rows)


def ratio(cells, chosen, method, place, rng, draws=400):
    """Return the geometric mean of the ratios to random pairs, with an interval: runs are drawn again."""
    samples = []
    for cell in chosen:
        for criterion in CRITERIA:
            one, other = (values(cells[cell], name, criterion, place) for name in (method, RANDOM))
            common = min(len(one), len(other))
            samples.append((one[:common], other[:common]))

    def mean(picks):
        logs = [
            np.log(max(one[pick].mean(), LEAST) / max(other[pick].mean(), LEAST))
            for (one, other), pick in zip(samples, picks, strict=True)
        ]
        return np.exp(np.mean(logs))

    whole = mean([np.arange(len(one)) for one, _ in samples])
    drawn = [mean([rng.integers(len(one), size=len(one)) for one, _ in samples]) for _ in range(draws)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{whole:.2f} ({low:.2f} to {high:.2f})"


def behind(cells, budgets, methods):
    """List where another method is ahead of duelmatch beyond chance, run by run."""
    found, compared = [], 0
    for cell, played in cells.items():
        for criterion in CRITERIA:
            for place, budget in enumerate(budgets):
                mine = values(played, "duelmatch", criterion, place)
                for method in methods:
                    other = values(played, method, criterion, place)
                    common = min(len(mine), len(other))
                    if method in ("duelmatch", FEW) or common < 2:
                        continue
                    compared += 1
                    difference = mine[:common] - other[:common]
                    if difference.mean() > half_width(difference):
                        where = f"{criterion}, {named(cell)}, {budget:,} answers"
                        found.append(f"- {where}: {method}, by {shown(difference)}")
    return "\n".join([*(found or ["Nowhere."]), "", f"{len(found)} of {compared} comparisons."])


def stopping(stops):
    rows = []
    for cell, played in stops.items():
        for method, found in played.items():
            ended = [one for one in found if one["stopped"]]
            typical = np.median([one["answers"] if one["stopped"] else np.inf for one in found])
            rows.append([
                method, named(cell), str(len(found)), share(len(ended), len(found)),
                share(sum(one["right"] for one in ended), len(ended)),
                f"{typical:,.0f}" if np.isfinite(typical) else f"more than {MOST:,}",
                f"{np.mean([one['seconds'] for one in found]):.2f} s",
            ])  # fmt: skip
    head = ["rule", "instances", "runs", "stopped", "right when stopped", "answers, median", "processor time"]
    return table(head, rows)


def share(number, of):
    if not of:
        return ""
    low = beta.ppf(0.025, number, of - number + 1) if number else 0.0
    high = beta.ppf(0.975, number + 1, of - number) if number < of else 1.0
    return f"{number / of:.0%} ({low:.0%} to {high:.0%})"


def certified(cells):
    return "; ".join(
        f"{named(cell)} {sum(found['certified'] for found in runs)} of {2 * len(runs)}"
        for cell, runs in ((cell, played["duelmatch"]) for cell, played in cells.items())
    )


def costs(cells, methods):
    rows = [
        [method]
        + [shown(np.array([found["seconds"] for found in cells[cell].get(method, [])])) for cell in COSTS]
        for method in methods
    ]
    return table(["method", *map(named, COSTS)], rows)
