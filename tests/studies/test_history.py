"""The history of a study: the same however often and in whatever pieces the log is read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from duelmatch.studies import Question, Study
from duelmatch.studies.kinds import SPACING
from studies.playing import question_for, replayed, vote


@pytest.mark.parametrize("algorithm", ["condorcet", "panel", "car-cond"])
def test_it_is_the_same_in_pieces_and_at_once(new_study: Callable[..., Study], algorithm: str) -> None:
    study = new_study(algorithm=algorithm, delta=1e-12, voters=[str(number) for number in range(20)])
    assert study.history().points == []
    voters = [voter.id for voter in study.voters()]
    told = 0
    for turn in range(80):
        question = study.ask(voters[turn % 20])
        if isinstance(question, Question):
            study.tell(question.voter, question.number, min(question.candidates))
            told += 1
        if turn % 7 == 0:
            study.history()
    history = study.history()
    assert history.points == replayed(study.entries()).kind.points
    assert sum(history.hours.values()) == told
    steps = [point.answers for point in history.points]
    assert steps == sorted(set(steps))
    assert steps[-1] == study.status().progress.duels
    (known,) = {
        name
        for name in ("sure", "decided", "shortfall")
        if all(getattr(point, name) is not None for point in history.points)
    }
    assert known == {"condorcet": "sure", "panel": "shortfall", "car-cond": "decided"}[algorithm]


def test_it_is_about_the_answers_that_count(new_study: Callable[..., Study]) -> None:
    study = new_study(delta=1e-12)
    ann, bob = study.add_voter(), study.add_voter()
    for _ in range(20):
        vote(study, ann)
        vote(study, bob)
    assert study.history().points[-1].answers > 30
    study.strike(bob)
    assert study.history().points[-1].answers == study.status().progress.duels <= 20


@pytest.mark.parametrize("algorithm", ["condorcet", "panel", "car-cond"])
def test_what_was_taken_back_is_no_answer(new_study: Callable[..., Study], algorithm: str) -> None:
    study = new_study(algorithm=algorithm, delta=1e-12, voters=["eve", "ned"])
    eve = study.voters()[0].id
    for _ in range(2):
        vote(study, eve)
    told = study.status().answers
    study.undo(eve)
    assert study.status().answers == told - 1
    points = study.history().points
    assert not points or points[-1].answers == study.status().progress.duels <= told - 1


def test_looks_become_rare(new_study: Callable[..., Study]) -> None:
    study = new_study(delta=1e-12)
    voter = study.add_voter()
    for _ in range(10 * SPACING):
        question = question_for(study, voter)
        study.tell(voter, question.number, question.candidates[0])  # which is first is as good as chance
    assert len(study.history().points) < 4 * SPACING + 1
