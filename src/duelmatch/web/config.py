"""What a server allows, to whom, and how often."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Rate:
    """Sustained rate, in requests per second, and burst size."""

    per_second: float
    burst: float


@dataclass(frozen=True, slots=True)
class Rates:
    """Rate limits: per link of a voter or organiser, per address of all others, and for what costs more.

    That is creating studies (``create``), having a problem read or estimated (``read``), uploading pictures
    (``picture``), and joining by an open link (``join``), each per address. Many can share one, such as the
    voters in a hall.
    """

    link: Rate = Rate(10, 60)
    address: Rate = Rate(200, 1_000)
    create: Rate = Rate(1 / 60, 20)
    read: Rate = Rate(1, 40)
    picture: Rate = Rate(1, 100)
    join: Rate = Rate(10, 1_000)


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of a server.

    ``create``: who may create a study over HTTP: anybody, whoever has the ``create_key``, nobody (then only
    the command line does), or "local": whoever is on this machine, and of those who come through a proxy only
    who has the key, if there is one. ``rates``: None for no rate limits. ``metrics``: whether they are served
    to this host only, or to anybody. ``address``: what the links of voters begin with, unless it is the
    address by which their organiser came; ``nearby``: what they begin with if only this machine knows that.
    ``webhooks``: whom studies may call: addresses of the public internet, anywhere (also this machine and its
    network, which is for servers whose organisers are trusted), or nowhere.
    ``streams`` and ``streams_per_link``: how many event streams may be open
    at once in this process, of organisers and of others, and for one link; voters of one study take half.
    """

    create: Literal["anybody", "local", "key", "nobody"] = "local"
    create_key: str | None = field(default=None, repr=False)
    rates: Rates | None = field(default_factory=Rates)
    metrics: Literal["local", "anybody"] = "local"
    address: str | None = None
    nearby: str | None = None
    webhooks: Literal["public", "anywhere", "nowhere"] = "public"
    streams: int = 500
    streams_per_link: int = 20
