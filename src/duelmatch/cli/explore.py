"""``duelmatch explore``: find the winner by asking programs, many at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

import click

import duelmatch as dm
from duelmatch.cli.ask import check_same_run, exit_code, replaying, reported, say_what_is_kept, settled
from duelmatch.cli.decide import decided
from duelmatch.cli.options import Source, file_argument, flag, settings_options, votes_option
from duelmatch.cli.output import Output, Page, conversation, live_line, rated
from duelmatch.cli.standing import standing
from duelmatch.errors import FileError, JudgeError, listed
from duelmatch.explorers.catalogue import drawn_seed
from duelmatch.phrases import counted

if TYPE_CHECKING:
    from duelmatch.cli.judge import CommandJudge
    from duelmatch.explorers.judging import Judging, Judgment
    from duelmatch.explorers.panel.explorer import PanelExplorer
    from duelmatch.files.journal import Journal, Layout
    from duelmatch.preferences import Criterion

NAMED = re.compile(r"([A-Za-z0-9_.-]+)=(.+)", re.DOTALL)
COLUMNS = ("voter", "position", "winner", "loser", "tie", "flip")


@click.command("explore")
@file_argument
@click.option(
    "--judge",
    "commands",
    multiple=True,
    required=True,
    metavar="[NAME=]COMMAND",
    help="A command that is given a question as JSON and prints who is better; may be given more than once.",
)
@click.option("--jobs", type=click.IntRange(1, 1000), default=10, help="Questions asked at a time.")
@flag("--both-orders", "Ask every question in both orders; an answer that depends on the order counts 1/2.")
@flag(
    "--panel",
    "The judges decide: each is asked a pair once at most, and all are counted. Otherwise each question "
    "goes to one of them, drawn at random, and who is the best is certified.",
)
@click.option(
    "--criterion", type=click.Choice(["condorcet", "borda"]), help="Of a panel.  [default: condorcet]"
)
@flag(
    "--consistent", "Of a panel: its judges rank, so that what follows from their answers need not be asked."
)
@click.option("--timeout", type=click.FloatRange(0.1), default=60.0, help="Seconds for an answer.")
@click.option("--tries", type=click.IntRange(1), default=3, help="How often a failing judge is asked.")
@settings_options(batch="as --jobs")
@votes_option("judged")
@conversation
def command(
    source: Source,
    commands: tuple[str, ...],
    jobs: int,
    both_orders: bool,
    panel: bool,
    criterion: Criterion | None,
    consistent: bool,
    timeout: float,
    tries: int,
    votes: Path | None,
    max_duels: int | None,
    page: Page,
    **given: Any,
) -> Output:
    """Find the winner of the problem in FILE by asking commands which of two candidates is better.

    COMMAND is started for every question, without a shell. It reads the question from standard input, a line
    of JSON, and prints the name of the better candidate, or = for no difference:

    \b
      {"question": 7, "judge": "judge-1", "position": {"name": "chair"},
       "candidates": [{"name": "ann", "text": "Has led teams."}, {"name": "bob"}]}

    The position and the candidates are objects with a name, and a title, text, place, picture and link where
    FILE has them.

    Every answer is on disk before it counts. Stop whenever and however you like; the same command resumes
    the run.

    \b
    Example:
      duelmatch explore team.yaml --judge "python judge.py" --jobs 50
      duelmatch explore team.yaml --panel --both-orders --judge "a=./ask model-a" --judge "b=./ask model-b"
    """
    from duelmatch.explorers.judging import Judging
    from duelmatch.files.journal import Journal, fingerprint

    problem = source.document.problem()
    judges = _judges(commands, problem, timeout)
    path = votes or Path(f"{source.stem}.judged.csv")
    about = {"panel": panel, "judges": list(judges), "both_orders": both_orders}
    with Journal(path, _layout()) as journal:
        identity = {"problem": fingerprint(problem), "file": source.name}
        own = {"criterion": criterion, "consistent": consistent or None}
        own |= {"seed": given.pop("seed")} if panel else {}
        if (recorded := journal.settings()) is not None:
            check_same_run(journal, recorded, own if panel else {}, recorded, identity)
            _check_same_judges(journal, recorded, about)
        run: dm.Explorer | PanelExplorer
        if panel:
            run, settings = _panel(problem, given | {"max_duels": max_duels}, own, list(judges), recorded)
        elif criterion or consistent:
            raise click.UsageError(
                "--criterion and --consistent are of a --panel; others have an --algorithm."
            )
        else:
            usual = {"batch": jobs}
            found, aim, begin = settled(problem, journal, given, identity, usual, max_duels)
            run, settings = begin(), found.as_dict() | {"aim": aim}
        judging = Judging(run, judges, settings["seed"], jobs, both_orders, tries)
        with replaying(journal):
            judging.replay(journal.answers)
        journal.begin(identity | settings | about, problem)
        resumed = len(journal.answers)
        page.heading(f"{source.name}: which is better?")
        say_what_is_kept(page, journal)
        ended = _finish(judging, journal)
        answers = list(journal.answers)
    summary = {"file": source.name, "votes": str(path), **settings, **about, "max_duels": max_duels}
    summary |= {"resumed": resumed, "ended": ended}
    if panel:
        output = _decided(summary, judging, answers)
    else:
        assert isinstance(run, dm.Explorer), "a crowd is sampled"
        resume = ["duelmatch", "explore", source.name, *(f"--judge={each}" for each in commands)]
        resume += ["--both-orders"] * both_orders + ["--jobs", str(jobs), "--votes", str(path)]
        output = reported(summary, run, resume)

    def show(page: Page) -> None:
        output.show(page)
        _show_judges(page, judging)

    judged = [asdict(record) | {"flip_rate": record.flip_rate} for record in judging.records]
    return Output({**output.summary, "judged": judged}, show, output.exit_code)


def _judges(commands: Sequence[str], problem: dm.Problem, timeout: float) -> dict[str, CommandJudge]:
    """Return the judges by name."""
    from duelmatch.cli.judge import CommandJudge

    judges: dict[str, CommandJudge] = {}
    for number, given in enumerate(commands, start=1):
        named = NAMED.fullmatch(given)
        name, words = named.groups() if named else (f"judge-{number}", given)
        if name in judges:
            raise click.UsageError(
                f"Two judges are called '{name}': name them otherwise, as in --judge a=COMMAND."
            )
        judges[name] = CommandJudge(name, words, problem, timeout)
    return judges


def _check_same_judges(
    journal: Journal[Judgment], recorded: Mapping[str, Any], about: Mapping[str, Any]
) -> None:
    """Refuse other judges, or another way to ask them, than the run was begun with."""
    if all(recorded.get(name) == value for name, value in about.items()):
        return
    names = [str(name) for name in recorded.get("judges", [])]
    ways = [
        f"{'with' if recorded.get(name) else 'without'} --{name.replace('_', '-')}"
        for name in ("panel", "both_orders")
    ]
    raise FileError(
        f"{journal.path}: The run in this file was begun {' and '.join(ways)}, and with the "
        f"{'judge' if len(names) == 1 else 'judges'} {listed(names)}. Give the same options to resume it, or "
        "begin a new run in another file with --votes."
    )


def _layout() -> Layout[Judgment]:
    """Return how judgments are kept: as `duelmatch decide` reads them, too."""
    from duelmatch.explorers.judging import Judgment
    from duelmatch.files.journal import Layout

    return Layout(
        COLUMNS,
        lambda cells: Judgment(cells[0], cells[1], cells[2], cells[3], cells[4] == "yes", cells[5] == "yes"),
        lambda said: (
            *(said.judge, said.position, said.winner, said.loser),
            *("yes" if mark else "no" for mark in (said.tie, said.flip)),
        ),
    )


def _panel(
    problem: dm.Problem,
    of_crowds: Mapping[str, Any],
    own: Mapping[str, Any],
    judges: list[str],
    recorded: Mapping[str, Any] | None,
) -> tuple[PanelExplorer, dict[str, Any]]:
    """Begin a decision of a panel; only the order in which candidates are shown depends on its seed."""
    for name, value in of_crowds.items():
        if value is not None:
            raise click.UsageError(f"A panel has no --{name.replace('_', '-')}.")
    before = {"criterion": "condorcet", "consistent": False, "seed": drawn_seed()} | dict(recorded or {})
    settings = {name: before[name] if value is None else value for name, value in own.items()}
    criterion, consistent = settings["criterion"], settings["consistent"]
    run = dm.explorer("panel", problem, voters=judges, criterion=criterion, consistent=consistent)
    return run, {"algorithm": "panel"} | settings


def _finish(judging: Judging, journal: Journal[Judgment]) -> Literal["done", "interrupted"]:
    """Ask until the run is over, or Ctrl-C."""
    began, before = monotonic(), judging.run.duels
    with live_line("Asking") as show:

        def where() -> str:
            rate = rated((judging.run.duels - before) / max(monotonic() - began, 1e-9))
            failures = sum(record.failures for record in judging.records)
            failed = f", {counted(failures, 'failure')}" if failures else ""
            asked = f"{counted(judging.run.duels, 'answer')}, {rate}{failed}"
            return f"{asked}; {standing(judging.run.progress)}"

        judging.keep, judging.told = journal.append, lambda: show(where)
        try:
            asyncio.run(judging.finish())
        except KeyboardInterrupt:
            return "interrupted"
        except JudgeError as error:
            kept = f"{counted(len(journal.answers), 'answer')} in {journal.path} are kept"
            raise JudgeError(f"{error} {kept}, and the same command resumes.") from None
    return "done"


def _show_judges(page: Page, judging: Judging) -> None:
    page.table(
        ["Judge", "Answers", "Depend on the order", "Failures"],
        [
            (
                record.name,
                record.answers,
                "not asked"
                if record.flips is None
                else f"{record.flips:,} ({100 * (record.flip_rate or 0):.0f}%)",
                record.failures,
            )
            for record in judging.records
        ],
        right=["Answers", "Depend on the order", "Failures"],
    )


def _decided(about: Mapping[str, Any], judging: Judging, answers: Sequence[Judgment]) -> Output:
    """Return what the judges of a panel decide."""
    from duelmatch.files.answers import AnswerRow, Sheet

    problem, voters = judging.run.problem, [record.name for record in judging.records]
    given = [_answer(said) for said in answers]
    decision = dm.decide(problem, given, about["criterion"], about["consistent"], voters=voters)
    sheet = Sheet(problem, [AnswerRow(0, answer) for answer in given])
    return decided(decision, sheet, about, exit_code(about["ended"], judging.result))


def _answer(said: Judgment) -> dm.Answer:
    two = said.winner, said.loser
    return dm.Answer(said.position, (two,) if said.tie else two, said.judge)
