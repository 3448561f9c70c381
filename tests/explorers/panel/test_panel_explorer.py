"""A panel that is asked: who gets which question, and what is made of the answers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import duelmatch as dm
import panels
from duelmatch.explorers.panel import PanelExplorer, Question, simulate_panel
from duelmatch.explorers.panel.bounds import exact_marginals
from duelmatch.explorers.panel.simulation import answer_of, panel_explorer

TEAM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
VOTERS = ["eve", "ned", "zoe"]


def test_nobody_is_asked_the_same_twice_nor_what_follows() -> None:
    for seed in range(10):
        panel, ranks = panels.random_panel(seed)
        run = PanelExplorer(panel.problem, panel.voters, consistent=ranks)
        asked = set()
        rng = np.random.default_rng(seed)
        while not run.done:
            for question in run.ask(3):
                key = (question.voter, question.position, frozenset(question.candidates))
                assert key not in asked
                asked.add(key)
                run.tell(question, question.candidates[int(rng.integers(2))])


def test_the_questions_of_a_voter_are_the_voters() -> None:
    run = PanelExplorer(TEAM, VOTERS)
    questions = run.ask(4, voter="ned")
    assert {question.voter for question in questions} == {"ned"}
    assert len({question.id for question in questions}) == len(questions)
    question = questions[0]
    assert (question.first, question.second) == question.candidates
    assert question in run.open_duels


def test_conflicts_are_respected() -> None:
    run = PanelExplorer(TEAM, VOTERS, conflicts={"eve": ["ann"]})
    while not run.done:
        for question in run.ask(1):
            assert question.voter != "eve" or "ann" not in question.candidates
            run.tell(question, question.first)
    assert run.result.status in ("decided", "unbeaten", "no_winner")


def test_a_chair_with_two_votes() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    run = PanelExplorer(problem, ["eve", "ned"], voter_weight={"eve": 2})
    (question,) = run.ask(1, voter="eve")
    run.tell(question, "bob")
    assert (run.result.status, dict(run.result.matching)) == ("decided", {"chair": "bob"})
    assert run.result.duels == 1


def test_two_who_disagree_leave_both_unbeaten() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    run = PanelExplorer(problem, ["eve", "ned"])
    run.tell(run.ask(1, voter="eve")[0], "bob")
    assert run.result.status == "unbeaten"
    assert run.progress.possible == 2


def test_a_cycle_has_no_winner_and_the_least_beaten_is_named_with_its_loss() -> None:
    problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
    rankings = {
        ("v1", "chair"): ["ann", "bob", "cyd"],
        ("v2", "chair"): ["bob", "cyd", "ann"],
        ("v3", "chair"): ["cyd", "ann", "bob"],
    }
    panel = dm.Panel(problem, rankings)
    result = simulate_panel(panel)
    assert result.status == "no_winner"
    assert result.shortfall == pytest.approx(panel.preferences().least_beaten()[1])
    assert result.assuming == (dm.Assumption.CONSISTENT_JUDGES,)


def test_equal_borda_scores_are_a_tie() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    panel = dm.Panel(problem, {("v1", "chair"): ["ann", "bob"], ("v2", "chair"): ["bob", "ann"]})
    result = simulate_panel(panel, "borda")
    assert (result.status, result.shortfall) == ("tied", 0.0)


def test_a_ranking_answers_every_pair_of_its_question() -> None:
    run = PanelExplorer(TEAM, ["eve"], question_size=3)
    (question,) = run.ask(1)
    assert len(question.candidates) == 3
    first, second, third = question.candidates
    run.tell(question, [third, (first, second)])
    assert run.duels == 1
    assert run.progress.open_answers == 3


def test_a_function_can_answer_for_everybody() -> None:
    result = dm.explore(TEAM, lambda question: min(question.candidates), "panel", voters=VOTERS)
    assert (result.status, {*(result.matching or {}).values()}) == ("unbeaten", {"ann", "bob"})
    run = PanelExplorer(TEAM, VOTERS)
    (question,) = run.ask(1)
    with pytest.raises(dm.DuelError, match="Say who won"):
        run.tell(question)
    run.tell(question, winner=question.first)
    assert run.duels == 1


def test_no_difference_is_an_answer() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    run = PanelExplorer(problem, ["eve"])
    run.tell(run.ask(1)[0], None)
    assert (run.result.status, run.result.duels) == ("unbeaten", 1)


def test_a_budget_ends_a_run_with_a_certain_shortfall() -> None:
    panel, ranks = panels.random_panel(5)
    result = simulate_panel(panel, consistent=ranks, questions_each=1)
    count = panels.Count(panel.problem, panels.opinions_of(panel), panels.weights_of(panel))
    assert result.duels <= len(panel.voters)
    assert count.shortfall("condorcet", tuple(result.matching.values())) <= result.shortfall + 1e-12


def test_the_certain_shortfall_never_grows_below_the_truth() -> None:
    panel, ranks = panels.random_panel(11)
    count = panels.Count(panel.problem, panels.opinions_of(panel), panels.weights_of(panel))
    for criterion in ("condorcet", "borda"):
        for most in range(0, 60, 7):
            result = simulate_panel(panel, criterion, ranks, max_duels=most)
            truth = count.shortfall(criterion, tuple(result.matching.values()))
            assert truth <= result.shortfall + 1e-12


def test_who_leaves_is_asked_nothing_and_is_open_or_dropped() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    run = PanelExplorer(problem, ["eve", "ned"])
    (question,) = run.ask(1, voter="ned")
    run.leave("ned")
    assert run.open_duels == ()
    assert run.ask(1, voter="ned") == []
    with pytest.raises(dm.DuelError, match="answered, skipped or released"):
        run.tell(question, "ann")
    run.leave("eve", "dropped")
    assert run.done
    assert run.result.status == "budget_spent"
    run.leave("ned", "dropped")
    assert run.result.status == "budget_spent", "nobody has said anything"


def test_a_skipped_question_is_not_asked_again_and_a_released_one_is() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    run = PanelExplorer(problem, ["eve"])
    (question,) = run.ask(1)
    assert run.ask(1) == []
    run.release(question)
    (again,) = run.ask(1)
    assert again.id != question.id
    run.skip(again)
    assert run.done
    assert (run.result.status, run.result.shortfall) == ("budget_spent", 0.5)


def test_what_is_certain_stays_so_when_late_answers_come() -> None:
    for seed in range(20):
        panel, ranks = panels.random_panel(seed)
        run = panel_explorer(panel, consistent=ranks)
        rng = np.random.default_rng(seed)
        late: list[Question] = []
        while not run.done:
            for question in run.ask(2, voter=panel.voters[int(rng.integers(len(panel.voters)))]):
                if len(late) < 6 and rng.random() < 0.3:
                    late.append(question)
                elif question in run.open_duels:
                    run.tell(question, answer_of(panel, question))
            if rng.random() < 0.1 and late:
                question = late.pop()
                run.tell(question, answer_of(panel, question))
        result = run.result
        for question in late:
            run.tell(question, answer_of(panel, question))
            if result.status != "budget_spent":
                assert run.result.matching == result.matching
                assert run.result.status in (result.status, "decided")


def test_progress_says_what_is_decided_and_what_is_left() -> None:
    panel, ranks = panels.random_panel(2, most=4)
    run = PanelExplorer(panel.problem, panel.voters, consistent=ranks)
    before = run.progress
    assert before.fewest_questions is not None
    assert before.duels_left is not None
    assert before.fewest_questions <= before.duels_left
    assert before.shortfall is not None
    assert 0 < before.shortfall <= 0.5
    while not run.done:
        for question in run.ask(1):
            run.tell(question, question.first)
    after = run.progress
    assert (after.fewest_questions, after.duels_left) == (0, 0)
    for position, candidate in after.decided.items():
        assert all(matching[position] == candidate for matching in after.possible_winners)
    assert (run.result.status == "unbeaten") == (len(after.possible_winners) > 1)
    assert after.leader == run.result.matching


def test_marginals_are_exact_fractions() -> None:
    for seed in range(60):
        problem = panels.random_problem(np.random.default_rng(seed), 6)
        every = panels.lineups(problem)
        shares, unit = exact_marginals(problem.graph)
        for (candidate, position), share in zip(problem.edges, shares, strict=True):
            uses = sum(lineup[problem.positions.index(position)] == candidate for lineup in every)
            assert Fraction(int(share), int(unit)) == Fraction(uses, len(every))


def test_weights_beyond_64_bits_stay_exact() -> None:
    """Prime weights and conflicts make denominators whose common multiple has 30 digits."""
    problem = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor", "clerk"])
    primes = [100003, 100019, 100043, 100049, 100057, 100069, 100103]
    voters = [f"v{number}" for number in range(len(primes))]
    rng = np.random.default_rng(3)
    pairs = list(panels.pairs(problem))
    conflicts = {voter: [pairs[number]] for number, voter in enumerate(voters)}
    answers = [
        (voter, position, *((one, other) if rng.random() < 0.6 else (other, one)))
        for number, voter in enumerate(voters)
        for position, one, other in pairs
        if (position, one, other) != pairs[number]
    ]
    panel = dm.Panel(
        problem, answers=answers, conflicts=conflicts, voter_weight=dict(zip(voters, primes, strict=True))
    )
    for criterion in ("condorcet", "borda"):
        result = simulate_panel(panel, criterion, consistent=False)
        prefs = panel.preferences()
        assert result.status in ("decided", "unbeaten", "no_winner")
        if criterion == "borda":
            assert result.matching == prefs.borda_winner()
        else:
            assert result.shortfall == pytest.approx(prefs.least_beaten()[1], abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"voters": "eve"}, "list of names"),
        ({"voters": []}, "at least one voter"),
        ({"voters": ["eve", "eve"]}, "listed twice"),
        ({"voters": [3]}, "must be text"),
        ({"criterion": "plurality"}, "criterion must be"),
        ({"consistent": 1}, "True or False"),
        ({"questions_each": -1}, "questions_each must be a whole number of at least 0"),
        ({"question_size": 1}, "question_size must be a whole number from 2 to 10"),
        ({"conflicts": {"zoe!": ["ann"]}}, "there is no such voter"),
        ({"voter_weight": {"eve": -1}}, "above 0"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(dm.ProblemError, match=sentence):
        PanelExplorer(TEAM, **({"voters": VOTERS} | arguments))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("zoe", "is not an answer to question 1"),
        ("=", "'=' is not an answer to question 1: .* at 'chair', or None for no difference"),
        (["ann", "zoe"], "'zoe' cannot be there in a ranking"),
        (["ann"], "lacks 'bob'"),
        (3, "a name, a ranking"),
    ],
)
def test_an_answer_that_does_not_fit_changes_nothing(answer: object, sentence: str) -> None:
    run = PanelExplorer(dm.Problem.complete(["ann", "bob"], ["chair"]), VOTERS)
    (question,) = run.ask(1)
    with pytest.raises(dm.DuelError, match=sentence):
        run.tell(question, answer)
    assert run.open_duels == (question,)
    assert run.duels == 0


def test_questions_of_others_are_refused() -> None:
    run = PanelExplorer(TEAM, VOTERS)
    with pytest.raises(dm.DuelError, match="never asked by this run"):
        run.tell(Question("chair", ("ann", "bob"), 7, "eve"), "ann")
    with pytest.raises(dm.DuelError, match="is needed"):
        run.tell("chair", "ann")  # type: ignore[arg-type]
    with pytest.raises(dm.DuelError, match="no voter 'tom'"):
        run.ask(1, voter="tom")


def test_a_panel_is_an_explorer_and_can_be_simulated_by_name() -> None:
    run = dm.explorer("panel", TEAM, voters=VOTERS, criterion="borda", questions_each=5)
    assert isinstance(run, PanelExplorer)
    assert (run.criterion, run.questions_each) == ("borda", 5)
    panel, ranks = panels.random_panel(3)
    result = dm.simulate(panel, "panel", criterion="condorcet", consistent=ranks, seed=0)
    assert result == dm.simulate(panel, "panel", criterion="condorcet", consistent=ranks, seed=0)
    assert result.status in ("decided", "unbeaten", "no_winner", "budget_spent")


def test_what_is_no_panel_is_refused_in_a_sentence() -> None:
    panel, _ = panels.random_panel(3)
    with pytest.raises(dm.ProblemError, match="A panel needs its voters"):
        dm.explorer("panel", TEAM)
    with pytest.raises(dm.ProblemError, match="panel has no max_duels"):
        dm.explorer("panel", TEAM, voters=VOTERS, max_duels=9)  # type: ignore[call-overload]
    with pytest.raises(dm.ProblemError, match="panel has no parameter 'epsilon'"):
        dm.explorer("panel", TEAM, voters=VOTERS, epsilon=0.1)
    for preferences, algorithm in ((panel, "condorcet"), (panel.preferences(), "panel")):
        with pytest.raises(dm.ProblemError, match="algorithm 'panel'"):
            dm.simulate(preferences, algorithm)


def test_a_run_can_go_on_from_unbeaten_until_it_is_decided() -> None:
    further = 0
    for seed in range(15):
        panel, ranks = panels.random_panel(seed)
        short = simulate_panel(panel, consistent=ranks, seed=seed)
        long = simulate_panel(panel, consistent=ranks, seed=seed, until="decided")
        count = panels.Count(panel.problem, panels.opinions_of(panel), panels.weights_of(panel))
        assert long.duels >= short.duels
        assert long.matching is not None
        assert count.agrees("condorcet", long.status, tuple(long.matching.values()), long.shortfall or 0.0)
        if long.status == "unbeaten":  # then nothing is decided by all answers either
            row = count.lineups.index(tuple(long.matching.values()))
            assert (np.delete(count.over[row], row) <= 0).any()
        further += (short.status, long.status) == ("unbeaten", "decided")
    assert further > 1


def test_with_only_skipped_and_absent_answers_open_the_certain_shortfall_is_left() -> None:
    for criterion in ("condorcet", "borda"):
        run = PanelExplorer(TEAM, VOTERS, criterion=criterion, consistent=False)  # type: ignore[arg-type]
        run.leave("zoe")
        for voter in ("eve", "ned"):
            for number, question in enumerate(run.ask(20, voter)):
                if number % 2:
                    run.skip(question)
                else:
                    run.tell(question, "ann" if "ann" in question.candidates else question.first)
        while questions := run.ask(1):
            run.skip(questions[0])
        result = run.result
        assert (run.done, run.open_duels, result.status) == (True, (), "budget_spent")
        assert result.shortfall is not None
        assert 0 < result.shortfall <= 0.5
        assert result.shortfall == run.progress.shortfall


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_without_anybody_to_count_nothing_is_certain(criterion):
    run = PanelExplorer(TEAM, ["eve", "ned"], criterion=criterion)
    (question,) = run.ask(1, voter="eve")
    run.tell(question, question.candidates[0])
    for voter in ("eve", "ned"):
        run.strike(voter)
    assert (run.result.status, run.result.shortfall, run.done) == ("budget_spent", 0.0, True)
    assert run.progress.waiting_for == ()
    run.reinstate("ned")
    assert not run.done


def test_whose_opinions_are_open_is_told():
    run = PanelExplorer(TEAM, ["eve", "ned"])
    pairs = TEAM.graph.pairs
    (question,) = run.ask(1, voter="ned")
    run.tell(question, question.candidates[0])
    assert run.progress.waiting_for == (("eve", pairs), ("ned", pairs - 1))
    run.leave("eve", "dropped")
    assert run.progress.waiting_for == (("ned", pairs - 1),)


def test_judges_who_walk_stay_with_a_candidate_and_decide_the_same() -> None:
    """Whatever is asked, what is certain is what the count of all answers says."""
    kept: dict[bool, list[bool]] = {False: [], True: []}
    for seed in range(12):
        panel, ranks = panels.random_panel(seed)
        for walking in (False, True):
            run = panel_explorer(panel, "condorcet", ranks, walking=walking)
            last: dict[str | None, set[str]] = {}
            while not run.done:
                for question in run.ask(1):
                    if question.voter in last:
                        kept[walking].append(not last[question.voter].isdisjoint(question.candidates))
                    last[question.voter] = set(question.candidates)
                    run.tell(question, answer_of(panel, question))
            opinions, result = panels.opinions_of(panel), run.result
            if result.status != "budget_spent":
                count = panels.Count(panel.problem, opinions, panels.weights_of(panel))
                lineup = tuple(result.matching.values())
                assert count.agrees("condorcet", result.status, lineup, result.shortfall)
    assert np.mean(kept[True]) > np.mean(kept[False]) + 0.05
    with pytest.raises(dm.ProblemError, match="walking must be True or False"):
        PanelExplorer(TEAM, VOTERS, walking=1)  # type: ignore[arg-type]
