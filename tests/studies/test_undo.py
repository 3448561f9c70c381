"""Taking an answer back draws nothing anew, and does not bring back what was struck."""

from __future__ import annotations

from pathlib import Path

import pytest

import duelmatch as dm
from duelmatch.errors import ConflictError, NotAllowedError, ProblemError
from duelmatch.studies import Question, Settings, Store

TEAM = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor"])
KINDS = [("panel", 2), ("panel", 3), ("condorcet", 2), ("borda", 3), ("car-cond", 2), ("clucb-borda-pac", 2)]


@pytest.mark.parametrize(("algorithm", "size"), KINDS)
def test_whoever_undoes_is_asked_the_same_again_and_the_same_after_it(
    tmp_path: Path, algorithm: str, size: int
) -> None:
    parameters = {"question_size": size} if size > 2 else {}
    with Store(f"sqlite:///{tmp_path}/duels.db") as store:
        settings = Settings(algorithm, delta=0.2, seed=3, parameters=parameters)
        study = store.create(TEAM, settings, "x", ["Eve", "Ned"])
        eve = study.voters()[0].id
        first = study.ask(eve)
        assert isinstance(first, Question)
        study.tell(eve, first.number, list(first.candidates))
        following = study.ask(eve)
        assert isinstance(following, Question)
        for _ in range(5):
            again = study.undo(eve, first.number)
            assert (again.number, again.candidates) == (first.number, first.candidates)
            study.tell(eve, first.number, list(first.candidates))
            next_one = study.ask(eve)
            assert isinstance(next_one, Question)
            assert (next_one.position, next_one.candidates) == (following.position, following.candidates)


@pytest.mark.parametrize("algorithm", ["panel", "condorcet", "car-cond"])
def test_a_struck_answer_stays_struck_whatever_its_voter_does(tmp_path: Path, algorithm: str) -> None:
    with Store(f"sqlite:///{tmp_path}/duels.db") as store:
        study = store.create(TEAM, Settings(algorithm, delta=0.2, seed=3), "x", ["Eve", "Ned"])
        eve = study.voters()[0].id
        first = study.ask(eve)
        assert isinstance(first, Question)
        study.tell(eve, first.number, first.candidates[0])
        following = study.ask(eve)
        assert isinstance(following, Question)
        study.correct(first.number, None)
        for number in (None, first.number):
            with pytest.raises(ConflictError, match="struck that answer"):
                study.undo(eve, number)
        assert study.tell(eve, first.number, first.candidates[0]).repeated
        with pytest.raises(ConflictError, match="undo the answer first"):
            study.skip(eve, first.number)
        study.tell(eve, following.number, following.candidates[0])
        study.undo(eve, following.number)
        with pytest.raises(ConflictError, match="struck that answer"):
            study.undo(eve)
        study.strike(eve)
        with pytest.raises(NotAllowedError):
            study.undo(eve)
        study.reinstate(eve)
        assert (study.status().counted, study.status().struck) == (0, 1)
        (given,) = study.answers()
        assert (given.question, given.struck, given.counts) == (first.number, True, False)


@pytest.mark.parametrize("algorithm", ["panel", "condorcet"])
def test_an_answer_that_would_not_be_asked_again_is_not_taken_back(tmp_path: Path, algorithm: str) -> None:
    """Its question would stay open about somebody who withdrew, or whom the judge must not judge."""
    with Store(f"sqlite:///{tmp_path}/duels.db") as store:
        study = store.create(TEAM, Settings(algorithm, delta=0.2, seed=3), "x", ["Eve", "Ned"])
        eve, ned = (voter.id for voter in study.voters())
        asked = {}
        for voter in (eve, ned):
            question = study.ask(voter)
            assert isinstance(question, Question)
            study.tell(voter, question.number, question.candidates[0])
            asked[voter] = question
        given = study.status().answers
        study.conflict(ned, [asked[ned].candidates[1]])
        study.drop(asked[eve].candidates[0])
        for voter, sentence in ((eve, "withdrew"), (ned, "withdrew|does not judge")):
            for number in (None, asked[voter].number):
                with pytest.raises(ConflictError, match=sentence):
                    study.undo(voter, number)
        assert study.status().answers == given
        study.clear_conflict(ned, [asked[ned].candidates[1]])
        with pytest.raises(ProblemError, match="zoe"):
            study.clear_conflict(ned, ["zoe"])
