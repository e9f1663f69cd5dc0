"""The audit log: one line of JSON for each request that used a key, at the logger `substrate.audit`.

It names the route as it is documented, never the address that was sent, and no header and no body: so no key
and no memory can stand in it.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, Final

import orjson
from starlette.types import Scope

logger: Final = logging.getLogger("substrate.audit")
MAX_CITIZENS: Final = 20


class JsonLines(logging.Formatter):
    """Each record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level and message; of the audit log its fields in place of a message."""
        entry: dict[str, Any] = {"time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"), "level": record.levelname}
        said = getattr(record, "audit", None) or {"message": record.getMessage()}
        return orjson.dumps(entry | said).decode()


def configure() -> None:
    """Send the audit log to standard error, whatever other logs do."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False


def note(scope: Scope, request_id: str, status: int, milliseconds: float) -> None:
    """One line on a request that has been answered."""
    state = scope["state"]
    caller = state.get("caller")
    citizens = sorted(caller.citizens) if caller else []
    route = scope.get("route")
    logger.info(
        "request",
        extra={
            "audit": {
                "event": "request",
                "request_id": request_id,
                "key": caller.principal.key_id if caller else None,
                "method": scope["method"],
                "route": getattr(route, "path_format", None) or getattr(route, "path", None),
                "citizens": citizens[:MAX_CITIZENS],
                "status": status,
                "ms": round(milliseconds, 1),
            }
        },
    )
