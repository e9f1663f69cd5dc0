"""Logs: lines of JSON on standard error, each with the id of the request and the citizens it is about.

The logger `substrate.audit` writes one line for each request that needs a key: who called, from where, on which
route as documented. It never writes the path that was sent, a header or a body, so that it contains no key and no
memory. For a refused key it writes the id, if the key has the form of ours.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from hashlib import blake2b
from typing import Any, Final

import orjson
from starlette.types import Scope

from api.asgi.messages import client_address

audit: Final = logging.getLogger("substrate.audit")
MAX_CITIZENS: Final = 20
MAX_COMMANDS: Final = 20
"""A longer list is cut; each stored record names its command."""
MAX_METHOD: Final = 20
OUR_LOGGERS: Final = ("api", "orchestration", "substrate", "uvicorn")

REQUEST_STATE: Final[ContextVar[Mapping[str, Any] | None]] = ContextVar("request", default=None)
"""The state of the current request: its `request_id`, and its `caller` once that is known."""


class JsonLineFormatter(logging.Formatter):
    """Each record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time and level, then the fields of an audit line, or message, request and traceback of any other."""
        entry: dict[str, Any] = {"time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"), "level": record.levelname}
        fields = getattr(record, "audit", None) or self._fields(record)
        return orjson.dumps(entry | fields, default=str).decode()

    def _fields(self, record: logging.LogRecord) -> dict[str, Any]:
        fields: dict[str, Any] = {"logger": record.name, "message": record.getMessage()}
        state = REQUEST_STATE.get()
        if state is not None:
            fields |= {"request_id": state["request_id"], "citizens": _named_citizens(state)}
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return fields


def configure_logging(level: str = "info") -> None:
    """Write logs to standard error: ours from `level` on, warnings of libraries, and always the audit log.

    `level` is one of uvicorn's; its `trace` counts as `debug`.
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


def log_request(scope: Scope, status: int, seconds: float) -> None:
    """Write the audit line of an answered request."""
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
                "commands": list(map(command_digest, caller.commands[:MAX_COMMANDS])) if caller else [],
                "status": status,
                "ms": round(seconds * 1000, 1),
            }
        },
    )


def command_digest(command_id: str) -> str:
    """A digest of the id: it finds the lines of a command, and does not tell the names that the id was made of."""
    return blake2b(command_id.encode(), digest_size=8, person=b"command").hexdigest()


def route_template(scope: MutableMapping[str, Any]) -> str | None:
    """The path of the route as documented; None when no route matched, or the request was refused before."""
    route = scope.get("route")
    return getattr(route, "path_format", None) or getattr(route, "path", None)


def shown_method(scope: MutableMapping[str, Any]) -> str:
    """The method, cut to `MAX_METHOD` characters: a caller can send any."""
    return str(scope["method"][:MAX_METHOD])


def _named_citizens(state: Mapping[str, Any]) -> list[str]:
    caller = state.get("caller")
    return sorted(caller.citizens)[:MAX_CITIZENS] if caller else []
