"""What the paper assumes away: ties, no winner, judges who contradict themselves, mistaken calls, Ctrl-C.

Where a run could go wrong by chance, delta is 1e-7, so a test fails for no reason less than once in a
million runs; the seeds are fixed besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import duelmatch as dm
from cases import each
from duelmatch.errors import TooLargeError
from duelmatch.experiments.simulation import answer_round
from duelmatch.explorers import car_cond, clucb
from duelmatch.explorers.explorer import drive
from duelmatch.graph import Graph

RARELY = 1e-7
EXACT = ("clucb-borda-exact", "car-cond", "car-verify", "car-parallel")
CONDORCET = ("car-cond", "car-verify", "car-parallel")

DUO = dm.Problem.complete(["ann", "bob"], ["chair"])
PAIRS = dm.Problem.complete(["ann", "bob"], ["chair", "editor"])
TRIO = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])

EVEN = dm.Preferences.from_matrix(PAIRS, np.full((4, 4), 0.5))
ANN_EVERYWHERE = dm.Preferences(PAIRS, {("chair", "ann", "bob"): 0.9, ("editor", "ann", "bob"): 0.9})
LOPSIDED_CYCLE = dm.Preferences(
    TRIO, {("chair", "ann", "bob"): 1.0, ("chair", "bob", "cyd"): 0.6, ("chair", "cyd", "ann"): 0.75}
)
EASY = dm.instances.planted(3, 2, gap=0.5, noise=0.5, seed=4)
TINY = dm.instances.planted(2, 2, gap=0.5, seed=1)


class TestTies:
    @each("algorithm", EXACT)
    @each("preferences", [EVEN, ANN_EVERYWHERE])
    def test_exact_algorithms_never_certify_one_of_two_equals(
        self, algorithm: str, preferences: dm.Preferences
    ) -> None:
        result = dm.simulate(preferences, algorithm, delta=RARELY, max_duels=2_000)
        assert result.status == "budget_spent"
        assert result.duels == 2_000
        assert result.matching in ({"chair": "ann", "editor": "bob"}, {"chair": "bob", "editor": "ann"})
        assert "NOT CERTIFIED: stopped after 2,000 duels" in str(result)

    @each("preferences", [EVEN, ANN_EVERYWHERE])
    def test_within_epsilon_either_will_do(self, preferences: dm.Preferences) -> None:
        result = dm.simulate(preferences, "clucb-borda-pac", delta=RARELY, epsilon=0.3)
        assert result.status == "within_epsilon"
        assert result.matching is not None
        assert "within 0.3 of the best" in str(result)


class TestNoCondorcetWinner:
    @each("positions", [1, 2])
    @each("schedule", ["sparse", "every"])
    def test_car_cond_sees_a_cycle_where_all_are_alike(self, positions: int, schedule: str) -> None:
        """Every edge loses a bit: all are rejected."""
        cycle = dm.instances.cyclic(3, positions, strength=0.5)
        result = dm.simulate(cycle, "car-cond", delta=RARELY, max_duels=20_000, schedule=schedule)
        assert result.status == "no_winner"
        assert result.matching is None
        assert str(result).startswith("No Condorcet winner (after ")

    def test_car_cond_says_that_it_takes_a_winner_for_granted(self) -> None:
        """Bob is rejected early, and cyd, who loses to him, is left: the paper's algorithm cannot know."""
        assert LOPSIDED_CYCLE.condorcet_winner() is None
        result = dm.simulate(LOPSIDED_CYCLE, "car-cond", delta=0.05)
        assert (result.status, result.assuming) == ("certified", (dm.Assumption.CONDORCET_WINNER,))
        assert "wrong with probability 0.05 at most if a Condorcet winner exists" in str(result)

    @each("schedule", ["sparse", "every"])
    @each("preferences", [LOPSIDED_CYCLE, dm.instances.cyclic(3, 1, 0.5)])
    def test_car_verify_takes_nothing_for_granted(self, preferences: dm.Preferences, schedule: str) -> None:
        result = dm.simulate(preferences, "car-verify", RARELY, max_duels=20_000, schedule=schedule)
        assert result.status == "no_winner"
        assert (result.matching, result.assuming) == (None, ())
        assert 0.01 <= result.delta <= 0.01 + RARELY

    @each("algorithm", ["car-cond", "car-verify"])
    def test_a_run_that_found_no_winner_can_still_be_read(self, algorithm: str) -> None:
        cycle, rng = dm.instances.cyclic(3, 1, 0.5), np.random.default_rng(0)
        run = dm.explorer(algorithm, cycle.problem, delta=RARELY)
        while not run.done:
            answer_round(run, cycle, rng)
        progress = run.progress
        assert run.result.status == "no_winner"
        assert (progress.leader, progress.gap, progress.duels_left) == (None, 0, 0)
        edges = progress.accepted + progress.rejected + progress.undecided
        assert sorted(edges) == sorted(cycle.problem.edges)
        assert run.ask(3) == []

    @each(
        ("preferences", "budget"),
        [(LOPSIDED_CYCLE, 5_000), (dm.instances.cyclic(3, 1, 0.5), 2_000)],
    )
    def test_car_parallel_goes_on_until_the_budget_is_spent(
        self, preferences: dm.Preferences, budget: int
    ) -> None:
        """Long after its first sub-runs have found out."""
        result = dm.simulate(preferences, "car-parallel", delta=RARELY, max_duels=budget)
        assert (result.status, result.duels) == ("budget_spent", budget)


