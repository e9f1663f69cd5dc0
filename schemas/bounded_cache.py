"""Results that are kept in memory within a bound of bytes, however long the texts are that they belong to. Pure.

`functools.lru_cache` counts entries, so a caller who sends long texts makes it as large as he likes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import is_dataclass
from functools import wraps
from typing import Any, Final

ENTRY_BYTES: Final = 200
"""What an entry takes beside its key and its value."""
LARGEST_SHARE: Final = 8
"""An entry of more than an eighth of the bound is not kept: a few of them would be all that is left."""
_MISSING: Final = object()

CACHES: Final[dict[str, BoundedCache[Any]]] = {}
"""Of each function that keeps its results with `cached_within`, by its name."""


class BoundedCache[Value]:
    """Values by key, at most `most_bytes` of them as `size_of` counts.

    Entries lie in two generations. When the young one has half of the bytes, it becomes the old one, and what was
    old is dropped; an old entry that is asked for becomes young again. So what is used stays, and finding it costs
    one look into a map.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.young: dict[Hashable, tuple[Value, int]] = {}
        self._old: dict[Hashable, tuple[Value, int]] = {}
        self._young_bytes = self._old_bytes = 0

    def __len__(self) -> int:
        return len(self.young.keys() | self._old.keys())

    @property
    def bytes_kept(self) -> int:
        """The size of all entries; one that lies in both generations counts twice."""
        return self._young_bytes + self._old_bytes

    def get(self, key: Hashable, default: Any = None) -> Value | Any:
        """The value of a key, else the default."""
        found = self.young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                return default
            self._keep(key, *found)
        return found[0]

    def keep(self, key: Hashable, value: Value, size: int | None = None) -> None:
        """Keep a value, unless it is too large to be kept beside others. `size`: of it and its key, if known."""
        size = size_of(key) + size_of(value) if size is None else size
        self._keep(key, value, size + ENTRY_BYTES)

    def _keep(self, key: Hashable, value: Value, size: int) -> None:
        if size > self.most_bytes // LARGEST_SHARE:
            self.drop(key)
            return
        if self._young_bytes + size > self.most_bytes // 2:
            self._old, self._old_bytes = self.young, self._young_bytes
            self.young, self._young_bytes = {}, 0
        self.young[key] = value, size
        self._young_bytes += size

    def drop(self, key: Hashable) -> None:
        """Forget a key. Its bytes count until its generation is dropped."""
        self.young.pop(key, None)
        self._old.pop(key, None)

    def clear(self) -> None:
        """Forget everything."""
        self.young, self._old = {}, {}
        self._young_bytes = self._old_bytes = 0


def cached_within[*Key, Value](
    most_bytes: int, size: Callable[..., int] | None = None
) -> Callable[[Callable[[*Key], Value]], Callable[[*Key], Value]]:
    """Keep the results of a function of hashable arguments, which are then passed by their places alone.

    `size`: the most bytes that a result and its key take, by the arguments, where `size_of` cannot tell that.
    """

    def decorate(function: Callable[[*Key], Value]) -> Callable[[*Key], Value]:
        cache = CACHES[f"{function.__module__}.{function.__name__}"] = BoundedCache[Value](most_bytes)

        @wraps(function)
        def cached(*key: *Key) -> Value:
            kept = cache.young.get(key)
            if kept is not None:
                return kept[0]
            found = cache.get(key, _MISSING)
            if found is _MISSING:
                found = function(*key)
                cache.keep(key, found, None if size is None else size(*key))
            return found

        return cached

    return decorate


def size_of(value: Any) -> int:
    """The bytes of a value with all that it holds. What two values share counts in both."""
    size = sys.getsizeof(value)
    if isinstance(value, str | bytes | int | float):
        return size
    if isinstance(value, Mapping):
        return size + sum(size_of(key) + size_of(each) for key, each in value.items())
    if isinstance(value, tuple | list | set | frozenset):
        return size + sum(map(size_of, value))
    if is_dataclass(value) and not isinstance(value, type):
        return size + sum(size_of(getattr(value, name)) for name in value.__dataclass_fields__)
    return size
