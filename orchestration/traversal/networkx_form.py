"""The traversal graph as a NetworkX graph, for whoever wants its algorithms. Pure; importing it is slow."""

from __future__ import annotations

from typing import Any

import networkx  # type: ignore[import-untyped]

from orchestration.traversal.graph import to_node_link
from schemas.stream_parts import TraversalGraph


def to_networkx(graph: TraversalGraph) -> Any:
    """A `networkx.MultiDiGraph`: nodes named `N1:id`, edges keyed by link id, each with all its attributes.

    `weight` of an edge is not set: NetworkX reads it as a distance; ask for `traversal_weight` by name.
    """
    return networkx.node_link_graph(to_node_link(graph), edges="edges")
