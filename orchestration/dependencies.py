"""The one value that every flow is handed: the open store, the models, and what the settings decide."""

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
"""How many starts of a query a second link is followed from."""


@dataclass(frozen=True, slots=True)
class Deps:
    """The dependencies of a flow, made once by the edge.

    `language_model` and `reranker` are None when none is configured. `auto_tags`: ingestion gives tags to memories
    without any. `far`: how many starts of a query a second link is followed from.
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
        """The handle of a graph, whether the graph exists or not."""
        return Graph(self.connection, name)
