"""The state of a study: what its log gives, in memory, brought up to date entry by entry.

Every process has its own, and all states of the same log are alike. It knows no database: entries come in,
from the log or as they are decided, and questions, answers and voters can be looked up.
"""

from __future__ import annotations

import json
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Any, Literal

from duelmatch.errors import NotThereError, StoreError
from duelmatch.files.problems import read_problem, tree_of
from duelmatch.problem import Problem
from duelmatch.studies.candidates import with_candidate, with_details
from duelmatch.studies.entries import BEGINNING, FORMAT, Entry, sealed
from duelmatch.studies.estimates import Estimates
from duelmatch.studies.history import HOUR
from duelmatch.studies.kinds import Begin, new_kind
from duelmatch.studies.settings import Settings
from duelmatch.studies.values import GivenAnswer, Phase, Question, Ranking, Receipt, Report, Status

TRAIL = ("linked", "revoked", "named")
"""Who gave out or revoked which link, and whose name was changed or deleted: for the record alone."""

REPORTS = ("reported", "resolved")
"""That something is wrong with a candidate, and that it no longer is."""

OWN_KINDS = frozenset(
    {
        "created",
        "paused",
        "resumed",
        "closed",
        "reopened",
        "renamed",
        "detailed",
        "published",
        *TRAIL,
        *REPORTS,
    }
)
"""What concerns the study alone, not what asks its questions."""

NOTHING_NEW = (OWN_KINDS - {"closed", "reopened"}) | {
    "asked", "opened", "designed", "backed", "passed", "released", "skipped", "joined",
}  # fmt: skip
"""What changes no count."""

PHASES: Mapping[str, Phase] = {"paused": "paused", "resumed": "open", "closed": "closed", "reopened": "open"}


@dataclass(slots=True)
class Asked:
    """A question that was put to a voter, and what became of it."""

    number: int
    voter: str
    position: str
    candidates: tuple[str, ...]
    until: float | None
    ballot: int | None
    place: int | None
    asked_at: float = 0.0
    state: Literal["open", "answered", "skipped", "released"] = "open"
    answer: Ranking | None = None
    entry: int = 0
    """The entry that has the answer."""
    at: float = 0.0
    hash: str = ""
    struck: bool = False
    held: bool = False
    """Whether the answer came after closing, and counts if the study is opened again."""


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
    answered: list[int] = field(default_factory=list)
    """The questions with an answer, in the order in which these were given."""


RENAMED = {"size": "ballot_size"}
"""Parameters that are called otherwise in the logs of earlier versions."""


