"""Too many connections: the oldest without a key is closed, an authenticated one only while it is idle."""

from __future__ import annotations

from typing import Any

from api.asgi.connections import OpenConnections


class FakeConnection:
    def __init__(self, name: str, *, authenticated: bool = False, idle: bool = True) -> None:
        self.name, self.authenticated, self.idle = name, authenticated, idle
        self.closed = False
        self.transport: Any = self

    def abort(self) -> None:
        self.closed = True


def closed_of(limits: tuple[int, int], connections: list[FakeConnection]) -> list[str]:
    opened: Any = OpenConnections(*limits)
    for connection in connections:
        opened.add(connection)
    return [connection.name for connection in connections if connection.closed]


def test_the_oldest_without_a_key_is_closed_first() -> None:
    connections = [FakeConnection("a", authenticated=True), *map(FakeConnection, "bcde")]
    assert closed_of((2, 10), connections) == ["b", "c"]


def test_when_all_places_are_taken_one_without_a_key_makes_way() -> None:
    connections = [FakeConnection("a", authenticated=True), FakeConnection("b"), FakeConnection("c")]
    assert closed_of((10, 2), connections) == ["b"]


def test_when_all_are_authenticated_the_oldest_idle_one_is_closed() -> None:
    connections = [
        FakeConnection("a", authenticated=True, idle=False),
        FakeConnection("b", authenticated=True),
        FakeConnection("c", authenticated=True),
    ]
    assert closed_of((10, 2), connections) == ["b"]


def test_when_all_are_busy_the_newest_is_closed() -> None:
    connections = [FakeConnection(name, authenticated=True, idle=False) for name in "abc"]
    assert closed_of((10, 2), connections) == ["c"]


def test_a_removed_connection_gives_its_place_back() -> None:
    opened: Any = OpenConnections(1, 1)
    first, second = FakeConnection("a"), FakeConnection("b")
    opened.add(first)
    opened.remove(first)
    opened.add(second)
    assert not first.closed
    assert not second.closed
