"""What goes over the wire, and its limits."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from fastapi import Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from duelmatch import studies
from duelmatch.errors import StudyError
from duelmatch.explorers.result import Forecast
from duelmatch.files.people import read_people
from duelmatch.problem import LONGEST_NAME, Matching
from duelmatch.studies import (
    LARGEST_NUMBER,
    LARGEST_WEIGHT,
    LONGEST_REASON,
    Phase,
    Reason,
    Role,
    Status,
    Trouble,
)

MOST_VOTERS = 1_000
"""Named voters of a new study."""

LARGEST_QUESTION = 10
"""Candidates that are compared in one question."""

LONGEST_TEXT = 10_000

ID = "^[0-9a-f]{16}$"
"""Of a study or a voter."""

Number = Annotated[int, Path(ge=1, le=LARGEST_NUMBER)]
"""Of a question, or of an entry of the log."""

Before = Annotated[int, Query(ge=1, le=LARGEST_NUMBER)]
"""An entry of the log: a list begins with what came before it."""

PageNumber = Annotated[int, Query(ge=1, le=LARGEST_NUMBER)]
OfVoter = Annotated[str | None, Query(pattern=ID)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
VoterId = Annotated[str, Field(pattern=ID, description="Random; the log has no names.")]
Edge = Annotated[list[str], Field(min_length=2, max_length=2, description="A candidate and a position.")]
Group = Annotated[list[Name], Field(min_length=1, max_length=LARGEST_QUESTION)]
Said = Name | None | Annotated[list[Name | Group], Field(min_length=1, max_length=LARGEST_QUESTION)]
Lineup = Annotated[dict[str, str | list[str]], BeforeValidator(Matching.as_json)]
Ranking = Annotated[
    list[list[str]],
    Field(description="Groups of candidates, best first; within a group there is no difference."),
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Shown(BaseModel):
    """What is shown of something that has attributes of the same names."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def shown(cls, known: object, **own: Any) -> Self:
        """Return what is shown of it, with the fields that it has otherwise, or not at all."""
        same = {name: getattr(known, name) for name in cls.model_fields if name not in own}
        return cls(**same, **own)


class NewVoter(_Strict):
    """A voter to add."""

    name: Name | None = None
    weight: int = Field(default=1, ge=1, le=LARGEST_WEIGHT, description="Votes of this judge, in a panel.")
    conflicts: list[Name] = Field(
        default=[], max_length=1_000, description="Candidates whom this judge does not judge, in a panel."
    )
    only: list[Name] | None = Field(
        default=None, max_length=1_000, description="Candidates whom this judge judges, and no others so far."
    )

    @property
    def new(self) -> studies.NewVoter:
        """The voter as studies take it."""
        return studies.NewVoter(self.name, self.weight, self.conflicts, self.only)


class NewVoters(_Strict):
    """Voters to add at once."""

    voters: list[NewVoter] = Field(min_length=1, max_length=MOST_VOTERS)


class Voters(_Strict):
    """Some voters, by their ids."""

    voters: list[VoterId] = Field(min_length=1, max_length=MOST_VOTERS)


class NewStudy(_Strict):
    """A problem as in a file, who decides, how to ask, and a name."""

    name: Name
    problem: dict[str, Any] = Field(
        description="As in a problem file: candidates, positions, edges.",
        examples=[{"candidates": ["ann", "bob"], "positions": ["chair"]}],
    )
    settings: dict[str, Any] = Field(
        default={},
        description=(
            "Whatever should differ from the defaults. Without an algorithm, named voters are a panel, "
            "and others a crowd."
        ),
        examples=[{"algorithm": "condorcet", "delta": 0.05}],
    )
    voters: list[NewVoter] = Field(
        default=[], max_length=MOST_VOTERS, description="Those who decide, if they are known."
    )


class ProblemText(_Strict):
    """The text of a problem's file, and the suffix of the file's name."""

    text: str = Field(max_length=500_000)
    layout: Literal["yaml", "json", "csv", "names"] | None = Field(
        default="yaml", description="names: in a row or a column; null: find out, cells of a spreadsheet too."
    )
    partly: bool = Field(
        default=False,
        description=(
            "With layout null: return a table with mistakes as far as it can be read, with `mistakes`, "
            "instead of refusing it."
        ),
    )


class JudgesText(_Strict):
    """A list of judges: one name on a line, or a table with the headings name, weight and conflicts."""

    text: str = Field(max_length=500_000, examples=["name,weight,conflicts\nEve,2,ann\nNed,,"])


