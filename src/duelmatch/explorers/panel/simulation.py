"""A known panel plays the judges of a run, to see how many answers are needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from duelmatch.errors import ProblemError
from duelmatch.explorers.catalogue import whole
from duelmatch.explorers.panel.explorer import PanelExplorer
from duelmatch.explorers.panel.proceedings import voter_of
from duelmatch.explorers.panel.standing import Until
from duelmatch.explorers.questions import Answer, Question, groups_of
from duelmatch.explorers.result import Result
from duelmatch.panel import Panel
from duelmatch.preferences import Criterion


def simulate_panel(
    panel: Panel,
    criterion: Criterion = "condorcet",
    consistent: bool = True,
    seed: int = 0,
    *,
    questions_each: int | None = None,
    question_size: int = 2,
    max_duels: int | None = None,
    until: Until = "unbeaten",
    walking: bool = False,
) -> Result:
    """Ask a panel until the outcome is certain; judges come one at a time, in random order, again and again.

    A question about more than two candidates needs judges whose opinions are rankings.
    """
    run = panel_explorer(
        panel,
        criterion,
        consistent,
        questions_each=questions_each,
        question_size=question_size,
        until=until,
        walking=walking,
    )
    rng = np.random.default_rng(whole("The seed", seed))
    idle = 0
    while not run.done and (max_duels is None or run.duels < max_duels):
        for voter in rng.permutation(len(panel.voters)).tolist():
            asked = run.ask(1, voter=panel.voters[voter])
            idle = 0 if asked else idle + 1
            for question in asked:
                run.tell(question, answer_of(panel, question))
            if run.done or (max_duels is not None and run.duels >= max_duels):
                break
        assert idle < 2 * len(panel.voters), "somebody can be asked while a run is not done"
    return replace(run.result, seed=seed)


def panel_explorer(
    panel: Panel, criterion: Criterion = "condorcet", consistent: bool = True, **parameters: Any
) -> PanelExplorer:
    """Start a run with the voters, weights and conflicts of a known panel."""
    return PanelExplorer(
        panel.problem,
        panel.voters,
        criterion=criterion,
        consistent=consistent,
        conflicts=_conflicts(panel),
        voter_weight=dict(zip(panel.voters, panel.weights.tolist(), strict=True)),
        **parameters,
    )


def _conflicts(panel: Panel) -> dict[str, list[tuple[str, str, str]]]:
    edges, table = panel.problem.edges, panel.problem.graph.pair_table
    conflicts: dict[str, list[tuple[str, str, str]]] = {}
    for voter, pair in np.argwhere(~panel.judged).tolist():
        (first, position), (second, _) = edges[table.first[pair]], edges[table.second[pair]]
        conflicts.setdefault(panel.voters[voter], []).append((position, first, second))
    return conflicts


def answer_of(panel: Panel, question: Question) -> Answer:
    """Return what a voter of the panel answers: None for no difference, a winner, or a ranking."""
    voter = voter_of(question)
    if len(question.candidates) == 2:
        opinion = panel.opinion(voter, question.position, *question.candidates)
        if opinion == 0:
            return None
        return question.first if opinion == 1 else question.second
    wins = dict.fromkeys(question.candidates, 0)
    for place, first in enumerate(question.candidates):
        for second in question.candidates[place + 1 :]:
            opinion = panel.opinion(voter, question.position, first, second)
            if opinion is None:
                raise ProblemError(f"'{voter}' does not judge every two of {question.candidates}.")
            wins[first] += opinion
            wins[second] -= opinion
    groups = groups_of({name: -won for name, won in wins.items()})
    return [group[0] if len(group) == 1 else tuple(group) for group in groups]
