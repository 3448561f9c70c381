"""The verdict of a crowd, recomputed from its log, is the one that the study came to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import choices
import duelmatch as dm
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.ballots.tables import TabledEvidence
from duelmatch.verify import read, verify
from duelmatch.verify.chain import checked
from duelmatch.verify.crowd import ListedWealth
from duelmatch.verify.crowd_problem import CrowdProblem
from duelmatch.verify.log import StudyLog
from explorers.ballots.messy import MessyCrowd
from logs import PYTHON, forgeries, log_of, said_of, some_problem, verdict_of

SEEDS = range(1500, 1524)
"""Messy studies with every ending and every kind of event among them."""


class MessyStudy:
    """A messy crowd, with settings of all kinds."""

    def __init__(self, seed: int, problem: dm.Problem | None = None) -> None:
        random = Random(seed)
        self.problem = problem or some_problem(random)
        parameters: dict[str, Any] = {
            "ballot_size": random.choice([1, 3, 6, 10]),
            "question_size": random.choice([2, 2, 3]),
            "epsilon": random.choice([None, 0.05, 0.2, 0.4]),
            "assume_winner": random.random() < 0.5,
            "silence": random.choice(["blind", "any"]),
            "counting": random.choice(["least", "least", "last"]),
            "heirs": 2,
            "reference": "candidates" if seed % 3 == 0 else "decisions",
        }
        criterion, delta = random.choice(["condorcet", "borda"]), random.choice([0.05, 0.2, 0.4])
        self.settings = {"algorithm": criterion, "delta": delta, "parameters": parameters}
        self.events: list[Any] = []
        self.run = BallotExplorer(
            self.problem, criterion, delta, seed, record=self.events.append, **parameters
        )
        crowd = MessyCrowd(self.run, random)
        for _ in range(random.randint(5, 600)):
            if self.run.done and random.random() < 0.5:
                break
            crowd.play(1)
        if random.random() < 0.3:
            self.run.close()

    def log(self) -> list[str]:
        return log_of(self.problem, self.settings, self.events, self.run.result)


def ruled_problems(seats: bool) -> Iterator[dm.Problem]:
    """Yield problems with capacities, weights and rules, with several seats somewhere or nowhere."""
    for seed in choices.SEEDS:
        problem = choices.problem(seed)
        if problem.graph.pairs and problem.conditions and bool(problem.seats) == seats:
            yield problem


@pytest.mark.parametrize("kind", ["plain", "ruled", "seats"])
def test_verdicts_of_messy_studies_are_the_same(kind: str) -> None:
    statuses: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    references: Counter[str | None] = Counter()
    problems = ruled_problems(kind == "seats")
    for seed in SEEDS:
        study = MessyStudy(seed, None if kind == "plain" else next(problems))
        report = verify(study.log())
        assert report.damage is None, f"study {seed}: {report.damage}"
        assert report.found is not None, f"study {seed}: {report.reason}"
        assert not report.differs, f"study {seed}: {report}"
        statuses[report.found.status] += 1
        kinds.update(event["kind"] for event in study.events)
        references[study.run.result.reference] += 1
    assert {"certified", "within_epsilon", "budget_spent"} <= set(statuses)
    assert min(references[name] for name in (None, "decisions", "candidates")) >= 3
    assert {"passed", "struck", "reinstated", "corrected", "undone", "dropped", "added", "expired"} <= set(
        kinds
    )


@pytest.mark.parametrize("kind", ["plain", "seats"])
def test_the_wealth_against_every_line_up_is_the_same(kind: str) -> None:
    problems = ruled_problems(seats=True)
    for seed in SEEDS[:12]:
        study = MessyStudy(seed, None if kind == "plain" else next(problems))
        log, _ = read(list(checked(study.log())))
        crowd = CrowdProblem(log)
        rows = crowd.rows(crowd.usable)
        assert rows is not None
        wealth = ListedWealth(crowd, log.corrections[-1], rows)
        for number, ballot in enumerate(log.ballots[: log.settled()]):
            wealth.settle(number, ballot, log.designs[ballot.design])
        evidence = study.run.conclusions.evidence[-1].as_listed
        assert evidence is not None
        names = study.run.problem.edges
        theirs = {frozenset(names[edge][::-1] for edge in row): k for k, row in enumerate(evidence.rows)}
        same = [theirs[frozenset(crowd.edges[edge] for edge in row)] for row in rows]
        np.testing.assert_allclose(wealth.logs, evidence.base.logs[same], atol=1e-9, err_msg=f"study {seed}")


def test_verdicts_are_the_same_where_wealth_is_kept_in_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in studies of more than 10,000 line-ups, which take longer."""
    monkeypatch.setattr("duelmatch.explorers.ballots.conclusions.MOST_LISTED", 4)
    monkeypatch.setattr("duelmatch.verify.log.LISTED", 4)
    endings: Counter[tuple[str, bool]] = Counter()
    for seed in SEEDS[:22]:
        study = MessyStudy(seed)
        report = verify(study.log())
        assert report.found is not None, f"study {seed}: {report.damage} {report.reason}"
        assert not report.differs, f"study {seed}: {report}"
        for each in study.run.conclusions.evidence:
            if isinstance(each, TabledEvidence):
                endings[report.found.status, each.listed is not None] += 1
    assert endings["budget_spent", False] >= 5
    assert sum(number for (status, _), number in endings.items() if status != "budget_spent") >= 2
    assert any(listed for _, listed in endings)


