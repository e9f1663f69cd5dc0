"""The OpenAPI document, made once."""

from __future__ import annotations

from functools import cache
from typing import Any

from api.app import create_app
from schemas.settings import Settings


@cache
def openapi() -> dict[str, Any]:
    """The document that a service answers at `/openapi.json`."""
    return create_app(Settings()).openapi()
