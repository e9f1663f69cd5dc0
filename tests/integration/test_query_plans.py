"""Which queries look at every memory of a graph: what they cost grows with it, so they are few and known."""

from __future__ import annotations

import re
from typing import Final

from orchestration.dependencies import Deps
from scripts.queries import collect
from substrate.cypher.query import Query
from tests.integration.store import remember, stored

COUNTS: Final = "node_types values_of_episodes values_of_node_types values_of_sources values_of_speakers"
COUNTS_THEN: Final = "count_episodes count_node_types count_sources count_speakers"
FILTERED: Final = "scan_now scan_then resonate_fitting_now resonate_fitting_then pools_now pools_then"
WHOLE: Final = "identity_now identity_then people_now people_then shared_links_at walk_then lived"
RARE: Final = "closings deep_maps erase_authors_of_episode erase_of_episode long_texts next_change"
LOOKING_AT_ALL: Final = frozenset(" ".join((COUNTS, COUNTS_THEN, FILTERED, WHOLE, RARE)).split())
"""What is counted for filters, once a state of the graph; what filters let pass; what tells of all; rare work."""
_SCAN: Final = re.compile(r"Label Scan \| \(\w*:(?:ConsciousnessNode|PastVersion)\)|All Node Scan")


async def test_only_a_few_queries_look_at_every_memory(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "m1", description="a boat"))
    graph = f"citizen_{fresh_citizen}"
    looking: set[str] = set()
    for query in {query.name: query for queries in collect().values() for query in queries}.values():
        if not query.text.startswith(("CREATE FULLTEXT", "CREATE INDEX", "CREATE VECTOR", "DROP ", "CALL db.idx")):
            plan = await deps.connection.command(
                "GRAPH.EXPLAIN", graph, f"{parameters(query)} {query.for_generation(0)}"
            )
            if any(_SCAN.search(str(line)) for line in plan):
                looking.add(query.name)
    assert looking == LOOKING_AT_ALL


def parameters(query: Query) -> str:
    """A value of each parameter, of the kind that the query reads."""
    text, values = query.for_generation(0), []
    for name in sorted(query.parameters()):
        value = "5"
        if re.search(rf"(?:IN|UNWIND) \${name}\b|size\(\${name}\)", text):
            value = "[]"
        elif re.search(rf"\${name} (?:OR|AND|=)|(?:NOT|OR) \${name}\b|\${name}\)? (?:OR|THEN)", text):
            value = "true"
        elif f"${name}." in text:
            value = "{}"
        values.append(f"{name}={value}")
    return f"CYPHER {' '.join(values)}" if values else ""
