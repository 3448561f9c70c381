"""What every explorer must do, as tests to inherit; needs pytest.

A test module for an algorithm that duelmatch knows by name::

    from duelmatch.testing import ExplorerConformance

    class TestCarCond(ExplorerConformance):
        algorithm = "car-cond"
        parameters = {"schedule": "every"}

An algorithm of your own is a class with the two methods of
:class:`duelmatch.explorers.engine.Search`. Say how to start a run of it::

    class TestMine(ExplorerConformance):
        def explorer(self, problem, delta=0.1, seed=0, max_duels=None):
            return Explorer(problem, Mine(problem.graph, delta, seed), "mine", delta, max_duels=max_duels)

or register it first and use its name, as for ours.

The tests ask a few thousand questions about small problems, and need no luck. For readable failures put
``pytest.register_assert_rewrite("duelmatch.testing")`` into your ``conftest.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from copy import deepcopy
from inspect import getfile
from itertools import combinations
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar

import numpy as np

from duelmatch.errors import DuelError, MissingExtraError
from duelmatch.experiments.simulation import answer_round
from duelmatch.explorers.engine import Outcome, Round, RoundAnswers
from duelmatch.explorers.explorer import Explorer, drive, explorer
from duelmatch.explorers.result import Progress, Result
from duelmatch.preferences import Preferences
from duelmatch.problem import Duel, Matching, Problem

try:
    import pytest
except ImportError:
    raise MissingExtraError("duelmatch.testing needs pytest: pip install pytest") from None

__all__ = ["ExplorerConformance"]

Vote = tuple[str, str, str]
"""(position, winner, loser)"""

DUO = Problem.complete(["ann", "bob"], ["chair"])
TEAM = Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
CREW = Problem.from_edges(
    [
        ("ann", "chair"),  # nobody else can be chair, so ann can be nothing else
        ("ann", "editor"),
        ("bob", "editor"),
        ("cyd", "editor"),
        ("cyd", "treasurer"),
        ("dan", "treasurer"),
        ("eve", "treasurer"),
    ],
    candidates=["ann", "bob", "cyd", "dan", "eve", "nobody's choice"],
)
SETTLED = Problem.from_edges([("ann", "chair"), ("ann", "editor"), ("bob", "editor")])
PROBLEMS = {"duo": DUO, "team": TEAM, "crew": CREW}

SOME = 24
"""Enough duels for several rounds of any algorithm on these problems."""

MANY = 60

every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


class ExplorerConformance:
    """The contract of :class:`duelmatch.Explorer`, one test a clause."""

    algorithm: ClassVar[str] = ""
    parameters: ClassVar[Mapping[str, Any]] = {}

    def explorer(
        self, problem: Problem, delta: float = 0.1, seed: int = 0, max_duels: int | None = None
    ) -> Explorer:
        """Start a run; override this for an algorithm that duelmatch does not know by name."""
        return explorer(self.algorithm, problem, delta, seed, max_duels, **self.parameters)

    @every_problem
    def test_ask_hands_out_new_duels_between_candidates_of_a_position(self, problem: Problem) -> None:
        run, seen = self.explorer(problem), set[int]()
        while run.duels < SOME and not run.done:
            wanted = 1 + len(seen) % 7
            duels = run.ask(wanted)
            assert 1 <= len(duels) <= wanted
            for duel in duels:
                assert duel.id not in seen
                assert duel.first != duel.second
                assert {(duel.first, duel.position), (duel.second, duel.position)} <= set(problem.edges)
                seen.add(duel.id)
            for duel in duels:
                run.tell(duel, duel.first)

    @every_problem
    def test_ask_for_a_million_hands_out_every_duel_once_and_then_none(self, problem: Problem) -> None:
        run, twin = self.explorer(problem), self.explorer(problem)
        answers, twins_answers = _Answers(0), _Answers(0)
        while run.duels < SOME and not run.done:
            duels = run.ask(10**6)
            assert duels
            assert run.open_duels == tuple(duels)
            assert run.ask(10**6) == []
            winners = [answers.winner(duel) for duel in duels]
            for duel, winner in zip(duels, winners, strict=True):
                run.tell(duel, winner)
        _play(twin, twins_answers, run.duels)
        assert run.progress == twin.progress

    def test_ask_for_none_hands_out_none(self) -> None:
        run = self.explorer(TEAM)
        assert run.ask(0) == []
        assert run.open_duels == ()
        assert run.ask(np.int64(1)) == self.explorer(TEAM).ask(1)  # type: ignore[arg-type]

    def test_ask_refuses_what_is_no_number_of_duels(self) -> None:
        run = self.explorer(TEAM)
        for number in (-1, 1.5, float("nan"), "2", None, True, [1]):
            with pytest.raises(DuelError, match="number of duels"):
                run.ask(number)  # type: ignore[arg-type]
        assert run.ask(3) == self.explorer(TEAM).ask(3)

    @every_problem
    def test_the_order_and_the_delay_of_answers_change_nothing(self, problem: Problem) -> None:
        in_order, shuffled = (self.explorer(problem, max_duels=MANY) for _ in range(2))
        _play(in_order, _Answers(0), MANY)
        _play_in_disorder(shuffled, _Answers(0), np.random.default_rng(0))
        assert shuffled.result == in_order.result
        assert shuffled.progress == in_order.progress

    @every_problem
    def test_the_last_answer_of_a_round_may_be_late(self, problem: Problem) -> None:
        run, twin = self.explorer(problem), self.explorer(problem)
        answers, twins_answers = _Answers(3), _Answers(3)
        while run.duels < SOME and not run.done:
            (late,) = run.ask(1)
            winner, known = answers.winner(late), run.progress
            while duels := run.ask(1):
                run.tell(duels[0], answers.winner(duels[0]))
                assert _decided(run.progress) == _decided(known)
            run.tell(late, winner)
        _play(twin, twins_answers, run.duels)
        assert run.progress == twin.progress

    @every_problem
    def test_a_released_duel_is_asked_again_under_a_new_number(self, problem: Problem) -> None:
        run = self.explorer(problem)
        duels = run.ask(10**6)
        released = duels[len(duels) // 2]
        run.release(released)
        assert released not in run.open_duels
        with pytest.raises(DuelError, match="answered or released"):
            run.tell(released, released.first)
        with pytest.raises(DuelError, match="answered or released"):
            run.release(released)
        (again,) = run.ask(10**6)
        assert again.id > max(duel.id for duel in duels)
        assert _question(again) == _question(released)

    @every_problem
    def test_releasing_duels_changes_nothing_in_the_end(self, problem: Problem) -> None:
        run, twin = (self.explorer(problem, max_duels=MANY) for _ in range(2))
        rng = np.random.default_rng(5)
        while not run.done:
            for duel in run.ask(int(rng.integers(1, 9))):
                if rng.random() < 0.4:
                    run.release(duel)
                else:
                    run.tell(duel, _favourite(duel))
        drive(twin, _favourite)
        assert run.result == twin.result
        assert run.progress == twin.progress

    def test_a_refused_answer_changes_nothing(self) -> None:
        run, twin = self.explorer(TEAM), self.explorer(TEAM)
        answers, twins_answers = _Answers(1), _Answers(1)
        told: Duel | None = None
        while run.duels < SOME and not run.done:
            (duel,), (twins,) = run.ask(1), twin.ask(1)
            assert duel == twins
            before = run.progress
            for refused, winner in _nonsense(duel, told):
                with pytest.raises(DuelError):
                    run.tell(refused, winner)
                if refused != duel:
                    with pytest.raises(DuelError):
                        run.release(refused)
            assert run.progress == before
            assert run.open_duels == (duel,)
            run.tell(duel, answers.winner(duel))
            twin.tell(twins, twins_answers.winner(twins))
            told = duel
        assert run.progress == twin.progress

    def test_wins_that_do_not_fit_are_refused_and_change_nothing(self) -> None:
        run, twin = self.explorer(TEAM), self.explorer(TEAM)
        count = run.wanted().count
        for wins in (count + 1, count - count.max() - 1, count[:-1], np.append(count, 0)):
            with pytest.raises(DuelError, match="wins"):
                run.tell_wins(wins)
        _play(run, _Answers(2), SOME)
        _play(twin, _Answers(2), SOME)
        assert run.progress == twin.progress

    @every_problem
    def test_a_tie_is_an_answer_and_can_be_replayed(self, problem: Problem) -> None:
        run, again = self.explorer(problem), self.explorer(problem)
        told: list[tuple[str, ...]] = []
        while run.duels < SOME and not run.done:
            (duel,) = run.ask(1)
            if len(told) % 3:
                run.tell(duel, None if len(told) % 3 == 1 else [duel.candidates])
                told.append((duel.position, *duel.candidates, "="))
            else:
                run.tell(duel, winner=duel.first)
                told.append((duel.position, *duel.candidates))
        again.replay(told)
        assert again.progress == run.progress

    @every_problem
    def test_all_ties_by_the_round_are_all_ties_one_by_one(self, problem: Problem) -> None:
        by_round, by_duel = (self.explorer(problem, max_duels=MANY) for _ in range(2))
        while not by_round.done and (wanted := by_round.wanted()).total <= MANY - by_round.duels:
            by_round.tell_wins(np.zeros_like(wanted.count), wanted.count)
        while by_duel.duels < by_round.duels:
            (duel,) = by_duel.ask(1)
            by_duel.tell(duel, None)
        assert by_duel.progress == by_round.progress

    @every_problem
    def test_result_and_progress_can_be_read_at_any_moment(self, problem: Problem) -> None:
        run, unread = self.explorer(problem), self.explorer(problem)
        answers, twins_answers = _Answers(4), _Answers(4)
        _check_standing(run)
        votes = []
        while run.duels < SOME and not run.done:
            (duel,) = run.ask(1)
            _check_standing(run)
            winner = answers.winner(duel)
            run.tell(duel, winner)
            votes.append((duel.position, *_names(duel, winner)))
            assert run.duels == len(votes)
        _check_standing(run)
        assert _play(unread, twins_answers, SOME) == votes
        assert run.progress == unread.progress

    def test_a_run_that_is_over_stays_over(self) -> None:
        run = self.explorer(DUO)
        votes = _play(run, _Favourites(), 10**6)
        result, progress = run.result, run.progress
        assert run.done
        if result.status == "budget_spent":
            pytest.skip("This algorithm certifies nothing.")
        assert result.duels == len(votes)
        assert result.matching == progress.leader == Matching({"chair": "ann"})
        assert progress.duels_left == 0
        assert run.ask(5) == []
        assert run.open_duels == ()
        assert run.wanted().total == 0
        run.tell_wins(run.wanted().count)
        with pytest.raises(DuelError, match="never asked"):
            run.tell(Duel("chair", "ann", "bob", 10**9), "ann")
        with pytest.raises(DuelError, match="Answer 1"):
            run.replay([("chair", "ann", "bob")])
        assert (run.done, run.result, run.progress) == (True, result, progress)

    @every_problem
    @pytest.mark.parametrize("most", [0, 1, 7, SOME])
    def test_the_budget_is_kept_and_what_it_leaves_is_not_certified(
        self, problem: Problem, most: int
    ) -> None:
        most = min(most, drive(self.explorer(problem, max_duels=most + 1), _favourite).duels - 1)
        run, asked = self.explorer(problem, max_duels=most), 0
        while not run.done:
            duels = run.ask(5)
            asked += len(duels)
            assert run.duels + len(run.open_duels) <= most
            for duel in reversed(duels):
                run.tell(duel, _favourite(duel))
        assert asked == run.duels == most
        assert run.ask(5) == []
        assert run.result.status == "budget_spent"
        assert "NOT CERTIFIED" in str(run.result)
        assert f"{most:,} duel" in str(run.result)
        _check_standing(run)
        with pytest.raises(DuelError, match="max_duels"):
            run.tell_wins(run.wanted().count)
        with pytest.raises(DuelError, match="max_duels"):
            run.replay([(problem.positions[-1], *_two_of(problem, problem.positions[-1]))])
        assert run.duels == most

    def test_a_budget_of_just_enough_is_enough_and_one_less_is_not(self) -> None:
        free = drive(self.explorer(DUO), _favourite)
        assert drive(self.explorer(DUO, max_duels=free.duels), _favourite) == free
        short = drive(self.explorer(DUO, max_duels=free.duels - 1), _favourite)
        assert (short.status, short.duels) == ("budget_spent", free.duels - 1)

    def test_released_duels_do_not_use_up_the_budget(self) -> None:
        run = self.explorer(TEAM, max_duels=1)
        for _ in range(5):
            (duel,) = run.ask(2)
            assert run.ask(1) == []
            run.release(duel)
        drive(run, _favourite)
        assert run.duels == 1

    @every_problem
    def test_the_same_seed_and_answers_give_the_same_questions(self, problem: Problem) -> None:
        transcripts = [_play(self.explorer(problem, seed=7), _Answers(9), MANY) for _ in range(2)]
        assert transcripts[0] == transcripts[1]

    @every_problem
    def test_a_run_goes_on_where_its_replayed_answers_leave_it(self, problem: Problem) -> None:
        run, answers = self.explorer(problem, max_duels=SOME + 12), _Answers(6)
        votes, resumed = list[Vote](), []
        for told in (0, 1, 17):
            votes += _play(run, answers, told)
            again = self.explorer(problem, max_duels=SOME + 12)
            again.replay(votes)
            assert again.open_duels == ()
            assert (again.duels, again.result, again.progress) == (run.duels, run.result, run.progress)
            if told:
                resumed.append((again, deepcopy(answers), len(votes)))
        votes += _play(run, answers, SOME + 12)
        for again, rest, told in resumed:
            assert _play(again, rest, SOME + 12) == votes[told:]
            assert (again.result, again.progress) == (run.result, run.progress)

    def test_a_replay_to_the_very_end_ends_the_same_way(self) -> None:
        run = self.explorer(DUO)
        votes = _play(run, _Favourites(), 10**6)
        again = self.explorer(DUO)
        again.replay(votes)
        assert again.done
        assert again.result == run.result

    def test_a_replay_also_answers_open_duels(self) -> None:
        run, again = self.explorer(TEAM), self.explorer(TEAM)
        votes = _play(run, _Answers(8), SOME)
        again.ask(3)
        again.replay(votes)
        assert again.progress == run.progress

    def test_a_replay_stops_at_the_first_answer_that_does_not_fit_and_names_it(self) -> None:
        votes = _play(self.explorer(TEAM), _Answers(6), 10)
        for wrong in (
            ("chair", "ann", "ann"),
            ("chair", "ann", "zoe"),
            ("throne", "ann", "bob"),
            ("chair", "ann"),
            ("chair", "ann", None),
            None,
            "abc",
        ):
            run, mended = self.explorer(TEAM), self.explorer(TEAM)
            with pytest.raises(DuelError, match="Answer 6"):
                run.replay([*votes[:5], wrong, *votes[5:]])  # type: ignore[list-item]
            run.replay(votes[5:])
            mended.replay(votes)
            assert run.progress == mended.progress

    def test_a_single_matching_is_certain_without_a_duel(self) -> None:
        for max_duels in (None, 0, 3):
            run = self.explorer(SETTLED, max_duels=max_duels)
            assert run.done
            assert run.ask(3) == []
            assert run.result.status == "certified"
            assert run.result.matching == Matching({"chair": "ann", "editor": "bob"})
            assert (run.result.duels, run.result.delta) == (0, 0.1)
            _check_standing(run)

    def test_nobody_is_asked_about_what_is_settled_by_the_problem_itself(self) -> None:
        run = self.explorer(CREW)
        votes = _play(run, _Answers(7), MANY)
        assert not [vote for vote in votes if vote[0] == "chair"]
        assert not [vote for vote in votes if vote[0] == "editor" and "ann" in vote]
        assert {("ann", "chair")} <= set(run.progress.accepted)
        assert {("ann", "editor")} <= set(run.progress.rejected)

    @pytest.mark.parametrize("told", [0, 20])
    def test_a_judge_may_be_interrupted_and_the_run_goes_on(self, told: int) -> None:
        def interrupted(duel: Duel) -> str:
            if run.duels == told:
                raise KeyboardInterrupt
            return _favourite(duel)

        run, twin = (self.explorer(DUO, max_duels=MANY) for _ in range(2))
        try:
            drive(run, interrupted)
        except KeyboardInterrupt:
            assert run.result.status == "budget_spent"
        else:
            pytest.skip(f"This algorithm is done before {told} answers.")
        assert run.duels == told
        assert len(run.open_duels) == 1
        _check_standing(run)
        assert drive(run, _favourite) == drive(twin, _favourite)

    @pytest.mark.parametrize("line", [1, 7, 30, 120, 500])
    def test_a_run_may_be_interrupted_at_any_line_and_replayed(self, line: int) -> None:
        run, votes = self.explorer(TEAM), list[Vote]()

        def remembered(duel: Duel) -> str:
            votes.append((duel.position, *_names(duel, _favourite(duel))))
            return _favourite(duel)

        run._engine._rounds = _Interrupted(run, line)
        try:
            drive(run, remembered)
        except KeyboardInterrupt:
            assert run.result.duels == run.progress.duels == len(votes)
        else:
            pytest.skip(f"This algorithm is done before {line} lines of its own.")
        assert run.result.status == "budget_spent"
        for go_on in (lambda: run.ask(1), run.wanted, lambda: run.replay(votes)):
            with pytest.raises(DuelError, match="replay its answers in a new one"):
                go_on()
        again, twin = self.explorer(TEAM), self.explorer(TEAM)
        again.replay(votes)
        _play(twin, _Favourites(), len(votes))
        assert again.progress == twin.progress

    @every_problem
    def test_answering_whole_rounds_is_the_same_as_answering_duel_by_duel(self, problem: Problem) -> None:
        certain = Preferences(problem, _favourites_win(problem))
        by_round, by_duel = (self.explorer(problem, max_duels=MANY) for _ in range(2))
        rng = np.random.default_rng(0)
        while not by_round.done:
            answer_round(by_round, certain, rng)
        assert by_round.result == drive(by_duel, _favourite)
        assert by_round.progress == by_duel.progress

    def test_whole_rounds_and_single_duels_can_be_mixed(self) -> None:
        certain = Preferences(TEAM, _favourites_win(TEAM))
        mixed, by_duel = (self.explorer(TEAM, max_duels=MANY) for _ in range(2))
        rng = np.random.default_rng(0)
        while not mixed.done:
            duels = mixed.ask(2)
            if not mixed.done and len(mixed.open_duels) + mixed.duels < MANY:
                answer_round(mixed, certain, rng)
            for duel in duels:
                mixed.tell(duel, _favourite(duel))
        assert mixed.duels <= MANY
        assert mixed.result == drive(by_duel, _favourite)

    def test_a_result_says_what_it_is_worth(self) -> None:
        result: Result = drive(self.explorer(DUO), _favourite)
        assert result.delta == 0.1
        assert "chair: ann" in str(result)
        assert "wrong with probability 0.1 at most" in str(result)
        assert "NOT" not in str(result)


class _Answers:
    """Answers that do not depend on who asks when: the n-th duel between two always ends the same way."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._asked: dict[tuple[str, frozenset[str]], int] = {}

    def winner(self, duel: Duel) -> str:
        """Answer a duel; the favourite wins three in four."""
        number = self._asked.get(_question(duel), 0)
        self._asked[_question(duel)] = number + 1
        better = _favourite(duel)
        worse = _names(duel, better)[1]
        entropy = [self._seed, number, *f"{duel.position} {better} {worse}".encode()]
        return better if np.random.default_rng(entropy).random() < 0.75 else worse


