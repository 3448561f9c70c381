"""``duelmatch completion``: the script that a shell needs to complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from duelmatch.cli.options import json_option
from duelmatch.cli.output import print_json


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@json_option
@click.pass_context
def command(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print the script that completes commands, options, examples and files in SHELL.

    \b
    Example (put the line into your shell's start-up file to keep it):
      eval "$(duelmatch completion bash)"
      eval "$(duelmatch completion zsh)"
      duelmatch completion fish | source
    """
    completion = get_completion_class(shell)
    assert completion is not None, "click knows these shells"
    script = completion(ctx.find_root().command, {}, "duelmatch", "_DUELMATCH_COMPLETE").source()
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)