class ReadJudge(_Shown):
    """A judge of a list."""

    name: str
    weight: int
    conflicts: tuple[str, ...]
    others: dict[str, str] = Field(description="Further columns, such as email; they are not stored.")


class ReadProblem(BaseModel):
    """A problem as the other operations take it."""

    problem: dict[str, Any]
    conditions: list[str] = Field(description="Its capacities, seats, weights and rules, in words.")
    mistakes: list[str] = Field(
        default=[], description="What is wrong with it, where it was to be read `partly`."
    )


class PlannedStudy(NewStudy):
    """A study that may come to be: who will come, and for how long."""

    name: Name = "Planned"
    judges: int | None = Field(
        default=None, ge=1, le=100_000, description="How many people vote, where they are not named yet."
    )
    minutes: float | None = Field(default=None, gt=0, le=100_000, description="How long each of them votes.")
    seconds_each: float | None = Field(
        default=None,
        gt=0,
        le=100_000,
        description="How long a question takes; 15 seconds for each of its candidates unless given.",
    )


class Estimate(_Shown):
    """What to expect, from simulations: an estimate, not a promise. Null is what they cannot tell."""

    answers: int | None = Field(description="Until the result is certain, in the middle of the simulations.")
    low: int | None = Field(description="In 8 of 10 cases it takes from so many answers")
    high: int | None = Field(description="to so many.")
    simulated: int | None = Field(description="How far the simulations went that did not end.")
    fewest: int | None = Field(description="Of a panel: what it takes at least, if all agree, about.")
    most: int | None = Field(
        description="Of a panel: what it takes at most, if everybody is asked everything."
    )
    questions_each: int | None = Field(description="How many questions there is time for, each.")
    seconds_each: float | None
    planned: int | None = Field(
        description="How many answers that makes, about; they end when it is certain."
    )
    certain: float | None = Field(description="How probably the result is certain by then.")
    best: float | None = Field(description="How probably the line-up that leads by then is the best.")
    shortfall: float | None = Field(
        description="By how much it is worse than the best, on average and per position."
    )
    simulations: int
    sentences: list[str] = Field(description="All of that in words.")

    @classmethod
    def of_forecast(cls, found: Forecast) -> Estimate:
        """Show a forecast."""
        return cls.shown(found, answers=found.middle, sentences=found.sentences())

    @classmethod
    def unknown(cls, why: str) -> Estimate:
        """Say why nothing can be told."""
        values: dict[str, Any] = dict.fromkeys(cls.model_fields)
        return cls(**values | {"simulations": 0, "sentences": [why]})


TOO_LARGE_TO_TELL = "This study is too large to say how many answers it takes."
TOO_BUSY_TO_TELL = "This machine was too busy to work out how many answers it takes. Try again in a moment."


class NewName(_Strict):
    """Another name."""

    name: Name


class Copy(NewName):
    """What a copy of a study is called, and the key for creating studies, where one is needed."""

    key: str = Field(default="", max_length=200)


class Answer(_Strict):
    """The better candidate, null for no difference, or a ranking: best first, equals in a list."""

    answer: Said = Field(examples=["ann", None, ["ann", ["bob", "cyd"]]])

    @property
    def said(self) -> str | list[str | tuple[str, ...]] | None:
        """The answer as the library takes it."""
        if not isinstance(self.answer, list):
            return self.answer
        return [group if isinstance(group, str) else tuple(group) for group in self.answer]


class VoterAnswer(Answer):
    """An answer of the voter who was asked."""

    next: bool = Field(default=False, description="Put the next question to me, too, and return it.")


class Correction(Answer):
    """What the answer should have been."""

    clerical: bool = Field(
        default=False,
        description=(
            "The answer was written down wrongly, and is corrected without regard to results. In a crowd "
            "only such a correction reaches the proof."
        ),
    )


class Report(_Strict):
    """Something that is wrong with a candidate."""

    candidate: Name
    problem: Trouble = Field(
        description="They are not there, a link or picture is broken, or something else."
    )
    text: str = Field(default="", max_length=LONGEST_REASON)


class Undo(_Strict):
    """Which answer to take back: the one to this question, if it is the last."""

    number: int = Field(ge=1, le=LARGEST_NUMBER)


class Skip(_Strict):
    """Why a question is skipped."""

    reason: str = Field(default="", max_length=LONGEST_REASON)


