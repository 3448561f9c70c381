"""Simulated runs, with answers drawn from known preferences: one run, many of one cell, and their summary.

The seed of a run derives from its cell and its number, so that what it gives does not depend on how many
there are, nor on who does it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy.special import betaincinv

from duelmatch.errors import DuelmatchError, ProblemError, brief
from duelmatch.experiments.cell import Cell
from duelmatch.explorers.catalogue import LARGEST_BALLOT, Assumption, drawn_seed, whole
from duelmatch.explorers.crowd import CrowdExplorer
from duelmatch.explorers.explorer import Explorer, check_panel
from duelmatch.explorers.result import Result
from duelmatch.panel import Panel
from duelmatch.preferences import Preferences
from duelmatch.problem import Matching

ANSWERS = 2
"""Keeps the answers' random numbers apart from those of an instance generated from the same seed."""

FAILED = "failed"
"""The status of a run that ended with an error instead of a result."""

CONFIDENCE = 0.95
"""Of every interval."""


def simulate(
    preferences: Preferences | Panel,
    algorithm: str,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    **parameters: Any,
) -> Result:
    """Run an algorithm with answers drawn from known preferences, whole rounds at a time.

    Without a ``seed`` one is drawn; the result shows it, and the same seed gives the same run. A
    :class:`duelmatch.Panel` answers for itself, by the algorithm ``"panel"``; the seed says who comes when.
    """
    if isinstance(preferences, Panel):
        if algorithm != "panel":
            raise ProblemError("A Panel is simulated by the algorithm 'panel', and by no other.")
        from duelmatch.explorers.panel.simulation import simulate_panel

        check_panel(delta, parameters, simulate_panel)
        order = drawn_seed() if seed is None else seed
        return simulate_panel(preferences, seed=order, max_duels=max_duels, **parameters)
    if algorithm == "panel":
        raise ProblemError(f"The algorithm 'panel' needs a dm.Panel, not {brief(preferences)}.")
    return simulated_run(preferences, algorithm, delta, seed, max_duels, **parameters).result


def simulated_run(
    preferences: Preferences,
    algorithm: str,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    observe: Callable[[Explorer], None] | None = None,
    **parameters: Any,
) -> Explorer:
    """Do what :func:`simulate` does and return the run itself, which also knows its progress.

    ``observe`` is shown the run before the first round and after each.
    """
    if not isinstance(preferences, Preferences):
        raise ProblemError(f"A simulation needs Preferences to draw answers from, not {brief(preferences)}.")
    seed = drawn_seed() if seed is None else seed
    kind = CrowdExplorer if parameters.get("question_size", 2) != 2 else Explorer
    run = kind.begin(algorithm, preferences.problem, delta, seed, max_duels, **parameters)
    answers = np.random.default_rng([seed, ANSWERS])
    while not run.done:
        if observe:
            observe(run)
        if isinstance(run, CrowdExplorer):
            answer_ballots(run, preferences, answers, observe)
        else:
            answer_round(run, preferences, answers)
    if observe:
        observe(run)
    return run


def answer_round(run: Explorer, preferences: Preferences, answers: np.random.Generator) -> None:
    """Answer what a run wants now, or as much of it as its budget allows, from known preferences."""
    run.answer_round(lambda first, second: preferences.matrix[first, second], answers)


