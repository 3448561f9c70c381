"""The three kinds of study, behind one contract: a panel, a crowd, and algorithms that work in rounds.

A kind decides what to ask whom, and says what follows from the answers. All that changes it is events. Its
acting methods decide, and pass each event on to ``record`` once it is applied; ``note`` applies an event from
the log, and decides nothing. So the same events give the same state on every server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, Protocol

from duelmatch.errors import NotAllowedError
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.engine import Counts, Round
from duelmatch.explorers.result import Progress, Result
from duelmatch.models.standings import Standings
from duelmatch.problem import Problem
from duelmatch.studies.settings import Settings
from duelmatch.studies.values import Point, Ranking, Reason

Newcomer = tuple[str, int, Sequence[str]]
"""A new voter: the id, the weight, and the candidates the voter does not judge."""

Event = Mapping[str, Any]

FOR_PANELS = "Weights and conflicts of interest are for panels only."
QUESTIONS_EACH_FOR_PANELS = (
    "questions_each is for panels only; voters of a crowd have ballots of ballot_size."
)


class Later(Exception):  # noqa: N818 (a signal, not an error)
    """Raised when something long has to be computed first, which is not done in a transaction.

    ``event`` is what is about to happen, if it is that which has to be worked out.
    """

    def __init__(self, event: Event | None = None) -> None:
        super().__init__()
        self.event = event


SPACING = 16
"""A look whenever there is a 16th part more answers: as close as one can see, and too seldom to cost much."""


class Trace:
    """Looks at a study now and then, as the answers grow."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self._next = 1

    def follow(self, answers: int, look: Callable[[], Point]) -> None:
        """Look, if there are enough answers since the last look."""
        if answers >= self._next:
            self.points.append(look())
            self._next = answers + 1 + answers // SPACING

    def until(self, now: Point) -> list[Point]:
        """Return where the study stood, and where it stands."""
        earlier = [point for point in self.points if point.answers < now.answers]
        return [*earlier, now] if now.answers else earlier


