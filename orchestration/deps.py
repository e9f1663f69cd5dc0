"""What the flows need from outside, handed in by the edge."""

from __future__ import annotations

from dataclasses import dataclass

from orchestration.activation.fusion import FUSION, Fusion
from substrate.connection import Connection
from substrate.embeddings.embedder import Embedder
from substrate.graph_schema import Graphs
from substrate.language_models.model import LanguageModel


@dataclass(frozen=True, slots=True)
class Deps:
    """An open store, an open embedder, how a question's channels are weighed, and a language model, if any."""

    connection: Connection
    graphs: Graphs
    embedder: Embedder
    fusion: Fusion = FUSION
    language_model: LanguageModel | None = None
