"""Packages that read the answers to given questions: here to pairs drawn evenly, the same for all.

Each gets the answers at one position and returns how probably each candidate beats each other there; one
assignment (scipy) then makes the line-up with the most expected wins. Parameters are the packages' defaults,
or those of their documentation.
"""

import choix
import evalica
import jax.numpy as jnp
import numpy as np
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry as ArenaRank
from arena_rank.utils.data_utils import PairDataset
from crowdkit.aggregation import BradleyTerry as CrowdKit
from scipy.optimize import linear_sum_assignment
from scipy.special import expit

NOWHERE = -1e9
"""The value of a candidate where it cannot go."""


class Answers:
    """Answers to duels, in the order in which they were given."""

    def __init__(self, world, pairs, outcomes):
        self.world, self.pairs, self.outcomes = world, pairs, outcomes

    @classmethod
    def drawn(cls, world, number, rng):
        """Return the answers to pairs drawn evenly; an outcome is 1 where the first wins, 1/2 for a tie."""
        pairs = rng.integers(world.table.count, size=number)
        wins, ties = world.answer(pairs, np.ones(number, dtype=int), rng)
        return cls(world, pairs, wins + ties / 2)

    def first(self, number):
        return Answers(self.world, self.pairs[:number], self.outcomes[:number])

    def at(self, position):
        """Return one, other (numbers within the position) and outcomes."""
        own = edges_at(self.world, position)
        here = self.world.table.position[self.pairs] == position
        pairs = self.pairs[here]
        number = np.zeros(self.world.graph.edges, dtype=int)
        number[own] = np.arange(len(own))
        table = self.world.table
        return number[table.first[pairs]], number[table.second[pairs]], self.outcomes[here]

    def counts(self):
        """Return wins of the first and duels by pair, and the number of ties."""
        size = self.world.table.count
        wins = np.bincount(self.pairs, weights=self.outcomes, minlength=size)
        return (
            wins,
            np.bincount(self.pairs, minlength=size).astype(float),
            float((self.outcomes == 0.5).sum()),
        )


def edges_at(world, position):
    return np.arange(world.graph.edges)[world.graph.at(position)]


def lineup(world, chances_at):
    """Return the edges of the line-up with the most expected wins against all at each position."""
    graph = world.graph
    value = np.full((graph.positions, len(world.problem.candidates)), NOWHERE)
    for position in range(graph.positions):
        own = edges_at(world, position)
        chances = chances_at(position)
        rivals = max(len(chances) - 1, 1)
        value[position, graph.edge_candidate[own]] = (chances.sum(axis=1) - 0.5) / rivals
    _, chosen = linear_sum_assignment(-value)
    return np.array([graph.edge_at[position, candidate] for position, candidate in enumerate(chosen)])


def fitted(world, answers, reader):
    return lineup(world, lambda position: reader(len(edges_at(world, position)), *answers.at(position)))


def read_choix(size, one, other, outcomes):
    """Iterative Luce spectral ranking; ties are halves. With few answers it has to be regularised."""
    beaten = np.zeros((size, size))
    np.add.at(beaten, (one, other), outcomes)
    np.add.at(beaten, (other, one), 1 - outcomes)
    strength = choix.ilsr_pairwise_dense(beaten, alpha=0.01, max_iter=1_000)
    return expit(strength[:, None] - strength)


def read_crowd_kit(size, one, other, outcomes):
    """Bradley-Terry by minorisation. It knows no ties: every answer counts twice, a tie once for each."""
    first = np.concatenate([outcomes > 0, outcomes == 1])
    rows = pd.DataFrame({"left": np.tile(one, 2), "right": np.tile(other, 2)})
    rows["label"] = np.where(first, rows["left"], rows["right"])
    score = np.full(size, 1 / size)
    if len(rows):
        found = CrowdKit(n_iter=1_000).fit_predict(rows)
        score[found.index.to_numpy(dtype=int)] = found.to_numpy()
    return shares(score)


def read_evalica(size, one, other, outcomes):
    """Bradley-Terry; or win rates where it has no fit (someone won or lost all) and gives all the same."""
    if not len(one):
        return np.full((size, size), 0.5)
    rows, index = evalica_rows(one, other, outcomes), pd.Index(range(size))
    score = evalica.bradley_terry(*rows, index=index).scores.sort_index().to_numpy()
    if score.max() > 2 * score.min():
        return shares(score)
    rate = evalica.average_win_rate(*rows, index=index).scores.sort_index().to_numpy()
    return np.tile(np.nan_to_num(rate, nan=0.5)[:, None], size)


def read_elo(size, one, other, outcomes):
    if not len(one):
        return np.full((size, size), 0.5)
    rating = evalica.elo(*evalica_rows(one, other, outcomes), index=pd.Index(range(size)))
    rating = rating.scores.sort_index().to_numpy()
    return expit((rating[:, None] - rating) * np.log(10) / 400)


def evalica_rows(one, other, outcomes):
    said = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    return one.tolist(), other.tolist(), [said[outcome] for outcome in outcomes.tolist()]


def read_arena_rank(size, one, other, outcomes):
    if not len(one):
        return np.full((size, size), 0.5)
    strength = np.asarray(arena_fit(size, one, other, outcomes)[0].params["ratings"])
    return expit(strength[:, None] - strength)


def arena_fit(size, one, other, outcomes):
    """Return the fitted model and its data, with equal answers counted as arena-rank counts them."""
    rows, counts = np.unique(np.column_stack([one, other, outcomes]), axis=0, return_counts=True)
    weights = np.ones(len(rows))
    data = PairDataset(
        [str(number) for number in range(size)], jnp.asarray(rows[:, :2].astype(np.int32)),
        jnp.asarray(rows[:, 2]), jnp.asarray(counts.astype(float)), jnp.asarray(weights),
        jnp.asarray(counts * weights),
    )  # fmt: skip
    return ArenaRank(size).fit(data), data


def shares(score):
    """Return score / (score + other score), and 1/2 where nobody has any."""
    both = score[:, None] + score
    return np.where(both > 0, score[:, None] / np.where(both > 0, both, 1), 0.5)


READERS = {
    "choix": read_choix,
    "crowd-kit": read_crowd_kit,
    "evalica": read_evalica,
    "evalica, Elo": read_elo,
    "arena-rank": read_arena_rank,
}
