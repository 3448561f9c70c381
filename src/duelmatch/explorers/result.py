"""What a run says to the outside, by name: its result, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.engine import Status
from duelmatch.matchings import Edge
from duelmatch.problem import Matching

AGAINST = {
    "candidates": ", Borda against a random candidate of each position",
    "sampled": ", Borda against a sample of the matchings",
    "given": ", Borda against the reference given",
}
"""What is said of a reference that is not the paper's."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a run, and how sure it is.

    ``certified``: the matching is the winner, wrong with probability ``delta`` at most.
    ``within_epsilon``: its score is within ``epsilon`` of the winner's, wrong with probability ``delta``
    at most. ``no_winner``: there is no Condorcet winner. ``budget_spent``: the run was stopped; the matching
    is a guess and may be missing. ``assuming`` lists what the guarantee takes for granted, if anything:
    car-cond's, that a Condorcet winner exists. Where none does, it can certify another matching. The same
    ``seed`` and the same answers give the same run; the guarantee is over seeds that are drawn, so one that
    was chosen after looking promises nothing. ``reference`` says against whom Borda was counted, where there
    is a choice: ``decisions``, ``candidates``, ``sampled``, or ``given``.
    """

    algorithm: str
    status: Status
    matching: Matching | None
    duels: int
    delta: float
    epsilon: float | None = None
    assuming: tuple[Assumption, ...] = ()
    seed: int | None = None
    reference: str | None = None

    def __str__(self) -> str:
        chosen = "; ".join(
            f"{position}: {candidate}" for position, candidate in (self.matching or {}).items()
        )
        duels = f"after {self.duels:,} duel{'s' * (self.duels != 1)}"
        assuming = "".join(f" if {assumption.sentence}" for assumption in self.assuming)
        seed = "" if self.seed is None else f", seed {self.seed}"
        seed += AGAINST.get(self.reference or "", "")
        wrong = f"wrong with probability {self.delta:g} at most"
        match self.status:
            case "certified":
                return f"{chosen} (certified {duels}, {wrong}{assuming}{seed})"
            case "within_epsilon":
                return f"{chosen} (within {self.epsilon:g} of the best {duels}, {wrong}{assuming}{seed})"
            case "no_winner":
                return f"No Condorcet winner ({duels}, {wrong}{seed})"
        return f"{chosen or 'no guess yet'} (NOT CERTIFIED: stopped {duels}{seed})"


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands: what is decided, who leads, and what is left.

    ``gap`` tells how far the run is from stopping, and shrinks with the answers: by how much a rival may
    still be above the leader, per position, or, while car-cond decides edges, the radius of its estimates.
    ``duels_left`` extrapolates from the answers so far and can be far off; None where they say nothing yet.

    The frugal algorithms also tell how sure one may be of the leader now. ``p_value``: if another matching
    is the winner, this is ever at or below x with probability x at most, at whichever moment one looks.
    ``possible`` is the number of matchings that may still be the winner, None where that is out of reach,
    and ``possible_winners`` lists them while they are at most 100. The true winner is among them at all
    times with probability 1 - delta.
    """

    duels: int
    leader: Matching | None
    accepted: tuple[Edge, ...]
    rejected: tuple[Edge, ...]
    undecided: tuple[Edge, ...]
    gap: float | None
    duels_left: int | None
    p_value: float | None = None
    possible: int | None = None
    possible_winners: tuple[Matching, ...] = ()
