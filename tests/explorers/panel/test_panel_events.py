"""Whatever happens to a panel is in its events: they give the same panel again, and cost nobody's answer."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import duelmatch as dm
import panels
from duelmatch.explorers.panel import PanelExplorer
from duelmatch.explorers.panel.simulation import answer_of

TEAM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
PAIR = dm.Problem.complete(["ann", "bob"], ["chair"])
VOTERS = ["eve", "ned", "zoe"]


def recorded(run: PanelExplorer) -> list[dict[str, Any]]:
    """Return the list that the run's events will be written to, as JSON would bring them back."""
    events: list[dict[str, Any]] = []
    run.record = lambda event: events.append(json.loads(json.dumps(event)))
    return events


def same(one: PanelExplorer, other: PanelExplorer) -> None:
    """Both are in the same state, as far as anybody can see."""
    assert one.result == other.result
    assert one.progress == other.progress
    assert one.open_duels == other.open_duels
    assert one.answered == other.answered
    assert one.done == other.done
    for name in ("ahead", "behind", "open", "total", "opinion", "said"):
        assert np.array_equal(getattr(one.state, name), getattr(other.state, name)), name


class Mess:
    """A run in which everything happens that can happen to a panel."""

    def __init__(self, seed: int, criterion: str) -> None:
        self.panel, ranks = panels.random_panel(seed, most=5, most_voters=6)
        self.rng = np.random.default_rng([seed, 3])
        self.arguments: dict[str, Any] = {
            "problem": self.panel.problem,
            "voters": self.panel.voters,
            "criterion": criterion,
            "consistent": bool(ranks or self.rng.random() < 0.3),
            "question_size": 3 if ranks and seed % 3 == 0 else 2,
            "questions_each": None if seed % 4 else 20,
        }
        self.run = PanelExplorer(**self.arguments)
        self.events = recorded(self.run)
        self.dropped: dict[str, list[str]] = {}

    def pick(self, items: Any) -> Any:
        items = list(items)
        return items[int(self.rng.integers(len(items)))]

    def answer(self, question: dm.explorers.questions.Question) -> Any:
        known = question.voter in self.panel.voters and all(
            name in self.panel.problem.candidates for name in question.candidates
        )
        if known and self.rng.random() < 0.8:
            try:
                return answer_of(self.panel, question)
            except dm.ProblemError:  # a conflict that this run was not told of
                pass
        order = [str(name) for name in self.rng.permutation(question.candidates)]
        return order if self.rng.random() < 0.8 else [tuple(order)]

    def entries(self, *status: str) -> list[Any]:
        entries = self.run._proceedings.entries.values()
        return [entry.question for entry in entries if entry.status in status]

    def step(self) -> None:
        run, rng = self.run, self.rng
        what = rng.random()
        voter = self.pick(run.voters)
        if what < 0.55:
            for question in run.ask(int(rng.integers(1, 3)), voter if rng.random() < 0.8 else None, 10.0):
                if rng.random() < 0.85 and question in run.open_duels:
                    run.tell(question, self.answer(question))
            return
        done = self.entries("answered")
        actions = {
            "skip": lambda: [run.skip(question, "tired") for question in run.open_duels[:1]],
            "release": lambda: [run.release(question) for question in run.open_duels[:1]],
            "expire": lambda: run.expire(20.0),
            "late": lambda: [
                run.tell(question, self.answer(question))
                for question in self.entries("released")[:1]
                if run._proceedings.entry(question.id).reason == "expired"
            ],
            "undo": lambda: [run.undo(self.pick(done))] if done else None,
            "unskip": lambda: [run.undo(question) for question in self.entries("skipped")[:1]],
            "correct": lambda: (lambda q: run.correct(q, self.answer(q)))(self.pick(done)) if done else None,
            "strike answer": lambda: run.strike_answer(self.pick(done)) if done else None,
            "strike": lambda: run.strike(voter),
            "reinstate": lambda: run.reinstate(voter),
            "leave": lambda: run.leave(voter, self.pick(["open", "dropped"])),
            "rejoin": lambda: run.rejoin(voter),
            "enter": lambda: (
                run.enter(f"late{len(run.voters)}", int(rng.integers(1, 4)), ["c0"])
                if "c0" in run.problem.candidates
                else None
            ),
            "conflict": lambda: run.declare_conflict(voter, [self.pick(run.problem.candidates)]),
            "clear": lambda: run.clear_conflict(voter, run.problem.candidates),
            "drop": self.drop,
            "add": self.add,
        }
        actions[self.pick(actions)]()

    def drop(self) -> None:
        candidate = self.pick(self.run.problem.candidates)
        positions = [position for name, position in self.run.problem.edges if name == candidate]
        try:
            self.run.drop(candidate)
        except dm.ProblemError:
            return
        if positions:
            self.dropped[candidate] = positions

    def add(self) -> None:
        if self.dropped and self.rng.random() < 0.7:
            name, positions = self.dropped.popitem()
        else:
            name = f"new{len(self.events)}"
            positions = [self.pick(self.run.problem.positions)]
        if len(self.run.problem.candidates) < 7:
            self.run.add(name, positions)

    def again(self) -> PanelExplorer:
        fresh = PanelExplorer(**self.arguments)
        for event in self.events:
            fresh.note(event)
        return fresh


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
@pytest.mark.parametrize("block", range(2))
def test_the_events_of_a_messy_run_give_the_same_panel_again(criterion: str, block: int) -> None:
    kinds = set()
    for seed in range(15 * block, 15 * (block + 1)):
        mess = Mess(seed, criterion)
        follower = PanelExplorer(**mess.arguments)  # notes event by event, and is looked at now and then
        followed = 0
        for step in range(60):
            mess.step()
            if step % 9 == 0:
                for event in mess.events[followed:]:
                    follower.note(event)
                followed = len(mess.events)
                assert follower.done == mess.run.done, (seed, step)
        for event in mess.events[followed:]:
            follower.note(event)
        fresh = mess.again()
        kinds |= {event["kind"] for event in mess.events}
        for _ in range(10):  # the same state, and the same course from there
            same(mess.run, fresh)
            same(mess.run, follower)
            (asked,) = {tuple(run.ask(2)) for run in (mess.run, fresh, follower)}
            for question in asked:
                answer = mess.answer(question)
                for run in (mess.run, fresh, follower):
                    run.tell(question, answer)
    assert kinds >= {
        "asked",
        "answered",
        "skipped",
        "released",
        "undone",
        "corrected",
        "struck",
        "reinstated",
    }
    assert kinds >= {"left", "returned", "entered", "conflict", "cleared", "dropped", "added", "backed"}


