"""How good is the leader when the budget is spent? Prints Markdown tables.

The shortfall of a leader, per position: how far its Borda score is below the best, or how much its worst
defeat is above that of the least beaten line-up (Condorcet; where that is not known, above 0). Every run but
those on the real votes has an instance of its own, drawn by the number of the run; all methods meet the same.

    python benchmarks/budget.py --runs 10                    a quick look
    python benchmarks/budget.py --runs 100 --save build/budget.jsonl --plot docs/images/budget.svg
    python benchmarks/budget.py ... --old PYTHON             with duelmatch 0.1.0, of that interpreter

Beside `condorcet` and `borda` (max_duels is the budget) there are, with one ridge Bradley-Terry fit per
position and the line-up that is best by it:

random      pairs drawn evenly
Thompson    two line-ups that are best by draws from the posterior of the fit, duelled where they differ
Crowd-BT    the pair with the largest expected information gain (Chen, Bennett, Collins-Thompson and Horvitz
            2013, formulas 9 to 16), every answer that of a new annotator
"""

import argparse
import json
import subprocess
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from error_rates.saving import measured, saved
from real_votes import real_votes
from scipy.special import digamma, expit, gammaln

import duelmatch as dm
from duelmatch.matchings.decisions import best_matching
from duelmatch.matchings.minimax import worst_defeat
from duelmatch.models.lineups import LineupFinder
from duelmatch.models.strengths import PairLayout, fit_strengths

BUDGETS = (50, 100, 300, 1_000, 3_000)
CRITERIA = ("condorcet", "borda")
METHODS = ("duelmatch", "random", "Thompson", "Crowd-BT", "0.1.0")
FAMILIES = {  # candidates, positions, density
    "Bradley-Terry": ((3, 2, 1), (5, 3, 1), (8, 4, 1), (12, 6, 1), (20, 10, 1)),
    "random": ((3, 2, 1), (5, 3, 1), (8, 4, 1)),
    "planted": ((8, 4, 1), (20, 10, 1)),
    "sparse": ((6, 6, 0.5), (10, 8, 0.3)),
    "n > l": ((8, 2, 1), (16, 3, 1)),
    "real votes": ((8, 4, 1), (12, 4, 1)),
}
LARGE = 100
"""Edges from which on a cell has at most LARGE_RUNS runs."""
LARGE_RUNS = 30
GROWTH = 0.02
"""Thompson and random refit when the answers have grown by so much, as duelmatch does."""
LEAST = 1e-3
"""Cells in which random pairs fall short by less have no ratio: everybody has found the best."""


class World:
    """An instance, and how a line-up falls short in it."""

    def __init__(self, preferences, ties=None):
        self.preferences, self.problem = preferences, preferences.problem
        self.graph = graph = self.problem.graph
        table = self.table = graph.pair_table
        self.chance = preferences.matrix[table.first, table.second]
        self.ties = np.zeros(table.count) if ties is None else ties
        self.marginals = np.array(list(dm.matchings.marginals(self.problem).values()))
        self.rewards = preferences.edge_rewards
        self.highest = self.rewards[best_matching(graph, self.rewards)].sum()
        self.ahead = np.where(graph.comparable, preferences.matrix - 0.5, 0.0)
        self.least_beaten, self.least = None, 0.0
        if graph.edges < LARGE:
            matching, self.least = preferences.least_beaten()
            self.least_beaten = self.problem.edge_numbers(matching)

    def best(self, criterion):
        chosen = self.least_beaten if criterion == "condorcet" else best_matching(self.graph, self.rewards)
        return chosen.tolist()

    def shortfall(self, matching, criterion):
        if criterion == "borda":
            return max(0.0, float(self.highest - self.rewards[matching].sum()) / self.graph.positions)
        defeat = float(worst_defeat(self.graph, self.ahead, matching)[0]) / self.graph.positions
        return max(0.0, defeat - self.least)

    def answer(self, pairs, counts, rng):
        """Return how often the first of each pair wins, and how often nobody does."""
        win = np.clip(self.chance[pairs] - self.ties[pairs] / 2, 0.0, 1.0)
        wins = rng.binomial(counts, win)
        left = np.clip(self.ties[pairs] / np.maximum(1 - win, 1e-12), 0.0, 1.0)
        return wins, rng.binomial(counts - wins, left)


