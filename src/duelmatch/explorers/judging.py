"""Judges that are programs, such as language models: asked many at a time, in both orders if wanted.

A judge is an async function that is given a :class:`~duelmatch.problem.Duel` and names the better candidate,
or None for no difference. Which candidate comes first is drawn for every question. A judge that is asked in
both orders and does not say the same has flipped: that counts as no difference, 1/2, and how often it happens
is reported. What a judge raises, or says that is no answer, is a failure: it is counted, and the question is
put again, a few times at most, since an answer that nobody gave must not be made up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from random import Random
from typing import TYPE_CHECKING, Any

from duelmatch.errors import JudgeError, ProblemError
from duelmatch.explorers.catalogue import described, drawn_seed, whole
from duelmatch.explorers.explorer import Explorer, FirstTies, explorer
from duelmatch.explorers.questions import Question, says_first
from duelmatch.explorers.result import Result
from duelmatch.problem import Duel, Problem

if TYPE_CHECKING:
    from duelmatch.explorers.panel.explorer import PanelExplorer

AsyncJudge = Callable[[Duel], Awaitable[str | None]]
TRIES = 3
"""How often a question is put to a judge that fails."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a judge has said to a question; of a tie, either candidate is called the winner."""

    judge: str
    position: str
    winner: str
    loser: str
    tie: bool = False
    flip: bool = False
    """Whether the judge said one thing in one order and another in the other, which makes it a tie."""


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """How a judge has answered.

    ``flips`` of the ``answers`` depended on the order of the candidates; None if only one order was asked.
    ``failures`` are calls that raised something or returned no answer.
    """

    name: str
    answers: int
    flips: int | None
    failures: int

    @property
    def flip_rate(self) -> float | None:
        """The share of the answers that depended on the order; None if that is not known."""
        return self.flips / self.answers if self.answers and self.flips is not None else None


@dataclass(frozen=True, slots=True)
class JudgedResult(Result):
    """A result, and how each judge has answered."""

    judges: tuple[JudgeRecord, ...] = ()


async def explore_async(
    problem: Problem,
    judge: AsyncJudge | Mapping[str, AsyncJudge],
    algorithm: str,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    *,
    jobs: int = 10,
    both_orders: bool = False,
    tries: int = TRIES,
    **parameters: Any,
) -> JudgedResult:
    """Run an algorithm with answers from an async ``judge``, or several by name, ``jobs`` at a time.

    With ``"panel"`` the judges are its voters: each is asked a pair once at most, and all are counted.
    Every other algorithm puts each question to one of them, drawn at random. A judge names the winner of a
    duel, or None for no difference; with ``both_orders`` it is asked twice, and a flip counts 1/2. Rounds
    have ``jobs`` duels at least, unless ``batch`` says otherwise.

    :raises JudgeError: if a judge fails ``tries`` times at the same question.
    """
    judges = dict(judge) if isinstance(judge, Mapping) else {"judge": judge}
    if algorithm == "panel":
        parameters = {"voters": list(judges), "consistent": False} | parameters
    elif "batch" in described(algorithm).defaults:
        parameters = {"batch": jobs} | parameters
    run = explorer(algorithm, problem, delta, seed, max_duels, **parameters)
    return await Judging(run, judges, seed, jobs, both_orders, tries).finish()


