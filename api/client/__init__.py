"""The Python client: `Substrate` waits for its answers, `AsyncSubstrate` is awaited; both have the same methods.

    with Substrate() as memory:  # SUBSTRATE_BASE_URL, SUBSTRATE_API_KEY
        memory.remember(citizen_id="ada", name="Tea with Tom", text="He takes it black.", emotions={"joy": 0.8})
        stream = memory.retrieve(citizen_id="ada", query="tea")

`Substrate.embedded(path)` needs no service. Every method takes a value of `schemas`, or its fields by name
(`api.client._calls`). All errors are classes of `schemas.errors`.
"""

from api.client.async_client import AsyncSubstrate
from api.client.sync_client import Substrate

__all__ = ["AsyncSubstrate", "Substrate"]