class State:
    """What the log of a study says, up to and with entry ``seq``. Hold ``lock`` while you look."""

    def __init__(self, created: Entry, begin: Begin | None = None) -> None:
        self.problem, self.settings, voters = read_created(created)
        self.lock = threading.RLock()
        self.evicted = False
        """Whether this is not the state of the study any more; get it anew."""
        self.seq = 1
        self.hash = created.hash
        self.phase: Phase = "open"
        self.dropped: list[str] = []
        self.members = {
            voter["id"]: Member(voter["id"], voter["weight"], tuple(voter["conflicts"])) for voter in voters
        }
        self.questions: dict[int, Asked] = {}
        self.open = 0
        self.answers = self.counted = 0
        self.verdict: dict[str, Any] | None = None
        """What the study had come to when it was closed."""
        self.hours: Counter[int] = Counter()
        self.given: list[tuple[int, int]] = []
        """The entry and the question of every answer, also of those undone since."""
        self.kind = new_kind(self.problem, self.settings, voters, begin)
        self.changed_at = 1
        """The last entry that may have changed what follows from the answers."""
        self.estimates: Estimates | None = None
        """Those that were computed last."""
        self.status: tuple[int, Status] | None = None
        """What was said last of where it stands, and after which entry."""
        self.reports: dict[int, Report] = {}
        """What voters have reported, by entry."""
        self.published = False
        """Whether voters are shown the result, once the study is closed."""
        self._held: list[Entry] = []
        self._leases: list[tuple[float, int]] = []
        self._ballots: dict[int, tuple[str, int]] = {}
        """Whose every ballot is now, and how many questions it has."""

    # Noting what happened.

    def note(self, entries: Iterable[Entry]) -> None:
        """Take over entries from the log; those that are known already are passed over."""
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
                self._note_asked(entry)
            case "answered":
                self._note_answer(entry)
            case "skipped" | "released":
                asked = self.questions[data["question"]]
                self._end(asked)
                if asked.state == "open" or (asked.state, entry.kind) == ("released", "skipped"):
                    asked.state = entry.kind
            case "opened":
                self._ballots[data["ballot"]] = (entry.voter or "", len(data["questions"]))
            case "passed":
                self._ballots[data["ballot"]] = (entry.voter or "", self._ballots[data["ballot"]][1])
            case "expired" | "finished":
                self._end_ballot(data["ballot"])
            case "designed" | "backed":
                pass
            case "joined" | "entered":
                conflicts = tuple(data.get("conflicts", ()))
                self.members[entry.voter or ""] = Member(entry.voter or "", data.get("weight", 1), conflicts)
            case _:
                self._note_rare(entry)

    def _note_asked(self, entry: Entry) -> None:
        data = entry.data
        asked = Asked(
            data["question"],
            entry.voter or "",
            data["position"],
            tuple(data["candidates"]),
            data.get("until"),
            data.get("ballot"),
            data.get("place"),
            entry.at,
        )
        if asked.number in self.questions:
            raise StoreError(f"Entry {entry.seq} asks question {asked.number}, which was asked before.")
        self.questions[asked.number] = asked
        self._begin(asked)

    def _note_answer(self, entry: Entry) -> None:
        asked = self.questions[entry.data["question"]]
        if asked.state == "answered":
            raise StoreError(f"Entry {entry.seq} answers question {asked.number}, which has an answer.")
        self._end(asked)
        asked.state, asked.answer = "answered", as_ranking(entry.data["answer"])
        asked.entry, asked.at, asked.hash, asked.struck = entry.seq, entry.at, entry.hash, False
        self.given.append((entry.seq, asked.number))
        self.members[asked.voter].answered.append(asked.number)
        self.answers += 1
        self.hours[int(entry.at // HOUR)] += 1
        if self.phase == "closed":
            asked.held = True
            self._held.append(entry)
        self.counted += self.counts(asked)

    def _note_rare(self, entry: Entry) -> None:
        data = entry.data
        match entry.kind:
            case "undone":
                asked = self.questions[data["question"]]
                self.counted -= self.counts(asked)
                self.answers -= 1
                self.members[asked.voter].answered.remove(asked.number)
                asked.state, asked.answer, asked.entry, asked.held = "open", None, 0, False
                if asked.ballot is None:
                    asked.until = entry.at + self.settings.lease
                self._begin(asked)
            case "corrected":
                asked = self.questions[data["question"]]
                self.counted -= self.counts(asked)
                asked.struck = data["answer"] is None
                if data["answer"] is not None:
                    asked.answer = as_ranking(data["answer"])
                self.counted += self.counts(asked)
            case "struck" | "reinstated":
                member = self.member(entry.voter)
                member.struck = entry.kind == "struck"
                self._release(member)
                self._recount()
            case "left" | "returned":
                member = self.member(entry.voter)
                member.left = entry.kind == "left"
                member.open_dropped = data.get("open_answers") == "dropped"
                self._release(member)
            case "conflict":
                member = self.member(entry.voter)
                member.conflicts = tuple(dict.fromkeys((*member.conflicts, *data["candidates"])))
                self._recount()
            case "cleared":
                member = self.member(entry.voter)
                member.conflicts = tuple(name for name in member.conflicts if name not in data["candidates"])
                self._recount()
            case "dropped":
                self.dropped.append(data["candidate"])
                for member in self.members.values():
                    if member.open and data["candidate"] in self.questions[member.open].candidates:
                        self._release(member)
                self._recount()
            case "added":
                self.problem = with_candidate(self.problem, data["candidate"], data["positions"])
            case "detailed":
                self.problem = with_details(self.problem, data)
            case "reported":
                self.reports[entry.seq] = Report(entry.seq, entry.at, entry.voter or "", **data)
            case "resolved":
                self.reports[data["report"]] = replace(self.reports[data["report"]], resolved=True)
            case "published":
                self.published = data["shown"]
            case "renamed" | "linked" | "revoked" | "named":
                pass
            case "paused" | "resumed" | "closed" | "reopened":
                self.phase = PHASES[entry.kind]
                self.verdict = data.get("verdict")
            case kind:
                raise StoreError(f"This version of duelmatch knows no entries of kind '{kind:.40}'.")

    def _begin(self, asked: Asked) -> None:
        self.open += 1
        self.members[asked.voter].open = asked.number
        if asked.until is not None:
            heappush(self._leases, (asked.until, asked.number))

    def _end(self, asked: Asked) -> None:
        if asked.state == "open":
            self.open -= 1
            member = self.members[asked.voter]
            if member.open == asked.number:
                member.open = None

    def _end_ballot(self, ballot: int) -> None:
        member = self.members[self._ballots[ballot][0]]
        if member.open is not None and self.questions[member.open].ballot == ballot:
            self._release(member)

    def _release(self, member: Member) -> None:
        """End the open question of a voter, if there is one; an answer that comes late is still taken."""
        if member.open is not None:
            asked = self.questions[member.open]
            self._end(asked)
            asked.state = "released"

    def no_longer_held(self) -> list[Entry]:
        """Return the answers that came after closing; from now on they count."""
        held, self._held = self._held, []
        for entry in held:
            self.questions[entry.data["question"]].held = False
        self._recount()
        return held

    # Looking.

    def counts(self, asked: Asked) -> bool:
        """Whether the answer to a question counts."""
        return (
            asked.state == "answered"
            and not (asked.struck or asked.held or self.members[asked.voter].struck)
            and self._is_about_two(asked)
        )

    def _is_about_two(self, asked: Asked) -> bool:
        """Whether a question still compares: two of its candidates are there, and its voter may judge them.

        A crowd's answers count also where a conflict was declared later: what was drawn stays drawn.
        """
        conflicts = self.members[asked.voter].conflicts if self.settings.kind == "panel" else ()
        if not (self.dropped or conflicts):
            return True
        return sum(name not in self.dropped and name not in conflicts for name in asked.candidates) > 1

    def _recount(self) -> None:
        self.counted = sum(map(self.counts, self.questions.values()))

    @property
    def struck(self) -> int:
        """How many answers do not count because they, or their voters, were struck."""
        return sum(
            asked.state == "answered" and (asked.struck or self.members[asked.voter].struck)
            for asked in self.questions.values()
        )

    @property
    def voters_counted(self) -> int:
        """How many voters have given an answer that counts."""
        return len({asked.voter for asked in self.questions.values() if self.counts(asked)})

    def counted_of(self, member: Member) -> int:
        """Return how many answers of a voter count."""
        return sum(self.counts(self.questions[number]) for number in member.answered)

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

    def expired(self, now: float, but_of: str) -> list[Asked]:
        """Return the open questions whose lease is over, but not those of one voter."""
        found: dict[int, Asked] = {}
        while self._leases and self._leases[0][0] <= now:
            until, number = heappop(self._leases)
            asked = self.questions[number]
            if asked.state == "open" and asked.until == until:
                found[number] = asked
        own = self.members[but_of].open if but_of in self.members else None
        if own in found:
            asked = found.pop(own)
            heappush(self._leases, (asked.until or 0.0, asked.number))
        return list(found.values())

    def question(self, asked: Asked) -> Question:
        """Return a question as its voter sees it."""
        of = None if asked.ballot is None else self._ballots[asked.ballot][1]
        place = None if asked.place is None else asked.place + 1
        return Question(asked.number, asked.voter, asked.position, asked.candidates, asked.until, place, of)

    def receipt(self, asked: Asked, repeated: bool) -> Receipt:
        """Return what is said of an answer."""
        assert asked.answer is not None, "there is an answer"
        return Receipt(asked.number, asked.position, asked.answer, asked.entry, asked.hash, repeated)

    def given_answer(self, asked: Asked) -> GivenAnswer:
        """Return an answer as the organiser sees it."""
        assert asked.answer is not None, "there is an answer"
        return GivenAnswer(
            entry=asked.entry,
            at=asked.at,
            voter=asked.voter,
            question=asked.number,
            position=asked.position,
            candidates=asked.candidates,
            answer=asked.answer,
            struck=asked.struck,
            counts=self.counts(asked),
        )

    def answers_before(self, entry: int, voter: str | None) -> Iterator[Asked]:
        """Yield the questions with an answer that came before an entry, the latest first."""
        if voter is not None:
            numbers = self.member(voter).answered
            end = bisect_left(numbers, entry, key=lambda number: self.questions[number].entry)
            yield from (self.questions[number] for number in reversed(numbers[:end]))
            return
        for place in range(bisect_left(self.given, (entry, 0)) - 1, -1, -1):
            seq, number = self.given[place]
            asked = self.questions[number]
            if asked.entry == seq:
                yield asked

    def answers_after(self, entry: int) -> Iterator[Asked]:
        """Yield the questions with an answer that came after an entry, the earliest first."""
        for place in range(bisect_left(self.given, (entry + 1, 0)), len(self.given)):
            seq, number = self.given[place]
            asked = self.questions[number]
            if asked.entry == seq:
                yield asked


def as_ranking(answer: Sequence[Sequence[str]]) -> Ranking:
    """Return an answer of the log, with those who are equal in the order of the alphabet."""
    return tuple([tuple(group) if len(group) == 1 else tuple(sorted(group)) for group in answer])


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