class Judging:
    """A run whose questions are put to judges."""

    def __init__(
        self,
        run: Explorer | PanelExplorer,
        judges: Mapping[str, AsyncJudge],
        seed: int | None = None,
        jobs: int = 10,
        both_orders: bool = False,
        tries: int = TRIES,
    ) -> None:
        for name, number in (("jobs", jobs), ("tries", tries)):
            whole(name, number, 1)
        if not judges or not all(map(callable, judges.values())):
            raise ProblemError("A judge must be an async function that names the winner of a duel.")
        self.run = run
        self._judges, self._jobs, self._both, self._tries = dict(judges), jobs, both_orders, tries
        self.keep: Callable[[Judgment], None] = lambda _: None
        """Called with every judgment before the run is told of it: what it raises ends everything."""
        self.told: Callable[[], None] = lambda: None
        """Called after the run was told of one."""
        self._answers, self._flips, self._failures = (dict.fromkeys(judges, 0) for _ in range(3))
        self._seed = drawn_seed() if seed is None else seed
        self._random = Random(self._seed)
        self._ties = FirstTies()

    @property
    def records(self) -> tuple[JudgeRecord, ...]:
        """How each judge has answered so far."""
        return tuple(
            JudgeRecord(name, self._answers[name], self._flips[name] if self._both else None, failures)
            for name, failures in self._failures.items()
        )

    @property
    def result(self) -> JudgedResult:
        """The result; before the run is over, what it would be if it were stopped now."""
        found = self.run.result
        return JudgedResult(
            **{field.name: getattr(found, field.name) for field in fields(found)}, judges=self.records
        )

    def replay(self, judgments: Iterable[Judgment]) -> None:
        """Take over what an earlier run of the same problem, parameters, seed and judges was told.

        :raises DuelError: at the first that this run would not have asked for.
        :raises ProblemError: if one is about what the problem does not have.
        """
        given = list(judgments)
        for one in given:
            self._count(one)
        if isinstance(self.run, Explorer):
            self.run.replay(
                (one.position, one.winner, one.loser, *(("=",) if one.tie else ())) for one in given
            )
        else:
            for number, one in enumerate(given, start=1):
                _note(self.run, number, one)
        self._random = Random(f"{self._seed} {len(given)}")  # who is drawn next does not repeat who was

    async def finish(self) -> JudgedResult:
        """Put questions until the run is over.

        :raises JudgeError: if a judge fails too often; the run is where the last answer left it.
        """
        asked: set[asyncio.Task[tuple[Duel | Question, Judgment]]] = set()
        try:
            while not self.run.done:
                wanted = await asyncio.to_thread(self._ask, self._jobs - len(asked))
                asked |= {asyncio.create_task(self._judge(question)) for question in wanted}
                if not asked:
                    break
                done, asked = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=lambda task: task.exception() is not None):  # no answer is lost
                    await asyncio.to_thread(self._tell, *task.result())  # it may think for a while
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        return self.result

    def _ask(self, number: int) -> Sequence[Duel | Question]:
        return self.run.ask(number)

    def _tell(self, question: Duel | Question, said: Judgment) -> None:
        self.keep(said)
        self.run.tell(question, None if said.tie else said.winner)  # type: ignore[arg-type]
        self._count(said)
        self._ties.count(said.tie and not said.flip)
        self.told()

    def _count(self, said: Judgment) -> None:
        if said.judge in self._answers:
            self._answers[said.judge] += 1
            self._flips[said.judge] += said.flip

    async def _judge(self, question: Duel | Question) -> tuple[Duel | Question, Judgment]:
        name = getattr(question, "voter", None) or self._random.choice(list(self._judges))
        one, other = self._random.sample(question.candidates, 2)
        answer = await self._answer(name, Duel(question.position, one, other, question.id))
        flip = False
        if self._both:
            again = await self._answer(name, Duel(question.position, other, one, question.id))
            flip = again != answer
        tie = flip or answer is None
        winner, loser = (other, one) if not tie and answer == other else (one, other)
        return question, Judgment(name, question.position, winner, loser, tie, flip)

    async def _answer(self, name: str, duel: Duel) -> str | None:
        """Return what a judge says to a duel, putting it again if the judge fails."""
        for left in reversed(range(self._tries)):
            try:
                first = says_first(duel, await self._judges[name](duel))
                return None if first is None else duel.first if first else duel.second
            except Exception as error:
                self._failures[name] += 1
                if not left:
                    raise _failed(name, duel, self._tries, error) from error
        raise AssertionError("there is a try at least")


def _failed(name: str, duel: Duel, tries: int, error: Exception) -> JudgeError:
    times = "" if tries == 1 else f" {tries} times"
    why = str(error) if isinstance(error, (JudgeError, ValueError)) else f"{type(error).__name__}: {error}"
    return JudgeError(
        f"'{name}' failed{times} to say who is better at '{duel.position}', '{duel.first}' or "
        f"'{duel.second}': {why.rstrip('.')}."
    )


def _note(run: PanelExplorer, number: int, said: Judgment) -> None:
    """Let a panel know of a question that was asked and answered in an earlier run."""
    two = said.winner, said.loser
    for candidate in two:
        run.problem.edge_number(candidate, said.position)
    asked = {"question": number, "voter": said.judge, "position": said.position, "candidates": two}
    run.note({"kind": "asked", **asked})
    groups = [[said.winner, said.loser]] if said.tie else [[said.winner], [said.loser]]
    run.note({"kind": "answered", "question": number, "answer": groups})
