"""The same log gives the same state and the same next question, whatever is in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import duelmatch as dm
from duelmatch.errors import ConflictError, NotAllowedError
from duelmatch.explorers.engine import Round
from duelmatch.studies import Question, Settings, Store, Study
from duelmatch.studies.course import Course, pair_of
from studies.playing import check_every_question, check_log

PROBLEM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
ACTIONS = (
    *("vote",) * 12,
    *("tie", "leave", "skip", "undo", "undo", "release"),
    *("invalidate", "reinstate", "correct", "strike", "pause", "resume", "close", "reopen", "late"),
)


@pytest.fixture(scope="module")
def file_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    path: Path = tmp_path_factory.mktemp("replay") / "duels.db"
    return Store(f"sqlite:///{path}")


def act(study: Study, action: str, voter: int, number: int) -> None:
    """Do something, if it is possible."""
    answered = list(study.board().answers)
    one = answered[number % len(answered)] if answered else None
    match action:
        case "pause" | "resume" | "close" | "reopen":
            getattr(study, action)()
        case "invalidate" | "reinstate":
            getattr(study, action)(voter)
        case "undo":
            study.undo(voter)
        case "strike" if one is not None:
            study.correct(one, None)
        case "correct" if one is not None:
            answer = study.board().answers[one]
            study.correct(one, study.problem.edges[answer.loser][0])
        case "late":
            log = study.log()
            asked = {e.question: e for e in log if e.kind == "asked"}
            released = [e.question for e in log if e.kind == "released"]
            if released:
                entry = asked[released[number % len(released)]]
                study.tell(entry.voter, entry.question, study.problem.edges[entry.one][0])  # type: ignore
        case _:
            question = study.ask(voter)
            if isinstance(question, Question):
                answer_it(study, action, question, number)


def answer_it(study: Study, action: str, question: Question, number: int) -> None:
    match action:
        case "vote":
            winner = (question.left, question.right)[number % 2]
            study.tell(question.voter, question.number, winner)
        case "tie":
            study.tell(question.voter, question.number, None)
        case "skip":
            study.skip(question.voter, question.number)
        case "release":
            study.release(question.voter, question.number)


@given(
    algorithm=st.sampled_from(dm.algorithms("crowd")),
    actions=st.lists(
        st.tuples(st.sampled_from(ACTIONS), st.integers(1, 3), st.integers(0, 1000)), min_size=5, max_size=60
    ),
    drop_at=st.one_of(st.none(), st.integers(0, 60)),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_the_log_replays(
    file_store: Store, algorithm: str, actions: list[tuple[str, int, int]], drop_at: int | None
) -> None:
    study = file_store.create(PROBLEM, Settings(algorithm, delta=0.3, ahead=4), "x")
    for _ in range(3):
        study.add_voter()
    for place, (action, voter, number) in enumerate(actions):
        try:
            if place == drop_at:
                study.drop("cyd")
            act(study, action, voter, number)
        except (ConflictError, NotAllowedError):
            pass
    check_log(study)
    check_every_question(study.log())


@pytest.mark.parametrize("algorithm", dm.algorithms("crowd"))
def test_the_explorer_gets_what_it_would_get_from_one_person_alone(algorithm: str) -> None:
    """Answers that come in the order in which they are asked are used as the explorer itself would."""
    course = Course(PROBLEM, (), Settings(algorithm, delta=0.3))
    alone = dm.explorer(algorithm, PROBLEM, delta=0.3)
    chance = np.random.default_rng(7)
    for question in range(400):
        asked = alone.ask(1)
        if not asked:
            break
        (duel,) = asked
        winner = duel.first if chance.random() < 0.6 else duel.second
        loser = duel.second if winner == duel.first else duel.first
        alone.tell(duel, winner)
        course.push(question, *(PROBLEM.edge_number(name, duel.position) for name in (winner, loser)))
        while course.ready:
            course.run.tell_wins(course.take())
            course.install()
    assert course.run.progress.leader == alone.progress.leader
    assert course.run.progress.accepted == alone.progress.accepted
    assert course.run.result.status == alone.result.status
    assert alone.duels - course.run.duels == course.answers - course.run.duels


def test_questions_for_several_purposes_go_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The k-th answer to a question belongs to the k-th of its duels, in the order of the round."""
    course = Course(PROBLEM, (), Settings("car-cond"))
    first, second = np.array([0, 0, 1]), np.array([1, 1, 0])
    wanted = Round(first, second, np.array([2, 1, 1]), order=lambda: np.array([0, 1, 2, 0]))
    monkeypatch.setattr(course.run, "wanted", lambda: wanted)
    course.install()
    assert course.missing == 4
    for question, winner in enumerate([0, 1, 1, 0]):
        course.push(question, winner, 1 - winner)
    assert course.ready
    assert course.take().tolist() == [2, 0, 1]


def test_answers_beyond_what_a_round_wants_wait_for_the_next() -> None:
    course = Course(PROBLEM, (), Settings("car-cond"))
    edges = [pair_of(a, b) for a in range(3) for b in range(a)] + [
        pair_of(a, b) for a in (3, 4, 5) for b in range(3, a)
    ]
    for question in range(5):
        course.push(question, *edges[0])
    for question, pair in enumerate(edges[1:], start=10):
        course.push(question, *pair)
    used = 0
    while course.ready:
        course.run.tell_wins(course.take())
        course.install()
        used = course.run.duels
    assert used >= 6
    assert course.answers == 10
