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
    Path("pets.yaml").write_text("candidates: [Newt, Dog, Cat]\npositions: [best]\n", encoding="utf-8")
    open_ended = orders + "5: 1\n4: 3,{1,2}\n1: 2,1\n"
    found = verdict(open_ended, name="pets.toi", problem="pets.yaml")
    assert found["status"] == "budget_spent"
    assert (found["voters"], found["open_answers"]) == (3, 3 + 0 + 2)
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
        ("voter,position,ranking\neve,chair,ann\n", "line 2: A ranking needs two candidates or more"),
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
