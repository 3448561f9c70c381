"""The application: the API over one store, its limits and its health."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable
from functools import lru_cache
from time import monotonic
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException, Request
from fastapi.responses import PlainTextResponse
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from duelmatch.errors import StoreError, UnreachableError
from duelmatch.studies import Store
from duelmatch.version import __version__
from duelmatch.web import creating, events, judges, organising, pages, pictures, problems, voters, voting
from duelmatch.web.config import Config
from duelmatch.web.guard import Guard
from duelmatch.web.limits import BodyLimit
from duelmatch.web.metrics import Metrics, RequestLog
from duelmatch.web.problems import documented
from duelmatch.web.proxies import is_local
from duelmatch.web.rates import RateLimit, buckets_of
from duelmatch.web.runs import RemoteRun
from duelmatch.web.watching import Watcher
from duelmatch.web.webhooks import Teller
from duelmatch.web.worker import work_elsewhere

READY_WITHIN = 5.0
"""Seconds in which something has to be written by a server that says it is ready."""

HOLDS = 1.0
"""Seconds for which what was found, good or bad, is not looked at again."""

NOT_TRIED = "The server is getting ready."


def create_app(store: Store, config: Config | None = None) -> FastAPI:
    """Return the application that serves the studies of a store."""
    config = config or Config()
    app = FastAPI(
        title="duelmatch",
        version=__version__,
        description="Live studies: who should fill which position, from head-to-head questions.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
        redirect_slashes=False,  # to an address that it would take from the request
        telemetry={"tracing": False, "metrics": False, "logs": False},  # which would tell paths, with tokens
    )
    store.states.begin = RemoteRun
    store.states.elsewhere = work_elsewhere
    app.state.store = store
    app.state.config = config
    app.state.metrics = Metrics()
    app.state.buckets = {} if config.rates is None else buckets_of(config.rates)
    app.state.bridge = None
    app.state.watched = lru_cache(events.MOST_WATCHED)(events.WatchedStudy)
    app.state.watcher = Watcher()
    app.state.streams = events.StreamCount()
    # FastAPI silences this for itself, but not while other threads change what is shown (catch_warnings)
    warnings.filterwarnings("ignore", "The 'alias' attribute", module=r"pydantic\.")
    app.state.stopping = False
    app.state.teller = Teller(store, config, lambda: bool(app.state.stopping))
    app.state.preparing = None
    app.state.readiness = Readiness(store.writer.check)
    problems.install(app, pages.refusal_page)
    _add_routes(app)
    _add_middleware(app)
    _describe_problems(app)
    return app


def _add_routes(app: FastAPI) -> None:
    """Add the API, the pages, and what operators and monitoring ask for."""
    api = APIRouter(prefix="/api/v1", responses=documented(400, 403, 408, 413, 422, 429, 503))
    for part in (voting, voters, organising, creating, pictures, events):
        api.include_router(part.router)
    app.include_router(api)
    for router in (pages.router, judges.router, pictures.pages):
        app.include_router(router)
    app.mount("/static", GZipMiddleware(StaticFiles(directory=pages.STATIC), minimum_size=500))
    app.add_api_route("/healthz", _alive, include_in_schema=False)
    app.add_api_route("/readyz", _ready, include_in_schema=False)
    app.add_api_route("/metrics", _metrics, include_in_schema=False)


def _add_middleware(app: FastAPI) -> None:
    """Add what a request passes before the routes are looked through, from the last to the first."""
    app.add_middleware(voting.DirectVotes, prefix="/api/v1")
    app.add_middleware(BodyLimit)
    if app.state.buckets:
        app.add_middleware(RateLimit, buckets=app.state.buckets)
    app.add_middleware(Guard)
    app.add_middleware(RequestLog, metrics=app.state.metrics)


async def _alive() -> PlainTextResponse:
    return PlainTextResponse("alive\n")


def _ready(request: Request) -> PlainTextResponse:
    """Say whether everything is prepared, and the database takes what is written."""
    state = request.app.state
    preparing: threading.Thread | None = state.preparing
    if preparing is not None and preparing.is_alive():
        raise HTTPException(503, NOT_TRIED)
    state.readiness.check()
    return PlainTextResponse("ready\n")


async def _metrics(request: Request) -> PlainTextResponse:
    """Return request counts and latencies, for Prometheus."""
    config: Config = request.app.state.config
    metrics: Metrics = request.app.state.metrics
    if config.metrics == "local" and not is_local(request):
        raise HTTPException(404, "Not Found")
    return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")


class Readiness:
    """Whether something can be written, tried once a second at most. Safe to use from several threads.

    Trying takes seconds where something is wrong, so one caller does, and others learn what came of it last.
    """

    def __init__(self, check: Callable[[float], None]) -> None:
        self._check = check
        self._lock = threading.Lock()
        self._checking = False
        self._checked_at = -math.inf
        self._refusal: StoreError | None = UnreachableError(NOT_TRIED)

    def check(self) -> None:
        """Try to write something, unless that was tried just now, or somebody else does.

        :raises StoreError: if it failed when it was tried last.
        """
        with self._lock:
            is_known = self._checking or monotonic() - self._checked_at < HOLDS
            self._checking |= not is_known
        if not is_known:
            self._try()
        if self._refusal is not None:
            raise self._refusal

    def _try(self) -> None:
        refusal: StoreError | None = UnreachableError(NOT_TRIED)
        try:
            self._check(READY_WITHIN)
            refusal = None
        except StoreError as error:
            refusal = error
        finally:
            with self._lock:
                self._refusal, self._checking, self._checked_at = refusal, False, monotonic()


def _describe_problems(app: FastAPI) -> None:
    """Add the refusals to the OpenAPI description, in place of FastAPI's own."""
    original = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = original()
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas["Problem"] = problems.ProblemDetails.model_json_schema()
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            app.openapi_schema = schema
        return app.openapi_schema or {}

    app.openapi = described  # type: ignore[method-assign]
