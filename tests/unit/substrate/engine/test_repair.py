"""What a cut loses: the readable commands behind it, and their graphs."""

from __future__ import annotations

from substrate.engine.repair import count_commands
from tests.unit.substrate.engine.test_log_commands import encode

QUERY, OTHER, PING = (
    encode([b"graph.query", b"citizen_b", b"x"]),
    encode([b"GRAPH.QUERY", b"citizen_a"]),
    encode([b"PING"]),
)


def test_commands_are_counted_and_their_graphs_named_once() -> None:
    assert count_commands([QUERY + PING, OTHER + QUERY]) == (4, ("citizen_a", "citizen_b"))


def test_counting_ends_at_bytes_that_are_no_command() -> None:
    assert count_commands([PING + b"\0" * 40 + PING, QUERY]) == (1, ())
