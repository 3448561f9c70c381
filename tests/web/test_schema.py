"""The API answers as its OpenAPI description says, whatever is sent: no 500, no undocumented answer."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, core, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.vendor.pretty import RepresentationPrinter
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from conftest import PROBLEM
from duelmatch.studies import Settings, Store, Study
from duelmatch.web import Config
from web.running import served

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = int(os.environ.get("DUELMATCH_EXAMPLES", "3"))
"""Tries of every operation, each in every role; set the environment variable for more."""

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "PROPFIND")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Store]]:
    file = tmp_path_factory.mktemp("schema") / "duels.db"
    with Store(f"sqlite:///{file}") as store, served(store, Config(rates=None)) as address:
        yield address, store


@pytest.fixture(scope="module")
def api(place: tuple[str, Store]) -> BaseSchema:
    return schemathesis.openapi.from_url(f"{place[0]}/api/v1/openapi.json")


@pytest.fixture(scope="module")
def study(place: tuple[str, Store]) -> Study:
    study = place[1].create(PROBLEM, Settings("panel"), "A study", ["Eve", "Ned"])
    voter = study.voters()[0].id
    for _ in range(3):
        study.tell(voter, study.ask(voter).number, None)  # type: ignore[union-attr]
    return study


@pytest.fixture(scope="module")
def tokens(study: Study) -> list[str]:
    voter = study.add_voter()
    return [
        study.new_link("organiser"),
        study.new_link("voter", voter),
        study.new_link("open", judges=True),
        "nobody's",
    ]


def called(case: schemathesis.Case) -> Any:
    """Return the answer; of a stream of events, which does not end, its beginning."""
    if not case.path.endswith("/events"):
        return case.call()
    with requests.Session() as session:
        answer = session.request(**case.as_transport_kwargs(), stream=True, timeout=30)
        answer._content = next(answer.iter_content(10_000), b"")
        answer.close()
        if answer.status_code == 200:
            assert answer.content.startswith(b"id: ")
            event = dict(line.split(": ", 1) for line in answer.text.splitlines() if line)
            assert event["event"] == "progress"
            assert json.loads(event["data"])["name"], "which another example may have changed"
        return answer


def test_every_other_method_is_refused(api: BaseSchema, place: tuple[str, Store], tokens: list[str]) -> None:
    documented: dict[str, set[str]] = {}
    for found in api.get_all_operations():
        documented.setdefault(found.ok().path, set()).add(found.ok().method.upper())
    headers = {"Authorization": f"Bearer {tokens[0]}"}
    with httpx2.Client(base_url=place[0], headers=headers, trust_env=False) as client:
        for template, methods in documented.items():
            path = re.sub("{[a-z]+}", "0" * 16, template)
            for method in METHODS:
                if method not in methods:
                    answer = client.request(method, path)
                    assert answer.status_code == 405, (method, path)
                    assert method == "HEAD" or answer.json()["title"] == "Method Not Allowed"


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_described(
    mode: GenerationMode, api: BaseSchema, study: Study, tokens: list[str]
) -> None:
    operations = [found.ok() for found in api.get_all_operations()]
    assert len(operations) > 25
    for operation in operations:
        answers = 0
        strategy = operation.as_strategy(generation_mode=mode)
        # Schemathesis has put in one that prints nothing, and every test after this one would use it.
        core.RepresentationPrinter = RepresentationPrinter  # type: ignore[attr-defined]

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def try_it(case: schemathesis.Case) -> None:
            nonlocal answers
            if "study" in case.path_parameters:
                case.path_parameters["study"] = study.id  # or nothing else would be looked at
            for token in tokens:
                case.headers["Authorization"] = f"Bearer {token}"
                case.validate_response(called(case), checks=CHECKS)
                answers += 1

        try:
            try_it()
        except Unsatisfiable:
            assert mode == GenerationMode.NEGATIVE, "nothing can be wrong with this one"
            continue
        assert answers >= len(tokens), operation.label