class TestStrangeJudges:
    @each("algorithm", EXACT)
    def test_one_who_changes_their_mind_every_time_is_never_taken_at_their_word(self, algorithm: str) -> None:
        asked = Counter[tuple[str, frozenset[str]]]()

        def fickle(duel: dm.Duel) -> str:
            question = (duel.position, frozenset((duel.first, duel.second)))
            asked[question] += 1
            return sorted(question[1])[asked[question] % 2]

        result = dm.explore(TRIO, fickle, algorithm, delta=RARELY, max_duels=600)
        assert (result.status, result.duels) == ("budget_spent", 600)

    @each("algorithm", dm.algorithms("crowd"))
    def test_one_who_always_says_the_first_gets_an_answer_or_the_end_of_the_budget(
        self, algorithm: str
    ) -> None:
        result = dm.explore(TRIO, lambda duel: duel.first, algorithm, max_duels=600)
        assert result.duels <= 600
        assert result.matching is None or set(result.matching) == {"chair"}

    @each("answer", ["zoe", "", 1, ["ann"], ("ann", "zoe")])
    def test_one_who_names_somebody_else_is_refused(self, answer: Any) -> None:
        with pytest.raises(dm.DuelError, match=r"question 1|a name, a ranking"):
            dm.explore(DUO, lambda duel: answer, "car-cond")

    @each(
        ("algorithm", "options"),
        [
            ("condorcet", {}),
            ("condorcet", {"assume_winner": False}),
            ("borda", {"epsilon": 0.2}),
            *(
                (name, {"schedule": schedule})
                for name in dm.algorithms("crowd")
                for schedule in ("sparse", "every")
                if name not in ("condorcet", "borda")
            ),
        ],
    )
    def test_one_who_is_always_sure_is_understood(self, algorithm: str, options: dict[str, Any]) -> None:
        """Probabilities of 0 and 1 only. CLUCB still draws opponents by chance."""
        instance = TINY if algorithm == "clucb-borda-exact" else EASY
        problem, winner = instance.problem, instance.condorcet_winner()
        assert winner is not None

        def judge(duel: dm.Duel) -> str:
            best = winner[duel.position]
            return best if best in (duel.first, duel.second) else max(duel.first, duel.second)

        epsilon = {"epsilon": 0.2} if algorithm == "clucb-borda-pac" else {}
        result = dm.explore(problem, judge, algorithm, RARELY, max_duels=50_000, **options, **epsilon)
        assert result.status in ("certified", "within_epsilon")
        assert result.matching == winner


