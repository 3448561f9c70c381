"""Real votes on language models: which model for which job? Writes docs/real-votes.md and its figures.

    python benchmarks/votes_page.py --save build/real-votes.jsonl --out docs       (make votes)
    python benchmarks/votes_page.py --example src/duelmatch/files/examples/real-votes.yaml

The votes are those of data/llmfao-counts.csv. The example has the models with the most votes, and preferences
completed by the model of real_votes.py.
"""

import argparse
import json
from pathlib import Path

import budget
import matplotlib
import numpy as np
from error_rates.saving import measured
from real_votes import WEIGHT, counted, fitted, real_votes
from scipy.stats import beta, t

import duelmatch as dm
from duelmatch import experiments

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "duelmatch"
from matplotlib import pyplot as plt  # noqa: E402

RESAMPLES = 100
RUNS = 20
FIRST_SEED = 3_000
BUDGETS = (100, 300, 1_000, 3_000)
METHODS = ("duelmatch", "random", "Thompson", "Crowd-BT")
COLOURS = dict(zip(METHODS, ("#0072B2", "#777777", "#D55E00", "#009E73"), strict=True))
EXAMPLE_MODELS = 6
EXPERIMENT = Path(__file__).parent.parent / "docs" / "gallery" / "votes" / "real-votes.toml"
HEADER = """# Which language model does which kind of task, by real votes?
#
# 124 crowd workers compared answers of 59 models; these are the six with the most votes. Source: the LLMFAO
# data set of Dmitry Ustalov (https://github.com/dustalov/llmfao), CC BY 4.0
# (https://creativecommons.org/licenses/by/4.0/). Changed: votes were counted by pair, a tie as half a vote
# for each, and five imagined votes were added to each pair, which follow a Bradley-Terry model with ties
# fitted to all votes on that kind of task.

"""


def example():
    preferences, _ = real_votes(EXAMPLE_MODELS)
    problem = preferences.problem
    lines = [HEADER + "candidates:"]
    votes = dict.fromkeys(problem.candidates, 0.0)
    for (_, *pair), three in counted()[1].items():
        for name in pair:
            if name in votes:
                votes[name] += three.sum()
    for name, number in votes.items():
        lines += [f"  {name}:", f"    text: In {number:.0f} votes."]
    lines += ["", "positions:"]
    titles = {
        "creativity": "Creative writing",
        "instruct": "Following instructions",
        "knowledge": "Knowledge",
    }
    for position in problem.positions:
        lines += [f"  {position}:", f"    title: {titles.get(position, 'Reflexion')}"]
    lines += ["", "preferences:"]
    for position in problem.positions:
        lines.append(f"  {position}:")
        for i, one in enumerate(problem.candidates):
            for other in problem.candidates[i + 1 :]:
                chance = preferences.probability(position, one, other)
                first, second, chance = (one, other, chance) if chance >= 0.5 else (other, one, 1 - chance)
                lines.append(f"  - [{first}, {second}, {chance:.3f}]")
    return "\n".join(lines) + "\n"


def scores(own):
    """Return each model's mean chance against all others at a position, by a fit to counts."""
    names = counted()[0]
    predicted = fitted(names, own)
    chances = np.array([[predicted(a, b)[0] + predicted(a, b)[1] / 2 for b in names] for a in names])
    np.fill_diagonal(chances, 0.0)
    return chances.sum(axis=1) / (len(names) - 1)


def resampled(seed):
    """Return the scores by position, of the votes (seed None) or of as many drawn from them."""
    _, counts, fits = counted()
    found = {}
    for place, position in enumerate(sorted(fits)):
        own = {(a, b): three for (at, a, b), three in counts.items() if at == position and three.sum()}
        if seed is not None:
            rng = np.random.default_rng([seed, place])
            table = np.array(list(own.values()))
            drawn = rng.multinomial(int(table.sum()), (table / table.sum()).ravel()).reshape(table.shape)
            own = dict(zip(own, drawn.astype(float), strict=True))
        found[position] = scores(own).tolist()
    return found


def play(task):
    kind, *rest = task
    if kind == "scores":
        return resampled(*rest)
    criterion, method, seed = rest
    return budget.PLAY[method](budget.world("real votes", (12, 4, 1), None), criterion, seed, BUDGETS)


