"""Rows of the lexicon query as named values."""

from __future__ import annotations

from typing import Any

from substrate.store.lexicon import LexiconRows, NamedMemory, read_rows


def test_rows_become_sizes_counts_and_names() -> None:
    rows: list[list[Any]] = [
        ["size", "memories", 120, None, None, None, None],
        ["size", "traces", 118, None, None, None, None],
        ["size", "past_traces", None, None, None, None, None],
        ["size", "past_versions", 7, None, None, None, None],
        ["word", "bridge", 3, None, None, None, None],
        ["past_word", "bridge", 2, None, None, None, None],
        ["name", "p1", None, "Luca", '["Il Professore"]', "Person", None, None],
        ["name", "p2", None, "Marco", None, "Person", "name,node_type", None],
    ]
    names = [
        NamedMemory("p1", "Luca", ("Il Professore",), "Person"),
        NamedMemory("p2", "Marco", (), "Person", made=True),
    ]
    assert read_rows(rows) == LexiconRows(120, 118, 0, 7, {"bridge": 3}, {"bridge": 2}, names)


def test_an_empty_graph_has_sizes_of_zero() -> None:
    assert read_rows([["size", "memories", None, None, None, None, None, None]]) == LexiconRows(
        0, 0, 0, 0, {}, {}, []
    )
