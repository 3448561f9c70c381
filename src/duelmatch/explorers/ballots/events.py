"""The events of a crowd: how designs and answers are written into a log, by name and ready for JSON.

Every change of a study is one event, a mapping with a ``kind``. The log holds nothing else, and
:class:`duelmatch.explorers.ballots.state.CrowdState` is what the events add up to.

==============  ==============================================================================
designed        how ballots are drawn from now on, and all that the bets on them follow from
opened          a ballot was drawn for a voter: its questions, and when its lease is over
passed          the questions that are missing on a ballot go to this voter, who is its heir
asked           a question of a ballot was handed out
answered        the answer to it: groups of candidates, best first
skipped         the voter does not answer it, and is not asked again
released        the question was taken back, and may be asked again
undone          the voter took the answer back, and may answer again
expired         a voter's part in a ballot is over, and what is missing waits for an heir
finished        nothing more will be added to a ballot: what is missing stays missing
struck          a voter does not count; ``reinstated``: counts again
corrected       an answer was corrected, or struck if ``answer`` is None
dropped         a candidate left; ``added``: one came
==============  ==============================================================================

Lists with a number per pair are in the order of the pairs of the problem at that moment: positions in
order, and at each of them every two of its candidates, in the problem's order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from duelmatch.explorers.ballots.records import Ballot, Design
from duelmatch.graph import Indices
from duelmatch.problem import Problem

KINDS = (
    "designed", "opened", "passed", "expired", "finished", "asked", "answered", "skipped", "released",
    "undone", "corrected", "struck", "reinstated", "dropped", "added",
)  # fmt: skip

Event = Mapping[str, Any]
"""What happened: JSON-ready, with its ``kind`` and the names of whom it is about."""


def designed(design: Design, problem: Problem) -> dict[str, Any]:
    """Write down a design."""
    chances = design.position_chances
    return {
        "kind": "designed",
        "design": design.number,
        "champion": _named(problem, design.champion),
        "chances": design.chances.tolist(),
        "size": design.size,
        "question_size": design.question_size,
        "position_chances": None if chances is None else chances.tolist(),
        "advantage": design.advantage.tolist(),
        "variance": design.variance.tolist(),
        "dispersion": design.dispersion,
        "bet": design.bet,
        "proof": design.proof,
        "proof_for": None if design.proof_for is None else _named(problem, design.proof_for),
        "answers": design.answers,
        "basis": design.basis,
    }


def read_design(event: Event, problem: Problem) -> Design:
    """Read a design as it was written down."""
    chances, proof_for = event["position_chances"], event["proof_for"]
    return Design(
        event["design"],
        problem.edge_numbers(event["champion"]),
        np.array(event["chances"], dtype=np.float64),
        event["size"],
        np.array(event["advantage"], dtype=np.float64),
        np.array(event["variance"], dtype=np.float64),
        event["dispersion"],
        event["proof"],
        None if proof_for is None else problem.edge_numbers(proof_for),
        event["answers"],
        None if chances is None else np.array(chances, dtype=np.float64),
        event["question_size"],
        event["bet"],
        event["basis"],
    )


def opened(ballot: Ballot, problem: Problem) -> dict[str, Any]:
    """Write down a ballot that was drawn."""
    edges = problem.edges
    return {
        "kind": "opened",
        "ballot": ballot.number,
        "voter": ballot.voter,
        "design": ballot.design,
        "questions": [
            {"position": edges[question[0]][1], "candidates": [edges[edge][0] for edge in question]}
            for question in ballot.questions
        ],
        "deadline": ballot.deadline,
    }


def _named(problem: Problem, matching: Indices) -> dict[str, str]:
    return dict(problem.matching(matching.tolist()))
