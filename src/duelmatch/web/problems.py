"""How the API refuses: problem details (RFC 9457), always the same few fields, never a traceback."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from duelmatch.errors import (
    ConflictError,
    DuelmatchError,
    NotAllowedError,
    NotThereError,
    StoreError,
    TooManyChangesError,
)
from duelmatch.web.languages import to_translate

UNAVAILABLE = to_translate(
    "The database cannot be reached right now. Try again in a moment; nothing that was confirmed is lost."
)


class ProblemDetails(BaseModel):
    """What went wrong, as RFC 9457 has it."""

    model_config = ConfigDict(title="Problem")
    title: str = Field(examples=["Conflict"])
    status: int = Field(examples=[409])
    detail: str = Field(examples=["Question 7 was skipped already; answer the next one."])


def documented(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Return the refusals of an operation for its description."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {code: {"description": HTTPStatus(code).phrase, "content": content} for code in codes}


def refusal(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return the response of a refusal; what it quotes may have lone surrogates."""
    whole = detail.encode("utf-8", "replace").decode()
    problem = ProblemDetails(title=HTTPStatus(status).phrase, status=status, detail=whole)
    return JSONResponse(problem.model_dump(), status, headers, media_type="application/problem+json")


def sentence_of(error: Mapping[str, Any]) -> str:
    """Return a sentence that says what is wrong with a field of a request.

    >>> sentence_of({"type": "missing", "loc": ("body", "name"), "msg": "Field required"})
    "'name' is missing."
    >>> about = ("body", "voters", 0, "weight")
    >>> sentence_of({"type": "int_type", "loc": about, "msg": "Input should be a valid integer"})
    "'voters.0.weight' must be a whole number."
    """
    path = ".".join(str(part) for part in error["loc"] if part not in ("body", "query", "path"))
    where = f"'{path}'" if path else "The body of the request"
    match error["type"]:
        case "missing":
            return f"{where} is missing."
        case "extra_forbidden":
            return f"There is no field {where} here."
        case "string_pattern_mismatch":  # all that have a pattern are ids
            return (
                f"{where} must be an id, as the lists of studies and voters have it: only 0 to 9 and a to f."
            )
        case "json_invalid":
            return "The body of the request is not JSON."
    if path.partition(".")[0] == "answer":  # of several forms, none of which it has
        return f"'answer' must be {ANSWER_FORMS}."
    clause = re.sub(r"^(\w+ should|Value error,)", "must", str(error["msg"])).removesuffix(".")
    for technical, plain in PLAIN_WORDS.items():
        clause = clause.replace(technical, plain)
    return f"{where} {clause}." if clause.startswith("must") else f"{where} is wrong: {clause}."


ANSWER_FORMS = 'a name, null for no difference, or a ranking such as ["ann", ["bob", "cyd"]]'

PLAIN_WORDS = {
    "a valid integer, unable to parse string as an integer": "a whole number",
    "a valid integer, got a number with a fractional part": "a whole number",
    "a valid integer": "a whole number",
    "a valid string": "a text",
    "a valid boolean": "true or false",
    "a valid list": "a list",
    "a valid dictionary or object to extract fields from": "a mapping",
    "a valid dictionary": "a mapping",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    " after validation": "",
}
"""What the library that checks requests calls things, and how people would."""


STATUSES: Mapping[type[DuelmatchError], int] = {
    NotThereError: 404,
    NotAllowedError: 403,
    ConflictError: 409,
    TooManyChangesError: 429,
    StoreError: 503,
}
"""Of what duelmatch refuses; 422 for all else."""

REFUSALS = (DuelmatchError, RequestValidationError, HTTPException)
"""What is raised to refuse a request."""


def reason_of(error: Exception) -> tuple[int, str, dict[str, str] | None]:
    """Return the status, the sentence and the headers with which one of them is answered."""
    if isinstance(error, DuelmatchError):
        status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 422)
        headers = {"Retry-After": "5"} if status == 429 else None
        return status, UNAVAILABLE if status == 503 else str(error), headers
    if isinstance(error, RequestValidationError):
        return 422, sentence_of(error.errors()[0])[:500], None
    assert isinstance(error, HTTPException)
    return error.status_code, str(error.detail), dict(error.headers or {})


Page = Callable[[Request, int, str], Response]
"""Returns a refusal for people, given the request, the status and a sentence."""

PAGES = ("/studies", "/l/", "/new", "/privacy")


def install(app: FastAPI, page: Page) -> None:
    """Let an application refuse in this way, and with a page where people are."""

    def say(request: Request, status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
        path, accepted = request.url.path, request.headers.get("accept", "")
        reading = path.startswith(PAGES) or ("text/html" in accepted and not path.startswith("/api/"))
        form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
        if reading and (request.method == "GET" or form):
            return page(request, status, detail)
        return refusal(status, detail, headers)

    for kind in REFUSALS:
        app.add_exception_handler(kind, lambda request, error: say(request, *reason_of(error)))
