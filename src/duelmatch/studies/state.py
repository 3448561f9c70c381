"""The state of a study: what its log gives, in memory, brought up to date entry by entry.

Every process has its own, and all states of the same log are alike. It knows no database: entries come in,
from the log or as they are decided, and questions, answers and voters can be looked up.
"""

from __future__ import annotations

import json
import threading
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Any

from duelmatch.errors import NotThereError, StoreError, StudyError
from duelmatch.files.problems import read_problem, tree_of
from duelmatch.problem import Problem
from duelmatch.studies.entries import BEGINNING, FORMAT, Entry, sealed
from duelmatch.studies.estimates import Estimates
from duelmatch.studies.kinds import Begin, new_kind
from duelmatch.studies.questions import Asked, Questions
from duelmatch.studies.settings import Settings
from duelmatch.studies.texts import with_candidate, with_details
from duelmatch.studies.values import HOUR, GivenAnswer, Phase, Question, Receipt, Report, Said, Status

TRAIL = ("linked", "revoked", "named", "webhook")
"""Who gave out or revoked which link, whose name was changed or deleted, and that a webhook was set or
removed: for the record alone."""

REPORTS = ("reported", "resolved")
"""That something is wrong with a candidate, and that it no longer is."""

PHASES: Mapping[str, Phase] = {"paused": "paused", "resumed": "open", "closed": "closed", "reopened": "open"}

OWN_KINDS = frozenset({"created", "renamed", "detailed", "published", *PHASES, *TRAIL, *REPORTS})
"""What concerns the study alone, not what asks its questions."""

NOTHING_NEW = (OWN_KINDS - {"closed", "reopened"}) | {
    "asked", "opened", "designed", "backed", "passed", "released", "skipped", "joined",
}  # fmt: skip
"""What changes no count."""

MOST_PAIRS = 200_000
"""Different duels: what can be looked through for every question."""

MOST_OPINIONS = 5_000_000
"""Judges times different duels. Twice as many took 62 MB, and 0.4 to 0.7 seconds of a processor whenever a
judge came or went."""

MOST_CONFLICTS = 1_000_000
"""Judges times the candidates that each does not judge. Half of it took 0.3
seconds whenever a judge came or went."""

SPARE = 1_000
"""Leases that are over are swept away once there are more than this."""


@dataclass(slots=True)
class Member:
    """A voter, as far as the log tells."""

    id: str
    weight: int = 1
    conflicts: tuple[str, ...] = ()
    struck: bool = False
    left: bool = False
    open_dropped: bool = False
    """Whether what was not said when leaving does not count."""
    open: int | None = None
    number: int = 0
    """In the order of joining, from 0."""
    answered: int = 0
    """How many questions have an answer."""
    last: int = 0
    """The question that was answered last, 0 if none was."""


RENAMED = {"size": "ballot_size"}
"""Parameters that are called otherwise in the logs of earlier versions."""


