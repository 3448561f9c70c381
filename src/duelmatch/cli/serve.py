"""``duelmatch serve``: the pages and the API for the studies of a database."""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace

import click

from duelmatch.cli.options import flag
from duelmatch.cli.output import json_option
from duelmatch.cli.store import opened_store, store_option

EVERYWHERE = ("0.0.0.0", "::")
"""Hosts that mean all addresses of this machine."""


@click.command("serve")
@store_option
@click.option("--host", default="127.0.0.1", help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, help="The port to listen on; 0 takes any free one."
)
@click.option(
    "--address",
    envvar="DUELMATCH_ADDRESS",
    show_envvar=True,
    help="What the links of voters begin with, such as https://vote.example.org.  [default: the address by "
    "which the organiser came, or if that is of this machine only, this machine's in its network]",
)
@click.option(
    "--create",
    type=click.Choice(["anybody", "local", "key", "nobody"]),
    help="Who may create studies in the browser; local: who is on this machine, and others with the key.  "
    "[default: local if --host is this machine, or else key]",
)
@click.option(
    "--create-key",
    envvar="DUELMATCH_CREATE_KEY",
    show_envvar=True,
    help="The key that is needed to create studies.  [default: a new one, printed once]",
)
@click.option(
    "--proxies",
    default="127.0.0.1",
    help="Addresses or networks of proxies to trust for X-Forwarded-For and X-Forwarded-Proto.",
)
@click.option(
    "--metrics", type=click.Choice(["local", "anybody"]), default="local", help="Who may read /metrics."
)
@click.option(
    "--webhooks",
    type=click.Choice(["public", "anywhere", "nowhere"]),
    default="public",
    help="Whom studies may call when something is decided; anywhere: this machine and its network, too.",
)
@flag("--demo", "Create an example study with simulated voters, to watch and to try.")
@click.option(
    "--log-requests/--no-log-requests",
    default=None,
    help="Log every request on standard error, as a line of JSON.  [default: yes, unless that is a terminal]",
)
@flag("--no-limits", "Turn the rate limits off, for benchmarks.")
@json_option
def command(
    url: str,
    host: str,
    port: int,
    address: str | None,
    create: str | None,
    create_key: str | None,
    proxies: str,
    metrics: str,
    webhooks: str,
    demo: bool,
    log_requests: bool | None,
    no_limits: bool,
    as_json: bool,
) -> None:
    """Serve pages to organise studies and to vote, and the HTTP API, until Ctrl-C or SIGTERM.

    A missing database is created. If voters are not on this machine, put a proxy with HTTPS in front of it:
    docs/serving.md shows how.

    \b
    Example:
      duelmatch serve
      duelmatch serve --demo --store sqlite:///demo.db
      duelmatch serve --store postgresql://me@localhost/duels --port 8080
    """
    from duelmatch.web import Config, Rates, create_app
    from duelmatch.web import demo as example
    from duelmatch.web.links import network_address
    from duelmatch.web.proxies import LOOPBACK, networks
    from duelmatch.web.serving import leave, listen, prepare, serve

    who = create or ("local" if host in LOOPBACK and not create_key else "key")
    key = secrets.token_urlsafe(16) if who == "key" and not create_key else None
    if address is not None and not re.fullmatch(r"https?://[^/\s?#]+/?", address):
        raise click.BadParameter("an address begins with https:// or http://, and has no path.")
    networks(proxies)  # refuses what is none, before anything is printed
    rates = None if no_limits else Rates()
    config = Config(
        who,  # type: ignore[arg-type]
        create_key or key,
        rates,
        metrics,  # type: ignore[arg-type]
        address and address.rstrip("/"),
        webhooks=webhooks,  # type: ignore[arg-type]
    )
    with ExitStack() as stack:
        store = stack.enter_context(opened_store(url, new=True))
        listener = stack.enter_context(listen(host, port))
        port = listener.getsockname()[1]
        shown, around = f"[{host}]" if ":" in host else host, None
        if host in EVERYWHERE and (around := network_address()):
            config = replace(config, nearby=f"http://{around}:{port}")
        said = {"address": f"http://{around or shown}:{port}/", "create_key": key}
        if demo:
            study = example.create_demo(store)
            said["demo"] = f"{said['address']}l/{study.new_link('organiser')}"
            said["vote"] = f"{said['address']}l/{study.new_link('open')}"
            stack.enter_context(example.simulated_voters(study))
        _say(said, as_json)
        app = create_app(store, config)
        logged = not sys.stderr.isatty() if log_requests is None else log_requests
        with suppress(KeyboardInterrupt):  # before the server handles signals itself
            prepare(app)
            serve(app, listener, proxies, logged)
        leave(app)


def _say(said: Mapping[str, str | None], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(said))
        return
    click.echo(f"Open {said['address']} - stop with Ctrl-C.")
    if said["create_key"]:
        click.echo(f"The key for creating studies: {said['create_key']} (or set DUELMATCH_CREATE_KEY)")
    if "demo" in said:
        click.echo(f"Watch the demo as its organiser: {said['demo']}")
        click.echo(f"Vote in it yourself: {said['vote']}")
