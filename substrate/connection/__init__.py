"""The connection to the engine: the only place that knows its client library."""

from __future__ import annotations

import sys

# Where the SDK of OpenTelemetry is installed the client imports its metrics too, in a fifth of its time, and
# nobody asks for them. So they are missing while it is imported.
if not {"redis", "opentelemetry.sdk.metrics"} & sys.modules.keys():
    sys.modules["opentelemetry.sdk.metrics"] = None  # type: ignore[assignment]
    import redis.asyncio  # noqa: F401

    del sys.modules["opentelemetry.sdk.metrics"]
