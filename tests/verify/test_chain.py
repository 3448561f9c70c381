"""No entry of a log can be changed, removed, moved or repeated without being found."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import duelmatch as dm
from duelmatch.errors import FileError
from duelmatch.verify import verify
from duelmatch.verify.chain import DamagedError, received
from logs import PYTHON, chained, forgeries, leaves, log_of, said_of

PANEL = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
SETTINGS = {
    "algorithm": "panel",
    "criterion": "condorcet",
    "voters": [{"id": "eve"}, {"id": "ned", "weight": 2}],
}
QUESTIONS = [
    (voter, position, pair)
    for voter in ("eve", "ned")
    for position in PANEL.positions
    for pair in (["ann", "bob"], ["bob", "cyd"])
]
EVENTS = [
    event
    for number, (voter, position, pair) in enumerate(QUESTIONS, start=1)
    for event in (
        {
            "kind": "asked",
            "voter": voter,
            "question": number,
            "position": position,
            "candidates": pair,
            "until": None,
        },
        {"kind": "answered", "voter": voter, "question": number, "answer": [[name] for name in pair]},
    )
]
LOG = log_of(PANEL, SETTINGS, EVENTS)
entries = st.integers(0, len(LOG) - 1)


def changed(line: str, path: tuple[Any, ...]) -> str:
    entry = json.loads(line)
    inner = entry
    for key in path[:-1]:
        inner = inner[key]
    value = inner[path[-1]]
    inner[path[-1]] = value + 1 if isinstance(value, int | float) else f"{value}x"
    return json.dumps(entry)


def test_a_log_that_nobody_has_touched_is_whole() -> None:
    report = verify(LOG)
    assert (report.damage, report.entries) == (None, len(LOG))
    assert report.found is not None
    assert report.found.status == "unbeaten"


@given(st.data())
def test_every_changed_value_is_found(data: st.DataObject) -> None:
    place = data.draw(entries)
    path = data.draw(st.sampled_from(list(leaves(json.loads(LOG[place])))))
    log = [*LOG[:place], changed(LOG[place], path), *LOG[place + 1 :]]
    if place == 0 and path == ("v",):
        with pytest.raises(FileError, match="format 2, not 3"):
            verify(log)
        return
    assert f"Entry {place + 1} " in str(verify(log).damage)


@given(entries, st.text(max_size=5))
def test_every_value_that_is_added_is_found(place: int, key: str) -> None:
    entry = json.loads(LOG[place])
    entry["data"][f"{key} more"] = 1
    damage = verify([*LOG[:place], json.dumps(entry), *LOG[place + 1 :]]).damage
    assert f"Entry {place + 1} " in str(damage)


@given(st.integers(0, len(LOG) - 2), st.integers(1, 5))
def test_every_removed_entry_is_found(place: int, count: int) -> None:
    left = [*LOG[:place], *LOG[place + count :]]
    if place + count < len(LOG):
        damage = str(verify(left).damage)
        assert f"Entry {place + 1} " in damage
        assert "removed" in damage


@given(entries, entries)
def test_every_entry_that_was_moved_is_found(one: int, other: int) -> None:
    log = list(LOG)
    log[one], log[other] = log[other], log[one]
    damage = verify(log).damage
    assert (damage is None) == (one == other)
    assert damage is None or f"Entry {min(one, other) + 1} " in damage


@given(entries, entries)
def test_every_repeated_entry_is_found(one: int, place: int) -> None:
    where = place + 3 if one == place + 1 else place + 2  # after its first time, if that comes next
    assert f"Entry {where} " in str(verify([*LOG[: place + 1], LOG[one], *LOG[place + 1 :]]).damage)


def test_an_entry_with_a_new_hash_does_not_fit_the_next_one() -> None:
    forged = json.loads(LOG[2])
    forged["data"]["answer"] = [["bob"], ["ann"]]
    again = chained([*map(json.loads, LOG[:2]), forged])  # with a hash that fits
    assert "Entry 4 (line 4) is not the next one" in str(verify([*again, *LOG[3:]]).damage)


def test_receipts_show_that_the_end_was_cut_off() -> None:
    receipt = json.loads(LOG[-1])["hash"]
    assert verify(LOG, [receipt, receipt[:12].upper()]).damage is None
    assert verify(LOG[:-1]).damage is None  # by itself it is a log from a moment earlier
    assert f"No entry has the hash {receipt}" in str(verify(LOG[:-1], [receipt]).damage)


def test_a_receipt_names_its_entry() -> None:
    receipt = json.loads(LOG[2])["hash"]
    (found,) = verify(LOG, [receipt]).receipts
    assert (found.receipt, found.entry, found.at, found.kind) == (receipt, 3, 1003.0, "answered")


def test_a_receipt_that_two_entries_begin_with_is_refused_and_a_longer_one_is_not() -> None:
    alike = [{"hash": "8c2f01d9a47e" + end * 52} for end in "03"]
    assert received(alike, ["8c2f01d9a47e3"]) == [alike[1]]
    with pytest.raises(DamagedError, match="2 entries have a hash that begins with 8c2f01d9a47e"):
        received(alike, ["8c2f01d9a47e"])


@pytest.mark.parametrize("receipt", ["", " ", "0", "8c2f01d9a47", "8c2f01d9a47g", "0" * 65, "8c2f 01d9 a47e"])
def test_what_is_no_receipt_is_refused(receipt: str) -> None:
    with pytest.raises(FileError, match="is not a receipt"):
        verify(LOG, [receipt])


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("voter", None, "'answered' needs a voter, and there is none"),
        ("voter", "", "'voter' is \"\", which is no voter"),
        ("voter", 7, "'voter' is 7, which is no voter"),
        ("v", 3, "'v' is 3, where the log has format 2"),
        ("v", True, "'v' is true"),
        ("v", None, "'v' is null"),
        ("at", None, "'at' is null, which is no time in seconds"),
        ("at", "noon", "'at' is \"noon\""),
        ("at", 1003, "'at' is 1003"),
        ("at", -1.0, "'at' is -1.0"),
        ("by", 7, "'by' is 7, which is no link"),
        ("more", 7, "a field is missing, or there is one too many (more)"),
    ],
)
def test_odd_fields_are_named_though_every_hash_fits(field: str, value: Any, sentence: str) -> None:
    entries = [json.loads(line) for line in LOG]
    entries[2][field] = value
    damage = str(verify(chained(entries)).damage)
    assert damage.startswith("Entry 3 (line 3) is not as a study writes it")
    assert sentence in damage


@given(forgeries(LOG))
def test_no_damage_is_told_in_the_words_of_python(forged: list[str]) -> None:
    assert not PYTHON.search(said_of(forged))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("nonsense", "Entry 2 (line 2) is not JSON"),
        ("[1]", "Entry 2 (line 2) is not an entry of a log"),
        ('{"kind": "asked", "data": {}}', "'kind', 'data' or 'hash' is missing"),
        (LOG[1].replace('"kind"', '"kind": "x", "kind"'), "a key is there twice"),
        (LOG[1].replace("1002.0", "NaN"), "NaN is not a number"),
        ("[" * 100_000, "Entry 2 (line 2) is not JSON"),
    ],
)
def test_a_line_that_is_no_entry_is_named(line: str, sentence: str) -> None:
    assert sentence in str(verify([LOG[0], line, *LOG[2:]]).damage)


def test_an_empty_log_is_damaged() -> None:
    assert verify(["", "\n"]).damage == "There is no entry in the log."


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"kind": "sworn"}, "of a kind that no study writes: 'sworn'"),
        (
            {"kind": "answered", "voter": "eve", "question": 99, "answer": [["ann"], ["bob"]]},
            "question 99 was not asked",
        ),
        ({"kind": "answered", "question": 1, "answer": [["ann"], ["cyd"]]}, "no answer to the question"),
        ({"kind": "added", "candidate": "ann", "positions": []}, "'ann' was a candidate already"),
        (
            {"kind": "entered", "voter": "eve", "weight": 1, "conflicts": []},
            "voter eve was on the panel already",
        ),
    ],
)
def test_what_cannot_have_happened_is_refused_though_the_chain_is_whole(
    event: dict[str, Any], sentence: str
) -> None:
    damage = str(verify(log_of(PANEL, SETTINGS, [EVENTS[0], event])).damage)
    assert "Entry 3" in damage
    assert sentence in damage


def test_the_program_that_checks_shares_nothing_with_those_that_run_studies() -> None:
    code = (
        "import sys, duelmatch.verify; print(*(name for name in sys.modules if name.split('.')[0] in "
        "('numba', 'sqlalchemy') or name.startswith('duelmatch.')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shared = {name for name in run.stdout.split() if not name.startswith("duelmatch.verify")}
    assert shared == {"duelmatch.errors", "duelmatch.version"}
