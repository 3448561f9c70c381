"""``duelmatch study close``: end a study, or pause it, or open it again."""

from __future__ import annotations

import click

from duelmatch.cli.options import json_option
from duelmatch.cli.output import Page, print_json
from duelmatch.cli.stores import opened_study, store_option, study_option


@click.command("close")
@store_option
@study_option
@click.option("--pause", "action", flag_value="pause", help="Only for the time being.")
@click.option("--resume", "action", flag_value="resume", help="Go on after a pause.")
@click.option("--reopen", "action", flag_value="reopen", help="Open a closed study again.")
@json_option
def close(url: str, study_id: str | None, action: str | None, as_json: bool) -> None:
    """End a study: nobody is asked any more, and answers that still come count only if it is opened again.

    \b
    Example:
      duelmatch study close
      duelmatch study close --reopen
    """  # noqa: D301
    with opened_study(url, study_id) as study:
        getattr(study, action or "close")()
        state = study.status().state
    if as_json:
        print_json({"study": study.id, "name": study.name, "state": state})
    else:
        Page().paragraph(f"{study.name} is {state}.")
