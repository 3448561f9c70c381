"""Have pref_voting, another implementation, decide a thousand random elections, and keep what it says.

pref_voting brings forty packages along, and its OR-tools cannot be loaded beside highspy, so it has an
environment of its own; nothing here needs duelmatch:

    python -m venv elsewhere && elsewhere/bin/pip install pref_voting
    elsewhere/bin/python tests/explorers/panel/record_elections.py

The file has a line per election: the places of the candidates in each ranking as digits (equal ones are a
tie), how many voters have each ranking, the Condorcet winner, the weak ones, those of minimax by margins with
their worst defeat, and those of Borda.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from pref_voting.margin_based_methods import minimax, minimax_scores
from pref_voting.profiles_with_ties import ProfileWithTies
from pref_voting.scoring_methods import borda_for_profile_with_ties

ELECTIONS = 1000


def random_election(seed):
    rng = np.random.default_rng([seed, 12])
    candidates, rankings = int(rng.integers(2, 8)), int(rng.integers(1, 12))
    quality = float(rng.choice([0.0, 0.5, 2.0])) * rng.standard_normal(candidates)
    places = []
    for _ in range(rankings):
        utility = quality + rng.gumbel(size=candidates)
        if seed % 2:  # ties
            utility = np.round(utility)
        places.append(np.unique(-utility, return_inverse=True)[1].tolist())
    counts = rng.integers(1, 5, size=rankings).tolist() if seed % 3 == 0 else [1] * rankings
    return places, counts


def decided(places, counts):
    size = len(places[0])
    profile = ProfileWithTies([dict(enumerate(ranking)) for ranking in places], counts, list(range(size)))
    least = minimax(profile)
    return {
        "condorcet": profile.condorcet_winner(),
        "weak": profile.weak_condorcet_winner() or [],
        "minimax": least,
        "defeat": -int(minimax_scores(profile)[least[0]]),
        "borda": borda_for_profile_with_ties(profile),
    }


if __name__ == "__main__":
    lines = []
    for seed in range(ELECTIONS):
        places, counts = random_election(seed)
        given = {"rankings": ["".join(map(str, ranking)) for ranking in places], "counts": counts}
        lines.append(json.dumps(given | decided(places, counts), default=int))
    Path(__file__).with_name("elections.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines):,} elections, by pref_voting {version('pref_voting')}")
