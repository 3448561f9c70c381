"""duelmatch decide: the verdict from a spreadsheet, and one sentence for each row that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import duelmatch as dm
import panels
from duelmatch.answers import ranking_text
from duelmatch.cli import main

TEAM = "candidates: [ann, bob, cyd]\npositions: [chair, editor]\n"
RANKINGS = """voter,position,ranking
eve,chair,ann > bob > cyd
ned,chair,ann > bob = cyd
zoe,chair,bob > cyd > ann
eve,editor,cyd > bob > ann
ned,editor,cyd > ann > bob
zoe,editor,bob = cyd > ann
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("team.yaml").write_text(TEAM, encoding="utf-8")


def decide(answers: str, *options: str, name: str = "answers.csv", problem: str = "team.yaml") -> Result:
    Path(name).write_text(answers, encoding="utf-8")
    return CliRunner().invoke(main, ["decide", problem, name, *options])


def verdict(answers: str, *options: str, **names: str) -> dict[str, Any]:
    done = decide(answers, "--json", *options, **names)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.output)
    return found


def test_rankings_of_every_judge_decide() -> None:
    found = verdict(RANKINGS)
    assert (found["status"], found["matching"]) == ("decided", {"chair": "ann", "editor": "cyd"})
    assert (found["voters"], found["answers"], found["open_answers"]) == (3, 6, 0)
    assert found["closest"]["votes"] == 1
    assert found["closest"]["ahead"] == pytest.approx(1 / 3 / 2 / 2)
    printed = decide(RANKINGS).output
    assert "Decided: this line-up beats every other" in printed
    assert "(1 vote in all) at least" in printed.replace("\n", " ")


def test_duels_ties_and_columns_in_any_order_say_the_same() -> None:
    rows = ["loser,winner,tie,position,voter"]
    for line in RANKINGS.splitlines()[1:]:
        voter, position, ranking = line.split(",")
        from duelmatch.answers import Answer, ranking_from

        for better, worse, tie in Answer(position, ranking_from(ranking)).pairs():
            rows.append(f"{worse},{better},{'yes' if tie else ''},{position},{voter}")
    one, other = verdict(RANKINGS), verdict("\n".join(rows), "--no-consistent")
    assert {**one, "answers": 0} == {**other, "answers": 0}


def test_what_is_open_is_told_and_whose() -> None:
    some = "\n".join(RANKINGS.splitlines()[:3]) + "\n"
    found = verdict(some, "--voter", "zoe", "--voter", "tom")
    assert found["status"] == "budget_spent"
    assert found["shortfall"] > 0
    assert found["decided"] == {}
    assert found["possible"] > 1
    assert found["fewest_questions"] == sum(one["answers"] for one in found["needed"])
    assert set(found["open_answers_of"]) == {"eve", "ned", "zoe", "tom"}
    for one in found["needed"]:
        assert one["first"] == found["matching"][one["position"]]
        assert one["answers"] <= len(one["voters"])
    printed = decide(some).output
    assert "Not decided yet" in printed
    assert "can still win" in printed
    assert "could settle it" in printed


def test_the_line_up_that_falls_short_least_may_be_one_that_cannot_win() -> None:
    beaten = """voter,position,ranking
eve,chair,ann > cyd > bob
ned,chair,bob > cyd
zoe,chair,ann > bob
eve,editor,cyd > ann > bob
ned,editor,bob > cyd
zoe,editor,bob > cyd
"""
    found = verdict(beaten)
    assert found["status"] == "budget_spent"
    assert found["possible"] == len(found["possible_winners"]) == 4
    assert found["matching"] not in found["possible_winners"]
    assert found["may_win"] is False
    printed = " ".join(decide(beaten).output.split())
    assert "4 line-ups can still win" in printed
    assert "The line-up above is not one that can: it is certain to be beaten by another." in printed
    some = "\n".join(RANKINGS.splitlines()[:3]) + "\n"
    assert verdict(some)["may_win"] is True
    assert "The line-up above is not" not in decide(some).output


def test_the_answers_needed_would_settle_it() -> None:
    some = RANKINGS.splitlines()[:4]
    found = verdict("\n".join(some))
    for one in found["needed"]:
        for voter in one["voters"][: one["answers"]]:
            some.append(f"{voter},{one['position']},{one['first']} > {one['second']}")
    then = verdict("\n".join(some))
    assert then["status"] in ("decided", "unbeaten")
    assert then["matching"] == found["matching"]


