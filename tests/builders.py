"""Values for tests: rows as the engine answers them, candidates, links."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from orchestration.ranking.candidates import Candidate, CandidateLink, Key
from orchestration.traversal.paths import Identity
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level
from schemas.stream import GraphEdge
from schemas.temporal import END_OF_TIME
from substrate.connection.kept import Record
from substrate.cypher.fragments import LINK_COLUMNS, NODE_COLUMNS
from substrate.store import search as rows

N1 = Level.N1
NOW = datetime(2026, 1, 10, tzinfo=UTC)
LINK_METADATA: Final[Mapping[str, Any]] = {
    "energy": 0.5,
    "confidence": 0.5,
    "emotion_vector": {},
    "goal": "g",
    "mindstate": "m",
}
"""All metadata that a command which relates two memories must have."""


def stored_row(
    memory: Mapping[str, Any],
    link: Mapping[str, Any] | None = None,
    *,
    hop: int = 0,
    score: float = 0.0,
    ends: tuple[str, str] | None = None,
) -> list[Any]:
    """A row as the engine would answer it: numbers and lists as text, absent values as None."""
    node = {
        "node_type": "Memory",
        "description": "",
        "valid_at": 1,
        "invalid_at": END_OF_TIME,
        "created_at": 1,
        "expired_at": END_OF_TIME,
        "version": 1,
        "energy": "0.5",
        "confidence": "0.5",
        "source": "citizen",
        **memory,
    }
    node.setdefault("name", node["id"])
    row: list[Any] = [None] * (rows.NODE_START + len(NODE_COLUMNS))
    row[: rows.LINK_START] = hop, str(score), *(ends or (None, None))
    for place, column in enumerate(LINK_COLUMNS):
        row[rows.LINK_START + place] = None if link is None else link.get(column)
    for place, column in enumerate(NODE_COLUMNS):
        row[rows.NODE_START + place] = node.get(column)
    return row


def stored_link(
    link_id: str, *, energy: float = 1.0, confidence: float = 1.0, transfer: float = 1.0
) -> dict[str, Any]:
    """A link's columns as stored."""
    return {
        "id": link_id,
        "relation_type": "NEXT",
        "goal": "remember",
        "mindstate": "calm",
        "energy": str(energy),
        "confidence": str(confidence),
        "energy_transfer_coefficient": str(transfer),
        "resolution_state": "in_progress",
        "emotion_vector": "{}",
        "valid_at": 1,
        "invalid_at": END_OF_TIME,
        "created_at": 1,
        "expired_at": END_OF_TIME,
        "source": "citizen",
    }


def a_memory(memory_id: str, level: Level = N1, likeness: float | None = None, **columns: Any) -> Candidate:
    own = (level, memory_id, columns.get("version", 1))
    record = Record(stored_row({"id": memory_id, **columns})[rows.NODE_START :])
    return Candidate(own, record, likeness=likeness)


def a_link(source: str, target: str, level: Level = N1, **strength: float) -> CandidateLink:
    link = stored_link(f"{source}-{target}", **strength)
    row = stored_row({"id": target}, link, hop=1, ends=(source, target))
    return CandidateLink(level, source, target, Record(row[rows.LINK_START : rows.NODE_START]))


def key(memory_id: str, level: Level = N1) -> Key:
    return (level, memory_id, 1)


def a_node(**fields: Any) -> ConsciousnessNode:
    """A memory as a stream shows it, true and known since `NOW`."""
    return ConsciousnessNode.model_validate(
        {
            "node_id": "m",
            "node_type": "Memory",
            "name": "m",
            "description": "",
            "valid_at": NOW,
            "created_at": NOW,
            "energy": 0.5,
            "confidence": 0.5,
            "level": "N1",
            **fields,
        }
    )


def nodes_by_identity(*ids: str, **fields: Any) -> dict[Identity, ConsciousnessNode]:
    """A memory of N1 for each id, which is its name too."""
    return {(N1, node_id): a_node(node_id=node_id, name=node_id, **fields) for node_id in ids}


_RELATIONSHIP: Final[Mapping[str, Any]] = {
    "level": "N1",
    "relation_type": "LEADS_TO",
    "goal": "rest",
    "mindstate": "calm",
    "energy": 0.5,
    "confidence": 0.5,
    "energy_transfer_coefficient": 0.5,
    "resolution_state": "in_progress",
}


def a_relationship(**fields: Any) -> ConsciousnessRelationship:
    """A link as a stream shows it, true and known since `NOW`."""
    return ConsciousnessRelationship.model_validate(
        {
            "link_id": "l",
            "source_id": "a",
            "target_id": "b",
            **_RELATIONSHIP,
            "valid_at": NOW,
            "created_at": NOW,
            **fields,
        }
    )


def an_edge(source: str, target: str, weight: float, **fields: Any) -> GraphEdge:
    """A link as a traversal graph shows it; `weight` is its traversal probability."""
    return GraphEdge.model_validate(
        {
            "edge_id": f"{source}-{target}",
            **_RELATIONSHIP,
            "source_id": source,
            "target_id": target,
            "traversal_weight": weight,
            **fields,
        }
    )


def ago(days: float) -> str:
    """The moment so many days before now, as a request writes it."""
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()