class Kind(Protocol):
    """What asks the questions of a study. Questions have numbers, voters ids, candidates names.

    What is said of a method here holds for all kinds. One that returns at once may have nothing to do.
    """

    record: Callable[[Event], None] | None

    def note(self, event: Event) -> None:
        """Apply an event from the log."""

    def _decide(self, event: Event) -> None:
        self.note(event)
        if self.record is not None:
            self.record(event)

    # For voters.

    def ask(self, voter: str, now: float) -> Reason | None:
        """Put the next question to a voter (an ``asked`` event), or say why there is none."""

    def tell(self, question: int, answer: Ranking, now: float) -> None:
        """Take the answer to a question that is open, or was released."""

    def check_answerable(self, question: int) -> None:
        """Raise ConflictError if there can be no answer to a question any more."""
        return

    def skip(self, question: int, reason: str | None) -> None:
        """Note that the voter does not answer an open question, and is not to be asked it again."""

    def release(self, question: int, reason: str) -> None:
        """Take an open question back; it may be asked again."""

    def undo(self, question: int, now: float) -> None:
        """Take back an answer for its voter, whose question is open again."""

    def settle(self) -> None:
        """Decide what follows from answers that were noted, as ``tell`` does for the one it takes."""
        return

    def expire(self, now: float) -> None:
        """End the leases of ballots that are over."""
        return

    # For organisers.

    def correct(self, question: int, answer: Ranking | None, clerical: bool) -> None:
        """Change an answer, or with None strike it."""

    def strike(self, voter: str) -> None:
        """Let no answer of a voter count."""

    def reinstate(self, voter: str) -> None:
        """Let the answers of a voter count again."""

    def drop(self, candidate: str) -> None:
        """Take out a candidate who withdrew."""

    def add(self, candidate: str, positions: Sequence[str]) -> None:
        """Take in a late candidate."""

    def enter(self, voters: Sequence[Newcomer]) -> None:
        """Take in voters; only a panel has some with a weight or conflicts of interest."""
        if any(weight != 1 or conflicts for _, weight, conflicts in voters):
            raise NotAllowedError(FOR_PANELS)
        for voter, _, _ in voters:
            self._decide({"kind": "joined", "voter": voter})

    def leave(self, voter: str, open_answers: Literal["open", "dropped"]) -> None:
        """Ask a voter nothing more."""

    def come_back(self, voter: str) -> None:
        """Ask a voter again who had left."""

    def conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Let a voter not judge some candidates any more."""

    def clear_conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Let a voter judge candidates again about whom there was a conflict."""

    # What follows.

    @property
    def ready(self) -> bool:
        """Whether the next question can be chosen without a long computation first."""

    def think(self, patient: bool = True) -> None:
        """Compute what is needed for that; if not ``patient``, only if it takes a moment."""
        return

    def look(self) -> None:
        """Compute the counts now, so that the next reader does not have to wait."""
        return

    def takes_long(self, event: Event) -> bool:
        """Whether recounting after an event takes more than a moment."""
        return False

    def working_out(self, event: Event) -> Callable[[], Any]:
        """Return a function that computes the effect of a coming event; it can run in another process."""
        return lambda: None

    def keep(self, worked_out: Any) -> None:
        """Keep its result until the event happens; without it, acting raises :class:`Later`."""
        return

    @property
    def done(self) -> bool:
        """Whether the outcome is certain or proven."""

    @property
    def missing(self) -> int:
        """How many answers the round lacks."""

    @property
    def unused(self) -> int:
        """How many answers wait for a later round."""

    @property
    def result(self) -> Result:
        """The result, or who leads while nothing is certain."""

    @property
    def last_result(self) -> Result:
        """The result if the study is closed now; of a panel it may take some ten seconds."""
        return self.result

    @property
    def progress(self) -> Progress:
        """Where it stands."""

    @property
    def assuming(self) -> tuple[Assumption, ...]:
        """What the result takes for granted."""

    def standings_later(self) -> Callable[[], Standings]:
        """Return what computes the standings from all answers that count; another process can be given it."""

    def run_to_go_on(self) -> bytes | None:
        """Return a copy of the run, pickled, to simulate how it goes on; None if it cannot be copied."""
        return None

    @property
    def points(self) -> list[Point]:
        """How it developed."""


class RunInRounds(Protocol):
    """A run in rounds, as far as a study needs it; it may be in another process."""

    @property
    def duels(self) -> int:
        """How many answers it has used."""

    @property
    def done(self) -> bool:
        """Whether it is sure."""

    @property
    def result(self) -> Result:
        """What it says now."""

    @property
    def progress(self) -> Progress:
        """Where it stands."""

    def wanted(self) -> Round:
        """Return the round that it wants now."""

    def tell_wins(self, wins: Counts, ties: Counts | None = None) -> None:
        """Take the answers of the round, and work out the next; that can take long."""


Begin = Callable[[Problem, Settings], RunInRounds]
"""What begins a run."""


def new_kind(
    problem: Problem, settings: Settings, voters: Sequence[Mapping[str, Any]], begin: Begin | None = None
) -> Kind:
    """Begin a study of the kind that its settings name; ``begin`` begins the runs in rounds."""
    if settings.kind == "rounds":
        from duelmatch.studies.kinds.rounds import RoundsKind

        return RoundsKind(problem, settings, [voter["id"] for voter in voters], begin)
    from duelmatch.studies.kinds.explored import CrowdKind, PanelKind

    return PanelKind(problem, settings, voters) if settings.kind == "panel" else CrowdKind(problem, settings)


def shown(seed: int, voter: str, about: str, candidates: Sequence[str]) -> list[str]:
    """Return candidates in the order in which a voter is shown them: as good as random, and always the same.

    It does not depend on the number of the question: whoever takes an answer back and gives it again is asked
    the next question as before, and cannot have the sides drawn anew.
    """
    among = f"{seed} {voter} {about} {sorted(candidates)}"
    return sorted(candidates, key=lambda name: sha256(f"{among} {name}".encode()).digest())
