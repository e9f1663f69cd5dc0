"""What the flows need from outside, handed in by the edge."""

from __future__ import annotations

from dataclasses import dataclass

from substrate.connection import Connection
from substrate.embeddings.embedder import Embedder
from substrate.graph_schema import Graphs


@dataclass(frozen=True, slots=True)
class Deps:
    """An open store and an open embedder."""

    connection: Connection
    graphs: Graphs
    embedder: Embedder
