"""Backup and restore of a data directory: one moment of everything, proved before it is believed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

from schemas.backup import HeldGraph, Manifest
from schemas.errors import InvalidRequest, StoreMisfit
from schemas.temporal import Instant, to_datetime
from substrate.backup import files as backup
from substrate.backup import snapshot
from substrate.connection.pool import Connection
from substrate.engine import append_log
from substrate.engine.process import engine_versions
from substrate.engine.unix_socket import socket_path
from substrate.graphs.graph import Graph
from substrate.graphs.indexes import wait_operational
from substrate.store.archive import NEWEST_SCHEMA


async def back_up(connection: Connection, directory: Path, target: Path, now: Instant) -> Manifest:
    """Write a backup of the data directory to `target` while the engine serves; what it holds.

    All that was acknowledged before the moment of the snapshot is in it, nothing is half in. Raises Conflict
    when the target is not empty, InvalidRequest when it cannot be written, Unavailable when the engine cannot.
    Whoever stops it leaves a whole backup or none, and no snapshot in the data directory.
    """
    await asyncio.to_thread(backup.require_empty, target)
    versions = await engine_versions(socket_path(directory))
    async with append_log.snapshot_lock(directory):
        try:
            file, graphs = await snapshot.take_snapshot(connection, directory)
            bare = Manifest(taken_at=to_datetime(now), engine=versions, graphs=graphs, files={})
            return await _finished(asyncio.to_thread(_write, file, target, bare, directory))
        except asyncio.CancelledError:
            await _finished(snapshot.remove_snapshot(connection, directory))
            raise


def _write(file: Path, target: Path, bare: Manifest, directory: Path) -> Manifest:
    whole = backup.write_backup(file, target, bare)
    backup.note_backup(directory, target)
    return whole


async def _finished[T](work: Coroutine[Any, Any, T]) -> T:
    """The result of work that goes on to its end though we are stopped meanwhile; then we are."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def check_fits(manifest: Manifest, model: str, dimension: int) -> None:
    """Raises StoreMisfit when the backup has the vectors of another embedder, or a newer schema. Pure."""
    for name, graph in manifest.graphs.items():
        if graph.schema_version > NEWEST_SCHEMA:
            raise StoreMisfit(
                f"graph {name} of the backup has schema version {graph.schema_version}, "
                f"this Substrate has {NEWEST_SCHEMA}",
                remedy="Restore it with the release of Substrate that wrote it.",
            )
        if (graph.embedding_model, graph.dimension) != (model, dimension):
            raise StoreMisfit(
                f"graph {name} of the backup has the vectors of {graph.embedding_model} "
                f"({graph.dimension} dimensions), configured is {model} ({dimension})",
                remedy="Set SUBSTRATE_EMBEDDING to the former and restore; `substrate reembed` changes it then.",
            )


async def prove(connection: Connection, manifest: Manifest) -> None:
    """See that the restored engine holds what the backup says, and answers. Raises InvalidRequest."""
    found = await snapshot.count_graphs(connection)
    differing = sorted(
        name for name in found.keys() | manifest.graphs.keys() if found.get(name) != manifest.graphs.get(name)
    )
    if differing:
        said = _first_difference(differing[0], manifest, found)
        raise InvalidRequest(
            f"the restored store does not hold what the backup says: {said}", remedy=backup.REMEDY_DAMAGED
        )
    for name in found:
        await wait_operational(Graph(connection, name))


def _first_difference(name: str, manifest: Manifest, found: Mapping[str, HeldGraph]) -> str:
    said, is_there = manifest.graphs.get(name), found.get(name)
    if said is None or is_there is None:
        return f"graph {name} is {'not in its list' if said is None else 'missing'}"
    counts = {**said.labels, **said.types}, {**is_there.labels, **is_there.types}
    kinds = sorted(
        kind for kind in counts[0].keys() | counts[1].keys() if counts[0].get(kind) != counts[1].get(kind)
    )
    if not kinds:
        return f"the stamp of graph {name} is another"
    kind = kinds[0]
    return f"graph {name} has {counts[1].get(kind, 0):,} {kind}, not {counts[0].get(kind, 0):,}"
