"""Messy studies end, and nobody ever waits for what nobody can answer."""

from __future__ import annotations

from collections import Counter

import pytest

from studies.messy import run_messy_study


@pytest.mark.parametrize("kind", ["panel", "crowd"])
def test_messy_studies_end_and_nobody_waits_in_vain(url: str, kind: str) -> None:
    """Most of them with SQLite, which makes no difference; ``benchmarks/messy.py`` plays many more."""
    acts: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    sqlite = url.startswith("sqlite")
    for seed in range(6) if sqlite else (6, 7):
        played = run_messy_study(url, kind, seed)
        acts += played.acts
        ends[played.status] += 1
    if sqlite:
        assert {"tell", "undo", "strike", "correct", "strike answer", "drop", "add", "close"} <= set(acts)
        assert kind == "crowd" or len(ends) > 1, "most crowds are too small to be sure"
