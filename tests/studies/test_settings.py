"""What a study can be set to: parameters by name, which its database keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

import duelmatch as dm
from duelmatch.errors import ProblemError, StudyError
from duelmatch.studies import Question, Settings, Store


def test_a_study_takes_a_reference_by_its_name_and_none_by_edge() -> None:
    named = Settings("borda", parameters={"reference": "candidates"})
    assert Settings.from_dict(named.as_dict()) == named
    with pytest.raises(StudyError, match="does not keep a reference given for each edge"):
        Settings("borda", parameters={"reference": {("ann", "chair"): 1.0}})


@pytest.mark.parametrize("name", ["a\nb", "a\x00", "a\x1b[31m", "x" * 201])
def test_names_that_cannot_be_shown_are_refused(tmp_path: Path, name: str) -> None:
    with Store(f"sqlite:///{tmp_path}/duels.db") as store:
        with pytest.raises(StudyError, match="The name of a voter"):
            store.create(dm.Problem.complete(["ann", "bob"], ["chair"]), None, "x", [name])
        study = store.create(dm.Problem.complete(["ann", "bob"], ["chair"]), None, "x", ["eve"])
        with pytest.raises(StudyError, match="The name of a candidate"):
            study.add(name, ["chair"])
    with pytest.raises(ProblemError, match="The name of a voter may have 200 characters at most"):
        dm.explorer("panel", dm.Problem.complete(["ann", "bob"], ["chair"]), voters=[name])


@pytest.mark.parametrize("candidates", [2, 3, 5])
def test_a_ballot_has_the_lease_for_each_question_that_is_left_on_it(tmp_path: Path, candidates: int) -> None:
    now = [1000.0]
    with Store(f"sqlite:///{tmp_path}/duels.db", clock=lambda: now[0]) as store:
        study = store.create(dm.Problem.complete(list("abcde")[:candidates], ["chair"]), None, "x")
        first = study.ask(study.add_voter())
        assert isinstance(first, Question)
        assert first.of is not None
        assert first.expires_at == now[0] + 300 * first.of
        study.tell(first.voter, first.number, first.candidates[0])
        now[0] += 300 * first.of
        heir = study.ask(study.add_voter())
        assert isinstance(heir, Question)
        assert heir.of is not None
        left = first.of - 1 or heir.of  # what was left of the first ballot, or a new one
        assert heir.expires_at == now[0] + 300 * left


def test_only_borda_has_a_reference_and_only_one_that_a_log_can_be_checked_against() -> None:
    assert Settings("borda").settled(False).parameters["reference"] == "decisions"
    assert "reference" not in Settings("condorcet").settled(False).parameters
    with pytest.raises(ProblemError, match="reference must be decisions or candidates, not 'sampled'"):
        Settings("borda", parameters={"reference": "sampled"})
    with pytest.raises(ProblemError, match="condorcet has no parameter 'reference' in a study"):
        Settings("condorcet", parameters={"reference": "candidates"})