class Leave(_Strict):
    """What becomes of the opinions that a judge has not given."""

    open_answers: Literal["open", "dropped"] = Field(
        default="open", description="They stay open, or are not counted at all."
    )


class Published(_Strict):
    """Whether voters see the result."""

    shown: bool


class Conflicts(_Strict):
    """Candidates whom a judge does not judge."""

    candidates: list[Name] = Field(min_length=1, max_length=1_000)


class Candidate(_Strict):
    """A candidate who withdrew."""

    candidate: Name


Text = Annotated[str, Field(max_length=LONGEST_TEXT)]


class Details(_Strict):
    """What voters see; null or an empty text takes it away."""

    title: Text | None = None
    text: Text | None = None
    place: Text | None = Field(default=None, description="Where to find it, such as table 12.")
    picture: Text | None = None
    link: Text | None = None

    @property
    def given(self) -> dict[str, str | None]:
        """Only what was sent."""
        return {name: getattr(self, name) or None for name in self.model_fields_set}


class Picture(BaseModel):
    """An uploaded picture, to be given as the picture of a candidate or position."""

    picture: str = Field(description="Its address on this server.", examples=[f"/pictures/{'0' * 64}"])


class NewCandidate(_Strict):
    """A late candidate."""

    candidate: Name
    positions: list[Name] = Field(min_length=1, max_length=1_000)
    details: Details = Details()


class Edit(_Strict):
    """Changes of texts: the study's name, and details of candidates and positions by name."""

    name: Name | None = None
    candidates: dict[Name, Details] = Field(default={}, max_length=1_000)
    positions: dict[Name, Details] = Field(default={}, max_length=1_000)


class Invited(BaseModel):
    """A voter and the token of their link, which is shown once."""

    voter: VoterId
    name: str | None = None
    token: str


class Created(BaseModel):
    """A new study, with the organiser's token and those of the voters, which are shown once."""

    study: str
    organiser_token: str
    voters: list[Invited] = []


class Lasting(_Strict):
    """How long a link is to work."""

    seconds: float | None = Field(
        default=None, ge=60, le=315_360_000, description="Until it stops working; null for no end."
    )


class OpenLink(Lasting):
    """Whether strangers may become judges of a panel."""

    judges: bool = Field(
        default=False,
        description=(
            "Needed for a panel: whoever opens the link becomes a judge, and what they have not said stays "
            "open."
        ),
    )


class Token(_Strict):
    """The token of a link, which is shown once."""

    token: str = Field(max_length=100)


class Link(_Shown):
    """A link, without its secret."""

    id: str
    role: Role
    voter: VoterId | None
    created_at: float
    revoked: bool
    expires_at: float | None = Field(description="When it stops working by itself.")


class Me(BaseModel):
    """The calling voter: how many answers they have given, and to which question the last one was."""

    voter: VoterId
    name: str | None = Field(description="What the organiser calls me.")
    answers: int | None = Field(description="Null in a secret study, where it would tell ballots apart.")
    last: int | None = Field(description="The question that I answered last, and have not taken back.")
    left: int | None = Field(
        description="About how many more questions I will be asked, as a judge of a panel; null if unknown."
    )
    struck: bool = Field(description="Whether the organiser has struck out my votes.")


class Question(_Shown):
    """A question as it is to be shown, or why there is none."""

    number: int | None = None
    position: str | None = None
    candidates: list[str] | None = Field(
        default=None, description="In the order to show; two, or more to rank."
    )
    expires_at: float | None = None
    place: int | None = Field(default=None, description="Its place on the voter's ballot, from 1.")
    of: int | None = Field(default=None, description="How many questions the ballot has.")
    reason: Reason | None = Field(default=None, description="Why there is no question.")
    published: bool = Field(default=False, description="Whether voters see the result on their page.")


class Receipt(_Shown):
    """An answer that is on disk."""

    number: int
    position: str | None = Field(description="Null where answer is.")
    answer: Ranking | None = Field(
        description="Null in a secret study, except as the answer is given: a receipt that can be asked for "
        "again would show it to whoever has the link."
    )
    winner: str | None = Field(description="The best one; null if several are, or answer is.")
    entry: int = Field(description="The number of its entry in the log.")
    hash: str = Field(description="The hash of that entry: keep it to check later that it is still there.")
    repeated: bool = Field(
        description="The same answer was there already; another is refused (409). In a secret study, an "
        "answer was there already, whatever it said."
    )

    @classmethod
    def of_study(cls, receipt: studies.Receipt, secret: bool, **own: Any) -> Self:
        """Show a receipt; of a ``secret`` ballot what was answered only to whoever has just said so."""
        hidden = secret and receipt.repeated
        kept = {"position": None, "answer": None, "winner": None} if hidden else {}
        return cls.shown(receipt, number=receipt.question, **kept, **own)


