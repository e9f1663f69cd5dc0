"""Park: the keys of a citizen who is not used go to a file, and come back at the next request.

In the place of each key stands a mark then, a text with the checksum of the file. The transaction that sets the
marks drops the graph and its vector sets, and does nothing if one of them was written to since it was read. The
engine refuses every command that means a graph or a set where a text is, and a write that was under way when
the graph went; both did nothing then. So no reader takes the citizen for an empty one, and no write, of whichever
kind, is lost or makes a second graph: `Connection` has the citizen woken, and sends the command again.

A mark names the one file that counts; one that no mark names is an old copy, or of an attempt that was broken off.
A file stays when its citizen wakes, so that a server that loses its last moments does not lose all; the next park,
and every erasure from the citizen, remove it.
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
from substrate.connection.pool import Connection, NothingParked
from substrate.cypher import schema as cypher
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.graphs.names import CITIZEN_PREFIX, DELETIONS
from substrate.likeness.elements import set_names

ENDING: Final = ".parked"
LINKED: Final = ".backup-"
"""The name of a folder with links to the files, for a backup under way, begins so."""
MARK: Final = "substrate:parked:"
"""What a mark begins with; the checksum follows."""
LATEST_WRITE: Final = Query(
    "latest_write", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN coalesce(m.clock, m.created_at)"
)
TRIES: Final = 5
NAMES_AT_ONCE: Final = 1_000
LOCK_WAIT_S: Final = 9.0
_PART: Final = ".part"
_REMEDY: Final = (
    "Put the file back, from a backup of the folder. `substrate unpark --give-up` forgets the citizen."
)


def parks_held(connection: Connection) -> AbstractAsyncContextManager[None]:
    """Within the context nobody else parks, so that a backup has the file of each mark."""
    return connection.lock(
        "substrate:parking", wait_s=LOCK_WAIT_S, refusal="a backup is made, or another is parked"
    )


class Parking(NothingParked):
    """Parks citizens in a folder and wakes them. Several processes may: a lock of the store is held meanwhile."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self.connection = connection
        self.folder = folder
        self._waking: dict[str, asyncio.Task[bool]] = {}
        connection.parked = self

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
        keys = [*set_names(graph), graph]
        async with self.connection.watched([graph, *set_names(graph)]) as unchanged:
            if await self._checksum(graph) is not None:
                return False
            dumps = [(key, await self.connection.dump(key)) for key in keys]
            present = [(key, dump) for key, dump in dumps if dump is not None]
            if not await Graph(self.connection, graph).read_existing(cypher.READ_STAMP):
                raise NotFound(f"nothing was remembered for {graph.removeprefix(CITIZEN_PREFIX)} yet")
            content = _pack(graph, present)
            checksum = hashlib.sha256(content).hexdigest()
            await asyncio.to_thread(_write, self._path(graph, checksum), content)
            await self.connection.command("INCR", DELETIONS)
            marks = [("SET", key, f"{MARK}{checksum}") for key in keys]
            done = await unchanged(("GRAPH.DELETE", graph), *marks)
        await asyncio.to_thread(self._remove_files, graph, self._path(graph, checksum) if done else None)
        self.connection.missing(graph)
        self.connection.forget_kept(graph)
        return True if done else None

    async def wake(self, key: str) -> bool:
        """As `NothingParked.wake`. Raises as `unpark` does."""
        graph = key[1 : key.find("}")] if key.startswith("{") else key
        if not graph.startswith(CITIZEN_PREFIX):
            return False
        await self.unpark(graph)
        return str(await self.connection.command("TYPE", key)) != "string"

    async def unpark(self, graph: str, *, is_lost: bool = False) -> bool:
        """Bring a citizen back; False when it is not parked. All who ask at once wait for one. Raises StoreMisfit
        when its file is not the one that was written; then nothing is changed. `is_lost`: that is known, and the
        citizen is forgotten."""
        if (waking := self._waking.get(graph)) is None:
            waking = self._waking[graph] = asyncio.create_task(self._unpark(graph, is_lost=is_lost))
            waking.add_done_callback(lambda _: self._waking.pop(graph, None))
        return await asyncio.shield(waking)

    async def _unpark(self, graph: str, *, is_lost: bool) -> bool:
        if await self._checksum(graph) is None:
            return False
        async with self._locked(graph):
            for _ in range(TRIES):
                async with self.connection.watched([graph]) as unchanged:
                    if (checksum := await self._checksum(graph)) is None:
                        return False
                    keys = [] if is_lost else await asyncio.to_thread(self._read, graph, checksum)
                    # If one fails, the others are done all the same: the graph, which decides, is the last.
                    restored = [("RESTORE", key, 0, dump, "REPLACE") for key, dump in keys]
                    dropped = ("DEL", *set_names(graph), *([graph] if is_lost else []))
                    try:
                        done = await unchanged(dropped, *restored)
                    except Fault as error:
                        raise StoreMisfit(
                            f"the server does not take the file of parked {graph}: {error.detail}",
                            remedy="Use the engine that parked it; nothing was changed.",
                        ) from error
                if done:
                    self.connection.missing(graph)
                    if is_lost:
                        await asyncio.to_thread(self._remove_files, graph, None)
                    return True
        raise Conflict(f"{graph} could not be woken", remedy="Try again in a moment.")

    async def _checksum(self, graph: str) -> str | None:
        """What the mark of a parked citizen says; None for any other."""
        if await self.connection.command("TYPE", graph) != "string":
            return None
        with suppress(Fault):  # woken at this moment
            mark = str(await self.connection.command("GET", graph))
            return mark.removeprefix(MARK) if mark.startswith(MARK) else None
        return None

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

    async def names(self) -> list[str]:
        """The sorted names of the parked graphs."""
        names = sorted(await asyncio.to_thread(self._names))
        parked: list[str] = []
        for some in batched(names, NAMES_AT_ONCE):
            found = await self.connection.read_together("TYPE", [("TYPE", name) for name in some])
            for name, reply in zip(some, found, strict=True):
                if isinstance(reply, Exception):
                    raise reply
                if str(reply) == "string":
                    parked.append(name)
        return parked

    async def drop_copies(self, graph: str | None) -> None:
        """As `NothingParked.drop_copies`. Raises InvalidRequest when a file cannot be removed."""
        for name in await asyncio.to_thread(self._names) if graph is None else {graph}:
            if await asyncio.to_thread(self._files, name):
                async with self._locked(name):
                    checksum = await self._checksum(name)
                    kept = None if checksum is None else self._path(name, checksum)
                    await asyncio.to_thread(self._remove_files, name, kept)

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

    def _files(self, graph: str) -> list[Path]:
        """With those that a backup under way, or one that was killed, has links to."""
        name = f"{_file_name(graph)}.*"
        return [*self.folder.glob(name), *self.folder.glob(f"{LINKED}*/{name}")]

    def _remove_files(self, graph: str, kept: Path | None) -> None:
        try:
            for path in self._files(graph):
                if kept is None or path.name != kept.name:
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise InvalidRequest(f"{self.folder} cannot be written: {error.strerror}") from error

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
            f"{path} cannot be written: {error.strerror}", remedy="Free space there, or set SUBSTRATE_PARK_TO."
        ) from error
