"""Records are kept by what never changes about them, up to a number of bytes."""

from __future__ import annotations

from typing import Any

from substrate.connection.kept import RecordCache, RecordName
from substrate.cypher.fragments import NODE_COLUMNS

G = "citizen_ada"


def memory(**columns: Any) -> list[Any]:
    return [
        {"id": "m", "version": 1, "created_at": 5, "expired_at": 9, **columns}.get(name) for name in NODE_COLUMNS
    ]


def test_what_was_asked_for_stays_when_there_is_no_room() -> None:
    cache = RecordCache(3 * 9_500)
    kept = [cache.of(G).take("memory", memory(version=version)) for version in (1, 2, 3)]
    names = [RecordName("memory", "m", version, 5, 9) for version in (1, 2, 3, 4)]
    assert cache.of(G).find(names[:1]) == {names[0]: kept[0]}
    fourth = cache.of(G).take("memory", memory(version=4))
    assert cache.of(G).find(names) == {names[0]: kept[0], names[2]: kept[2], names[3]: fourth}


def test_no_more_bytes_are_kept_than_allowed() -> None:
    cache = RecordCache(20_000)
    for version in range(50):
        cache.of(G).take("memory", memory(version=version, description="x" * 100))
        assert cache.bytes <= 20_000
    latest = cache.of(G).take("memory", memory(version=49, description="x" * 100))
    assert (cache.hits, latest.row[0]) == (1, "m")
    cache.of(G).take("memory", memory(description="x" * 100_000))
    assert cache.bytes <= 20_000
