"""Check an exported log of a study: that nobody has touched it, and that its verdict follows from it.

A second implementation, to be read in one sitting: it shares no code with the programs that run studies, and
needs nothing but the log, numpy, scipy, and the two pages that say why a verdict is right
(docs/algorithms/panel.md and docs/algorithms/ballots.md). ``chain`` checks the hashes, ``log`` notes what the
entries say, ``panel`` and ``crowd`` recompute the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duelmatch.verify.chain import DamagedError, Entry, checked, checked_receipt, received
from duelmatch.verify.crowd import crowd_verdict
from duelmatch.verify.log import UNFIT, LineupVerdict, NotRecomputedError, StudyLog
from duelmatch.verify.panel import BordaVerdict, PanelVerdict, SeatedVerdict


@dataclass(frozen=True)
class Received:
    """The entry that a receipt is of: its number, its time in seconds since 1970, and what happened."""

    receipt: str
    entry: int
    at: float
    kind: str


@dataclass(frozen=True)
class Verification:
    """What was found in a log.

    ``damage`` says what is wrong with the log; ``reason`` why no verdict was recomputed; both are None if all
    is well. ``recorded`` is the verdict of the entry that closed the study last, None if it is open.
    """

    entries: int
    damage: str | None = None
    recorded: LineupVerdict | None = None
    found: LineupVerdict | None = None
    reason: str | None = None
    positions: tuple[str, ...] = ()
    receipts: tuple[Received, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    """What voters read instead of the names of candidates and positions, at the end of the log."""

    @property
    def differs(self) -> bool:
        """Whether the log says one thing and its entries another."""
        if self.recorded is None or self.found is None:
            return False
        return not self.recorded.agrees_with(self.found)


def verify(lines: Iterable[str], receipts: Sequence[str] = ()) -> Verification:
    """Check a log, and recompute its verdict at the moment when the study was closed, or else at its end.

    ``receipts`` are hashes that voters or the organiser have kept, or their first 12 characters or more.
    """
    known = [checked_receipt(receipt) for receipt in receipts]
    entries: list[Entry] = []
    try:
        entries.extend(checked(lines))
        of_receipts = received(entries, known)
        log, recorded = read(entries)
    except DamagedError as damage:
        return Verification(len(entries), str(damage))
    found, reason = None, None
    try:
        if not log.ballots and any(entry["kind"] == "imported-old" for entry in entries):
            raise NotRecomputedError("The study was run by a version before logs had ballots.")
        with np.errstate(divide="raise", invalid="raise", over="raise"):
            found = verdict(log, recorded)
    except NotRecomputedError as error:
        reason = str(error)
    except UNFIT:
        return Verification(len(entries), "Its entries do not fit together: no verdict follows from them.")
    if not log.has_answers:  # a run begins with a line-up that nobody has voted for
        recorded, found = (each and each.without_votes() for each in (recorded, found))
    named = tuple(
        Received(receipt, entry["seq"], entry["at"], entry["kind"])
        for receipt, entry in zip(known, of_receipts, strict=True)
    )
    positions, titles = tuple(log.positions), titles_of(entries)
    return Verification(len(entries), None, recorded, found, reason, positions, named, titles)


def titles_of(entries: Sequence[Entry]) -> dict[str, str]:
    """Return the titles of candidates and positions that have one; no verdict depends on them."""
    titles: dict[str, Any] = {}
    for entry in entries:
        with suppress(*UNFIT):
            data = entry["data"]
            if entry["kind"] == "created":
                listed = [*data["problem"]["candidates"], *data["problem"]["positions"]]
                titles |= {one["name"]: one.get("title") for one in listed if isinstance(one, dict)}
            elif entry["kind"] == "detailed":
                for about in (data.get("candidates") or {}, data.get("positions") or {}):
                    titles |= {name: new["title"] for name, new in about.items() if "title" in new}
    return {name: title for name, title in titles.items() if isinstance(title, str) and title != name}


def read(entries: Sequence[Entry]) -> tuple[StudyLog, LineupVerdict | None]:
    """Return what counts, and the verdict recorded.

    Answers that come while a study is closed count from the moment on when it is opened again.
    """
    phases = [place for place, entry in enumerate(entries) if entry["kind"] in ("closed", "reopened")]
    closed = phases[-1] if phases and entries[phases[-1]]["kind"] == "closed" else None
    log, is_closed, held = StudyLog(entries[0]), False, list[Entry]()
    for entry in entries[1:closed]:
        if is_closed and entry["kind"] == "answered":
            held.append(entry)
            continue
        log.take(entry)
        if entry["kind"] == "closed":
            is_closed = True
        elif entry["kind"] == "reopened":
            is_closed = False
            for answer in held:
                log.take(answer)
            held.clear()
    return log, None if closed is None else log.recorded(entries[closed])


def verdict(log: StudyLog, recorded: LineupVerdict | None) -> LineupVerdict:
    """Recompute the verdict. What is certain of a panel's line-up is looked at for the one recorded."""
    match log.settings.get("algorithm"):
        case "panel":
            borda = log.setting("criterion") == "borda"
            if log.has_conditions:
                panel: PanelVerdict = SeatedVerdict(log, borda)
            else:
                panel = BordaVerdict(log) if borda else PanelVerdict(log)
            lineup = None if recorded is None else recorded.lineup
            return panel.best() if lineup is None else panel.verdict(lineup)
        case "condorcet" | "borda":
            return crowd_verdict(log)
        case other:
            raise NotRecomputedError(
                f"The verdict of '{other}' takes its rounds, which are not recomputed here."
            )


__all__ = ["LineupVerdict", "Received", "Verification", "checked_receipt", "verify"]
