"""Found memories → `ConsciousnessNode`s with all their metadata (003, task 4). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orchestration.activation.engine import Activation
from orchestration.activation.found import LINK_START, NODE_START, Bond, Found, Key
from orchestration.activation.ranking import Score
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship
from substrate import rows


def enriched(
    shown: Iterable[Score], found: Found, activation: Activation, *, explain: bool
) -> dict[Key, ConsciousnessNode]:
    """The memories of the scores as the stream shows them; with `explain` each term of each score."""
    nodes: dict[Key, ConsciousnessNode] = {}
    for score in shown:
        memory = found.memories[score.key]
        channel = "vector" if memory.likeness is not None else "graph"
        terms: Mapping[str, float] | None = None
        if explain:
            terms = {**activation.parts[score.key], **score.terms}
        nodes[score.key] = rows.node(
            memory.row[NODE_START:],
            score.key[0],
            retrieval_source=f"{score.key[0]}_{channel}",
            relevance_score=round(score.activation, 6),
            consciousness_adjusted_score=round(score.total, 6),
            score_terms={name: round(value, 6) for name, value in terms.items()} if terms else None,
        )
    return nodes


def relationships(bonds: Iterable[Bond]) -> list[ConsciousnessRelationship]:
    """The links as the stream shows them."""
    return [rows.link(bond.row[LINK_START:NODE_START], (bond.source, bond.target), bond.level) for bond in bonds]
