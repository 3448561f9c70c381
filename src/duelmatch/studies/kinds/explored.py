"""Studies of a crowd and of a panel: an explorer decides, and its events are the log."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, Literal

from duelmatch.errors import ConflictError, DuelError, NotAllowedError, StudyError
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.panel import PanelExplorer
from duelmatch.explorers.questions import Question
from duelmatch.explorers.result import Progress, Result
from duelmatch.models.standings import Standings
from duelmatch.problem import Problem
from duelmatch.studies.kinds import Event, Kind, Later, Newcomer, Trace, shown
from duelmatch.studies.settings import Settings
from duelmatch.studies.values import Point, Ranking, Reason

CONFLICT = "conflict of interest"
"""Why a question is passed on that a voter has said not to judge."""


class ExploredKind(Kind):
    """An explorer behind the contract of studies; nothing has to be computed before the next question."""

    ready = True
    missing = unused = 0
    looks_at = ""
    """The kind of event after which the history is looked at."""

    def __init__(self, run: BallotExplorer | PanelExplorer) -> None:
        self.record = None
        self._run = run
        self._run.record = self._recorded
        self._run.ahead = self._ahead
        self._trace = Trace()

    def _ahead(self, event: Event) -> None:
        """Stop a transaction from computing what takes long and was not computed before."""
        if self.record is not None:
            raise Later(event)

    def _recorded(self, event: Event) -> None:
        self._follow(event)
        if self.record is not None:
            self.record(event)

    def note(self, event: Event) -> None:
        self._run.note(event)
        self._follow(event)

    def _follow(self, event: Event) -> None:
        if event["kind"] == self.looks_at:
            self._trace.follow(self._answers, self._point)

    _answers: int
    """How many answers there are."""

    def _point(self) -> Point:
        raise NotImplementedError

    def _asked(self, question: int) -> Question:
        """Return a question that can be answered, as the explorer knows it."""
        raise NotImplementedError

    def _told(self, question: int) -> Question:
        """Return a question that has an answer, as the explorer knows it."""
        return self._asked(question)

    def check_answerable(self, question: int) -> None:
        self._asked(question)

    def skip(self, question: int, reason: str | None) -> None:
        self._run.skip(self._asked(question), reason)

    def release(self, question: int, reason: str) -> None:
        self._run.release(self._asked(question), reason)

    def settle(self) -> None:
        self._run.settle()

    def correct(self, question: int, answer: Ranking | None, clerical: bool) -> None:
        if answer is None:
            self._run.strike_answer(self._told(question))
        else:
            self._run.correct(self._told(question), list(answer), clerical=clerical)

    def strike(self, voter: str) -> None:
        self._run.strike(voter)

    def reinstate(self, voter: str) -> None:
        self._run.reinstate(voter)

    def drop(self, candidate: str) -> None:
        self._run.drop(candidate)

    def add(self, candidate: str, positions: Sequence[str]) -> None:
        self._run.add(candidate, positions)

    def look(self) -> None:
        """Count what the answers say."""
        self._run.done  # noqa: B018 (it is computed, and kept)

    def takes_long(self, event: Event) -> bool:
        return self._run.takes_long(event)

    def working_out(self, event: Event) -> Callable[[], Any]:
        return partial(_worked_out, self.run_to_go_on(), event)

    def keep(self, worked_out: Any) -> None:
        self._run.keep(worked_out)

    @property
    def done(self) -> bool:
        return self._run.done

    @property
    def result(self) -> Result:
        return self._run.result

    @property
    def progress(self) -> Progress:
        return self._run.progress

    def standings_later(self) -> Callable[[], Standings]:
        return self._run.standings_later()

    def run_to_go_on(self) -> bytes:
        run = copy(self._run)
        run.record = run.ahead = None
        return pickle.dumps(run)

    @property
    def points(self) -> list[Point]:
        return self._trace.until(self._point())


class CrowdKind(ExploredKind):
    """A crowd: every voter gets one ballot, and nobody has to wait for others."""

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
                self._conflicts.setdefault(event["voter"], set()).update(event["candidates"])
            case "cleared":
                self._conflicts[event["voter"]].difference_update(event["candidates"])
            case "joined":
                pass
            case _:
                super().note(event)

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
        self._decide({**event, "answer": groups})

    def drop(self, candidate: str) -> None:
        """Take out a candidate; a ranking that is open and names them is asked again without them."""
        state = self._run.state
        asked = [question for question, part, _ in state.open.values() if not part.over]
        super().drop(candidate)
        for question in asked:
            if candidate in question.candidates and question.id in state.open:
                self._run.release(question, "dropped")

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
        self._decide({"kind": "conflict", "voter": voter, "candidates": list(candidates)})
        for question, part, _ in list(self._run.state.open.values()):
            if part.voter == voter and not part.over and not set(candidates).isdisjoint(question.candidates):
                self._run.skip(question, CONFLICT)

    def clear_conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Ask a voter about some candidates again; questions that were passed on stay so."""
        self._decide({"kind": "cleared", "voter": voter, "candidates": list(candidates)})

    @property
    def assuming(self) -> tuple[Assumption, ...]:
        """What the guarantee takes for granted."""
        return self._run.conclusions.assumptions


