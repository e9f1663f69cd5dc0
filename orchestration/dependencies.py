"""What the flows need from outside, handed in by the edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from orchestration.ranking.channels import CHANNEL_WEIGHTS, ChannelWeights
from substrate.connection.pool import Connection
from substrate.graphs.graph import Graph
from substrate.graphs.registry import Graphs
from substrate.inference.embeddings.embedder import Embedder
from substrate.inference.language.model import LanguageModel
from substrate.inference.rerankers import Reranker

FAR: Final = 3
"""From so many starts of a query second links are followed."""


@dataclass(frozen=True, slots=True)
class Deps:
    """An open store and embedder, how a question's channels are weighed, from how many starts it follows a second
    link, a language model and a reranker if any, and whether ingestion makes tags.
    """

    connection: Connection
    graphs: Graphs
    embedder: Embedder
    channel_weights: ChannelWeights = CHANNEL_WEIGHTS
    language_model: LanguageModel | None = None
    auto_tags: bool = False
    reranker: Reranker | None = None
    far: int = FAR

    def graph(self, name: str) -> Graph:
        """The graph of this name, whether it exists or not."""
        return Graph(self.connection, name)
