"""``duelmatch study``: run a study with many voters, or look after one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duelmatch.cli.options import ANY_PATH, DELTA, DELTA_HELP, Between, Source, file_argument
from duelmatch.cli.output import Output, Page, printed
from duelmatch.cli.store import opened_store, store_option
from duelmatch.cli.study import changes, judges, show, vote
from duelmatch.phrases import counted

if TYPE_CHECKING:
    from duelmatch.studies import NewVoter


@click.group("study")
def command() -> None:
    """Run a study with many voters: ask them, take their answers, see where it stands.

    A study is kept in a database: the file duels.db in the current folder, or what --store or the environment
    variable DUELMATCH_STORE says. If there are several studies in it, --study says which one.

    \b
    Example:
      duelmatch study create example:lineup --voter ann --voter ben
      duelmatch study vote --voter ann
      duelmatch study status
    """


@command.command("create")
@file_argument
@store_option
@click.option("--name", help="What the study is called.  [default: FILE's name]")
@click.option(
    "--voter",
    "voters",
    metavar="NAME",
    multiple=True,
    help="One of those who decide; can be repeated. With names, the study is a panel: they are counted.",
)
@click.option(
    "--judges",
    "list_of_judges",
    metavar="FILE",
    type=ANY_PATH,
    help="Those who decide, from a file: one name on a line, or a table with the headings name, weight and "
    "conflicts.",
)
@click.option("--weight", "weights", metavar="NAME=N", multiple=True, help="How many votes a judge has.")
@click.option(
    "--conflict", "conflicts", metavar="NAME=CANDIDATE", multiple=True, help="Whom a judge does not judge."
)
@click.option(
    "--algorithm",
    metavar="NAME",
    help="panel counts the voters; condorcet and borda take them for a sample of a crowd; `duelmatch "
    "algorithms` lists the others.  [default: panel with --voter, or else condorcet]",
)
@click.option(
    "--criterion",
    type=click.Choice(["condorcet", "borda"]),
    help="What makes a line-up the best, for a panel.",
)
@click.option(
    "--until",
    type=click.Choice(["unbeaten", "decided"]),
    help="When a panel is done: when nothing can beat the line-up any more, or only when it beats every "
    "other, or certainly does not.  [default: unbeaten]",
)
@click.option(
    "--question-size", type=click.IntRange(2, 10), help="How many candidates to rank in a question."
)
@click.option(
    "--parameter",
    "parameters",
    metavar="NAME=VALUE",
    multiple=True,
    help="A parameter of the algorithm, such as ballot_size=6 (questions on a ballot) or consistent=false.",
)
@click.option("--delta", type=Between(0, 1), default=DELTA, help=DELTA_HELP)
@click.option(
    "--seed", type=click.IntRange(0), help="The seed of all draws.  [default: one is drawn, and shown]"
)
@click.option(
    "--lease",
    type=Between(0),
    default=300.0,
    help="Seconds after which an unanswered question goes to somebody else.",
)
@click.option(
    "--ties/--no-ties",
    default=True,
    show_default=False,
    help="Whether voters may say that there is no difference.",
)
@click.option(
    "--skips/--no-skips", default=True, show_default=False, help="Whether voters may skip a question."
)
@click.option(
    "--secret/--no-secret",
    show_default=False,
    help="Whether organisers are kept from seeing who answered what.",
)
@click.option("--max-answers", type=click.IntRange(0), help="Ask for this many answers at most.")
@click.option("--questions-each", type=click.IntRange(0), help="Ask each judge of a panel this much at most.")
@click.option(
    "--ahead",
    type=click.IntRange(0),
    default=100,
    help="For algorithms that work in rounds: how many answers to ask for beyond what is needed now.",
)
@printed
def create(
    source: Source,
    url: str,
    name: str | None,
    voters: Sequence[str],
    weights: Sequence[str],
    conflicts: Sequence[str],
    list_of_judges: Path | None,
    parameters: Sequence[str],
    **own: Any,
) -> Output:
    """Create a study of the problem in FILE.

    The token of the organiser's link is printed now and never again; only its hash is stored.

    \b
    Example:
      duelmatch study create example:lineup --voter ann --voter ben --conflict ben=comets
      duelmatch study create team.yaml --algorithm condorcet --delta 0.01 --lease 60
    """
    from duelmatch.studies import NewVoter, Settings

    problem = source.document.problem()
    given = {key: _value(text) for key, text in _pairs("--parameter", parameters)}
    options = {key: own.pop(key) for key in ("criterion", "question_size", "until")}
    given |= {key: value for key, value in options.items() if value is not None}
    settings = Settings(parameters=given, **own)
    panel = _judges(voters, weights, conflicts)
    if list_of_judges is not None:
        listed = judges.people_of(list_of_judges)
        panel += [NewVoter(person.name, person.weight, person.conflicts) for person in listed]
    with opened_store(url, new=True) as store:
        study = store.create(problem, settings, name or source.stem, panel)
        token = study.new_link("organiser")
        settings, title = study.settings, study.name
    summary = {"study": study.id, "name": title, "organiser_token": token, "settings": settings.as_dict()}

    def show(page: Page) -> None:
        page.heading(f"{title}: a new study")
        candidates, positions = len(problem.candidates), len(problem.positions)
        page.facts(
            [
                ("Study", study.id),
                ("Problem", f"{counted(candidates, 'candidate')}, {counted(positions, 'position')}"),
                ("Algorithm", settings.algorithm),
                *([("Voters", ", ".join(str(voter.name) for voter in panel))] if panel else []),
                ("Seed", f"{settings.seed}"),
                ("Organiser's token", token),
            ]
        )
        page.paragraph("Keep the token: it is not shown again. To vote: duelmatch study vote --voter NAME")

    return Output(summary, show)


def _pairs(option: str, given: Sequence[str]) -> list[tuple[str, str]]:
    for each in given:
        if "=" not in each:
            raise click.UsageError(f"{option} takes NAME=VALUE, not '{each}'.")
    return [(name.strip(), value.strip()) for name, _, value in (each.partition("=") for each in given)]


def _value(text: str) -> Any:
    """Return a number, true, false or null as such, and anything else as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _judges(voters: Sequence[str], weights: Sequence[str], conflicts: Sequence[str]) -> list[NewVoter]:
    from duelmatch.studies import NewVoter

    weight_of: dict[str, Any] = {name: _value(text) for name, text in _pairs("--weight", weights)}
    not_judged = _pairs("--conflict", conflicts)
    if unknown := [name for name in (*weight_of, *dict(not_judged)) if name not in voters]:
        raise click.UsageError(f"'{unknown[0]}' is not one of the voters given with --voter.")
    return [
        NewVoter(
            voter, weight_of.get(voter, 1), [candidate for name, candidate in not_judged if name == voter]
        )
        for voter in voters
    ]


for part in (*vote.COMMANDS, *show.COMMANDS, *changes.COMMANDS, *judges.COMMANDS):
    command.add_command(part)
