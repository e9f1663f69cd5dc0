"""A row of the queries of a waking mind, by the names of what it holds."""

from __future__ import annotations

from orchestration.waking.scoring import WakingRow
from schemas.memory import Level
from tests.builders import stored_link, stored_row


def test_a_row_has_names_for_what_it_holds() -> None:
    memory = {"id": "b", "version": 2, "goal": "rest", "emotion_vector": '{"happy": 0.5}'}
    row = WakingRow(Level.N1, stored_row(memory, stored_link("l"), hop=1, score=0.25, ends=("a", "b")))
    assert (row.hop, row.score, row.link_ends) == (1, 0.25, ("a", "b"))
    assert (row.memory_id, row.key, row.goal) == ("b", (Level.N1, "b", 2), "rest")
    assert row.emotions == {"joy": 0.5}


def test_a_row_without_emotions_has_an_empty_map() -> None:
    assert WakingRow(Level.N1, stored_row({"id": "b"}, hop=0)).emotions == {}


def test_another_score_is_another_row() -> None:
    row = WakingRow(Level.N1, stored_row({"id": "b"}, hop=0, score=0.25))
    assert (row.with_score(0.5).score, row.score) == (0.5, 0.25)
    assert row.with_score(0.5).key == row.key
