"""Parts of queries that join what a search found."""

from __future__ import annotations

from substrate.cypher.nearest import felt_alike, found_now, found_then


def test_a_record_is_found_only_by_the_vector_that_it_has() -> None:
    for text in (found_now("s.energy > 0.5"), found_then("s.energy > 0.5")):
        assert "s.energy > 0.5" in text
        assert "t.digest" in text


def test_records_that_share_an_emotion_are_compared_newest_first() -> None:
    text = felt_alike("PastVersion", "$names", "$vector", "s.energy > 0.5")
    assert "MATCH (s:PastVersion) WHERE name IN s.emotions" in text
    assert text.index("s.energy > 0.5") < text.index("LIMIT") < text.index("vec.cosineDistance")