class TestInterruptions:
    def test_a_judge_who_leaves_gets_what_is_known_by_then(self) -> None:
        left = 40

        def judge(duel: dm.Duel) -> str:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            return max(duel.first, duel.second)

        run = dm.explorer("car-cond", TRIO, seed=3)
        with pytest.raises(KeyboardInterrupt):
            drive(run, judge)
        assert (run.result.status, run.result.duels) == ("budget_spent", 40)
        assert run.result.matching == {"chair": "cyd"}
        assert str(run.result) == "chair: cyd (NOT CERTIFIED: stopped after 40 duels, seed 3)"

    @pytest.mark.parametrize("schedule", ["sparse", "every"])
    @pytest.mark.parametrize(("algorithm", "module", "thought"), [
        ("clucb-borda-exact", clucb, "_best"),
        ("car-cond", car_cond, "epoch"),
        ("car-verify", car_cond, "epoch"),
        ("car-parallel", car_cond, "epoch"),
    ])  # fmt: skip
    def test_a_simulation_may_be_interrupted_while_it_thinks(
        self, monkeypatch: pytest.MonkeyPatch, algorithm: str, module: Any, thought: str, schedule: str
    ) -> None:
        think: Callable[..., Any] = getattr(module, thought)
        left = 30

        def interrupted(*arguments: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
            return think(*arguments)

        monkeypatch.setattr(module, thought, interrupted)
        run = dm.explorer(algorithm, EASY.problem, RARELY, 0, schedule=schedule)
        answers = np.random.default_rng(0)

        def to_the_end() -> None:
            while not run.done:
                answer_round(run, EASY, answers)

        with pytest.raises(KeyboardInterrupt):
            to_the_end()
        assert left <= 0
        assert run.result.status == "budget_spent"
        assert 0 < run.result.duels < 5_000
        assert run.result.matching is not None

    def test_the_library_does_not_swallow_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(dm.Explorer, "tell_wins", interrupted)
        with pytest.raises(KeyboardInterrupt):
            dm.simulate(EASY, "car-cond", seed=0)
        with pytest.raises(KeyboardInterrupt):
            dm.explore(DUO, interrupted, "car-cond", seed=0)  # type: ignore[arg-type]


class TestMistakenCalls:
    @each(
        ("name", "hint"),
        [("car-con", "Did you mean 'car-cond'"), ("clucb-borda-pack", "'clucb-borda-pac'"), ("CAR-COND", "")],
    )
    def test_an_unknown_algorithm_brings_the_list_and_a_guess(self, name: str, hint: str) -> None:
        with pytest.raises(dm.ProblemError, match=f"no algorithm '{name}'; the algorithms are") as error:
            dm.explorer(name, DUO)
        assert hint in str(error.value)
        assert all(name in str(error.value) for name in dm.algorithms("crowd"))

    @each("name", [None, 3, ["car-cond"], DUO])
    def test_an_algorithm_is_a_name(self, name: Any) -> None:
        with pytest.raises(dm.ProblemError, match="no algorithm"):
            dm.explorer(name, DUO)

    @each("problem", [None, "team.yaml", EASY, [("ann", "chair")]])
    def test_an_explorer_needs_a_problem(self, problem: Any) -> None:
        with pytest.raises(dm.ProblemError, match="needs a Problem"):
            dm.explorer("car-cond", problem)

    @each("preferences", [None, DUO, {("chair", "ann", "bob"): 0.6}])
    def test_a_simulation_needs_preferences(self, preferences: Any) -> None:
        with pytest.raises(dm.ProblemError, match="needs Preferences"):
            dm.simulate(preferences, "car-cond")

    @each(
        ("algorithm", "parameter", "known"),
        [
            ("car-cond", "epsilon", "'schedule' and 'oracle'"),
            ("clucb-borda-exact", "epsilon", "'schedule'"),
            ("clucb-borda-pac", "oracle", "'epsilon' and 'schedule'"),
            ("car-verify", "shedule", "'schedule' and 'oracle'"),
            ("car-parallel", "graph", "'schedule' and 'oracle'"),
        ],
    )
    def test_an_unknown_parameter_brings_the_known_ones(
        self, algorithm: str, parameter: str, known: str
    ) -> None:
        with pytest.raises(
            dm.ProblemError, match=f"{algorithm} has no parameter '{parameter}'; it has {known}"
        ):
            dm.explorer(algorithm, DUO, **{parameter: 0.1})

    NO_FRACTIONS = (
        0,
        1,
        0.0,
        1.0,
        -0.1,
        1.5,
        True,
        False,
        float("nan"),
        float("inf"),
        "0.1",
        None,
        [0.1],
        1j,
    )

    @each("value", [*NO_FRACTIONS, 1e-101, np.array([0.1])])
    def test_delta_is_a_fraction(self, value: Any) -> None:
        with pytest.raises(dm.ProblemError, match="delta must lie between 0 and 1"):
            dm.explorer("car-cond", DUO, delta=value)

    @each(
        ("parameters", "sentence"),
        [
            ({"delta": 10**400}, "delta must lie between 0 and 1"),
            ({"epsilon": 10**400}, "epsilon must be a number between 1e-09 and 1"),
            ({"epsilon": 1e-200}, "epsilon must be a number between 1e-09 and 1, not 1e-200"),
            ({"batch": 1_000_001}, "batch must be a whole number from 1 to 1,000,000, not 1000001"),
            ({"batch": 10**400}, "batch must be a whole number"),
            ({"seed": -(10**400)}, "The seed must be a whole number"),
        ],
    )
    def test_what_is_out_of_all_proportion_is_refused_shortly(
        self, parameters: dict[str, Any], sentence: str
    ) -> None:
        with pytest.raises(dm.ProblemError, match=sentence) as error:
            dm.explorer("condorcet", DUO, **parameters)
        assert len(str(error.value)) < 200

    @each("value", NO_FRACTIONS)
    def test_epsilon_is_a_fraction(self, value: Any) -> None:
        with pytest.raises(dm.ProblemError, match="epsilon must be a number between 1e-09 and 1"):
            dm.explorer("clucb-borda-pac", DUO, epsilon=value)

    NO_COUNTS = (-1, 1.0, 1.5, float("nan"), True, False, np.True_, "1", [1], np.array([1, 2]))

    @each("value", NO_COUNTS)
    def test_the_seed_is_a_whole_number(self, value: Any) -> None:
        with pytest.raises(dm.ProblemError, match="seed must be a whole number of at least 0"):
            dm.explorer("car-cond", DUO, seed=value)

    @each("value", NO_COUNTS)
    def test_max_duels_is_a_whole_number(self, value: Any) -> None:
        with pytest.raises(dm.ProblemError, match="max_duels must be a whole number of at least 0"):
            dm.explorer("car-cond", DUO, max_duels=value)

    @each("value", ["Every", "", None, 1, ["every"], np.array(["every", "sparse"])])
    def test_schedule_and_oracle_are_of_the_list(self, value: Any) -> None:
        with pytest.raises(dm.ProblemError, match="schedule must be 'sparse' or 'every'"):
            dm.explorer("car-cond", DUO, schedule=value)
        with pytest.raises(dm.ProblemError, match="oracle must be 'lp' or 'subgradient'"):
            dm.explorer("car-cond", DUO, oracle=value)

    def test_numbers_of_numpy_are_numbers(self) -> None:
        run = dm.explorer(
            "clucb-borda-pac",
            DUO,
            delta=np.float32(0.25),  # type: ignore[arg-type]
            seed=np.int64(3),  # type: ignore[arg-type]
            max_duels=np.uint8(5),  # type: ignore[arg-type]
            epsilon=np.float64(0.5),
        )
        plain = dm.explorer("clucb-borda-pac", DUO, delta=0.25, seed=3, max_duels=5, epsilon=0.5)
        while not run.done:
            (duel,), (twin,) = run.ask(), plain.ask()
            assert duel == twin
            run.tell(duel, duel.first)
            plain.tell(twin, twin.first)
        assert run.result == plain.result
        assert repr(run.result) == repr(plain.result)

    def test_the_smallest_delta_works(self) -> None:
        for algorithm in dm.algorithms("crowd"):
            result = dm.simulate(TINY, algorithm, delta=1e-100, max_duels=30_000)
            assert result.status != "no_winner"
            assert result.matching is not None


class TestResultStrings:
    TEAM = dm.Matching({"chair": "ann", "editor": "bob"})

    def test_each_status_says_what_is_known(self) -> None:
        def shown(status: Any, matching: dm.Matching | None, duels: int, epsilon: float | None = None) -> str:
            return str(dm.Result("any", status, matching, duels, 0.05, epsilon))

        assert shown("certified", self.TEAM, 1_234_567) == (
            "chair: ann; editor: bob (certified after 1,234,567 duels, wrong with probability 0.05 at most)"
        )
        assert shown("within_epsilon", self.TEAM, 1, 0.1) == (
            "chair: ann; editor: bob (within 0.1 of the best after 1 duel, "
            "wrong with probability 0.05 at most)"
        )
        assert (
            shown("no_winner", None, 7)
            == "No Condorcet winner (after 7 duels, wrong with probability 0.05 at most)"
        )
        assert shown("budget_spent", self.TEAM, 0) == (
            "chair: ann; editor: bob (NOT CERTIFIED: stopped after 0 duels)"
        )
        assert shown("budget_spent", None, 2) == "no guess yet (NOT CERTIFIED: stopped after 2 duels)"


class TestApproximateMethods:
    @each("algorithm", CONDORCET)
    def test_the_papers_oracle_finds_the_winner_of_an_easy_instance(self, algorithm: str) -> None:
        result = dm.simulate(TINY, algorithm, delta=RARELY, oracle="subgradient", max_duels=5_000)
        assert result.status == "certified"
        assert result.matching == TINY.condorcet_winner()

    @pytest.fixture(params=["rejection", "chain"])
    def too_large(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
        """Put exact marginals out of reach, and for the chain exactly uniform draws as well."""

        def refuse(*_: object) -> None:
            raise TooLargeError("not today")

        monkeypatch.setattr(clucb, "edge_marginals", refuse)
        if request.param == "chain":
            monkeypatch.setattr(clucb, "RejectionSampler", refuse)
        return str(request.param)

    @pytest.mark.parametrize("schedule", ["sparse", "every"])
    @pytest.mark.parametrize("instance", [EASY, dm.instances.paper_example()], ids=["easy", "paper"])
    def test_sampled_opponents_lead_to_a_good_matching(
        self, instance: dm.Preferences, schedule: str, too_large: str
    ) -> None:
        epsilon = 0.25
        result = dm.simulate(instance, "clucb-borda-pac", RARELY, epsilon=epsilon, schedule=schedule)
        best = instance.borda_winner()
        assert best is not None
        assert result.matching is not None
        assert result.status == "within_epsilon"
        assert instance.borda_score(result.matching) >= instance.borda_score(best) - epsilon
        assert result.assuming == ((dm.Assumption.MIXED_SAMPLER,) if too_large == "chain" else ())

    def test_sampled_opponents_lead_the_exact_algorithm_to_the_winner(self, too_large: str) -> None:
        result = dm.simulate(EASY, "clucb-borda-exact", delta=RARELY, max_duels=100_000)
        assert result.status == "certified"
        assert result.matching == EASY.borda_winner()
        assert result.assuming == ((dm.Assumption.MIXED_SAMPLER,) if too_large == "chain" else ())

    @pytest.mark.parametrize("schedule", ["sparse", "every"])
    def test_rewards_are_shifted_only_where_the_opponents_are_biased_or_the_listing_is_followed(
        self, schedule: str, too_large: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        margins = []

        def listen(
            reward: object, asked: object, part: object, best: object, scale: float, margin: float
        ) -> object:
            margins.append(margin)
            return shift(reward, asked, part, best, scale, margin)

        shift = clucb._shift
        monkeypatch.setattr(clucb, "_shift", listen)
        dm.simulate(EASY, "clucb-borda-pac", RARELY, epsilon=0.2, schedule=schedule)
        biased = too_large == "chain" or schedule == "every"
        assert set(margins) == {0.05 if biased else 0.0}

    @pytest.mark.parametrize(
        ("algorithm", "parameters", "expected"),
        [("clucb-borda-pac", {"epsilon": 0.2}, [0.025]), ("clucb-borda-exact", {}, [1 / 16, 1 / 32, 1 / 64])],
    )
    def test_the_chain_is_asked_for_an_eighth_of_epsilon(
        self,
        algorithm: str,
        parameters: dict[str, float],
        expected: list[float],
        too_large: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        etas: list[float] = []

        class Asked(clucb.Chain):
            def __init__(self, graph: Graph, eta: float, seed: int) -> None:
                etas.append(eta)
                super().__init__(graph, eta, seed)

        monkeypatch.setattr(clucb, "Chain", Asked)
        dm.simulate(EASY, algorithm, RARELY, max_duels=20_000, **parameters)
        assert etas[:3] == (expected[: len(etas)] if too_large == "chain" else [])
        assert bool(etas) == (too_large == "chain")

    def test_the_edges_of_a_batch_share_their_matchings_and_meet_each_once(self) -> None:
        drawn = np.array([[0, 3], [1, 4], [0, 4]])

        class Prepared:
            method, eta = "exact", 0.0

            def draw(self, size: int) -> np.ndarray:
                return drawn[:size]

        graph = dm.instances.paper_example().problem.graph
        opponents = clucb._SampledOpponents(graph, Prepared())
        met_itself, duels = opponents.draw(np.array([0, 1, 4]), np.array([3, 2, 1]))
        assert met_itself.tolist() == [2, 1, 0]
        asked = zip(duels.first.tolist(), duels.second.tolist(), duels.count.tolist(), strict=True)
        assert list(asked) == [(0, 1, 1), (1, 0, 1), (4, 3, 1)]

    @pytest.mark.usefixtures("too_large")
    @pytest.mark.parametrize("schedule", ["sparse", "every"])
    def test_nobody_is_asked_to_compare_a_candidate_with_themselves(self, schedule: str) -> None:
        run = dm.explorer("clucb-borda-pac", EASY.problem, schedule=schedule)
        while run.duels < 300:
            (duel,) = run.ask(1)
            assert duel.first != duel.second
            run.tell(duel, duel.first)

    @pytest.mark.usefixtures("too_large")
    @pytest.mark.parametrize("schedule", ["sparse", "every"])
    def test_meeting_oneself_counts_as_half_a_win_and_costs_no_duel(self, schedule: str) -> None:
        """Two candidates for one position: each meets itself half of the time, so w = 1/4 + p/2.

        With p = 1 the rewards are 3/4 and 1/4 whatever the draws; what remains to chance is how often an
        edge meets itself. Twenty standard deviations are far less likely than one in a million.
        """
        sure = dm.Preferences(DUO, {("chair", "ann", "bob"): 1.0})
        run = dm.explorer("clucb-borda-pac", DUO, delta=RARELY, epsilon=0.1, schedule=schedule)
        rng = np.random.default_rng(0)
        while not run.done:
            answer_round(run, sure, rng)
        drawn = run._engine._search._look[3]  # type: ignore[attr-defined]
        assert run.result.matching == {"chair": "ann"}
        assert abs(run.duels - drawn / 2) < 20 * np.sqrt(drawn) / 2


def test_the_answers_of_a_simulation_are_not_those_that_made_the_instance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Drawn from the same stream, the second answer would be decided by the probability it is drawn from.

    It would go to the second candidate every time, since numpy draws wins of p > 1/2 as losses of 1 - p.
    Independent answers are even over all instances: 90 or more of 100 go one way once in 10^15 times.
    """
    answers = []

    def listen(run: dm.Explorer, wins: np.ndarray) -> None:
        answers.append(int(wins[0]))
        tell_wins(run, wins)

    tell_wins = dm.Explorer.tell_wins
    monkeypatch.setattr(dm.Explorer, "tell_wins", listen)
    for seed in range(100):
        dm.simulate(dm.instances.uniform(2, 1, seed=seed), "car-cond", seed=seed, max_duels=2)
    second_answers = answers[1::2]
    assert len(second_answers) == 100
    assert 10 < sum(second_answers) < 90


def test_a_seed_is_drawn_unless_given_and_the_result_shows_it(really_drawn_seeds: None) -> None:
    """Two drawn seeds are the same once in 2^53 times."""
    first, second = (dm.simulate(EASY, "condorcet", RARELY) for _ in range(2))
    assert first.seed != second.seed
    assert f"seed {first.seed}" in str(first)
    assert dm.simulate(EASY, "condorcet", RARELY, seed=first.seed) == first