class PanelKind(ExploredKind):
    """A panel: a known group decides, and is counted."""

    looks_at = "backed"
    _run: PanelExplorer

    def __init__(self, problem: Problem, settings: Settings, voters: Sequence[Mapping[str, Any]]) -> None:
        if not voters:
            raise StudyError("A panel needs its voters: name at least one at the beginning.")
        run = PanelExplorer(
            problem,
            [voter["id"] for voter in voters],
            conflicts={voter["id"]: voter["conflicts"] for voter in voters},
            voter_weight={voter["id"]: voter["weight"] for voter in voters},
            questions_each=settings.questions_each,
            **settings.parameters,
        )
        run.shown = partial(shown, settings.seed or 0)  # nobody is to be always on the left
        self._answers = 0
        super().__init__(run)

    def _follow(self, event: Event) -> None:
        self._answers += (event["kind"] == "answered") - (event["kind"] == "undone")
        super()._follow(event)

    def _point(self) -> Point:
        return Point(self._answers, shortfall=self._run.result.shortfall)

    def _asked(self, question: int) -> Question:
        return self._run.question(question)

    def ask(self, voter: str, now: float) -> Reason | None:
        """Put the most useful question to a judge that is theirs to answer."""
        if self._run.ask(1, voter):
            return None
        if self._run.done:
            return "all yours" if self._run.result.status == "budget_spent" else "done"
        return "waiting" if self._run.can_be_asked(voter) else "all yours"

    def tell(self, question: int, answer: Ranking, now: float) -> None:
        """Take an answer, also a late one."""
        try:
            self._run.tell(self._asked(question), list(answer))
        except DuelError as error:
            raise ConflictError(f"{error} Ask for the next one.") from None

    def undo(self, question: int, now: float) -> None:
        self._run.undo(self._asked(question))

    def enter(self, voters: Sequence[Newcomer]) -> None:
        self._run.enter_all(voters)

    def leave(self, voter: str, open_answers: Literal["open", "dropped"]) -> None:
        self._run.leave(voter, open_answers)

    def come_back(self, voter: str) -> None:
        self._run.rejoin(voter)

    def conflict(self, voter: str, candidates: Sequence[str]) -> None:
        self._run.declare_conflict(voter, candidates)

    def clear_conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Let a judge judge some candidates again; what was said about them counts again."""
        self._run.clear_conflict(voter, candidates)

    @property
    def last_result(self) -> Result:
        """The result if nobody is asked any more: if nothing is certain, what falls short least."""
        return self._run.last_result

    @property
    def assuming(self) -> tuple[Assumption, ...]:
        """What the result takes for granted: consistent judges, if answers were inferred."""
        return self._run.result.assuming


def _worked_out(run: bytes, event: Event) -> Any:
    """Compute the effect of an event on a pickled run."""
    return pickle.loads(run).recount(event)
