"""Sending a statement that applies once, over a connection that may be lost before the answer comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from schemas.errors import StoreTimeout, Unavailable
from substrate.connection.errors import ConnectionLost
from substrate.connection.pool import Row
from substrate.cypher.query import Query
from substrate.graphs import indexes
from substrate.graphs.graph import Graph

SOUGHT_FOR_S: Final = 3.0
SOUGHT_EVERY_S: Final = 0.05


class Unsure(Unavailable):
    """The connection was lost while a command was being applied, and what became of it could not be learnt."""


class Once:
    """A statement that looks for the receipts of its commands first and applies none that has one.

    Therefore it can be sent again after a lost connection: what the first sending did is then read from its
    receipts, in the same atomic step that would do it. `again` says that this happened, be it to the larger
    statement of which this is a part.
    """

    def __init__(self, graph: Graph, query: Query, values: Mapping[str, Any], *, again: bool = False) -> None:
        self.again = again
        self._graph = graph
        self._query = query
        self._values = values

    async def send(self, command_ids: Sequence[str], *, divisible: bool = False) -> list[Row]:
        """The rows of the statement, sent anew until the engine answers. `command_ids`: what to ask for later.

        Raises Unsure when a connection was lost and none was to be had for three seconds; else what
        `Connection.write` raises. A statement that is `divisible` is not sent anew when it takes too long:
        StoreTimeout, also after a lost connection.
        """
        give_up = time.monotonic() + SOUGHT_FOR_S
        while True:
            try:
                if self.again:
                    await indexes.wait_operational(self._graph)
                return await self._graph.write(self._query, **self._values)
            except Unavailable as error:
                if divisible and isinstance(error, StoreTimeout):
                    raise
                if not self.again and not isinstance(error, ConnectionLost):
                    raise
                self.again = True
                if time.monotonic() > give_up:
                    raise _unsure(command_ids) from error
                await asyncio.sleep(SOUGHT_EVERY_S)


def _unsure(command_ids: Sequence[str]) -> Unsure:
    return Unsure(
        "the engine was lost while it was writing; whether it stored this is not known yet",
        remedy="Ask GET /v1/receipts/{command_id}, or send it again with the same command_id: it is applied once.",
        faults=[f"command_id {command_id}: not known" for command_id in command_ids],
    )
