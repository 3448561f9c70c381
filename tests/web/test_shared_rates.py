"""Servers that share a store on PostgreSQL share its rate limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import httpx2

from conftest import PROBLEM
from duelmatch.studies import Settings, Store
from duelmatch.web import Config, Rate, Rates, create_app, rates
from duelmatch.web.rates import Buckets, SharedRates
from web.running import served

RATES = Rates(link=Rate(0.001, 8), address=Rate(0.001, 12))


def test_what_is_used_up_at_one_server_is_used_up_at_the_other(postgres: Callable[[], str]) -> None:
    url = postgres()
    with Store(url) as store, Store(url) as other:
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        tokens = [study.new_link("voter", study.add_voter()) for _ in range(2)]
        config = Config(rates=RATES)
        with served(store, config) as here, served(other, config) as there:

            def status(address: str, token: str) -> int:
                headers = {"Authorization": f"Bearer {token}"}
                path = f"{address}/api/v1/studies/{study.id}/me"
                return httpx2.get(path, headers=headers, trust_env=False).status_code

            assert [status(here, tokens[0]) for _ in range(9)] == [200] * 8 + [429]
            end = time.monotonic() + 60
            while (found := status(there, tokens[0])) == 200 and time.monotonic() < end:
                time.sleep(0.3)
            assert found == 429
            assert status(there, tokens[1]) == 200
            unknown = [httpx2.get(f"{here}/", trust_env=False).status_code for _ in range(13)]
            assert unknown[-1] == 429


def hear(server: SharedRates, buckets: Buckets, level: float) -> None:
    """Listen until the only bucket has this level: messages take a moment."""
    end = time.monotonic() + 60
    while [found for found, _, _ in buckets._levels.values()] != [level]:
        assert time.monotonic() < end
        server.exchange()


def test_servers_tell_each_other_of_busy_callers_only_and_under_a_hash(postgres: Callable[[], str]) -> None:
    url = postgres()
    with Store(url) as store, Store(url) as other:
        stores = [store, other]
        buckets = [{"address": Buckets(Rate(1, 20), lambda: 0.0)} for _ in stores]
        servers = [SharedRates(each, own) for each, own in zip(stores, buckets, strict=True)]
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        study.new_link("organiser")
        for server in servers:
            server.exchange()
        here, there = (own["address"] for own in buckets)
        key = servers[0]._key_of_hour()
        assert key == servers[1]._key_of_hour()
        assert key is not None
        for _ in range(5):
            assert here.wait("192.0.2.7") == 0
        assert here.share(key) == {}, "a quarter is nobody's business"
        assert here.wait("192.0.2.7") == 0
        (told,) = here.share(key).items()
        assert told[1] == 6
        assert "192" not in bytes.fromhex(told[0]).decode("latin-1")
        for _ in range(10):
            assert here.wait("192.0.2.7") == 0
        servers[0].exchange()
        hear(servers[1], there, 10)
        assert sum(there.wait("192.0.2.7") == 0 for _ in range(20)) == 10
        servers[1].exchange()
        hear(servers[0], here, -6)
        assert here.wait("192.0.2.7") == 7
        for server in servers:
            server.close()


def test_on_sqlite_each_counts_for_itself(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/x.db") as own:
        assert rates.share_rates(create_app(own, Config())) is None
        assert own.database.messages("x") is None