class _Favourites(_Answers):
    """Answers without a doubt."""

    def __init__(self) -> None:
        super().__init__(0)

    def winner(self, duel: Duel) -> str:
        return _favourite(duel)


def _favourite(duel: Duel) -> str:
    """Name the better one; the best of all positions are different people, so there is no tie."""
    return (min if duel.position == "chair" else max)(duel.first, duel.second)


def _favourites_win(problem: Problem) -> dict[Vote, float]:
    by_position = {position: [c for c, p in problem.edges if p == position] for position in problem.positions}
    return {
        (position, one, other): float(_favourite(Duel(position, one, other)) == one)
        for position, candidates in by_position.items()
        for one, other in combinations(candidates, 2)
    }


def _question(duel: Duel) -> tuple[str, frozenset[str]]:
    return duel.position, frozenset((duel.first, duel.second))


def _names(duel: Duel, winner: str) -> tuple[str, str]:
    """Return the winner's and the loser's name."""
    return winner, duel.second if winner == duel.first else duel.first


def _two_of(problem: Problem, position: str) -> tuple[str, str]:
    one, other, *_ = [c for c, p in problem.edges if p == position]
    return one, other


def _play(run: Explorer, answers: _Answers, most: int) -> list[Vote]:
    """Answer duel by duel until the run is over or has had ``most`` answers; return those given now."""
    votes = []
    while not run.done and run.duels < most:
        (duel,) = run.ask(1)
        winner = answers.winner(duel)
        run.tell(duel, winner)
        votes.append((duel.position, *_names(duel, winner)))
    return votes


