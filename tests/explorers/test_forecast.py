"""What to expect of a run: ranges that agree with what is known, and words that say it."""

from __future__ import annotations

import numpy as np
import pytest

import duelmatch as dm
from duelmatch.explorers.continuations import continuations
from duelmatch.explorers.forecasting import forecast
from duelmatch.explorers.panel.model import drawn_times
from duelmatch.explorers.panel.state import UNKNOWN
from duelmatch.explorers.result import Forecast

TEAM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
JUDGES = ["eve", "ned", "zoe", "kim", "leo"]


def test_a_panel_takes_from_the_fewest_to_all_answers() -> None:
    run = dm.explorer("panel", TEAM, voters=JUDGES)
    found = forecast(run, minutes=15, simulations=9)
    assert found.fewest is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.fewest <= found.low <= (found.middle or 0) <= found.high <= (found.most or 0) == 30
    assert (found.voters, found.questions_each, found.seconds_each) == (5, 30, 30.0)
    assert (found.certain, found.best, found.simulated) == (1.0, 1.0, None)
    assert forecast(run, minutes=15, simulations=9) == found, "the same seed, the same forecast"
    assert not run.duels
    assert not run.open_duels
    hurried = forecast(run, minutes=0.5, simulations=9)
    assert (hurried.questions_each, hurried.certain, hurried.planned) == (1, 0.0, 5)
    assert (hurried.low, hurried.high) == (found.low, found.high)


@pytest.mark.parametrize("algorithm", ["car-cond", "car-parallel", "condorcet"])
def test_a_run_with_a_budget_goes_on_until_it_is_spent(algorithm: str) -> None:
    rounds: list[int] = []
    run = dm.explorer(algorithm, TEAM, 0.1, seed=1, max_duels=30)
    for each in continuations(run, 2, None, np.random.default_rng(1)):
        while each.step():
            rounds.append(each.answers)
            assert len(rounds) < 1_000, "it goes on for ever"
        assert (each.answers, each.certain) == (30, False)
    assert rounds
    found = forecast(run, simulations=9)
    assert (found.simulated, found.middle) == (30, None)


def test_what_was_said_is_taken_into_account() -> None:
    run = dm.explorer("panel", TEAM, voters=JUDGES)
    before = forecast(run, simulations=9)
    for _ in range(8):
        for question in run.ask(1):
            run.tell(question, min(question.candidates))
    after = forecast(run, simulations=9)
    assert (before.begun, after.begun) == (False, True)
    assert (after.high or 99) < (before.high or 0)
    while not run.done:
        for question in run.ask(1):
            run.tell(question, min(question.candidates))
    over = forecast(run, simulations=9)
    assert (over.low, over.middle, over.high) == (0, 0, 0)
    assert "The result is certain already." in over.sentences()


def test_a_voter_of_a_crowd_has_one_ballot() -> None:
    run = dm.explorer("borda", TEAM, seed=1, ballot_size=6, max_duels=60)
    found = forecast(run, voters=8, minutes=60, simulations=9)
    assert (found.voters, found.questions_each, found.planned, found.certain) == (8, 6, 48, 0.0)
    assert (found.low, found.simulated, found.fewest, found.most) == (None, 60, None, None)
    assert forecast(run, voters=8, minutes=1, simulations=9).planned == 16
    many = forecast(run, voters=80, simulations=9)
    assert (many.planned, many.questions_each) == (60, 6)
    assert not run.of_voters, "the run itself has not begun"
    ballots = run.ballots
    for voter in range(3):
        for question in ballots.ask(6, voter=f"v{voter}"):
            ballots.tell(question, min(question.candidates))
    begun = ballots.ask(1, voter="late")
    on = forecast(ballots, simulations=9)
    assert on.simulations == 9
    assert ballots.open_questions == tuple(begun)


