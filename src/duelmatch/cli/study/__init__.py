"""``duelmatch study``: run a study with many voters, or look after one."""

from __future__ import annotations

import click

from duelmatch.cli.study.changes import correct, drop, invalidate, reinstate
from duelmatch.cli.study.create import create
from duelmatch.cli.study.files import export, take_in
from duelmatch.cli.study.link import link
from duelmatch.cli.study.phases import close, pause, reopen, resume
from duelmatch.cli.study.show import log, status
from duelmatch.cli.study.vote import ask, tell


@click.group("study")
def command() -> None:
    """Run a study with many voters: ask them, take their answers, see where it stands.

    A study is kept in a database: the file duels.db in the current folder, or what --store or the environment
    variable DUELMATCH_STORE says. If there is one study in it, that is meant; else --study says which.

    \b
    Example:
      duelmatch study create example:lineup
      duelmatch study ask --voter ann
      duelmatch study tell 1 foxes --voter ann
      duelmatch study status
    """  # noqa: D301


for parts in (
    (create, ask, tell, status, log, export, take_in, link),
    (correct, invalidate, reinstate, drop),
    (pause, resume, close, reopen),
):
    for part in parts:
        command.add_command(part)