def _play_in_disorder(run: Explorer, answers: _Answers, rng: np.random.Generator) -> None:
    """Keep up to a dozen duels open and answer any of them, sometimes nobody for a while."""
    due: list[tuple[Duel, str]] = []
    while not run.done:
        due += [(duel, answers.winner(duel)) for duel in run.ask(int(rng.integers(13)))]
        for _ in range(int(rng.integers(len(due) + 1))):
            run.tell(*due.pop(int(rng.integers(len(due)))))


def _decided(progress: Progress) -> tuple[object, ...]:
    return progress.leader, progress.accepted, progress.rejected, progress.gap


def _nonsense(duel: Duel, told: Duel | None) -> Iterator[tuple[Any, Any]]:
    """Yield answers that must be refused while ``duel`` is open and ``told`` has been answered."""
    stranger = "zoe"
    yield duel, stranger
    yield duel, ""
    yield duel, 0
    yield duel, ()
    yield duel, [duel.first, duel.first]
    yield duel, [duel.first, stranger]
    yield duel, [(duel.first, stranger)]
    yield duel, [duel.first]
    yield duel, np.array([duel.first, duel.second])
    yield duel, duel.position
    for number in (0, -1, duel.id + 1, 10**9, None, "1", [1], float("nan")):
        yield Duel(duel.position, duel.first, duel.second, number), duel.first  # type: ignore[arg-type]
    yield Duel(duel.position, duel.second, duel.first, duel.id), duel.first
    yield Duel("throne", duel.first, duel.second, duel.id), duel.first
    yield Duel(duel.position, duel.first, stranger, duel.id), duel.first
    yield None, duel.first
    yield duel.id, duel.first
    yield (duel.position, duel.first, duel.second, duel.id), duel.first
    if told is not None:
        yield told, told.first
        yield told, told.second


