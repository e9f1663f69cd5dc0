"""Marks of erasures: they do not tell what was erased."""

from __future__ import annotations

from substrate.store.erasure import ErasureMark, format_mark, mark_name


def test_a_mark_is_named_by_a_digest_of_graph_and_command() -> None:
    name = mark_name("citizen_ada", "c1")
    assert "ada" not in name
    assert name == mark_name("citizen_ada", "c1")
    assert name != mark_name("citizen_ada", "c2")
    assert name != mark_name("citizen_bob", "c1")


def test_a_mark_says_when_and_whether_the_log_was_rewritten() -> None:
    assert format_mark(ErasureMark(5)) == '{"at":5,"log_rewritten":null}'
