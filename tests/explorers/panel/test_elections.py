"""With one position a panel is an election: the verdicts are those of pref_voting, another implementation.

``elections.jsonl`` has what pref_voting 1.18.2 says of a thousand random elections; see record_elections.py.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import duelmatch as dm

ELECTIONS = Path(__file__).with_name("elections.jsonl")


def elections() -> list[dict[str, Any]]:
    return [json.loads(line) for line in ELECTIONS.read_text(encoding="utf-8").splitlines()]


def answers_of(election: dict[str, Any]) -> list[dm.Answer]:
    answers = []
    for number, (ranking, count) in enumerate(zip(election["rankings"], election["counts"], strict=True)):
        groups = [
            tuple(f"c{i}" for i, place in enumerate(ranking) if place == level)
            for level in sorted(set(ranking))
        ]
        answers.append(dm.Answer("seat", groups, f"v{number}", float(count)))
    return answers


def number_of(matching: dm.Matching | None) -> int:
    assert matching is not None
    return int(matching["seat"].removeprefix("c"))


def test_the_verdicts_are_those_of_pref_voting() -> None:
    seen = Counter[str]()
    for number, election in list(enumerate(elections()))[::2]:
        problem = dm.Problem.complete([f"c{i}" for i in range(len(election["rankings"][0]))], ["seat"])
        answers, consistent = answers_of(election), number % 5 > 0
        found = dm.decide(problem, answers, "condorcet", consistent).result
        expected = "no_winner"
        if election["weak"]:
            expected = "unbeaten" if election["condorcet"] is None else "decided"
        assert found.status == expected, number
        assert number_of(found.matching) in (election["weak"] or election["minimax"]), number
        defeat = max(election["defeat"], 0) / 2 / sum(election["counts"])
        assert found.shortfall == pytest.approx(defeat), number
        score = dm.decide(problem, answers, "borda", consistent).result
        assert score.status == ("decided" if len(election["borda"]) == 1 else "tied"), number
        assert number_of(score.matching) in election["borda"], number
        seen.update([f"condorcet {found.status}", f"borda {score.status}"])
    assert sum(seen.values()) == 1000
    assert min(seen.values()) > 10
    assert len(seen) == 5


def test_the_shares_of_a_panel_say_the_same() -> None:
    for number, election in enumerate(elections()[::4]):
        problem = dm.Problem.complete([f"c{i}" for i in range(len(election["rankings"][0]))], ["seat"])
        answers = answers_of(election)
        panel = dm.Panel(
            problem,
            {(answer.voter or "", "seat"): answer.ranking for answer in answers},
            voter_weight={answer.voter or "": int(answer.weight) for answer in answers},
        )
        prefs = panel.preferences()
        matching, loss = prefs.least_beaten()
        assert number_of(matching) in election["minimax"], number
        assert loss == pytest.approx(max(election["defeat"], 0) / 2 / sum(election["counts"])), number
        assert number_of(prefs.borda_winner()) in election["borda"], number
