"""Park: the keys of a citizen who is not used go to a file, and come back at the next request.

The marker in the store decides, which has the checksum of the file: the transaction that sets it drops the graph,
and only where nothing was written since it was read. A file that no marker names is of an attempt that was broken
off, and counts for nothing. A graph that is there is the truth, whatever marker stands beside it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress
from itertools import batched
from pathlib import Path
from secrets import token_hex
from typing import Final

import orjson

from schemas.errors import Conflict, Fault, InvalidRequest, NotFound, StoreMisfit
from schemas.temporal import Instant
from substrate.connection.pool import Connection
from substrate.cypher import schema as cypher
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.graphs.names import CITIZEN_PREFIX, DELETIONS
from substrate.likeness.elements import set_names

ENDING: Final = ".parked"
LATEST_WRITE: Final = Query(
    "latest_write", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN coalesce(m.clock, m.created_at)"
)
TRIES: Final = 5
MARKERS_AT_ONCE: Final = 1_000
LOCK_WAIT_S: Final = 9.0
_PART: Final = ".part"
_REMEDY: Final = "Put the file back, from a backup of the folder; nothing was changed."


def marker_of(graph: str) -> str:
    """The key that says that a graph is parked, in its slot."""
    return f"{{{graph}}}substrate:parked"


def parks_held(connection: Connection) -> AbstractAsyncContextManager[None]:
    """Within the context nobody else parks, so that a backup has the file of each marker."""
    return connection.lock(
        "substrate:parking", wait_s=LOCK_WAIT_S, refusal="a backup is made, or another is parked"
    )


class Parking:
    """Parks citizens in a folder and wakes them. Several processes may: a lock of the store is held meanwhile."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self.connection = connection
        self.folder = folder
        self._waking: dict[str, asyncio.Task[bool]] = {}
        connection.wake, connection.parked = self.wake, self.parked

    async def park(self, graph: str) -> bool:
        """Write the keys of a citizen to a file and drop them; False when that was done before. Raises NotFound,
        Conflict when it is written to all the time, InvalidRequest when the file cannot be written."""
        async with parks_held(self.connection), self._locked(graph):
            for _ in range(TRIES):
                if (parked := await self._try_park(graph)) is not None:
                    return parked
        raise Conflict("the citizen is written to, so it is not parked", remedy="Try again when it is quiet.")

    async def _try_park(self, graph: str) -> bool | None:
        """None when something was written meanwhile; then nothing was changed."""
        marker = marker_of(graph)
        keys = [*set_names(graph), graph]
        async with self.connection.watched([graph, *set_names(graph), marker]) as unchanged:
            dumps = [(key, await self.connection.dump(key)) for key in keys]
            present = [(key, dump) for key, dump in dumps if dump is not None]
            is_stored = present and present[-1][0] == graph
            if not is_stored or not await Graph(self.connection, graph).read_existing(cypher.READ_STAMP):
                if await self.connection.command("EXISTS", marker):
                    return False
                raise NotFound(f"nothing was remembered for {graph.removeprefix(CITIZEN_PREFIX)} yet")
            content = _pack(graph, present)
            checksum = hashlib.sha256(content).hexdigest()
            await asyncio.to_thread(_write, self._path(graph, checksum), content)
            await self.connection.command("INCR", DELETIONS)
            done = await unchanged(("SET", marker, checksum), ("DEL", *set_names(graph)), ("GRAPH.DELETE", graph))
        kept = self._path(graph, checksum) if done else None
        await asyncio.to_thread(self._remove_files, graph, kept)
        self.connection.missing(graph)
        self.connection.forget_kept(graph)
        return True if done else None

    async def wake(self, graph: str) -> bool:
        """Bring a parked citizen back; False when the citizen is not parked. All who ask at once wait for one.
        Raises StoreMisfit when its file is not the one that was written; then nothing is changed."""
        if not graph.startswith(CITIZEN_PREFIX):
            return False
        if (waking := self._waking.get(graph)) is None:
            waking = self._waking[graph] = asyncio.create_task(self._wake(graph))
            waking.add_done_callback(lambda _: self._waking.pop(graph, None))
        return await asyncio.shield(waking)

    async def _wake(self, graph: str) -> bool:
        marker = marker_of(graph)
        if await self.connection.command("GET", marker) is None:
            return False
        async with self._locked(graph):
            for _ in range(TRIES):
                checksum = await self.connection.command("GET", marker)
                if checksum is None or await self._is_awake(graph):
                    break
                keys = await asyncio.to_thread(self._read, graph, str(checksum))
                await self._restore(graph, keys)
            else:
                raise Conflict(f"{graph} could not be woken", remedy="Try again in a moment.")
            await self.connection.command("DEL", marker)
            await asyncio.to_thread(self._remove_files, graph, None)
            self.connection.missing(graph)
        return True

    async def _is_awake(self, graph: str) -> bool:
        """By the key itself, since reading a graph that is missing would wake it."""
        if not await self.connection.command("EXISTS", graph):
            return False
        return bool(await Graph(self.connection, graph).read(cypher.READ_STAMP))

    async def _restore(self, graph: str, keys: Sequence[tuple[str, bytes]]) -> None:
        """The marker stays: a command of a transaction that fails does not keep the others from being done."""
        async with self.connection.watched([graph, marker_of(graph)]) as unchanged:
            if await self._is_awake(graph):
                return
            try:
                await unchanged(*(("RESTORE", key, 0, dump, "REPLACE") for key, dump in keys))
            except Fault as error:
                raise StoreMisfit(
                    f"the server does not take the file of {graph}: {error.detail}",
                    remedy="Use the engine that parked it; nothing was changed.",
                ) from error

    async def park_unused(self, graphs: Sequence[str], before: Instant) -> int:
        """Park those citizens of the graphs that were not written to since then; returns how many."""
        count = 0
        for graph in graphs:
            if not graph.startswith(CITIZEN_PREFIX):
                continue
            rows = await Graph(self.connection, graph).read_existing(LATEST_WRITE)
            if rows and int(rows[0][0]) < before:
                with suppress(Conflict, NotFound):  # it is used just now
                    count += await self.park(graph)
        return count

    async def parked(self) -> list[str]:
        """Sorted names of the graphs that are parked."""
        names = sorted(await asyncio.to_thread(self._names))
        parked: list[str] = []
        for some in batched(names, MARKERS_AT_ONCE):
            commands = [("EXISTS", marker_of(name)) for name in some]
            found = await self.connection.read_together("EXISTS", commands)
            for name, reply in zip(some, found, strict=True):
                if isinstance(reply, Exception):
                    raise reply
                if reply:
                    parked.append(name)
        return parked

    def _locked(self, graph: str) -> AbstractAsyncContextManager[None]:
        refusal = "the citizen is being parked or woken"
        return self.connection.lock(f"{{{graph}}}substrate:parking", wait_s=LOCK_WAIT_S, refusal=refusal)

    def _path(self, graph: str, checksum: str) -> Path:
        return self.folder / f"{_file_name(graph)}.{checksum[:16]}{ENDING}"

    def _names(self) -> set[str]:
        names: set[str] = set()
        for path in self.folder.glob(f"*{ENDING}"):
            with suppress(OSError, ValueError, KeyError), path.open("rb") as file:
                names.add(orjson.loads(file.readline())["graph"])
        return names

    def _remove_files(self, graph: str, kept: Path | None) -> None:
        for path in list(self.folder.glob(f"{_file_name(graph)}.*")):
            if path != kept:
                path.unlink(missing_ok=True)

    def _read(self, graph: str, checksum: str) -> list[tuple[str, bytes]]:
        path = self._path(graph, checksum)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise StoreMisfit(f"the file of parked {graph} cannot be read: {error}", remedy=_REMEDY) from error
        if hashlib.sha256(content).hexdigest() != checksum:
            raise StoreMisfit(f"{path} is not the file to which {graph} was parked", remedy=_REMEDY)
        head, _, rest = content.partition(b"\n")
        keys: list[tuple[str, bytes]] = []
        for key, length in orjson.loads(head)["keys"]:
            keys.append((key, rest[:length]))
            rest = rest[length:]
        return keys


def _file_name(graph: str) -> str:
    """A citizen may have a name that no file can have."""
    return hashlib.sha256(graph.encode()).hexdigest()[:32]


def _pack(graph: str, dumps: Sequence[tuple[str, bytes]]) -> bytes:
    head = {"version": 1, "graph": graph, "keys": [(key, len(dump)) for key, dump in dumps]}
    return orjson.dumps(head) + b"\n" + b"".join(dump for _, dump in dumps)


def _write(path: Path, content: bytes) -> None:
    """Written under another name and on disk before it has its own."""
    draft = path.with_name(f"{path.name}.{token_hex(4)}{_PART}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise InvalidRequest(
            f"{path} cannot be written: {error.strerror}", remedy="Set SUBSTRATE_PARK_TO."
        ) from error