def test_what_is_missing_can_be_left_out() -> None:
    some = "\n".join(RANKINGS.splitlines()[:5])
    assert verdict(some)["status"] == "budget_spent"
    assert verdict(some, "--missing", "dropped")["open_answers"] == 0
    assert verdict(some, "--missing", "dropped")["status"] == "decided"


def test_random_panels_are_decided_as_the_count_of_all_answers_says() -> None:
    for seed in range(12):
        panel, ranks = panels.random_panel(seed, most=4)
        dm.save_problem(panel.problem, "random.yaml")
        rows = ["voter,position,winner,loser,tie"]
        for (voter, position, first, second), opinion in panels.opinions_of(panel).items():
            two = (second, first) if opinion < 0 else (first, second)
            rows.append(",".join((voter, position, *two, "yes" if opinion == 0 else "no")))
        weights = panels.weights_of(panel)
        count = panels.Count(panel.problem, panels.opinions_of(panel), dict.fromkeys(weights, 1))
        for criterion in ("condorcet", "borda"):
            options = ["--criterion", criterion, "--missing", "dropped"]
            if not ranks:
                options.append("--no-consistent")
            found = verdict("\n".join(rows), *options, problem="random.yaml")
            lineup = tuple(found["matching"].values())
            assert found["status"] != "budget_spent", seed
            assert count.agrees(criterion, found["status"], lineup, found["shortfall"]), (seed, criterion)


def test_a_chair_with_two_votes() -> None:
    rows = "voter,position,winner,loser,weight\neve,chair,ann,bob,2\nned,chair,bob,ann,1\n"
    Path("duo.yaml").write_text("candidates: [ann, bob]\npositions: [chair]\n", encoding="utf-8")
    assert verdict(rows, problem="duo.yaml")["matching"] == {"chair": "ann"}
    without = rows.replace("position,", "").replace("chair,", "")
    assert verdict(without, problem="duo.yaml")["matching"] == {"chair": "ann"}


