"""``duelmatch explore``: commands answer, many at a time, and whatever happens, no answer is lost."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cases import each
from terminal import PROGRAM, flat, run

TRIO = """
candidates: [ann, bob, {name: cyd, title: Cyd Lee, text: Careful}]
positions: [{name: chair, place: hall}]
"""
READ = "import json, os, sys, time; q = json.load(sys.stdin); names = [c['name'] for c in q['candidates']]; "
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals are different there")


@pytest.fixture(autouse=True)
def _problem(_in_an_empty_folder: None) -> None:
    Path("trio.yaml").write_text(TRIO, encoding="utf-8")


def judge(does: str) -> str:
    """Return the command of a judge that does this with the ``names`` of a question ``q``."""
    return shlex.join([sys.executable, "-I", "-S", "-c", READ + does])


FIRST_LETTER = judge("print(min(names))")


def explore(*arguments: str, code: int = 0) -> Result:
    return run("explore", "trio.yaml", *arguments, code=code)


def read(*arguments: str) -> Any:
    return json.loads(explore(*arguments, "--json").stdout)


def rows(path: str = "trio.judged.csv") -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()[1:]


def test_a_panel_of_commands_decides_and_other_commands_read_its_answers() -> None:
    last = f"c={judge('print(max(names))')}"
    done = read("--panel", "--judge", f"a={FIRST_LETTER}", "--judge", f"b={FIRST_LETTER}", "--judge", last)
    assert (done["status"], done["matching"]) == ("decided", {"chair": "ann"})
    assert [one["name"] for one in done["judged"]] == ["a", "b", "c"]
    assert sum(one["answers"] for one in done["judged"]) == done["answers"] == len(rows())
    decided = json.loads(
        run("decide", "trio.yaml", "trio.judged.csv", "--no-consistent", "--json", code=0).stdout
    )
    assert decided["status"] == done["status"]


def test_a_crowd_is_certified_and_the_page_says_how_the_judges_answered() -> None:
    page = flat(explore("--judge", FIRST_LETTER, "--delta", "0.4", "--assume-winner", "--jobs", "4").output)
    assert "certified" in page
    assert "│ chair │ ann │" in page
    assert f"│ judge-1 │ {len(rows())} │ not asked │ 0 │" in page


def test_a_command_is_given_the_question_with_what_voters_see_in_both_orders() -> None:
    noting = judge("open('seen.txt', 'a').write(json.dumps(q) + '\\n'); print(names[0])")
    done = read("--panel", "--both-orders", "--judge", noting, "--jobs", "1")
    assert [(one["flips"], one["flip_rate"]) for one in done["judged"]] == [(len(rows()), 1.0)]
    assert all(row.endswith(",yes,yes") for row in rows())
    seen = [json.loads(line) for line in Path("seen.txt").read_text(encoding="utf-8").splitlines()]
    assert seen[0].keys() == {"question", "judge", "position", "candidates"}
    assert seen[0]["position"] == {"name": "chair", "place": "hall"}
    assert {"name": "cyd", "title": "Cyd Lee", "text": "Careful"} in [
        c for q in seen for c in q["candidates"]
    ]
    for one, other in zip(seen[::2], seen[1::2], strict=True):
        assert one["candidates"] == other["candidates"][::-1]


@each(
    ("command", "sentence"),
    [
        (judge("print('zoe')"), "It printed 'zoe', and not one of the two names, nor = for no difference."),
        (judge("pass"), "It printed nothing"),
        (judge("sys.exit('no key')"), "It ended with exit code 1: no key."),
        (judge("time.sleep(60)"), "It did not answer within 0.3 seconds."),
        (judge("print('x' * 20_000)"), "It printed more than 10,000 bytes."),
    ],
)
def test_a_command_that_gives_no_answer_ends_the_run_with_a_sentence(command: str, sentence: str) -> None:
    timeout = "0.3" if "sleep" in command else "60"
    result = explore(
        "--panel", "--judge", command, "--timeout", timeout, "--tries", "1", "--jobs", "1", code=6
    )
    assert result.stderr.startswith("Error: 'judge-1' failed to say who is better at 'chair'")
    assert sentence in result.stderr
    assert "0 answers in trio.judged.csv are kept, and the same command resumes." in result.stderr
    assert "Traceback" not in result.output


def test_a_command_that_fails_now_and_then_is_asked_again_and_counted() -> None:
    moody = judge("n = len(os.listdir('.')); open(f'call{n}', 'w'); print(min(names) if n % 2 else '')")
    done = read("--panel", "--judge", moody, "--jobs", "1")
    assert done["matching"] == {"chair": "ann"}
    assert done["judged"][0]["failures"] >= 1


@each(
    ("arguments", "sentence"),
    [
        (["--judge", "no-such-program-here x"], "there is no such program to run"),
        (["--judge", "'"], "is not a command"),
        (["--judge", "a=true", "--judge", "a=true"], "Two judges are called 'a'"),
        (["--judge", "true", "--criterion", "borda"], "are of a --panel"),
        (["--judge", "true", "--panel", "--delta", "0.1"], "A panel has no --delta"),
        (["--judge", "true", "--question-size", "3"], "two at a time"),
        ([], "Missing option '--judge'"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], sentence: str) -> None:
    assert sentence in flat(explore(*arguments, code=2).stderr)


class Exploring:
    """A real process."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "explore", "trio.yaml", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def wait_for(self, happened: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not happened():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def end(self, signal_number: int) -> str:
        self.process.send_signal(signal_number)
        out, err = self.process.communicate(timeout=60)
        return (out + err).decode()


