"""``duelmatch ask``: a person answers, and whatever happens to the process, no answer is lost or misread."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import duelmatch as dm
from cases import each
from duelmatch.files.answers import load_rankings
from duelmatch.files.journal import fingerprint
from terminal import PROGRAM, flat, run, shell

PROMPT = "? help:"

DUO = "candidates: [ann, bob]\npositions: [chair]\n"
TEAM = "candidates: [ann, annabel, bob]\npositions: [chair, editor]\n"
TRIO = "candidates: [a, b, c]\npositions: [s]\n"
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and terminals are different there")


@pytest.fixture(autouse=True)
def _problems(_in_an_empty_folder: None) -> None:
    for name, text in (("duo", DUO), ("team", TEAM), ("trio", TRIO)):
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")


def ask(*arguments: str, answers: str = "") -> Result:
    return run("ask", *arguments, stdin="".join(f"{answer}\n" for answer in answers.split()))


def read(*arguments: str, answers: str = "") -> Any:
    return json.loads(ask(*arguments, "--json", answers=answers).stdout)


def rows(path: str = "team.votes.csv") -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()[1:]


def questions(page: str) -> list[tuple[str, str, str]]:
    """Return (position, shown first, shown second) of each question on a page, names without titles."""
    found = re.findall(r"^Who is better for (\w+)\?\n  1  (\w+)\n  2  (\w+)\n", page, re.MULTILINE)
    return [(position, first, second) for position, first, second in found]


class Asking:
    """A real process that asks, answered through pipes."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "ask", "--seed", "0", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"COLUMNS": "80", "PYTHONUNBUFFERED": "1"},
        )
        self.page = ""

    def wait_for_question(self, number: int = 1) -> str:
        """Read on until this many more questions have been asked."""
        assert self.process.stdout is not None
        start, deadline = len(self.page), time.monotonic() + 60
        while self.page.count(PROMPT, start) < number:
            assert time.monotonic() < deadline, self.page
            ready, _, _ = select.select([self.process.stdout], [], [], 1)
            if ready:
                data = os.read(self.process.stdout.fileno(), 65536)
                assert data, self.page
                self.page += data.decode()
        return self.page[start:]

    def answer(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{text}\n".encode())
        self.process.stdin.flush()

    def end(self, signal_number: int) -> int:
        self.process.send_signal(signal_number)
        return self.process.wait(60)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        rest, _ = self.process.communicate()
        self.page += rest.decode()


@pytest.fixture
def asking() -> Iterator[Any]:
    started: list[Asking] = []

    def start(*arguments: str) -> Asking:
        started.append(Asking(*arguments))
        return started[-1]

    yield start
    for process in started:
        process.close()


class TestQuestions:
    def test_show_what_voters_should_see(self) -> None:
        Path("shown.yaml").write_text(
            "candidates:\n"
            "- {name: ann, title: Ann Lee, text: Likes cake, link: 'https://example.org/ann'}\n"
            "- {name: bob, picture: bob.png}\n"
            "positions:\n- {name: chair, title: The chair, text: Sits at the top}\n",
            encoding="utf-8",
        )
        page = ask("shown.yaml").output
        for text in (
            "Who is better for The chair (chair)?",
            "Sits at the top",
            "Ann Lee (ann)",
            "Likes cake",
            "https://example.org/ann",
            "bob.png",
        ):
            assert text in page

    def test_put_either_candidate_first_and_always_alike(self) -> None:
        page = ask("duo.yaml", answers="ann " * 30).output
        firsts = [first for _, first, _ in questions(page)]
        assert 6 <= firsts.count("ann") <= 24
        assert questions(ask("duo.yaml", "--votes", "b.csv", answers="ann " * 30).output) == questions(page)
        assert questions(ask("duo.yaml", "--seed", "1", "--votes", "c.csv", answers="ann " * 30).output) != (
            questions(page)
        )

    def test_are_answered_by_number_as_shown(self) -> None:
        page = ask("duo.yaml", answers="1 2 1 2 1 2 1 2").output
        shown = questions(page)
        expected = [shown[turn][1 + turn % 2] for turn in range(8)]
        assert [row.split(",")[1] for row in rows("duo.votes.csv")] == expected

    def test_are_answered_by_name_or_title_in_any_case(self) -> None:
        Path("titled.yaml").write_text(
            "candidates: [{name: ann, title: Zed}, {name: bob}]\npositions: [chair]\n", encoding="utf-8"
        )
        ask("titled.yaml", answers="ann zed BOB")
        assert rows("titled.votes.csv") == ["chair,ann,bob", "chair,ann,bob", "chair,bob,ann"]

    def test_a_name_that_is_also_a_key_is_the_key(self) -> None:
        Path("keys.yaml").write_text("candidates: ['2', '1']\npositions: [s]\n", encoding="utf-8")
        page = ask("keys.yaml", answers="1 1 1 1 1 1").output
        firsts = [first for _, first, _ in questions(page)][:6]
        assert [row.split(",")[1] for row in rows("keys.votes.csv")] == firsts
        assert len(set(firsts)) == 2

    def test_that_are_not_understood_change_nothing(self) -> None:
        result = ask("duo.yaml", answers="3 nobody annn")
        assert rows("duo.votes.csv") == []
        assert result.output.count("is not an answer here") == 3

    def test_that_are_skipped_come_back(self) -> None:
        page = ask("team.yaml", answers="s " + "1 " * 6).output
        shown = questions(page)
        assert shown[1] != shown[0]
        pair = (shown[0][0], set(shown[0][1:]))
        assert pair in [(position, {one, other}) for position, one, other in shown[1:]]

    def test_a_skip_says_so_when_there_is_no_other_question(self) -> None:
        assert "Nothing else can be asked" in ask("duo.yaml", answers="s").output

    def test_can_be_a_tie_that_is_kept_resumed_and_taken_back(self) -> None:
        ask("team.yaml", "--seed", "0", answers="1 t")
        assert rows()[1].endswith(",yes")
        said = json.loads(run("estimate", "team.votes.csv", "--out", "found.yaml", "--json").stdout)
        assert said["candidates"] == 3, "other commands read it, too"
        assert "Resuming with 2 answers" in ask("team.yaml", answers="2").output
        assert [row.rpartition(",")[2] for row in rows()] == ["no", "yes", "no"]
        page = ask("team.yaml", answers="u u").output
        assert "Taken back: no difference between " in flat(page)
        assert [row.rpartition(",")[2] for row in rows()] == ["no"]

    def test_help_explains_the_keys(self) -> None:
        page = ask("duo.yaml", answers="?").output
        for key in ("tie", "skip", "undo", "stop", "certain"):
            assert key in page

    def test_progress_marks_the_leader_as_not_certified(self) -> None:
        page = flat(ask("duo.yaml", "--algorithm", "car-cond", answers="ann ann").output)
        assert "2 duels answered; 0 of 2 edges decided" in page
        assert "leader, NOT CERTIFIED: ann for chair" in page

    def test_progress_tells_what_is_possible_and_how_sure_the_leader_is(self) -> None:
        page = flat(ask("duo.yaml", "--batch", "1", answers="ann " * 8).output)
        assert "0 duels answered; 2 matchings still possible 1, 2," in page
        assert re.search(
            r"8 duels answered; 2 matchings still possible; about [\d,]+ duels? left; "
            r"leader, NOT CERTIFIED \(p 0\.\d+\): ann for chair "
            r"Still possible: - ann for chair \(the leader\) - bob for chair",
            page,
        )
        assert "if another matching were the winner, the chance of ever seeing evidence this strong" in page
        assert "among the 2 matchings still possible, unless this is one of the 5% of all runs" in page

    def test_there_is_something_to_skip_to(self) -> None:
        page = ask("team.yaml", answers="s").output
        assert "Nothing else can be asked" not in page
        assert read("team.yaml")["batch"] == 5


class TestTheEnd:
    def test_a_certified_winner_is_explained(self) -> None:
        result = ask("duo.yaml", "--delta", "0.5", answers="ann " * 100)
        assert result.exit_code == 0
        page = flat(result.output)
        assert "duels: certified" in page
        assert "This is the Condorcet winner: put against any other" in page
        assert "The chance that this is wrong is at most 50%" in page
        assert "NOT CERTIFIED" not in page.partition("Result after")[2]

    @each(
        ("options", "answers", "said"),
        [
            (
                ["--assume-winner"],
                "ann",
                "This is the Condorcet winner, if a Condorcet winner exists: put against any other",
            ),
            ([], "ann", "This is the Condorcet winner: put against any other"),
            (
                ["--epsilon", "0.3", "--assume-winner"],
                "ann bob",
                "if a Condorcet winner exists: put against the Condorcet winner,",
            ),
            (["--epsilon", "0.3"], "ann bob", "good enough: put against any other"),
        ],
    )
    def test_says_what_is_taken_for_granted(self, options: list[str], answers: str, said: str) -> None:
        page = flat(ask("duo.yaml", *options, answers=f"{answers} " * 300).output)
        assert said in page
        Path("duo.votes.csv").unlink()

    def test_the_same_answers_give_what_the_library_gives(self) -> None:
        ask("duo.yaml", "--delta", "0.5", answers="ann " * 100)
        problem = dm.load_problem("duo.yaml")
        result = dm.explore(problem, lambda duel: "ann", "condorcet", delta=0.5, batch=5)
        assert len(load_rankings("duo.votes.csv", problem)) == result.duels

    def test_a_finished_run_shows_its_result_again(self) -> None:
        ask("duo.yaml", "--delta", "0.5", answers="ann " * 100)
        again = ask("duo.yaml", answers="bob")
        assert "certified" in again.output
        assert questions(again.output) == []

    def test_no_winner_is_exit_code_1(self) -> None:
        options = {"assume_winner": False, "batch": 20}
        run = dm.explorer("condorcet", dm.load_problem("trio.yaml"), 0.5, seed=0, **options)
        answers = []
        while not run.done:
            (duel,) = run.ask(1)
            beats = (duel.first, duel.second) in {("a", "b"), ("b", "c"), ("c", "a")}
            answers.append(duel.first if beats else duel.second)
            run.tell(duel, answers[-1])
        result = ask(
            "trio.yaml", "--delta", "0.5", "--no-assume-winner", "--batch", "20", answers=" ".join(answers)
        )
        assert result.exit_code == 1
        assert "There is no Condorcet winner" in result.output

    @each("answers", ["ann q", "ann"])
    def test_stopping_is_no_failure_and_says_how_to_resume(self, answers: str) -> None:
        result = ask("duo.yaml", "--votes", f"{len(answers)}.csv", answers=answers)
        assert result.exit_code == 0
        assert "Result after 1 duel: NOT CERTIFIED" in result.output
        assert f"To resume: duelmatch ask duo.yaml --votes {len(answers)}.csv\n" in result.output

    @each("answers", ["ann", "ann " * 100])
    @pytest.mark.usefixtures("really_drawn_seeds")
    def test_the_seed_is_shown_and_accepted_back(self, answers: str) -> None:
        page = ask("duo.yaml", "--votes", "drawn.csv", answers=answers).output
        (seed,) = re.findall(r"^Seed (\d+); the same answers with this --seed", page, re.MULTILINE)
        assert read("duo.yaml", "--votes", "drawn.csv")["seed"] == int(seed)
        assert ask("duo.yaml", "--votes", "drawn.csv", "--seed", seed).exit_code == 0
        again = ask("duo.yaml", "--seed", seed, "--votes", "again.csv", answers=answers).output
        assert questions(again) == questions(page)
        for path in Path().glob("*.csv"):
            path.unlink()

    def test_a_spent_budget_is_not_certified_and_can_be_raised(self) -> None:
        result = ask("duo.yaml", "--max-duels", "3", answers="ann " * 10)
        assert result.exit_code == 0
        assert "Result after 3 duels: NOT CERTIFIED" in result.output
        assert "--max-duels 6" in result.output
        ask("duo.yaml", "--max-duels", "5", answers="ann " * 10)
        assert len(rows("duo.votes.csv")) == 5
        ask("duo.yaml", "--max-duels", "2", answers="ann " * 10)
        assert len(rows("duo.votes.csv")) == 5

    def test_a_raised_budget_goes_on_with_the_run_that_was_begun(self) -> None:
        """What is asked depends on the budget at the beginning, so that one is kept."""
        ask("team.yaml", "--max-duels", "40", answers="1 " * 100)
        begun = rows()
        assert len(begun) == 40
        assert "NOT CERTIFIED" in ask("team.yaml", "--max-duels", "50", answers="1 " * 100).output
        assert len(rows()) == 50
        assert rows()[:40] == begun

    def test_nothing_to_decide_is_certified_at_once(self) -> None:
        Path("one.yaml").write_text("candidates: [ann]\npositions: [chair]\n", encoding="utf-8")
        assert "Result after 0 duels: certified" in ask("one.yaml").output

    def test_where_it_stops_it_says_what_is_estimated_and_that_it_is_an_estimate(self) -> None:
        output = " ".join(ask("duo.yaml", answers="ann ann q").output.split())
        assert "By an estimate from all answers, without a guarantee: ann (" in output
        standings = read("duo.yaml", answers="q")["standings"]
        assert standings["estimate"] is True
        ((chosen, share),) = [
            max(who.items(), key=lambda one: one[1]) for who in standings["probability"].values()
        ]
        assert (chosen, share > 0.6) == ("ann", True)

    def test_json_is_all_that_stdout_has(self) -> None:
        result = ask("duo.yaml", "--json", answers="ann q")
        answer = json.loads(result.stdout)
        assert answer["status"] == "budget_spent"
        assert (answer["duels"], answer["resumed"], answer["ended"]) == (1, 0, "stopped")
        assert answer["matching"] is None
        assert "Who is better" in result.stderr
        again = read("duo.yaml")
        assert again.keys() == answer.keys()
        assert (again["resumed"], again["ended"]) == (1, "end of input")


class TestUndo:
    def test_takes_the_last_answer_back_and_asks_it_again(self) -> None:
        page = ask("team.yaml", answers="1 2 u 1 1").output
        assert len(rows()) == 3
        shown = questions(page)
        assert shown[3] == shown[1]

    def test_leaves_the_run_as_if_the_answer_had_never_been(self) -> None:
        ask("team.yaml", answers="1 1 2 u u u 2 2 2")
        ask("team.yaml", "--votes", "b.csv", answers="2 2 2")
        assert rows() == rows("b.csv")

    def test_reaches_back_into_earlier_sessions(self) -> None:
        ask("team.yaml", answers="1 1 1")
        result = ask("team.yaml", answers="u u")
        assert len(rows()) == 1
        assert result.output.count("Taken back:") == 2

    def test_of_nothing_says_so(self) -> None:
        assert "There is no answer to take back." in ask("team.yaml", answers="u").output

    def test_asks_the_question_again_even_after_skips(self) -> None:
        page = ask("team.yaml", answers="s s 1 u").output
        shown = questions(page)
        assert (shown[4][0], {*shown[4][1:]}) == (shown[2][0], {*shown[2][1:]})


class TestResuming:
    def test_says_so_and_asks_what_an_uninterrupted_run_would(self) -> None:
        whole = ask("team.yaml", "--votes", "whole.csv", answers="1 " * 12).output
        first = ask("team.yaml", answers="1 " * 5).output
        second = ask("team.yaml", answers="1 " * 7)
        assert "Resuming with 5 answers from team.votes.csv." in second.output
        assert questions(first)[:5] + questions(second.output) == questions(whole)
        assert rows() == rows("whole.csv")

    def test_takes_the_settings_it_was_begun_with(self) -> None:
        options = ["--algorithm", "clucb-borda-pac", "--epsilon", "0.2", "--seed", "7", "--delta", "0.1"]
        ask("team.yaml", *options, answers="1 1")
        again = read("team.yaml")
        assert again["algorithm"] == "clucb-borda-pac"
        assert (again["epsilon"], again["seed"], again["delta"]) == (0.2, 7, 0.1)
        assert ask("team.yaml", *options).exit_code == 0

    @each(
        ("options", "said"),
        [
            (
                ["--algorithm", "car-verify"],
                "it began with --algorithm condorcet, not with --algorithm car-verify",
            ),
            (["--delta", "0.01"], "it began with --delta 0.05, not with --delta 0.01"),
            (["--seed", "3"], "it began with --seed 0, not with --seed 3"),
            (["--schedule", "every"], "it began without --schedule, not with --schedule every"),
            (
                ["--algorithm", "clucb-borda-pac", "--epsilon", "0.1"],
                "it began without --epsilon, not with --epsilon 0.1",
            ),
            (["--assume-winner"], "it began with --no-assume-winner, not with --assume-winner"),
            (["--batch", "1"], "it began with --batch 5, not with --batch 1"),
        ],
    )
    def test_with_other_settings_is_refused(self, options: list[str], said: str) -> None:
        if not Path("team.votes.csv").exists():
            ask("team.yaml", answers="1")
        before = Path("team.votes.csv").read_bytes()
        result = ask("team.yaml", *options, answers="1")
        assert result.exit_code == 3
        assert said in result.stderr
        assert "--votes" in result.stderr
        assert Path("team.votes.csv").read_bytes() == before

    def test_takes_even_a_yes_from_before(self) -> None:
        options = ["--assume-winner", "--batch", "3"]
        ask("team.yaml", *options, answers="1 1 1 1")
        again = read("team.yaml")
        assert (again["assume_winner"], again["batch"], again["epsilon"]) == (True, 3, None)
        result = ask("team.yaml", "--no-assume-winner")
        assert result.exit_code == 3
        assert "it began with --assume-winner, not with --no-assume-winner" in result.stderr

    def test_compares_two_at_a_time(self) -> None:
        result = ask("team.yaml", "--question-size", "3", answers="1")
        assert result.exit_code == 2
        assert "leave out --question-size" in result.stderr

    def test_with_answers_from_before_there_were_other_algorithms(self) -> None:
        """Their settings do not have what is new, and name the algorithm, whatever the default is by now."""
        ask("team.yaml", "--algorithm", "car-cond", answers="1 1 1")
        path = Path("team.votes.csv.run.json")
        recorded = json.loads(path.read_text(encoding="utf-8"))
        old = {name: value for name, value in recorded.items() if name not in ("assume_winner", "batch")}
        path.write_text(json.dumps(old), encoding="utf-8")
        again = read("team.yaml", answers="1")
        assert (again["algorithm"], again["resumed"], again["duels"]) == ("car-cond", 3, 4)

    def test_with_another_problem_is_refused(self) -> None:
        ask("team.yaml", answers="1")
        result = ask("trio.yaml", "--votes", "team.votes.csv", answers="1")
        assert result.exit_code == 3
        assert "trio.yaml has other candidates, positions or edges" in result.stderr

    def test_with_other_texts_is_fine(self) -> None:
        ask("team.yaml", answers="1")
        text = TEAM.replace("[ann,", "[{name: ann, title: Ann},")
        Path("team.yaml").write_text(text, encoding="utf-8")
        assert "Resuming with 1 answer" in ask("team.yaml").output

    def test_other_settings_are_fine_as_long_as_there_is_no_answer(self) -> None:
        ask("team.yaml", answers="q")
        assert ask("team.yaml", "--delta", "0.2", answers="1").exit_code == 0
        assert json.loads(Path("team.votes.csv.run.json").read_text(encoding="utf-8"))["delta"] == 0.2

    def test_without_the_settings_file_is_refused(self) -> None:
        ask("team.yaml", answers="1")
        Path("team.votes.csv.run.json").unlink()
        result = ask("team.yaml", answers="1")
        assert result.exit_code == 3
        assert "team.votes.csv.run.json: This file is missing" in result.stderr

    @each("text", ["{", "[]", "{}", '{"format": 1, "algorithm": "x"}', '{"format": 2}'])
    def test_with_a_damaged_settings_file_is_refused(self, text: str) -> None:
        if not Path("team.votes.csv").exists():
            ask("team.yaml", answers="1")
        problem = fingerprint(dm.load_problem("team.yaml"))
        Path("team.votes.csv.run.json").write_text(text.replace('"x"', f'"{problem}"'), encoding="utf-8")
        result = ask("team.yaml", answers="1")
        assert result.exit_code == 3
        assert result.stderr.count("\n") == 1

    def test_with_answers_that_the_run_would_not_ask_for_is_refused(self) -> None:
        ask("team.yaml", answers="1 1")
        with Path("team.votes.csv").open("a", encoding="utf-8") as file:
            file.write("chair,ann,zoe\n")
        result = ask("team.yaml", answers="1")
        assert result.exit_code == 3
        assert "Answer 3, 'ann' over 'zoe' at 'chair'" in result.stderr

    def test_a_file_that_is_something_else_is_left_alone(self) -> None:
        for text in ("hello", "hello\n", "candidate,position\nann,chair\n"):
            Path("other.csv").write_text(text, encoding="utf-8")
            assert ask("team.yaml", "--votes", "other.csv", answers="1").exit_code == 3
            assert Path("other.csv").read_text(encoding="utf-8") == text

    def test_any_name_survives(self) -> None:
        names = ['say "hi", you', "=1+1", "漢字", "a,b"]
        dm.save_problem(dm.Problem.complete(names, ["s;t"]), "odd.json")
        ask("odd.json", answers="1 2 1 2 1 2 1")
        assert len(load_rankings("odd.votes.csv", dm.load_problem("odd.json"))) == 7
        assert "Resuming with 7 answers" in ask("odd.json", answers="u").output
        assert len(load_rankings("odd.votes.csv", dm.load_problem("odd.json"))) == 6

    def test_a_name_that_a_csv_cannot_hold_is_refused_before_any_question(self) -> None:
        dm.save_problem(dm.Problem.complete([" ann", "bob"], ["s"]), "space.json")
        result = ask("space.json", answers="1")
        assert result.exit_code == 3
        assert "Who is better for" not in result.output

    @each("path", ["nowhere/votes.csv", "votes.txt", "."])
    def test_answers_that_cannot_be_kept_are_refused(self, path: str) -> None:
        result = ask("team.yaml", "--votes", path, answers="1")
        assert result.exit_code in (2, 3)
        assert "Who is better for" not in result.output


class TestTornLines:
    def test_one_is_dropped_with_a_notice_and_asked_again(self) -> None:
        ask("team.yaml", answers="1 1 1")
        whole = Path("team.votes.csv").read_bytes()
        Path("team.votes.csv").write_bytes(whole[:-2])
        result = ask("team.yaml", answers="q")
        assert "was not completely written and does not count" in flat(result.output)
        assert "Resuming with 2 answers" in result.output
        assert Path("team.votes.csv").read_bytes() == b"".join(whole.splitlines(keepends=True)[:3])
        assert "not completely written" not in ask("team.yaml", answers="q").output

    def test_a_name_cut_to_another_is_not_taken_for_it(self) -> None:
        ask("team.yaml", answers="1")
        data = Path("team.votes.csv").read_bytes()
        Path("team.votes.csv").write_bytes(data + b"chair,bob,ann")  # was to be annabel
        result = ask("team.yaml", answers="q")
        assert "Resuming with 1 answer " in result.output
        assert Path("team.votes.csv").read_bytes() == data

    def test_the_only_answer_can_be_torn(self) -> None:
        Path("team.votes.csv").write_bytes(b"position,winner,loser\nchair,an")
        result = ask("team.yaml", answers="1")
        assert result.exit_code == 0
        assert len(rows()) == 1


@POSIX
class TestARealProcess:
    def test_killed_in_the_middle_loses_nothing_and_is_resumed(self, asking: Any) -> None:
        whole = ask("team.yaml", "--votes", "whole.csv", answers="1 " * 9).output
        seen: list[tuple[str, str, str]] = []
        for answers in (4, 5):
            process = asking("team.yaml")
            for number in range(answers):
                process.wait_for_question()
                assert len(rows()) == len(seen) + number  # on disk before the next question is shown
                process.answer("1")
            process.wait_for_question()
            assert process.end(signal.SIGKILL) == -signal.SIGKILL
            seen += questions(process.page)[:answers]
            assert len(rows()) == len(seen)
        assert "Resuming with 4 answers" in process.page
        assert seen == questions(whole)[:9]
        assert rows() == rows("whole.csv")

    def test_killed_at_any_moment_leaves_a_run_that_can_be_resumed(self, asking: Any) -> None:
        """No wait for the prompts: the kill may hit it while it writes."""
        process = asking("team.yaml")
        process.wait_for_question()
        assert process.process.stdin is not None
        process.process.stdin.write(b"1\n" * 2000)
        process.process.stdin.flush()
        process.wait_for_question(20)
        process.end(signal.SIGKILL)
        answered = Path("team.votes.csv").read_bytes().count(b"\n") - 1
        assert answered >= 20
        again = ask("team.yaml", answers="q")
        assert again.exit_code == 0
        assert f"Resuming with {answered:,} answers" in again.output

    def test_keeps_a_second_one_from_the_same_file(self, asking: Any) -> None:
        process = asking("team.yaml")
        process.wait_for_question()
        second = ask("team.yaml", answers="1")
        assert second.exit_code == 3
        assert f"in use by process {process.process.pid}" in second.stderr
        assert rows() == []
        process.end(signal.SIGKILL)
        assert ask("team.yaml", answers="1").exit_code == 0
        assert not Path("team.votes.csv.lock").exists()

    def test_ctrl_c_reports_and_is_exit_code_130(self, asking: Any) -> None:
        process = asking("team.yaml")
        process.wait_for_question()
        process.answer("1")
        process.wait_for_question()
        assert process.end(signal.SIGINT) == 130
        process.close()
        assert "Result after 1 duel: NOT CERTIFIED" in process.page
        assert "Traceback" not in process.page
        assert len(rows()) == 1

    def test_on_a_terminal(self) -> None:
        import pty

        master, slave = pty.openpty()
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "80", "NO_COLOR": "1"}
        process = subprocess.Popen(
            [*PROGRAM, "ask", "team.yaml"], stdin=slave, stdout=slave, stderr=slave, env=environment
        )
        os.close(slave)
        page = ""
        try:
            for answer in ("1", "2", "u", "q"):
                start, deadline = len(page), time.monotonic() + 60
                while PROMPT not in page[start:] and time.monotonic() < deadline:
                    if select.select([master], [], [], 1)[0]:
                        page += os.read(master, 65536).decode()
                os.write(master, f"{answer}\n".encode())
            while process.poll() is None or select.select([master], [], [], 0.2)[0]:
                try:
                    page += os.read(master, 65536).decode()
                except OSError:  # what Linux says when the other side is closed
                    break
            assert process.wait(60) == 0
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            os.close(master)
        assert "Taken back:" in page
        assert "Result after 1 duel" in page
        assert not re.search(r"\x1b\[[0-9;]*3\dm", page)  # no colour
        assert len(rows()) == 1

    def test_without_any_input_at_all(self) -> None:
        done = shell("duelmatch ask team.yaml <&-")
        assert done.returncode == 0, done.stderr
        assert "Result after 0 duels: NOT CERTIFIED" in done.stdout


def test_every_answer_is_flushed_to_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[bytes] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        if Path("team.votes.csv").exists():
            flushed.append(Path("team.votes.csv").read_bytes())

    monkeypatch.setattr(os, "fsync", fsync)
    ask("team.yaml", answers="1 1 1")
    sizes = {data.count(b"\n") - 1 for data in flushed}
    assert {1, 2, 3} <= sizes
