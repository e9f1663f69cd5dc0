"""Takes back a whole run of upkeep: its commands in reverse order, then what its job kept beside them.

What a run made is retracted, what it changed is undone. A change on which somebody else has built is refused and
named, the rest is taken back. What a job erased cannot be taken back, and is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from orchestration import insertion
from orchestration.upkeep.job import Job, JobContext
from orchestration.upkeep.runner import Watch
from schemas.commands import ChangeCommand, Retract, Undo, UndoLink, Unrelate
from schemas.memory import GraphKey, Source, graph_fields
from schemas.temporal import to_datetime
from substrate.store import reader, runs
from substrate.store.rows import StoredReceipt
from substrate.store.runs import Change, LeaseLost, RunRecord, page_name

ERRORS_KEPT: Final = 100
_OF_LINKS: Final = ("relate", "supersede_link", "correct_link", "unrelate", "resolve_link", "undo_link")
_NEW: Final[Mapping[str, type[Retract | Unrelate]]] = {"remember": Retract, "relate": Unrelate}


@dataclass(slots=True)
class _Progress:
    """`done`: ids of the commands looked at. `versions`: by target, its version after what was undone."""

    done: set[str] = field(default_factory=set)
    versions: dict[str, int] = field(default_factory=dict)
    undone: int = 0
    refused: list[str] = field(default_factory=list)


async def undo_run(job: Job | None, record: RunRecord, context: JobContext, watch: Watch) -> RunRecord:
    """Take the run back; the run then says how many changes were, and which were refused.

    Without `job`, which a later release may no longer have, only its commands are taken back. Sent again, it tries
    again what was refused. Raises LeaseLost.
    """
    record = replace(record, fence=watch.fence)
    await runs.save_run(context.graph, record)
    progress = _Progress()
    for number in range(record.pages, 0, -1):
        await watch.rest()
        if watch.lost():
            raise LeaseLost("the lease of upkeep was lost", remedy="Take the run back again: the rest follows.")
        changes = await runs.changes_of_page(context.graph, record.id, number)
        await _undo_page(changes, record, context, progress)
    kept = 0 if job is None else await job.undo(context)
    beyond = record.kept if job is not None and not job.undoable else 0
    undone = replace(
        record,
        status="undone",
        ended_at=await context.deps.connection.now(),
        undone=record.undone + progress.undone + kept,
        beyond_undo=beyond,
        errors=tuple(progress.refused[:ERRORS_KEPT]),
    )
    await runs.save_run(context.graph, undone)
    return undone


async def _undo_page(changes: list[Change], record: RunRecord, context: JobContext, progress: _Progress) -> None:
    """Take the changes of a page back, the last first. One whose command was never applied has no receipt."""
    waiting = [change for change in changes if change.command_id not in progress.done]
    stored = await reader.receipts(context.graph, [change.command_id for change in waiting])
    applied = [change for change in waiting if _is_of(record, stored.get(change.command_id))]
    if applied:
        # The journal names the commands that take back too, so that history shows whose run they concern.
        back = [change._replace(command_id=undo_id(change, record.id), command="undo") for change in applied]
        await runs.write_journal(context.graph, record, page_name(record.id, "undo"), back)
    for change in applied:
        progress.done.add(change.command_id)
        target = Target(context.key, context.citizen_id, progress.versions.get(change.target))
        command = undoing(change, stored[change.command_id], record.id, target)
        [answer] = await insertion.apply([command], context.deps, await context.deps.connection.now())
        if answer.status == "refused":
            progress.refused.append(f"{change.command} {change.target}: {'; '.join(answer.faults)}")
            continue
        progress.undone += not answer.duplicate
        if answer.version is not None:
            progress.versions[change.target] = answer.version


def _is_of(record: RunRecord, receipt: StoredReceipt | None) -> bool:
    """True when the command was applied by this run, and not before it by another."""
    return receipt is not None and not receipt.recognised and receipt.created_at >= record.begun_at


def undo_id(change: Change, run_id: str) -> str:
    """The id of the command that takes a change back: the same each time it is sent."""
    digest = blake2b(f"{run_id}\n{change.command_id}".encode(), digest_size=12).hexdigest()
    return f"{run_id}.undo.{digest}"


class Target(NamedTuple):
    """The graph of a change, and the version of its memory or link; None when it is that of its receipt."""

    key: GraphKey
    citizen_id: str | None = None
    version: int | None = None


def undoing(change: Change, receipt: StoredReceipt, run_id: str, target: Target) -> ChangeCommand:
    """The command that takes one change back, by the source that made it."""
    common: dict[str, Any] = {
        "command_id": undo_id(change, run_id),
        **graph_fields(target.key),
        "citizen_id": target.citizen_id,
        "id": change.target,
        "source": Source(change.source or Source.UPKEEP),
    }
    if change.command in _NEW:
        # From its beginning on: what a run made may have ended long ago.
        began = None if receipt.valid_at is None else to_datetime(receipt.valid_at)
        version = receipt.version if target.version is None else target.version
        return _NEW[change.command](**common, effective_at=began, expected_version=version)
    kind = UndoLink if change.command in _OF_LINKS else Undo
    return kind(**common, undoes=change.command_id)
