"""A thousand messy studies: whether all end, and whether anybody ever waits for what nobody can answer.

``python benchmarks/messy.py [--studies N] [--from SEED]``: half of them panels, half crowds, each on two
servers that share a database, with skips, quitters, conflicts, expired leases, corrections, strikes,
withdrawals, late candidates, undone answers, pauses and reopened studies (tests/studies/messy.py). A study
that breaks a promise is named with its seed, and makes the command fail.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

from duelmatch.studies import Store

sys.path[0] = str(Path(__file__).parents[1] / "tests")  # not this folder, where studies is something else

from studies.messy import Clock, play_messy_study  # noqa: E402

MEMORY = Path("/dev/shm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="SEED")
    options = parser.parse_args()
    ends: Counter[str] = Counter()
    acts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    answers = entries = 0
    broken = []
    begin = perf_counter()
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder, ExitStack() as stack:
        url, clock = f"sqlite:///{folder}/duels.db", Clock()
        stores = [stack.enter_context(Store(url, clock)) for _ in range(2)]
        for number in range(options.studies):
            kind, seed = ("panel", "crowd")[number % 2], options.first + number // 2
            try:
                played = play_messy_study(url, stores, clock, kind, seed)
            except Exception as error:
                broken.append(f"{kind} {seed}: {type(error).__name__}: {error}")
                print(broken[-1], flush=True)
                continue
            ends[f"{kind} {played.status if played.done else 'nobody left to ask'}"] += 1
            acts += played.acts
            reasons += played.reasons
            answers += played.answers
            entries += played.entries
            if number % 100 == 99:
                print(f"{number + 1:,} studies, {perf_counter() - begin:,.0f} s", file=sys.stderr, flush=True)
    print(f"{options.studies:,} studies, {answers:,} answers, {entries:,} entries, ", end="")
    print(f"{perf_counter() - begin:,.0f} s; broken: {len(broken)}")
    for title, counted in (("Ended", ends), ("Done", acts), ("Nothing to ask", reasons)):
        lines = (f"{name} {count:,}" for name, count in sorted(counted.items()))
        print(f"{title}: {', '.join(lines)}")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
