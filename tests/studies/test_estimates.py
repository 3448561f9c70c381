"""Standings and forecasts are of all answers that count, and kept; to preview a change changes nothing."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from duelmatch.errors import NotAllowedError, NotThereError, ProblemError
from duelmatch.explorers.result import Forecast
from duelmatch.studies import AnswersLeft, Estimates, Question, Study
from studies.playing import check_log, question_for

NewStudy = Callable[..., Study]


@pytest.mark.parametrize("algorithm", ["panel", "condorcet", "borda", "car-cond"])
def test_all_answers_that_count_are_in_the_estimates(new_study: NewStudy, algorithm: str) -> None:
    study = new_study(algorithm=algorithm, voters=["A", "B", "C"])
    voters = [voter.id for voter in study.voters()]
    before = study.estimates(0.1)
    assert (before.standings, before.answers) == (None, 0)
    assert (before.forecast is None) == (algorithm == "car-cond")
    for turn in range(9):
        question = study.ask(voters[turn % 3])
        if isinstance(question, Question):
            study.tell(question.voter, question.number, min(question.candidates))
    found = study.estimates(0.1)
    assert found.standings is not None
    assert found.answers == study.status().counted
    assert set(found.standings.leader) == set(study.problem.positions)
    for position in study.problem.positions:
        shares = [share for (_, place), share in found.standings.probability.items() if place == position]
        assert sum(shares) == pytest.approx(1.0)
    study.strike(voters[0])
    fewer = study.estimates(0.1)
    assert fewer.answers < found.answers
    assert fewer.standings is not None
    assert fewer.standings.answers < found.standings.answers


def test_estimates_are_kept_until_something_changes(new_study: NewStudy) -> None:
    study = new_study(algorithm="panel", voters=["A", "B", "C"])
    voter = study.voters()[0].id
    question = question_for(study, voter)
    study.tell(voter, question.number, question.candidates[0])
    found = study.estimates(0.1)
    open_question = question_for(study, voter)
    study.pause()
    study.resume()
    assert study.estimates(0.1) is found
    assert study.latest_estimates() == (found, True)
    study.tell(voter, open_question.number, open_question.candidates[0])
    assert study.latest_estimates() == (found, False)
    assert study.estimates(0.1).answers == 2


def test_another_process_can_be_given_a_moment(new_study: NewStudy) -> None:
    for algorithm in ("panel", "condorcet", "car-cond"):
        study = new_study(algorithm=algorithm, voters=["A", "B", "C"])
        voter = study.voters()[0].id
        question = question_for(study, voter)
        study.tell(voter, question.number, question.candidates[0])
        sent = pickle.loads(pickle.dumps(study.moment()))
        assert sent.estimated(0.1).standings == study.moment().estimated(0.1).standings


def test_what_is_left_follows_the_answers_since(new_study: NewStudy) -> None:
    study = new_study(algorithm="panel", voters=["A", "B", "C"])
    status = study.status()
    known = Estimates(1, -10, None, Forecast(9, 30, 45, 60, None))
    assert status.answers_left(known) == AnswersLeft(20, 35, 50, None)
    assert status.answers_left(Estimates(1, -40, None, known.forecast)) == AnswersLeft(1, 5, 20, None)
    beyond = Forecast(9, 30, None, None, 400)
    assert status.answers_left(Estimates(1, -10, None, beyond)) == AnswersLeft(20, None, None, 390)
    assert status.answers_left(None) is None
    planned = new_study(algorithm="panel", voters=["A", "B", "C"], max_answers=30).status()
    assert planned.answers_left(known) == AnswersLeft(20, 30, 30, None)
    assert planned.answers_left(None) == AnswersLeft(None, None, 30, None)
    assert (status.outcome, status.result.status) == ("undecided", "budget_spent")
    study.close()
    assert study.status().outcome == "budget_spent"


def voted(study: Study, answers: int = 12) -> list[str]:
    """Let three voters answer; the third is against the others."""
    voters = [voter.id for voter in study.voters()]
    for turn in range(answers):
        question = study.ask(voters[turn % 3])
        if isinstance(question, Question):
            pick = max if turn % 3 == 2 else min
            study.tell(question.voter, question.number, pick(question.candidates))
    return voters


@pytest.mark.parametrize("algorithm", ["panel", "condorcet"])
def test_the_preview_of_a_change_is_what_comes(new_study: NewStudy, algorithm: str) -> None:
    study = new_study(algorithm=algorithm, voters=["A", "B", "C"])
    voters = voted(study)
    entries = study.end()
    found = pickle.loads(pickle.dumps(study.preview("strike", voters[2])))()
    answer = study.preview("strike_answer", study.answers(limit=1)[0].question)()
    assert study.end() == entries
    assert found.before.answers == study.status().counted
    assert answer.after.answers == found.before.answers - 1
    study.strike(voters[2])
    assert found.after.answers == study.status().counted < found.before.answers
    after = study.status()
    assert found.after.certain == (after.result.status != "budget_spent")
    standings = study.estimates(0.1).standings
    assert standings is not None
    assert found.after.lineup == (after.result.matching if found.after.certain else standings.leader)
    back = study.preview("reinstate", voters[2])()
    assert back.after.answers == found.before.answers
    check_log(study)


def test_a_candidate_who_would_leave_is_in_no_lineup(new_study: NewStudy) -> None:
    study = new_study(algorithm="panel", voters=["A", "B", "C"])
    voters = voted(study)
    before = study.preview("leave", voters[0])().before.lineup
    assert before is not None
    name = before["chair"]
    after = study.preview("drop", name)().after.lineup
    assert after is not None
    assert name not in after.values()
    with pytest.raises(ProblemError):
        study.preview("drop", "nobody")()


def test_what_cannot_be_is_refused(new_study: NewStudy) -> None:
    study = new_study(algorithm="panel", voters=["A"])
    with pytest.raises(NotThereError, match="no voter"):
        study.preview("strike", "f" * 16)
    with pytest.raises(NotThereError, match="no question"):
        study.preview("strike_answer", 7)
    rounds = new_study(algorithm="car-cond", voters=["A"])
    with pytest.raises(NotAllowedError, match="beforehand"):
        rounds.preview("strike", rounds.voters()[0].id)
