"""Messy studies end, and nobody ever waits for what nobody can answer."""

from __future__ import annotations

from collections import Counter

import pytest

from studies.messy import run_messy_study


@pytest.mark.parametrize("kind", ["panel", "crowd"])
def test_messy_studies_end_and_nobody_waits_in_vain(url: str, kind: str) -> None:
    acts: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    for seed in range(8):
        played = run_messy_study(url, kind, seed)
        acts += played.acts
        ends[played.status] += 1
    assert {"tell", "undo", "strike", "correct", "strike answer", "drop", "add", "close"} <= set(acts)
    assert kind == "crowd" or len(ends) > 1, "most crowds are too small to be sure"