@lru_cache(100)
def world(family, size, seed):
    candidates, positions, density = size
    make = dm.instances
    if family == "real votes":
        return World(*real_votes(candidates, seed, positions))
    if family in ("Bradley-Terry", "n > l"):
        return World(make.bradley_terry(candidates, positions, density, spread=0.8, seed=seed))
    if family == "planted":
        return World(make.planted(candidates, positions, gap=0.1, density=density, noise=0.2, seed=seed))
    return World(make.uniform(candidates, positions, density=density, seed=seed))


def play_duelmatch(world, criterion, seed, budgets=BUDGETS):
    """Return the shortfalls of runs that know their budget, a run for each."""
    return [world.shortfall(leader(world, criterion, seed, budget), criterion) for budget in budgets]


def leader(world, criterion, seed, budget):
    run = play(world, criterion, seed, budget)
    return world.problem.edge_numbers(run.result.matching)


def play(world, criterion, seed, budget):
    """Return a run that has spent its budget."""
    run = dm.explorer(criterion, world.problem, seed=seed, max_duels=budget)
    rng = np.random.default_rng([seed, 2])
    while not run.done:
        wanted = run.wanted()
        if wanted.total <= budget - run.duels:
            pairs = world.table.number(wanted.first, wanted.second)
            run.tell_wins(*world.answer(pairs, wanted.count, rng))
            continue
        for duel in run.ask(budget - run.duels):
            one, other = (world.problem.edge_number(name, duel.position) for name in duel.candidates)
            pair = world.table.number(np.array([one]), np.array([other]))
            won, tied = world.answer(pair, np.array([1]), rng)
            first_wins = won[0] if one < other else 1 - won[0]
            run.tell(duel, None if tied[0] else duel.candidates[0 if first_wins else 1])
    return run


class BradleyTerry:
    """One ridge fit per position, normal strengths of deviation 1; ties are halves."""

    def __init__(self, world):
        self.world = world
        self.layout = PairLayout.of(world.graph)
        self.wins, self.duels = np.zeros(world.table.count), np.zeros(world.table.count)
        self.strength = np.zeros(world.graph.edges)
        self.factor = np.zeros(int(self.layout.square[-1]))
        self.first = np.array(world.graph.some_matching())
        self.fit()

    def add(self, pairs, counts, rng):
        wins, ties = self.world.answer(pairs, counts, rng)
        self.wins[pairs] += wins + ties / 2
        self.duels[pairs] += counts

    def fit(self):
        fit_strengths(self.layout, self.wins, self.duels, 1.0, 1e9, self.strength, self.factor)

    def best(self, strength, criterion):
        table = self.world.table
        chances = expit(strength[..., table.first] - strength[..., table.second])
        finder = LineupFinder(self.world.graph, self.world.marginals if criterion == "borda" else None)
        return finder.best(np.atleast_2d(chances), self.first)[0]

    def draws(self, rng, count):
        drawn = np.tile(self.strength, (count, 1))
        graph, square = self.world.graph, self.layout.square
        for position in range(graph.positions):
            own, degree = graph.at(position), int(graph.degrees[position])
            lower = np.tril(self.factor[square[position] : square[position + 1]].reshape(degree, degree))
            drawn[:, own] += np.linalg.solve(lower.T, rng.standard_normal((degree, count))).T
        return drawn


def play_random(world, criterion, seed, budgets=BUDGETS):
    rng = np.random.default_rng([seed, 3])
    fit, found, pairs = BradleyTerry(world), [], world.table.count
    for budget, before in zip(budgets, (0, *budgets), strict=False):
        counts = rng.multinomial(budget - before, np.full(pairs, 1 / pairs))
        fit.add(np.arange(pairs), counts, rng)
        fit.fit()
        found.append(world.shortfall(fit.best(fit.strength, criterion)[0], criterion))
    return found


def play_thompson(world, criterion, seed, budgets=BUDGETS):
    rng = np.random.default_rng([seed, 4])
    fit, found, answers = BradleyTerry(world), [], 0
    for budget in budgets:
        while answers < budget:
            size = min(max(1, int(GROWTH * answers)), budget - answers)
            one, other = fit.best(fit.draws(rng, 2 * size), criterion).reshape(2, size, -1)
            pairs = []
            for a, b in zip(one, other, strict=True):
                where = np.flatnonzero(a != b)
                if len(where):
                    place = rng.choice(where)
                    pairs.append(int(world.table.number(a[[place]], b[[place]])[0]))
                else:
                    pairs.append(int(rng.integers(world.table.count)))
            chosen, counts = np.unique(pairs, return_counts=True)
            fit.add(chosen, counts, rng)
            answers += size
            fit.fit()
        found.append(world.shortfall(fit.best(fit.strength, criterion)[0], criterion))
    return found


