"""Studies of the first format, read from their tables and written as logs of the second.

Studies by algorithms that work in rounds go on as they were: every old entry becomes an event of today.
Studies of "condorcet" and "borda" had no ballots. They go on as crowds, in which what was asked and answered
before is kept as it was ("imported-old"): it counts for the estimates, not for the proof.

A study that was closed keeps a verdict: by rounds, what its answers gave by the old rules. Today "condorcet"
and "borda" would have asked other questions, so their proof cannot be repeated: the verdict is the leader by
all answers, an estimate.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from duelmatch.answers import Answer
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.result import Result
from duelmatch.files.problems import read_problem
from duelmatch.models.standings import standings
from duelmatch.problem import Problem
from duelmatch.studies.entries import BEGINNING, sealed
from duelmatch.studies.settings import Settings
from duelmatch.studies.state import State
from duelmatch.studies.values import verdict_of

Rows = list[dict[str, Any]]

BALLOTS = ("condorcet", "borda")
WRAPPED = ("asked", "answered", "skipped", "released", "undone", "corrected")
RENAMED = {"invalidated": "struck"}


class Event(NamedTuple):
    """An old entry, by name."""

    at: float
    kind: str
    voter: str | None
    data: dict[str, Any]


def converted(connection: Connection) -> tuple[Rows, Rows, Rows, Rows]:
    """Return the rows of the new tables: studies, entries, voters and links."""
    old = {name: _rows(connection, name) for name in ("studies", "entries", "voters", "questions", "secrets")}
    ids = {(row["study"], row["number"]): secrets.token_hex(8) for row in old["voters"]}
    studies, entries = [], []
    for study in old["studies"]:
        own = [row for row in old["entries"] if row["study"] == study["id"]]
        leases = {row["number"]: row["expires_at"] for row in old["questions"] if row["study"] == study["id"]}
        voters = {number: voter for (of, number), voter in ids.items() if of == study["id"]}
        log = list(_log(study["id"], own, voters, leases))
        entries += log
        about = {name: study[name] for name in ("id", "name", "created_at")}
        studies.append(about | {"phase": study["state"], "seq": len(log), "hash": log[-1]["hash"]})
    people = [
        {"study": row["study"], "id": ids[row["study"], row["number"]], "name": row["name"]}
        for row in old["voters"]
    ]
    links = [
        {**row, "voter": None if row["voter"] is None else ids[row["study"], row["voter"]]}
        for row in old["secrets"]
    ]
    return studies, entries, people, links


def _rows(connection: Connection, name: str) -> Rows:
    table = sa.Table(name, sa.MetaData(), autoload_with=connection, resolve_fks=False)
    query = sa.select(table).order_by(*table.primary_key)
    return [dict(row._mapping) for row in connection.execute(query)]


def _log(
    study: str, rows: Rows, voters: Mapping[int, str], leases: Mapping[int, float]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the new log."""
    first, *others = rows
    content = json.loads(first["note"])
    problem = read_problem(json.dumps(content["problem"]), ".json")
    settings = _settings(content["settings"])
    events = list(_events(others, problem, voters, leases))
    in_rounds = settings.algorithm not in BALLOTS
    if not in_rounds:
        events = list(_as_crowd(events, problem, content["settings"]))
    data = {"problem": content["problem"], "settings": settings.as_dict() | {"voters": []}, "format": 2}
    entry, text = sealed(1, first["at"], "created", data, BEGINNING)
    yield {"study": study, **entry._asdict(), "data": text}
    state = State(entry)
    for event in events:
        data = event.data
        if in_rounds and event.kind == "closed":
            state.kind.think()
            data = {"verdict": verdict_of(state.kind.result, state.kind.assuming)}
        entry, text = sealed(entry.seq + 1, event.at, event.kind, data, entry.hash, None, event.voter)
        if in_rounds:
            state.note([entry])
        yield {"study": study, **entry._asdict(), "data": text}


def _settings(old: Mapping[str, Any]) -> Settings:
    """Return the settings as they are today."""
    kept = {name: old[name] for name in ("algorithm", "delta", "seed", "lease", "ties", "skips", "ahead")}
    parameters = dict(old["parameters"])
    if old["algorithm"] in BALLOTS:
        parameters = {name: value for name, value in parameters.items() if name != "batch"}
    settings = Settings(**kept, parameters=parameters, max_answers=old["max_votes"])
    return settings.settled(named_voters=False)


def _events(
    rows: Rows, problem: Problem, voters: Mapping[int, str], leases: Mapping[int, float]
) -> Iterator[Event]:
    """Yield the old entries by name."""
    owner: dict[int, str] = {}
    asked: dict[int, tuple[str, list[str]]] = {}
    for row in rows:
        question = row["question"]
        kind = str(RENAMED.get(row["kind"], row["kind"]))
        note = json.loads(row["note"]) if row["note"] else {}
        voter = voters.get(row["voter"])
        edges = [problem.edges[edge] for edge in (row["one"], row["other"]) if edge is not None]
        names = [name for name, _ in edges]
        data: dict[str, Any] = {} if question is None else {"question": question}
        match kind:
            case "asked":
                assert voter is not None, "every question is a voter's"
                owner[question], asked[question] = voter, (edges[0][1], names)
                data |= {"position": edges[0][1], "candidates": names, "until": leases.get(question)}
            case "answered":
                data["answer"] = [[name] for name in names]
                if "tie" in note:  # a coin decided, which counts as it fell
                    data["coin"] = True
            case "corrected":
                data |= {"answer": [[name] for name in names] or None, "clerical": False}
            case "skipped" | "released":
                data["reason"] = note.get("reason")
            case "dropped":
                data["candidate"] = note["candidate"]
        if question is not None:
            voter = owner[question]
        yield Event(row["at"], kind, voter, data)


def _as_crowd(events: Sequence[Event], problem: Problem, old: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the events of a crowd that has had no ballot yet."""
    counted: dict[int, Answer] = {}
    position: dict[int, str] = {}
    open_questions: dict[int, str] = {}
    for event in events:
        if event.kind not in WRAPPED:
            if event.kind == "struck":
                counted = {
                    number: answer for number, answer in counted.items() if answer.voter != event.voter
                }
            closed = event.kind == "closed"
            data = {"verdict": _estimate(problem, old, list(counted.values()))} if closed else event.data
            yield event._replace(data=data)
            continue
        question = event.data["question"]
        if event.kind == "asked":
            position[question] = event.data["position"]
        elif answer := event.data.get("answer"):
            counted[question] = Answer(position[question], [name for (name,) in answer], event.voter)
        else:
            counted.pop(question, None)
        if event.kind in ("asked", "undone"):
            open_questions[question] = event.voter or ""
        elif event.kind != "corrected":
            open_questions.pop(question, None)
        yield event._replace(kind="imported-old", data={"was": event.kind, **event.data})
    for question, voter in open_questions.items():  # nobody can answer it as part of a ballot
        data = {"was": "released", "question": question, "reason": "expired"}
        yield Event(events[-1].at, "imported-old", voter, data)


def _estimate(problem: Problem, old: Mapping[str, Any], answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the leader by all answers as a verdict that promises nothing."""
    leader = standings(problem, answers, old["algorithm"]).leader if answers else None
    assuming = (Assumption.INDEPENDENT_ANSWERS,)
    result = Result(
        old["algorithm"], "budget_spent", leader, len(answers), old["delta"], None, assuming, old["seed"]
    )
    return verdict_of(result, assuming)
