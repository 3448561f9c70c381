"""What a study says: questions, receipts, voters, where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from duelmatch.explorers.result import Progress, Result

FARTHEST = 20
"""An estimate of the answers to come is believed up to so many times the answers that it was made from."""

Reason = Literal["done", "waiting", "all yours", "budget", "paused", "closed"]
"""Why there is no question: the explorer is sure; it waits for the answers of others; this voter was asked
everything; the votes that were planned are there; the organiser has paused or closed the study."""


@dataclass(frozen=True, slots=True)
class Question:
    """A duel put to a voter, as it is shown: two candidates for a position.

    The lease ends at a time by the database's clock; after that, somebody else may be asked, but an answer
    still counts.
    """

    number: int
    voter: int
    position: str
    left: str
    right: str
    expires_at: float


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is no question for a voter now."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Receipt:
    """An answer that is kept. ``repeated``: it was there already, and this is what it was."""

    question: int
    position: str
    winner: str
    loser: str
    tie: bool
    repeated: bool


@dataclass(frozen=True, slots=True)
class Voter:
    """Somebody who may vote, or is ``blocked``; the name is what the organiser calls them."""

    number: int
    name: str | None
    blocked: bool
    answers: int


@dataclass(frozen=True, slots=True)
class Vote:
    """An answer as the organiser sees it; ``entry`` is its place in the log, ``at`` its time.

    It is ``struck`` if the organiser struck it out, and does not count then, or for some other reason.
    """

    entry: int
    at: float
    voter: int
    question: int
    position: str
    winner: str
    loser: str
    tie: bool
    struck: bool
    counts: bool


@dataclass(frozen=True, slots=True)
class Status:
    """Where a study stands.

    ``answers`` were given, of which ``counted`` count: not those struck out, of invalidated voters, given
    after closing, or about candidates who withdrew. The explorer still needs ``missing`` answers before it
    can say more than ``result`` and ``progress``, and has ``unused`` ones.
    """

    id: str
    name: str
    state: str
    done: bool
    entries: int
    voters: int
    questions: int
    open_questions: int
    answers: int
    counted: int
    missing: int
    unused: int
    dropped: tuple[str, ...]
    max_votes: int | None
    result: Result
    progress: Progress

    @property
    def votes_left(self) -> int | None:
        """About how many more answers are needed; None while those that there are do not tell."""
        if self.done:
            return 0
        planned = None if self.max_votes is None else max(0, self.max_votes - self.counted)
        left = self.progress.duels_left
        if left is None or left > FARTHEST * self.counted:
            return planned
        left = max(1, left - self.unused)
        return left if planned is None else min(left, planned)
