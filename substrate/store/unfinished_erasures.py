"""Notes of erasures under way, written before anything is removed, so that an interrupted one can be finished.

A note names the target until all of it is removed. Then the name is deleted from the note, so that the log, which
is rewritten next, does not contain it either.
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
from substrate.connection.lines import Command
from substrate.connection.pool import Connection
from substrate.engine.append_log import DELETIONS
from substrate.engine.data_directory import try_lock
from substrate.graphs.graph import Graph
from substrate.likeness.elements import set_names
from substrate.store.erasure import MARKS, ErasureMark, format_mark

UNFINISHED: Final = "substrate:erasures:unfinished"
"""A Redis hash: name of the mark -> note."""
LOCK_POLL_S: Final = 0.02

type Kind = Literal["memory", "episode", "citizen", "collective"]


class ErasureTarget(NamedTuple):
    """The thing to erase; `id` is the id of a memory or an episode, empty for a whole graph."""

    kind: Kind
    graph: str
    id: str = ""

    def digest(self) -> str:
        """Return a digest that identifies the target without revealing it."""
        return blake2b("\n".join(self).encode(), digest_size=16, person=b"erased").hexdigest()


class ErasureNote(NamedTuple):
    """An erasure that began `at`. `target` is None once it is removed from the graph; files may still hold it.

    `graph`: that of a memory or an episode, empty for a whole graph. `mirror`: the directory in which the process
    that began it keeps mirrors; empty where a former version did not tell.
    """

    at: int
    digest: str
    target: ErasureTarget | None
    graph: str = ""
    mirror: str | None = None

    @property
    def left_in(self) -> str | None:
        """The graph of which copies may be left; None for one that is gone and whose name is known no more."""
        return self.target.graph if self.target else self.graph or None


async def read_notes(connection: Connection) -> dict[str, ErasureNote]:
    """Return the notes of all unfinished erasures, by the name of their mark."""
    texts = await connection.command("HGETALL", UNFINISHED)
    return {name: parse_note(text) for name, text in texts.items()}


def parse_note(text: str) -> ErasureNote:
    fields = {"mirror": "", **orjson.loads(text)}
    target = fields.pop("target")
    return ErasureNote(target=None if target is None else ErasureTarget(*target), **fields)


def format_note(note: ErasureNote) -> str:
    """Return the note in its stored form."""
    target = None if note.target is None else list(note.target)
    return orjson.dumps({**note._asdict(), "target": target}).decode()


async def begin(connection: Connection, notes: Mapping[str, ErasureNote]) -> None:
    """Write the notes and marks of erasures, all or none, before anything is removed. They have the same names."""
    writes: list[Command] = []
    for name, note in notes.items():
        writes += [
            ("HSET", UNFINISHED, name, format_note(note)),
            ("HSET", MARKS, name, format_mark(ErasureMark(note.at))),
            ("HDEL", MARKS, note.digest),
        ]
    await connection.transaction(*writes)


async def note_all_removed(connection: Connection, notes: Mapping[str, ErasureNote]) -> None:
    """Delete the targets from the notes, once everything is removed."""
    await connection.transaction(*_without_targets(notes))


def _without_targets(notes: Mapping[str, ErasureNote]) -> list[Command]:
    return [("HSET", UNFINISHED, name, format_note(note._replace(target=None))) for name, note in notes.items()]


async def delete_graph(graph: Graph, notes: Mapping[str, ErasureNote]) -> None:
    """Delete a graph, and the targets of its notes in the same transaction.

    So a process that finishes the erasure later never deletes a newer graph of the same name.
    """
    await graph.connection.command("INCR", DELETIONS)
    while True:
        async with graph.connection.watched([UNFINISHED]) as unchanged:
            now = await read_notes(graph.connection)
            left = {name: note for name, note in notes.items() if name in now and now[name].target is not None}
            if not left:
                return
            with suppress(GraphMissing):
                sets = ("DEL", *set_names(graph.name))
                if not await unchanged(sets, ("GRAPH.DELETE", graph.name), *_without_targets(left)):
                    continue
            return


async def finish(connection: Connection, name: str, note: ErasureNote, *, log_rewritten: bool, late: bool) -> None:
    """Mark an erasure as finished and remove its note.

    `late` is True when another process began it. The sender of the command may then send it again under another
    id, so the mark is also written under the digest of the target.
    """
    mark = format_mark(ErasureMark(note.at, log_rewritten))
    by_target: list[Command] = [("HSET", MARKS, note.digest, mark)] if late else []
    await connection.transaction(("HSET", MARKS, name, mark), *by_target, ("HDEL", UNFINISHED, name))


@asynccontextmanager
async def shared_lock(directory: Path | None) -> AsyncIterator[None]:
    """Hold this lock while erasing: it shows that the erasure was not interrupted. Several may hold it at once."""
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
    """Try to lock out all erasures; yields False when one is running. Always True for a server (no directory)."""
    lock = None if directory is None else try_lock(directory / "engine.erasing", fcntl.LOCK_EX)
    try:
        yield directory is None or lock is not None
    finally:
        if lock is not None:
            os.close(lock)
