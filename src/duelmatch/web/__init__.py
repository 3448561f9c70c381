"""The HTTP API and the pages, a thin skin over :mod:`duelmatch.studies`."""

from duelmatch.errors import MissingExtraError

try:
    import fastapi as _fastapi  # noqa: F401
    import jinja2 as _jinja2  # noqa: F401
    import prometheus_client as _prometheus_client  # noqa: F401
    import segno as _segno  # noqa: F401
    import uvicorn as _uvicorn  # noqa: F401
except ModuleNotFoundError:
    raise MissingExtraError(
        "The web server needs FastAPI, uvicorn and a few more: pip install 'duelmatch[web]'"
    ) from None

from duelmatch.web.app import create_app
from duelmatch.web.config import Config, Rate, Rates

__all__ = ["Config", "Rate", "Rates", "create_app"]
