"""What a change would do is what it does, and asking changes nothing."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from duelmatch.errors import NotAllowedError, NotThereError, ProblemError
from duelmatch.studies import Question, Study
from studies.playing import check_log

NewStudy = Callable[..., Study]


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
