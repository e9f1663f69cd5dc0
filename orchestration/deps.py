"""What the flows need from outside, handed in by the edge."""

from __future__ import annotations

from dataclasses import dataclass

from orchestration.activation.fusion import FUSION, Fusion
from substrate.connection import Connection
from substrate.embeddings.embedder import Embedder
from substrate.graph_schema import Graphs


@dataclass(frozen=True, slots=True)
class Deps:
    """An open store, an open embedder, and how the channels of a question are weighed."""

    connection: Connection
    graphs: Graphs
    embedder: Embedder
    fusion: Fusion = FUSION
