"""What the tests of writing and reading say to an open store."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.insertion import apply
from orchestration.retrieval import retrieve_consciousness_context
from schemas.commands import Command, Relate, Remember, WriteReceipt
from schemas.intention import RetrievalIntention
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level, MemoryRecord
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, to_instant
from substrate.connection.parameters import parameters
from substrate.cypher.fragments import LINK_COLUMNS, link_columns
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.store import reader, rows

LINKS = Query("links", f"MATCH (a)-[e:LINK]->(b) RETURN a.id, b.id, {link_columns('e')} ORDER BY e.id")


def moment(number: float) -> datetime:
    """Noon of a day of the year 2026, counted from 1."""
    return datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(days=number - 1)


def day(number: float) -> Instant:
    """The same as an instant."""
    return to_instant(moment(number))


NOW = day(100)
ASKED = NOW + 1000
"""A moment after all commands of a list that is told from `NOW` on."""


def remember(citizen: str, memory_id: str | None = None, **fields: Any) -> Remember:
    name = memory_id or "A memory"
    return Remember.model_validate({"citizen_id": citizen, "id": memory_id, "name": name, **fields})


def work(citizen: str, memory_id: str, state: str | None, days: float = 1, **fields: Any) -> Remember:
    """Work in a resolution state, so many days old on day 100."""
    whole = {"resolution_state": state, "valid_at": moment(100 - days), **fields}
    return remember(citizen, memory_id, **whole)


def relate(citizen: str, source: str, target: str, **fields: Any) -> Relate:
    whole = {
        "citizen_id": citizen,
        "source_id": source,
        "target_id": target,
        "relation_type": "NEXT",
        "energy": 0.7,
        "confidence": 0.9,
        "emotion_vector": {"joy": 0.5},
        "goal": "understand",
        "mindstate": "curious",
    }
    return Relate.model_validate({**whole, **fields})


async def send(deps: Deps, *commands: Command, now: Instant = NOW) -> list[WriteReceipt]:
    return await apply(commands, deps, now)


async def stored(deps: Deps, *commands: Command, now: Instant = NOW) -> list[WriteReceipt]:
    """The receipts of commands that are all expected to be stored."""
    receipts = await apply(commands, deps, now)
    assert [receipt.faults for receipt in receipts if receipt.status != "stored"] == []
    return receipts


async def carried(deps: Deps, citizen: str, memory_id: str) -> ConsciousnessNode | None:
    """The memory that the identity carries."""
    row = await reader.memory(deps.graph(graph_name(Level.N1, citizen)), memory_id)
    return None if row is None else rows.node(row, Level.N1)


async def history(deps: Deps, citizen: str, memory_id: str) -> list[MemoryRecord]:
    """All records of the identity."""
    found = await reader.history(deps.graph(graph_name(Level.N1, citizen)), memory_id)
    return [rows.memory_record(row, Level.N1) for row in found]


async def links(deps: Deps, citizen: str) -> list[ConsciousnessRelationship]:
    """All open link records of a citizen."""
    found = await deps.connection.read(graph_name(Level.N1, citizen), LINKS, parameters({}))
    return [rows.link(row[2 : 2 + len(LINK_COLUMNS)], (row[0], row[1]), Level.N1) for row in found]


async def ask(
    deps: Deps,
    citizen: str,
    text: str,
    *,
    levels: Sequence[str] = ("N1",),
    now: Instant = ASKED,
    **fields: Any,
) -> ConsciousnessStream:
    intention = {"query_text": text, "citizen_id": citizen, "query_levels": levels, **fields}
    return await retrieve_consciousness_context(RetrievalIntention.model_validate(intention), deps, now)


def found(stream: ConsciousnessStream) -> list[ConsciousnessNode]:
    """Every memory of the levels of a stream, each record once."""
    seen = {
        (memory.level, memory.node_id, memory.version): memory
        for level in stream.levels.values()
        for memory in (*level.vector_results, *level.graph_results)
    }
    return list(seen.values())


def ids(memories: Sequence[ConsciousnessNode]) -> list[str]:
    return [memory.node_id for memory in memories]


def noted(deps: Deps, patch: pytest.MonkeyPatch) -> list[str]:
    """The names of the queries and commands that are sent from now on."""
    sent: list[str] = []
    around = deps.connection.around

    def note(name: str) -> AbstractContextManager[object]:
        sent.append(name)
        return around(name)

    patch.setattr(deps.connection, "around", note)
    return sent
