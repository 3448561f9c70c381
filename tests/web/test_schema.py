"""The API answers as its OpenAPI description says, whatever is sent: no 500, no undocumented answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
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
EXAMPLES = 5
"""Tries of every operation, each in every role."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Store]]:
    file = tmp_path_factory.mktemp("schema") / "duels.db"
    with Store(f"sqlite:///{file}") as store, served(store, Config(rates=None)) as address:
        yield address, store


@pytest.fixture(scope="module")
def api(place: tuple[str, Store]) -> BaseSchema:
    schema = schemathesis.openapi.from_url(f"{place[0]}/api/v1/openapi.json")
    return schema.exclude(path_regex="/events$")  # it never ends


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


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_described(
    mode: GenerationMode, api: BaseSchema, study: Study, tokens: list[str]
) -> None:
    operations = [found.ok() for found in api.get_all_operations()]
    assert len(operations) > 25
    for operation in operations:
        answers = 0

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def try_it(case: schemathesis.Case) -> None:
            nonlocal answers
            if "study" in case.path_parameters:
                case.path_parameters["study"] = study.id  # or nothing else would be looked at
            for token in tokens:
                answer = case.call(headers={"Authorization": f"Bearer {token}"})
                case.validate_response(answer, checks=CHECKS)
                answers += 1

        try:
            try_it()
        except Unsatisfiable:
            assert mode == GenerationMode.NEGATIVE, "nothing can be wrong with this one"
            continue
        assert answers >= len(tokens), operation.label
