"""How many answers does a panel need until its decision is certain, and how long does a question take?

Prints Markdown tables. Judges rank by random utilities: a candidate's quality at a position is standard
normal, the same for all judges, and each judge adds Gumbel noise. Judges come one at a time in random order.

    python benchmarks/panel.py                          the tables, some 10 minutes on one core
    python benchmarks/panel.py --panels 10              a quick look
    python benchmarks/panel.py --panels 60 --first 2000 the panels of the documentation
    python benchmarks/panel.py --check 2000             random panels against the count of all answers
    python benchmarks/panel.py --walking --panels 16    only what it costs that judges walk
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import duelmatch as dm
from duelmatch.explorers.panel import PanelExplorer, simulate_panel
from duelmatch.explorers.panel.simulation import answer_of, panel_explorer

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import panels  # the oracle of the tests

CERTAIN = ("decided", "unbeaten", "tied")
SETTINGS = (  # criterion, consistent, candidates in a question
    ("condorcet", True, 2),
    ("condorcet", False, 2),
    ("condorcet", True, 4),
    ("borda", True, 2),
    ("borda", False, 2),
    ("borda", True, 4),
)
SHAPES = ((5, 3, 20), (5, 3, 50), (8, 4, 20), (8, 4, 21), (8, 4, 50))


def random_utility(candidates, positions, judges, seed):
    rng = np.random.default_rng([seed, 5])
    utility = rng.standard_normal((positions, candidates)) + rng.gumbel(size=(judges, positions, candidates))
    problem = complete(candidates, positions)
    return dm.Panel(
        problem,
        {
            (f"v{judge}", f"s{j}"): [f"c{i}" for i in np.argsort(-utility[judge, j])]
            for judge in range(judges)
            for j in range(positions)
        },
    )


def complete(candidates, positions):
    return dm.Problem.complete([f"c{i}" for i in range(candidates)], [f"s{j}" for j in range(positions)])


def needed(count, begin):
    """Print how many answers were needed."""
    print(f"\nAnswers until certain, {count} panels each: median (5% - 95%) of those that end certain.\n")
    heads = [
        f"{criterion}, {'consistent' if consistent else 'any'}{f', rankings of {size}' * (size > 2)}"
        for criterion, consistent, size in SETTINGS
    ]
    print("| candidates x positions, judges | every pair |", " | ".join(heads), "|")
    print("|---" * (2 + len(heads)) + "|")
    for shape in SHAPES:
        drawn = {seed: random_utility(*shape, seed) for seed in range(begin, begin + count)}
        cells = []
        for criterion, consistent, size in SETTINGS:
            few = list(drawn.items())[: count if criterion == "condorcet" else max(7, count // 4)]
            results = [
                simulate_panel(panel, criterion, consistent, seed, question_size=size) for seed, panel in few
            ]
            duels = [result.duels for result in results if result.status in CERTAIN]
            low, middle, high = np.quantile(duels, [0.05, 0.5, 0.95])
            cells.append(f"{middle:,.0f} ({low:,.0f} - {high:,.0f})")
        every = drawn[begin].opinions.size
        print(f"| {shape[0]} x {shape[1]}, {shape[2]} | {every:,} |", " | ".join(cells), "|", flush=True)


def budgets(count, begin):
    """Print how many panels are certain with so many questions a judge, and the certain shortfall if not."""
    shape = (8, 4, 20)
    print(f"\n{shape[0]} x {shape[1]} with {shape[2]} judges, {count} panels, so many questions each:\n")
    print("| questions each | certain | no winner | neither | its shortfall, median |\n|---|---|---|---|---|")
    for each in (10, 15, 20, 25, 30, 40):
        results = [
            simulate_panel(random_utility(*shape, seed), seed=seed, questions_each=each)
            for seed in range(begin, begin + count)
        ]
        certain = sum(result.status in CERTAIN for result in results) / count
        beaten = sum(result.status == "no_winner" for result in results) / count
        short = [result.shortfall for result in results if result.status == "budget_spent"]
        shown = f"{np.median(short):.3f}" if short else ""
        print(f"| {each} | {certain:.0%} | {beaten:.0%} | {1 - certain - beaten:.0%} | {shown} |", flush=True)


def walking(count, begin):
    """Print how often judges who walk keep a candidate, and how many more answers that takes."""
    shape = (8, 4, 20)
    print(f"\n{shape[0]} x {shape[1]}, {shape[2]} judges, {count} panels: questions that keep a candidate.\n")
    print("| questions | kept | kept, walking | answers | answers, walking |\n|---|---|---|---|---|")
    for criterion, size in (("condorcet", 2), ("condorcet", 4), ("borda", 2)):
        drawn = [random_utility(*shape, seed) for seed in range(begin, begin + count)]
        (usual, kept), (walked, kept_walking) = (
            np.transpose([walk(panel, criterion, size, is_walking) for panel in drawn])
            for is_walking in (False, True)
        )
        more = np.exp(np.mean(np.log(walked / usual))) - 1
        name = f"{criterion}{f', rankings of {size}' * (size > 2)}"
        shares = f"{np.mean(kept):.0%} | {np.mean(kept_walking):.0%}"
        answers = f"{np.median(usual):,.0f} | {np.median(walked):,.0f} ({more:+.1%})"
        print(f"| {name} | {shares} | {answers} |", flush=True)


def walk(panel, criterion, size, is_walking):
    """Play a panel; return how many answers it took, and how often a candidate was kept."""
    run = panel_explorer(panel, criterion, True, question_size=size, walking=is_walking)
    rng, last, kept = np.random.default_rng(0), {}, []
    while not run.done:
        for voter in rng.permutation(panel.voters).tolist():
            for question in run.ask(1, voter=voter):
                if voter in last:
                    kept.append(not last[voter].isdisjoint(question.candidates))
                last[voter] = set(question.candidates)
                run.tell(question, answer_of(panel, question))
    return run.duels, np.mean(kept)


def speed():
    """Print the time of a question with its answer."""
    print("\nProcessor time of a question and its answer, milliseconds:\n")
    print("| candidates x positions, judges | criterion | answers | median | 99% |\n|---|---|---|---|---|")
    for shape, most in (((8, 4, 20), 2000), ((8, 8, 39), 10_000), ((100, 20, 50), 1000)):
        for criterion in ("condorcet", "borda"):
            times = play(shape, criterion, most)
            middle, high = 1e3 * np.quantile(times, [0.5, 0.99])
            name = f"{shape[0]} x {shape[1]}, {shape[2]}"
            print(f"| {name} | {criterion} | {len(times):,} | {middle:.2f} | {high:.2f} |", flush=True)


def restore():
    """Print how long it takes to restore a run of 100,000 answers from its events."""
    candidates, positions, judges, answers = 20, 11, 50, 100_000
    problem, rng = complete(candidates, positions), np.random.default_rng(0)
    table, edges = problem.graph.pair_table, problem.edges
    voters, strength = [f"v{judge}" for judge in range(judges)], rng.standard_normal(len(edges))
    events = []
    for voter in voters:
        for pair in rng.permutation(table.count)[: answers // judges].tolist():
            (first, position), (second, _) = edges[table.first[pair]], edges[table.second[pair]]
            two, number = [first, second], len(events) // 2 + 1
            asked = {"voter": voter, "position": position, "candidates": two, "until": None}
            ahead = strength[table.first[pair]] - strength[table.second[pair]] + rng.logistic()
            answer = [[name] for name in (two if ahead > 0 else two[::-1])]
            events.append({"kind": "asked", "question": number, **asked})
            events.append({"kind": "answered", "question": number, "answer": answer})
    PanelExplorer(problem, voters).ask(1)  # compiled by now
    begin = time.process_time()
    run = PanelExplorer(problem, voters)
    for event in events:
        run.note(event)
    asked = run.ask(1)
    seconds = time.process_time() - begin
    print(f"\n{len(events) // 2:,} answers restored, and the next question found: {seconds:.2f} s")
    assert asked


def play(shape, criterion, most):
    candidates, positions, judges = shape
    rng = np.random.default_rng(1)
    utility = rng.standard_normal((positions, candidates)) + rng.gumbel(size=(judges, positions, candidates))
    voters = [f"v{judge}" for judge in range(judges)]
    run = PanelExplorer(complete(candidates, positions), voters, criterion=criterion)
    times = []
    while not run.done and len(times) < most:
        judge = int(rng.integers(judges))
        begin = time.process_time()
        for question in run.ask(1, voter=voters[judge]):
            j = int(question.position[1:])
            run.tell(question, max(question.candidates, key=lambda name: utility[judge, j, int(name[1:])]))
            times.append(time.process_time() - begin)
    return times[5:]


def check(count):
    """Compare the verdicts of random panels with the count of all answers that count."""
    statuses = {}
    for seed in range(count):
        panel, ranks = panels.random_panel(seed)
        for criterion in ("condorcet", "borda"):
            opinions = panels.opinions_of(panel)
            size = 3 if ranks and seed % 3 == 0 else 2
            if seed % 2:
                result = simulate_panel(panel, criterion, ranks, seed, question_size=size)
            else:
                result = with_leaver(panel, criterion, ranks, seed, size, opinions)
            count_of_all = panels.Count(panel.problem, opinions, panels.weights_of(panel))
            lineup = tuple(result.matching.values())
            undecided = result.status == "budget_spent"
            assert undecided == (not opinions), (seed, criterion)  # nobody has said anything that counts
            if not undecided:
                agrees = count_of_all.agrees(criterion, result.status, lineup, result.shortfall)
                assert agrees, (seed, criterion)
            key = f"{criterion} {'without an opinion' if undecided else result.status}"
            statuses[key] = statuses.get(key, 0) + 1
    print(f"\n{count:,} random panels to 6 x 6 (ties, cycles, conflicts, weights, leavers, sparse): right.")
    print("; ".join(f"{key} {number:,}" for key, number in sorted(statuses.items())))


def with_leaver(panel, criterion, ranks, seed, size, opinions):
    """Play a run that a judge leaves, and take out of the opinions what the judge has not said by then."""
    run = panel_explorer(panel, criterion, ranks, question_size=size)
    rng = np.random.default_rng(seed)
    leaver, moment = panel.voters[int(rng.integers(len(panel.voters)))], int(rng.integers(20))
    while not run.done:
        if moment is not None and run.duels >= moment:
            run.leave(leaver, "dropped")
            moment = None
        for question in run.ask(1, voter=panel.voters[int(rng.integers(len(panel.voters)))]):
            run.tell(question, answer_of(panel, question))
    counted = run.state.counted[panel.voters.index(leaver)]
    for pair, (position, first, second) in enumerate(panels.pairs(panel.problem)):
        if not counted[pair]:
            opinions.pop((leaver, position, first, second), None)
    return run.result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--panels", type=int, default=60, help="panels of each size")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first panel")
    parser.add_argument("--walking", action="store_true", help="only measure what it costs that judges walk")
    parser.add_argument("--check", type=int, help="only compare so many random panels with the count")
    arguments = parser.parse_args()
    if arguments.check:
        check(arguments.check)
    elif arguments.walking:
        walking(arguments.panels, arguments.first)
    else:
        speed()
        restore()
        budgets(arguments.panels, arguments.first)
        walking(max(7, arguments.panels // 4), arguments.first)
        needed(arguments.panels, arguments.first)