def test_borda_is_counted_against_all_line_ups_alike() -> None:
    edges = [(f"c{k}", f"p{j}") for k in range(6) for j in range(4) if (k + 2 * j) % 5]
    problem = dm.Problem([f"c{k}" for k in range(6)], [f"p{j}" for j in range(4)], edges)
    log = StudyLog(json.loads(log_of(problem, {"algorithm": "borda", "delta": 0.05}, [])[0]))
    crowd = CrowdProblem(log)
    rows = crowd.rows(crowd.usable)
    assert rows is not None
    assert len(rows) == dm.matchings.count(problem)
    assert crowd._share is not None
    np.testing.assert_allclose(
        crowd._share, np.bincount(rows.ravel(), minlength=len(crowd.edges)) / len(rows)
    )


def certified() -> tuple[dm.Problem, dict[str, Any], list[Any], Any]:
    """Return a study of a crowd in which everybody wants ann for the chair, and cyd as editor."""
    problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
    events: list[Any] = []
    run = BallotExplorer(problem, "condorcet", 0.05, seed=1, ballot_size=3, record=events.append)
    number = 0
    while not run.done:
        number += 1
        for question in run.ask(3, f"v{number}"):
            run.tell(question, (min if question.position == "chair" else max)(question.candidates))
    parameters = {"assume_winner": False}
    return problem, {"algorithm": "condorcet", "delta": 0.05, "parameters": parameters}, events, run.result


