"""What is added to a stream: other versions, the coherence of its paths, its times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from orchestration.assembly.stream import RetrievalReport, assemble
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidates
from orchestration.stream_completion import (
    with_coherence,
)
from orchestration.traversal.paths import suggested_paths
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.stream import ConsciousnessStream, TraversalGraph
from tests.builders import an_edge, nodes_by_identity

N1, N2 = Level.N1, Level.N2


def a_stream() -> ConsciousnessStream:
    """A stream with one path, a → b → c."""
    asked = RetrievalIntention(citizen_id="c", query_text="x")
    report = RetrievalReport(retrieved_at=datetime(2024, 1, 1, tzinfo=UTC), timings=(), notes=(), entities=())
    stream = assemble(asked, Candidates(), Activation((), {}), report)
    nodes, edges = nodes_by_identity("a", "b", "c"), [an_edge("a", "b", 0.9), an_edge("b", "c", 0.9)]
    graph = TraversalGraph(suggested_paths=suggested_paths(nodes, edges, [(N1, "a")]))
    return stream.model_copy(update={"traversal_graph": graph})


@pytest.mark.parametrize(
    ("cosines", "coherence"),
    [
        ({("a", "b"): 0.8, ("b", "c"): 0.4}, 0.6),
        ({("a", "b"): 0.8, ("b", "c"): -0.4}, 0.4),
        ({("a", "b"): 0.8}, None),
        ({}, None),
    ],
)
def test_the_coherence_of_a_path_is_the_mean_cosine_when_all_are_known(
    cosines: dict[tuple[str, str], float], coherence: float | None
) -> None:
    stream = a_stream()
    (by_words,) = stream.traversal_graph.suggested_paths
    (path,) = with_coherence(stream, {N1: cosines}).traversal_graph.suggested_paths
    assert path.semantic_coherence == pytest.approx(
        by_words.semantic_coherence if coherence is None else coherence
    )
