"""How whole answers of two checkouts are compared."""

from __future__ import annotations

from pathlib import Path

from benchmarks.replayed_answers import differences, read_pairs
from benchmarks.sides.whole_answers import lasting


def test_a_difference_is_named_by_its_path() -> None:
    before = {"shown": [{"id": "m1", "score": 0.5}, {"id": "m2", "score": 0.25}], "notes": []}
    after = {"shown": [{"id": "m1", "score": 0.5}, {"id": "m2", "score": 0.75}], "notes": [], "more": 1}
    assert list(differences(before, before)) == []
    assert list(differences(before, after)) == [".more: None against 1", ".shown[1].score: 0.25 against 0.75"]


def test_lists_of_other_lengths_differ_as_a_whole() -> None:
    assert list(differences({"a": [1]}, {"a": [1, 2]})) == [".a: [1] against [1, 2]"]


def test_what_chance_and_the_clock_of_the_machine_give_is_left_out() -> None:
    answer = {"stream_id": "x", "timings": [{"name": "find", "milliseconds": 3}], "total_ms": 4, "at": 5}
    assert lasting(answer) == {"timings": [{"name": "find"}], "at": 5}


def test_an_answer_that_is_missing_is_a_difference(tmp_path: Path) -> None:
    (tmp_path / "one").write_text('{"a": 1}\n{"a": 2}\n')
    (tmp_path / "other").write_text('{"a": 1}\n')
    assert list(read_pairs(tmp_path / "one", tmp_path / "other")) == [({"a": 1}, {"a": 1}), ({"a": 2}, {})]
