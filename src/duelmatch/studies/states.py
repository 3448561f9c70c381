"""The states of studies that a process keeps in memory, each up to date with its log."""

from __future__ import annotations

import gc
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from functools import partial

from sqlalchemy.engine import Connection

from duelmatch.errors import StoreError, UnreachableError
from duelmatch.matchings.counted import Elsewhere, counting_elsewhere
from duelmatch.studies.database import Database
from duelmatch.studies.entries import canonical, follows
from duelmatch.studies.kinds import Begin, Event
from duelmatch.studies.log import Held, end_of, first_entry, read_entries
from duelmatch.studies.state import State

MOST_STATES = 200
MOST_BYTES = 1_000_000_000
"""What the states in memory may take, about, unless a single one takes more."""

MOST_CHANGES = 3
"""How many changes of one study may wait to be worked out: on a server, each of them holds a thread."""

ENTRY_BYTES, PAIR_BYTES, OPINION_BYTES = 600, 100, 7
"""Measured: 1,150 bytes for an answer of a panel, of two entries (600 in rounds, 200 of a crowd); 18 MB for a
panel on 198,000 pairs of candidates; 6.2 for each judge and pair."""


@contextmanager
def _without_collection() -> Iterator[None]:
    """Let the garbage collector rest while millions of objects are made that all stay.

    It would go through all of them as soon as it is on again, unless they count as old by then.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        if was_on:
            gc.enable()


class States:
    """An LRU cache of states.

    A transaction may change a state before it commits. It holds the state's lock until then, so nobody sees
    what is not committed; if it fails, the state is evicted, and read again from the log.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.begin: Begin | None = None
        """What begins runs in rounds, if not this process: a server has them elsewhere."""
        self.elsewhere: Elsewhere | None = None
        """What calls a function that may take long in another process, if there is one."""
        self._states: OrderedDict[str, State] = OrderedDict()
        self._loading: dict[str, threading.Lock] = {}
        self._preparing: dict[tuple[str, str | None], Future[None]] = {}
        self._changes: Counter[str] = Counter()
        """How many changes of each study wait to be worked out."""
        self._lock = threading.Lock()

    def known(self, study: str) -> bool:
        """Whether the state of a study is in memory."""
        return study in self._states

    @contextmanager
    def reading(self, study: str) -> Iterator[State]:
        """Give the state of a study, up to date with its log, and locked against changes."""
        while True:
            state = self._remembered(study) or self._loaded(study)
            with state.lock:
                if state.evicted:
                    continue
                try:
                    with self._database.reading() as connection:
                        followed = self._bring_up(state, connection, study, *end_of(connection, study))
                except BaseException:
                    self.evict([study])
                    raise
                if not followed:
                    self.evict([study])
                    continue
                yield state
                return

    def within(self, held: Held, locks: ExitStack) -> State | None:
        """Return the state of a study that a transaction holds; None if it has to be read first.

        ``locks`` are released when the transaction is on disk, or has failed.
        """
        if held.state is None:
            state = self._remembered(held.study)
            if state is None:
                return None
            locks.enter_context(state.lock)
            if state.evicted:
                return None
            if not self._bring_up(state, held.connection, held.study, held.seq, held.hash):
                self.evict([held.study])
                return None
            held.state = state
        current: State = held.state
        return current

    def prepare(self, study: str, event: Event | None = None) -> None:
        """Read a study into memory, and compute what its next question needs.

        If an ``event`` is about to happen, compute its effect. The state is locked only while it is copied,
        and the study goes on meanwhile: the transaction checks whether what was computed is still valid.
        """
        state = self._remembered(study) or self._loaded(study)
        state.kind.think()
        if event is not None:
            with self.reading(study) as state:
                work = state.kind.working_out(event)
            found = work() if self.elsewhere is None else self.elsewhere(work)
            with self.reading(study) as state:
                state.kind.keep(found)

    def preparing(self, study: str, event: Event | None = None) -> Future[None]:
        """Do so in another thread, which all callers share."""
        key = study, None if event is None else canonical(event)
        with self._lock:
            if (known := self._preparing.get(key)) is not None:
                return known
            future = self._preparing[key] = Future[None]()
        try:
            threading.Thread(target=self._prepare, args=(key, event, future), daemon=True).start()
        except RuntimeError:  # no more threads
            with self._lock:
                del self._preparing[key]
            future.set_exception(UnreachableError("No thread could be started to read the study with."))
        return future

    def _prepare(self, key: tuple[str, str | None], event: Event | None, future: Future[None]) -> None:
        try:
            self.prepare(key[0], event)
            end = partial(future.set_result, None)
        except BaseException as error:
            end = partial(future.set_exception, error)
        with self._lock:
            del self._preparing[key]
        end()

    def begin_change(self, study: str) -> bool:
        """Note that a change of a study waits to be worked out; return False if too many do already."""
        with self._lock:
            if self._changes[study] >= MOST_CHANGES:
                return False
            self._changes[study] += 1
            return True

    def end_change(self, study: str) -> None:
        """Note that a change does not wait any more."""
        with self._lock:
            self._changes[study] -= 1
            self._changes += Counter()  # forgets those of which none waits

    def evict(self, studies: Iterable[str]) -> None:
        """Drop the states of some studies from the cache: their transaction may have failed."""
        with self._lock:
            for study in studies:
                if (state := self._states.pop(study, None)) is not None:
                    state.evicted = True

    @staticmethod
    def _bring_up(state: State, connection: Connection, study: str, end: int, digest: str) -> bool:
        """Note what another process has written; return whether the state is that of the log by then.

        It is not if applying an entry takes long, or if the log is another one, as after an older copy of the
        database was restored: then the study is read again.
        """
        if state.seq >= end:
            return (state.seq, state.hash) == (end, digest)
        entries = list(read_entries(connection, study, state.seq, end))
        if not entries or not follows(entries[0], state.hash):
            return False
        if any(state.kind.takes_long(entry.event) for entry in entries):
            return False
        state.note(entries)
        return True

    def _remembered(self, study: str) -> State | None:
        with self._lock:
            if study in self._states:
                self._states.move_to_end(study)
            return self._states.get(study)

    def _loaded(self, study: str) -> State:
        with self._loading.setdefault(study, threading.Lock()):
            if (state := self._remembered(study)) is None:
                state = self._load(study)
        self._loading.pop(study, None)
        return state

    def _load(self, study: str) -> State:
        created = first_entry(self._database, study)
        with counting_elsewhere(self.elsewhere):
            state = State(created, self.begin)
            with self._database.reading() as connection, _without_collection():
                end = end_of(connection, study)
                state.note(read_entries(connection, study, state.seq, end[0]))
            if (state.seq, state.hash) != end:
                raise StoreError(
                    f"The log of study {study} does not end as it should; the database is damaged."
                )
            state.kind.look()
        with self._lock:
            self._states[study] = state
            while len(self._states) > 1 and self._too_many():
                self._states.popitem(last=False)
        return state

    def _too_many(self) -> bool:
        entries = sum(state.seq for state in self._states.values())
        pairs = sum(state.problem.graph.pairs for state in self._states.values())
        opinions = sum(
            len(state.members) * state.problem.graph.pairs
            for state in self._states.values()
            if state.settings.kind == "panel"
        )
        taken = ENTRY_BYTES * entries + PAIR_BYTES * pairs + OPINION_BYTES * opinions
        return len(self._states) > MOST_STATES or taken > MOST_BYTES
