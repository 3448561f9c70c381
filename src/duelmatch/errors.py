"""The errors duelmatch raises on purpose; each message says what was wrong and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class DuelmatchError(Exception):
    """Anything duelmatch refuses to do."""


class ProblemError(DuelmatchError, ValueError):
    """A problem, matching or set of preferences that contradicts itself or names what is not there."""


class NoMatchingError(ProblemError):
    """No assignment can fill every position."""


class DuelError(DuelmatchError, ValueError):
    """An answer, or a question, that does not fit the run it was given to."""


class JudgeError(DuelmatchError):
    """A judge that is a program, and gives no answer."""


class AlgorithmError(DuelmatchError):
    """An algorithm that breaks its contract: what it asked for or returned makes no sense."""


class FileError(DuelmatchError, ValueError):
    """A file that cannot be read, written or understood."""


class StoreError(DuelmatchError, ValueError):
    """A database of studies that cannot be reached, or is not what this version of duelmatch works with."""


class UnreachableError(StoreError):
    """The database cannot be used now: it is locked, full or gone, and whatever is tried there fails."""


class StudyError(DuelmatchError, ValueError):
    """What a study refuses; it changes nothing."""


class NotThereError(StudyError):
    """There is no such study, voter or question."""


class NotAllowedError(StudyError):
    """The voter may not do this, or the study allows it to nobody."""


class ConflictError(StudyError):
    """The request conflicts with the study's current state; look again."""


class TooManyChangesError(StudyError):
    """Several changes of the study are being worked out already; try again in a moment."""


class ServerError(DuelmatchError):
    """A server that cannot be reached, is busy for too long, or says what is not understood."""


class TooLargeError(DuelmatchError):
    """An exact computation that would not fit in the stated limit; the message estimates its cost."""


class MissingExtraError(DuelmatchError, ImportError):
    """An optional dependency that this call needs is not installed."""


def listed(names: Iterable[str], limit: int = 6) -> str:
    """Quote a few names for a message: ``'a', 'b' and 'c'``, or ``'a', 'b', … and 7 more``; never 1 more."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) > limit + 1:
        return f"{', '.join(quoted[:limit])}, … and {len(quoted) - limit} more"
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def brief(value: object) -> str:
    """Return how a value is written, or its type if that is long.

    >>> brief(5), brief("ann"), brief(["ann"] * 20)
    ('5', "'ann'", 'list')
    """
    written = repr(value)
    return written if len(written) <= 50 else type(value).__name__


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a sentence that proposes the known name nearest to a wrong one; empty if none is near.

    >>> did_you_mean("simulat", ["check", "simulate"]), did_you_mean("x", ["check"])
    (" Did you mean 'simulate'?", '')
    """
    close = get_close_matches(name[:50], list(known), n=1)
    return f" Did you mean '{close[0]}'?" if close else ""
