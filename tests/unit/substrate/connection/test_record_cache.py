"""Records are kept by what never changes about them, up to a number of bytes."""

from __future__ import annotations

from typing import Any

from substrate.connection.record_cache import RecordCache, RecordName
from substrate.cypher.fragments import LINK_COLUMNS, NODE_COLUMNS

G = "citizen_ada"


def memory(**columns: Any) -> list[Any]:
    return [
        {"id": "m", "version": 1, "created_at": 5, "expired_at": 9, **columns}.get(name) for name in NODE_COLUMNS
    ]


def link(**columns: Any) -> list[Any]:
    return [{"id": "l", "created_at": 5, "expired_at": 9, **columns}.get(name) for name in LINK_COLUMNS]


def test_what_was_computed_of_a_record_is_found_again() -> None:
    cache = RecordCache()
    cache.take(G, "memory", memory()).derived["stems"] = ("walk",)
    assert cache.take(G, "memory", memory()).derived == {"stems": ("walk",)}
    assert (cache.hits, cache.misses, len(cache)) == (1, 1, 1)


def test_another_version_time_graph_or_kind_is_another_record() -> None:
    cache = RecordCache()
    first = cache.take(G, "memory", memory())
    others = [
        cache.take(G, "memory", memory(version=2)),
        cache.take(G, "memory", memory(expired_at=10)),
        cache.take(G, "memory", memory(created_at=6)),
        cache.take("citizen_bob", "memory", memory()),
        cache.take(G, "link", link(id="m")),
    ]
    assert all(first is not other for other in others)
    assert len(cache) == 6


def test_a_link_that_never_changed_is_its_first_version() -> None:
    cache = RecordCache()
    assert cache.take(G, "link", link()) is cache.take(G, "link", link())


def test_a_row_that_reads_otherwise_replaces_the_kept_one() -> None:
    cache = RecordCache()
    cache.take(G, "memory", memory(description="long")).derived["stems"] = ("long",)
    assert cache.take(G, "memory", memory(description="short")).derived == {}
    assert len(cache) == 1


def test_a_text_that_is_cut_is_another_record_than_the_whole() -> None:
    cache = RecordCache()
    whole = cache.take(G, "memory", memory(description="long"))
    beginning = cache.take(G, "memory", memory(description="lo\x014"))
    names = [RecordName("memory", "m", 1, 5, 9), RecordName("memory", "m", 1, 5, 9, cut=1)]
    assert cache.find(G, [*names, RecordName("memory", "m", 1, 5, 10)]) == {names[0]: whole, names[1]: beginning}


def test_what_was_asked_for_stays_when_there_is_no_room() -> None:
    cache = RecordCache(3 * 9_000)
    kept = [cache.take(G, "memory", memory(version=version)) for version in (1, 2, 3)]
    names = [RecordName("memory", "m", version, 5, 9) for version in (1, 2, 3, 4)]
    assert cache.find(G, names[:1]) == {names[0]: kept[0]}
    fourth = cache.take(G, "memory", memory(version=4))
    assert cache.find(G, names) == {names[0]: kept[0], names[2]: kept[2], names[3]: fourth}


def test_no_more_bytes_are_kept_than_allowed() -> None:
    cache = RecordCache(20_000)
    for version in range(50):
        cache.take(G, "memory", memory(version=version, description="x" * 100))
        assert cache.bytes <= 20_000
    latest = cache.take(G, "memory", memory(version=49, description="x" * 100))
    assert (cache.hits, latest.row[0]) == (1, "m")
    cache.take(G, "memory", memory(description="x" * 100_000))
    assert cache.bytes <= 20_000


def test_nothing_is_kept_of_a_cache_without_room() -> None:
    cache = RecordCache(0)
    cache.take(G, "memory", memory())
    assert (len(cache), cache.bytes) == (0, 0)


def test_erased_memories_are_forgotten_with_every_link() -> None:
    cache = RecordCache()
    for name in ("a", "b"):
        cache.take(G, "memory", memory(id=name))
        cache.take("citizen_bob", "memory", memory(id=name))
    cache.take(G, "link", link())
    cache.forget(G, {"a"})
    assert len(cache) == 3
    cache.forget(G)
    assert len(cache) == 2
    cache.forget()
    assert (len(cache), cache.bytes) == (0, 0)


def test_a_part_of_a_long_text_has_values_of_its_own() -> None:
    record = RecordCache().take(G, "memory", memory())
    record.derived_of(0, 10)["stems"] = ("begin",)
    assert record.derived_of(0, 10) == {"stems": ("begin",)}
    assert record.derived == record.derived_of(10, 20) == {}
