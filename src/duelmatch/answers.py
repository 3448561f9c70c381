"""An answer in its plainest form: somebody's ranking of some candidates at a position.

A duel is a ranking of two, no difference a tie. As text, ``ann > bob = cyd``: ann is best, and there is no
difference between bob and cyd. A name that has ``>`` or ``=`` in it is put in double quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from duelmatch.errors import ProblemError

Ranking = Sequence[str | tuple[str, ...]]
"""Candidates, best first; those between whom there is no difference are together in a tuple."""

_NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^\s"<>=][^<>=]*?))\s*(>|=|$)')


@dataclass(frozen=True, slots=True)
class Answer:
    """A ranking of some candidates at a position, by a voter who may be known.

    ``weight`` says how often it was given, or how much it counts.

    >>> Answer("chair", ["ann", ("bob", "cyd")], voter="eve").pairs()
    [('ann', 'bob', False), ('ann', 'cyd', False), ('bob', 'cyd', True)]

    :raises ProblemError: if the ranking is none, or ranks nobody against anybody.
    """

    position: str
    ranking: Ranking
    voter: str | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.ranking, str) or not isinstance(self.ranking, Sequence):
            raise ProblemError(f"A ranking is a list of candidates, best first, not {self.ranking!r:.80}.")
        groups = tuple(tuple(group) if isinstance(group, (tuple, list)) else group for group in self.ranking)
        for name in (name for group in groups for name in (group if isinstance(group, tuple) else (group,))):
            if not isinstance(name, str):
                raise ProblemError(f"A ranking is of names, best first, not of {name!r:.80}.")
        object.__setattr__(self, "ranking", groups)
        names = self.candidates
        if len(names) < 2:
            raise ProblemError(
                f"'{self.text}' is not a ranking: it needs at least two candidates, separated by >."
            )
        if twice := [name for number, name in enumerate(names) if name in names[:number]]:
            raise ProblemError(f"'{twice[0]}' is ranked twice in '{self.text}'.")

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The ranking as groups of candidates, best first, with no difference within a group."""
        return tuple((group,) if isinstance(group, str) else tuple(group) for group in self.ranking)

    @property
    def candidates(self) -> tuple[str, ...]:
        """Everybody who is ranked."""
        return tuple(name for group in self.groups for name in group)

    @property
    def text(self) -> str:
        """The ranking as text."""
        return ranking_text(self.ranking)

    def pairs(self) -> list[tuple[str, str, bool]]:
        """Return what it says of every two candidates: (better, worse, whether there is no difference)."""
        placed = [(name, place) for place, group in enumerate(self.groups) for name in group]
        return [
            (better, worse, above == below)
            for number, (better, above) in enumerate(placed)
            for worse, below in placed[number + 1 :]
        ]


Given = Answer | tuple[str, str, str] | tuple[str, str, str, str]
"""An answer as given; a tuple is (position, winner, loser), or of a tie (position, one, other, "=")."""


def answer_from(given: object) -> Answer:
    """Return what was given as an answer.

    :raises ProblemError: if it is none.
    """
    match given:
        case Answer():
            return given
        case (str(position), str(winner), str(loser)):
            return Answer(position, (winner, loser))
        case (str(position), str(one), str(other), "="):
            return Answer(position, ((one, other),))
    raise ProblemError(f"an answer is a dm.Answer or (position, winner, loser), not {given!r:.80}.")


def ranking_text(ranking: Ranking) -> str:
    """Return a ranking as text.

    >>> ranking_text(["ann", ("bob", "cyd")]), ranking_text(["a > b", "c"])
    ('ann > bob = cyd', '"a > b" > c')
    """
    groups = ((group,) if isinstance(group, str) else group for group in ranking)
    return " > ".join(" = ".join(map(_quoted, group)) for group in groups)


def _quoted(name: str) -> str:
    plain = name == name.strip() and not re.search(r'[<>="]', name)
    return name if plain else '"' + name.replace('"', '""') + '"'


def ranking_from(text: str) -> tuple[str | tuple[str, ...], ...]:
    """Read a ranking.

    >>> ranking_from("ann > bob = cyd")
    ('ann', ('bob', 'cyd'))

    :raises ProblemError: if it is not one.
    """
    groups: list[tuple[str, ...]] = []
    last = ">"
    for name, then in _tokens(text):
        if last == ">":
            groups.append((name,))
        else:
            groups[-1] += (name,)
        last = then
    return tuple(group[0] if len(group) == 1 else group for group in groups)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield every name with the sign behind it, which is empty at the end."""
    start = 0
    while True:
        found = _NAME.match(text, start)
        if found is None:
            raise ProblemError(f"'{text:.80}' is not a ranking such as 'ann > bob = cyd'.")
        quoted, plain, sign = found.groups()
        yield (plain if quoted is None else quoted.replace('""', '"')), sign
        if not sign:
            return
        start = found.end()
