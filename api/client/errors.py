"""Problems of the service (RFC 9457) as the errors that they were there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import httpx
import orjson

from schemas.errors import Conflict, Fault, Incorrect, RateLimited, SubstrateError, Unavailable, errors_by_slug

AWAY: Final = (502, 503, 504)
"""What a proxy says when the service behind it cannot be reached, and the service itself when it cannot serve."""


def error_of(answer: httpx.Response) -> SubstrateError:
    """The error that the service raised; of an answer that is no problem of ours, what its status stands for."""
    said = _problem(answer)
    kind = _kind(answer.status_code, str(said.get("type", "")).rpartition("/")[2])
    detail = str(said.get("detail") or f"the service answered {answer.status_code}")
    remedy, faults = str(said.get("remedy", "")), tuple(said.get("faults", ()))
    if issubclass(kind, RateLimited):
        return kind(detail, remedy=remedy, retry_after=_retry_after(answer) or 1)
    error = kind(detail, remedy=remedy, faults=faults)
    if isinstance(error, Conflict):
        error.current_version = said.get("current_version")
    if isinstance(error, Unavailable):
        error.retry_after = _retry_after(answer) or error.retry_after
    return error


def _problem(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        said = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}


def _kind(status: int, slug: str) -> type[SubstrateError]:
    kinds = errors_by_slug()
    named = kinds.get(slug)
    if named is not None and named.status == status:
        return named
    if status in AWAY:
        return Unavailable
    by_status = [kind for kind in kinds.values() if kind.status == status and issubclass(kind, Incorrect)]
    return next(iter(by_status), Incorrect if status < 500 else Fault)


def _retry_after(answer: httpx.Response) -> int | None:
    said = answer.headers.get("Retry-After", "")
    return int(said[:9]) if said.isdigit() else None
