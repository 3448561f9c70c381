"""The votes as an organiser goes through them: a page at a time, the latest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from duelmatch.studies import Study, Vote
from duelmatch.web.names import Named, Names

PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class Ballot:
    """A vote in words."""

    vote: Vote
    time: str
    voter: str
    position: Named
    winner: Named
    loser: Named
    uncounted: str
    """Why it does not count, if it does not."""


@dataclass(frozen=True, slots=True)
class Ballots:
    """A page of votes, and where the next one begins."""

    voter: str | None
    rows: list[Ballot]
    older: int | None

    @classmethod
    def of(cls, study: Study, before: int, voter: int | None) -> Ballots:
        """Look at the votes before an entry of the log."""
        votes = study.votes(before, voter, PER_PAGE + 1)
        shown = votes[:PER_PAGE]
        voters = study.voters()
        people = {person.number: person.name or f"Voter {person.number}" for person in voters}
        voided = {person.number for person in voters if person.blocked}
        names, status = Names.of(study.problem), study.status()
        rows = [
            Ballot(
                vote,
                f"{datetime.fromtimestamp(vote.at, UTC):%-d %B, %H:%M} UTC",
                people[vote.voter],
                names.positions[vote.position],
                names.candidates[vote.winner],
                names.candidates[vote.loser],
                _why_not(vote, voided, status.dropped),
            )
            for vote in shown
        ]
        called = None if voter is None else people.get(voter, f"Voter {voter}")
        return cls(called, rows, shown[-1].entry if len(votes) > PER_PAGE else None)


def _why_not(vote: Vote, voided: set[int], dropped: tuple[str, ...]) -> str:
    if vote.counts:
        return ""
    if vote.struck:
        return "struck out"
    if vote.voter in voided:
        return "the voter's answers do not count"
    if vote.winner in dropped or vote.loser in dropped:
        return "about somebody who withdrew"
    return "came after closing"