class Kept(Receipt):
    """The receipt of an answer, with the next question if it was wanted."""

    next: Question | None = Field(
        default=None, description="As the operation question returns it; null if it has to be asked for."
    )


class About(BaseModel):
    """What there is to show of a study besides its questions."""

    name: str
    problem: dict[str, Any] = Field(
        description="As in a problem file, with titles, texts, pictures and links."
    )
    ties: bool
    skips: bool
    secret: bool = Field(description="Whether organisers are kept from seeing who answered what.")
    conflicts: bool = Field(description="Whether a voter can say whom not to judge.")


class VoteData(About):
    """All that a voter's page begins with, in one piece: what it is about, who is voting, what is open."""

    study: str
    me: Me | None = Field(description="Null before somebody has joined.")
    question: Question | None = Field(
        description="The question that is open; null if one has to be asked for."
    )


class Progress(_Shown):
    """How far a study has come."""

    name: str
    phase: Phase
    done: bool
    entries: int
    answers: int = Field(description="Those that count.")
    voters: int
    open_questions: int
    answers_left: int | None = Field(
        description="About how many more answers it takes until the result is certain; null if not known."
    )
    answers_left_range: studies.AnswersLeft | None = Field(description="How uncertain that is.")
    estimated: int | None = Field(
        description="The entry of the log up to which estimates have been computed, if there are any."
    )
    held_up: int = Field(description="Answers of a crowd that count once a ballot opened before is in.")

    @classmethod
    def of_status(cls, status: Status, estimates: studies.Estimates | None) -> Progress:
        """Show the progress that a status tells."""
        left = status.answers_left(estimates)
        return cls.shown(
            status,
            answers=status.counted,
            answers_left=None if left is None else left.middle,
            answers_left_range=left,
            estimated=None if estimates is None else estimates.entry,
        )


class Standings(_Shown):
    """Who is probably in the best line-up, from all answers that count: an estimate, without a guarantee."""

    estimate: Literal[True] = True
    answers: int = Field(description="From how many answers it is.")
    entry: int = Field(description="Up to which entry of the log.")
    leader: Lineup = Field(description="The line-up that is expected to fall short least.")
    leader_probability: float = Field(description="How probably all of it is the best line-up.")
    probability: dict[str, dict[str, float]] = Field(
        description="By position, how probably each candidate belongs to the best line-up."
    )
    expected_shortfall: float = Field(
        description="By how much the leader is worse than the best, on average and per position."
    )

    @classmethod
    def of(cls, estimates: studies.Estimates | None) -> Standings | None:
        """Show the standings, if there are any."""
        if estimates is None or (found := estimates.standings) is None:
            return None
        own = {"estimate": True, "answers": estimates.answers, "entry": estimates.entry}
        return cls.shown(found, probability=found.by_position, **own)


class Change(_Strict):
    """A change that an organiser thinks about; one of these."""

    strike: VoterId | None = Field(default=None, description="A voter whose votes would not count.")
    reinstate: VoterId | None = Field(default=None, description="A voter whose votes would count again.")
    leave: VoterId | None = Field(
        default=None, description="A judge who would be asked nothing more; what is unsaid is not counted."
    )
    drop: Name | None = Field(default=None, description="A candidate who would withdraw.")
    strike_answer: int | None = Field(
        default=None, ge=1, le=LARGEST_NUMBER, description="A question whose answer would not count."
    )

    @property
    def chosen(self) -> tuple[studies.Action, str | int]:
        """What would be done, and to what.

        :raises StudyError: unless there is one of them.
        """
        given = [(name, value) for name, value in self if value is not None]
        if len(given) != 1:
            raise StudyError("Name one change: strike, reinstate, leave, drop or strike_answer.")
        return given[0]  # type: ignore[return-value]


class Standpoint(_Shown):
    """Where a study stands, before or after a change."""

    certain: bool
    answers: int = Field(description="Those that count.")
    lineup: Lineup | None = Field(
        description="The result if it is certain, and else the leader of the standings, an estimate."
    )


class Preview(_Shown):
    """What a change would do. It is not made."""

    before: Standpoint
    after: Standpoint
    sentences: list[str] = Field(description="The difference in words.")


