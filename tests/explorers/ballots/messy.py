"""Runs of a crowd in which everything happens that can happen."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

from duelmatch.errors import DuelmatchError
from duelmatch.explorers.ballots.explorer import BallotExplorer


class MessyCrowd:
    """Voters who skip, quit and take answers back, and an organiser who strikes, corrects, drops and adds."""

    def __init__(self, run: BallotExplorer, random: Random, nameless: float = 0.0) -> None:
        self.run, self.random, self.positions = run, random, run.problem.positions
        self.worth = {edge: random.uniform(0, 2) + 2 * (random.random() < 0.3) for edge in run.problem.edges}
        self.nameless, self.now = nameless, 0.0
        self.told: list[Any] = []
        self.voters = self.late = 0

    def play(self, steps: int) -> None:
        for _ in range(steps):
            self.now += self.random.expovariate(1.0)
            with suppress(DuelmatchError):  # it cannot be done now
                self.vote() if self.random.random() < 0.97 else self.organise()

    def vote(self) -> None:
        self.voters += self.random.random() < 0.5 or self.voters == 0
        voter: str | None = f"v{self.random.randint(max(1, self.voters - 10), self.voters)}"
        if self.random.random() < self.nameless:
            voter = None
        for question in self.run.ask(self.random.randint(1, 12), voter, now=self.now):
            what = self.random.random()
            if what < 0.8:
                self.run.tell(question, self.answer(question), now=self.now)
                self.told.append(question)
            elif what < 0.9:
                self.run.skip(question, "cannot say", now=self.now)
            elif what < 0.95:
                self.run.release(question)

    def answer(self, question: Any) -> Any:
        def feeling(name: str) -> float:
            return self.worth.get((name, question.position), 1.0) + self.random.gauss(0, 0.6)

        *others, last, least = sorted(question.candidates, key=feeling, reverse=True)
        return [*others, (last, least)] if self.random.random() < 0.15 else [*others, last, least]

    def organise(self) -> None:
        random, run, voter = self.random, self.run, f"v{self.random.randint(1, self.voters or 1)}"
        question = random.choice(self.told) if self.told else None
        match random.choice(["expire", "strike", "strike", "reinstate", "correct", "undo", "drop", "add"]):
            case "expire":
                run.expire(voter)
            case "strike":
                run.strike(voter)
            case "reinstate" if run.state.count.struck:
                run.reinstate(random.choice(sorted(run.state.count.struck)))
            case "correct" if question is not None:
                answer = random.choice([None, list(question.candidates), list(question.candidates[::-1])])
                run.correct(question, answer, clerical=random.random() < 0.6)
            case "undo" if question is not None:
                run.undo(question, now=self.now)
            case "drop":
                run.drop(random.choice(run.problem.candidates))
            case "add" if len(run.problem.candidates) < 6:
                self.late += 1
                at = [position for position in self.positions if random.random() < 0.7]
                run.add(f"late{self.late}", at or list(self.positions))