def play_crowd_bt(world, criterion, seed, budgets=BUDGETS):
    found, fit = [], BradleyTerry(world)
    for fit.wins, fit.duels in crowd_bt_counts(world, seed, budgets):
        fit.fit()
        found.append(world.shortfall(fit.best(fit.strength, criterion)[0], criterion))
    return found


@lru_cache(len(METHODS))
def crowd_bt_counts(world, seed, budgets):
    """Return wins and duels by pair when each budget is spent; they serve both criteria."""
    rng = np.random.default_rng([seed, 5])
    fit, found, answers = BradleyTerry(world), [], 0
    mean, variance = np.zeros(world.graph.edges), np.ones(world.graph.edges)
    one, other = world.table.first, world.table.second
    gain = information(mean[one], variance[one], mean[other], variance[other])
    for budget in budgets:
        while answers < budget:
            best = np.flatnonzero(gain >= gain.max() * (1 - 1e-9))
            pair = int(rng.choice(best))
            before = fit.wins[pair]
            fit.add(np.array([pair]), np.array([1]), rng)
            won = fit.wins[pair] - before
            if won != 0.5:  # its model has no ties: they change nothing
                up, down = (one[pair], other[pair]) if won else (other[pair], one[pair])
                moved = updated(mean[up], variance[up], mean[down], variance[down])
                mean[up], variance[up], mean[down], variance[down] = moved
                own = slice(*np.searchsorted(world.table.position, world.table.position[pair] + [0, 1]))
                a, b = one[own], other[own]
                gain[own] = information(mean[a], variance[a], mean[b], variance[b])
            answers += 1
        found.append((fit.wins.copy(), fit.duels.copy()))
    return found


ALPHA, BETA, GAMMA, KAPPA = 10.0, 1.0, 0.1, 1e-4
"""Crowd-BT: the quality of a new annotator, the weight of learning about it, the smallest variance factor."""


def updated(up, up_variance, down, down_variance):
    """Return the moments of two strengths after one has beaten the other (formulas 12 and 13)."""
    right, plain = ALPHA * np.exp(up), np.exp(up)
    wrong, other = BETA * np.exp(down), np.exp(down)
    pull = right / (right + wrong) - plain / (plain + other)
    curve = right * wrong / (right + wrong) ** 2 - plain * other / (plain + other) ** 2
    return (
        up + up_variance * pull,
        up_variance * np.maximum(1 + up_variance * curve, KAPPA),
        down - down_variance * pull,
        down_variance * np.maximum(1 + down_variance * curve, KAPPA),
    )


def annotator(up, up_variance, down, down_variance):
    """Return the annotator's moments after the answer, matched to a Beta, and the answer's probability."""
    a, b = np.exp(up), np.exp(down)
    share = a / (a + b) + (up_variance + down_variance) / 2 * a * b * (b - a) / (a + b) ** 3
    share = np.clip(share, 1e-9, 1 - 1e-9)
    total = ALPHA + BETA
    chance = (share * ALPHA + (1 - share) * BETA) / total
    first = share * (ALPHA + 1) * ALPHA + (1 - share) * ALPHA * BETA
    first /= chance * (total + 1) * total
    second = share * (ALPHA + 2) * (ALPHA + 1) * ALPHA + (1 - share) * (ALPHA + 1) * ALPHA * BETA
    second /= chance * (total + 2) * (total + 1) * total
    weight = (first - second) / (second - first**2)
    return weight * first, weight * (1 - first), chance


def information(one, one_variance, other, other_variance):
    """Return the expected information gain of a duel (formula 16)."""
    total = 0.0
    for up, up_v, down, down_v in (
        (one, one_variance, other, other_variance),
        (other, other_variance, one, one_variance),
    ):
        new_up, new_up_v, new_down, new_down_v = updated(up, up_v, down, down_v)
        alpha, beta, chance = annotator(up, up_v, down, down_v)
        learned = normal_divergence(new_up, new_up_v, up, up_v)
        learned = learned + normal_divergence(new_down, new_down_v, down, down_v)
        total = total + chance * (learned + GAMMA * beta_divergence(alpha, beta))
    return total