def test_preflib_files_stand_alone_or_beside_a_problem() -> None:
    names = enumerate(("Cat", "Dog", "Newt"), start=1)
    orders = "# NUMBER ALTERNATIVES: 3\n" + "".join(f"# ALTERNATIVE NAME {n}: {name}\n" for n, name in names)
    Path("pets.soc").write_text(orders + "6: 1,2,3\n3: 3,1,2\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["decide", "pets.soc", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert (found["status"], found["matching"]) == ("decided", {"winner": "Cat"})
    assert (found["voters"], found["answers"]) == (9, 9)
    assert "9 judges, 9 answers" in CliRunner().invoke(main, ["decide", "pets.soc"]).output
    Path("pets.yaml").write_text("candidates: [Newt, Dog, Cat]\npositions: [best]\n", encoding="utf-8")
    open_ended = orders + "5: 1\n4: 3,{1,2}\n1: 2,1\n"
    found = verdict(open_ended, name="pets.toi", problem="pets.yaml")
    assert found["status"] == "budget_spent"
    assert (found["voters"], found["answers"], found["open_answers"]) == (10, 5, 5 * 3 + 0 + 2)
    assert "about one position" in decide(open_ended, name="pets.toi").output


def test_standard_input() -> None:
    done = CliRunner().invoke(main, ["decide", "team.yaml", "-", "--json"], input=RANKINGS)
    assert json.loads(done.output)["status"] == "decided"
    done = CliRunner().invoke(main, ["decide", "-", "-"])
    assert (done.exit_code, "Only one of" in done.output) == (2, True)
    done = CliRunner().invoke(main, ["decide", "-", "-"])
    assert done.exit_code == 2
    assert CliRunner().invoke(main, ["decide", "team.yaml"]).exit_code == 2


def test_names_with_signs_in_them_are_quoted() -> None:
    problem = dm.Problem.complete(["a > b", 'say "hi"', "c=d"], ["chair"])
    dm.save_problem(problem, "odd.yaml")
    ranking = ranking_text(["c=d", ("a > b", 'say "hi"')])
    Path("odd.csv").write_text('voter,ranking\neve,"' + ranking.replace('"', '""') + '"\n', encoding="utf-8")
    done = CliRunner().invoke(main, ["decide", "odd.yaml", "odd.csv", "--json"])
    assert json.loads(done.output)["matching"] == {"chair": "c=d"}


def test_a_name_with_signs_in_it_that_is_not_quoted_is_recognised() -> None:
    dm.save_problem(dm.Problem.complete(["A", "B", "C = D"], ["chair"]), "odd.yaml")
    done = decide("voter,ranking\neve,A > C = D\n", problem="odd.yaml")
    assert done.exit_code == 3
    assert (
        "There is no candidate 'C'. A name that has > or = in it is put in quotes: \"C = D\"." in done.output
    )
    assert verdict('voter,ranking\neve,B > A > "C = D"\n', problem="odd.yaml")["matching"] == {"chair": "B"}
    assert "quotes" not in decide("voter,ranking\neve,A > E\n", problem="odd.yaml").output


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ("", "The file is empty."),
        ("voter;position;ranking\n", "Separate the columns with commas."),
        ("voter,position,rankin\n", "line 1: the header must be position,winner,loser or position,ranking"),
        ("voter,position,rankin\n", "Did you mean 'ranking'?"),
        ("voter,position,winner\n", ", perhaps with voter, tie and weight, not 'voter,position,winner'."),
        ("voter,position,position,ranking\n", "line 1: the column 'position' is there twice."),
        (
            "voter,ranking\neve,ann > bob\n",
            "line 1: there is no column 'position', and not only one position.",
        ),
        ("voter,position,ranking\n", "There are no answers in it."),
        ("position,ranking\nchair,ann > bob\n", "line 2: the answers of a panel need a voter."),
        ("voter,position,ranking\neve,chair\n", "line 2: 3 columns are expected, but there are 2."),
        ("voter,position,ranking\neve,,ann > bob\n", "line 2: the position is empty."),
        ("voter,position,ranking\neve,cook,ann > bob\n", "line 2: There is no position 'cook'."),
        ("voter,position,ranking\n\neve,chair,ann > tom\n", "line 3: There is no candidate 'tom'."),
        ("voter,position,ranking\neve,chair,ann > > bob\n", "line 2: 'ann > > bob' is not a ranking such as"),
        (
            "voter,position,ranking\neve,chair,ann\n",
            "line 2: 'ann' is not a ranking: it needs at least two candidates, separated by >.",
        ),
        ("voter,position,ranking\neve,chair,ann > bob = ann\n", "line 2: 'ann' is ranked twice in"),
        ("voter,position,winner,loser\neve,chair,ann,ann\n", "line 2: 'ann' cannot win against itself."),
        ("voter,position,winner,loser,tie\neve,chair,ann,bob,perhaps\n", "line 2: tie must be yes or no"),
        ("voter,position,winner,loser,weight\neve,chair,ann,bob,-1\n", "line 2: the weight must be above 0"),
        (
            "voter,position,winner,loser,weight\neve,chair,ann,bob,1\neve,chair,ann,cyd,2\n",
            "line 3: 'eve' has weight 2 here, and 1 before.",
        ),
        (
            "voter,position,ranking\neve,chair,ann > bob\nned,chair,ann > bob\neve,chair,bob > cyd > ann\n",
            "line 4: 'eve' says something else of 'ann' and 'bob' at 'chair' than at line 2.",
        ),
        ('voter,position,ranking\neve,chair,"ann > bob\n', "The CSV is broken at line"),
    ],
)
def test_a_row_that_is_wrong_is_named_in_one_sentence(answers: str, sentence: str) -> None:
    done = decide(answers)
    assert done.exit_code == 3
    assert done.output.startswith("Error: answers.csv: ")
    assert sentence in done.output
    assert done.output.count("\n") == 1


