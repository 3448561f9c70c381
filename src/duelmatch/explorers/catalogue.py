"""What there is to run: one description per algorithm, of this package or of others.

Everything that has to know about an algorithm reads it here: the options and help of the command line,
``plan``, experiments, studies, pages and the table in the documentation. Nothing heavy is imported before a
run begins, so that ``--help`` and completion are quick.

Others add theirs by an entry point in the group ``duelmatch.algorithms`` that leads to an
:class:`Algorithm`, or by calling :func:`register_algorithm`.
"""

from __future__ import annotations

import re
import secrets
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.metadata import entry_points
from inspect import signature
from numbers import Integral, Real
from pkgutil import resolve_name
from reprlib import repr as shortly
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from duelmatch.errors import AlgorithmError, DuelmatchError, ProblemError, did_you_mean, listed

if TYPE_CHECKING:
    from duelmatch.explorers.engine import Search
    from duelmatch.preferences import Criterion, Preferences
    from duelmatch.problem import Problem

GROUP = "duelmatch.algorithms"
"""The entry points of other packages' algorithms."""

DEFAULT = "condorcet"
"""What is run unless told otherwise."""

SMALLEST_DELTA = 1e-100
"""Its fractions and its logarithm must remain numbers."""

SMALLEST_EPSILON = 1e-9
"""Its square, divided into whatever bounds a number of duels, must remain a number."""

LARGEST_BATCH = 1_000_000
"""Duels at once; they are held in memory."""

LARGEST_BALLOT = 1_000
LARGEST_QUESTION = 10
MOST_HEIRS = 1_000

SEED_BITS = 53
"""Drawn seeds stay below 2^53, so that readers that know only floats can keep them."""


NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
PARAMETER_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

_OPTIONS = "algorithm criterion delta file help jobs json max_duels name once out plot runs seed store study"
_SETTINGS = "ahead as_json given graph lease max_votes observe preferences problem resumed skips source"
RESERVED = frozenset(f"{_OPTIONS} {_SETTINGS} status ties url votes".split())
"""Names that commands, settings and functions use for something else."""


class Assumption(StrEnum):
    """What a guarantee takes for granted, beyond independent answers; ``sentence`` says it to people."""

    sentence: str
    """The assumption as a clause, to follow 'if' or 'that'."""

    def __new__(cls, value: str, sentence: str) -> Assumption:
        """Make a member: its value, and what it says to people."""
        member = str.__new__(cls, value)
        member._value_, member.sentence = value, sentence
        return member

    INDEPENDENT_ANSWERS = (
        "independent_answers",
        "every answer is independent of all others, also of those by the same voter",
    )
    CONDORCET_WINNER = "condorcet_winner", "a Condorcet winner exists"
    MIXED_SAMPLER = (
        "mixed_sampler",
        "the Markov chain that draws the opponents has mixed in the steps that a rule of thumb gives it",
    )
    CONSISTENT_JUDGES = "consistent_judges", "a judge who prefers a to b and b to c prefers a to c"
    INDEPENDENT_VOTERS = "independent_voters", "voters are independent draws from those who are to decide"
    SILENCE_BLIND = "silence_blind", "whether a question was answered did not depend on the answer"
    ONE_COUNT_BLIND = (
        "one_count_blind",
        "one of the sets of voters that counted at some time was chosen without regard to answers",
    )
    LAST_COUNT_BLIND = (
        "last_count_blind",
        "the voters who do not count were chosen without regard to answers",
    )
    WITHDRAWALS_BLIND = "withdrawals_blind", "the candidates who left did so without regard to answers"
    ADMISSIONS_BLIND = "admissions_blind", "late candidates were admitted without regard to answers"


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number from 0, of Python or numpy; True and False are not numbers here."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


