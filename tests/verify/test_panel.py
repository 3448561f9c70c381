"""The verdict of a panel, recomputed from its log, is the one that the study came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

import choices
import duelmatch as dm
from duelmatch.errors import DuelmatchError
from duelmatch.explorers.panel import PanelExplorer
from duelmatch.verify import verify
from duelmatch.verify.panel import cheapest
from logs import log_of, some_problem

PANELS = 48


class MessyPanel:
    """Judges who skip, leave and change their minds; an organiser who strikes, corrects, drops and adds."""

    def __init__(self, seed: int, problem: dm.Problem | None = None) -> None:
        self.random = random = Random(seed)
        self.problem = problem or some_problem(random)
        self.parameters: dict[str, Any] = {
            "criterion": random.choice(["condorcet", "borda"]),
            "consistent": random.random() < 0.6,
            "question_size": random.choice([2, 2, 3]),
        }
        voters = [f"v{number}" for number in range(random.randint(1, 6))]
        conflicts = {
            voter: [random.choice(self.problem.candidates)] for voter in voters if random.random() < 0.2
        }
        weights = {voter: random.choice([1, 1, 1, 2, 3]) for voter in voters}
        self.events: list[Any] = []
        self.run = PanelExplorer(
            self.problem, voters, conflicts=conflicts, voter_weight=weights, **self.parameters
        )
        self.run.record = self.events.append
        self.settings = {
            "algorithm": "panel",
            "parameters": self.parameters,
            "voters": [
                {"id": voter, "weight": weights[voter], "conflicts": conflicts.get(voter, [])}
                for voter in voters
            ],
        }
        self.told: list[Any] = []

    def play(self) -> None:
        for _ in range(self.random.choice([8, 40, 150])):
            if self.run.done and self.random.random() < 0.7:
                break
            try:
                self.vote() if self.random.random() < 0.85 else self.organise()
            except DuelmatchError:
                continue  # it cannot be done now

    def vote(self) -> None:
        voter = self.random.choice([None, *self.run.voters])
        for question in self.run.ask(self.random.randint(1, 3), voter):
            what = self.random.random()
            if what < 0.85:
                names = self.random.sample(question.candidates, len(question.candidates))
                tie = self.random.random() < 0.2
                self.run.tell(question, [*names[:-2], tuple(names[-2:])] if tie else names)
                self.told.append(question)
            elif what < 0.93:
                self.run.skip(question)
            else:
                self.run.release(question)

    def organise(self) -> None:
        random, run = self.random, self.run
        question = random.choice(self.told) if self.told else None
        voter, candidate = random.choice(run.voters), random.choice(run.problem.candidates)
        match random.randrange(12):
            case 0:
                run.leave(voter, random.choice(["open", "dropped"]))
            case 1:
                run.rejoin(voter)
            case 2:
                run.strike(voter)
            case 3:
                run.reinstate(voter)
            case 4 if question is not None:
                run.correct(question, list(question.candidates))
            case 5 if question is not None:
                run.strike_answer(question)
            case 6 if question is not None:
                run.undo(question)
            case 7:
                run.drop(candidate)
            case 8 if len(run.problem.candidates) < 6:
                dropped = [name for name in self.problem.candidates if name not in run.problem.candidates]
                positions = [position for position in self.problem.positions if random.random() < 0.8]
                run.add(random.choice([*dropped, f"late{len(self.events)}"]), positions)
            case 9 if len(run.voters) < 8:
                run.enter(f"late{len(self.events)}", random.randint(1, 2), [candidate] * random.randint(0, 1))
            case 10:
                run.declare_conflict(voter, [candidate])
            case 11:
                run.clear_conflict(voter, run.problem.candidates)


def seated_problems() -> Iterator[dm.Problem]:
    """Yield problems with capacities, seats, weights and rules, all line-ups of which can be compared."""
    for seed in choices.SEEDS:
        problem = choices.problem(seed)
        if problem.graph.pairs and len(choices.decisions(problem)) <= 60 and problem.conditions:
            yield problem


@pytest.mark.parametrize("seated", [False, True])
def test_verdicts_of_messy_panels_are_the_same(seated: bool) -> None:
    statuses: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    problems = seated_problems()
    for seed in range(PANELS):
        panel = MessyPanel(seed, next(problems) if seated else None)
        panel.play()
        result = panel.run.result
        report = verify(log_of(panel.problem, panel.settings, panel.events, result))
        assert report.damage is None, f"panel {seed}: {report.damage}"
        assert report.found is not None, f"panel {seed}: {report.reason}"
        assert not report.differs, f"panel {seed}: {report}"
        last = panel.run.last_result  # as a study that is closed records it
        assert not verify(log_of(panel.problem, panel.settings, panel.events, last)).differs, f"panel {seed}"
        statuses[report.found.status] += 1
        kinds.update(event["kind"] for event in panel.events)
        open_one = verify(log_of(panel.problem, panel.settings, panel.events)).found
        assert open_one is not None
        if result.status != "budget_spent":  # found without being told, up to which of several it is
            assert open_one.status == result.status, f"panel {seed}"
    assert {"decided", "unbeaten", "no_winner", "tied", "budget_spent"} <= set(statuses)
    organised = "left returned struck reinstated corrected undone dropped added entered conflict cleared"
    assert set(organised.split()) <= set(kinds)


def test_another_line_up_is_not_certain() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    asked = {
        "kind": "asked",
        "voter": "eve",
        "question": 1,
        "position": "chair",
        "candidates": ["ann", "bob"],
    }
    events = [asked, {"kind": "answered", "question": 1, "answer": [["bob"], ["ann"]]}]
    settings = {"algorithm": "panel", "parameters": {"criterion": "condorcet"}, "voters": [{"id": "eve"}]}
    verdict = {"status": "decided", "shortfall": 0.0}
    for name, differs in (("ann", True), ("bob", False)):
        closed = {"kind": "closed", "verdict": verdict | {"matching": {"chair": name}}}
        assert verify(log_of(problem, settings, [*events, closed])).differs == differs


def test_another_shortfall_is_found() -> None:
    """One of three judges is for bob, so the other two can put him behind by a sixth at most."""
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    asked = {"kind": "asked", "voter": "eve", "question": 1, "position": "chair"}
    events = [
        {**asked, "candidates": ["ann", "bob"]},
        {"kind": "answered", "question": 1, "answer": [["bob"], ["ann"]]},
    ]
    voters = [{"id": "eve"}, {"id": "ned"}, {"id": "zoe"}]
    settings = {"algorithm": "panel", "parameters": {"criterion": "condorcet"}, "voters": voters}
    verdict = {"status": "budget_spent", "matching": {"chair": "bob"}}
    for shortfall, differs in ((1 / 6, False), (1 / 6 + 1e-12, False), (0.1, True), (0.0, True)):
        closed = {"kind": "closed", "verdict": verdict | {"shortfall": shortfall}}
        assert verify(log_of(problem, settings, [*events, closed])).differs == differs


def test_the_assignment_is_the_cheapest_of_all() -> None:
    random = Random(3)
    for _ in range(30):
        problem = some_problem(random)
        costs = [
            {name: random.randint(-5, 5) * 10**20 for name, at in problem.edges if at == position}
            for position in problem.positions
        ]
        every = dm.matchings.sample(problem, 2_000, seed=0)
        least = min(sum(at[row[j]] for j, at in zip(problem.positions, costs, strict=True)) for row in every)
        lineup, total = cheapest(costs)
        assert total == least
        assert len(set(lineup)) == len(lineup)


def test_a_larger_panel_is_checked_without_a_list() -> None:
    problem = dm.Problem.complete([f"c{k:02}" for k in range(12)], [f"p{k}" for k in range(6)])
    voters = ["eve", "ned", "zoe"]
    events: list[Any] = []
    run = PanelExplorer(problem, voters)
    run.record = events.append
    while not run.done:
        for question in run.ask(1):
            run.tell(question, min(question.candidates, key=lambda name: hash_of(name, question.position)))
    assert run.result.status in ("decided", "unbeaten")
    settings = {
        "algorithm": "panel",
        "parameters": {"criterion": "condorcet"},
        "voters": [{"id": v} for v in voters],
    }
    report = verify(log_of(problem, settings, events, run.result))
    assert report.found is not None
    assert not report.differs
    assert "over 10,000" in str(verify(log_of(problem, settings, events)).reason)


def hash_of(name: str, position: str) -> int:
    """Return an order of the candidates that differs from position to position."""
    return (int(name[1:]) - 2 * int(position[1:])) % 12
