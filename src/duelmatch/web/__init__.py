"""The HTTP API, a thin skin over :mod:`duelmatch.studies`."""

from duelmatch.errors import MissingExtraError

try:
    import fastapi as _fastapi  # noqa: F401
except ModuleNotFoundError:
    raise MissingExtraError(
        "The web server needs FastAPI and uvicorn: pip install 'duelmatch[web]'"
    ) from None

from duelmatch.web.app import create_app

__all__ = ["create_app"]