class TestWhatAStudyExports:
    """What the verdict of a panel depends on beside its answers is in the file, too."""

    @pytest.fixture
    def study(self) -> str:
        """A study of three judges, one with five votes, one with a conflict, and one who says nothing."""
        voters = ["--voter", "eve", "--voter", "ned", "--voter", "zoe", "--weight", "eve=5"]
        run("study", "create", "team.yaml", *voters, "--conflict", "ned=ann")
        best = {"chair": min, "editor": max}
        for voter in ("eve", "ned"):
            while question := json.loads(run("study", "ask", "--voter", voter, "--json"))["question"]:
                answer = best[question["position"]](question["candidates"])
                run("study", "tell", str(question["number"]), answer, "--voter", voter)
        return run("study", "status", "--json")

    def test_decides_what_the_study_has_decided(self, study: str) -> None:
        there = json.loads(study)
        for options in ([], ["--table"]):
            run("study", "export", "answers.csv", *options)
            here = json.loads(run("decide", "team.yaml", "answers.csv", "--json"))
            assert {name: here[name] for name in ("status", "matching", "shortfall", "voters")} == {
                name: there[name] for name in ("status", "matching", "shortfall", "voters")
            }
            assert there["status"] == "decided"

    def test_a_judge_who_left_without_a_vote_is_not_counted_anywhere(self, study: str) -> None:
        run("study", "leave", "zoe", "--drop-open")
        run("study", "close")
        assert "Voters 2 (and 1 left without a vote)" in " ".join(run("study", "status").split())
        run("study", "export", "answers.csv")
        assert json.loads(run("decide", "team.yaml", "answers.csv", "--json"))["voters"] == 2
        assert "2 judges," in run("decide", "team.yaml", "answers.csv")
        assert "3 judges," in run("decide", "team.yaml", "answers.csv", "--voter", "kim")
        dropped = run("decide", "team.yaml", "answers.csv", "--missing", "dropped", "--voter", "kim")
        assert "1 judge," in dropped, "nobody but eve was needed"

    def test_three_votes_of_one_judge_outweigh_those_of_two(self) -> None:
        Path("pair.yaml").write_text("candidates: [ann, bob]\npositions: [chair]\n", encoding="utf-8")
        run(
            "study",
            "create",
            "pair.yaml",
            "--voter",
            "ned",
            "--voter",
            "zoe",
            "--voter",
            "eve",
            "--weight",
            "eve=3",
        )
        for voter, winner in (("ned", "bob"), ("zoe", "bob"), ("eve", "ann")):
            run("study", "vote", "--voter", voter, text=f"{winner}\n")
        run("study", "export", "answers.csv", "--voters")
        assert Path("answers.csv").read_text(encoding="utf-8").splitlines() == [
            "voter,position,ranking,weight",
            "ned,chair,bob > ann,1",
            "zoe,chair,bob > ann,1",
            "eve,chair,ann > bob,3",
        ]
        assert json.loads(run("decide", "pair.yaml", "answers.csv", "--json"))["matching"] == {"chair": "ann"}
        run("estimate", "answers.csv", "--out", "estimated.yaml", "--method", "frequencies")
        assert dm.load_preferences("estimated.yaml").probability("chair", "ann", "bob") > 0.5

    def test_the_command_that_counts_it_is_named(self) -> None:
        run("study", "create", "team.yaml", "--voter", "eve", "--criterion", "borda")
        said = run("study", "export", "answers.csv")
        assert "duelmatch decide PROBLEM answers.csv --criterion borda" in " ".join(said.split())

    def test_whoever_withdrew_is_out(self) -> None:
        withdrawn = RANKINGS.replace("ranking\n", "ranking,withdrawn\n")
        withdrawn = "\n".join(line + "," * (number > 0) for number, line in enumerate(withdrawn.splitlines()))
        found = verdict(withdrawn + "\n,,,cyd\n")
        assert "cyd" not in found["matching"].values()
        assert found["open_answers"] == 0

    @pytest.mark.parametrize(
        ("row", "sentence"),
        [
            ("amy,,,x,,", "the weight must be a number"),
            ("amy,,,,,", "the weight is empty"),
            ("amy,,,1,dan,", "there is no candidate 'dan' to have a conflict with"),
            ("amy,,,1,,maybe", "missing must be open or dropped, not 'maybe'"),
            ("eve,,,2,,", "'eve' has weight 2 in a row without an answer, and 1 elsewhere"),
            (",,,1,bob,", "the voter is empty"),
        ],
    )
    def test_odd_rows_about_judges_are_refused_in_a_sentence(self, row: str, sentence: str) -> None:
        text = f"voter,position,ranking,weight,conflict,missing\neve,chair,ann > bob,1,,\n{row}\n"
        done = decide(text)
        assert done.exit_code == 3
        assert sentence in " ".join(done.output.split())


def run(*arguments: str, text: str | None = None) -> str:
    done = CliRunner().invoke(main, arguments, input=text)
    assert done.exit_code == 0, done.output
    return done.stdout
