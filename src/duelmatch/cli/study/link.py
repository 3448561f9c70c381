"""``duelmatch study link``: make a link to a study on a server."""

from __future__ import annotations

import click

from duelmatch.cli.options import json_option
from duelmatch.cli.output import Page, print_json
from duelmatch.cli.stores import opened_study, store_option, study_option


@click.command("link")
@store_option
@study_option
@click.option("--voter", metavar="NAME", help="For this voter; a new name is a new voter.")
@click.option("--open", "anybody", is_flag=True, help="For anybody: one voter per browser.")
@click.option(
    "--server",
    metavar="ADDRESS",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="Where `duelmatch serve` can be reached.",
)
@json_option
def link(
    url: str, study_id: str | None, voter: str | None, anybody: bool, server: str, as_json: bool
) -> None:
    """Make a link for the browser: for the organiser, or with --voter or --open for voters.

    It is printed now and never again; it is stored hashed. The organiser can revoke it in the browser.

    \b
    Example:
      duelmatch study link
      duelmatch study link --voter ann --server https://duels.example.org
      duelmatch study link --open
    """  # noqa: D301
    if voter is not None and anybody:
        raise click.UsageError(
            "A link is for one voter, or for anybody: --voter and --open exclude each other."
        )
    with opened_study(url, study_id) as study:
        if voter is not None:
            role, token = "voter", study.new_key("voter", study.voter_named(voter))
        elif anybody:
            role, token = "open", study.new_key("open")
        else:
            role, token = "organiser", study.new_key("organiser")
    address = f"{server.rstrip('/')}/l/{token}"
    if as_json:
        print_json({"study": study.id, "name": study.name, "role": role, "link": address})
        return
    whom = {"voter": f"'{voter}'", "open": "anybody who votes", "organiser": "the organiser"}[role]
    Page().paragraph(f"{study.name}: a link for {whom}, shown now and never again.")
    click.echo(address)
