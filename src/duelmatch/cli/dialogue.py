"""Answers as people type them, and the conversation of ``duelmatch ask``.

An answer is a name, a number, ``=`` or ``t`` for no difference, or a ranking. The conversation shows a duel,
reads an answer, keeps it, and shows the next.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import islice
from time import perf_counter
from typing import Literal

import duelmatch as dm
from duelmatch.cli.output import Page, titled, titles_of, working
from duelmatch.cli.standing import few_possible, standing
from duelmatch.errors import DuelError
from duelmatch.files.journal import Journal
from duelmatch.phrases import counted

Said = str | None | list[tuple[str, ...]]

NO_DIFFERENCE = "="
TIE = "t"

Ended = Literal["done", "stopped", "end of input", "interrupted"]
Shown = tuple[str, str]
"""The two candidates of a duel, in the order in which they are shown."""

SLOW = 0.25
"""Seconds. Thinking that takes longer is announced, and a standing that does is not computed every time."""

HELP = (
    "1 or 2, or a candidate's name: that one is better.",
    "t  tie: there is no difference, which counts half for each.",
    "s  skip: another question first; this one comes back later.",
    "u  undo: take the last answer back; again, and the one before it goes too.",
    "q  stop, as does the end of the input. Every answer is kept, and the same command resumes.",
    "A matching is possible until the answers speak clearly against it; an edge is decided when it is "
    "certain to be in the winner, or certain not to be. The leader is a guess until the run is over, and p "
    "says how good a guess: if another matching were the winner, the chance of ever seeing evidence this "
    "strong for the leader would be at most p. The number of duels left is a rough estimate.",
)


class Dialogue:
    """A run, the person who answers its questions, and the journal that keeps the answers.

    ``start`` starts the run from the journal, and again when an answer was taken back.
    """

    def __init__(
        self, page: Page, journal: Journal[dm.Answer], seed: int, start: Callable[[], dm.Explorer]
    ) -> None:
        self.run = start()
        self._page, self._journal, self._seed, self._start = page, journal, seed, start
        self._standing = _Standing()
        self._slow = False

    def hold(self) -> Ended:
        """Ask until the run is over, or the person stops."""
        try:
            duel = self._ask()
            while duel is not None:
                shown = self._in_order(duel)
                self._show(duel, shown)
                answer = self._answer(duel, shown)
                if answer == "stop":
                    return "stopped"
                duel = answer
        except EOFError:
            return "end of input"
        except KeyboardInterrupt:
            self._page.line(" ")
            return "interrupted"
        return "done"

    def _ask(self) -> dm.Duel | None:
        duels = self.run.ask(1)
        return duels[0] if duels else None

    def _answer(self, duel: dm.Duel, shown: Shown) -> dm.Duel | Literal["stop"] | None:
        """Do what the person says; return the next duel, if there is one, or 'stop'."""
        titles = titles_of(self.run.problem.candidate_details)
        while True:
            text = self._page.ask("1, 2, t tie, s skip, u undo, q stop, ? help:", HELP)
            match text.casefold():
                case "t" | "=":
                    return self._keep(duel, None)
                case "s":
                    return self._skip(duel)
                case "u" if not self._journal.answers:
                    self._page.line("There is no answer to take back.")
                case "u":
                    return self._undo()
                case "q":
                    return "stop"
                case _:
                    candidate = candidate_meant(text, shown, titles, shown=True)
                    if candidate is not None:
                        return self._keep(duel, candidate)
                    self._page.line(f"'{text}' is not an answer here; ? explains what is.")

    def _keep(self, duel: dm.Duel, winner: str | None) -> dm.Duel | None:
        loser = duel.second if winner in (None, duel.first) else duel.first
        ranking = ((duel.first, duel.second),) if winner is None else (winner, loser)
        self._journal.append(dm.Answer(duel.position, ranking))
        start = perf_counter()
        with working("Thinking") if self._slow else nullcontext():
            self.run.tell(duel, winner)
        self._slow = perf_counter() - start > SLOW
        return self._ask()

    def _skip(self, duel: dm.Duel) -> dm.Duel | None:
        self.run.release(duel)
        other = self._ask()
        if other is not None and _same(other, duel):
            self._page.line("Nothing else can be asked before this one is answered.")
        return other

    def _undo(self) -> dm.Duel | None:
        answer = self._journal.undo()
        self.run = self._start()
        self._standing = _Standing()
        winner, loser, tie = answer.pairs()[0]
        said = f"no difference between {winner} and {loser}" if tie else f"{winner} over {loser}"
        self._page.line(f"Taken back: {said} at {answer.position}.")
        return self._ask_again(answer)

    def _ask_again(self, answer: dm.Answer) -> dm.Duel | None:
        """Ask the question of an answer that was taken back, if it comes up within one turn of all pairs."""
        passed: list[dm.Duel] = []
        found = None
        for duel in islice(iter(self._ask, None), self.run.problem.graph.pairs + 1):
            if _same(duel, answer):
                found = duel
                break
            passed.append(duel)
        for duel in passed:
            self.run.release(duel)
        return found or self._ask()

    def _in_order(self, duel: dm.Duel) -> Shown:
        """Shuffle the two sides, always in the same way for the same duel, so that no side is favoured."""
        digest = hashlib.sha256(f"{self._seed} {duel.id}".encode()).digest()
        return (duel.second, duel.first) if digest[0] % 2 else (duel.first, duel.second)

    def _show(self, duel: dm.Duel, shown: Shown) -> None:
        show_question(self._page, self.run.problem, duel.position, shown)
        first, *others = self._standing.lines(self.run)
        self._page.line(first, style="dim")
        for line in others:
            self._page.line(line, style="dim", indent=2)


class _Standing:
    """The lines that say where a run stands, computed again with every question unless that is slow."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._shown_at = -float("inf")
        self._sentence = ""
        self._possible: list[str] = []

    def lines(self, run: dm.Explorer) -> list[str]:
        if self._seconds < SLOW or perf_counter() - self._shown_at > 20 * self._seconds:
            start = perf_counter()
            progress = run.progress
            self._sentence, self._possible = standing(progress), few_possible(progress)
            self._shown_at = perf_counter()
            self._seconds = self._shown_at - start
        most = "" if run.max_duels is None else f" of {run.max_duels:,} at most"
        first = f"{counted(run.duels, 'duel')} answered{most}; {self._sentence}"
        return [first, "Still possible:", *self._possible] if self._possible else [first]


def show_question(
    page: Page, problem: dm.Problem, position: str, candidates: Sequence[str], place: str = ""
) -> None:
    """Print a question, its place on a ballot, and what voters should see of everything in it."""
    called_so = titled(position, titles_of(problem.position_details))
    ranks = len(candidates) > 2
    asked = f"Who comes first, second, … for {called_so}?" if ranks else f"Who is better for {called_so}?"
    page.heading(f"{asked}{place}")
    _show_details(page, position, problem.position_details)
    titles = titles_of(problem.candidate_details)
    for number, candidate in enumerate(candidates, start=1):
        page.line(f"{number}  {titled(candidate, titles)}", style="bold", indent=2)
        _show_details(page, candidate, problem.candidate_details, indent=5)


def _show_details(page: Page, name: str, details: Mapping[str, dm.Details], indent: int = 0) -> None:
    """Print what voters should see of a candidate or position, besides its title."""
    about = details.get(name, dm.Details())
    for line in filter(None, (about.text, about.place, about.picture, about.link)):
        page.line(line, indent=indent)


def _same(duel: dm.Duel, other: dm.Duel | dm.Answer) -> bool:
    return duel.position == other.position and {*duel.candidates} == {*other.candidates}


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