def whole(name: str, number: object, low: int = 0, high: int | None = None) -> int:
    """Return a whole number, if it is one in this range.

    :raises ProblemError: naming it, if not.
    """
    if not is_whole(number) or int(number) < low or (high is not None and int(number) > high):
        limit = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ProblemError(f"{name} must be a whole number {limit}, not {shortly(number)}.")
    return int(number)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an algorithm: what it means, its type, its range and its default.

    The type is that of ``kind``: float, int, bool or str. A number x must satisfy low <= x, and x < high
    for a float, x <= high for an int; a text must be one of ``choices``. None is allowed where it is the
    default. With ``per_edge``, a number for each edge, {(candidate, position): number}, may be given in
    place of a text; an algorithm gets it as a vector in edge order. What is ``of_voters`` is for runs with
    ballots, and not passed on to a run of single duels.
    """

    name: str
    kind: type
    default: Any
    help: str
    low: float = 0.0
    high: float = sys.float_info.max
    choices: tuple[str, ...] = ()
    per_edge: bool = False
    of_voters: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not PARAMETER_NAME.fullmatch(self.name):
            raise ProblemError(
                f"A parameter is named in small letters, digits and underscores, not {self.name!r:.50}."
            )
        if self.name in RESERVED:
            raise ProblemError(f"No parameter can be called '{self.name}': duelmatch uses that name itself.")
        if self.kind not in (float, int, bool, str):
            raise ProblemError(
                f"The type of '{self.name}' must be float, int, bool or str, not {self.kind!r:.50}."
            )
        if self.kind is str and not self.choices:
            raise ProblemError(f"'{self.name}' is a text, so it needs choices.")
        self.checked(self.default)

    def checked(self, value: object) -> Any:
        """Return a value as one of this type.

        :raises ProblemError: if it is not one, or out of range.
        """
        if value is None and self.default is None:
            return None
        if self.kind is bool and type(value).__name__ in ("bool", "bool_"):  # numpy's too
            return bool(value)
        if self.kind is str and isinstance(value, str) and value in self.choices:
            return value
        if self.per_edge and isinstance(value, Mapping):
            return dict(_number_of_edge(self.name, *each) for each in value.items())
        if self.kind is int and is_whole(value) and self.low <= int(value) <= self.high:
            return int(value)
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if self.kind is float and is_number and self.low <= value < self.high:  # type: ignore[operator]
            return float(value)  # type: ignore[arg-type]
        raise ProblemError(f"{self.name} must be {self.range}, not {shortly(value)}.")

    @property
    def range(self) -> str:
        """What values are allowed, in words."""
        if self.kind is bool:
            return "True or False"
        if self.kind is str:
            given = ", or a number for each edge" if self.per_edge else ""
            return " or ".join(map(repr, self.choices)) + given
        what = "a whole number" if self.kind is int else "a number"
        if self.high == sys.float_info.max:
            return f"{what} from {self.low:g}"
        if self.kind is int:
            return f"{what} from {self.low:g} to {self.high:,.0f}"
        return f"{what} between {self.low:g} and {self.high:g}"


def _number_of_edge(parameter: str, edge: object, number: object) -> tuple[tuple[str, str], float]:
    match edge:
        case (str(candidate), str(position)):
            pass
        case _:
            raise ProblemError(f"{parameter}: an edge is a pair (candidate, position), not {shortly(edge)}.")
    if isinstance(number, bool) or not isinstance(number, Real):
        raise ProblemError(f"{parameter} of {shortly(edge)} must be a number, not {shortly(number)}.")
    return (candidate, position), float(number)


AnsweredBy = Literal["crowd", "panel"]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """An algorithm: what it looks for, how a run is made, and what it promises.

    ``make(graph, delta, seed, **parameters)`` begins a run, a :class:`duelmatch.explorers.engine.Search`.
    ``bound(preferences, delta)`` is an upper bound on its duels; it may take some of the parameters, too.
    Both may be given as ``"module:name"``, to be imported when they are needed.
    """

    name: str
    criterion: Criterion
    make: Callable[..., Search] | str
    parameters: tuple[Parameter, ...] = ()
    guarantee: str = "Nothing is promised."
    use: str = ""
    assuming: tuple[Assumption, ...] = ()
    bound: Callable[..., float] | str | None = None
    bound_note: str = ""
    """What is to be said of the bound, wherever it is shown: in which sense it holds, for example."""
    answers: tuple[Literal["winner", "tie", "ranking"], ...] = ("winner", "tie")
    answered_by: AnsweredBy = "crowd"
    """A crowd is sampled, and ``make`` begins a Search; a panel is known by name, and counted."""
    conditions: tuple[Literal["capacity", "seats", "weight", "rules"], ...] = ()
    """What of this it can take, beyond one-to-one matchings of equal positions."""
    why_not: Mapping[str, str] = field(default_factory=dict)
    """Why it cannot take the others."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise ProblemError(
                f"An algorithm is named in small letters, digits and dashes, not {self.name!r:.50}."
            )
        if not (callable(self.make) or isinstance(self.make, str)):
            raise ProblemError(f"'{self.name}' needs a function that makes a run, not {self.make!r:.50}.")
        if not all(isinstance(parameter, Parameter) for parameter in self.parameters):
            raise ProblemError(f"The parameters of '{self.name}' must be of the class Parameter.")
        if len(self.defaults) < len(self.parameters):
            raise ProblemError(f"Two parameters of '{self.name}' have the same name.")
        if self.criterion not in ("borda", "condorcet"):
            raise ProblemError(
                f"The criterion of '{self.name}' must be 'borda' or 'condorcet', not {self.criterion!r:.50}."
            )

    @property
    def defaults(self) -> dict[str, Any]:
        """The parameters with their default values."""
        return {parameter.name: parameter.default for parameter in self.parameters}

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters: those given, checked, and the defaults of the others.

        :raises ProblemError: for an unknown parameter, or a value out of range.
        """
        own = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in own:
                has = f"it has {listed(own)}" if own else "it has none"
                meant = did_you_mean(str(name), own)
                raise ProblemError(f"{self.name} has no parameter '{name!s:.50}'; {has}.{meant}")
        return self.defaults | {name: own[name].checked(value) for name, value in given.items()}

    def check_conditions(self, problem: Problem) -> None:
        """Refuse a problem with conditions that it cannot take.

        :raises ProblemError: naming them, and why not.
        """
        if problem.graph.conditions is None:
            return
        if missing := [name for name in problem.conditions if name not in self.conditions]:
            why = dict.fromkeys(self.why_not.get(name, "it does not say that it can") for name in missing)
            raise ProblemError(f"{self.name} cannot take {' and '.join(missing)}: {'; '.join(why)}.")

    def search(self, problem: Problem, delta: float, seed: int, parameters: Mapping[str, Any]) -> Search:
        """Begin a run of duels, for which the parameters of ballots mean nothing; numbers go by edge."""
        try:
            make = _resolved(self.make)
        except (ImportError, AttributeError, ValueError) as error:
            raise AlgorithmError(f"What makes a run of {self.name} cannot be imported: {error}") from error
        of_voters = {parameter.name for parameter in self.parameters if parameter.of_voters}
        own = {
            name: problem.edge_vector(value) if isinstance(value, Mapping) else value
            for name, value in parameters.items()
            if name not in of_voters
        }
        search: Search = make(problem.graph, delta, seed, **own)
        return search

    def upper_bound(
        self, preferences: Preferences, delta: float, parameters: Mapping[str, Any]
    ) -> float | None:
        """Return how many duels a run takes at most, with probability 1 - delta; None if nothing is known.

        ``bound_note`` says so where the bound holds in another sense.
        """
        if self.bound is None:
            return None
        bound = _resolved(self.bound)
        given = {name: parameters[name] for name in signature(bound).parameters if name in parameters}
        try:
            return float(bound(preferences, delta, **given))
        except DuelmatchError:
            raise
        except Exception as error:  # of another package
            reason = f"{type(error).__name__}: {error}"
            raise AlgorithmError(f"The bound of {self.name} cannot be computed: {reason}") from error


def _resolved(function: Callable[..., Any] | str) -> Callable[..., Any]:
    """Import what is given as ``"module:name"``."""
    return resolve_name(function) if isinstance(function, str) else function


def _epsilon(default: float | None) -> Parameter:
    return Parameter(
        "epsilon",
        float,
        default,
        "How much worse than the best is good enough, which saves duels where it is close: by how much the "
        "answer may lose to the Condorcet winner, or how far its Borda score may be below the best.",
        SMALLEST_EPSILON,
        1,
    )


_BATCH = Parameter(
    "batch", int, 1, "The fewest duels in a round: as many as are asked at the same time.", 1, LARGEST_BATCH
)
_ASSUME_WINNER = Parameter(
    "assume_winner", bool, False,
    "Whether to take for granted that a Condorcet winner exists, which saves duels. If not, the result is "
    "proven to beat every other matching, or none does.",
)  # fmt: skip
_BALLOTS = (
    Parameter(
        "ballot_size", int, 10,
        "In runs of voters: how many pairs of candidates are on one voter's ballot, at most.",
        1, LARGEST_BALLOT, of_voters=True,
    ),
    Parameter(
        "question_size", int, 2,
        "How many candidates are compared in one question; if more than two, voters rank them.",
        2, LARGEST_QUESTION, of_voters=True,
    ),
    Parameter(
        "silence", str, "blind",
        "In runs of voters: whether a question is answered does not depend on the answer, and what is "
        "missing goes to another voter (blind), or it may, and then that counts against the leader (any).",
        choices=("blind", "any"), of_voters=True,
    ),
    Parameter(
        "heirs", int, 5,
        "In runs of voters: how often what is missing on a ballot goes to another voter, at most.",
        0, MOST_HEIRS, of_voters=True,
    ),
    Parameter(
        "counting", str, "least",
        "In runs of voters: after some were struck, rule out only what is ruled out with and without them "
        "(least), or go by those who count now, chosen without looking at answers (last).",
        choices=("least", "last"), of_voters=True,
    ),
    Parameter(
        "ballot_lease", float, None,
        "In runs of voters: after how many seconds what is missing on a ballot goes to another voter.",
        of_voters=True,
    ),
)  # fmt: skip
_REFERENCE = Parameter(
    "reference", str, "decisions",
    "Against whom Borda counts: all matchings, a random candidate of each position, or sampled matchings.",
    choices=("decisions", "candidates", "sampled"), per_edge=True,
)  # fmt: skip
_SCHEDULE = Parameter(
    "schedule", str, "sparse",
    "Update after every round, as in the paper, or each time the duels have grown by a few percent.",
    choices=("sparse", "every"),
)  # fmt: skip
_ORACLE = Parameter(
    "oracle", str, "lp",
    "How the games between matchings are solved: exactly, or by the paper's approximate method.",
    choices=("lp", "subgradient"),
)  # fmt: skip

_ALL: Any = ("capacity", "seats", "weight", "rules")
_CAR: Any = {
    "conditions": ("capacity", "weight"),
    "why_not": {
        "seats": "accepted candidates would have to be duelled on, which the listing does not do",
        "rules": "its linear program is not exact for them",
    },
}

BUILT_IN = (
    Algorithm(
        "condorcet",
        "condorcet",
        "duelmatch.explorers.frugal.search:condorcet",
        (_epsilon(None), _ASSUME_WINNER, _BATCH, *_BALLOTS),
        "The Condorcet winner, or that there is none, or one that loses to no other by more than epsilon; "
        "wrong with probability delta at most.",
        "To find the matching that beats every other, with as few duels as can be.",
        conditions=_ALL,
    ),
    Algorithm(
        "borda",
        "borda",
        "duelmatch.explorers.frugal.search:borda",
        (_epsilon(None), _BATCH, _REFERENCE, *_BALLOTS),
        "The Borda winner against the reference, or a score within epsilon of the best; wrong with "
        "probability delta at most. Without epsilon, never ends if two share the best score.",
        "To find the best on average, with as few duels as can be; when a winner must exist.",
        conditions=_ALL,
    ),
    Algorithm(
        "clucb-borda-pac",
        "borda",
        "duelmatch.explorers.clucb:ClucbBorda",
        (_epsilon(0.05), _SCHEDULE),
        "The Borda score is within epsilon of the best; wrong with probability delta at most.",
        "To compare with the paper: a matching that does well on average, close calls left undecided.",
        (Assumption.MIXED_SAMPLER,),
        "duelmatch.theory.bounds:clucb_borda_pac_bound",
        conditions=_ALL,
    ),
    Algorithm(
        "clucb-borda-exact",
        "borda",
        "duelmatch.explorers.clucb:ClucbBorda",
        (_SCHEDULE,),
        "The Borda winner; wrong with probability delta at most. Never ends if two share the best score.",
        "To compare with the paper: the very best on average, whatever it takes.",
        (Assumption.MIXED_SAMPLER,),
        "duelmatch.theory.bounds:clucb_borda_exact_bound",
        "as Theorem 2 states it; its proof has a gap",
        conditions=_ALL,
    ),
    Algorithm(
        "car-cond",
        "condorcet",
        "duelmatch.explorers.car_cond:CarCond",
        (_SCHEDULE, _ORACLE),
        "The Condorcet winner, if there is one; wrong with probability delta at most.",
        "To compare with the paper, when a Condorcet winner is sure to exist.",
        (Assumption.CONDORCET_WINNER,),
        "duelmatch.theory.bounds:car_cond_bound",
        **_CAR,
    ),
    Algorithm(
        "car-verify",
        "condorcet",
        "duelmatch.explorers.car_verify:CarVerify",
        (_SCHEDULE, _ORACLE),
        "The Condorcet winner; wrong with probability delta at most, even if there is none.",
        "To compare with the paper, when it is not sure that a Condorcet winner exists.",
        (),
        "duelmatch.theory.bounds:car_verify_bound",
        "with probability 1 - delta - 0.01",
        **_CAR,
    ),
    Algorithm(
        "car-parallel",
        "condorcet",
        "duelmatch.explorers.car_parallel:CarParallel",
        (_SCHEDULE, _ORACLE),
        "As car-verify, and few duels on average. Never ends if there is no winner.",
        "To compare with the paper, when delta is very small and the average cost counts.",
        (),
        "duelmatch.theory.bounds:car_parallel_bound",
        "on average",
        **_CAR,
    ),
)

PANEL = Algorithm(
    "panel",
    "condorcet",
    "duelmatch.explorers.panel.explorer:PanelExplorer",
    (
        Parameter(
            "consistent", bool, True,
            "Whether judges rank: what follows from a judge's answers is then counted as said.",
        ),
        Parameter("questions_each", int, None, "How many questions a judge answers at most.", 0, 1_000_000),
        Parameter(
            "question_size", int, 2, "How many candidates a question asks to rank.", 2, LARGEST_QUESTION
        ),
        Parameter(
            "until", str, "unbeaten",
            "Where a Condorcet run ends: when no other matching can beat the result, or when the result "
            "beats all others, if it can.",
            choices=("unbeaten", "decided"),
        ),
        Parameter(
            "walking", bool, False,
            "Whether the next question keeps a candidate whom the judge has just seen, where that costs "
            "little.",
        ),
    ),
    "What these judges think, counted: the result is certain, whatever the open answers are.",
    "When the people who answer are the people who decide: a jury, a committee, a team.",
    (Assumption.CONSISTENT_JUDGES,),
    answers=("winner", "tie", "ranking"),
    answered_by="panel",
)  # fmt: skip
"""It also takes ``voters``, ``criterion``, ``conflicts`` and ``voter_weight``, which are no plain values."""

_known = {algorithm.name: algorithm for algorithm in (*BUILT_IN, PANEL)}
_registered: dict[str, Algorithm] = {}


def register_algorithm(algorithm: Algorithm) -> None:
    """Make an algorithm known by its name: to ``explorer``, the command line, experiments and studies.

    Registering another one under the same name replaces it; the names of this package are taken.

    :raises ProblemError: if the name is taken, or a parameter has another type in another algorithm.
    """
    if not isinstance(algorithm, Algorithm):
        raise ProblemError(f"An Algorithm is needed, not {algorithm!r:.80}.")
    _discover()
    _add(algorithm)
    _registered[algorithm.name] = algorithm


def registered_algorithms() -> tuple[Algorithm, ...]:
    """Return those that were registered by a call: other processes have to be told of them."""
    return tuple(_registered.values())


def algorithms(answered_by: AnsweredBy | None = None) -> tuple[str, ...]:
    """Return the names of the algorithms, all or those that a crowd, or a panel, answers."""
    _discover()
    return tuple(name for name, algorithm in _known.items() if answered_by in (None, algorithm.answered_by))


def described(name: object) -> Algorithm:
    """Return the description of an algorithm.

    :raises ProblemError: if there is none of this name.
    """
    _discover()
    if isinstance(name, str) and name in _known:
        return _known[name]
    hint = did_you_mean(name, _known) if isinstance(name, str) else ""
    called = f"'{name:.50}'" if isinstance(name, str) else shortly(name)
    raise ProblemError(f"There is no algorithm {called}; the algorithms are {listed(_known, 9)}.{hint}")


def reference_name(reference: object) -> str | None:
    """Return what a result says of a reference: its name, or that it was given; None if there is none."""
    return reference if reference is None or isinstance(reference, str) else "given"


def check(algorithm: object, delta: object, seed: object, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse what no run can be started with, on whatever problem; return all parameters.

    :raises ProblemError: for an unknown name or parameter, or a value out of range.
    """
    description = described(algorithm)
    if description.answered_by == "panel":
        raise ProblemError(
            f"{description.name} counts a known panel of judges, and here is only a crowd to sample: use "
            "dm.explorer with voters, dm.simulate with a dm.Panel, or `duelmatch decide`."
        )
    if not (isinstance(delta, Real) and SMALLEST_DELTA <= delta < 1):  # type: ignore[operator]
        raise ProblemError(
            f"delta must lie between 0 and 1 ({SMALLEST_DELTA:g} at least), not {shortly(delta)}."
        )
    whole("The seed", seed)
    return description.checked(parameters)


