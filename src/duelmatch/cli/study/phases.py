"""``duelmatch study pause``, ``resume``, ``close`` and ``reopen``: whether a study asks anything."""

from __future__ import annotations

import click

from duelmatch.cli.options import json_option
from duelmatch.cli.output import Page, print_json
from duelmatch.cli.stores import opened_study, store_option, study_option


def _command(action: str, does: str) -> click.Command:
    """Return the command for something that a study can do as a whole."""

    @click.command(action, help=f"{does}\n\n\b\nExample:\n  duelmatch study {action}")
    @store_option
    @study_option
    @json_option
    def command(url: str, study_id: str | None, as_json: bool) -> None:
        with opened_study(url, study_id) as study:
            getattr(study, action)()
            state = study.status().state
        if as_json:
            print_json({"study": study.id, "name": study.name, "state": state})
        else:
            Page().paragraph(f"{study.name} is {state}.")

    return command


pause = _command("pause", "Ask nothing for the time being; answers to questions that are open still count.")
resume = _command("resume", "Go on after a pause.")
close = _command(
    "close",
    "End a study: nobody is asked any more, and answers that still come count only if it is opened again.",
)
reopen = _command("reopen", "Open a closed study again; answers that came meanwhile count now.")