SLOW = judge(
    "open(f'{os.getpid()}.pid', 'w'); time.sleep(60 if len(os.listdir('.')) > 12 else 0); print(min(names))"
)
BY_A_CROWD = ("--seed", "0", "--max-duels", "30", "--delta", "1e-9", "--jobs", "3")


@POSIX
def test_a_killed_run_resumes_with_every_answer_it_had() -> None:
    exploring = Exploring("--judge", SLOW, *BY_A_CROWD)
    exploring.wait_for(lambda: Path("trio.judged.csv").exists() and len(rows()) >= 4)
    exploring.end(signal.SIGKILL)
    before = rows()
    with open("trio.judged.csv", "a", encoding="utf-8") as file:
        file.write("judge-1,chair,an")
    done = read("--judge", FIRST_LETTER, *BY_A_CROWD)
    assert rows()[: len(before)] == before
    assert (done["resumed"], done["duels"], len(rows())) == (len(before), 30, 30)
    assert done["judged"][0]["answers"] == 30
    assert "--jobs 3 --votes trio.judged.csv --max-duels 60" in flat(
        explore("--judge", FIRST_LETTER, *BY_A_CROWD).stdout
    )
    begun = "was begun without --panel and without --both-orders, and with the judge 'judge-1'. Give the same"
    for others in (["--both-orders"], ["--panel"], ["--judge", f"b={FIRST_LETTER}"]):
        assert begun in explore("--judge", FIRST_LETTER, *others, code=3).stderr
    assert "not with --delta 0.5" in explore("--judge", FIRST_LETTER, "--delta", "0.5", code=3).stderr


@POSIX
def test_ctrl_c_says_where_the_run_is_and_leaves_no_judge_behind() -> None:
    exploring = Exploring("--panel", "--judge", judge("open(f'{os.getpid()}.pid', 'w'); time.sleep(60)"))
    exploring.wait_for(lambda: len(list(Path().glob("*.pid"))) >= 3)
    page = exploring.end(signal.SIGINT)
    assert exploring.process.returncode == 130
    assert "Not decided yet" in page
    assert "Traceback" not in page
    for file in Path().glob("*.pid"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.stem), 0)
