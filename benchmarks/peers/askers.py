"""Packages and rules that choose their questions: duelpy, and Crowd-BT as gavel plays it.

Both know one position. Where there are more, each gets an equal part of the answers, and one assignment on
top, as in :mod:`peers.readers`.
"""

import budget as rules
import numpy as np
from duelpy.algorithms import DoubleThompsonSampling, RelativeUCB
from duelpy.feedback import FeedbackMechanism
from scipy.special import expit

from .readers import edges_at, lineup, read_choix

RANDOM_NEXT = 0.25
"""How often gavel shows a random project next."""


class EnoughError(Exception):
    """More was asked than is allowed."""


class Judge(FeedbackMechanism):
    """The judge of a world at one position, as duelpy asks it. A tie is a toss: duelpy knows none."""

    def __init__(self, world, position, rng, most=None):
        self.own = edges_at(world, position)
        super().__init__(list(range(len(self.own))))
        self.world, self.rng, self.most, self.asked = world, rng, most, 0
        self.one, self.other, self.won = [], [], []

    def duel(self, arm_i_index, arm_j_index):
        if self.asked == self.most:
            raise EnoughError
        self.asked += 1
        if arm_i_index == arm_j_index:  # an answer that says nothing, and costs one
            return bool(self.rng.integers(2))
        one, other = self.own[arm_i_index], self.own[arm_j_index]
        pair = self.world.table.number(np.array([one]), np.array([other]))
        wins, ties = self.world.answer(pair, np.array([1]), self.rng)
        first = bool(self.rng.random() < (wins + ties / 2)[0])
        won = first if one < other else not first
        self.one.append(arm_i_index)
        self.other.append(arm_j_index)
        self.won.append(float(won))
        return won


def play_duelpy(algorithm):
    """Return a function that runs the algorithm at every position, to a horizon that is its part.

    At one position its own winner counts. These algorithms name winners, which for several positions is not
    enough: there choix reads the answers that they have gathered.
    """

    def play(world, seed, number):
        rng = np.random.default_rng([seed, 6])
        positions = world.graph.positions

        def chances_at(position):
            judge = Judge(world, position, rng)
            size = len(judge.own)
            if size < 2:
                return np.full((size, size), 0.5)
            horizon = number // positions + (position < number % positions)
            state = np.random.RandomState(rng.integers(2**31))
            run = algorithm(judge, time_horizon=horizon, random_state=state)
            run.run()
            winner = winner_of(run) if positions == 1 else None
            if winner is not None:
                return np.where(np.arange(size)[:, None] == winner, 1.0, 0.5) + np.zeros((size, size))
            return read_choix(size, np.array(judge.one), np.array(judge.other), np.array(judge.won))

        return lineup(world, chances_at)

    return play


def winner_of(run):
    """Return the winner that a run of duelpy names, or None."""
    return run.get_condorcet_winner() if hasattr(run, "get_condorcet_winner") else run.get_copeland_winner()


def play_gavel(world, seed, number):
    """Return Crowd-BT's line-up: its own means decide.

    As in gavel, what was shown last stays, and beside it comes what promises the most information, or now
    and then anything. Every answer is a new annotator's, who is as good as Crowd-BT expects.
    """
    rng = np.random.default_rng([seed, 7])
    graph, table = world.graph, world.table
    mean, variance = np.zeros(graph.edges), np.ones(graph.edges)
    last = np.full(graph.positions, -1)
    places = [position for position in range(graph.positions) if len(edges_at(world, position)) > 1]
    for answered in range(number):
        position = places[answered % len(places)]
        own = edges_at(world, position)
        if last[position] < 0:
            last[position] = rng.choice(own)
        shown = last[position]
        others = own[own != shown]
        if rng.random() < RANDOM_NEXT:
            new = int(rng.choice(others))
        else:
            gain = rules.information(mean[shown], variance[shown], mean[others], variance[others])
            new = int(rng.choice(others[gain >= gain.max() * (1 - 1e-9)]))
        one, other = min(shown, new), max(shown, new)
        pair = table.number(np.array([one]), np.array([other]))
        wins, ties = world.answer(pair, np.array([1]), rng)
        if not ties[0]:  # its model has no ties: they change nothing
            up, down = (one, other) if wins[0] else (other, one)
            moved = rules.updated(mean[up], variance[up], mean[down], variance[down])
            mean[up], variance[up], mean[down], variance[down] = moved
        last[position] = new

    def chances_at(position):
        strength = mean[edges_at(world, position)]
        return expit(strength[:, None] - strength)

    return lineup(world, chances_at)


ASKERS = {
    "Crowd-BT, gavel": play_gavel,
    "duelpy, DTS": play_duelpy(DoubleThompsonSampling),
    "duelpy, RUCB": play_duelpy(RelativeUCB),
}
