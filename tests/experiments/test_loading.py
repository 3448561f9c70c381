"""An experiment file becomes a grid; whatever is wrong with it is said in a sentence."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import duelmatch as dm
from duelmatch import experiments
from experiments.small import small_file

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
PLAIN = {"problems": [{"file": "example:lineup"}], "algorithms": [{"name": "car-cond"}]}


def test_the_grid_is_every_problem_with_every_algorithm_and_delta(tmp_path: Path) -> None:
    experiment = experiments.load(small_file(tmp_path))
    assert len(experiment.cells) == 2 * 2 * 2
    assert experiment.runs == 8 * 6
    assert {cell.instance.label for cell in experiment.cells} == {"even (gap 0.3)", "even (gap 0.45)"}
    assert experiment.variants[0].label == "clucb-borda-pac (epsilon 0.2)"


def test_seeds_depend_on_the_coordinates_alone(tmp_path: Path) -> None:
    """Not on the process, its hash seed, or the order of the grid."""
    path = small_file(tmp_path)
    code = (
        "import sys; from duelmatch import experiments\n"
        "print([cell.seed(r) for cell in experiments.load(sys.argv[1]).cells for r in range(3)])"
    )
    seeds = [
        subprocess.run(
            [sys.executable, "-c", code, path],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert seeds[0] == seeds[1]
    experiment = experiments.load(path)
    every = [cell.seed(r) for cell in experiment.cells for r in range(50)]
    assert str([cell.seed(r) for cell in experiment.cells for r in range(3)]) == seeds[0].strip()
    assert len(set(every)) == len(every)
    longer = experiments.load(small_file(tmp_path, deltas="[0.01, 0.05, 0.2]"))
    assert {cell.key for cell in experiment.cells} < {cell.key for cell in longer.cells}


def test_another_seed_gives_other_runs(tmp_path: Path) -> None:
    one = experiments.load(small_file(tmp_path))
    other = experiments.load(small_file(tmp_path, seed="8"))
    assert not {cell.seed(0) for cell in one.cells} & {cell.seed(0) for cell in other.cells}


def test_comments_change_nothing_and_problems_change_the_fingerprint(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    before = experiments.load(path).fingerprint
    path.write_text("# a comment\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert experiments.load(path).fingerprint == before
    team = tmp_path / "team.yaml"
    for probability in ("0.6", "0.7"):
        team.write_text(f"edges: {{chair: [ann, bob]}}\npreferences: {{chair: [[ann, bob, {probability}]]}}")
        file = tmp_path / "team.toml"
        file.write_text('[[problems]]\nfile = "team.yaml"\n[[algorithms]]\nname = "car-cond"\n')
        assert experiments.load(file).fingerprint != before
        before = experiments.load(file).fingerprint


def test_a_generator_draws_instances_that_differ() -> None:
    table = {"generator": "planted", "candidates": 3, "positions": 2, "instances": 3}
    experiment = experiments.from_dict(PLAIN | {"problems": [table]})
    assert [instance.label for instance in experiment.instances] == [
        f"planted (instance {number})" for number in (1, 2, 3)
    ]
    assert len({instance.fingerprint for instance in experiment.instances}) == 3


def test_seeds_of_a_generator_can_be_given() -> None:
    table = {"generator": "uniform", "candidates": 3, "positions": 2, "seed": [4, 5]}
    experiment = experiments.from_dict(PLAIN | {"problems": [table]})
    assert experiment.instances[1].preferences == dm.instances.uniform(3, 2, seed=5)


def test_problems_can_be_preferences_in_python() -> None:
    prefs = dm.instances.paper_example()
    experiment = experiments.from_dict(PLAIN | {"problems": [{"name": "paper", "preferences": prefs}]})
    assert experiment.instances[0].label == "paper"


WITHOUT_SLOPE = defaultdict(set, {"random-instances": {"condorcet"}})
"""Its instances have three different gaps, which are too few, and it has no bound."""


@pytest.mark.parametrize("file", sorted(GALLERY.glob("*.toml")), ids=lambda file: file.stem)
def test_the_experiments_of_the_gallery_can_be_run_again(file: Path) -> None:
    """Their slopes are beside them: a row for every series that has one."""
    labels = {variant.label for variant in experiments.load(file).variants} - WITHOUT_SLOPE[file.stem]
    with file.with_suffix(".csv").open(newline="", encoding="utf-8") as slopes:
        assert {row["algorithm"] for row in csv.DictReader(slopes)} == labels


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"repetition": 3}, "unknown key 'repetition'.*Did you mean 'repetitions'"),
        ({"repetitions": 0}, "repetitions must be a whole number of at least 1, not 0"),
        ({"seed": 1.5}, "seed must be a whole number of at least 0"),
        ({"deltas": [0.1, 2]}, "A delta must lie between 0 and 1, not 2"),
        ({"deltas": []}, "The list of deltas is empty"),
        ({"deltas": [0.1, 0.1]}, "Two deltas are both '0.1'"),
        ({"max_duels": 0}, "max_duels must be a whole number of at least 1"),
        ({"title": 3}, "title must be text"),
        ({"problems": None}, "An experiment needs problems, such as"),
        ({"problems": []}, "The list of problems is empty"),
        ({"problems": [{}]}, "Problem 1: it needs exactly one of generator, file"),
        ({"problems": [{"file": 3}]}, "file must be a path in quotes"),
        ({"problems": [{"file": "no.yaml"}]}, "Problem 1: .*no.yaml: There is no such file"),
        ({"problems": [{"generator": "plant"}]}, "there is no generator 'plant'"),
        ({"problems": [{"generator": "planted", "gaps": 1}]}, "unknown key 'gaps'.*Did you mean 'gap'"),
        ({"problems": [{"generator": "planted", "candidates": 3}]}, "'planted' needs 'positions'"),
        ({"problems": [{"generator": "equal_gaps", "positions": 2.5}]}, "positions must be a whole number"),
        ({"problems": [{"generator": "equal_gaps", "positions": []}]}, "The list of 'positions' is empty"),
        ({"problems": [{"generator": "equal_gaps", "positions": 2, "gap": "x"}]}, "gap must be a number"),
        ({"problems": [{"generator": "equal_gaps", "positions": 1}]}, "at least 2 positions"),
        ({"problems": [{"file": "example:lineup"}] * 2}, "Two instances are both 'example:lineup'"),
        (
            {"problems": [{"file": "example:lineup"}, {"file": "example:lineup", "name": "b"}]},
            "are the same instance",
        ),
        ({"algorithms": [{"name": "car"}]}, "There is no algorithm 'car'"),
        ({"algorithms": [{"epsilon": 0.1}]}, "An algorithm has no 'name'"),
        ({"algorithms": [{"name": "car-cond", "epsilon": 0.1}]}, "car-cond has no parameter 'epsilon'"),
        ({"repetitions": 10**9 + 1}, "runs are allowed"),
    ],
)
def test_what_is_wrong_is_said(changed: dict[str, object], sentence: str) -> None:
    with pytest.raises(dm.DuelmatchError, match=sentence):
        experiments.from_dict(PLAIN | changed)


def test_problems_can_be_real_data(tmp_path: Path) -> None:
    """Paths start from the folder of the experiment."""
    (tmp_path / "results.csv").write_text("position,winner,loser\nchair,ann,bob\nchair,ann,bob\n")
    (tmp_path / "pets.soc").write_text("# NUMBER ALTERNATIVES: 2\n3: 2,1\n1: 1,2\n")
    (tmp_path / "real.toml").write_text(
        '[[problems]]\nvotes = "results.csv"\nmethod = "frequencies"\nsmoothing = 2\n'
        '[[problems]]\npreflib = "pets.soc"\n[[algorithms]]\nname = "car-cond"\n'
    )
    votes, pets = experiments.load(tmp_path / "real.toml").instances
    assert votes.preferences.probability("chair", "ann", "bob") == 0.75
    assert pets.preferences.probability("winner", "2", "1") == 0.75


def test_broken_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("seed = = 1")
    with pytest.raises(dm.FileError, match=r"bad\.toml: The TOML is broken: .*line 1"):
        experiments.load(path)