class State:
    """What the log of a study says, up to and with entry ``seq``. Hold ``lock`` while you look."""

    def __init__(self, created: Entry, begin: Begin | None = None) -> None:
        self.problem, self.settings, voters = read_created(created)
        self.lock = threading.RLock()
        self.evicted = False
        """Whether this was dropped from the cache: get the state again."""
        self.seq = 1
        self.hash = created.hash
        self.phase: Phase = "open"
        self.dropped: list[str] = []
        self.members: dict[str, Member] = {}
        self.questions = Questions()
        self.open = 0
        self.answers = self.counted = 0
        self.verdict: dict[str, Any] | None = None
        """What the study had come to when it was closed."""
        self.hours: Counter[int] = Counter()
        self.kind = new_kind(self.problem, self.settings, voters, begin)
        self.changed_at = 1
        """The last entry that may have changed what follows from the answers."""
        self.estimates: Estimates | None = None
        """Those that were computed last."""
        self.status: tuple[int, Status] | None = None
        """What was said last of where it stands, and after which entry."""
        self.reports: dict[int, Report] = {}
        """What voters have reported, by entry."""
        self.open_reports: defaultdict[str, set[Said]] = defaultdict(set)
        """What each voter has reported that nobody has resolved."""
        self.published = False
        """Whether voters are shown the result, once the study is closed."""
        self._held: list[Entry] = []
        self._leases: list[tuple[float, int]] = []
        self._ballot_holder, self._ballot_size = array("I"), array("I")
        """Whose every ballot is now, by number, and how many questions it has."""
        for voter in voters:
            self._join(voter["id"], voter["weight"], voter["conflicts"])

    # Noting what happened.

    def note(self, entries: Iterable[Entry]) -> None:
        """Apply entries from the log; those that are known already are skipped."""
        for entry in entries:
            if entry.seq <= self.seq:
                continue
            if entry.seq != self.seq + 1:
                raise StoreError(f"Entry {self.seq + 1} of the log is missing, entry {entry.seq} is there.")
            held = entry.kind == "answered" and self.phase == "closed"
            self.follow(entry)
            if entry.kind == "reopened":
                for answer in self.no_longer_held():
                    self.kind.note(answer.event)
            elif not held and entry.kind not in OWN_KINDS:
                self.kind.note(entry.event)

    def follow(self, entry: Entry) -> None:
        """Note an entry that what asks the questions knows already, as it has decided it."""
        self.seq, self.hash = entry.seq, entry.hash
        if entry.kind not in NOTHING_NEW:
            self.changed_at = entry.seq
        data = entry.data
        if entry.kind == "imported-old":
            entry = entry._replace(kind=data["was"])
        match entry.kind:
            case "asked":
                voter = self.member(entry.voter)
                self.questions.ask(entry, voter.number)
                self._begin(data["question"], voter)
            case "answered":
                self._note_answer(entry)
            case "skipped" | "released":
                number = self._known(data["question"])
                was = self.questions.state(number)
                self._end(number)
                if was == "open" or (was, entry.kind) == ("released", "skipped"):
                    self.questions.become(number, entry.kind)
            case "opened":
                if data["ballot"] != len(self._ballot_size):
                    raise StoreError(f"Entry {entry.seq} opens a ballot that is not the next.")
                self._ballot_holder.append(self.member(entry.voter).number)
                self._ballot_size.append(len(data["questions"]))
            case "passed":
                self._ballot_holder[data["ballot"]] = self.member(entry.voter).number
            case "expired" | "finished":
                holder = self.members[self.questions.voters[self._ballot_holder[data["ballot"]]]]
                if holder.open is not None and self.questions.ballot(holder.open) == data["ballot"]:
                    self._release(holder)
            case "designed" | "backed":
                pass
            case "joined" | "entered":
                self._join(entry.voter or "", data.get("weight", 1), data.get("conflicts", ()))
            case "undone" | "corrected":
                self._note_change(entry)
            case "struck" | "reinstated" | "left" | "returned" | "conflict" | "cleared":
                self._note_member(entry)
            case "reported" | "resolved":
                self._note_report(entry)
            case _:
                self._note_of_study(entry)

    def _join(self, voter: str, weight: int, conflicts: Sequence[str]) -> None:
        self.members[voter] = Member(voter, weight, tuple(conflicts), number=len(self.questions.voters))
        self.questions.voters.append(voter)

    def _known(self, question: object) -> int:
        """Return the number of a question that was asked."""
        if not isinstance(question, int) or question not in self.questions:
            raise StoreError(f"The log has no question {question!r:.40} that it speaks of.")
        return question

    def _note_answer(self, entry: Entry) -> None:
        number, held = self._known(entry.data["question"]), self.phase == "closed"
        if self.questions.state(number) == "answered":
            raise StoreError(f"Entry {entry.seq} answers question {number}, which has an answer.")
        member = self._end(number)
        self.questions.answer(entry, member.last, held)
        member.answered += 1
        member.last = number
        self.answers += 1
        self.hours[int(entry.at // HOUR)] += 1
        if held:
            self._held.append(entry)
        if not held and not member.struck:
            self.counted += not (self.dropped or member.conflicts) or self.counts(number)

    def _note_change(self, entry: Entry) -> None:
        """Note that an answer was taken back, or corrected."""
        number = self._known(entry.data["question"])
        if entry.kind == "corrected":
            self.counted -= self.counts(number)
            self.questions.correct(number, entry.data["answer"])
            self.counted += self.counts(number)
            return
        if self.questions.state(number) != "answered":
            raise StoreError(f"Entry {entry.seq} takes back an answer that is not there.")
        member = self.members[self.questions.voter(number)]
        self.counted -= self.counts(number)
        self.answers -= 1
        member.answered -= 1
        alone = self.questions.ballot(number) is None
        until = entry.at + self.settings.lease if alone else None
        member.last = self.questions.take_back(number, member.last, until)
        self._begin(number, member)

    def _note_member(self, entry: Entry) -> None:
        """Note that a voter counts or takes part otherwise, or may judge others."""
        member, data = self.member(entry.voter), entry.data
        match entry.kind:
            case "left" | "returned":
                member.left = entry.kind == "left"
                member.open_dropped = data.get("open_answers") == "dropped"
                self._release(member)
                return
            case "struck" | "reinstated":
                member.struck = entry.kind == "struck"
                self._release(member)
            case "conflict":
                member.conflicts = tuple(dict.fromkeys((*member.conflicts, *data["candidates"])))
            case "cleared":
                member.conflicts = tuple(name for name in member.conflicts if name not in data["candidates"])
        self._recount()

    def _note_report(self, entry: Entry) -> None:
        """Note what a voter reports about a candidate, or that it is no longer wrong."""
        data = entry.data
        if entry.kind == "resolved":
            report = self.reports[data["report"]]
            self.reports[data["report"]] = replace(report, resolved=True)
            self.open_reports[report.voter].discard(report.said)
            return
        about = data["candidate"], data["problem"], data["text"]
        report = Report(entry.seq, entry.at, entry.voter or "", *about)
        self.reports[entry.seq] = report
        self.open_reports[report.voter].add(report.said)

    def _note_of_study(self, entry: Entry) -> None:
        """Note what concerns the study as a whole: its candidates, its phase, and what is published."""
        data = entry.data
        match entry.kind:
            case "dropped":
                self.dropped.append(data["candidate"])
                for member in self.members.values():
                    if member.open and data["candidate"] in self.questions.names(member.open):
                        self._release(member)
                self._recount()
            case "added":
                self.problem = with_candidate(self.problem, data["candidate"], data["positions"])
            case "detailed":
                self.problem = with_details(self.problem, data)
            case "published":
                self.published = data["shown"]
            case "renamed" | "linked" | "revoked" | "named" | "webhook":
                pass
            case "paused" | "resumed" | "closed" | "reopened":
                self.phase = PHASES[entry.kind]
                self.verdict = data.get("verdict")
            case kind:
                raise StoreError(f"This version of duelmatch knows no entries of kind '{kind:.40}'.")

    def _begin(self, question: int, member: Member) -> None:
        self.open += 1
        member.open = question
        until = self.questions.until(question)
        if until is not None:
            heappush(self._leases, (until, question))
            if len(self._leases) > 2 * self.open + SPARE:
                self._leases = [lease for lease in self._leases if self._is_leased(*lease)]
                heapify(self._leases)

    def _is_leased(self, until: float, question: int) -> bool:
        return self.questions.state(question) == "open" and self.questions.until(question) == until

    def _end(self, question: int) -> Member:
        """End a question, if it is open, and return its voter."""
        member = self.members[self.questions.voter(question)]
        if self.questions.state(question) == "open":
            self.open -= 1
            if member.open == question:
                member.open = None
        return member

    def _release(self, member: Member) -> None:
        """End the open question of a voter, if there is one; an answer that comes late is still taken."""
        if member.open is not None:
            question = member.open
            self._end(question)
            self.questions.become(question, "released")

    def no_longer_held(self) -> list[Entry]:
        """Return the answers that came after closing; from now on they count."""
        held, self._held = self._held, []
        for entry in held:
            self.questions.hold_no_longer(entry.data["question"])
        self._recount()
        return held

    # Looking.

    def counts(self, question: int) -> bool:
        """Whether the answer to a question counts."""
        questions = self.questions
        member = self.members[questions.voter(question)]
        return (
            questions.state(question) == "answered"
            and not (questions.flagged(question) or member.struck)
            and self._compares(member, questions.names(question))
        )

    def _compares(self, member: Member, candidates: Iterable[str]) -> bool:
        """Whether a question still compares: two of its candidates are there, and its voter may judge them.

        A crowd's answers count also where a conflict was declared later: what was drawn stays drawn.
        """
        gone = {*self.dropped, *(member.conflicts if self.settings.kind == "panel" else ())}
        return not gone or sum(name not in gone for name in candidates) > 1

    def counted_by_voter(self) -> list[int]:
        """Return how many answers of each voter count, by the number of the voter."""
        members = self.members.values()
        judges = [each for each in members if each.conflicts] if self.settings.kind == "panel" else []
        return self.questions.counting(
            [member.number for member in members if member.struck],
            self.dropped,
            {member.number: {*member.conflicts, *self.dropped} for member in judges},
        )

    def _recount(self) -> None:
        self.counted = sum(self.counted_by_voter())

    @property
    def struck(self) -> int:
        """How many answers do not count because they, or their voters, were struck."""
        return self.questions.struck([member.number for member in self.members.values() if member.struck])

    @property
    def voters_counted(self) -> int:
        """How many voters have given an answer that counts."""
        return sum(count > 0 for count in self.counted_by_voter())

    @property
    def voters_out(self) -> int:
        """How many judges have left without a vote that counts, and are not waited for."""
        gone = [each for each in self.members.values() if each.open_dropped and not each.struck]
        counted = self.counted_by_voter() if gone else []
        return sum(not counted[member.number] for member in gone)

    @property
    def conflicts(self) -> int:
        """How many candidates are not judged by a voter, of all voters together."""
        return sum(len(member.conflicts) for member in self.members.values())

    def member(self, voter: object) -> Member:
        """Return a voter.

        :raises NotThereError: if there is none of this id.
        """
        if not isinstance(voter, str) or voter not in self.members:
            raise NotThereError(f"There is no voter {voter!r:.40} in this study.")
        return self.members[voter]

    def asked(self, question: object) -> Asked:
        """Return a question.

        :raises NotThereError: if there is none of this number.
        """
        if type(question) is not int or question not in self.questions:
            raise NotThereError(f"There is no question {question!r:.40} in this study.")
        return self.questions[question]

    def expired(self, now: float, but_of: str) -> list[int]:
        """Return the open questions whose lease is over, but not those of one voter."""
        found: dict[int, None] = {}
        while self._leases and self._leases[0][0] <= now:
            lease = heappop(self._leases)
            if self._is_leased(*lease):
                found[lease[1]] = None
        own = self.members[but_of].open if but_of in self.members else None
        if own in found:
            del found[own]
            heappush(self._leases, (self.questions.until(own) or 0.0, own))
        return list(found)

    def question(self, asked: Asked) -> Question:
        """Return a question as its voter sees it."""
        of = None if asked.ballot is None else self._ballot_size[asked.ballot]
        place = None if asked.place is None else asked.place + 1
        return Question(asked.number, asked.voter, asked.position, asked.candidates, asked.until, place, of)

    @staticmethod
    def receipt(asked: Asked, digest: str, repeated: bool) -> Receipt:
        """Return what is said of an answer, whose entry has this hash."""
        assert asked.answer is not None, "there is an answer"
        return Receipt(asked.number, asked.position, asked.answer, asked.entry, digest, repeated)

    def given_answer(self, asked: Asked) -> GivenAnswer:
        """Return an answer as the organiser sees it."""
        assert asked.answer is not None, "there is an answer"
        about = asked.entry, asked.at, asked.voter, asked.number, asked.position, asked.candidates
        return GivenAnswer(*about, asked.answer, asked.struck, self.counts(asked.number))


def check_size(settings: Settings, voters: int, problem: Problem, conflicts: int = 0) -> None:
    """Refuse what is too large to be recounted whenever a voter or a candidate joins or leaves.

    ``conflicts``: how many candidates are not judged by a voter, of all voters together.
    """
    opinions = voters * problem.graph.pairs if settings.kind == "panel" else 0
    if problem.graph.pairs > MOST_PAIRS:
        raise StudyError(
            f"The problem is too large for a study: it has {problem.graph.pairs:,} different duels, "
            f"where {MOST_PAIRS:,} are allowed."
        )
    if opinions > MOST_OPINIONS:
        raise StudyError(
            f"The panel is too large: {voters:,} judges on {problem.graph.pairs:,} different duels have "
            f"{opinions:,} opinions, where {MOST_OPINIONS:,} are allowed. Have fewer judges, or leave out "
            "candidates that cannot win."
        )
    if settings.kind == "panel" and conflicts > MOST_CONFLICTS:
        raise StudyError(
            f"The panel is too large: its judges leave out {conflicts:,} candidates, all counted together, "
            f"where {MOST_CONFLICTS:,} are allowed. Have fewer judges, or let each judge more candidates."
        )


def created_data(problem: Problem, settings: Settings, voters: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the data of a study's first entry."""
    settings_data = settings.as_dict() | {"voters": voters}
    return {"problem": tree_of(problem), "settings": settings_data, "format": FORMAT}


def check_beginning(data: Mapping[str, Any]) -> None:
    """Refuse what no study can begin with, by beginning one and finding its first questions."""
    State(sealed(1, 0.0, "created", data, BEGINNING)[0]).kind.think()


def read_created(created: Entry) -> tuple[Problem, Settings, list[dict[str, Any]]]:
    """Read a study's first entry."""
    if created.seq != 1 or created.kind != "created":
        raise StoreError("The log of the study has no beginning; the database is damaged.")
    if created.data.get("format") != FORMAT:
        raise StoreError("Another version of duelmatch wrote this study; this one cannot read it.")
    settings = dict(created.data["settings"])
    voters = settings.pop("voters")
    parameters = {RENAMED.get(name, name): value for name, value in settings["parameters"].items()}
    problem = read_problem(json.dumps(created.data["problem"]), ".json")
    return problem, Settings.from_dict(settings | {"parameters": parameters}), voters