def answered(run: PanelExplorer, opinions: dict[str, str]) -> None:
    """Answer everything that is asked: each voter has a favourite."""
    while not run.done:
        for question in run.ask(1):
            favourite = opinions[question.voter or ""]
            run.tell(question, favourite if favourite in question.candidates else None)


def test_a_struck_voter_does_not_count_and_comes_back_with_everything() -> None:
    run = PanelExplorer(PAIR, VOTERS)
    for voter, winner in (("eve", "ann"), ("ned", "bob"), ("zoe", "bob")):
        for question in run.ask(1, voter):
            run.tell(question, winner)
    assert (run.result.matching["chair"], run.duels, run.state.total.tolist()) == ("bob", 3, [3])
    run.strike("zoe")
    assert (run.result.status, run.duels, run.state.total.tolist()) == ("unbeaten", 2, [2])
    run.strike("ned")
    assert (run.result.matching["chair"], run.result.status) == ("ann", "decided")
    run.reinstate("ned")
    run.reinstate("zoe")
    assert (run.result.matching["chair"], run.duels) == ("bob", 3)


def test_striking_one_of_twenty_leaves_all_other_votes_in_use() -> None:
    """The count is that of a panel which never had the judge."""
    problem = dm.Problem.complete([f"c{i}" for i in range(4)], ["chair", "editor"])
    voters = [f"v{number}" for number in range(20)]
    rng = np.random.default_rng(8)
    run = PanelExplorer(problem, voters)
    events = recorded(run)
    while not run.done:
        for question in run.ask(1):
            run.tell(question, str(rng.choice(question.candidates)))
    before, theirs = run.duels, run.answered["v7"]
    run.strike("v7")
    assert theirs > 0
    assert run.duels == before - theirs
    others = PanelExplorer(problem, [voter for voter in voters if voter != "v7"])
    asked = {event["question"]: event["voter"] for event in events if event["kind"] == "asked"}
    for event in events:
        if event["kind"] in ("asked", "answered") and asked[event["question"]] != "v7":
            others.note(event)
    assert others.duels == run.duels
    for name in ("ahead", "behind", "open", "total"):
        assert np.array_equal(getattr(others.state, name), getattr(run.state, name)), name


def test_an_answer_taken_back_is_open_again_under_its_number() -> None:
    run = PanelExplorer(PAIR, ["eve"])
    (question,) = run.ask(1)
    run.tell(question, "bob")
    assert run.done
    run.undo(question)
    assert (run.open_duels, run.duels, run.done) == ((question,), 0, False)
    run.tell(question, "ann")
    assert run.result.matching["chair"] == "ann"


def test_a_skip_can_be_taken_back() -> None:
    run = PanelExplorer(PAIR, ["eve"])
    (question,) = run.ask(1)
    run.skip(question)
    assert run.result.status == "budget_spent"
    run.undo(question)
    run.tell(question, "ann")
    assert run.result.status == "decided"


