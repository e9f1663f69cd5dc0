"""A cache within a bound of bytes: nothing that is sent makes it larger, and what is used stays."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from schemas.bounded_cache import CACHES, ENTRY_BYTES, BoundedCache, cached_within, size_of

MOST = 100_000


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20_000)), max_size=200))
def test_the_bound_holds_after_each_entry_and_what_is_found_is_what_was_kept_last(
    entries: list[tuple[int, int]],
) -> None:
    cache, kept = BoundedCache[str](MOST), {}
    for key, length in entries:
        kept[key] = "x" * length
        cache.keep(key, kept[key])
        assert cache.bytes_kept <= MOST
        assert all(cache.get(each) in (None, text) for each, text in kept.items())


def test_what_is_asked_for_again_and_again_stays_while_others_come_and_go() -> None:
    cache = BoundedCache[str](MOST)
    cache.keep("mine", "kept")
    for number in range(1000):
        cache.keep(number, "y" * 1000)
        assert cache.get("mine") == "kept"
    assert cache.get(0) is None
    assert len(cache) < 100


def test_an_entry_that_would_push_out_most_others_is_not_kept() -> None:
    cache = BoundedCache[str](MOST)
    cache.keep("small", "s")
    cache.keep("large", "x" * (MOST // 8))
    assert cache.get("large") is None
    assert cache.get("small") == "s"


def test_a_value_that_grew_too_large_is_not_found_as_it_was_before() -> None:
    cache = BoundedCache[str](MOST)
    cache.keep("key", "before")
    cache.keep("key", "x" * MOST)
    assert cache.get("key") is None


def test_a_size_that_is_told_counts_instead_of_what_the_value_has_now() -> None:
    cache = BoundedCache[list[str]](MOST)
    for number in range(100):
        cache.keep(number, [], MOST // 10)
        assert cache.bytes_kept <= MOST
    assert 0 < len(cache) < 10


def test_nothing_is_left_after_clearing() -> None:
    cache = BoundedCache[str](MOST)
    cache.keep("key", "value")
    cache.clear()
    assert (cache.get("key"), cache.bytes_kept, len(cache)) == (None, 0, 0)


def test_a_function_is_called_once_for_each_arguments_and_its_cache_is_known_by_its_name() -> None:
    calls = []

    @cached_within(MOST)
    def double(text: str, times: int) -> str | None:
        calls.append(text)
        return text * times or None

    assert [double("a", 2), double("a", 2), double("", 1), double("", 1)] == ["aa", "aa", None, None]
    assert calls == ["a", ""]
    name = f"{__name__}.double"
    assert 0 < CACHES.pop(name).bytes_kept < 1000


@dataclass(frozen=True)
class Held:
    name: str
    words: dict[str, float]


def test_a_size_has_all_that_a_value_holds() -> None:
    long = "x" * 10_000
    held = (Held(long, {}), Held("", {long: 1}))
    for value in ([long], (long,), {long}, frozenset([long]), {long: 1.0}, {1: long}, *held):
        assert 10_000 < size_of(value) < 11_000
    assert size_of(None) < ENTRY_BYTES