def best_lineup(found):
    """Return the best line-up of all models by these scores: {position: model}."""
    names = counted()[0]
    problem = dm.Problem.complete(names, sorted(found))
    weights = {(name, at): found[at][place] for at in found for place, name in enumerate(names)}
    return dict(dm.matchings.best(problem, weights))


def half_width(sample):
    return t.ppf(0.975, len(sample) - 1) * np.std(sample, ddof=1) / np.sqrt(len(sample))


def draw_scores(whole, drawn, path):
    names, _, fits = counted()
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained", sharex=True)
    for axis, position in zip(axes, sorted(fits), strict=True):
        score = np.array(whole[position])
        order = np.argsort(-score)[:8][::-1]
        low, high = np.quantile([one[position] for one in drawn], [0.025, 0.975], axis=0)
        axis.hlines(range(8), low[order], high[order], color="#0072B2", alpha=0.5, linewidth=4)
        axis.plot(score[order], range(8), "o", color="#0072B2", markersize=5)
        axis.set_yticks(range(8), [names[number] for number in order], fontsize=8)
        axis.set_title(position, fontsize=10)
        axis.grid(axis="x", alpha=0.3)
        axis.set_xlabel("chance against the others", fontsize=8)
    axes[0].set_ylabel("model", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def draw_budget(cells, path):
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    for axis, criterion in zip(axes, budget.CRITERIA, strict=True):
        for place, method in enumerate(METHODS):
            runs = 1e3 * np.array(cells[criterion, method])
            at = np.array(BUDGETS) * (1 + 0.04 * (place - 1.5))
            axis.errorbar(
                at, runs.mean(axis=0), yerr=[half_width(column) for column in runs.T], fmt="o-",
                color=COLOURS[method], markersize=4, capsize=2, linewidth=1.2, label=method,
            )  # fmt: skip
        axis.set_xscale("log")
        axis.set_xticks(BUDGETS, [f"{number:,}" for number in BUDGETS])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.set_title(criterion, fontsize=10)
        axis.set_xlabel("answers")
    axes[0].set_ylabel("shortfall, thousandths")
    axes[1].legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def render(whole, drawn, cells):
    """Return the page."""
    names, counts, fits = counted()
    places = sorted(fits)
    answers = [
        (at, *pair)
        for (at, a, b), (wins, ties, losses) in counts.items()
        for pair, number in (((a, b), wins), ((b, a), losses), ((a, b, "="), ties))
        for _ in range(int(number))
    ]
    standings = dm.standings(dm.Problem.complete(names, places), answers, criterion="borda")
    lineup, others = best_lineup(whole), [best_lineup(one) for one in drawn]
    behind = where_behind(cells)
    template = Path(__file__).with_suffix(".template.md").read_text(encoding="utf-8")
    return template.format(
        votes=f"{len(answers):,}",
        ties=f"{sum(len(answer) == 4 for answer in answers) / len(answers):.0%}",
        jobs=jobs_table(whole, drawn),
        resamples=len(drawn),
        lineup=lineup_table(lineup, others, standings),
        same=f"{np.mean([one == lineup for one in others]):.0%}",
        expected=f"{standings.expected_shortfall:.3f}",
        sure=f"{standings.leader_probability:.1%}",
        pairs=f"{sum(three.sum() > 0 for three in counts.values()):,}",
        weight=f"{WEIGHT:g}",
        runs=len(next(iter(cells.values()))),
        budget=budget_table(cells),
        compared=2 * len(BUDGETS) * (len(METHODS) - 1),
        behind_count=len(behind),
        behind="\n".join(behind or ["Nowhere."]),
        proofs=proofs(),
    )


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def jobs_table(whole, drawn):
    names, counts, _ = counted()
    rows = []
    for at, score in whole.items():
        own = np.array([three for (place, *_), three in counts.items() if place == at and three.sum()])
        best = int(np.argmax(score))
        low, high = np.quantile([one[at][best] for one in drawn], [0.025, 0.975])
        rows.append([
            at, f"{own.sum():,.0f}", f"{len(own):,}", f"{own[:, 1].sum() / own.sum():.0%}", names[best],
            f"{score[best]:.2f} ({low:.2f} to {high:.2f})",
        ])  # fmt: skip
    pairs = len(names) * (len(names) - 1) // 2
    head = ["kind of task", "votes", f"pairs with a vote, of {pairs:,}", "ties", "best alone"]
    return table([*head, "its chance against the others"], rows)


def lineup_table(lineup, others, standings):
    rows = []
    for at, name in lineup.items():
        same = np.mean([one[at] == name for one in others])
        leader = standings.leader[at]
        rows.append([at, name, f"{same:.0%}", leader, f"{standings.probability[leader, at]:.0%}"])
    head = ["kind of task", "line-up from all votes", "the same in resamples"]
    return table([*head, "leader by `dm.standings`", "how probably it belongs there"], rows)


def budget_table(cells):
    rows = []
    for criterion in budget.CRITERIA:
        for place, number in enumerate(BUDGETS):
            samples = [1e3 * np.array(cells[criterion, method])[:, place] for method in METHODS]
            shown = [f"{sample.mean():.1f} ± {half_width(sample):.1f}" for sample in samples]
            rows.append([criterion, f"{number:,}", *shown])
    return table(["criterion", "answers", *METHODS], rows)


def where_behind(cells):
    """List where duelmatch falls shorter than another in the mean, and whether that is beyond chance."""
    found = []
    for criterion in budget.CRITERIA:
        for place, number in enumerate(BUDGETS):
            mine = 1e3 * np.array(cells[criterion, "duelmatch"])[:, place]
            for method in METHODS[1:]:
                ahead = mine - 1e3 * np.array(cells[criterion, method])[:, place]
                width = half_width(ahead)
                if ahead.mean() > 0:
                    sure = "beyond" if ahead.mean() > width else "within"
                    by = f"{ahead.mean():.1f} ± {width:.1f}, {sure} chance"
                    found.append(f"- {criterion}, {number:,} answers: {method}, by {by}")
    return found


def proofs():
    """Run the experiment, or go on with it, and return the table of its results."""
    folder = Path("build/real-votes")
    experiments.run(experiments.load(EXPERIMENT), folder, jobs=1)
    found = {}
    for row in experiments.results(folder).to_pylist():
        found.setdefault(row["algorithm"], []).append(row)
    rows = []
    for name, runs in found.items():
        low, middle, high = np.quantile([row["duels"] for row in runs], [0.25, 0.5, 0.75])
        wrong = sum(row["right"] is False for row in runs)
        most = beta.ppf(0.975, wrong + 1, len(runs) - wrong)
        least = beta.ppf(0.025, wrong, len(runs) - wrong + 1) if wrong else 0.0
        duels = f"{middle:,.0f}", f"{low:,.0f} to {high:,.0f}"
        rows.append([name, str(len(runs)), *duels, f"{wrong} ({least:.0%} to {most:.0%})"])
    return table(["algorithm", "runs", "duels, median", "the middle half", "wrong (95% interval)"], rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--save", type=Path, help="a file to save what was computed in, and to go on from")
    parser.add_argument("--out", type=Path, help="the folder of the documentation")
    parser.add_argument("--example", type=Path, help="write the bundled example here, and nothing else")
    options = parser.parse_args()
    if options.example:
        options.example.write_text(example(), encoding="utf-8")
        return
    todo = [("scores", seed) for seed in (None, *range(RESAMPLES))]
    todo += [
        ("budget", criterion, method, FIRST_SEED + number)
        for number in range(RUNS)
        for criterion in budget.CRITERIA
        for method in METHODS
    ]
    found = dict(measured(play, todo, 1, options.save, json.dumps))
    drawn = [found["scores", seed] for seed in range(RESAMPLES)]
    cells = {}
    for (kind, *rest), result in found.items():
        if kind == "budget":
            cells.setdefault((rest[0], rest[1]), []).append(result)
    page = render(found["scores", None], drawn, cells)
    if options.out is None:
        print(page)
        return
    draw_scores(found["scores", None], drawn, options.out / "images" / "real-votes-scores.svg")
    draw_budget(cells, options.out / "images" / "real-votes-budget.svg")
    (options.out / "real-votes.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
