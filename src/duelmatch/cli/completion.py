"""``duelmatch completion``: the script that a shell needs to complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from duelmatch.cli.output import Output, printed


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@printed
def command(shell: str) -> Output:
    """Print the script that completes commands, options, examples and files in SHELL.

    \b
    Example (put the line into your shell's start-up file to keep it):
      eval "$(duelmatch completion bash)"
      eval "$(duelmatch completion zsh)"
      duelmatch completion fish | source
    """
    completion = get_completion_class(shell)
    assert completion is not None, "click knows these shells"
    script = completion(
        click.get_current_context().find_root().command, {}, "duelmatch", "_DUELMATCH_COMPLETE"
    ).source()
    return Output({"shell": shell, "script": script}, lambda _: click.echo(script))
