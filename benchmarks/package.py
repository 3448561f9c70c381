"""What does installing duelmatch take? Its wheel goes into fresh environments. Prints a Markdown table.

    python benchmarks/package.py                 the base and all extras together
    python benchmarks/package.py --each          each extra by itself as well
    python benchmarks/package.py --compiled      instead: what the compiler buys

What the compiler buys is measured by running the same loops as Python (``NUMBA_DISABLE_JIT=1``): the same
numbers are drawn, so the same duels are asked. Each job is done once before it is timed.

Sizes are of everything that came with it, without pip. Times are processor time, the smallest of five, of a
new process with bytecode compiled.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

PROJECT = Path(__file__).parents[1]
TIMED = """
import sys, time
from zlib import crc32
import duelmatch as dm
from duelmatch.instances import random_problem
from duelmatch.matchings.chain import Chain
from duelmatch.matchings.rejection import RejectionSampler

lineup = dm.instances.example("lineup")
graph = random_problem(20, 20, density=0.5, seed=0).graph
judges = [f"judge {number}" for number in range(8)]
tastes = {
    (judge, position): sorted(
        (who for who, where in lineup.problem.edges if where == position),
        key=lambda name: crc32((judge + name).encode()),
    )
    for judge in judges
    for position in lineup.problem.positions
}
larger = dm.instances.bradley_terry(12, 6, seed=1)
even = dm.instances.equal_gaps(4, 0.4)
JOBS = {
    "condorcet": lambda: dm.simulate(lineup, "condorcet", delta=0.05, seed=1).duels,
    "borda": lambda: dm.simulate(lineup, "borda", delta=0.05, seed=1).duels,
    "panel": lambda: dm.simulate(dm.Panel(lineup.problem, tastes), "panel", seed=1).duels,
    "larger": lambda: dm.simulate(larger, "borda", delta=0.05, seed=1, max_duels=3_000).duels,
    "clucb": lambda: dm.simulate(even, "clucb-borda-exact", delta=0.05, seed=1).duels,
    "car": lambda: dm.simulate(even, "car-cond", delta=0.05, seed=1).duels,
    "rejection": lambda: len(RejectionSampler(graph, 1).draw(20)),
    "chain": lambda: len(Chain(random_problem(8, 8, density=0.5, seed=0).graph, 0.05, 1).draw(10)),
    "standings": lambda: dm.standings(lineup.problem, [("opening", "boats", "foxes")] * 40).answers,
}
job = JOBS[sys.argv[1]]
job()
times = []
for _ in range(int(sys.argv[2])):
    start = time.process_time()
    found = job()
    times.append(time.process_time() - start)
print(min(times), found)
"""
HEAVY = ("llvmlite", "numba", "scipy", "numpy", "highspy", "pyarrow", "matplotlib")


def build(folder):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--wheel-dir", folder, PROJECT], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def megabytes(path):
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6


def install(wheel, extras, folder):
    """A fresh environment with the wheel; its interpreter and its folder of packages."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    wanted = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
    pinned = ["--constraint", str(PROJECT / "constraints.txt"), wanted]
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", *pinned], check=True)
    subprocess.run([*pip, "check"], check=True, stdout=subprocess.DEVNULL)
    (packages,) = folder.glob("lib/python*/site-packages")
    return python, packages


def milliseconds(*command):
    """Processor time of a command, the smallest of five."""
    times = []
    for _ in range(6):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1_000 * min(times[1:])


def row(name, wheel, extras):
    with tempfile.TemporaryDirectory() as folder:
        python, packages = install(wheel, extras, Path(folder))
        size = megabytes(packages) - sum(megabytes(path) for path in packages.glob("pip*"))
        parts = {part: sum(megabytes(path) for path in packages.glob(f"{part}*")) for part in HEAVY}
        command = python.with_name("duelmatch")
        version = subprocess.run(
            [command, "--version"], check=True, capture_output=True, text=True
        ).stdout.split()[-1]
        times = [
            milliseconds(python, "-c", "import duelmatch"),
            milliseconds(command, "--version"),
            milliseconds(command, "winners", "example:lineup"),
        ]
    heavy = ", ".join(
        f"{part} {size:.0f}" for part, size in sorted(parts.items(), key=lambda x: -x[1]) if size >= 20
    )
    print(
        f"| {name} | {version} | {size:.0f} MB | {heavy} | "
        + " | ".join(f"{time:.0f} ms" for time in times)
        + " |",
        flush=True,
    )


JOBS = {
    "condorcet": "a run of `condorcet`, `example:lineup`",
    "borda": "a run of `borda`, the same",
    "larger": "3,000 duels of `borda`, `bradley_terry(12, 6)`",
    "panel": "a panel of 8 judges, the same",
    "clucb": "a run of `clucb-borda-exact`, `equal_gaps(4, 0.4)`",
    "car": "a run of `car-cond`, the same",
    "rejection": "20 matchings, 20 x 20, density 0.5, by rejection",
    "chain": "10 matchings, 8 x 8, density 0.5, by the chain",
    "standings": "standings from 40 answers",
}


def without_compiler():
    """What the compiler buys: the same jobs as machine code and as Python."""
    print("| job | compiled | as Python | ratio |\n|---|---|---|---|")
    for name, label in JOBS.items():
        seconds = []
        for disabled, repeated in (("0", "5"), ("1", "1")):
            environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
            command = [sys.executable, "-c", TIMED, name, repeated]
            done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            time, found = done.stdout.split()
            seconds.append((float(time), found))
        (fast, one), (slow, other) = seconds
        assert one == other, f"{name}: {one} compiled, {other} as Python"
        print(f"| {label} | {1e3 * fast:,.0f} ms | {1e3 * slow:,.0f} ms | {slow / fast:,.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--each", action="store_true", help="each extra by itself as well")
    parser.add_argument("--compiled", action="store_true", help="what the compiler buys")
    options = parser.parse_args()
    each = options.each
    if options.compiled:
        without_compiler()
        return
    extras = list(
        tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    )
    with tempfile.TemporaryDirectory() as folder:
        wheel = build(Path(folder))
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB; Python {sys.version.split()[0]}\n")
        print("| installed | version | size | of which | `import duelmatch` | `--version` | `winners` |")
        print("|---|---|---|---|---|---|---|")
        row("base", wheel, [])
        for extra in extras if each else ():
            row(extra, wheel, [extra])
        row("all extras", wheel, extras)


if __name__ == "__main__":
    main()
