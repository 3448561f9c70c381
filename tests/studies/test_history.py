"""The history of a study: the same however often and in whatever pieces the log is read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from duelmatch.studies import Study
from duelmatch.studies.history import SPACING
from duelmatch.studies.values import FARTHEST
from studies.playing import question_for, replayed, vote


@pytest.mark.parametrize("algorithm", ["condorcet", "borda", "car-cond"])
def test_it_is_the_same_in_pieces_and_at_once(new_study: Callable[..., Study], algorithm: str) -> None:
    study = new_study(algorithm=algorithm, delta=1e-12)
    assert study.history().points == []
    voter = study.add_voter()
    for votes in (1, 5, 60, 20):
        for _ in range(votes):
            vote(study, voter)
        study.history()
    history = study.history()
    assert history == replayed(study.log()).history()
    assert sum(history.hours.values()) == 86
    steps = [point.votes for point in history.points]
    assert steps == sorted(set(steps))
    assert steps[-1] == study.status().progress.duels
    assert history.points[-1].decided == 1 - len(study.status().progress.undecided) / len(study.problem.edges)


def test_it_is_about_the_votes_that_count(new_study: Callable[..., Study]) -> None:
    study = new_study(algorithm="condorcet", delta=1e-12, parameters={"batch": 1})
    ann, bob = study.add_voter(), study.add_voter()
    for _ in range(20):
        vote(study, ann)
        vote(study, bob)
    assert study.history().points[-1].votes == 40
    study.invalidate(bob)
    assert study.history().points[-1].votes == study.status().progress.duels <= 20


def test_looks_become_rare(new_study: Callable[..., Study]) -> None:
    study = new_study(algorithm="condorcet", delta=1e-12)
    voter = study.add_voter()
    for _ in range(10 * SPACING):
        question = question_for(study, voter)
        study.tell(voter, question.number, question.left)  # which is left is as good as chance
    assert len(study.history().points) < 4 * SPACING + 1


@pytest.mark.parametrize("algorithm", ["condorcet", "borda", "car-cond"])
def test_votes_to_go_are_never_absurd(new_study: Callable[..., Study], algorithm: str) -> None:
    study = new_study(algorithm=algorithm, delta=0.2)
    voter = study.add_voter()
    assert study.status().votes_left is None
    while not (status := study.status()).done and status.counted < 80:
        left = status.votes_left
        assert left is None or 1 <= left <= FARTHEST * status.counted
        vote(study, voter)
    assert not status.done or status.votes_left == 0


def test_no_more_votes_are_to_go_than_were_planned(new_study: Callable[..., Study]) -> None:
    study = new_study(algorithm="condorcet", delta=1e-12, max_votes=30)
    voter = study.add_voter()
    for done in range(30):
        assert study.status().votes_left in range(1, 31 - done)
        vote(study, voter)
    assert study.status().votes_left == 0
