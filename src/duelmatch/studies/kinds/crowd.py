"""Studies of a crowd: every voter gets one ballot, and nobody has to wait for others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from duelmatch.errors import ConflictError, DuelError, NotAllowedError
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.questions import Question
from duelmatch.problem import Problem
from duelmatch.studies.kinds import FOR_PANELS, Event, Newcomer
from duelmatch.studies.kinds.explored import ExploredKind
from duelmatch.studies.settings import Settings
from duelmatch.studies.values import Point, Ranking, Reason

CONFLICT = "conflict of interest"
"""Why a question is passed on that a voter has said not to judge."""


class CrowdKind(ExploredKind):
    """A :class:`BallotExplorer` behind the contract of studies."""

    looks_at = "finished"
    _run: BallotExplorer

    def __init__(self, problem: Problem, settings: Settings) -> None:
        criterion = settings.algorithm
        super().__init__(
            BallotExplorer(
                problem,
                criterion,  # type: ignore[arg-type]
                settings.delta,
                settings.seed,
                question_lease=settings.lease,
                **settings.parameters,
            )
        )
        self._earlier_voters: set[str] = set()
        self._conflicts: dict[str, set[str]] = {}
        """Whom a voter has said not to judge: questions about them are passed on when they come up."""

    def note(self, event: Event) -> None:
        """Apply an event; a voter who has joined means nothing to a crowd before the first question."""
        match event["kind"]:
            case "imported-old":
                self._note_old(event)
            case "conflict":
                self._note_conflict(event)
            case "cleared":
                self._note_cleared(event)
            case "joined":
                pass
            case _:
                super().note(event)

    def _note_conflict(self, event: Event) -> None:
        self._conflicts.setdefault(event["voter"], set()).update(event["candidates"])

    def _note_cleared(self, event: Event) -> None:
        self._conflicts[event["voter"]].difference_update(event["candidates"])

    def _note_old(self, event: Event) -> None:
        """Apply what happened before studies had ballots: for the estimates, not for the proof."""
        number, state = event["question"], self._run.state
        match event["was"]:
            case "asked":
                state.note_earlier(number, event["voter"], event["position"], None)
            case "answered" | "corrected" | "undone":
                known = state.earlier[number]
                state.note_earlier(number, known.voter, known.position, event.get("answer"))
                self._earlier_voters.add(known.voter)

    @property
    def _answers(self) -> int:  # type: ignore[override]
        return self._run.answers

    def _point(self) -> Point:
        p_value = self._run.progress.p_value
        return Point(self._run.answers, None if p_value is None else max(0.0, 1 - p_value))

    def _asked(self, question: int) -> Question:
        found = self._run.state.open.get(question)
        if found is None:
            raise ConflictError(f"Question {question} cannot be answered any more; ask for the next one.")
        return found[0]

    def _told(self, question: int) -> Question:
        found = self._run.state.told_as(question)
        if found is None:
            raise ConflictError(f"The answer to question {question} cannot be changed any more.")
        return found.question

    def ask(self, voter: str, now: float) -> Reason | None:
        """Hand out the next question of the voter's ballot, which is drawn when there is none yet."""
        if voter in self._earlier_voters:
            return "all yours"  # their answers have shaped the questions, so they are not to prove anything
        while asked := self._run.ask(1, voter, now):
            if self._conflicts.get(voter, set()).isdisjoint(asked[0].candidates):
                return None
            self._run.skip(asked[0], CONFLICT, now=now)
        if self._run.done:
            return "done"
        part = self._run.state.parts.get(voter)
        return "late" if part is not None and part.left else "all yours"

    def tell(self, question: int, answer: Ranking, now: float) -> None:
        """Take an answer; one that comes when the lease is over is for the standings only."""
        self._run.tell(self._asked(question), list(answer), now=now)

    def undo(self, question: int, now: float) -> None:
        """Take an answer back, while the ballot is not settled."""
        try:
            self._run.undo(self._told(question), now=now)
        except DuelError as error:
            raise ConflictError(str(error)) from None

    def expire(self, now: float) -> None:
        self._run.expire(now=now)

    def correct(self, question: int, answer: Ranking | None, clerical: bool) -> None:
        if question not in self._run.state.earlier:
            super().correct(question, answer, clerical)
            return
        groups = None if answer is None else [list(group) for group in answer]
        event = {"kind": "imported-old", "was": "corrected", "question": question, "clerical": clerical}
        self._note_old({**event, "answer": groups})
        self._recorded({**event, "answer": groups})

    def drop(self, candidate: str) -> None:
        """Take out a candidate; a ranking that is open and names them is asked again without them."""
        state = self._run.state
        asked = [question for question, part, _ in state.open.values() if not part.over]
        super().drop(candidate)
        for question in asked:
            if candidate in question.candidates and question.id in state.open:
                self._run.release(question, "dropped")

    def enter(self, voters: Sequence[Newcomer]) -> None:
        if any(weight != 1 or conflicts for _, weight, conflicts in voters):
            raise NotAllowedError(FOR_PANELS)
        for voter, _, _ in voters:
            self._recorded({"kind": "joined", "voter": voter})

    def leave(self, voter: str, open_answers: Literal["open", "dropped"]) -> None:
        """Pass what is missing on the voter's ballot on to somebody else."""
        self._run.expire(voter)

    def come_back(self, voter: str) -> None:
        """Refuse: a ballot that was handed in stays so."""
        raise NotAllowedError("Only members of a panel can come back; a voter of a crowd has one ballot.")

    def conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Pass on what a voter's ballot asks about some candidates, now and as it comes up, as by skipping.

        The ballot is drawn already. So it is right where skipping is: if whether somebody is silent does not
        depend on the answer, or for any silence if the study is set so.
        """
        event = {"kind": "conflict", "voter": voter, "candidates": list(candidates)}
        self._note_conflict(event)
        self._recorded(event)
        for question, part, _ in list(self._run.state.open.values()):
            if part.voter == voter and not part.over and not set(candidates).isdisjoint(question.candidates):
                self._run.skip(question, CONFLICT)

    def clear_conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Ask a voter about some candidates again; questions that were passed on stay so."""
        event = {"kind": "cleared", "voter": voter, "candidates": list(candidates)}
        self._note_cleared(event)
        self._recorded(event)

    @property
    def assuming(self) -> tuple[Assumption, ...]:
        """What the guarantee takes for granted."""
        return self._run.conclusions.assumptions
