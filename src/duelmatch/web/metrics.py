"""Metrics for Prometheus, and a log with one line of JSON per request.

A path can contain the token of a link, so neither has paths, only the name of the operation. Addresses,
cookies and query strings are in neither.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_encode = json.JSONEncoder(ensure_ascii=False).encode
requests_log = logging.getLogger("duelmatch.web")


class Metrics:
    """The counters of one application."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        labels = ("method", "operation", "status")
        self.requests = Counter("duelmatch_requests", "Requests answered.", labels, registry=self._registry)
        self.seconds = Histogram(
            "duelmatch_request_seconds",
            "Seconds until an answer began.",
            ("operation",),
            buckets=SECONDS,
            registry=self._registry,
        )

        self._of: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def count(self, method: str, operation: str, status: int, seconds: float) -> None:
        """Count a request."""
        known = self._of.get((method, operation, status))
        if known is None:  # looking the labels up every time would take longer than counting
            labelled = self.requests.labels(method, operation, str(status))
            known = self._of[method, operation, status] = labelled, self.seconds.labels(operation)
        known[0].inc()
        known[1].observe(seconds)

    def text(self) -> str:
        """Return all of them as Prometheus reads them."""
        return generate_latest(self._registry).decode()


class RequestLog:
    """Counts and logs every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, then count and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status, seconds = time.perf_counter(), 500, 0.0

        async def noted(message: Message) -> None:
            nonlocal status, seconds
            if message["type"] == "http.response.start":
                status, seconds = message["status"], time.perf_counter() - begin
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            operation, method = operation_of(scope), scope["method"]
            if method not in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
                method = "other"
            self._metrics.count(method, operation, status, seconds)
            about = {"method": method, "operation": operation, "status": status}
            requests_log.info("request", extra={"about": about | {"ms": round(1000 * seconds, 1)}})


def operation_of(scope: Scope) -> str:
    """Return the name of the operation that a request was for."""
    endpoint = scope.get("endpoint")
    name = getattr(endpoint, "__name__", None)
    return str(name).strip("_") if name else "static" if scope["path"].startswith("/static/") else "other"


class JsonFormatter(logging.Formatter):
    """One line of JSON per event."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": time, "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "about", {})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return _encode(line)


def configure_logging(level: int = logging.INFO) -> None:
    """Log to standard error, as lines of JSON; what these do not have is not looked up for every line."""
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.logAsyncioTasks = False  # type: ignore[attr-defined,unused-ignore]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in ("duelmatch.web", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    logging.getLogger("uvicorn.access").disabled = True  # it would log paths
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
