"""What an experiment costs besides its runs: time for 10,000 of them, overhead per run, memory."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from duelmatch import experiments

SIZES = (1_000, 4_000, 16_000)


def small(repetitions: int) -> dict[str, Any]:
    """Two positions for two candidates, and an algorithm that is quick on them."""
    return {
        "title": "benchmark",
        "seed": 1,
        "repetitions": repetitions,
        "deltas": [0.1],
        "problems": [{"generator": "equal_gaps", "positions": 2, "gap": 0.45}],
        "algorithms": [{"name": "clucb-borda-pac", "epsilon": 0.3}],
    }


def measure(repetitions: int, jobs: int) -> dict[str, float]:
    """Run in this process; return seconds, those inside the algorithm, and the peak memory in MB so far."""
    import resource

    experiment = experiments.from_dict(small(repetitions))
    with tempfile.TemporaryDirectory() as folder:
        experiments.run(experiments.from_dict(small(1)), Path(folder, "warm"), jobs=1)
        start = time.perf_counter()
        experiments.run(experiment, Path(folder, "out"), jobs=jobs)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        inside = pc.sum(experiments.results(Path(folder, "out"))["seconds"]).as_py()
    return {"seconds": seconds, "inside": inside, "peak": peak}


def apart(repetitions: int, jobs: int) -> dict[str, float]:
    """Measure in a fresh process, so that one does not see the memory of another."""
    command = [sys.executable, __file__, "--runs", str(repetitions), "--jobs", str(jobs)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.runs:
        print(json.dumps(measure(arguments.runs, arguments.jobs)))
        return
    print("| what | measured | wanted |\n|---|---|---|")
    jobs = min(2, os.cpu_count() or 1)
    found = apart(10_000, jobs)
    print(f"| 10,000 runs of a small instance, {jobs} processes | {found['seconds']:.0f} s | minutes |")
    for runs in SIZES:
        found = apart(runs, 1)
        overhead = 1000 * (found["seconds"] - found["inside"]) / runs
        each = 1000 * found["inside"] / runs
        print(f"| {runs:,} runs, 1 process: a run takes | {each:.2f} ms | |")
        print(f"| overhead per run beyond the algorithm | {overhead:.3f} ms | < 2 ms |")
        print(f"| peak memory | {found['peak']:.0f} MB | flat |", flush=True)


if __name__ == "__main__":
    main()
