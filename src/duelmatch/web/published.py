"""What voters see of the result, once the study is closed and the organiser shows it to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from duelmatch.studies import Estimates, Study
from duelmatch.web.names import Names
from duelmatch.web.races import Race, races_of

Kind = Literal["panel", "crowd", "beaten least", "leading", "nothing"]


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """Who fills what, and what kind of answer that is."""

    kind: Kind
    wrong: str
    """How often such a result of a crowd is wrong, at most."""
    races: list[Race]

    @classmethod
    def of(cls, study: Study, estimates: Estimates | None) -> PublishedResult:
        """Return what a closed study has come to; what it says is what the organiser's page says."""
        status = study.status()
        certain = status.result.status != "budget_spent"
        standings = None if certain or estimates is None else estimates.standings
        kind: Kind = "panel" if status.algorithm == "panel" else "crowd"
        if not certain:
            kind = "leading" if status.counted else "nothing"
        elif status.result.status == "no_winner":
            kind = "beaten least"
        races = races_of(study, status, Names.of(study.problem), standings)
        return cls(kind, f"{100 * status.result.delta:g}%", races if kind != "nothing" else [])
