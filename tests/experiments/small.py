"""A small experiment that many tests run: two problems, two algorithms, two deltas, quick runs."""

from __future__ import annotations

from pathlib import Path

TOML = """
title = "Small"
seed = 7
repetitions = {repetitions}
deltas = [0.2, 0.05]
max_duels = 100_000

[[problems]]
name = "even"
generator = "equal_gaps"
positions = 2
gap = [0.3, 0.45]

[[algorithms]]
name = "clucb-borda-pac"
epsilon = 0.2

[[algorithms]]
name = "car-cond"
"""


def small_file(folder: Path, repetitions: int = 6, algorithms: int = 2, **replaced: str) -> Path:
    """Write the experiment into a folder; ``replaced`` maps a key at the top to its new value."""
    text = TOML.format(repetitions=repetitions)
    if algorithms == 1:
        text = text[: text.rindex("[[algorithms]]")]
    for key, value in replaced.items():
        lines = [f"{key} = {value}" if line.startswith(f"{key} = ") else line for line in text.splitlines()]
        text = "\n".join(lines)
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path
