"""What a study can be set to: parameters by name, which its database keeps."""

from __future__ import annotations

import pytest

from duelmatch.errors import StudyError
from duelmatch.studies import Settings


def test_a_study_takes_a_reference_by_its_name_and_none_by_edge() -> None:
    named = Settings("borda", parameters={"reference": "candidates"})
    assert Settings.from_dict(named.as_dict()) == named
    with pytest.raises(StudyError, match="does not keep a reference given for each edge"):
        Settings("borda", parameters={"reference": {("ann", "chair"): 1.0}})