class Outcome(_Shown):
    """Who should fill what, and how sure that is."""

    status: Literal[
        "decided",
        "unbeaten",
        "tied",
        "certified",
        "within_epsilon",
        "no_winner",
        "undecided",
        "budget_spent",
    ] = Field(
        description=(
            "The first three are certain, of a panel. undecided: nothing is certain yet, and voting goes on. "
            "budget_spent: it ended before anything was certain."
        )
    )
    matching: Lineup | None = Field(
        description=(
            "A candidate for every position; a list where a position has several seats. Null if no line-up "
            "beats every other, and while no answer counts. While status is undecided or budget_spent it is "
            "no winner: of a panel, it is the line-up that the count backs (once the study is closed, or "
            "nobody can be asked, the one with the smallest certain shortfall that was found), of a crowd "
            "the one that is first in the test. Who probably leads is standings.leader, which may be another."
        )
    )
    error_allowed: float = Field(description="How often such a result may be wrong; 0 for a panel.")
    shortfall: float | None = Field(
        description=(
            "No other line-up is ahead by more than that, per position: for certain, of a panel, and of a "
            "crowd as often as error_allowed says (where a Condorcet winner is assumed: that winner is not "
            "ahead by more). Null where nothing is known."
        )
    )
    standings: Standings | None = Field(
        description="Of the answers that were there when it was computed last; null if it was not yet."
    )
    answers_left: studies.AnswersLeft | None = Field(
        description="How many more answers it takes: an estimate."
    )
    assuming: list[str] = Field(description="What the result takes for granted, as codes.")
    accepted: list[Edge]
    rejected: list[Edge]
    undecided: list[Edge]
    dropped: list[str]
    waiting_for: dict[VoterId, int | None] = Field(
        description=(
            "Who holds up the result: of a panel, the open opinions of each judge; of a crowd, how many "
            "answers wait for the ballot of each voter. In a secret study it does not say how many."
        )
    )
    entries: int = Field(description="How long the log was.")
    hash: str = Field(description="The hash of its last entry.")

    @classmethod
    def of_status(cls, status: Status, estimates: studies.Estimates | None, secret: bool) -> Outcome:
        """Show the result that a status tells."""
        result, progress = status.result, status.progress
        waiting = {voter: None if secret else count for voter, count in progress.waiting_for}
        return cls.shown(
            status,
            status=status.outcome,
            matching=result.matching,
            error_allowed=result.delta,
            standings=Standings.of(estimates) if status.counted else None,
            answers_left=status.answers_left(estimates),
            assuming=[str(assumption) for assumption in status.assuming],
            accepted=progress.accepted,
            rejected=progress.rejected,
            undecided=progress.undecided,
            waiting_for=waiting,
        )


class NewWebhook(_Strict):
    """An address to call when something is decided."""

    url: str = Field(max_length=2_000, examples=["https://example.org/decided"])


class SignedWebhook(NewWebhook):
    """The address, and the secret that signs what is sent there, which is shown once."""

    secret: str


class SetWebhook(NewWebhook):
    """The address that is called."""

    failure: str | None = Field(description="What went wrong last time; null if nothing did.")


class GivenAnswer(_Shown):
    """An answer as the organiser sees it."""

    entry: int = Field(description="Its place in the log; ask for what came before it to page on.")
    at: float
    voter: VoterId
    question: int
    position: str
    answer: Ranking
    struck: bool
    counts: bool


class GivenReport(_Shown):
    """A report of a voter as the organiser sees it."""

    entry: int
    at: float
    voter: VoterId
    candidate: str
    problem: Trouble
    text: str


class Voter(_Shown):
    """A voter as the organiser sees them."""

    id: VoterId
    name: str | None
    weight: int
    conflicts: list[str]
    struck: bool
    left: bool
    begun: bool = Field(description="Whether they have answered anything.")
    answers: int | None = Field(description="Null in a secret study, where it would tell ballots apart.")
    counted: int | None = Field(description="How many of the answers count; null in a secret study.")
    hints: list[str] = Field(description="What is odd about how they vote, without their answers.")

    @classmethod
    def of_study(cls, voter: studies.Voter, secret: bool, hints: list[str]) -> Voter:
        """Show a voter."""
        hidden = {"answers": None, "counted": None} if secret else {}
        return cls.shown(voter, begun=voter.answers > 0, hints=hints, **hidden)


def read_judges(written: JudgesText) -> list[ReadJudge]:
    """Read a list of judges."""
    return [ReadJudge.model_validate(person) for person in read_people(written.text)]
