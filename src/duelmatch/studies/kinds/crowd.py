"""Studies of a crowd: every voter who comes gets one ballot, and nobody waits for anybody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from duelmatch.errors import ConflictError, DuelError, NotAllowedError
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.questions import Question
from duelmatch.explorers.result import Progress, Result
from duelmatch.problem import Problem
from duelmatch.studies.history import Point, Trace
from duelmatch.studies.kinds import Event, Record
from duelmatch.studies.settings import Settings
from duelmatch.studies.values import Ranking, Reason

FOR_PANELS = "Weights and conflicts of interest are for panels only."


class CrowdKind:
    """A :class:`BallotExplorer` behind the contract of studies."""

    ready = True
    missing = unused = 0

    def __init__(self, problem: Problem, settings: Settings) -> None:
        parameters = dict(settings.parameters)
        self.record: Record | None = None
        self._run = BallotExplorer(
            problem,
            settings.algorithm,  # type: ignore[arg-type]
            settings.delta,
            settings.seed,
            lease=settings.lease * parameters.get("size", 1),
            record=self._recorded,
            **parameters,
        )
        self._trace = Trace()
        self._earlier_voters: set[str] = set()

    def _recorded(self, event: Event) -> None:
        self._follow(event)
        if self.record is not None:
            self.record(event)

    def note(self, event: Event) -> None:
        """Take over an event; that a voter joined is nothing to the crowd before the first question."""
        if event["kind"] == "imported-old":
            self._note_old(event)
        elif event["kind"] != "joined":
            self._run.note(event)
            self._follow(event)

    def _note_old(self, event: Event) -> None:
        """Take over what happened before studies had ballots: for the estimates, not for the proof."""
        number, state = event["question"], self._run.state
        match event["was"]:
            case "asked":
                state.note_earlier(number, event["voter"], event["position"], None)
            case "answered" | "corrected" | "undone":
                known = state.earlier[number]
                state.note_earlier(number, known.voter, known.position, event.get("answer"))
                self._earlier_voters.add(known.voter)

    def _follow(self, event: Event) -> None:
        if event["kind"] == "finished":
            self._trace.follow(self._run.answers, self._point)

    def _point(self) -> Point:
        p_value = self._run.progress.p_value
        return Point(self._run.answers, None if p_value is None else max(0.0, 1 - p_value))

    # For voters.

    def ask(self, voter: str, now: float) -> Reason | None:
        """Hand out the next question of the voter's ballot, which is drawn when there is none yet."""
        if voter in self._earlier_voters:
            return "all yours"  # their answers have shaped the questions, so they are not to prove anything
        if self._run.ask(1, voter, now):
            return None
        if self._run.done:
            return "done"
        part = self._run.state.parts.get(voter)
        return "late" if part is not None and part.left else "all yours"

    def tell(self, question: int, answer: Ranking, now: float) -> None:
        """Take an answer; one that comes when the lease is over is for the standings only."""
        self._run.tell(self._open(question), list(answer), now=now)

    def _open(self, question: int) -> Question:
        found = self._run.state.open.get(question)
        if found is None:
            raise ConflictError(f"Question {question} cannot be answered any more; ask for the next one.")
        return found[0]

    def _told(self, question: int) -> Question:
        found = self._run.state.told.get(question)
        if found is None:
            raise ConflictError(f"The answer to question {question} cannot be changed any more.")
        return found.question

    def skip(self, question: int, reason: str | None) -> None:
        """Leave a question to whoever inherits what is missing."""
        self._run.skip(self._open(question), reason)

    def release(self, question: int, reason: str) -> None:
        """Take a question back."""
        self._run.release(self._open(question), reason)

    def undo(self, question: int, now: float) -> None:
        """Take an answer back, while the ballot is not settled."""
        try:
            self._run.undo(self._told(question), now=now)
        except DuelError as error:
            raise ConflictError(str(error)) from None

    def settle(self) -> None:
        """Hand in the ballots that are complete."""
        self._run.settle()

    def expire(self, now: float) -> None:
        """End the ballots whose lease is over."""
        self._run.expire(now=now)

    # For organisers.

    def correct(self, question: int, answer: Ranking | None, clerical: bool) -> None:
        """Correct an answer, or strike it."""
        if question in self._run.state.earlier:
            event = {"kind": "imported-old", "was": "corrected", "question": question, "clerical": clerical}
            event["answer"] = None if answer is None else [list(group) for group in answer]
            self._note_old(event)
            self._recorded(event)
        elif answer is None:
            self._run.strike_answer(self._told(question))
        else:
            self._run.correct(self._told(question), list(answer), clerical)

    def strike(self, voter: str) -> None:
        """Let no answer of a voter count."""
        self._run.strike(voter)

    def reinstate(self, voter: str) -> None:
        """Let the answers of a voter count again."""
        self._run.reinstate(voter)

    def drop(self, candidate: str) -> None:
        """Take out a candidate."""
        self._run.drop(candidate)

    def add(self, candidate: str, positions: Sequence[str]) -> None:
        """Take in a late candidate."""
        self._run.add(candidate, positions)

    def enter(self, voter: str, weight: int, conflicts: Sequence[str]) -> None:
        """Take in a voter."""
        if weight != 1 or conflicts:
            raise NotAllowedError(FOR_PANELS)
        if self.record is not None:
            self.record({"kind": "joined", "voter": voter})

    def leave(self, voter: str, open_answers: Literal["open", "dropped"]) -> None:
        """Pass what is missing on the voter's ballot on to somebody else."""
        self._run.expire(voter)

    def come_back(self, voter: str) -> None:
        """Refused: a ballot that was handed in stays so."""
        raise NotAllowedError("Only members of a panel can come back; a voter of a crowd has one ballot.")

    def conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Refused: ballots are drawn for whoever comes."""
        raise NotAllowedError(FOR_PANELS)

    # What follows.

    def think(self, patient: bool = True) -> None:
        """Nothing has to be computed first."""

    @property
    def done(self) -> bool:
        """Whether something is proven."""
        return self._run.done

    @property
    def result(self) -> Result:
        """The result."""
        return self._run.result

    @property
    def progress(self) -> Progress:
        """Where the study stands."""
        return self._run.progress

    @property
    def assuming(self) -> tuple[Assumption, ...]:
        """What the guarantee takes for granted."""
        return self._run.conclusions.assumptions

    @property
    def points(self) -> list[Point]:
        """How it came there."""
        return self._trace.until(self._point())
