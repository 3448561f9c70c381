"""What does installing duelmatch take? Its wheel goes into fresh environments. Prints a Markdown table.

    python benchmarks/package.py                 the base and all extras together
    python benchmarks/package.py --each          each extra by itself as well

Sizes are of everything that came with it, without pip. Times are processor time, the smallest of five, of a
new process with bytecode compiled.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

PROJECT = Path(__file__).parents[1]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--each", action="store_true", help="each extra by itself as well")
    each = parser.parse_args().each
    extras = list(
        tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    )
    with tempfile.TemporaryDirectory() as folder:
        wheel = build(Path(folder))
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB\n")
        print("| installed | version | size | of which | `import duelmatch` | `--version` | `winners` |")
        print("|---|---|---|---|---|---|---|")
        row("base", wheel, [])
        for extra in extras if each else ():
            row(extra, wheel, [extra])
        row("all extras", wheel, extras)


if __name__ == "__main__":
    main()
