"""With schedule="every" the explorers ask the very questions of the plain listings, duel by duel."""

from contextlib import suppress

import numpy as np
import pytest

import duelmatch as dm
import listings
from cases import each
from duelmatch.explorers.car_cond import CarCond
from duelmatch.explorers.engine import RoundAnswers
from duelmatch.matchings.counting import edge_marginals


class Answers:
    """The same answers for whoever asks: the n-th duel of a pair always ends the same way."""

    def __init__(self, preferences, seed):
        self._preferences, self._seed = preferences, seed
        self._streams = {}

    def first_wins(self, first, second):
        low, high = min(first, second), max(first, second)
        if (low, high) not in self._streams:
            self._streams[low, high] = np.random.default_rng([self._seed, low, high])
        low_wins = self._streams[low, high].random() < self._preferences.matrix[low, high]
        return bool(low_wins == (first == low))


def transcript_of_listing(listing, answers, most):
    asked, answer = [], None
    try:
        while len(asked) < most:
            first, second = listing.send(answer)
            asked.append((first, second))
            answer = answers.first_wins(first, second)
    except StopIteration as stop:
        return asked, stop.value[0], sorted(stop.value[1] or [])
    return asked, "budget_spent", None


def transcript_of_explorer(run, answers, most):
    problem, asked = run.problem, []
    while not run.done and len(asked) < most:
        (duel,) = run.ask(1)
        first = problem.edge_number(duel.first, duel.position)
        second = problem.edge_number(duel.second, duel.position)
        asked.append((first, second))
        run.tell(duel, duel.first if answers.first_wins(first, second) else duel.second)
    if not run.done:
        return asked, "budget_spent", None
    matching = run.result.matching
    return asked, run.result.status, sorted(problem.edge_numbers(matching).tolist() if matching else [])


LISTINGS = {
    "clucb-borda-pac": lambda graph, seed: listings.clucb_borda_pac(graph, 0.1, 0.2, seed),
    "clucb-borda-exact": lambda graph, seed: listings.clucb_borda_exact(graph, 0.1, seed),
    "car-cond": lambda graph, seed: car_cond(graph),
    "car-verify": lambda graph, seed: listings.car_verify(graph, 0.1),
    "car-parallel": lambda graph, seed: listings.car_parallel(graph, 0.1),
}


def car_cond(graph):
    wins = [[0] * graph.edges for _ in range(graph.edges)]
    status, matching, _ = yield from listings.car_cond(graph, 0.1, wins)
    return status, matching


INSTANCES = {
    "two by two": dm.instances.planted(2, 2, gap=0.5, seed=1),
    "one position": dm.instances.planted(3, 1, gap=0.45, seed=2),
    "more candidates": dm.instances.planted(4, 2, gap=0.5, density=0.8, seed=3),
    "sparse": dm.instances.planted(4, 3, gap=0.5, density=0.5, seed=6),
    "cyclic": dm.instances.cyclic(3, 2, strength=0.5),
    "paper": dm.instances.paper_example(),
}
MOST = 400
TO_THE_END = {"two by two": 800, "one position": 800}
LONGER = 20_000  # enough for the exact algorithm's several epochs
CASES = [
    (algorithm, instance, seed)
    for algorithm in LISTINGS
    for instance in INSTANCES
    for seed in (0, 1)
    if algorithm.startswith("clucb") or (instance != "paper" and seed == 0)
]


@pytest.mark.parametrize("algorithm", LISTINGS)
def test_every_question_is_that_of_the_listing(algorithm):
    own = [(instance, seed) for name, instance, seed in CASES if name == algorithm]
    each(("instance", "seed"), own)(asks_as_the_listing_does)(algorithm=algorithm)


def asks_as_the_listing_does(algorithm, instance, seed):
    preferences = INSTANCES[instance]
    most = TO_THE_END.get(instance, MOST)
    if (algorithm, instance) == ("clucb-borda-exact", "two by two"):
        most = LONGER
    parameters = {"epsilon": 0.2} if algorithm == "clucb-borda-pac" else {}
    run = dm.explorer(algorithm, preferences.problem, delta=0.1, seed=seed, schedule="every", **parameters)
    expected = transcript_of_listing(
        LISTINGS[algorithm](preferences.problem.graph, seed), Answers(preferences, seed), most
    )
    asked, status, matching = transcript_of_explorer(run, Answers(preferences, seed), most)
    assert asked == expected[0]
    if expected[1] != "budget_spent":
        assert (status, matching) == expected[1:]


@each(("above", "decided"), [(-0.01, False), (0.01, True)])
def test_an_edge_is_decided_only_past_the_margin(above, decided):
    """Lines 14 to 19 of CAR-Cond: InL > ExU + eps_q accepts, ExL > InU + eps_q rejects; eps_1 = 1/2."""
    epsilon, low = 0.5, -0.2
    high = low + epsilon + above
    for accepting in (True, False):
        run = CarCond(dm.Problem.complete(["ann", "bob", "cyd"], ["chair"]).graph, 0.1)
        oracle, first = run._oracle, {0}
        oracle.InL = lambda e, first=first, a=accepting: high if a and e in first else 0.0
        oracle.ExU = lambda e, first=first, a=accepting: low if a and e in first else 0.5
        oracle.ExL = lambda e, first=first, a=accepting: high if not a and e in first else 0.0
        oracle.InU = lambda e, first=first, a=accepting: low if not a and e in first else 0.5
        rounds = run.rounds()
        duels = next(rounds)
        with suppress(StopIteration):
            rounds.send(RoundAnswers(duels.count, np.zeros_like(duels.count)))
        edges = run.accepted if accepting else run.rejected
        assert edges[0] == decided


@each("preferences", [dm.instances.planted(2, 1, gap=0.01), dm.instances.rings(2, 2, gap=0.02)])
def test_an_edge_is_left_alone_once_its_radius_is_small_against_its_gap_or_epsilon(preferences):
    """Lemma 1 and the two cases of Appendix B.4, which Equation 9 adds up. All bounds hold but for 1e-7."""
    delta, epsilon, problem = 1e-7, 0.5, preferences.problem
    graph, gaps = problem.graph, np.array(list(dm.theory.borda_gaps(preferences).values()))
    width, events = dm.theory.width(problem), max(graph.pairs, graph.edges)
    part = 1 - edge_marginals(graph)
    run = dm.explorer("clucb-borda-pac", problem, delta, seed=3, epsilon=epsilon, schedule="every")
    asked, answers, smallest = np.zeros(graph.edges, dtype=int), Answers(preferences, 3), 1.0
    while not run.done:
        (duel,) = run.ask(1)
        first = problem.edge_number(duel.first, duel.position)
        second = problem.edge_number(duel.second, duel.position)
        if asked[first]:
            radius = part[first] * listings.radius(asked[first], run.duels + 1, delta, events)
            assert radius >= max(gaps[first] / (3 * width) - epsilon / 4, epsilon / 4)
            smallest = min(smallest, radius)
        asked[first] += 1
        run.tell(duel, duel.first if answers.first_wins(first, second) else duel.second)
    assert smallest < 1.5 * epsilon / 4, "it would have been noticed"
    hardness = np.minimum(width**2 / gaps**2, epsilon**-2).sum()
    assert run.duels <= 32 * hardness * np.log(4 * events * run.duels**3 / delta) + graph.edges