def answer_ballots(
    run: CrowdExplorer,
    preferences: Preferences,
    answers: np.random.Generator,
    observe: Callable[[Explorer], None] | None,
) -> None:
    """Let voters come who answer all of a ballot, each question as if it were the only one, until the end."""
    from duelmatch.experiments.rankings import Rankings

    rankings, ballots = Rankings(preferences), run.ballots
    while not run.done:
        for question in ballots.ask(LARGEST_BALLOT, voter=f"voter {len(ballots.state.parts) + 1}"):
            ballots.tell(question, rankings.draw(question.position, question.candidates, answers))
        if observe and not run.done:
            observe(run)


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run of a cell: its number, the seed that repeats it, what came out, and whether it is right.

    ``right`` is None where the result says nothing, or the winner is not known. ``promised`` is False where
    the guarantee assumes what is not so. ``p_value`` and ``possible`` are those of the progress at the end. A
    run that ended with an error has a ``failure`` and no result.
    """

    number: int
    seed: int
    seconds: float
    result: Result | None
    right: bool | None = None
    promised: bool = True
    p_value: float | None = None
    possible: int | None = None
    failure: Exception | None = None

    @property
    def status(self) -> str:
        """The status of the result, or ``failed``."""
        return FAILED if self.result is None else self.result.status

    @property
    def duels(self) -> int:
        """How many duels it took."""
        return 0 if self.result is None else self.result.duels

    @property
    def wrong(self) -> bool:
        """Whether it makes a false claim; a guess claims nothing."""
        return self.right is False and self.status != "budget_spent"


def run_once(cell: Cell, number: int) -> Run:
    """Do one run of a cell; its result is the one that :func:`duelmatch.simulate` has for its seed."""
    seed, variant, preferences = cell.seed(number), cell.variant, cell.instance.preferences
    start = perf_counter()
    try:
        run = simulated_run(
            preferences, variant.algorithm, cell.delta, seed, cell.max_duels, **variant.parameters
        )
        snapshot, result = run.snapshot, run.result
        seconds = perf_counter() - start
        known = cell.known
        promised, right = known.promised(result), known.right(result)
    except Exception as error:  # an algorithm of another package may raise anything
        ours = isinstance(error, DuelmatchError)
        failure = error if ours else DuelmatchError(f"{type(error).__name__}: {error}")
        return Run(number, seed, perf_counter() - start, None, failure=failure)
    return Run(number, seed, seconds, result, right, promised, snapshot.p_value, snapshot.possible)


def simulations(cell: Cell, runs: int, jobs: int | None = 1) -> Generator[Run, None, None]:
    """Give so many runs of a cell as they finish, done by ``jobs`` processes; None: one per processor.

    :raises DuelmatchError: what a run raises.
    """
    whole("The number of runs", runs, 1)
    return _successful(_finished(cell, runs, jobs))


def _successful(finished: Generator[Run, None, None]) -> Generator[Run, None, None]:
    with closing(finished):
        for run in finished:
            if run.failure is not None:
                raise run.failure
            yield run


def _finished(cell: Cell, runs: int, jobs: int | None) -> Generator[Run, None, None]:
    if jobs == 1 or runs == 1:
        yield from (run_once(cell, number) for number in range(runs))
        return
    from duelmatch.experiments.tasks import Batches, run_batch
    from duelmatch.experiments.workers import Processes, processors

    jobs = min(processors() if jobs is None else jobs, runs)
    batches = Batches([cell], {cell.key: range(runs)}, jobs)
    with closing(Processes(jobs).map(run_batch, batches, [cell.variant.algorithm])) as finished:
        for batch in finished:
            batches.learn(batch)
            yield from (run for done in batch.runs.values() for run in done)


@dataclass(frozen=True, slots=True)
class AnswerCount:
    """An answer, how many runs gave it, and whether it is right."""

    status: str
    matching: dict[str, str] | None
    runs: int
    right: bool | None


@dataclass(frozen=True, slots=True)
class DuelCounts:
    """How many duels the runs took."""

    median: float
    mean: float
    percentile_5: float
    percentile_95: float


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is said of one run in a summary."""

    run: int
    seed: int
    status: str
    right: bool | None
    duels: int
    seconds: float
    p_value: float | None
    possible: int | None


@dataclass(frozen=True, slots=True)
class Summary:
    """Of all finished runs: statuses and answers with their counts, the most frequent first; errors; duels.

    ``wrong`` runs claim what is not so, and are an ``error_rate`` of all runs, with an exact 95% interval;
    None if the winner is out of reach, ``too_large`` saying why. ``error_allowed`` is the largest delta of an
    answer. ``assuming`` is what their guarantees take for granted.
    """

    finished: int
    statuses: dict[str, int]
    answers: tuple[AnswerCount, ...]
    winner: Matching | None
    too_large: str | None
    wrong: int | None
    error_rate: float | None
    error_interval: tuple[float, float] | None
    error_allowed: float
    assuming: tuple[Assumption, ...]
    duels: DuelCounts
    seconds_per_run: float
    information_limit: float | None
    each_run: tuple[RunFacts, ...]


def summarise(cell: Cell, runs: Sequence[Run]) -> Summary:
    """Return the summary of some runs of a cell, at least one, which all have a result."""
    results = [run.result for run in runs if run.result is not None]
    known = cell.known
    wrong = None if known.too_large else sum(run.wrong for run in runs)
    answers = Counter(
        (result.status, result.matching, run.right) for run, result in zip(runs, results, strict=True)
    )
    each_run = tuple(
        RunFacts(
            run.number, run.seed, run.status, run.right, run.duels, run.seconds, run.p_value, run.possible
        )
        for run in runs
    )
    duels = np.array([result.duels for result in results])
    low, high = (float(value) for value in np.percentile(duels, [5, 95]))
    return Summary(
        finished=len(runs),
        statuses=dict(Counter(result.status for result in results).most_common()),
        answers=tuple(
            AnswerCount(status, None if matching is None else dict(matching), number, is_so)
            for (status, matching, is_so), number in answers.most_common()
        ),
        winner=known.winner,
        too_large=known.too_large,
        wrong=wrong,
        error_rate=None if wrong is None else wrong / len(runs),
        error_interval=None if wrong is None else clopper_pearson(wrong, len(runs), CONFIDENCE),
        error_allowed=max(result.delta for result in results),
        assuming=tuple(dict.fromkeys(one for result in results for one in result.assuming)),
        duels=DuelCounts(float(np.median(duels)), float(duels.mean()), low, high),
        seconds_per_run=sum(run.seconds for run in runs) / len(runs),
        information_limit=cell.limit,
        each_run=each_run,
    )


def clopper_pearson(hits: int, trials: int, confidence: float) -> tuple[float, float]:
    """Return an interval that contains the probability of a hit this often at least, whatever it is.

    >>> low, high = clopper_pearson(0, 100, 0.95)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high
