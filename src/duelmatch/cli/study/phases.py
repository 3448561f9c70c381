"""``duelmatch study pause``, ``resume``, ``close`` and ``reopen``: whether a study asks anything."""

from __future__ import annotations

from typing import Literal

import click

from duelmatch.cli.options import json_option
from duelmatch.cli.output import Page, print_json
from duelmatch.cli.stores import opened_study, store_option, study_option


def _move(
    url: str, study_id: str | None, action: Literal["pause", "resume", "close", "reopen"], as_json: bool
) -> None:
    with opened_study(url, study_id) as study:
        getattr(study, action)()
        state = study.status().state
    if as_json:
        print_json({"study": study.id, "name": study.name, "state": state})
    else:
        Page().paragraph(f"{study.name} is {state}.")


@click.command("pause")
@store_option
@study_option
@json_option
def pause(url: str, study_id: str | None, as_json: bool) -> None:
    """Ask nothing for the time being; answers to questions that are open still count.

    \b
    Example:
      duelmatch study pause
      duelmatch study resume
    """  # noqa: D301
    _move(url, study_id, "pause", as_json)


@click.command("resume")
@store_option
@study_option
@json_option
def resume(url: str, study_id: str | None, as_json: bool) -> None:
    """Go on after a pause.

    \b
    Example:
      duelmatch study resume
    """  # noqa: D301
    _move(url, study_id, "resume", as_json)


@click.command("close")
@store_option
@study_option
@json_option
def close(url: str, study_id: str | None, as_json: bool) -> None:
    """End a study: nobody is asked any more, and answers that still come count only if it is opened again.

    \b
    Example:
      duelmatch study close
    """  # noqa: D301
    _move(url, study_id, "close", as_json)


@click.command("reopen")
@store_option
@study_option
@json_option
def reopen(url: str, study_id: str | None, as_json: bool) -> None:
    """Open a closed study again; answers that came meanwhile count now.

    \b
    Example:
      duelmatch study reopen
    """  # noqa: D301
    _move(url, study_id, "reopen", as_json)
