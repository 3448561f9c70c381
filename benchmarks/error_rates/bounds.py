"""Whether the bound on the shortfall is ever too small: that of every champion, after every round.

``progress.shortfall`` is the bound of the leader's proof. A run counts as wrong here if at any time any
proof's bound was below what its champion really falls short by, whether it was the leader then or not.
"""

from __future__ import annotations

import numpy as np

import duelmatch as dm
from duelmatch.explorers.engine import RoundAnswers
from duelmatch.explorers.frugal.search import FrugalSearch
from duelmatch.matchings.decisions import all_matchings
from duelmatch.preferences import Criterion

ROUNDING = 1e-9


def shortfalls(preferences: dm.Preferences, criterion: Criterion, of_winner: bool) -> dict[bytes, float]:
    """Return by how much each matching falls short per position: of the best, or of the Condorcet winner."""
    everyone = all_matchings(preferences.problem.graph)
    if criterion == "borda":
        rewards = preferences.edge_rewards[everyone].mean(axis=1)
        short = rewards.max() - rewards
    else:
        rivals = everyone
        winner = preferences.condorcet_winner()
        if of_winner and winner is not None:
            rivals = preferences.problem.edge_numbers(winner)[None]
        against = preferences.matrix[rivals[None], everyone[:, None]].mean(axis=2)
        short = np.maximum(against.max(axis=1) - 0.5, 0.0)
    return {row.tobytes(): float(value) for row, value in zip(everyone, short, strict=True)}


def watch(
    search: FrugalSearch, preferences: dm.Preferences, most_duels: int, rng: np.random.Generator
) -> tuple[bool, int, list[tuple[int, float]]]:
    """Play a run; return whether a bound was ever too small, the duels, and the champion's bounds."""
    short = shortfalls(preferences, search._criterion, search._assume_winner)
    rounds, answers, duels, wrong = search.rounds(), None, 0, False
    seen: list[tuple[int, float]] = []
    while duels < most_duels:
        try:
            asked = next(rounds) if answers is None else rounds.send(answers)
        except StopIteration:
            break
        for proof in search._proofs:
            bound = search._bound(proof)
            wrong = wrong or (bound is not None and short[proof.champion.tobytes()] > bound + ROUNDING)
        proof = search._proof_for(search._champion)
        bound = None if proof is None else search._bound(proof)
        seen.append((duels, 0.5 if bound is None else bound))
        wins = rng.binomial(asked.count, preferences.matrix[asked.first, asked.second])
        answers = RoundAnswers(wins, np.zeros_like(wins))
        duels += asked.total
    return wrong, duels, seen