def drawn_seed() -> int:
    """Return a seed that nobody can foresee."""
    return secrets.randbits(SEED_BITS)


def _add(algorithm: Algorithm) -> None:
    if any(algorithm.name == other.name for other in (*BUILT_IN, PANEL)):
        raise ProblemError(f"'{algorithm.name}' is an algorithm of duelmatch; choose another name.")
    for other in _known.values():
        kinds = {parameter.name: parameter.kind for parameter in other.parameters}
        for parameter in algorithm.parameters if other.name != algorithm.name else ():
            if kinds.get(parameter.name, parameter.kind) is not parameter.kind:
                raise ProblemError(
                    f"The parameter '{parameter.name}' of '{algorithm.name}' has another type in "
                    f"'{other.name}'; give it another name."
                )
    _known[algorithm.name] = algorithm


@cache
def _discover() -> None:
    """Find the algorithms of installed packages, once. What cannot be loaded is left out, with a warning."""
    for entry in entry_points(group=GROUP):
        try:
            algorithm = entry.load()
            if not isinstance(algorithm, Algorithm) or algorithm.name != entry.name:
                raise ProblemError("it does not lead to an Algorithm of that name")
            _add(algorithm)
        except (Exception, SystemExit) as error:  # whatever another package does, this one goes on
            package = entry.dist.name if entry.dist else entry.value
            warnings.warn(f"The algorithm '{entry.name}' of {package} cannot be used: {error}", stacklevel=2)
