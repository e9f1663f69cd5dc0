"""Notes of erasures under way, written before anything is removed, so that none stays half done.

A note names what is to be removed until all of it is gone. Then it names nothing, so that the log, which is
rewritten next, holds no name either.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final, Literal, NamedTuple

import orjson

from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Command, Connection
from substrate.engine.append_log import DELETIONS
from substrate.engine.data_directory import try_lock
from substrate.graphs.graph import Graph
from substrate.store.erasure import MARKS, ErasureMark, format_mark

UNFINISHED: Final = "substrate:erasures:unfinished"
"""A Redis hash: name of the mark -> note."""
LOCK_POLL_S: Final = 0.02

type Kind = Literal["memory", "episode", "citizen"]


class ErasureTarget(NamedTuple):
    """What is erased; `id` is that of the memory or the episode, empty for a citizen."""

    kind: Kind
    graph: str
    id: str = ""

    def digest(self) -> str:
        """Identifies the target without telling anything of it."""
        return blake2b("\n".join(self).encode(), digest_size=16, person=b"erased").hexdigest()


class ErasureNote(NamedTuple):
    """An erasure that began `at`. `target` is None once all is removed, and only files may still hold it."""

    at: int
    digest: str
    target: ErasureTarget | None


async def read_notes(connection: Connection) -> dict[str, ErasureNote]:
    """The notes of all unfinished erasures, by the name of their mark."""
    texts = await connection.command("HGETALL", UNFINISHED)
    return {name: parse_note(text) for name, text in texts.items()}


def parse_note(text: str) -> ErasureNote:
    fields = orjson.loads(text)
    target = fields["target"]
    return ErasureNote(fields["at"], fields["digest"], None if target is None else ErasureTarget(*target))


def format_note(note: ErasureNote) -> str:
    """The note in its stored form."""
    target = None if note.target is None else list(note.target)
    return orjson.dumps({**note._asdict(), "target": target}).decode()


async def begin(connection: Connection, name: str, note: ErasureNote) -> None:
    """Write the note and the mark of an erasure, before anything is removed. `name` is that of the mark."""
    await connection.transaction(
        ("HSET", UNFINISHED, name, format_note(note)),
        ("HSET", MARKS, name, format_mark(ErasureMark(note.at))),
        ("HDEL", MARKS, note.digest),
    )


async def note_all_removed(connection: Connection, notes: Mapping[str, ErasureNote]) -> None:
    """Note that everything is removed: the notes name nothing from now on."""
    await connection.transaction(*_without_targets(notes))


def _without_targets(notes: Mapping[str, ErasureNote]) -> list[Command]:
    return [("HSET", UNFINISHED, name, format_note(note._replace(target=None))) for name, note in notes.items()]


async def delete_graph(graph: Graph, notes: Mapping[str, ErasureNote]) -> None:
    """Delete a graph and note in the same transaction that it is gone.

    So whoever finishes the erasure later never deletes a newer graph of the same name.
    """
    await graph.connection.command("INCR", DELETIONS)
    while True:
        async with graph.connection.watched([UNFINISHED]) as unchanged:
            now = await read_notes(graph.connection)
            left = {name: note for name, note in notes.items() if name in now and now[name].target is not None}
            if not left:
                return
            with suppress(GraphMissing):
                if not await unchanged(("GRAPH.DELETE", graph.name), *_without_targets(left)):
                    continue
            return


async def finish(
    connection: Connection, notes: Mapping[str, ErasureNote], *, log_rewritten: bool, late: bool
) -> None:
    """Mark the erasures as finished and remove their notes.

    `late`: another process finished them than began them; whoever sent the command may send it again under another
    id, so the mark is written under the digest of the target, too.
    """
    for name, note in notes.items():
        mark = format_mark(ErasureMark(note.at, log_rewritten))
        by_target: list[Command] = [("HSET", MARKS, note.digest, mark)] if late else []
        await connection.transaction(("HSET", MARKS, name, mark), *by_target, ("HDEL", UNFINISHED, name))


@asynccontextmanager
async def shared_lock(directory: Path | None) -> AsyncIterator[None]:
    """Hold this while erasing, so that nobody takes the erasure for an interrupted one. Several may hold it."""
    if directory is None:
        yield
        return
    lock = try_lock(directory / "engine.erasing", fcntl.LOCK_SH)
    while lock is None:
        await asyncio.sleep(LOCK_POLL_S)
        lock = try_lock(directory / "engine.erasing", fcntl.LOCK_SH)
    try:
        yield
    finally:
        os.close(lock)


@asynccontextmanager
async def exclusive_lock(directory: Path | None) -> AsyncIterator[bool]:
    """Yields whether nobody erases now; nobody can begin while this is open. Always True for a server."""
    lock = None if directory is None else try_lock(directory / "engine.erasing", fcntl.LOCK_EX)
    try:
        yield directory is None or lock is not None
    finally:
        if lock is not None:
            os.close(lock)