def test_a_correction_replaces_and_a_struck_answer_is_not_judged() -> None:
    run = PanelExplorer(PAIR, ["eve", "ned"])
    (first,), (second,) = run.ask(1, "eve"), run.ask(1, "ned")
    run.tell(first, "ann")
    run.tell(second, "bob")
    assert run.result.status == "unbeaten"
    run.correct(second, "ann", clerical=True)
    assert (run.result.status, run.result.matching["chair"]) == ("decided", "ann")
    run.strike_answer(first)
    assert (run.duels, run.state.total.tolist()) == (1, [1])
    run.correct(first, "bob")
    assert (run.duels, run.state.total.tolist(), run.result.status) == (2, [2], "unbeaten")


def test_another_answer_to_what_was_struck_counts() -> None:
    run = PanelExplorer(PAIR, ["eve", "ned"])
    events = recorded(run)
    (first,) = run.ask(1, "eve", deadline=1.0)
    run.expire(2.0)
    (second,) = run.ask(1, "eve")
    run.tell(second, "ann")
    run.strike_answer(second)
    assert (run.duels, run.state.total.tolist()) == (0, [1])
    run.tell(first, "bob")
    assert (run.duels, run.state.total.tolist()) == (1, [2])
    again = PanelExplorer(PAIR, ["eve", "ned"])
    for event in events:
        again.note(event)
    same(run, again)


def test_who_comes_late_is_asked_and_counted() -> None:
    run = PanelExplorer(PAIR, ["eve"])
    answered(run, {"eve": "ann"})
    assert run.result.status == "decided"
    run.enter("ned", weight=2)
    assert not run.done
    answered(run, {"eve": "ann", "ned": "bob"})
    assert (run.result.status, run.result.matching["chair"]) == ("decided", "bob")
    run.enter("zoe", conflicts=["ann"])
    assert run.ask(1, "zoe") == []


def test_a_conflict_declared_late_takes_the_voter_out_of_all_pairs_with_the_candidate() -> None:
    run = PanelExplorer(TEAM, ["eve", "ned"])
    (question,) = run.ask(1, "eve")
    run.tell(question, question.first)
    pair = run.state.graph.pair_table
    run.declare_conflict("eve", [question.first])
    assert run.duels == 1
    names = [
        {run.problem.edges[a][0], run.problem.edges[b][0]}
        for a, b in zip(pair.first, pair.second, strict=True)
    ]
    for total, two in zip(run.state.total.tolist(), names, strict=True):
        assert total == (1 if question.first in two else 2)
    while questions := run.ask(1, "eve"):
        assert question.first not in questions[0].candidates


def test_a_leaver_who_returns_is_open_again() -> None:
    run = PanelExplorer(PAIR, ["eve", "ned"])
    run.leave("eve", "dropped")
    run.leave("ned", "dropped")
    assert run.result.status == "budget_spent"  # nothing is counted, so nothing is certain
    run.rejoin("ned")
    answered(run, {"ned": "bob"})
    assert (run.result.status, run.result.matching["chair"]) == ("decided", "bob")


def test_a_dropped_candidate_takes_only_own_answers_and_brings_them_back() -> None:
    run = PanelExplorer(TEAM, VOTERS, consistent=False)
    answered(run, dict.fromkeys(VOTERS, "ann"))
    before = run.duels
    about_bob = sum("bob" in entry.question.candidates for entry in run._proceedings.entries.values())
    run.drop("bob")
    assert run.problem.candidates == ("ann", "cyd")
    assert run.duels == before - about_bob
    run.add("bob", ["chair", "editor"])
    assert run.duels == before
    with pytest.raises(dm.ProblemError, match="Not every position can be filled"):
        run.drop("ann") or run.drop("bob")


def test_an_added_candidate_opens_new_pairs_for_everybody() -> None:
    run = PanelExplorer(PAIR, VOTERS)
    answered(run, dict.fromkeys(VOTERS, "ann"))
    assert run.result.status == "decided"
    run.add("cyd", ["chair"])
    assert run.progress.open_answers >= len(VOTERS)
    answered(run, dict.fromkeys(VOTERS, "cyd"))
    assert run.result.matching["chair"] == "cyd"


def test_a_ranking_stays_without_a_candidate_who_was_dropped() -> None:
    run = PanelExplorer(dm.Problem.complete(["ann", "bob", "cyd"], ["chair"]), ["eve"], question_size=3)
    (question,) = run.ask(1)
    run.tell(question, ["bob", "cyd", "ann"])
    run.drop("bob")
    assert (run.result.status, run.result.matching["chair"], run.duels) == ("decided", "cyd", 1)


