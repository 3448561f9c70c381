"""``duelmatch examples`` and ``algorithms``: what comes with the package."""

from __future__ import annotations

from typing import Any

import duelmatch as dm
from duelmatch.explorers.catalogue import DEFAULT
from terminal import read, run


def test_examples_are_listed_with_their_question() -> None:
    rows = read("examples")["examples"]
    assert [row["name"] for row in rows] == list(dm.instances.example_names())
    assert all(row["question"].endswith("?") for row in rows)


def test_an_example_can_be_printed_and_used_as_a_file(write: Any) -> None:
    path = write(run("examples", "models").stdout)
    assert dm.load_preferences(path) == dm.instances.example("models")


def test_examples_have_both_winners_and_are_explained() -> None:
    for name in dm.instances.example_names():
        prefs = dm.instances.example(name)
        assert prefs.borda_margin() > 0.005, name
        assert prefs.condorcet_winner() is not None, name
        assert set(prefs.problem.candidate_details) == set(prefs.problem.candidates), name
        if name != "real-votes":  # it is as it was found
            assert not prefs.problem.graph.is_complete, name
            assert all(0.2 <= probability <= 0.8 for _, probability in prefs.items()), name


def test_filling_the_lineup_slot_by_slot_is_wrong() -> None:
    prefs = dm.instances.example("lineup")
    chosen: dict[str, str] = {}
    for position in prefs.problem.positions:
        free = [c for c, p in prefs.problem.edges if p == position and c not in chosen.values()]
        beats_all = [c for c in free if all(prefs.probability(position, c, d) >= 0.5 for d in free)]
        chosen[position] = beats_all[0]
    assert chosen["sunset"] == "foxes"
    winner = prefs.condorcet_winner()
    assert winner is not None
    assert winner["headline"] == "foxes"
    assert prefs.score(chosen, winner) < 0.5


def test_the_two_winners_of_the_prizes_differ() -> None:
    prefs = dm.instances.example("prizes")
    assert prefs.borda_winner() != prefs.condorcet_winner()


def test_algorithms_are_listed_and_one_is_the_default() -> None:
    rows = read("algorithms")["algorithms"]
    assert [row["name"] for row in rows] == list(dm.algorithms())
    assert [row["name"] for row in rows if row["default"]] == [DEFAULT]