def normal_divergence(mean, variance, old_mean, old_variance):
    ratio = variance / old_variance
    return (mean - old_mean) ** 2 / (2 * old_variance) + (ratio - 1 - np.log(ratio)) / 2


def beta_divergence(alpha, beta):
    def log_beta(a, b):
        return gammaln(a) + gammaln(b) - gammaln(a + b)

    return (
        log_beta(ALPHA, BETA)
        - log_beta(alpha, beta)
        + (alpha - ALPHA) * digamma(alpha)
        + (beta - BETA) * digamma(beta)
        + (ALPHA - alpha + BETA - beta) * digamma(alpha + beta)
    )


@cache
def old_version(python):
    script = Path(__file__).with_name("budget_old.py")
    return subprocess.Popen([python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def play_old(world, criterion, seed, python):
    task = {
        "edges": world.problem.edges, "candidates": world.problem.candidates,
        "positions": world.problem.positions, "matrix": world.preferences.matrix.tolist(),
        "criterion": criterion, "seed": seed, "budgets": BUDGETS,
    }  # fmt: skip
    process = old_version(python)
    process.stdin.write(json.dumps(task) + "\n")
    process.stdin.flush()
    anyone = world.graph.some_matching()
    leaders = json.loads(process.stdout.readline())
    return [world.shortfall(anyone if edges is None else np.array(edges), criterion) for edges in leaders]


PLAY = {
    "duelmatch": play_duelmatch,
    "random": play_random,
    "Thompson": play_thompson,
    "Crowd-BT": play_crowd_bt,
}


def run(task):
    """Return the shortfall at each budget."""
    family, size, criterion, method, seed, *python = task
    here = world(family, tuple(size), None if family == "real votes" else seed)
    if method == "0.1.0":
        return play_old(here, criterion, seed, *python)
    return PLAY[method](here, criterion, seed)


def key(task):
    return json.dumps(task[:5])


def tasks(seeds, methods, families, old):
    for number, seed in enumerate(seeds):
        for family in families:
            for size in FAMILIES[family]:
                if size[0] * size[1] >= LARGE and number >= LARGE_RUNS:
                    continue
                for criterion in CRITERIA:
                    for method in methods:
                        yield family, size, criterion, method, seed, *([old] if method == "0.1.0" else [])


def summary(results):
    """Return {(criterion, family, size, method): an array of runs x budgets}."""
    cells = {}
    for (family, size, criterion, method, *_), shortfalls in results:
        cells.setdefault((criterion, family, tuple(size), method), []).append(shortfalls)
    return {key: np.array(rows) for key, rows in cells.items()}


def report(cells, methods):
    for criterion in CRITERIA:
        what = "worst defeat above the least" if criterion == "condorcet" else "Borda score below the best"
        print(f"\n### {criterion.capitalize()}: {what}, mean in thousandths\n")
        print("| instances | answers | " + " | ".join(methods) + " | / random |")
        print("|---" * (3 + len(methods)) + "|")
        for family, sizes in FAMILIES.items():
            for size in sizes:
                rows = {name: cells.get((criterion, family, size, name)) for name in methods}
                if any(row is None for row in rows.values()):
                    continue
                name = f"{family} {size[0]} x {size[1]}" + (f", {size[2]:g}" if size[2] < 1 else "")
                for place, budget in enumerate(BUDGETS):
                    shown = [mean_and_error(rows[method][:, place]) for method in methods]
                    print(f"| {name} | {budget:,} | " + " | ".join(shown) + f" | {ratio(rows, place)} |")
    if {"duelmatch", "random"} <= set(methods):
        verdict(cells, methods)


def ratio(rows, place):
    """Return how duelmatch compares with random pairs, where both were played and these fall short."""
    both = [rows[name][:, place].mean() for name in ("duelmatch", "random") if name in rows]
    return f"{both[0] / both[1]:.2f}" if len(both) == 2 and both[1] >= LEAST else ""


def mean_and_error(values):
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{1e3 * values.mean():.1f} ± {1e3 * error:.1f}"


def verdict(cells, methods):
    """Print the geometric means of the ratios to random pairs, and where duelmatch is behind."""
    print("\n### Shortfall / that of random pairs, geometric means\n")
    print(
        "| criterion | answers | cells | " + " | ".join(methods) + " |\n" + "|---" * (3 + len(methods)) + "|"
    )
    keys = list(dict.fromkeys(key[:3] for key in cells))
    keys = [key for key in keys if all((*key, name) in cells for name in methods)]
    for criterion in CRITERIA:
        for label, places in [
            *((f"{budget:,}", [place]) for place, budget in enumerate(BUDGETS)),
            ("300 and more", [2, 3, 4]),
        ]:
            chosen = [
                (key, place)
                for key in keys
                for place in places
                if key[0] == criterion and cells[*key, "random"][:, place].mean() >= LEAST
            ]
            ratios = {
                name: [
                    max(cells[*key, name][:, place].mean(), LEAST / 20)
                    / cells[*key, "random"][:, place].mean()
                    for key, place in chosen
                ]
                for name in methods
            }
            means = " | ".join(f"{np.exp(np.mean(np.log(ratios[name]))):.2f}" for name in methods)
            print(f"| {criterion} | {label} | {len(chosen)} | {means} |")
    print("\nThese are the cells where duelmatch is above 0.8 of random pairs from 300 answers on, or behind")
    print("another method, by more than two standard errors of the difference:\n")
    behind = []
    for key in keys:
        for place, budget in enumerate(BUDGETS):
            mine = cells[*key, "duelmatch"][:, place]
            for name in methods[1:]:
                factor = 0.8 if name == "random" and budget >= 300 else 1.0
                common = min(len(mine), len(cells[*key, name]))
                difference = mine[:common] - factor * cells[*key, name][:common, place]
                if difference.mean() > 2 * difference.std(ddof=1) / np.sqrt(common):
                    times = "0.8 of " if factor < 1 else ""
                    behind.append(
                        f"- {key[0]}, {key[1]} {key[2][0]} x {key[2][1]}, {budget:,} answers: "
                        f"{times}{name}, by {1e3 * difference.mean():.1f} thousandths"
                    )
    print("\n".join(behind) or "nowhere.")
    print(f"\nOf {len(keys) * len(BUDGETS) * (len(methods) - 1)} comparisons, {len(behind)}.")


def plot(cells, methods, path):
    """Draw the mean shortfall against the answers, a panel for each instance."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "duelmatch"
    from matplotlib import pyplot as plt

    shown = (
        ("Bradley-Terry", (8, 4, 1)),
        ("Bradley-Terry", (20, 10, 1)),
        ("random", (8, 4, 1)),
        ("real votes", (12, 4, 1)),
    )
    colours = dict(zip(METHODS, ["#0072B2", "#777777", "#D55E00", "#009E73", "#CC79A7"], strict=True))
    figure, axes = plt.subplots(2, len(shown), figsize=(12, 5.4), layout="constrained", sharex=True)
    for row, criterion in zip(axes, CRITERIA, strict=True):
        for axis, (family, size) in zip(row, shown, strict=True):
            for method in methods:
                values = cells.get((criterion, family, size, method))
                if values is not None:
                    mean = np.maximum(values.mean(axis=0), LEAST / 10)
                    axis.plot(BUDGETS, mean, "o-", color=colours[method], markersize=3, label=method)
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.grid(alpha=0.3)
            axis.set_title(f"{criterion}, {family} {size[0]} x {size[1]}", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("answers")
    axes[0][0].set_ylabel("shortfall")
    axes[1][0].set_ylabel("shortfall")
    axes[0][0].legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None} if str(path).endswith("svg") else None)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10, help="runs of each cell")
    parser.add_argument("--first", type=int, default=0, help="the number of the first run: its seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=Path, help="a file to save the runs in, and to go on from")
    parser.add_argument("--saved", action="store_true", help="play nothing: only what the file has")
    parser.add_argument("--old", help="an interpreter that has duelmatch 0.1.0")
    parser.add_argument("--method", action="append", choices=METHODS, help="only these")
    parser.add_argument("--family", action="append", choices=list(FAMILIES), help="only these")
    parser.add_argument("--plot", help="write a figure to this file")
    options = parser.parse_args()
    methods = options.method or [name for name in METHODS if name != "0.1.0" or options.old]
    seeds = range(options.first, options.first + options.runs)
    todo = list(tasks(seeds, methods, options.family or list(FAMILIES), options.old))
    if options.saved:
        had = saved(options.save)
        todo = [task for task in todo if key(task) in had]
    results = list(measured(run, todo, options.jobs, options.save, key))
    cells = summary(results)
    report(cells, methods)
    if options.plot:
        plot(cells, methods, options.plot)


if __name__ == "__main__":
    main()
