"""Server processes that share a study and are killed with -9 again and again, for test_faults.py.

``python crashing.py ADDRESS STUDY KILLS PROCESSES FOLDER``: every process serves voters, whoever they
are, and writes to files of its own in FOLDER which answers it is about to give (``.tried``) and which were
acknowledged, after they were (``.txt``).
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from duelmatch.errors import ConflictError, UnreachableError
from duelmatch.studies import Question, Store, Study

ENOUGH = 25
"""Answers that are in the log and were acknowledged, before the last kill."""
GIVE_UP = 120.0
"""Seconds without any acknowledged answer after which the test has failed."""


def serve_a_voter(
    study: Study, voters: list[str], chance: random.Random, tried: int, acknowledged: int
) -> None:
    voter = chance.choice(voters)
    try:
        question = study.ask(voter)
    except UnreachableError:  # another holds the study, perhaps to compile something
        return
    if not isinstance(question, Question):
        time.sleep(0.01)
        if study.settings.kind == "crowd" and chance.random() < 0.2:
            with suppress(UnreachableError):
                voters.append(study.add_voter())
        return
    assert question.voter == voter
    what = chance.random()
    try:
        if what < 0.05:
            study.skip(voter, question.number, "cannot say")
        elif what < 0.1:
            study.undo(voter)
        else:
            winner = None if what < 0.2 else chance.choice(question.candidates)
            os.write(tried, f"{voter} {question.number} {winner}\n".encode())
            receipt = study.tell(voter, question.number, winner)
            line = f"{voter} {question.number} {receipt.entry} {receipt.hash}\n"
            os.write(acknowledged, line.encode())
    except (ConflictError, UnreachableError):
        pass  # the same voter did something else with it at the same moment, or another holds the study


def serve(url: str, study: str, seed: int, folder: Path) -> None:
    tried, acknowledged = (
        os.open(folder / f"{seed}.{kind}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for kind in ("tried", "txt")
    )
    store = Store(url)
    voters = [voter.id for voter in store.study(study).voters()]

    def thread(number: int) -> None:
        chance = random.Random(f"{seed} {number}")
        try:
            while True:
                serve_a_voter(store.study(study), voters, chance, tried, acknowledged)
        except BaseException:
            import traceback

            (folder / f"{seed}.error").write_text(traceback.format_exc())
            raise

    for number in range(3):
        threading.Thread(target=thread, args=(number,), daemon=True).start()
    threading.Event().wait()


def start(url: str, study: str, seed: int, folder: Path) -> int:
    process = os.fork()
    if process == 0:
        try:
            serve(url, study, seed, folder)
        finally:
            os._exit(1)
    return process


def acknowledgements(folder: Path) -> int:
    """Return how many answers were acknowledged; two threads can be told of the same one."""
    lines = [line for file in folder.glob("*.txt") for line in file.read_text().splitlines()]
    return len({line.split()[2] for line in lines})


def failed(folder: Path, known: int, since: float) -> bool:
    """Whether a process has failed; or nothing more than is known was acknowledged for too long."""
    if time.monotonic() - since > GIVE_UP and acknowledgements(folder) == known:
        (folder / "waiting.error").write_text(f"Nothing was acknowledged for {GIVE_UP} seconds.")
    return any(folder.glob("*.error"))


def main() -> None:
    url, study = sys.argv[1:3]
    kills, processes = map(int, sys.argv[3:5])
    folder = Path(sys.argv[5])
    chance = random.Random(1)
    with Store(url) as store:  # so that the processes need not import everything themselves
        store.study(study).status()
    running = [start(url, study, seed, folder) for seed in range(processes)]
    seed, known, since = processes, 0, time.monotonic()
    try:
        while (seed < processes + kills or known < ENOUGH) and not failed(folder, known, since):
            time.sleep(chance.uniform(0.02, 0.25))
            if seed % 2:  # starting takes a while
                while acknowledgements(folder) == known and not failed(folder, known, since):
                    time.sleep(0.02)
            victim = running.pop(chance.randrange(processes))
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
            running.append(start(url, study, seed, folder))
            seed += 1
            if acknowledgements(folder) > known:
                known, since = acknowledgements(folder), time.monotonic()
    finally:
        for process in running:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


if __name__ == "__main__":
    main()
