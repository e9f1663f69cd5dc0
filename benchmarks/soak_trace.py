"""What holds the memory of a service, for `benchmarks.soak --trace`: a report at each SIGUSR1, as JSON."""

from __future__ import annotations

import ctypes
import functools
import gc
import signal
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sized
from pathlib import Path
from typing import Any, Final

import orjson

SHOWN: Final = 25
FRAMES: Final = 6
OURS: Final = ("api.", "orchestration.", "substrate.", "limits.")
MB: Final = 1 << 20


_NAMES: Final = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _MallInfo(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in _NAMES.split())


def install(what: str, file: str) -> None:
    """Report at SIGUSR1 to the file. With `lines`, trace allocations too."""
    if what == "lines":
        tracemalloc.start(FRAMES)
    target = Path(file)

    def report(*_: object) -> None:
        written = target.with_suffix(".part")
        written.write_bytes(orjson.dumps(make_report()))
        written.rename(target)

    signal.signal(signal.SIGUSR1, report)


def make_report() -> dict[str, Any]:
    """What Python holds, before and after a whole garbage collection, and what the allocator holds."""
    before = sys.getallocatedblocks()
    held = allocated_mb()
    garbage = gc.collect()
    gc.unfreeze()  # or what was loaded at the start is not among the objects
    objects = gc.get_objects()
    report: dict[str, Any] = {
        "blocks_k": before // 1000,
        "malloc_used_mb": held["used"],
        "malloc_free_mb": held["free"],
        "garbage": garbage,
        "blocks_left_k": sys.getallocatedblocks() // 1000,
        "used_left_mb": allocated_mb()["used"],
        "entries": list(_entries(objects)),
        "types": [f"{count:9d} {kind.__module__}.{kind.__qualname__}" for kind, count in _types(objects)],
    }
    if tracemalloc.is_tracing():
        lines = tracemalloc.take_snapshot().statistics("lineno")[:SHOWN]
        report["lines"] = [f"{line.size / MB:9.2f} MB {line.count:8d} {line.traceback}" for line in lines]
    return report


def allocated_mb() -> dict[str, int]:
    """MB that glibc's allocator has given out, and MB that it keeps for later. 0 with another allocator."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        return {"used": 0, "free": 0}
    mallinfo.restype = _MallInfo
    info = mallinfo()
    return {"used": (info.uordblks + info.hblkhd) // MB, "free": info.fordblks // MB}


def _types(objects: list[Any]) -> list[tuple[type, int]]:
    return Counter(map(type, objects)).most_common(SHOWN)


def _entries(objects: list[Any]) -> Iterator[str]:
    """The entries of each cached function, and those of the largest maps, lists and sets of our own objects."""
    sizes = [(cached.cache_info().currsize, name) for name, cached in cached_functions()]
    for one in objects:
        if str(type(one).__module__).startswith(OURS):
            sizes += [(len(value), f"{type(one).__qualname__}.{name}") for name, value in _fields(one)]
    sizes.sort(reverse=True)
    yield from (f"{size:9d} {name}" for size, name in sizes[:SHOWN] if size)


def cached_functions() -> Iterator[tuple[str, Any]]:
    """Each function with a cache in a module that is loaded, by its name."""
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()):
            if type(value) is functools._lru_cache_wrapper and value.__module__ == module.__name__:
                yield f"{module.__name__}.{name}", value


def _fields(one: Any) -> Iterator[tuple[str, Sized]]:
    """The containers among the attributes of an object, with or without slots."""
    names = [*getattr(one, "__dict__", ()), *getattr(type(one), "__slots__", ())]
    for name in names:
        value = getattr(one, name, None)
        if isinstance(value, dict | list | set | tuple):
            yield name, value
