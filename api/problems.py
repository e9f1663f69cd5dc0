"""Turn errors into problems (RFC 9457): with a remedy and each fault, never with the input of the request."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.exceptions import HTTPException

from schemas.base import Frozen
from schemas.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    RateLimited,
    SubstrateError,
    Unavailable,
    errors_by_slug,
)

logger = logging.getLogger(__name__)

MEDIA_TYPE: Final = "application/problem+json"
MAX_FAULTS: Final = 100
MAX_REPEATED: Final = 300
"""The most characters of a field name or path that a response repeats."""

_HTTP_PROBLEMS: Final = {
    400: ("bad-request", "The request cannot be read"),
    404: ("not-found", "Not found"),
    405: ("method-not-allowed", "The method is not allowed here"),
    408: ("too-slow", "The request took too long to arrive"),
    413: ("too-large", "The request is too large"),
    414: ("address-too-long", "The address is too long"),
    415: ("unsupported-media-type", "The body is not JSON"),
}


def statuses_by_slug() -> dict[str, int]:
    """The status of every problem type. `http` stands for all statuses without a type of their own."""
    own = {slug: kind.status for slug, kind in errors_by_slug().items()}
    return {"http": 400, **{slug: status for status, (slug, _) in _HTTP_PROBLEMS.items()}, **own}


class Problem(Frozen):
    """An error (RFC 9457) with its remedy, and every fault as `field: message`."""

    type: str = Field(
        json_schema_extra={"enum": [f"/problems/{slug}" for slug in statuses_by_slug()]},
        examples=["/problems/invalid-request"],
    )
    title: str
    status: int
    detail: str
    instance: str = Field(description="The path of the request.")
    remedy: str = ""
    faults: tuple[str, ...] = ()
    retry_after_s: int | None = Field(
        default=None, description="Seconds after which to try again, as in `Retry-After`; an estimate."
    )
    current_version: int | None = Field(
        default=None, description="In a conflict, the stored version of the record."
    )


_CONTENT: Final = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {
        "description": "The request cannot be carried out; nothing was changed; `faults` lists why",
        "content": _CONTENT,
    },
    "5XX": {"description": "The service cannot answer; after a 503, try again", "content": _CONTENT},
}
"""The problems of every route, for the OpenAPI document."""


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(
        problem.model_dump(mode="json", exclude_none=True),
        problem.status,
        dict(headers or {}),
        media_type=MEDIA_TYPE,
    )


def error_response(error: SubstrateError, path: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The response for one of our errors, with `Retry-After` if the error has it."""
    after = error.retry_after if isinstance(error, Unavailable | RateLimited) else None
    problem = Problem(
        type=f"/problems/{error.slug}",
        title=error.title,
        status=error.status,
        detail=error.detail,
        instance=quote(path)[:MAX_REPEATED],
        remedy=error.remedy,
        faults=shorten_faults(error.faults),
        retry_after_s=after,
        current_version=error.current_version if isinstance(error, Conflict) else None,
    )
    retry = {} if after is None else {"Retry-After": str(after)}
    return problem_response(problem, {**retry, **(headers or {})})


def http_error_response(
    status: int, path: str, detail: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """The response for an error of HTTP itself, such as an unknown route or a wrong method."""
    slug, title = _HTTP_PROBLEMS.get(status, ("http", "The request cannot be carried out"))
    problem = Problem(
        type=f"/problems/{slug}", title=title, status=status, detail=detail, instance=quote(path)[:MAX_REPEATED]
    )
    return problem_response(problem, headers)


def fault_line(location: Iterable[str | int], message: str) -> str:
    """One fault as `field: message`; a long field name is cut."""
    field = ".".join(map(str, location))
    message = message.removeprefix("Value error, ")
    return f"{_shorten(field)}: {message}" if field else message


def shorten_faults(faults: Sequence[str], most: int = MAX_FAULTS) -> tuple[str, ...]:
    """At most `most` faults; if some are left out, the last line counts them."""
    if len(faults) <= most:
        return tuple(faults)
    return (*faults[: most - 1], f"and {len(faults) - most + 1} more")


def invalid_request(faults: Sequence[str]) -> InvalidRequest:
    detail = faults[0] if len(faults) == 1 else f"{len(faults)} faults in the request"
    return InvalidRequest(detail, faults=faults)


def install_handlers(app: FastAPI) -> None:
    """Answer every error of the application with a problem."""
    app.add_exception_handler(SubstrateError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_unexpected)


async def _on_ours(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, SubstrateError):
        raise error
    if error.status >= 500:
        traceback = None if isinstance(error, Unavailable) else error
        route = getattr(
            request.scope.get("route"), "path", None
        )  # as documented: a path that is sent has names in it
        logger.error("%s %s: %s", _shorten(request.method), route, error.detail, exc_info=traceback)
    return error_response(error, request.url.path)


async def _on_validation(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    faults = list(map(_request_fault, error.errors()))
    if all(fault["loc"][0] == "path" for fault in error.errors()):
        missing = NotFound("nothing stored can have this address", faults=faults)
        return error_response(missing, request.url.path)
    return error_response(invalid_request(faults), request.url.path)


def _request_fault(fault: Mapping[str, Any]) -> str:
    if fault["type"] == "json_invalid":
        return f"body: not JSON that can be stored: {fault['ctx']['error']}"
    location = fault["loc"]
    inside = location[1:] if len(location) > 1 else location
    return fault_line(inside, fault["msg"])


async def _on_http(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    path = request.url.path
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = allowed_methods(request) or headers.get("Allow", "")
    details = {
        404: f"there is no {_shorten(path)} here; see /docs",
        405: f"{_shorten(request.method)} is not offered here",
    }
    return http_error_response(error.status_code, path, details.get(error.status_code, error.detail), headers)


async def _on_unexpected(request: Request, error: Exception) -> JSONResponse:
    # Starlette raises the error again after this response, and the server logs it with its traceback.
    hidden = SubstrateError(
        f"an unexpected {type(error).__name__}; see the log of the service",
        remedy="Report it with that part of the log.",
    )
    return error_response(hidden, request.url.path)


def allowed_methods(request: Request) -> str:
    """The methods of all routes at this path. Starlette names only those of the first route that matches."""
    app: FastAPI = request.app
    paths = app.openapi()["paths"]
    matching = [path for path in paths if re.fullmatch(re.sub(r"\{[^}]+\}", ".+", path), request.url.path)]
    return ", ".join(sorted(method.upper() for path in sorted(matching, key=len)[-1:] for method in paths[path]))


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_REPEATED else f"{text[:MAX_REPEATED]}…"
