"""What a study can be set to: parameters by name, which its database keeps."""

from __future__ import annotations

import pytest

from duelmatch.errors import ProblemError, StudyError
from duelmatch.studies import Settings


def test_a_study_takes_a_reference_by_its_name_and_none_by_edge() -> None:
    named = Settings("borda", parameters={"reference": "candidates"})
    assert Settings.from_dict(named.as_dict()) == named
    with pytest.raises(StudyError, match="does not keep a reference given for each edge"):
        Settings("borda", parameters={"reference": {("ann", "chair"): 1.0}})


def test_only_borda_has_a_reference_and_only_one_that_a_log_can_be_checked_against() -> None:
    assert Settings("borda").settled(False).parameters["reference"] == "decisions"
    assert "reference" not in Settings("condorcet").settled(False).parameters
    with pytest.raises(ProblemError, match="reference must be decisions or candidates, not 'sampled'"):
        Settings("borda", parameters={"reference": "sampled"})
    with pytest.raises(ProblemError, match="condorcet has no parameter 'reference' in a study"):
        Settings("condorcet", parameters={"reference": "candidates"})
