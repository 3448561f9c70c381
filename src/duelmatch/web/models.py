"""What goes over the wire, and its limits."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from duelmatch.problem import LONGEST_NAME
from duelmatch.studies import Question, Receipt, Status
from duelmatch.studies.study import LONGEST_REASON
from duelmatch.studies.texts import LARGEST_NUMBER
from duelmatch.studies.values import Reason

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Edge = Annotated[list[str], Field(min_length=2, max_length=2, description="A candidate and a position.")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewStudy(_Strict):
    """A problem as in a file, how to ask, and a name."""

    name: Name
    problem: dict[str, Any] = Field(
        description="As in a problem file: candidates, positions, edges.",
        examples=[{"candidates": ["ann", "bob"], "positions": ["chair"]}],
    )
    settings: dict[str, Any] = Field(
        description="The algorithm and whatever should differ from the defaults.",
        examples=[{"algorithm": "car-cond", "delta": 0.05}],
    )


class Written(_Strict):
    """The text of a problem's file, and what the file's name ends in."""

    text: str = Field(max_length=500_000)
    layout: Literal["yaml", "json", "csv"] = "yaml"


class Read(BaseModel):
    """A problem as the other operations take it."""

    problem: dict[str, Any]


class Estimate(BaseModel):
    """How many votes to expect."""

    votes: int | None


class NewName(_Strict):
    """What a copy is to be called."""

    name: Name


class NewVoter(_Strict):
    """A voter to add."""

    name: Name | None = None


class Answer(_Strict):
    """The better candidate, or null for a tie."""

    winner: Name | None


class Undo(_Strict):
    """Which answer to take back: the one to this duel, if it is the last."""

    number: int = Field(ge=1, le=LARGEST_NUMBER)


class Skip(_Strict):
    """Why a duel is skipped."""

    reason: str = Field(default="", max_length=LONGEST_REASON)


class Candidate(_Strict):
    """A candidate who withdrew."""

    candidate: Name


class Created(BaseModel):
    """A new study and the organiser's token, which is shown once."""

    study: str
    organiser_token: str


class Invited(BaseModel):
    """A voter's number and token, which is shown once."""

    voter: int
    token: str


class Token(_Strict):
    """The token of a link, which is shown once."""

    token: str = Field(max_length=100)


class Link(BaseModel):
    """A link, without its secret."""

    id: str
    role: Literal["organiser", "voter", "open"]
    voter: int | None
    created_at: float
    revoked: bool


class Me(BaseModel):
    """The voter who asks: how many of their answers there are, and the number of the duel answered last."""

    voter: int
    answers: int
    last: int | None


class Duel(BaseModel):
    """A question as it is to be shown, or why there is none."""

    number: int | None = None
    position: str | None = None
    left: str | None = None
    right: str | None = None
    expires_at: float | None = None
    reason: Reason | None = Field(default=None, description="Why there is no question.")

    @classmethod
    def of(cls, question: Question) -> Duel:
        """Show a question."""
        return cls(
            number=question.number,
            position=question.position,
            left=question.left,
            right=question.right,
            expires_at=question.expires_at,
        )


class Kept(BaseModel):
    """An answer that is on disk."""

    number: int
    position: str
    winner: str
    loser: str
    tie: bool
    repeated: bool = Field(description="It was there already, and this is what it was.")

    @classmethod
    def of(cls, receipt: Receipt) -> Kept:
        """Show a receipt."""
        return cls(
            number=receipt.question,
            position=receipt.position,
            winner=receipt.winner,
            loser=receipt.loser,
            tie=receipt.tie,
            repeated=receipt.repeated,
        )


class About(BaseModel):
    """What there is to show of a study besides its duels."""

    name: str
    problem: dict[str, Any] = Field(
        description="As in a problem file, with titles, texts, pictures and links."
    )
    ties: bool
    skips: bool


class Progress(BaseModel):
    """How far a study has come."""

    name: str
    state: Literal["open", "paused", "closed"]
    done: bool
    entries: int
    votes: int
    voters: int
    open_questions: int
    votes_left: int | None = Field(description="A rough estimate; null while the answers do not tell yet.")

    @classmethod
    def of(cls, status: Status) -> Progress:
        """Show the progress that a status tells."""
        return cls(
            name=status.name,
            state=status.state,  # type: ignore[arg-type]
            done=status.done,
            entries=status.entries,
            votes=status.counted,
            voters=status.voters,
            open_questions=status.open_questions,
            votes_left=status.votes_left,
        )


class Outcome(BaseModel):
    """Who should fill what, and how sure that is."""

    status: Literal["decided", "unbeaten", "tied", "certified", "within_epsilon", "no_winner", "budget_spent"]
    matching: dict[str, str] | None
    error_allowed: float
    assuming: list[str] = Field(description="What the result takes for granted, as codes.")
    accepted: list[Edge]
    rejected: list[Edge]
    undecided: list[Edge]
    dropped: list[str]

    @classmethod
    def of(cls, status: Status) -> Outcome:
        """Show the result that a status tells."""
        result, progress = status.result, status.progress
        return cls(
            status=result.status,
            matching=None if result.matching is None else dict(result.matching),
            error_allowed=result.delta,
            assuming=[str(assumption) for assumption in result.assuming],
            accepted=[list(edge) for edge in progress.accepted],
            rejected=[list(edge) for edge in progress.rejected],
            undecided=[list(edge) for edge in progress.undecided],
            dropped=list(status.dropped),
        )


class VoteRow(BaseModel):
    """An answer as the organiser sees it."""

    entry: int = Field(description="Its place in the log; ask for what came before it to page on.")
    at: float
    voter: int
    question: int
    position: str
    winner: str
    loser: str
    tie: bool
    struck: bool
    counts: bool


class VoterRow(BaseModel):
    """A voter as the organiser sees them."""

    number: int
    name: str | None
    blocked: bool
    answers: int
