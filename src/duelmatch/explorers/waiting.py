"""The duels of a round that are still to be asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from duelmatch.explorers.rounds import Round


class Waiting:
    """The duels of a round that nobody has been asked yet, as numbers of pairs, in order.

    Two pairs of a round can be the same question: each sub-run of CAR-Parallel has its own duels, and
    CLUCB-Borda can ask about the same two edges for the sake of either. Who counts an answer must follow from
    the answers alone, or a run could not be replayed from them; and it must not depend on which answer comes
    first, or quick answers would count for one and slow ones for the other. So a question is open for
    one pair at a time, in the order of the round, and its k-th answer belongs to the k-th of its duels.
    """

    def __init__(self, duels: Round) -> None:
        self._pairs: deque[int] = deque(duels.turns().tolist())
        self._question = duels.questions()
        self._shared = len(set(self._question)) < len(self._question)

    def __len__(self) -> int:
        return len(self._pairs)

    def counts(self) -> NDArray[np.int64]:
        """Return how many duels of each pair are waiting."""
        pairs = np.array(self._pairs, dtype=np.intp)
        return np.bincount(pairs, minlength=len(self._question)).astype(np.int64)

    def take(self, n: int, open_pairs: Iterable[int]) -> list[int]:
        """Remove and return the pairs of up to ``n`` duels that can be asked beside the open ones."""
        if not self._shared:
            return [self._pairs.popleft() for _ in range(min(n, len(self._pairs)))]
        asked_for = {self._question[pair]: pair for pair in open_pairs}
        taken: list[int] = []
        passed_over: list[int] = []
        while self._pairs and len(taken) < n:
            pair = self._pairs.popleft()
            if asked_for.setdefault(self._question[pair], pair) == pair:
                taken.append(pair)
            else:
                asked_for[self._question[pair]] = -1  # those behind it wait too
                passed_over.append(pair)
        self._pairs.extendleft(reversed(passed_over))
        return taken

    def take_question(self, question: tuple[int, int]) -> int | None:
        """Remove and return the first pair that asks about two edges, the lower first; None if none does."""
        for place, pair in enumerate(self._pairs):
            if self._question[pair] == question:
                del self._pairs[place]
                return pair
        return None

    def put_back(self, pair: int) -> None:
        """Put a duel behind all others, except those that must come after it."""
        after: list[int] = []
        if self._shared:
            same = self._question[pair]
            after = [other for other in self._pairs if self._question[other] == same]
            self._pairs = deque(other for other in self._pairs if self._question[other] != same)
        self._pairs.extend([pair, *after])
