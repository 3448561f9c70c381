"""What answers that came from anywhere decide, and what they leave open."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from duelmatch.answers import Answer
from duelmatch.errors import ProblemError
from duelmatch.explorers.panel.explorer import PanelExplorer
from duelmatch.explorers.panel.proceedings import OpenAnswers
from duelmatch.explorers.result import Progress, Result
from duelmatch.panel import Conflict
from duelmatch.preferences import Criterion
from duelmatch.problem import Matching, Problem


@dataclass(frozen=True, slots=True)
class ClosestOther:
    """The other line-up that comes closest, and by how much the result is ahead of it at least, per position.

    ``votes`` is the same as a sum of votes over the positions, where all judges judge all pairs (Condorcet).
    """

    matching: Matching
    ahead: float
    votes: float | None


@dataclass(frozen=True, slots=True)
class Needed:
    """So many ``answers`` that prefer ``first`` would do at this position; those of ``voters`` are open."""

    position: str
    first: str
    second: str
    answers: int
    voters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """What is certain from some answers: ``result`` and ``progress`` as of a run that has ended there.

    ``closest`` is None if there is no other line-up. ``needed`` lists the fewest answers that could make the
    leader unbeaten, by Condorcet's criterion and along one plan; ``open_answers`` how many each voter has
    not given. ``may_win``: whether the result may be unbeaten, or have the best score, when all have
    answered; the line-up that falls short least may not, while others may.
    """

    criterion: Criterion
    voters: tuple[str, ...]
    answers: int
    result: Result
    progress: Progress
    closest: ClosestOther | None
    needed: tuple[Needed, ...]
    open_answers: Mapping[str, int]
    may_win: bool


def decide(
    problem: Problem,
    answers: Iterable[Answer],
    criterion: Criterion = "condorcet",
    consistent: bool = True,
    *,
    voters: Collection[str] = (),
    missing: OpenAnswers | Mapping[str, OpenAnswers] = "open",
    conflicts: Mapping[str, Collection[Conflict]] | None = None,
    voter_weight: Mapping[str, object] | None = None,
    chosen: Mapping[str, Any] | None = None,
) -> Decision:
    """Return what the answers of a panel decide, whatever the missing ones would be.

    The panel is who has answered, and ``voters`` who may not have yet. What they have not said is open; with
    ``missing="dropped"`` it is not counted: whoever has an opinion on a pair decides it; ``missing`` may also
    say so of each voter. A voter whose weight is not in ``voter_weight`` has that of the answers. Where
    several line-ups are equally good, the result is the one ``chosen`` before, if it is one of them.

    >>> team = Problem.complete(["ann", "bob"], ["chair"])
    >>> said = [Answer("chair", ["ann", "bob"], voter) for voter in ("eve", "ned")]
    >>> decide(team, said).result.status, decide(team, said, voters=["zoe"]).result.status
    ('decided', 'decided')
    >>> decide(team, said[:1], voters=["ned", "zoe"]).needed
    (Needed(position='chair', first='ann', second='bob', answers=1, voters=('ned', 'zoe')),)

    :raises ProblemError: if an answer does not fit the problem, has no voter, or contradicts another.
    """
    if not isinstance(answers, Iterable):
        raise ProblemError(f"The answers must be a list, not {answers!r:.50}.")
    if isinstance(voters, str) or not isinstance(voters, Collection):
        raise ProblemError(f"The voters must be a list of names, not {voters!r:.50}.")
    given = list(answers)
    weights = check_answers(problem, given) | dict(voter_weight or {})
    names = tuple(dict.fromkeys([*(answer.voter or "" for answer in given), *voters]))
    run = PanelExplorer(
        problem, names, criterion=criterion, consistent=consistent, conflicts=conflicts, voter_weight=weights
    )
    for number, answer in enumerate(given, start=1):
        about = {"voter": answer.voter, "position": answer.position, "candidates": list(answer.candidates)}
        run.note({"kind": "asked", "question": number, "until": None, **about})
        groups = [list(group) for group in answer.groups]
        run.note({"kind": "answered", "question": number, "answer": groups})
    # nobody is asked any more: the line-up is the one found with the smallest certain shortfall
    for voter in names:
        way = missing if isinstance(missing, str) else missing.get(voter, "open")
        run.note({"kind": "left", "voter": voter, "open_answers": way})
    if chosen:
        run.note({"kind": "backed", "champion": dict(chosen)})
    unknown, result, progress = run.state.unknown, run.result, run.progress
    return Decision(
        criterion,
        names,
        run.duels,
        result,
        progress,
        _closest(run),
        _needed(run, progress) if criterion == "condorcet" and result.status == "budget_spent" else (),
        {voter: int(row.sum()) for voter, row in zip(names, unknown, strict=True) if row.any()},
        run.standing.now.method.certifier.must_lose(run.standing.verdict.matching) <= 0,
    )


def check_answers(
    problem: Problem, answers: Sequence[Answer], places: Sequence[str] | None = None
) -> dict[str, float]:
    """Return the weight of each voter; ``places`` are where the answers stand, for messages.

    :raises ProblemError: if an answer does not fit the problem, has no voter, or contradicts another.
    """
    weights: dict[str, float] = {}
    said: dict[tuple[str, str, str, str], tuple[int, str]] = {}
    where = places or [f"answer {number}" for number in range(1, len(answers) + 1)]
    for place, answer in zip(where, answers, strict=True):
        if not isinstance(answer, Answer):
            raise ProblemError(f"An Answer is needed, not {answer!r:.80}.")
        if not answer.voter:
            raise ProblemError(f"{place}: the answers of a panel need a voter.")
        if weights.setdefault(answer.voter, answer.weight) != answer.weight:
            raise ProblemError(
                f"{place}: '{answer.voter}' has weight {answer.weight:g} here, and "
                f"{weights[answer.voter]:g} before."
            )
        for better, worse, tie in answer.pairs():
            edges = [problem.edge_number(name, answer.position) for name in (better, worse)]
            in_order = edges[0] < edges[1]
            low, high = (better, worse) if in_order else (worse, better)
            opinion = 0 if tie else 1 if in_order else -1
            before, earlier = said.setdefault((answer.voter, answer.position, low, high), (opinion, place))
            if before != opinion:
                raise ProblemError(
                    f"{place}: '{answer.voter}' says something else of '{low}' and '{high}' at "
                    f"'{answer.position}' than at {earlier}."
                )
    return weights


def _closest(run: PanelExplorer) -> ClosestOther | None:
    """Return the other line-up over which the lead is smallest, whatever the open answers are."""
    certifier, graph = run.standing.now.method.certifier, run.problem.graph
    champion = run.problem.edge_numbers(run.result.matching or {})
    best = certifier.closest_other(champion)
    if best is None:
        return None
    rival, ahead = best
    state = run.state
    is_whole = run.criterion == "condorcet" and (state.total == state.scale).all() and graph.even
    votes = ahead / float(np.gcd.reduce(state.weight)) if is_whole else None
    return ClosestOther(
        run.problem.matching(rival.tolist()), float(ahead / certifier.bounds.unit / graph.positions), votes
    )


def _needed(run: PanelExplorer, progress: Progress) -> tuple[Needed, ...]:
    """Return which answers would make the leader unbeaten if all of them spoke for it."""
    unknown, problem = run.state.unknown, run.problem
    found = []
    for position, first, second, answers in progress.needed:
        ends = sorted(problem.edge_number(name, position) for name in (first, second))
        pair = problem.graph.pair_table.number_of(*ends)
        voters = tuple(compress(run.voters, unknown[:, pair]))
        found.append(Needed(position, first, second, answers, voters))
    return tuple(found)
