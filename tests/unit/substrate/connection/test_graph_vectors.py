"""Where the vectors of graphs are: kept of those opened last."""

from __future__ import annotations

from substrate.connection.graph_vectors import GraphVectors, VectorPlace


def test_what_is_not_given_stays() -> None:
    vectors = GraphVectors()
    vectors.use("a", generation=1)
    vectors.use("a", indexed=True)
    assert vectors.of("a") == VectorPlace(generation=1, indexed=True)
    vectors.use("a", indexed=False, partial=True)
    assert vectors.of("a") == VectorPlace(generation=1, partial=True)


def test_a_graph_in_its_usual_place_takes_no_room() -> None:
    vectors = GraphVectors()
    for number in range(100):
        vectors.use(f"{number}", generation=0, indexed=False, partial=False)
    vectors.use("a", indexed=True)
    vectors.use("a", indexed=False)
    vectors.use("b", generation=1)
    vectors.forget("b")
    assert len(vectors) == 0


def test_of_too_many_graphs_those_opened_last_are_kept() -> None:
    vectors = GraphVectors(most=3)
    for name in "abcad":
        vectors.use(name, indexed=True)
    assert len(vectors) == 3
    assert [name for name in "abcd" if vectors.of(name).indexed] == ["a", "c", "d"]
