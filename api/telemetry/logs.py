"""Logs: lines of JSON on standard error, each with the id of the request and the citizens it is about.

The logger `substrate.audit` has one line for each request that needs a key. It names who called, from where, and
the route as it is documented, never the path that was sent, no header and no body: so no key and no memory can
stand in it. Of a key that was refused it has the id, where it has the form of one of ours.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from typing import Any, Final

import orjson
from starlette.types import Scope

from api.asgi.messages import client_address

audit: Final = logging.getLogger("substrate.audit")
MAX_CITIZENS: Final = 20
MAX_COMMANDS: Final = 20
"""Of a longer list the records say their command each."""
MAX_METHOD: Final = 20
OUR_LOGGERS: Final = ("api", "orchestration", "substrate", "uvicorn")

REQUEST_STATE: Final[ContextVar[Mapping[str, Any] | None]] = ContextVar("request", default=None)
"""The state of the request that is being answered: its `request_id`, and its `caller` once that is known."""


class JsonLineFormatter(logging.Formatter):
    """Each record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time and level; of the audit log its fields, of others their message and request, and what failed."""
        entry: dict[str, Any] = {"time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"), "level": record.levelname}
        said = getattr(record, "audit", None) or self._message(record)
        return orjson.dumps(entry | said, default=str).decode()

    def _message(self, record: logging.LogRecord) -> dict[str, Any]:
        said: dict[str, Any] = {"logger": record.name, "message": record.getMessage()}
        state = REQUEST_STATE.get()
        if state is not None:
            said |= {"request_id": state["request_id"], "citizens": _named_citizens(state)}
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return said


def configure_logging(level: str = "info") -> None:
    """Send all logs to standard error, ours from `level` on, of libraries what warns; the audit log always.

    `level` is one of uvicorn's; its `trace` is `debug` for all others.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLineFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in OUR_LOGGERS:
        logging.getLogger(name).setLevel(logging.DEBUG if level == "trace" else level.upper())
    audit.handlers[:] = [handler]
    audit.setLevel(logging.INFO)
    audit.propagate = False


def log_request(scope: Scope, status: int, milliseconds: float) -> None:
    """One line on a request that has been answered."""
    state = scope["state"]
    caller = state.get("caller")
    audit.info(
        "request",
        extra={
            "audit": {
                "event": "request",
                "request_id": state["request_id"],
                "key": caller.principal.key_id if caller else None,
                "address": client_address(scope),
                **({} if caller else {"tried": state.get("tried")}),
                "method": shown_method(scope),
                "route": route_template(scope),
                "citizens": _named_citizens(state),
                "commands": caller.commands[:MAX_COMMANDS] if caller else [],
                "status": status,
                "ms": round(milliseconds, 1),
            }
        },
    )


def route_template(scope: MutableMapping[str, Any]) -> str | None:
    """The route as it is documented; None when there is none, or the request did not get so far."""
    route = scope.get("route")
    return getattr(route, "path_format", None) or getattr(route, "path", None)


def shown_method(scope: MutableMapping[str, Any]) -> str:
    """The method; of one that somebody made up the beginning."""
    return str(scope["method"][:MAX_METHOD])


def _named_citizens(state: Mapping[str, Any]) -> list[str]:
    caller = state.get("caller")
    return sorted(caller.citizens)[:MAX_CITIZENS] if caller else []
