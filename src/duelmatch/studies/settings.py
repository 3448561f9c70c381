"""What a study is set to when it is created; it stays so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from reprlib import repr as shortly
from typing import Any

from duelmatch.errors import StudyError
from duelmatch.explorers.catalogue import check, described, drawn_seed
from duelmatch.studies.texts import LARGEST_NUMBER

SHORTEST_LEASE, LONGEST_LEASE = 1.0, 30 * 86400.0
MOST_AHEAD = 1_000_000
BATCH = 10
"""How many duels at once an explorer wants that can do so: voters come in crowds."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Which explorer asks, and how voters may answer.

    ``lease``: seconds after which a question that nobody answered goes to somebody else. ``ties``: whether a
    voter may say that two are equal, which a coin then decides. ``skips``: whether a voter may pass.
    ``once``: whether nobody is asked the same question twice. ``ahead``: how many answers may be asked for
    beyond what the explorer wants now, so that nobody has to wait for others. ``max_votes``: how many answers
    are asked for at most. ``seed``: None for one that nobody can foresee, drawn when the study is created.
    """

    algorithm: str
    delta: float = 0.05
    seed: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    lease: float = 300.0
    ties: bool = True
    skips: bool = True
    once: bool = False
    ahead: int = 100
    max_votes: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, Mapping) or not all(isinstance(n, str) for n in self.parameters):
            raise StudyError("The settings must name an algorithm, and its parameters by name.")
        if by_edge := [name for name, value in self.parameters.items() if isinstance(value, Mapping)]:
            raise StudyError(
                f"A study does not keep a {by_edge[0]} given for each edge; choose one by its name."
            )
        check(self.algorithm, self.delta, 0 if self.seed is None else self.seed, self.parameters)
        if not _is_number(self.lease) or not SHORTEST_LEASE <= self.lease <= LONGEST_LEASE:
            raise StudyError(
                f"A lease lasts from {SHORTEST_LEASE:g} to {LONGEST_LEASE:,.0f} seconds, "
                f"not {shortly(self.lease)}."
            )
        for name in ("ties", "skips", "once"):
            if not isinstance(getattr(self, name), bool):
                raise StudyError(f"{name} must be true or false, not {shortly(getattr(self, name))}.")
        if not _is_whole(self.ahead) or not 0 <= self.ahead <= MOST_AHEAD:
            raise StudyError(
                f"ahead must be a whole number from 0 to {MOST_AHEAD:,}, not {shortly(self.ahead)}."
            )
        votes = self.max_votes
        if votes is not None and not (_is_whole(votes) and 0 <= votes <= LARGEST_NUMBER):
            raise StudyError(
                f"max_votes must be a whole number from 0 to {LARGEST_NUMBER:,}, not {shortly(votes)}."
            )

    def settled(self) -> Settings:
        """Return the settings with nothing left open: a seed, and a ``batch`` if the algorithm has one."""
        parameters = dict(self.parameters)
        if "batch" in described(self.algorithm).defaults:
            parameters.setdefault("batch", BATCH)
        seed = drawn_seed() if self.seed is None else self.seed
        return replace(self, seed=seed, parameters=parameters)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it by name."""
        return asdict(self) | {"parameters": dict(self.parameters)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """Read what :meth:`as_dict` gave."""
        known = {field.name for field in fields(cls)}
        if unknown := [name for name in values if name not in known]:
            raise StudyError(
                f"There is no setting '{unknown[0]:.80}'; the settings are {', '.join(sorted(known))}."
            )
        if "algorithm" not in values:
            raise StudyError("The settings must name an algorithm, and its parameters by name.")
        return cls(**values)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
