"""What a study is set to when it is created; it stays so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from inspect import signature
from reprlib import repr as shortly
from typing import Any, Literal

from duelmatch.errors import ProblemError, StudyError, did_you_mean, listed
from duelmatch.explorers.catalogue import DEFAULT, SMALLEST_EPSILON, check, described, drawn_seed
from duelmatch.studies.schema import LARGEST_NUMBER

SHORTEST_LEASE, LONGEST_LEASE = 1.0, 30 * 86400.0
MOST_AHEAD = 1_000_000
BATCH = 10
"""How many duels at once an algorithm wants that can do so: voters come in crowds."""

PANEL_PARAMETERS = ("criterion", "consistent", "question_size", "until", "walking")
CROWD = ("condorcet", "borda")
CROWD_PARAMETERS = (
    "ballot_size",
    "question_size",
    "epsilon",
    "assume_winner",
    "silence",
    "heirs",
    "counting",
    "walking",
)
BORDA_PARAMETERS = (*CROWD_PARAMETERS, "reference")

Kind = Literal["panel", "crowd", "rounds"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How questions are chosen, and how voters may answer.

    ``algorithm``: "panel" counts a known group; "condorcet" and "borda" sample a crowd, ballot by ballot; all
    others work in rounds, and assume independent answers. None means a panel if the voters are named at the
    beginning, and "condorcet" if they are not. ``seed``: None for one that nobody can foresee.

    ``lease``: seconds after which a question that nobody answered may go to somebody else; a ballot has that
    for each of its questions. ``ties``: whether a voter may say that there is no difference. ``skips``:
    whether a voter may pass. ``max_answers``: how many answers are asked for at most. ``questions_each``: how
    many each member of a panel is asked at most. ``ahead``: how many answers may be asked for beyond what a
    round wants, so that nobody has to wait for others. ``secret``: whether organisers are kept from seeing
    who answered what; once closed, such a study stays so.
    """

    algorithm: str | None = None
    delta: float = 0.05
    seed: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    lease: float = 300.0
    ties: bool = True
    skips: bool = True
    max_answers: int | None = None
    questions_each: int | None = None
    ahead: int = 100
    secret: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, Mapping) or not all(isinstance(n, str) for n in self.parameters):
            raise StudyError("The settings must name an algorithm, and its parameters by name.")
        if by_edge := [name for name, value in self.parameters.items() if isinstance(value, Mapping)]:
            raise StudyError(
                f"A study does not keep a {by_edge[0]} given for each edge; choose one by its name."
            )
        if self.algorithm is not None:
            self._check_parameters()
        if not _is_number(self.lease) or not SHORTEST_LEASE <= self.lease <= LONGEST_LEASE:
            raise StudyError(
                f"A lease lasts from {SHORTEST_LEASE:g} to {LONGEST_LEASE:,.0f} seconds, "
                f"not {shortly(self.lease)}."
            )
        for name in ("ties", "skips", "secret"):
            if not isinstance(getattr(self, name), bool):
                raise StudyError(f"{name} must be true or false, not {shortly(getattr(self, name))}.")
        limits = {"ahead": MOST_AHEAD, "max_answers": LARGEST_NUMBER, "questions_each": LARGEST_NUMBER}
        for name, most in limits.items():
            fits, sentence = _between(0, most)
            number = getattr(self, name)
            if not fits(number) and (number is not None or name == "ahead"):
                raise StudyError(f"{name} must be {sentence}, not {shortly(number)}.")

    def _check_parameters(self) -> None:
        seed = 0 if self.seed is None else self.seed
        if self.kind == "rounds":
            check(self.algorithm, self.delta, seed, self.parameters)
            return
        check(DEFAULT, self.delta, seed, {})
        known = self._known_parameters
        if unknown := [name for name in self.parameters if name not in known]:
            raise ProblemError(
                f"{self.algorithm} has no parameter '{unknown[0]:.50}' in a study; it has {listed(known, 9)}."
                f"{did_you_mean(unknown[0], known)}"
            )
        for name, value in self.parameters.items():
            fits, sentence = _PARAMETERS[name]
            if not fits(value):
                raise ProblemError(f"{name} must be {sentence}, not {shortly(value)}.")

    @property
    def _known_parameters(self) -> tuple[str, ...]:
        """The parameters of a panel or a crowd."""
        if self.kind == "panel":
            return PANEL_PARAMETERS
        return BORDA_PARAMETERS if self.algorithm == "borda" else CROWD_PARAMETERS

    @property
    def kind(self) -> Kind:
        """How questions are asked: of a panel, of a crowd, or in rounds."""
        if self.algorithm == "panel":
            return "panel"
        return "crowd" if self.algorithm in CROWD else "rounds"

    def settled(self, named_voters: bool) -> Settings:
        """Return the settings with nothing left open: algorithm, seed, and all parameters."""
        algorithm = self.algorithm or ("panel" if named_voters else DEFAULT)
        chosen = replace(self, algorithm=algorithm, seed=drawn_seed() if self.seed is None else self.seed)
        parameters = chosen._defaults() | dict(self.parameters)
        return replace(chosen, parameters=parameters)

    def _defaults(self) -> dict[str, Any]:
        """Return what parameters are if they are not given; written down, since later versions may differ."""
        if self.kind == "rounds":
            return {"batch": BATCH} if "batch" in described(self.algorithm).defaults else {}
        if self.kind == "panel":
            from duelmatch.explorers.panel import PanelExplorer as Explorer
        else:
            from duelmatch.explorers.ballots.explorer import BallotExplorer as Explorer  # type: ignore[assignment]
        return {name: signature(Explorer).parameters[name].default for name in self._known_parameters}

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
        return cls(**values)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _between(low: int, high: int) -> tuple[Callable[[Any], bool], str]:
    return lambda value: type(value) is int and low <= value <= high, f"a whole number from {low} to {high:,}"


def _one_of(*values: Any) -> tuple[Callable[[Any], bool], str]:
    def fits(value: Any) -> bool:
        return any(type(value) is type(each) and value == each for each in values)

    return fits, " or ".join(str(each).lower() for each in values)


_PARAMETERS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "criterion": _one_of("condorcet", "borda"),
    "consistent": _one_of(True, False),
    "until": _one_of("unbeaten", "decided"),
    "question_size": _between(2, 10),
    "walking": _one_of(True, False),
    "ballot_size": _between(1, 1_000),
    "heirs": _between(0, 100),
    "assume_winner": _one_of(True, False),
    "silence": _one_of("blind", "any"),
    "counting": _one_of("least", "last"),
    "reference": _one_of("decisions", "candidates"),  # what a log can be checked against without drawing
    "epsilon": (
        lambda value: value is None or (_is_number(value) and SMALLEST_EPSILON <= value < 1),
        f"null, or a number from {SMALLEST_EPSILON:g} to 1",
    ),
}
"""What the parameters of panels and crowds may be, and that as a clause."""
