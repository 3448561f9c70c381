"""docs/paper.md leaves nothing of the paper out; what it names is there, as on every page (test_docs.py)."""

from __future__ import annotations

import inspect
import re
from math import floor, log2
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import numpy as np

import duelmatch as dm
import listings
from cases import each

PROJECT = Path(__file__).parents[1]
PAGE = (PROJECT / "docs" / "paper.md").read_text(encoding="utf-8")

LABELS = {
    "Equation": """eq:define_f eq:def_borda_score eq:def_borda_winner eq:reduction eq:maxmin
        equ:condorcet-oracle-optimization equ:cr-carcond equ:lucb-carcond eq:T_leq eq:borda_sample_bound""",
    "Definition": """def:sampler def:width def:gap-borda def:hardness-borda def:gap-carcond - - -
        def:hardness-borda def:sampling-nice""",
    "Proposition": "prop:proj prop:fw",
    "Lemma": """lemma:clucb_bias lem:sampling-nice-high-prob lem:key-correctness lem:carcond-correct
        lem:carcond-sample lem:function-bounded lem:function-lipschitz
        lem:approximation-projection-detailed lem:minimax-oracle-main lemma:verify lemma:verifycorrect""",
    "Theorem": "thm:borda_ub thm:borda_ub_exact thm:borda_lb thm:carcond thm:parallel thm:cond_lb",
}
"""What the paper numbers, by the labels of its source in order; - where there is none."""

LISTINGS = {
    "alg:borda-online": 23,
    "alg:condorcet-online": 23,
    "alg:condorcet-parallel": 12,
    "alg:condorcet-verify": 17,
    "alg:borda_exact": 30,
    "alg:minimax-offline-detailed": 10,
    "alg:app-pro-fw": 10,
}
"""How many lines each listing has, in order."""

OBJECT = re.compile(r"\{py:obj\}`~?([\w.]+)`")
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
FRAGMENT = re.compile(r"`([^`]+)`")


def rows(text: str) -> list[list[str]]:
    """Return the cells of every row of the tables in a text, without headings."""
    lines = (line for line in text.splitlines() if line.startswith("| "))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def rows_of(kind: str) -> list[list[str]]:
    before_the_slips = PAGE.partition("## Slips of the paper")[0]
    return [row for row in rows(before_the_slips) if re.fullmatch(rf"{kind} \d+", row[0])]


def section(number: int) -> str:
    found = re.search(rf"^### Algorithm {number}: .*?(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]


def lines_of(number: int) -> list[list[str]]:
    return [row for row in rows(section(number)) if row[0][0].isdigit()]


@each("kind", LABELS)
def test_everything_that_the_paper_numbers_has_its_row_in_order(kind: str) -> None:
    labels = LABELS[kind].split()
    found = rows_of(kind)
    assert [row[0] for row in found] == [f"{kind} {number + 1}" for number in range(len(labels))]
    for label, row in zip(labels, found, strict=True):
        assert row[1].startswith(f"`{label}`") if label != "-" else row[1] == ""


@each("number", range(1, len(LISTINGS) + 1))
def test_every_line_of_a_listing_has_its_place(number: int) -> None:
    label, length = list(LISTINGS.items())[number - 1]
    assert f"Label `{label}`" in section(number)
    covered = []
    for row in lines_of(number):
        first, _, last = row[0].partition("-")
        covered += range(int(first), int(last or first) + 1)
    assert covered == list(range(1, length + 1))
    assert f"### Algorithm {len(LISTINGS) + 1}" not in PAGE


def test_every_row_says_where_its_code_is_or_that_there_is_none_and_names_a_test() -> None:
    for kind in LABELS:
        for row in rows_of(kind):
            assert OBJECT.search(row[3]) or "not in code" in row[3], row[0]
            assert TEST.search(row[4]) or "through the listings" in row[4], row[0]


def test_what_is_used_without_a_number_has_its_test_too() -> None:
    unnumbered = PAGE.partition("## What is used without a number")[2].partition("\n## ")[0]
    for row in rows(unnumbered)[1:]:
        assert TEST.search(row[2]), row[0]


@each("number", range(1, len(LISTINGS) + 1))
def test_every_line_of_a_listing_has_code_and_every_listing_a_test(number: int) -> None:
    assert TEST.search(section(number))
    for row in lines_of(number):
        assert len(row) == 4, row
        assert all(row[:3]), row


@each("number", range(1, len(LISTINGS) + 1))
def test_fragments_of_code_are_copied_from_the_modules_named_in_their_section(number: int) -> None:
    sources = [
        " ".join(inspect.getsource(module_of(name)).split()) for name in OBJECT.findall(section(number))
    ]
    for row in lines_of(number):
        for fragment in FRAGMENT.findall(OBJECT.sub("", row[2])):
            assert any(fragment in source for source in sources), fragment


def module_of(name: str) -> ModuleType:
    while True:
        try:
            if isinstance(found := resolve_name(name), ModuleType):
                return found
        except AttributeError:
            pass
        name = name.rpartition(".")[0]


def test_the_exact_algorithm_goes_on_after_the_epoch_in_which_theorem_2_ends_it() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    preferences = dm.Preferences(problem, {("chair", "ann", "bob"): 0.8})
    smallest = min(dm.theory.borda_gaps(preferences).values())
    last = floor(log2(problem.graph.positions / smallest)) + 1
    for seed in range(20):
        opponents, answers = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
        epoch = listings.clucb_epoch(problem.graph, 0.1 / (2 * last**2), 2.0**-last, True, opponents)
        answer, status = None, ""
        while not status:
            try:
                duel = epoch.send(answer)
                answer = answers.random() < preferences.matrix[duel]
            except StopIteration as end:
                status, _ = end.value
        assert (last, status) == (2, "within_epsilon")
