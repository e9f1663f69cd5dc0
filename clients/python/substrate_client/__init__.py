"""The Python client of Substrate: `Substrate` waits for its answers, `AsyncSubstrate` is awaited.

    with Substrate() as memory:  # SUBSTRATE_BASE_URL, SUBSTRATE_API_KEY
        memory.remember(citizen_id="ada", name="Tea with Tom", text="He takes it black.", emotions={"joy": 0.8})
        stream = memory.retrieve(citizen_id="ada", query="tea")

Both have the same methods. Every method takes a value of `substrate_client.models`, or its fields by name
(`substrate_client._calls`). All errors are classes of `substrate_client.errors`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from substrate_client.async_client import AsyncSubstrate
    from substrate_client.sync_client import Substrate

__all__ = ["AsyncSubstrate", "Substrate"]
_HOMES: Final = {
    "AsyncSubstrate": "substrate_client.async_client",
    "Substrate": "substrate_client.sync_client",
}


def __getattr__(name: str) -> Any:
    """A client, imported when it is asked for: who needs an error alone loads no HTTP."""
    if name not in _HOMES:
        raise AttributeError(f"module 'substrate_client' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
