"""How many duels will it take? Gaps, hardness, width, and bounds from above and below."""

from duelmatch.theory.bounds import (
    PaperLowerBound,
    car_cond_bound,
    car_parallel_bound,
    car_verify_bound,
    clucb_borda_exact_bound,
    clucb_borda_pac_bound,
    paper_lower_bound,
)
from duelmatch.theory.gaps import (
    BordaWinner,
    CondorcetWinner,
    borda_gaps,
    borda_hardness,
    borda_winner,
    condorcet_gaps,
    condorcet_pair_gaps,
    condorcet_winner,
    verification_gaps,
    verification_hardness,
)
from duelmatch.theory.limit import InformationLimit, information_limit, lower_bound
from duelmatch.theory.width import width, width_bound

__all__ = [
    "BordaWinner",
    "CondorcetWinner",
    "InformationLimit",
    "PaperLowerBound",
    "borda_gaps",
    "borda_hardness",
    "borda_winner",
    "car_cond_bound",
    "car_parallel_bound",
    "car_verify_bound",
    "clucb_borda_exact_bound",
    "clucb_borda_pac_bound",
    "condorcet_gaps",
    "condorcet_pair_gaps",
    "condorcet_winner",
    "information_limit",
    "lower_bound",
    "paper_lower_bound",
    "verification_gaps",
    "verification_hardness",
    "width",
    "width_bound",
]
