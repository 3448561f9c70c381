"""Studies as people make them: skips, quitters, conflicts, corrections, strikes, candidates who come and go.

:func:`run_messy_study` plays one, on two servers with a clock of its own, and checks on the way that nobody
ever waits for what nobody can answer, that it ends, and that a store opened afresh says the same. It is
called a few times by the tests, and a thousand times by ``benchmarks/messy.py``.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import duelmatch as dm
from duelmatch.errors import ConflictError, DuelmatchError, NotAllowedError
from duelmatch.files.answers import read_sheet
from duelmatch.studies import NewVoter, Nothing, Question, Settings, Store, Study, exported_answers
from duelmatch.studies.state import State

LEASE = 10.0
STEPS = 120
"""Until everybody has had enough, and only finishes what can be finished."""


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Person:
    """A voter: how they like the candidates, and how they behave."""

    id: str
    taste: dict[tuple[str, str], float] = field(default_factory=dict)
    skips: float = 0.0
    ties: float = 0.0
    undoes: float = 0.0
    quits: float = 0.0
    gone: bool = False


@dataclass
class Played:
    """What became of a study."""

    kind: str
    status: str
    done: bool
    answers: int
    entries: int
    acts: Counter[str]
    reasons: Counter[str]
    log: str = ""


class Game:
    """One messy study."""

    def __init__(self, stores: list[Store], clock: Clock, kind: str, seed: int) -> None:
        self.chance = chance = random.Random(f"{kind} {seed}")
        self.clock = clock
        self.acts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        candidates = list("abcdef"[: chance.randint(3, 5)])
        positions = ["p", "q", "r"][: chance.randint(1, min(3, len(candidates) - 1))]
        problem = dm.Problem.complete(candidates, positions)
        settings = self.settings(kind, seed)
        names = [f"V{number}" for number in range(chance.randint(3, 7))] if kind == "panel" else []
        judges = [self.judge(name, candidates) for name in names]
        first = stores[0].create(problem, settings, f"{kind} {seed}", judges)
        self.servers = [store.study(first.id) for store in stores]
        self.people = [self.person(voter.id) for voter in first.voters()]
        self.newcomers = 0 if kind == "panel" else chance.randint(5, 25)

    def settings(self, kind: str, seed: int) -> Settings:
        chance = self.chance
        most = chance.choice([None, None, None, 20])
        if kind == "panel":
            parameters: dict[str, Any] = {
                "criterion": chance.choice(["condorcet", "condorcet", "borda"]),
                "consistent": chance.random() < 0.5,
                "question_size": chance.choice([2, 2, 3]),
                "until": chance.choice(["unbeaten", "unbeaten", "decided"]),
            }
            each = chance.choice([None, None, 5])
            return Settings("panel", 0.1, seed, parameters, LEASE, max_answers=most, questions_each=each)
        parameters = {
            "ballot_size": chance.choice([1, 3, 6]),
            "silence": chance.choice(["blind", "any"]),
            "heirs": chance.choice([0, 1, 5]),
            "assume_winner": chance.random() < 0.5,
        }
        algorithm = chance.choice(["condorcet", "condorcet", "borda"])
        if algorithm == "borda":
            parameters["question_size"] = chance.choice([2, 3])
        return Settings(algorithm, 0.3, seed, parameters, LEASE, max_answers=most)

    def judge(self, name: str, candidates: list[str]) -> NewVoter:
        conflicts = [self.chance.choice(candidates)] if self.chance.random() < 0.2 else []
        return NewVoter(name, self.chance.choice([1, 1, 2, 3]), conflicts)

    def person(self, voter: str) -> Person:
        chance = self.chance
        moods = {"skips": chance.choice([0, 0, 0.3]), "ties": chance.choice([0, 0.2])}
        moods |= {"undoes": chance.choice([0, 0, 0.15]), "quits": chance.choice([0, 0, 0.1])}
        return Person(voter, **moods)

    @property
    def study(self) -> Study:
        """The study on one of the servers."""
        return self.chance.choice(self.servers)

    # Voters.

    def ask(self, person: Person) -> Question | Nothing:
        asked = self.study.ask(person.id)
        if isinstance(asked, Nothing):
            self.reasons[asked.reason] += 1
            if asked.reason == "waiting":
                self.check_somebody_can(person)
        return asked

    def turn(self, person: Person) -> None:
        """Let a voter be asked, and do as they please."""
        question = self.ask(person)
        if isinstance(question, Nothing):
            return
        draw = self.chance.random()
        if draw < person.quits:
            person.gone = True  # without a word
        elif draw < person.quits + person.skips:
            self.study.skip(person.id, question.number, "I cannot say")
        elif draw < person.quits + person.skips + 0.03:
            self.study.release(person.id, question.number)
        else:
            self.answer(person, question)
            if self.chance.random() < person.undoes:
                self.attempt("undo", lambda: self.study.undo(person.id, question.number))

    def answer(self, person: Person, question: Question) -> None:
        for name in question.candidates:
            person.taste.setdefault((question.position, name), self.chance.random() + (name == "a"))
        order = sorted(question.candidates, key=lambda name: -person.taste[question.position, name])
        ranking: list[Any] = [*order]
        if self.chance.random() < person.ties:
            ranking = [tuple(order[:2]), *order[2:]]
        self.attempt("tell", lambda: self.study.tell(person.id, question.number, ranking))

    def attempt(self, name: str, act: Any) -> None:
        """Do something that may be refused, in a sentence."""
        try:
            act()
            self.acts[name] += 1
        except (ConflictError, NotAllowedError, dm.ProblemError):
            self.acts[f"{name} refused"] += 1

    # Organisers.

    def intervene(self) -> None:
        """Let the organiser do something."""
        study, chance = self.study, self.chance
        person = chance.choice(self.people) if self.people else None
        answers = study.answers(limit=None)
        given = chance.choice(answers) if answers else None
        dropped = study.status().dropped
        standing = [name for name in study.problem.candidates if name not in dropped]
        late = f"late{len(study.problem.candidates)}"
        positions = chance.sample(study.problem.positions, chance.randint(1, len(study.problem.positions)))
        acts: dict[str, Any] = {
            "drop": lambda: study.drop(chance.choice(standing)),
            "add": lambda: study.add(late, positions) if len(study.problem.candidates) < 7 else None,
            "pause": lambda: (study.pause(), self.ask(person) if person else None, study.resume()),
            "close": lambda: (study.close(), self.late_answer(), study.reopen()),
        }
        if person is not None:
            acts |= {
                "strike": lambda: study.strike(person.id),
                "reinstate": lambda: study.reinstate(person.id),
                "leave": lambda: study.leave(person.id, chance.choice(["open", "dropped"])),
                "come back": lambda: study.come_back(person.id),
                "conflict": lambda: study.conflict(person.id, [chance.choice(study.problem.candidates)]),
                "clear": lambda: study.clear_conflict(person.id, study.problem.candidates),
                "enter": lambda: self.people.append(self.person(study.add_voter())),
            }
        if given is not None:
            turned = list(given.answer[::-1])
            acts |= {
                "strike answer": lambda: study.correct(given.question, None),
                "correct": lambda: study.correct(given.question, turned, clerical=chance.random() < 0.5),
            }
        name = chance.choice(list(acts))
        self.attempt(name, acts[name])

    def late_answer(self) -> None:
        """Let somebody answer an open question, whatever the state of the study."""
        state = State(self.study.entries()[0])
        state.note(self.study.entries()[1:])
        open_questions = [asked for asked in state.questions if asked.state == "open"]
        if open_questions:
            asked = self.chance.choice(open_questions)
            self.attempt("late", lambda: self.study.tell(asked.voter, asked.number, list(asked.candidates)))

    # The course of it.

    def play(self) -> None:
        for step in range(STEPS):
            self.clock.now += self.chance.choice([0.5, 1, 3, 3, LEASE])
            if self.newcomers and self.chance.random() < 0.3:
                self.newcomers -= 1
                self.people.append(self.person(self.study.add_voter()))
            present = [person for person in self.people if not person.gone]
            if present:
                person = self.chance.choice(present)
                self.attempt("turn", lambda person=person: self.turn(person))
            if step > 10 and self.chance.random() < 0.12:
                self.intervene()
        self.finish()

    def finish(self) -> None:
        """Everybody who is there answers all they are asked; those who are gone are said to have left."""
        study = self.study
        self.attempt("reopen", study.reopen)
        self.attempt("resume", study.resume)
        for person in self.people:
            if person.gone:
                self.attempt("leave", lambda person=person: study.leave(person.id))
        self.clock.now += 100 * LEASE
        present = [person for person in self.people if not person.gone]
        for _ in range(400):
            asked = 0
            for person in present:
                try:
                    question = self.ask(person)
                except NotAllowedError:
                    continue  # struck
                if isinstance(question, Question):
                    asked += 1
                    self.answer(person, question)
                else:
                    assert question.reason in ("done", "all yours", "late", "left", "budget", "waiting")
            if not asked:
                break
        else:
            raise AssertionError("it does not end")
        final = {q.reason for p in present if isinstance(q := self.quiet_ask(p), Nothing)}
        assert "waiting" not in final, "nobody is left who could answer, and somebody waits"
        if self.servers[0].settings.kind == "panel" and final:
            assert final <= {"done", "left", "budget", "all yours"}
            if "all yours" in final:
                assert study.status().done or "budget" in final

    def quiet_ask(self, person: Person) -> Question | Nothing | None:
        try:
            return self.study.ask(person.id)
        except NotAllowedError:
            return None

    def check_somebody_can(self, waiting: Person) -> None:
        """Whoever is told to wait waits for somebody who has an open question, or would get one."""
        entries = self.study.entries()
        state = State(entries[0])
        state.note(entries[1:])
        for member in state.members.values():
            if member.id == waiting.id or member.struck or member.left:
                continue
            if member.open is not None or state.kind.ask(member.id, self.clock.now) is None:
                return
        raise AssertionError(f"{waiting.id} waits for nobody, after entry {entries[-1].seq}")


def check_export(study: Study) -> None:
    """The answers as CSV decide what the study has decided, and leave open as much; secretly, too."""
    if all(voter.struck for voter in study.voters()):
        return
    check_sheet(study, "".join(exported_answers(study)))
    with suppress(NotAllowedError):  # one of the judges can be told apart
        check_sheet(study, "".join(exported_answers(study, secretly=True)))


def check_sheet(study: Study, text: str) -> None:
    parameters, status = study.settings.parameters, study.status()
    sheet = read_sheet(text, study.problem)
    decision = dm.decide(
        sheet.problem,
        [row.answer for row in sheet.rows],
        parameters["criterion"],
        parameters["consistent"],
        voters=tuple(sheet.weights),
        missing=dict.fromkeys(sheet.dropped, "dropped"),
        conflicts=sheet.conflicts,
        voter_weight=sheet.weights,
        chosen=sheet.chosen,
    )
    assert decision.progress.open_answers == status.progress.open_answers
    assert decision.result.status == status.result.status
    if status.result.status != "budget_spent":  # or else there are several ways to guess
        assert decision.result.matching == status.result.matching
        assert decision.result.shortfall == status.result.shortfall


def run_messy_study(url: str, kind: str, seed: int) -> Played:
    """Play a study; raise if it does not keep what studies promise."""
    clock = Clock()
    with ExitStack() as stack:
        stores = [stack.enter_context(Store(url, clock)) for _ in range(2)]
        return play_messy_study(url, stores, clock, kind, seed)


def play_messy_study(url: str, stores: list[Store], clock: Clock, kind: str, seed: int) -> Played:
    """Play a study on two open stores."""
    game = Game(stores, clock, kind, seed)
    try:
        game.play()
        here, there = game.servers
        status = here.status()
        assert there.status() == status
        with Store(url, clock) as fresh:
            assert fresh.study(here.id).status() == status
        assert here.check() == status.entries
        if kind == "panel":
            check_export(here)
    except (AssertionError, DuelmatchError, KeyError, ValueError) as error:
        error.add_note(f"in the messy study {kind} {seed}")
        raise
    return Played(
        kind,
        status.result.status,
        status.done,
        status.answers,
        status.entries,
        game.acts,
        game.reasons,
        here.id,
    )
