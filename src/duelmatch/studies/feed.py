"""The feed of questions: what voters and organisers do, within a transaction that holds their study.

Everything here reads the state, decides, and appends to the log; it knows no database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from duelmatch.errors import ConflictError, DuelError, NotAllowedError, NotThereError, StudyError
from duelmatch.explorers import questions
from duelmatch.studies.entries import Entry, salted
from duelmatch.studies.kinds import Event, Kind, Later, Newcomer
from duelmatch.studies.log import Held
from duelmatch.studies.questions import Asked
from duelmatch.studies.state import Member, State, check_size
from duelmatch.studies.texts import check_titles, look_alike, with_candidate, with_details
from duelmatch.studies.values import Nothing, Phase, Question, Ranking, Reason, Receipt, Trouble, verdict_of

MOST_REPORTS = 5
"""Open reports of a voter, who should talk to the organiser about more."""

NEW_LINK = "whoever has a new link could vote, and take back an answer, in their name."
OTHERWISE_COUNTED = "what changes when their answers count otherwise would tell how they have voted."


class Feed:
    """A study while a transaction holds it. ``by`` is the id of the link that acts, if there is one."""

    def __init__(self, state: State, held: Held, by: str | None = None) -> None:
        self.state = state
        self.held = held
        self.by = by

    # For voters.

    def ask(self, voter: str) -> Question | Nothing:
        """Return the open question of a voter, or the next, or say why there is none."""
        state, member = self.state, self.not_struck(voter)
        if state.phase != "open":
            return Nothing("paused") if state.phase == "paused" else Nothing("closed", state.published)
        if member.left:
            return Nothing("left")
        self._sweep(voter)
        if member.open is None and (reason := self._next(voter)):
            return Nothing(reason)
        assert member.open is not None, "what asks the questions has asked one"
        return state.question(state.questions[member.open])

    def _next(self, voter: str) -> Reason | None:
        """Put the next question to a voter, or say why there is none."""
        kind, most = self.state.kind, self.state.settings.max_answers
        if not kind.ready:
            kind.think(patient=False)
            if not kind.ready:
                raise Later
        if not kind.done and most is not None and self.state.counted + self.state.open >= most:
            return "budget"
        with self._recording():
            return kind.ask(voter, self.held.now)

    def _sweep(self, but_of: str) -> None:
        """Release questions that have been open for too long, except the one of this voter."""
        with self._recording() as kind:
            kind.expire(self.held.now)
            for question in self.state.expired(self.held.now, but_of):
                kind.release(question, "expired")

    def tell(self, voter: str, question: int, answer: questions.Answer) -> Receipt:
        """Keep an answer, or return it if it was kept before, as when it is sent again."""
        asked = self._own(voter, question)
        if asked.state == "answered":
            if not self.state.settings.secret and self.ranking(asked, answer) != asked.answer:
                raise ConflictError(
                    f"Question {question} was answered already, and differently. That answer stays unless "
                    "it is taken back first."
                )
            return self._receipt(question, repeated=True)
        if asked.state == "skipped":
            raise ConflictError(f"Question {question} was skipped already; answer the next one.")
        self.not_struck(voter)
        ranking = self.ranking(asked, answer)
        if self.state.phase == "closed":
            self.state.kind.check_answerable(question)
            data = {"question": question, "answer": [list(group) for group in ranking]}
            self.append("answered", data, voter)
        else:
            with self._recording() as kind:
                kind.tell(question, ranking, self.held.now)
        return self._receipt(question, repeated=False)

    def _receipt(self, question: int, repeated: bool) -> Receipt:
        asked = self.state.asked(question)
        return self.state.receipt(asked, self.held.hash_of(asked.entry), repeated)

    def tell_and_ask(
        self, voter: str, question: int, answer: questions.Answer
    ) -> tuple[Receipt, Question | Nothing | None]:
        """Keep an answer, and put the next question to its voter; None if that has to be asked for later."""
        receipt = self.tell(voter, question, answer)
        try:
            return receipt, self.ask(voter)
        except (Later, NotAllowedError):  # the answer stays, and its voter learns that it does
            return receipt, None

    def skip(self, voter: str, question: int, reason: str | None) -> None:
        """Pass on a question for good, also if its lease is over; once skipped, it stays so.

        :raises ConflictError: if it cannot be noted any more: then it is not lost without a word.
        """
        if not self.state.settings.skips:
            raise NotAllowedError("This study has no skipping: please answer.")
        if self._own(voter, question).state != "released":
            self._give_back(voter, question, lambda: self.state.kind.skip(question, reason or None))
            return
        try:
            with self._recording() as kind:
                kind.skip(question, reason or None)
        except DuelError:
            raise ConflictError(f"Question {question} is not open any more; ask for the next one.") from None

    def release(self, voter: str, question: int) -> None:
        """Give back an open question, which the voter may be asked again."""
        self._give_back(voter, question, lambda: self.state.kind.release(question, "released"))

    def _give_back(self, voter: str, question: int, how: Callable[[], None]) -> None:
        asked = self._own(voter, question)
        if asked.state == "answered":
            raise ConflictError(f"Question {question} is answered; undo the answer first.")
        if asked.state == "open":
            with self._recording():
                how()

    def undo(self, voter: str, question: int | None) -> Question:
        """Take the last answer of a voter back, and open its question again; only of this one, if said."""
        member = self.not_struck(voter)
        if self.state.phase == "closed":
            raise ConflictError("The study is closed; answers cannot be taken back any more.")
        if question is not None:
            asked = self._own(voter, question)
            if asked.state == "open":
                return self.state.question(asked)
        if not member.last:
            raise ConflictError("There is no answer to take back.")
        last = self.state.questions[member.last]
        if question not in (None, last.number):
            raise ConflictError(f"Question {question} is not the one that you answered last.")
        if last.struck:
            raise ConflictError("The organiser has struck that answer, so it cannot be taken back.")
        self._check_can_be_asked_again(last)
        following = member.open
        with self._recording() as kind:
            kind.undo(last.number, self.held.now)
            if following is not None:
                kind.release(following, "undo")
        return self.state.question(self.state.questions[last.number])

    def _check_can_be_asked_again(self, asked: Asked) -> None:
        """Refuse to open a question again that nobody would be asked: its answer would be lost."""
        for name in asked.candidates:
            if name in self.state.dropped:
                raise ConflictError(f"'{name}' withdrew after that answer, so it cannot be taken back.")
            if name in self.state.member(asked.voter).conflicts:
                raise ConflictError(
                    f"That answer is about '{name}', whom this voter does not judge any more, so it cannot "
                    "be taken back."
                )

    def report(self, voter: str, candidate: str, problem: Trouble, text: str) -> None:
        """Note that something is wrong with a candidate; said twice, it is noted once."""
        self.not_struck(voter)
        self.state.problem.candidate_number(candidate)
        known = self.state.open_reports.get(voter, ())
        if (candidate, problem, text) in known:
            return
        if len(known) >= MOST_REPORTS:
            raise ConflictError(
                f"You have reported {MOST_REPORTS} problems that the organiser has not solved yet. Report "
                "more when they are, or tell the organiser yourself."
            )
        self.append("reported", {"candidate": candidate, "problem": problem, "text": text}, voter)

    # For organisers.

    def resolve(self, report: int) -> None:
        """Note that what was reported is no longer wrong."""
        if report not in self.state.reports:
            raise NotThereError(f"There is no report {report!r:.40} in this study.")
        if not self.state.reports[report].resolved:
            self.append("resolved", {"report": report})

    def correct(self, question: int, answer: questions.Answer, clerical: bool) -> None:
        """Change an answer, or with None strike it."""
        asked = self.state.asked(question)
        if asked.state != "answered":
            raise ConflictError(f"Question {question} has no answer to correct.")
        ranking = None if answer is None else self.ranking(asked, answer)
        if (ranking is None and asked.struck) or (ranking == asked.answer and not asked.struck):
            return
        with self._recording() as kind:
            kind.correct(question, ranking, clerical)

    def strike(self, voter: str) -> None:
        """Let no answer of a voter count, given or to come."""
        if not self.state.member(voter).struck:
            self.keep_secret(voter, OTHERWISE_COUNTED)
            with self._recording() as kind:
                kind.strike(voter)

    def reinstate(self, voter: str) -> None:
        """Take back that a voter was struck."""
        if self.state.member(voter).struck:
            self.keep_secret(voter, OTHERWISE_COUNTED)
            with self._recording() as kind:
                kind.reinstate(voter)

    def drop(self, candidate: str) -> None:
        """Take a candidate out who withdrew."""
        self.state.problem.candidate_number(candidate)
        if candidate not in self.state.dropped:
            with self._recording() as kind:
                kind.drop(candidate)

    def add(self, candidate: str, positions: Sequence[str], details: Mapping[str, Any]) -> None:
        """Take in a late candidate."""
        if candidate in self.state.dropped:
            raise ConflictError(
                f"'{candidate}' withdrew from this study, which cannot be taken back. Take them in under a "
                "new name."
            )
        larger = with_candidate(self.state.problem, candidate, positions)
        check_size(self.state.settings, len(self.state.members), larger)
        if look_alike([*self.state.problem.candidates, candidate]):
            raise ConflictError(f"There is a candidate who looks like '{candidate:.80}' already.")
        about = {"candidates": {candidate: details}} if details else {}
        # Refused later, it would take back what is written by then. Also without a title: the name of a late
        # candidate may be the title of another.
        check_titles(with_details(larger, about), [candidate])
        with self._recording() as kind:
            kind.add(candidate, positions)
        if about:
            self.append("detailed", about)

    def edit(self, details: Mapping[str, Mapping[str, Any]]) -> None:
        """Change titles, texts, pictures and links of candidates and positions."""
        changed = [name for kind in details.values() for name, about in kind.items() if "title" in about]
        check_titles(with_details(self.state.problem, details), changed)
        self.append("detailed", details)

    def rename(self, name: str) -> None:
        """Give the study another name."""
        self.append("renamed", {"name": name})
        self.held.name = name

    def check_room(self, voters: int, conflicts: int) -> None:
        """Refuse new voters, or conflicts of interest, that would make the study too large."""
        state = self.state
        if state.settings.kind == "panel":
            size = len(state.members) + voters, state.problem, state.conflicts + conflicts
            check_size(state.settings, *size)

    def enter(self, voters: Sequence[Newcomer]) -> None:
        """Take in voters, which for a panel takes no longer than to take in one."""
        self.check_room(len(voters), sum(len(conflicts) for _, _, conflicts in voters))
        with self._recording() as kind:
            kind.enter(voters)

    def leave(self, voter: str, open_answers: Literal["open", "dropped"]) -> None:
        """Ask a voter nothing more."""
        if open_answers not in ("open", "dropped"):
            raise StudyError(f"Open answers stay 'open' or are 'dropped', not {open_answers!r:.40}.")
        member = self.state.member(voter)
        if not member.left or (open_answers == "dropped") > member.open_dropped:
            with self._recording() as kind:
                kind.leave(voter, open_answers)

    def come_back(self, voter: str) -> None:
        """Ask a voter again who had left."""
        if self.state.member(voter).left:
            with self._recording() as kind:
                kind.come_back(voter)

    def conflict(self, voter: str, candidates: Sequence[str], own: bool = False) -> None:
        """Let a voter not judge some candidates any more; ``own``: the voter has said so."""
        known = self.state.member(voter).conflicts
        if new := [candidate for candidate in self._known(candidates) if candidate not in known]:
            if not own:
                self.keep_secret(voter, OTHERWISE_COUNTED)
            self.check_room(0, len(new))
            with self._recording() as kind:
                kind.conflict(voter, new)

    def clear_conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Let a voter judge candidates again about whom there was a conflict."""
        known = self.state.member(voter).conflicts
        if gone := [candidate for candidate in self._known(candidates) if candidate in known]:
            self.keep_secret(voter, OTHERWISE_COUNTED)
            with self._recording() as kind:
                kind.clear_conflict(voter, gone)

    def _known(self, candidates: Sequence[str]) -> list[str]:
        """Return candidates, each once, if all of them are in the study."""
        for candidate in candidates:
            self.state.problem.candidate_number(candidate)
        return list(dict.fromkeys(candidates))

    def publish(self, shown: bool) -> None:
        """Show the result to voters once the study is closed, or no longer."""
        if self.state.published != shown:
            self.append("published", {"shown": shown})

    def move(self, kind: Literal["paused", "resumed", "closed", "reopened"]) -> None:
        """Pause, resume, close or reopen the study; nothing happens if it is so already."""
        phase: Phase = {"paused": "paused", "closed": "closed"}.get(kind, "open")  # type: ignore[assignment]
        allowed = {"paused": {"open"}, "resumed": {"paused"}, "reopened": {"closed"}}
        if self.state.phase == phase:
            return
        if self.state.phase not in allowed.get(kind, {"open", "paused"}):
            raise ConflictError(f"The study is {self.state.phase}, so it cannot be {kind}.")
        if kind == "reopened" and self.state.settings.secret:
            raise ConflictError("A secret ballot stays closed: its votes may have been looked at.")
        if kind != "closed":
            self.append(kind, {})
        else:
            if not self.state.kind.ready:
                raise Later
            asked = self.state.kind
            self.append(kind, {"verdict": verdict_of(asked.last_result, asked.assuming)})
        self.held.phase = phase
        if kind == "reopened":
            self.publish(False)  # votes may change the result that voters have been shown
            for entry in self.state.no_longer_held():  # answers that came meanwhile are in the log already
                self.state.kind.note(entry.event)
            with self._recording() as asking:
                asking.settle()

    def keep_secret(self, voter: str, why: str) -> None:
        """Refuse what would show by a detour what a voter has answered secretly.

        :raises NotAllowedError: if the voter has begun. Whoever needs no link has the database anyway.
        """
        if self.by is not None and self.state.settings.secret and self.state.member(voter).answered:
            raise NotAllowedError(f"The ballot is secret, and this voter has begun: {why}")

    # For all.

    def not_struck(self, voter: str) -> Member:
        """Return a voter.

        :raises NotAllowedError: if the organiser has struck them.
        """
        member = self.state.member(voter)
        if member.struck:
            raise NotAllowedError("The organiser has taken this voter out of the study.")
        return member

    def append(self, kind: str, data: Mapping[str, Any], voter: str | None = None) -> Entry:
        """Add an entry of the study's own to the log."""
        if self.state.settings.secret:
            data = salted(data)
        entry = self.held.append(kind, data, voter, self.by)
        self.state.follow(entry)
        return entry

    def leave_trail(self, kind: str, data: Mapping[str, Any], voter: str | None = None) -> None:
        """Write down what a link was used for that concerns no question; what no link did is the owner's."""
        if self.by is not None:
            self.append(kind, data, voter)

    @contextmanager
    def _recording(self) -> Iterator[Kind]:
        """Write down what is decided by what asks the questions.

        :raises ConflictError: if the study is closed: what follows from its log is written down already.
        """
        if self.state.phase == "closed":
            raise ConflictError("The study is closed, and its verdict recorded; reopen it first.")
        kind = self.state.kind
        kind.record = self._record
        try:
            yield kind
        finally:
            kind.record = None

    def _record(self, event: Event) -> None:
        data = dict(event)
        kind, voter = data.pop("kind"), data.pop("voter", None)
        if kind == "asked":
            if data["until"] is None:
                data["until"] = self.held.now + self.state.settings.lease
        elif voter is None and "question" in data:
            voter = self.state.questions.voter(data["question"])
        self.append(kind, data, voter)

    def ranking(self, asked: Asked, answer: questions.Answer) -> Ranking:
        """Return an answer as groups, best first.

        :raises StudyError: if it is not one to this question.
        """
        question = questions.Question(asked.position, asked.candidates, asked.number)
        ranking = tuple(map(tuple, questions.groups_of(questions.places(question, answer))))
        if not self.state.settings.ties and len(ranking) < len(asked.candidates):
            raise NotAllowedError("This study has no ties: one must be better.")
        return ranking

    def _own(self, voter: str, question: int) -> Asked:
        asked = self.state.asked(question)
        if asked.voter != self.state.member(voter).id:
            raise NotAllowedError(f"Question {question} was put to somebody else.")
        return asked
