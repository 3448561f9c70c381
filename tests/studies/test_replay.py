"""The same log gives the same state and the same next question, whatever is in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import duelmatch as dm
from duelmatch.errors import ConflictError, NotAllowedError
from duelmatch.explorers.engine import Round
from duelmatch.studies import Question, Settings, Store, Study
from duelmatch.studies.kinds.stacks import Pair, Stacks
from studies.playing import check_every_question, check_log

PROBLEM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
IN_ROUNDS = [name for name in dm.algorithms() if Settings(name).kind == "rounds"]
ACTIONS = (
    *("vote",) * 12,
    *("tie", "leave open", "skip", "undo", "undo", "release", "late", "newcomer"),
    *("strike", "reinstate", "correct", "strike answer", "pause", "resume", "close", "reopen"),
    *("leave", "come back", "conflict", "clear", "add"),
)


@pytest.fixture(scope="module")
def file_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    path: Path = tmp_path_factory.mktemp("replay") / "duels.db"
    return Store(f"sqlite:///{path}")


def act(study: Study, action: str, place: int, number: int) -> None:
    """Do something, if it is possible."""
    answered = study.answers(limit=None)
    one = answered[number % len(answered)] if answered else None
    voters = [voter.id for voter in study.voters()]
    voter = voters[place % len(voters)]
    match action:
        case "pause" | "resume" | "close" | "reopen":
            getattr(study, action)()
        case "strike" | "reinstate" | "undo" | "leave":
            getattr(study, action)(voter)
        case "come back":
            study.come_back(voter)
        case "newcomer":
            study.add_voter()
        case "conflict":
            study.conflict(voter, [PROBLEM.candidates[number % 3]])
        case "clear":
            study.clear_conflict(voter, [PROBLEM.candidates[number % 3]])
        case "add":
            study.add(f"late{number % 2}", ["chair"])
        case "strike answer" if one is not None:
            study.correct(one.question, None)
        case "correct" if one is not None:
            study.correct(one.question, one.answer[::-1], clerical=number % 2 == 0)
        case "late":
            released = [entry.data["question"] for entry in study.entries() if entry.kind == "released"]
            asked = {e.data["question"]: e for e in study.entries() if e.kind == "asked"}
            if released:
                entry = asked[released[number % len(released)]]
                study.tell(entry.voter or "", entry.data["question"], entry.data["candidates"][0])
        case _:
            question = study.ask(voter)
            if isinstance(question, Question):
                answer_it(study, action, question, number)


def answer_it(study: Study, action: str, question: Question, number: int) -> None:
    match action:
        case "vote":
            study.tell(question.voter, question.number, question.candidates[number % 2])
        case "tie":
            study.tell(question.voter, question.number, None)
        case "skip":
            study.skip(question.voter, question.number)
        case "release":
            study.release(question.voter, question.number)


@example("condorcet", [(action, 0, 0) for action in ("vote", "conflict", "clear", "vote")], None)
@given(
    algorithm=st.sampled_from([*IN_ROUNDS, *("panel", "condorcet", "borda") * 3]),
    actions=st.lists(
        st.tuples(st.sampled_from(ACTIONS), st.integers(0, 3), st.integers(0, 1000)), min_size=5, max_size=60
    ),
    drop_at=st.one_of(st.none(), st.integers(0, 60)),
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_the_log_replays(
    file_store: Store, algorithm: str, actions: list[tuple[str, int, int]], drop_at: int | None
) -> None:
    study = file_store.create(PROBLEM, Settings(algorithm, delta=0.3, ahead=4, seed=3), "x", ["A", "B", "C"])
    for place, (action, voter, number) in enumerate(actions):
        try:
            if place == drop_at:
                study.drop("cyd")
            act(study, action, voter, number)
        except (ConflictError, NotAllowedError, dm.ProblemError):
            pass
    check_log(study)
    check_every_question(study.entries())


def pair_of(problem: dm.Problem, duel: dm.Duel) -> Pair:
    low, high = sorted(map(problem.candidate_number, duel.candidates))
    return problem.position_number(duel.position), low, high


@pytest.mark.parametrize("algorithm", IN_ROUNDS)
def test_the_run_gets_what_it_would_get_from_one_person_alone(algorithm: str) -> None:
    """Answers that come in the order in which they are asked are used as the explorer itself would."""
    stacks = Stacks(PROBLEM, (), Settings(algorithm, delta=0.3, seed=0))
    alone = dm.explorer(algorithm, PROBLEM, delta=0.3, seed=0)
    chance = np.random.default_rng(7)
    for question in range(400):
        asked = alone.ask(1)
        if not asked:
            break
        (duel,) = asked
        winner = [duel.first, duel.second, None][chance.choice(3, p=[0.5, 0.4, 0.1])]
        alone.tell(duel, winner)
        pair = pair_of(PROBLEM, duel)
        value = 0.5 if winner is None else float(PROBLEM.candidate_number(winner) == pair[1])
        stacks.push(question, pair, value)
        while stacks.complete:
            stacks.play(*stacks.take())
            stacks.install()
    assert stacks.run.progress.leader == alone.progress.leader
    assert stacks.run.progress.accepted == alone.progress.accepted
    assert stacks.run.result.status == alone.result.status
    assert alone.duels - stacks.run.duels == stacks.answers - stacks.run.duels


JURY = dm.Problem.complete(
    ["ann", "bob", "cyd", "dee"],
    ["chair", "jury"],
    capacity={"dee": 2},
    seats={"jury": 2},
    weight={"chair": 2},
    rules=[dm.Rule(of=["ann", "bob"], at_most=1)],
)
OFFICES = dm.Problem.complete(
    ["ann", "bob", "cyd"], ["chair", "editor"], capacity={"ann": 2}, weight={"chair": 2}
)


@pytest.mark.parametrize("algorithm", IN_ROUNDS)
def test_a_study_in_rounds_takes_the_conditions_its_algorithm_takes(
    file_store: Store, algorithm: str
) -> None:
    """From creation to the result: all say that who comes first in the alphabet is better."""
    borda = algorithm.startswith("clucb")
    problem = JURY if borda else OFFICES
    parameters = {"epsilon": 0.3} if algorithm == "clucb-borda-pac" else {}
    chosen = Settings(algorithm, delta=0.3, parameters=parameters, seed=1)
    if not borda:
        with pytest.raises(dm.ProblemError, match=f"{algorithm} cannot take seats and rules: accepted"):
            file_store.create(JURY, chosen, "x")
    study = file_store.create(problem, chosen, "x")
    voter, _ = study.join()
    stacks = Stacks(problem, (), chosen)
    question = 0
    while not stacks.over:
        for pair in stacks.lacking():
            question += 1
            stacks.push(question, pair, 1.0)
        while stacks.complete:
            stacks.play(*stacks.take())
            stacks.install()
        assert question < 5_000_000
    for _ in range(1_000 if algorithm == "car-cond" else 12):
        asked = study.ask(voter)
        if not isinstance(asked, Question):
            break
        study.tell(voter, asked.number, min(asked.candidates))
    check_log(study)
    if algorithm == "car-cond":
        assert study.status().result == stacks.run.result
    assert stacks.run.result.status == "certified" or parameters
    best = {"chair": "ann", "jury": ("cyd", "dee")} if borda else {"chair": "ann", "editor": "ann"}
    assert stacks.run.result.matching == dm.Matching(best)


def test_questions_for_several_purposes_go_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The k-th answer to a question belongs to the k-th of its duels, in the order of the round."""
    stacks = Stacks(PROBLEM, (), Settings("car-cond"))
    first, second = np.array([0, 0, 1]), np.array([1, 1, 0])
    wanted = Round(first, second, np.array([2, 1, 1]), order=lambda: np.array([0, 1, 2, 0]))
    monkeypatch.setattr(stacks.run, "wanted", lambda: wanted)
    stacks.install()
    assert stacks.missing == 4
    for question, value in enumerate([1.0, 0.0, 0.0, 0.5]):
        stacks.push(question, (0, 0, 1), value)
    assert stacks.complete
    wins, ties = stacks.take()
    assert (wins.tolist(), ties.tolist()) == ([1, 0, 1], [1, 0, 0])


def test_answers_beyond_what_a_round_wants_wait_for_the_next() -> None:
    stacks = Stacks(PROBLEM, (), Settings("car-cond"))
    pairs = [(position, low, high) for position in (0, 1) for high in range(3) for low in range(high)]
    for question in range(5):
        stacks.push(question, pairs[0], 1.0)
    for question, pair in enumerate(pairs[1:], start=10):
        stacks.push(question, pair, 1.0)
    while stacks.complete:
        stacks.play(*stacks.take())
        stacks.install()
    assert stacks.run.duels >= 6
    assert stacks.answers == 10
