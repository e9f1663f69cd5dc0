"""Backup and restore of a data directory: a snapshot of all graphs at one moment, verified after a restore."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from schemas.errors import InvalidRequest, StoreMisfit
from schemas.temporal import Instant, to_datetime
from schemas.upkeep.backup import HeldGraph, Manifest
from substrate.backup import files as backup
from substrate.backup import snapshot
from substrate.connection.pool import Connection
from substrate.engine import append_log
from substrate.engine.process import engine_versions
from substrate.engine.unix_socket import socket_path
from substrate.graphs.graph import Graph
from substrate.graphs.indexes import wait_operational
from substrate.graphs.parking import parks_held
from substrate.store.archive import NEWEST_SCHEMA


async def back_up(
    connection: Connection, directory: Path, target: Path, now: Instant, *, parked: Path | None = None
) -> Manifest:
    """Write a backup of the data directory to `target` while the engine serves; returns its manifest.

    `parked`: the folder of parked citizens, whose files go with it; nobody is parked meanwhile.
    The backup contains every write that was acknowledged before the snapshot, and no write in part. A cancelled
    call leaves a whole backup or none, and no snapshot in the data directory. Raises Conflict when the target is
    not empty, InvalidRequest when it cannot be written, Unavailable when the engine cannot make a snapshot.
    """
    await asyncio.to_thread(backup.require_empty, target)
    versions = await engine_versions(socket_path(directory))
    async with append_log.snapshot_lock(directory), parks_held(connection):
        linked = None if parked is None else await asyncio.to_thread(backup.link_parked, parked)
        try:
            file, graphs = await snapshot.take_snapshot(connection, directory)
            manifest = Manifest(taken_at=to_datetime(now), engine=versions, graphs=graphs, files={})
            return await _run_to_end(
                asyncio.to_thread(backup.write_backup, file, target, manifest, directory, parked=linked)
            )
        except asyncio.CancelledError:
            await _run_to_end(snapshot.remove_snapshot(connection, directory))
            raise
        finally:
            if linked is not None:
                await asyncio.to_thread(shutil.rmtree, linked, ignore_errors=True)


async def _run_to_end[T](work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`; when the caller is cancelled, `work` still runs to its end first."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def check_fits(manifest: Manifest, model: str, dimension: int) -> None:
    """Raises StoreMisfit when the backup has another model's vectors or a newer schema. Pure."""
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


async def verify_restored(connection: Connection, manifest: Manifest) -> None:
    """Raises InvalidRequest when the counts of the restored graphs differ from the manifest."""
    graphs = await snapshot.count_graphs(connection)
    differing = sorted(
        name for name in graphs.keys() | manifest.graphs.keys() if graphs.get(name) != manifest.graphs.get(name)
    )
    if differing:
        [name, *_] = differing
        difference = _difference(name, manifest.graphs.get(name), graphs.get(name))
        raise InvalidRequest(
            f"the restored store differs from the manifest of the backup: {difference}",
            remedy=backup.REMEDY_DAMAGED,
        )
    for name in graphs:
        await wait_operational(Graph(connection, name))


def _difference(name: str, expected: HeldGraph | None, actual: HeldGraph | None) -> str:
    """Describe the first difference between a graph in the manifest and the same graph in the store."""
    if expected is None or actual is None:
        return f"graph {name} is {'not in the manifest' if expected is None else 'missing'}"
    expected_counts = {**expected.labels, **expected.types}
    actual_counts = {**actual.labels, **actual.types}
    for kind in sorted(expected_counts.keys() | actual_counts.keys()):
        wanted, counted = expected_counts.get(kind, 0), actual_counts.get(kind, 0)
        if wanted != counted:
            return f"graph {name} has {counted:,} {kind}, not {wanted:,}"
    return f"graph {name} has another stamp"
