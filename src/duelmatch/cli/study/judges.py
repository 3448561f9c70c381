"""``duelmatch study judges``: who they are, many at once, and a list of their links to mail from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from duelmatch.cli.options import ANY_PATH
from duelmatch.cli.output import Output, Page, picked, printed
from duelmatch.cli.store import link_address, on_study, server_option
from duelmatch.cli.study.changes import voter_called
from duelmatch.files.documents import naming, read_text
from duelmatch.files.people import Person, dump_links, read_people

if TYPE_CHECKING:
    from duelmatch.studies import Study, Voter

LARGEST_LIST = 1_000_000
"""Bytes."""


def people_of(path: Path) -> list[Person]:
    """Read a list of judges from a file."""
    with naming(path) as file:
        return read_people(read_text(file, LARGEST_LIST))


@click.command("judges")
@on_study
@click.option(
    "--add",
    "file",
    metavar="FILE",
    type=ANY_PATH,
    help="Add those in a file: one name on a line, or a table with the headings name, weight, conflicts, and "
    "others such as email. All of them are added, or none.",
)
@click.option(
    "--renew", "names", metavar="NAME", multiple=True, help="A new link; the old one stops working."
)
@server_option("Where phones reach `duelmatch serve`.")
@printed
def judges(study: Study, file: Path | None, names: Sequence[str], server: str) -> Output:
    """List the judges, or voters, or make links for many. The links are a CSV to mail from.

    Links are printed now and never again. The pages of the organiser print them with QR codes.

    \b
    Example:
      duelmatch study judges
      duelmatch study judges --add judges.csv --server https://duels.example.org > links.csv
      duelmatch study judges --renew ann --server https://duels.example.org
    """
    from duelmatch.studies import NewVoter

    if file is None and not names:
        return _listed(study)
    whose = [voter_called(study, name) for name in names]  # before anybody is added
    people = [] if file is None else people_of(file)
    added = study.add_voters([NewVoter(who.name, who.weight, who.conflicts) for who in people])
    voters = [*added, *(voter.id for voter in whose)]
    tokens = study.replace_links(voters)
    known = {voter.id: voter.name or voter.id for voter in study.voters()}
    others = [*(who.others for who in people), *({} for _ in whose)]
    rows = [
        {"name": known[voter], **more, "link": link_address(server, token)}
        for voter, more, token in zip(voters, others, tokens, strict=True)
    ]
    return Output(
        {"study": study.id, "name": study.name, "links": rows},
        lambda _: click.echo(dump_links(rows), nl=False),
    )


def _listed(study: Study) -> Output:
    voters = study.voters()

    def show(page: Page) -> None:
        page.heading(study.name)
        page.table(
            ["Judge", "Votes each", "Does not judge", "Answers"],
            [
                (who.name or who.id, f"{who.weight}", ", ".join(who.conflicts), _answers(who))
                for who in voters
            ],
            right=["Votes each", "Answers"],
        )

    rows = [
        picked(voter, "id", "name", "weight", "conflicts", "answers", "struck", "left") for voter in voters
    ]
    return Output({"study": study.id, "name": study.name, "voters": rows}, show)


def _answers(voter: Voter) -> str:
    if voter.struck:
        return "struck"
    if voter.left:
        return f"{voter.answers:,}, has left"
    return f"{voter.answers:,}" if voter.answers else "has not begun"


COMMANDS = (judges,)
