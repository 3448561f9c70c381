"""What a panel calls decided stays decided: no position, once it is, is filled otherwise in the end."""

from __future__ import annotations

import numpy as np
import pytest

import choices
import duelmatch as dm
import panels
from cases import each
from duelmatch.explorers.panel import PanelExplorer
from duelmatch.explorers.panel.simulation import answer_of, panel_explorer

CRITERIA = ("condorcet", "borda")


class Promises:
    """What was said of a run to be certain, at every moment."""

    def __init__(self, run: PanelExplorer) -> None:
        self._run = run
        self.accepted: set[tuple[str, str]] = set()
        self.rejected: set[tuple[str, str]] = set()

    def hear(self) -> None:
        """Look at what is said now: what was said before is still said."""
        progress = self._run.progress
        assert self.accepted <= set(progress.accepted)
        assert self.rejected <= set(progress.rejected)
        self.accepted, self.rejected = set(progress.accepted), set(progress.rejected)

    def hold_for(self, result: dm.Result) -> bool:
        """Whether a result has what was accepted, and nothing that was rejected."""
        chosen = set(result.matching.edges)
        return self.accepted <= chosen and chosen.isdisjoint(self.rejected)


def drawn_panel(problem: dm.Problem, voters: int, rng: np.random.Generator) -> dm.Panel:
    """Return judges who rank by chance."""
    at = {s: [name for name, place in problem.edges if place == s] for s in problem.positions}
    return dm.Panel(
        problem, {(f"v{v}", s): rng.permutation(at[s]).tolist() for v in range(voters) for s in at}
    )


def check(panel: dm.Panel, run: PanelExplorer, seed: int) -> str:
    """Ask until the end, or until everybody leaves; return how it ended."""
    rng, promises, left = np.random.default_rng([seed, 5]), Promises(run), 0
    stays = rng.random() < 0.7
    while not run.done:
        for question in run.ask(1, voter=str(rng.choice(panel.voters))) or run.ask(1):
            run.tell(question, answer_of(panel, question))
        promises.hear()
        assert promises.hold_for(run.last_result), "if the run were stopped now"
        if not stays and rng.random() < 0.1 and left < len(panel.voters):
            run.leave(panel.voters[left])
            left += 1
    promises.hear()
    assert promises.hold_for(run.result)
    assert run.last_result == run.result
    return run.result.status


@pytest.mark.parametrize("criterion", CRITERIA)
def test_with_panels_of_all_kinds(criterion: str) -> None:
    ends = set()
    for seed in range(60):
        panel, ranks = panels.random_panel(seed, most=4, most_voters=5)
        ends.add(check(panel, panel_explorer(panel, criterion, ranks), seed))
    assert "budget_spent" in ends
    assert len(ends) > 2


@pytest.mark.parametrize("until", ["unbeaten", "decided"])
def test_where_no_line_up_wins(until: str) -> None:
    problem = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor"])
    ends = []
    for seed in range(40):
        rng = np.random.default_rng([seed, 3])
        panel = drawn_panel(problem, int(rng.integers(3, 6)), rng)
        run = PanelExplorer(problem, panel.voters, until=until, question_size=int(rng.integers(2, 4)))
        ends.append(check(panel, run, seed))
    assert ends.count("no_winner") >= 2


@each("seed", [seed for seed in choices.SEEDS if choices.problem(seed).graph.pairs][::4])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_with_seats_capacities_and_rules(criterion: str, seed: int) -> None:
    problem = choices.problem(seed)
    panel = drawn_panel(problem, 3, np.random.default_rng([seed, 7]))
    check(panel, panel_explorer(panel, criterion, bool(seed % 2)), seed)