def test_expired_questions_may_be_asked_again_and_still_be_answered() -> None:
    run = PanelExplorer(PAIR, ["eve"])
    (question,) = run.ask(1, deadline=5.0)
    assert run.expire(4.0) == []
    assert run.expire(5.0) == [question]
    (again,) = run.ask(1)
    run.tell(question, "ann")
    assert run.done
    run.tell(again, "bob")  # the last word on a pair counts
    assert run.result.matching["chair"] == "bob"


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"kind": "cheered"}, "kind 'cheered' is not one of a panel"),
        ({}, "kind None is not one of a panel"),
        ({"kind": "answered"}, "lacks something"),
        ({"kind": "answered", "question": 9, "answer": []}, "Question 9 was never asked"),
        ({"kind": "released", "question": 1}, "answered, skipped or released already"),
        ({"kind": "answered", "question": 1, "answer": []}, "answered or skipped already"),
        ({"kind": "struck", "voter": "tom"}, "no voter 'tom'"),
        ({"kind": "entered", "voter": "eve"}, "on this panel already"),
        ({"kind": "left", "voter": "eve", "open_answers": "x"}, "'open' or 'dropped'"),
        ({"kind": "asked", "question": 1, "voter": "eve", "position": "chair", "candidates": []}, "before"),
    ],
)
def test_events_that_cannot_have_happened_are_refused(event: dict[str, Any], sentence: str) -> None:
    run = PanelExplorer(TEAM, VOTERS)
    (question,) = run.ask(1, "eve")
    run.tell(question, None)
    before = run.progress
    with pytest.raises(dm.DuelError, match=sentence):
        run.note(event)
    assert run.progress == before


def test_what_cannot_be_done_is_refused_in_a_sentence() -> None:
    run = PanelExplorer(TEAM, VOTERS)
    (question,) = run.ask(1, "eve")
    with pytest.raises(dm.DuelError, match="nothing can be taken back"):
        run.undo(question)
    with pytest.raises(dm.DuelError, match="nothing can be corrected"):
        run.correct(question, None)
    with pytest.raises(dm.ProblemError, match="listed twice"):
        run.enter("eve")
    with pytest.raises(dm.ProblemError, match="above 0"):
        run.enter("tom", weight=0)
    with pytest.raises(dm.ProblemError, match="no candidate 'tom'"):
        run.declare_conflict("eve", ["tom"])
    with pytest.raises(dm.ProblemError, match="no candidate 'tom'"):
        run.drop("tom")
    with pytest.raises(dm.ProblemError, match="listed twice"):
        run.add("ann", ["chair"])
    with pytest.raises(dm.ProblemError, match="list of positions"):
        run.add("tom", "chair")


def test_the_order_shown_is_recorded_and_makes_no_difference() -> None:
    plain, turned = PanelExplorer(TEAM, VOTERS), PanelExplorer(TEAM, VOTERS)
    turned.shown = lambda voter, position, candidates: candidates[::-1]
    events = recorded(turned)
    while not plain.done:
        for question, other in zip(
            plain.ask(2, "eve") or plain.ask(2), turned.ask(2, "eve") or turned.ask(2), strict=True
        ):
            assert question.candidates == other.candidates[::-1]
            plain.tell(question, "ann" if "ann" in question.candidates else "bob")
            turned.tell(other, "ann" if "ann" in question.candidates else "bob")
    assert plain.result == turned.result
    again = PanelExplorer(TEAM, VOTERS)
    for event in events:
        again.note(event)
    same(turned, again)


def test_who_can_be_asked_anything() -> None:
    run = PanelExplorer(PAIR, ["eve", "ned"])
    assert run.can_be_asked("eve")
    run.ask(1, "eve")
    assert not run.can_be_asked("eve")
    run.leave("ned")
    assert not run.can_be_asked("ned")
    with pytest.raises(dm.DuelError, match="no voter 'tom'"):
        run.can_be_asked("tom")


def test_a_search_in_vain_is_not_repeated_after_every_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least beaten line-up is out of reach here: it is looked for again after twice as many answers."""
    monkeypatch.setattr("duelmatch.matchings.minimax.LISTED", 1)
    monkeypatch.setattr("duelmatch.matchings.minimax.CELLS", 0)
    problem = dm.Problem.complete([f"c{i}" for i in range(4)], ["a", "b", "c"])
    gave_up: set[int] = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        run = PanelExplorer(problem, VOTERS, consistent=False)
        events = recorded(run)
        while not run.done:
            for question in run.ask(1):
                run.tell(question, str(rng.choice(question.candidates)))
        tries = [event["gave_up"] for event in events if event["kind"] == "backed" and event["gave_up"]]
        tries = list(dict.fromkeys(tries))
        assert all(later >= 2 * earlier for earlier, later in pairwise(tries))
        gave_up.update(tries)
        again = PanelExplorer(problem, VOTERS, consistent=False)
        for event in events:
            again.note(event)
        same(run, again)
    assert gave_up
