"""Sorting more lines than fit in memory: sorted runs in unnamed temporary files, merged as they are read."""

from __future__ import annotations

import heapq
import struct
import tempfile
from collections.abc import Iterator
from typing import IO, Final, Self

RUN_BYTES: Final = 16 << 20
"""Bytes of lines held in memory before a run is written. Merging holds only a little of each run."""
_SIZES: Final = struct.Struct("<II")

type Entry = tuple[bytes, bytes]


class ExternalSorter:
    """Accepts lines with keys in any order, and yields the lines sorted by key, then by line."""

    def __init__(self, run_bytes: int = RUN_BYTES) -> None:
        self._run_bytes = run_bytes
        self._buffer: list[Entry] = []
        self._size = 0
        self._runs: list[IO[bytes]] = []

    def add(self, key: bytes, line: bytes) -> None:
        self._buffer.append((key, line))
        self._size += len(key) + len(line) + 200
        if self._size > self._run_bytes:
            run = tempfile.TemporaryFile(prefix="substrate-")  # noqa: SIM115  (closed by `close`)
            self._runs.append(run)
            self._buffer.sort()
            for sorted_key, sorted_line in self._buffer:
                run.write(_SIZES.pack(len(sorted_key), len(sorted_line)) + sorted_key + sorted_line)
            self._buffer, self._size = [], 0

    def lines(self) -> Iterator[bytes]:
        self._buffer.sort()
        runs = list(map(_entries, self._runs))
        for _, line in heapq.merge(self._buffer, *runs):
            yield line

    def close(self) -> None:
        """Close the files; that deletes them, because they have no name."""
        for run in self._runs:
            run.close()
        self._runs, self._buffer = [], []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _entries(run: IO[bytes]) -> Iterator[Entry]:
    run.seek(0)
    while sizes := run.read(_SIZES.size):
        key_size, line_size = _SIZES.unpack(sizes)
        yield run.read(key_size), run.read(line_size)
