"""A statement that is applied exactly once, over a connection that may be lost before the answer comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from schemas.errors import StoreTimeout, Unavailable
from substrate.connection.errors import ConnectionLost
from substrate.connection.patience import patience_s
from substrate.connection.pool import Row
from substrate.cypher.query import Query
from substrate.graphs import indexes
from substrate.graphs.graph import Graph
from substrate.likeness.elements import Vector

RETRY_FOR_S: Final = 3.0
RETRY_EVERY_S: Final = 0.05


class WriteUnconfirmed(Unavailable):
    """The connection was lost during a write, and it is not known whether the write was applied."""


class ExactlyOnceWrite:
    """A statement that reads the receipts of its commands first, and applies no command that has one.

    So it can be sent again after a lost connection: in one atomic step it either finds the receipts of the first
    sending, or applies the commands. `again` is True when it was sent before, alone or in a larger statement.
    """

    def __init__(
        self,
        graph: Graph,
        query: Query,
        values: Mapping[str, Any],
        *,
        again: bool = False,
        vectors: Sequence[Vector] = (),
    ) -> None:
        """`vectors`: those of its records, which are kept before it; keeping them again changes nothing."""
        self.again = again
        self._vectors = vectors
        self._graph = graph
        self._query = query
        self._values = values

    async def send(self, command_ids: Sequence[str], *, divisible: bool = False) -> list[Row]:
        """Send the statement until the engine answers, and return its rows. The error names `command_ids`.

        Raises WriteUnconfirmed when the connection was lost and no new one could be made for three seconds, or for
        as long as a load has patience, else as `Graph.write` does. A `divisible` statement that runs past its
        deadline is not sent again: it raises StoreTimeout, also after a lost connection.
        """
        give_up = time.monotonic() + max(RETRY_FOR_S, patience_s())
        while True:
            try:
                if self.again:
                    await indexes.wait_operational(self._graph)
                return await self._graph.write_after(self._vectors, self._query, **self._values)
            except Unavailable as error:
                if divisible and isinstance(error, StoreTimeout):
                    raise
                if not self.again and not isinstance(error, ConnectionLost):
                    raise
                self.again = True
                if time.monotonic() > give_up:
                    raise WriteUnconfirmed(
                        "the engine stopped answering during the write; "
                        "it is not known yet whether this was stored",
                        remedy="Ask GET /v1/receipts/{command_id}, or send it again with the same command_id: "
                        "it is applied once.",
                        faults=[f"command_id {command_id}: not known" for command_id in command_ids],
                    ) from error
                await asyncio.sleep(RETRY_EVERY_S)
