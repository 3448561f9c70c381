"""A server that is stopped in the middle of a transaction keeps nobody else waiting on PostgreSQL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from conftest import PROBLEM
from duelmatch.errors import UnreachableError
from duelmatch.studies import Question, Settings, Store, database
from studies.playing import Stall

HOLD = """
import sys, time
from duelmatch.studies import Store, database
database.IDLE_SECONDS = 2.0
def hold(feed):
    feed.rename("never")
    print("held", flush=True)
    time.sleep(600)
Store(sys.argv[1]).study(sys.argv[2]).submit(hold).result()
"""


def test_a_frozen_server_keeps_nobody_waiting(
    postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.2)
    url = postgres()
    with Store(url) as store:
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        voters = [study.add_voter() for _ in range(3)]
        script = [sys.executable, "-c", HOLD, url, study.id]
        with subprocess.Popen(script, stdout=subprocess.PIPE) as frozen:
            try:
                assert frozen.stdout is not None
                assert frozen.stdout.readline() == b"held\n"
                os.kill(frozen.pid, signal.SIGSTOP)
                with pytest.raises(UnreachableError, match="lock timeout"):
                    study.ask(voters[0])
                asked = None
                while asked is None:  # until PostgreSQL has ended the transaction of the one that is frozen
                    try:
                        asked = study.ask(voters[1])
                    except UnreachableError:
                        continue
                assert isinstance(asked, Question)
                assert study.name == "x"
            finally:
                frozen.kill()


def test_who_comes_while_others_wait_in_vain_does_not_wait_as_long_again(
    postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.5)
    monkeypatch.setattr(database, "IDLE_SECONDS", 60.0)
    url = postgres()
    with Store(url) as store, Store(url) as other:
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        hold = Stall()
        holding = other.study(study.id).submit(hold)
        hold.wait()
        attempts: list[object] = []
        monkeypatch.setattr(store.writer, "_on_failure", attempts.append)
        waiting = [study.submit(lambda feed: feed.rename("y")) for _ in range(250)]  # of three transactions
        for each in waiting:
            with pytest.raises(UnreachableError):
                each.result(60)
        hold.end()
        holding.result(60)
        assert len(attempts) == 1
