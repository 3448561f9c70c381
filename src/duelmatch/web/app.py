"""The application: the API over one store, its limits and its health."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

import duelmatch
from duelmatch.studies import Store
from duelmatch.web import api, events, problems
from duelmatch.web.access import TheStore
from duelmatch.web.limits import BodyLimit

LARGEST_BODY = 1_000_000
"""Bytes: a problem with its texts."""


def create_app(store: Store) -> FastAPI:
    """Return the application that serves the studies of a store."""
    app = FastAPI(
        title="duelmatch",
        version=duelmatch.__version__,
        description="Live studies: who should fill which position, from head-to-head duels.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    app.state.store = store
    problems.install(app)
    app.include_router(api.router)
    app.include_router(events.router)
    app.add_api_route("/healthz", _alive, include_in_schema=False)
    app.add_api_route("/readyz", _ready, include_in_schema=False)
    app.add_middleware(BodyLimit, largest=LARGEST_BODY)
    _describe_problems(app)
    return app


def _alive() -> PlainTextResponse:
    return PlainTextResponse("alive\n")


def _ready(store: TheStore) -> PlainTextResponse:
    """Say whether the database answers; the refusal if it does not is that of any other request."""
    with store.database.reading() as connection:
        store.database.now(connection)
    return PlainTextResponse("ready\n")


def _describe_problems(app: FastAPI) -> None:
    """Add the refusals to the OpenAPI description, in place of FastAPI's own."""
    original = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = original()
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas["Problem"] = problems.Problem.model_json_schema()
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            app.openapi_schema = schema
        return app.openapi_schema or {}

    app.openapi = described  # type: ignore[method-assign]