class TestForgeries:
    """Logs whose chain is whole, because whoever made them made all hashes anew."""

    def test_another_verdict_is_found(self) -> None:
        problem, settings, events, result = certified()
        assert result.status == "certified"
        assert not verify(log_of(problem, settings, events, result)).differs
        events = [event for event in events if event["kind"] != "finished" or event["ballot"] < 5]
        assert verify(log_of(problem, settings, events, result)).differs

    def test_other_answers_give_another_verdict(self) -> None:
        problem, settings, events, result = certified()
        turned = [
            {**event, "answer": event["answer"][::-1]} if event["kind"] == "answered" else event
            for event in events
        ]
        assert verify(log_of(problem, settings, turned, result)).differs

    def test_a_voter_with_two_ballots_is_found(self) -> None:
        problem, settings, events, result = certified()
        twice = [
            {**event, "voter": "v1"} if event.get("voter") in ("v1", "v2") else event for event in events
        ]
        assert "voter v1 has two ballots" in str(verify(log_of(problem, settings, twice, result)).damage)

    def test_a_question_without_a_chance_is_found(self) -> None:
        problem, settings, events, result = certified()
        place, opened = next((k, event) for k, event in enumerate(events) if event["kind"] == "opened")
        design = next(k for k, event in enumerate(events) if event["kind"] == "designed")
        never = [{**events[design], "chances": [0.0] * len(events[design]["chances"])}]
        forged = [*events[:design], *never, *events[design + 1 :]]
        assert "had no chance to be on the ballot" in str(
            verify(log_of(problem, settings, forged, result)).damage
        )
        more = {**opened, "questions": [*opened["questions"], opened["questions"][0]]}
        forged = [*events[:place], more, *events[place + 1 :]]
        assert "has a pair twice" in str(verify(log_of(problem, settings, forged, result)).damage)

    def test_a_ballot_larger_than_its_design_is_found(self) -> None:
        problem, settings, events, result = certified()
        smaller = [{**event, "size": 2} if event["kind"] == "designed" else event for event in events]
        assert "more than its design allows" in str(verify(log_of(problem, settings, smaller, result)).damage)

    def test_what_has_been_counted_is_neither_taken_back_nor_passed_on(self) -> None:
        problem, settings, events, result = certified()
        first_of = {event["ballot"]: event["question"] for event in events if event["kind"] == "asked"}
        for ballot in (0, 1, 7):
            undone = {"kind": "undone", "question": first_of[ballot]}
            damage = verify(log_of(problem, settings, [*events, undone], result)).damage
            assert f"the ballot of question {first_of[ballot]} had been counted" in str(damage)
            passed = {"kind": "passed", "ballot": ballot, "voter": "late", "deadline": None}
            damage = verify(log_of(problem, settings, [*events, passed], result)).damage
            assert f"ballot {ballot} was another voter's" in str(damage)


def test_answers_after_the_end_do_not_count() -> None:
    problem, settings, events, result = certified()
    end = {"kind": "closed", "verdict": verdict_of(result)}
    answered = [place for place, event in enumerate(events) if event["kind"] == "answered"]
    last = next(
        place
        for place in reversed(answered)
        if verify(log_of(problem, settings, [*events[:place], end])).differs
    )
    closed = [*events[:last], end, events[last]]
    assert verify(log_of(problem, settings, closed)).differs
    reopened = [*closed, {"kind": "reopened"}, *events[last + 1 :]]
    assert verify(log_of(problem, settings, reopened)).recorded is None
    assert not verify(log_of(problem, settings, reopened, result)).differs


def test_where_the_reference_is_out_of_reach_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duelmatch.verify.crowd_problem.MOST_SETS", 50)
    problem = dm.Problem.complete([f"c{k}" for k in range(9)], [f"p{k}" for k in range(4)])
    report = verify(log_of(problem, {"algorithm": "borda", "delta": 0.05}, []))
    assert "too many line-ups to count" in str(report.reason)
    settings = {"algorithm": "borda", "delta": 0.05, "parameters": {"reference": "candidates"}}
    report = verify(log_of(problem, settings, []))
    assert report.found is not None
    assert report.found.status == "budget_spent"


@pytest.mark.parametrize("algorithm", ["car-cond", "somebody-elses"])
def test_what_runs_in_rounds_is_not_recomputed(algorithm: str) -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    report = verify(log_of(problem, {"algorithm": algorithm, "delta": 0.05}, []))
    assert (report.damage, report.found) == (None, None)
    assert f"'{algorithm}'" in str(report.reason)


@cache
def short_log(seed: int) -> list[str]:
    return MessyStudy(seed).log()


@given(st.sampled_from([1501, 1504, 1514, 1532, 1546]).map(short_log).flatmap(forgeries))
def test_no_damage_is_told_in_the_words_of_python(forged: list[str]) -> None:
    assert not PYTHON.search(said_of(forged))
