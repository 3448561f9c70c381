"""A log one can trust: every single entry that is changed, removed or put elsewhere is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

import duelmatch as dm
from duelmatch.errors import FileError, StoreError
from duelmatch.studies import Entry, Question, Store, Study
from duelmatch.studies.entries import BEGINNING, checked, sealed
from duelmatch.studies.exchange import export_log, import_log

KINDS = ("panel", "condorcet", "car-cond")


@pytest.fixture(params=KINDS)
def study(request: pytest.FixtureRequest, new_study: Callable[..., Study]) -> Study:
    study = new_study(algorithm=request.param, voters=["Ann", "Bob"])
    for _ in range(3):
        for voter in study.voters():
            question = study.ask(voter.id)
            if isinstance(question, Question):
                study.tell(voter.id, question.number, question.candidates[0])
    study.strike(study.voters()[1].id)
    study.close()
    return study


def independent_hash(line: dict[str, Any]) -> str:
    """The rule as it is documented, in other words than the code's."""
    rest = {name: value for name, value in line.items() if name != "hash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(text.encode("ascii")).hexdigest()


def test_an_export_is_chained_as_documented(study: Study) -> None:
    before = "0" * 64
    for number, text in enumerate(export_log(study).splitlines(), start=1):
        line = json.loads(text)
        assert list(line) == sorted(line, key=lambda name: (name == "hash", name))
        assert (line["v"], line["seq"], line["before"]) == (2, number, before)
        assert line["hash"] == independent_hash(line)
        before = line["hash"]
    assert before == study.status().hash


def changes(entry: Entry) -> list[Entry]:
    """Every field of an entry, changed."""
    return [
        entry._replace(at=entry.at + 1e-6),
        entry._replace(kind="paused" if entry.kind != "paused" else "resumed"),
        entry._replace(by="A" * 16),
        entry._replace(voter="0" * 16),
        entry._replace(data={**entry.data, "more": 1}),
        entry._replace(hash="1" * 64),
    ]


def test_every_changed_removed_or_reordered_entry_is_found(study: Study) -> None:
    log = study.entries()
    assert list(checked(log)) == log
    for place, entry in enumerate(log):
        for changed in changes(entry):
            with pytest.raises(StoreError, match=f"Entry {place + 1} "):
                list(checked([*log[:place], changed, *log[place + 1 :]]))
        if place < len(log) - 1:
            with pytest.raises(StoreError, match=f"Entry {place + 1} "):
                list(checked([*log[:place], *log[place + 1 :]]))
            swapped = [*log[:place], log[place + 1], entry, *log[place + 2 :]]
            with pytest.raises(StoreError, match=f"Entry {place + 1} "):
                list(checked(swapped))


def test_numbering_anew_does_not_hide_a_removal(study: Study) -> None:
    log = study.entries()
    for place in range(1, len(log) - 1):
        shorter = [*log[:place], *(entry._replace(seq=entry.seq - 1) for entry in log[place + 1 :])]
        with pytest.raises(StoreError, match=f"Entry {place + 1} "):
            list(checked(shorter))


def test_a_removed_end_is_found_by_whoever_has_a_receipt_or_the_last_hash(study: Study) -> None:
    log = study.entries()
    shorter = list(checked(log[:-1]))
    assert shorter[-1].hash != study.status().hash
    assert all(entry.hash != study.status().hash for entry in shorter)


def test_an_edited_file_is_not_taken_in(study: Study, store: Store) -> None:
    before = len(store.studies())
    lines = export_log(study).splitlines()
    for place in range(len(lines)):
        line = json.loads(lines[place])
        for field in line:
            edited = json.dumps(line | {field: "cake"})
            with pytest.raises(FileError):
                import_log(store, "\n".join([*lines[:place], edited, *lines[place + 1 :]]))
        if place < len(lines) - 1:
            with pytest.raises(FileError):
                import_log(store, "\n".join([*lines[:place], *lines[place + 1 :]]))
    assert len(store.studies()) == before


def test_a_forged_log_that_cannot_have_happened_is_not_taken_in(study: Study, store: Store) -> None:
    """Hashes can be computed by anybody; what they chain must still make sense."""
    lines = [json.loads(line) for line in export_log(study).splitlines()]
    forgeries: list[Callable[[list[Any]], object]] = [
        lambda log: log[0]["data"]["settings"].update(algorithm="magic"),
        lambda log: log[0]["data"].update(format=1),
        lambda log: log[0]["data"]["problem"].update(positions=["zzz"]),
        lambda log: log[0].update(kind="paused"),
        lambda log: log[-1].update(kind="exploded"),
        lambda log: log.append(next(line for line in log if line["kind"] == "asked")),
        lambda log: next(line for line in log if line["kind"] == "asked")["data"].update(until="soon"),
        lambda log: next(line for line in log if line["kind"] == "asked")["data"].update(place=2**40),
        lambda log: log.append(
            {"at": 1.0, "kind": "answered", "by": None, "voter": None, "data": {"question": 99}}
        ),
    ]
    for forge in forgeries:
        log = json.loads(json.dumps(lines))
        forge(log)
        with pytest.raises(FileError):
            import_log(store, "\n".join(rechained(log)))


@pytest.mark.parametrize(
    "about",
    [
        {"link": "javascript:alert(1)"},
        {"picture": "http://tracker.example/x.png"},
        {"title": "bob"},
        {"title": "b\u034fob"},
        {"title": "Ann\ue000"},
        {"text": "x" * 5001},
    ],
    ids=lambda about: ascii(next(iter(about.values())))[:30],
)
def test_what_no_form_would_have_taken_is_not_imported(
    new_study: Callable[..., Study], store: Store, about: Any
) -> None:
    study = new_study(algorithm="panel", voters=["Eve"], problem=dm.Problem.complete(["ann", "bob"], ["p"]))
    study.edit({"ann": {"title": "Ann"}})
    log = [json.loads(line) for line in export_log(study).splitlines()]
    assert import_log(store, "\n".join(rechained(log))).problem == study.problem
    log[-1]["data"]["candidates"]["ann"] = about
    with pytest.raises(FileError, match="cannot be taken in"):
        import_log(store, "\n".join(rechained(log)))
    log[0]["data"]["problem"]["candidates"][0] = {"name": "ann", **about}
    with pytest.raises(FileError, match="cannot be taken in"):
        import_log(store, "\n".join(rechained(log[:-1])))


def rechained(log: list[Any]) -> list[str]:
    before, lines = BEGINNING, []
    for number, line in enumerate(log, start=1):
        rest = {"v": 2, **line, "seq": number, "before": before}
        before = independent_hash(rest)
        lines.append(json.dumps(rest | {"hash": before}))
    return lines


def test_an_entry_is_what_json_makes_of_it() -> None:
    data = {"ö": [0.1, 1e-300, 12345678901234567], "a": {"z": None, "b": True}}
    entry, text = sealed(7, 1.0, "asked", data, BEGINNING, "A" * 16, "0" * 16)
    line = {"v": 2, "seq": 7, "at": 1.0, "kind": "asked", "by": "A" * 16, "voter": "0" * 16, "data": data}
    assert entry.hash == independent_hash(line | {"before": BEGINNING})
    assert json.loads(text) == data


def test_the_problem_of_a_study_is_read_back(new_study: Callable[..., Study]) -> None:
    """Canonical JSON sorts keys; the order of positions is kept all the same."""
    problem = dm.Problem.from_edges([("x", "zoo"), ("y", "zoo"), ("x", "ark"), ("y", "ark"), ("z", "ark")])
    assert new_study(problem).problem == problem
