"""Indexes and constraints as data."""

from __future__ import annotations

from substrate.cypher.schema import DROP_OTHER_INDEXES, INDEXES, OTHER_TRACES, UNIQUE, vector_indexes


def test_each_index_has_a_name_and_a_text_of_its_own() -> None:
    assert len({index.name for index in INDEXES}) == len({index.text for index in INDEXES}) == len(INDEXES)


def test_each_unique_property_has_an_index() -> None:
    texts = [index.text for index in INDEXES]
    for label, column in UNIQUE:
        assert f"CREATE INDEX FOR (n:{label}) ON (n.{column})" in texts


def test_embeddings_of_no_numbers_have_no_index() -> None:
    names = [index.name for index in vector_indexes(384, ("Trace", "PastTrace"))]
    assert names == ["vector_trace_embedding", "vector_pasttrace_embedding"]
    assert vector_indexes(0) == ()


def test_an_index_has_the_dimension_of_its_vectors() -> None:
    [embedding] = vector_indexes(384, ("Trace",))
    assert "(n.embedding)" in embedding.text
    assert "dimension: 384," in embedding.text


def test_each_index_of_the_other_generation_can_be_dropped() -> None:
    made = {index.name.removeprefix("vector_") for index in vector_indexes(2, OTHER_TRACES)}
    assert {index.name.removeprefix("drop_") for index in DROP_OTHER_INDEXES} >= made