def _check_standing(run: Explorer) -> None:
    """Check that result and progress make sense and agree with each other."""
    problem, progress, result = run.problem, run.progress, run.result
    groups = (progress.accepted, progress.rejected, progress.undecided)
    assert sorted(edge for group in groups for edge in group) == sorted(problem.edges)
    assert progress.duels == result.duels == run.duels
    assert progress.leader == result.matching
    if progress.leader is not None:
        chosen = {problem.edges[edge] for edge in problem.edge_numbers(progress.leader)}
        assert set(progress.accepted) <= chosen
        assert not chosen & set(progress.rejected)
    assert progress.gap is None or 0 <= progress.gap < float("inf")
    assert progress.duels_left is None or progress.duels_left >= 0
    if not run.done:
        assert result.status == "budget_spent"
        assert "NOT CERTIFIED" in str(result)


class _Interrupted(Generator[Round, RoundAnswers, Outcome]):
    """The thinking of a run, in which KeyboardInterrupt is raised after so many lines."""

    def __init__(self, run: Explorer, lines: int) -> None:
        self._thinking = run._engine._rounds
        self._left = lines
        self._ours = (str(Path(__file__).parent), getfile(type(run._engine._search)))

    def send(self, answers: RoundAnswers, /) -> Round:
        """Think, and be interrupted if it takes too long."""
        before = sys.gettrace()
        sys.settrace(self._count)
        try:
            return self._thinking.send(answers)
        finally:
            sys.settrace(before)

    def throw(self, *error: Any) -> Round:
        """Pass an error on."""
        return self._thinking.throw(*error)

    def _count(self, frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(self._ours):
            return None
        if event == "line":
            self._left -= 1
            if self._left == 0:
                raise KeyboardInterrupt
        return self._count
