"""What is added to a stream: other versions, the coherence of its paths, its times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from orchestration.assembly.options import intention_options
from orchestration.assembly.stream import RetrievalReport, assemble
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidates
from orchestration.stream_completion import (
    MAX_NAMED,
    StageTimer,
    left_out_notes,
    version_requests,
    with_coherence,
)
from orchestration.traversal.paths import suggested_paths
from schemas.intention import RetrievalIntention
from schemas.memory import GraphKey, Level
from schemas.stream import ConsciousnessStream
from schemas.stream_parts import TraversalGraph
from schemas.temporal import END_OF_TIME
from substrate.connection.pool import Connection
from substrate.graphs.graph import Graph, GraphTarget
from substrate.store.records import VersionRow
from tests.builders import a_memory, an_edge, nodes_by_identity

N1, N2 = Level.N1, Level.N2


def a_stream() -> ConsciousnessStream:
    """A stream with one path, a → b → c."""
    options = intention_options(RetrievalIntention(citizen_id="c", query_text="x"))
    report = RetrievalReport(retrieved_at=datetime(2024, 1, 1, tzinfo=UTC), timings=(), notes=(), entities=())
    stream = assemble(options, Candidates(), Activation((), {}), report)
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


def test_versions_are_asked_for_once_a_level_with_the_instants_at_which_they_change() -> None:
    shown = [
        a_memory("a", created_at=5, expired_at=9),
        a_memory("a", version=2, created_at=9, expired_at=END_OF_TIME),
        a_memory("other", level=N2),
    ]
    candidates = Candidates({memory.key: memory for memory in shown})
    graph = Graph(Connection.__new__(Connection), "g")
    targets: dict[GraphKey, GraphTarget] = {level: GraphTarget(level, graph, past=True) for level in Level}
    (request,) = version_requests([shown[0].key, shown[1].key], candidates, targets, {"known_to": 3})
    assert (request.name, request.values["known_to"]) == ("N1_records", 3)
    assert (request.values["ids"], request.values["touching"]) == (["a"], [5, 9])


def rows(memory_id: str, *, stored: int, read: int) -> list[VersionRow]:
    return [VersionRow(memory_id, stored, ())] * read


def test_a_note_names_up_to_three_omitted_memories() -> None:
    assert left_out_notes(N1, rows("whole", stored=2, read=2)) == []
    cut = [row for number in range(MAX_NAMED + 2) for row in rows(f"m{number}", stored=9, read=1)]
    (note,) = left_out_notes(N1, cut)
    assert note.startswith("of m0 (N1) 1 of 9 records came along; of m1 (N1)")
    assert note.endswith("and of 2 more memories not all: the history of a memory has all of them")
    assert "m3" not in note


def test_the_stages_add_up_to_the_total() -> None:
    timer = StageTimer()
    timer.end("one")
    timer.end("two")
    assert list(timer.spent) == ["one", "two"]
    assert timer.total() == pytest.approx(sum(timer.spent.values()), abs=0.002)
