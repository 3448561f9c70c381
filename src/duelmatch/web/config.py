"""What a server allows, to whom, and how often."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Rate:
    """So many requests a second in the long run, and so many at once."""

    per_second: float
    burst: float


@dataclass(frozen=True, slots=True)
class Rates:
    """How often somebody may call: one link, one address, and one address doing what costs more.

    That is beginning new studies (``create``), having one read or estimated (``read``) and joining by an
    open link (``join``).
    Many voters can share an address, such as those in one hall; so what an address may do is far more than
    what a voter may.
    """

    link: Rate = Rate(10, 60)
    address: Rate = Rate(200, 1_000)
    create: Rate = Rate(1 / 60, 20)
    read: Rate = Rate(1, 20)
    join: Rate = Rate(5, 300)


@dataclass(frozen=True, slots=True)
class Config:
    """How a server is set up.

    ``create``: who may begin a study over HTTP: anybody, whoever has the ``create_key``, or nobody, so that
    only the command line does. ``rates``: None for no limits. ``metrics``: whether they are for programs
    on this machine only, or for anybody. ``streams`` and ``streams_per_link``: how many streams of events
    there may be at once in this process, and for one link.
    """

    create: Literal["anybody", "key", "nobody"] = "anybody"
    create_key: str | None = field(default=None, repr=False)
    rates: Rates | None = field(default_factory=Rates)
    metrics: Literal["local", "anybody"] = "local"
    streams: int = 500
    streams_per_link: int = 20
