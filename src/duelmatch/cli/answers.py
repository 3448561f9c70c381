"""Answers as people type them: a name, a number, ``=`` or ``t`` for no difference, or a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from duelmatch.errors import DuelError

Said = str | None | list[tuple[str, ...]]

NO_DIFFERENCE = "="
TIE = "t"


def parsed(
    text: str, candidates: Sequence[str], titles: Mapping[str, str] | None = None, shown: bool = False
) -> Said:
    """Return the answer that a text means; names may be given as numbers.

    A name goes before a number, unless the candidates are ``shown`` with their numbers: then what is seen
    beside each of them is what is meant, and ``t`` is a tie, too.

    >>> parsed("2", ["ann", "bob"]), parsed("=", ["ann", "bob"])
    ('bob', None)
    >>> parsed("3 > ann = 2", ["ann", "bob", "cyd"])
    [('cyd',), ('ann', 'bob')]
    >>> parsed("1", ["2", "1"]), parsed("1", ["2", "1"], shown=True), parsed("t", ["2", "1"], shown=True)
    ('1', '2', None)

    :raises DuelError: if it is not clear.
    """
    text = text.strip()
    if text == NO_DIFFERENCE or (shown and text.casefold() == TIE):
        return None
    one = candidate_meant(text, candidates, titles or {}, shown)
    if len(candidates) == 2 and one is not None:
        return one
    if one is not None:
        raise DuelError(f"Rank all of them, best first: {' > '.join(candidates)}, for example.")
    groups = [tuple(part.strip() for part in group.split("=")) for group in text.split(">")]
    ranking: list[tuple[str, ...]] = []
    for group in groups:
        names = [candidate_meant(part, candidates, titles or {}, shown) for part in group]
        if None in names:
            wrong = group[names.index(None)]
            raise DuelError(f"'{wrong:.80}' is not one of {', '.join(candidates)}.")
        ranking.append(tuple(name for name in names if name is not None))
    return ranking


def candidate_meant(
    text: str, candidates: Sequence[str], titles: Mapping[str, str], shown: bool
) -> str | None:
    """Return the candidate of this number, name or title, whatever the case; None if it is not clear."""
    if (shown or text not in candidates) and text.isdecimal() and 1 <= int(text) <= len(candidates):
        return candidates[int(text) - 1]
    if text in candidates:
        return text
    folded = text.casefold()
    meant = [name for name in candidates if folded in (name.casefold(), titles.get(name, name).casefold())]
    return meant[0] if len(meant) == 1 else None


def written(answer: Sequence[Sequence[str]]) -> str:
    """Write an answer down.

    >>> written([["ann"], ["bob", "cyd"]]), written([["ann", "bob"]])
    ('ann > bob = cyd', 'no difference between ann and bob')
    """
    if len(answer) == 1:
        return f"no difference between {' and '.join(answer[0])}"
    return " > ".join(" = ".join(group) for group in answer)