def test_a_run_in_rounds_is_simulated_from_its_beginning_only() -> None:
    run = dm.explorer("car-cond", TEAM, delta=0.3, seed=1)
    found = forecast(run, simulations=9, seconds=0.2)
    assert found.simulations == 9
    assert found.certain is None
    run.tell(run.ask(1)[0], None)
    with pytest.raises(dm.ProblemError, match="only before its first answer"):
        forecast(run)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"voters": 0}, "voters must be a number above 0, not 0."),
        ({"minutes": -1}, "minutes must be a number above 0, not -1."),
        ({"seconds_each": float("nan")}, "seconds_each must be a number above 0, not nan."),
        ({"simulations": 3}, "A forecast takes 9 simulations or more, not 3."),
    ],
)
def test_numbers_out_of_range_are_refused(values: dict[str, float], sentence: str) -> None:
    with pytest.raises(dm.ProblemError, match=sentence):
        forecast(dm.explorer("panel", TEAM, voters=JUDGES), **values)  # type: ignore[arg-type]
    with pytest.raises(dm.ProblemError, match="A forecast is of a run"):
        forecast(TEAM)


def test_judges_are_drawn_in_the_order_that_they_have_given() -> None:
    problem = dm.Problem.complete(["a", "b", "c", "d"], ["x"])
    table = problem.graph.pair_table
    opinion = np.full((300, table.count), UNKNOWN, dtype=np.int8)
    opinion[:, table.number_of(1, 3)] = 1  # b is better than d
    opinion[:, table.number_of(0, 1)] = -1  # and worse than a
    times = drawn_times(problem.graph, np.array([0.0, 0, 1, 0]), opinion, np.random.default_rng(5))
    assert (times[:, 1] < times[:, 3]).all()
    assert (times[:, 1] < times[:, 0]).all()
    free = drawn_times(
        problem.graph, np.array([0.0, 0, 1, 0]), np.full_like(opinion, UNKNOWN), np.random.default_rng(5)
    )
    # e / (e + 1) = 0.731 of the time; 300 draws have a standard error of 0.026
    assert 0.58 < (free[:, 2] < free[:, 0]).mean() < 0.87


def test_worlds_agree_with_the_answers() -> None:
    run = dm.explorer("panel", TEAM, voters=JUDGES)
    for voter in JUDGES:
        for question in run.ask(2, voter=voter):
            run.tell(question, min(question.candidates))
    known = run.state.opinion != UNKNOWN
    for each in continuations(run, 9, None, np.random.default_rng(3)):
        settled = known.all(axis=0)
        shares = (run.state.opinion[:, settled] == 1).mean(axis=0)
        assert np.allclose(each.table[settled], shares)


def test_what_is_expected_is_said_in_words() -> None:
    words = " ".join(
        Forecast(
            19, 360, 397, None, 2000, 280, 2240, 20, 30, 30.0, 437, 0.84, 0.8, 0.006
        ).sentences()
    )  # fmt: skip
    assert "20 people have time for 30 questions each, at 30 seconds a question." in words
    assert "certain in about 8 of 10 cases" in words
    assert "behind the best by 0.6 votes in 100 at each position" in words
    assert (
        "judges together have to give 360 answers or more, typically about 400, and perhaps more than 2,000."
        in words
    )
    assert "At least about 280 are needed, and at most 2,240." in words
    nothing = Forecast(9, None, None, None, 2500).sentences()
    assert nothing[0].endswith("more than 2,500 answers, as far as can be told.")
    assert "all voters together" in nothing[0]
    begun = Forecast(9, 40, 50, 60, begun=True).sentences()
    assert "40 to 60 more answers in 8 of 10 cases" in begun[0]
    too_few = Forecast(9, None, None, None, 30, 280, 2240).sentences()
    assert "30 " not in too_few[0], "it takes 280 at least"


def test_ranges_hold_about_as_often_as_they_say() -> None:
    """8 of 10 ranges hold on average; how often in hundreds of studies, benchmarks/forecast.py measures."""
    problem = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor"])
    edge = {each: number for number, each in enumerate(problem.edges)}
    inside, below = 0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        strengths = 0.6 * rng.standard_normal(len(edge))
        utility = strengths + rng.gumbel(size=(len(JUDGES), len(edge)))
        run = dm.explorer("panel", problem, voters=JUDGES)
        found, answers = forecast(run, simulations=9, seed=seed), 0
        while not run.done:
            for question in run.ask(1):
                own = utility[JUDGES.index(question.voter or "")]
                liked = max(question.candidates, key=lambda name: own[edge[name, question.position]])
                run.tell(question, liked)
                answers += 1
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= answers <= found.high
        below += answers < found.low
    assert inside >= 12  # P(fewer) = 0.01 for other seeds
    assert 20 - inside - below <= 6
