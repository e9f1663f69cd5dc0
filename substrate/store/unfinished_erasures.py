"""Erasures that were begun and are not finished, noted before anything is removed: none stays half done.

While a note says what is to be removed, that is done first. Once all is gone it says so and names nothing, so that
the log which is written anew then holds no name either.
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
from substrate.store.erasure import MARKS, Mark, mark_said

UNFINISHED: Final = "substrate:erasures:unfinished"
"""A hash of the engine: digest of graph and command id → the note."""
TURN_STEP_S: Final = 0.02

type Kind = Literal["memory", "episode", "citizen"]


class Target(NamedTuple):
    """What is erased: `id` is that of the memory or the episode, empty for a citizen."""

    kind: Kind
    graph: str
    id: str = ""

    def digest(self) -> str:
        """What tells it from any other, and says nothing of it."""
        return blake2b("\n".join(self).encode(), digest_size=16, person=b"erased").hexdigest()


class Note(NamedTuple):
    """An erasure that was begun `at`. `target` is None once all is removed, and only files may hold it still."""

    at: int
    digest: str
    target: Target | None


async def noted(connection: Connection) -> dict[str, Note]:
    """All that are not finished, by the name of their mark."""
    kept = await connection.command("HGETALL", UNFINISHED)
    return {name: _read(said) for name, said in kept.items()}


def _read(said: str) -> Note:
    fields = orjson.loads(said)
    target = fields["target"]
    return Note(fields["at"], fields["digest"], None if target is None else Target(*target))


def _written(note: Note) -> str:
    target = None if note.target is None else list(note.target)
    return orjson.dumps({**note._asdict(), "target": target}).decode()


async def begin(connection: Connection, name: str, note: Note) -> None:
    """Note an erasure, before anything of it is removed, and keep its mark. `name`: that of the mark."""
    await connection.transaction(
        ("HSET", UNFINISHED, name, _written(note)),
        ("HSET", MARKS, name, mark_said(Mark(note.at))),
        ("HDEL", MARKS, note.digest),
    )


async def emptied(connection: Connection, notes: Mapping[str, Note]) -> None:
    """Note that all is removed."""
    await connection.transaction(*_emptied(notes))


def _emptied(notes: Mapping[str, Note]) -> list[Command]:
    return [("HSET", UNFINISHED, name, _written(note._replace(target=None))) for name, note in notes.items()]


async def delete_graph(graph: Graph, notes: Mapping[str, Note]) -> None:
    """Remove a graph and note in the same step that it is gone.

    So whoever finishes the erasure later never takes a graph of this name that was begun since.
    """
    await graph.connection.command("INCR", DELETIONS)
    while True:
        async with graph.connection.watched([UNFINISHED]) as unchanged:
            now = await noted(graph.connection)
            left = {name: note for name, note in notes.items() if name in now and now[name].target is not None}
            if not left:
                return
            with suppress(GraphMissing):
                if not await unchanged(("GRAPH.DELETE", graph.name), *_emptied(left)):
                    continue
            return


async def finish(connection: Connection, notes: Mapping[str, Note], *, log_rewritten: bool, late: bool) -> None:
    """Keep that these are finished. `late`: not by who began them, who may ask again under another command id."""
    for name, note in notes.items():
        done = mark_said(Mark(note.at, log_rewritten))
        told = [("HSET", MARKS, note.digest, done)] if late else []
        await connection.transaction(("HSET", MARKS, name, done), *told, ("HDEL", UNFINISHED, name))


@asynccontextmanager
async def turn(directory: Path | None) -> AsyncIterator[None]:
    """Hold this while erasing: nobody takes the erasure for one that broke off. Several may hold it at once."""
    if directory is None:
        yield
        return
    lock = try_lock(directory / "engine.erasing", fcntl.LOCK_SH)
    while lock is None:
        await asyncio.sleep(TURN_STEP_S)
        lock = try_lock(directory / "engine.erasing", fcntl.LOCK_SH)
    try:
        yield
    finally:
        os.close(lock)


@asynccontextmanager
async def only_turn(directory: Path | None) -> AsyncIterator[bool]:
    """Whether nobody erases now; nobody begins to as long as this is open. Of a server it is not known: True."""
    lock = None if directory is None else try_lock(directory / "engine.erasing", fcntl.LOCK_EX)
    try:
        yield directory is None or lock is not None
    finally:
        if lock is not None:
            os.close(lock)
