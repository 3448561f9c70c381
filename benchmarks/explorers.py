"""How fast the explorers are, beside plain transcriptions of their listings: ratios within one run.

Prints a Markdown table. Run it with ``make bench`` or ``python benchmarks/explorers.py``.
"""

import sys
import time
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np

import duelmatch as dm
from duelmatch.explorers import car_cond
from duelmatch.explorers.oracle import Oracle
from duelmatch.graph import Mask

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import listings

TRANSCRIBED_DUELS = 400
REPEATS = 9


def seconds_per_transcribed_duel(preferences: dm.Preferences, epsilon: float) -> float:
    """Time the plain listing of CLUCB-Borda-PAC; every round of it costs the same."""
    rng = np.random.default_rng(1)
    listing = listings.clucb_borda_pac(preferences.problem.graph, 0.05, epsilon, 0)
    first, second = next(listing)
    started = time.process_time()
    for _ in range(TRANSCRIBED_DUELS):
        first, second = listing.send(rng.random() < preferences.matrix[first, second])
    return (time.process_time() - started) / TRANSCRIBED_DUELS


def timed(preferences: dm.Preferences, algorithm: str, **parameters: object) -> tuple[dm.Result, float]:
    started = time.process_time()
    result = dm.simulate(preferences, algorithm, seed=0, **parameters)
    return result, time.process_time() - started


def clucb_rows() -> list[str]:
    preferences, epsilon = dm.instances.bradley_terry(8, 8, spread=1.0, seed=3), 0.02
    timed(preferences, "clucb-borda-pac", epsilon=0.3)  # compile and import
    result, sparse = timed(preferences, "clucb-borda-pac", epsilon=epsilon)
    transcriptions, faithful = [], []
    for _ in range(REPEATS):  # in turns, so that both meet the same load
        transcriptions.append(seconds_per_transcribed_duel(preferences, epsilon))
        partial, seconds = timed(
            preferences, "clucb-borda-pac", epsilon=epsilon, schedule="every", max_duels=4_000
        )
        faithful.append(seconds / partial.duels)
    transcribed, every = median(transcriptions), median(faithful)
    whole = transcribed * result.duels
    return [
        f"| clucb-borda-pac, 8x8, epsilon 0.02, {result.duels:,} duels: default schedule | {sparse:.2f} s | "
        f"{whole / sparse:.0f} x faster than the transcription ({whole:.0f} s, from "
        f"{1e6 * transcribed:.0f} us a duel over {REPEATS} x {TRANSCRIBED_DUELS} duels) |",
        f"| the same, faithful schedule | {1e6 * every:.0f} us a duel | "
        f"{transcribed / every:.1f} x faster than the transcription |",
        f"| a simulated duel, all included | {1e6 * sparse / result.duels:.2f} us | |",
    ]


class DirectOracle(Oracle):
    """Solves four LPs for each undecided edge at each look, whatever is known."""

    def begin_round(
        self, bounds: tuple[np.ndarray, np.ndarray], accepted: Mask, rejected: Mask, epsilon: float
    ) -> None:
        super().begin_round(bounds, accepted, rejected, epsilon)
        self._games = {}

    def _upper_value(self, edge: int, present: bool) -> float:
        self._solve("lower", edge, present)
        return self._solve("upper", edge, present).value


def car_cond_rows() -> list[str]:
    small = dm.instances.planted(6, 6, gap=0.15, density=0.72, seed=0)
    gap = min(dm.theory.condorcet_gaps(small).values())
    result, fast = timed(small, "car-cond")
    with patch.object(car_cond, "Oracle", DirectOracle):
        direct_result, direct = timed(small, "car-cond")
    assert direct_result == result
    large = dm.instances.planted(10, 10, gap=0.15, seed=0)
    large_result, large_seconds = timed(large, "car-cond")
    large_gap = min(dm.theory.condorcet_gaps(large).values())
    pairs, large_pairs = small.problem.graph.pairs, large.problem.graph.pairs
    return [
        f"| car-cond, 6x6, K = {pairs}, gap {gap:.3f}, {result.duels:,} duels | {fast:.2f} s | "
        f"{direct / fast:.0f} x faster than four LPs for each undecided edge at each look ({direct:.1f} s) |",
        f"| car-cond, 10x10 complete, K = {large_pairs}, gap {large_gap:.3f}, {large_result.duels:,} duels "
        f"| {large_seconds:.1f} s | |",
    ]


def main() -> None:
    print("| what | time | beside |\n|---|---|---|")
    for row in [*clucb_rows(), *car_cond_rows()]:
        print(row, flush=True)


if __name__ == "__main__":
    main()
