"""A network between servers on loopback that can be cut: each server has a door, by which others reach it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Final

OUTSIDE: Final = "127.0.0.1"
"""Where those speak from that are none of the servers: the services."""
CHUNK: Final = 1 << 16


class Network:
    """Carries what is sent to a door to the server behind it, and its answers back.

    Who sends is told by its address, so each server has one of its own (`bind-source-addr`). Between the two sides
    of a cut nothing comes through, not even the end of a connection, until the network is whole again: then all of
    it arrives, as what a network lost is sent again.
    """

    def __init__(self) -> None:
        self._whole = asyncio.Event()
        self._whole.set()
        self._apart: frozenset[str] = frozenset()
        self._reaches_all = False
        self._doors: list[asyncio.Server] = []
        self._carrying: set[asyncio.Task[None]] = set()

    async def open(self, door: int, port: int, address: str) -> None:
        """Carry what comes to one port on to another, on which the server with this address listens."""
        self._doors.append(await asyncio.start_server(partial(self._carry, port, address), OUTSIDE, door))

    def cut(self, addresses: Iterable[str], *, services_reach_all: bool) -> None:
        """Part these servers from all others, and from the services unless those reach both sides."""
        self._apart, self._reaches_all = frozenset(addresses), services_reach_all
        self._whole.clear()

    def mend(self) -> None:
        """Make the network whole again."""
        self._apart = frozenset()
        self._whole.set()

    def is_apart(self, address: str) -> bool:
        """Whether a server is parted from most others."""
        return address in self._apart

    def _is_cut(self, one: str, other: str) -> bool:
        if self._reaches_all and OUTSIDE in (one, other):
            return False
        return self.is_apart(one) != self.is_apart(other)

    async def _carry(
        self, port: int, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)
        source = writer.get_extra_info("peername")[0]

        async def pass_on(come_in: asyncio.StreamReader, go_out: asyncio.StreamWriter) -> None:
            with suppress(OSError):
                while data := await come_in.read(CHUNK):
                    await self._until_passable(source, address)
                    go_out.write(data)
                    await go_out.drain()
            await self._until_passable(source, address)
            go_out.close()

        into: asyncio.StreamWriter | None = None
        with suppress(OSError, asyncio.CancelledError):
            await self._until_passable(source, address)
            behind, into = await asyncio.open_connection(OUTSIDE, port)
            await asyncio.gather(pass_on(reader, into), pass_on(behind, writer))
        for end in (writer, into):
            if end is not None:
                end.close()

    async def _until_passable(self, source: str, address: str) -> None:
        while self._is_cut(source, address):
            await self._whole.wait()

    async def close(self) -> None:
        """Close all doors, and what is carried."""
        for door in self._doors:
            door.close()
        for task in self._carrying:
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)
