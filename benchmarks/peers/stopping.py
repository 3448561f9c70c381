"""Who stops of its own accord at one position, and who is right then.

A run has at most MOST answers. duelmatch and duelpy stop by their rules, with an error of at most DELTA;
with an EPSILON, an answer is right that loses to nobody by more. SAVAGE of duelpy 1.0.0 divides where it
should multiply, so its intervals have no width: it is here as released, and corrected. arena-rank has no
rule but intervals: here it stops at the first of its LOOKS at which the leader's lies above all others,
which is what people do. choix, crowd-kit, evalica's fits and Crowd-BT neither stop nor say how sure they
are.
"""

import time

import numpy as np
from duelpy.algorithms import KLDivergenceBasedPAC, KnockoutTournament, Savage, VerificationBasedCondorcet
from duelpy.stats.confidence_radius import HoeffdingConfidenceRadius

import duelmatch as dm
from duelmatch.matchings.decisions import best_matching

from .askers import EnoughError, Judge, winner_of
from .readers import Answers, arena_fit

DELTA = 0.05
EPSILON = 0.05
MOST = 6_400
LOOKS = (100, 200, 400, 800, 1_600, 3_200, 6_400)


def stop_duelmatch(criterion, **parameters):
    def stop(world, seed):
        result = dm.simulate(world.preferences, criterion, delta=DELTA, seed=seed, **parameters)
        if result.duels > MOST or result.matching is None:
            return None, MOST
        return int(world.problem.edge_numbers(result.matching)[0]), result.duels

    return stop


def stop_duelpy(algorithm, **parameters):
    def stop(world, seed):
        judge = Judge(world, 0, np.random.default_rng([seed, 6]), MOST)
        try:
            run = algorithm(judge, failure_probability=DELTA, **parameters)
            run.run()
        except EnoughError:
            return None, MOST
        return winner_of(run), judge.asked

    return stop


class CorrectedSavage(Savage):
    """SAVAGE with the radius of its paper: delta divided by the pairs, and by the squares of the samples."""

    def __init__(self, feedback_mechanism, failure_probability):
        super().__init__(feedback_mechanism, failure_probability)
        size = feedback_mechanism.get_num_arms()
        pairs = size * (size - 1) / 2
        radius = HoeffdingConfidenceRadius(
            failure_probability, lambda samples: np.pi**2 * pairs * samples**2 / 3
        )
        self.preference_estimate.set_confidence_radius(radius)


def stop_arena_rank(world, seed):
    answers = Answers.drawn(world, LOOKS[-1], np.random.default_rng([seed, 3]))
    for look in LOOKS:
        model, data = arena_fit(world.graph.edges, *answers.first(look).at(0))
        found = model.compute_ratings_and_cis(data, DELTA)
        low, high = np.asarray(found["rating_lower"]), np.asarray(found["rating_upper"])
        leader = int(np.argmax(found["ratings"]))
        if low[leader] > np.delete(high, leader).max():
            return leader, look
    return None, LOOKS[-1]


STOPS = {
    "duelmatch, condorcet": stop_duelmatch("condorcet"),
    "duelmatch, condorcet, a winner taken for granted": stop_duelmatch("condorcet", assume_winner=True),
    "duelmatch, borda": stop_duelmatch("borda"),
    "duelpy, SAVAGE as released": stop_duelpy(Savage),
    "duelpy, SAVAGE corrected": stop_duelpy(CorrectedSavage),
    "duelpy, verification-based Condorcet": stop_duelpy(VerificationBasedCondorcet),
    "duelpy, KL-divergence PAC": stop_duelpy(KLDivergenceBasedPAC),
    "arena-rank, intervals apart": stop_arena_rank,
    "duelmatch, condorcet, epsilon": stop_duelmatch("condorcet", epsilon=EPSILON),
    "duelpy, knockout tournament, epsilon": stop_duelpy(KnockoutTournament, epsilon=EPSILON),
}


def stopped(name, world, seed):
    """Return whether the run stopped, whether it was right, its answers and its processor time."""
    began = time.process_time()
    chosen, answers = STOPS[name](world, seed)
    seconds = time.process_time() - began
    best = int(best_matching(world.graph, world.rewards)[0])
    right = chosen is not None and bool(chosen == best)
    if chosen is not None and name.endswith("epsilon"):
        right = bool(world.preferences.matrix[chosen].min() >= 0.5 - EPSILON)
    return {"stopped": chosen is not None, "right": right, "answers": answers, "seconds": seconds}
