"""The notes of streams that are not stored yet, in the memory of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import islice
from typing import Final
from weakref import WeakValueDictionary

from substrate.store.stream_notes import StoredNote

DAYS: Final = 90.0
MOST_STORED: Final = 10_000
MOST_NOTES: Final = 10_000
MOST_BYTES: Final = 16_000_000


class NoteBuffer:
    """Notes by graph, oldest first. Above its bounds the oldest of all are dropped and counted in `dropped`.

    `days` and `most_stored`: how long stored notes are kept, and how many a citizen; with 0 days none is made.
    """

    def __init__(
        self,
        *,
        days: float = DAYS,
        most_stored: int = MOST_STORED,
        most: int = MOST_NOTES,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.days, self.most_stored = days, most_stored
        self._most, self._most_bytes = most, most_bytes
        self._notes: dict[tuple[str, str], StoredNote] = {}
        self._bytes = 0
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._notes)

    def add(self, graph: str, note: StoredNote) -> None:
        """Keep a note until it is taken. One that is there already stays as it is."""
        if (graph, note.id) in self._notes:
            return
        self._notes[graph, note.id] = note
        self._bytes += _size(note)
        while len(self._notes) > self._most or self._bytes > self._most_bytes:
            oldest = next(iter(self._notes))
            self._bytes -= _size(self._notes.pop(oldest))
            self.dropped += 1

    def storing(self, graph: str) -> asyncio.Lock:
        """Held while notes of a graph are stored, so that whoever reads them meanwhile waits for them."""
        return self._locks.setdefault(graph, asyncio.Lock())

    def graphs(self) -> list[str]:
        """The graphs that notes wait for."""
        return list(dict.fromkeys(graph for graph, _ in self._notes))

    def newest(self, graph: str, most: int) -> list[StoredNote]:
        """At most this many of the notes that wait for a graph, the newest first."""
        waiting = (note for (name, _), note in reversed(self._notes.items()) if name == graph)
        return list(islice(waiting, most))

    def take(self, graph: str) -> list[StoredNote]:
        """The notes of a graph, which are kept here no longer."""
        keys = [key for key in self._notes if key[0] == graph]
        taken = list(map(self._notes.pop, keys))
        self._bytes -= sum(map(_size, taken))
        return taken

    def give_back(self, graph: str, notes: Iterable[StoredNote]) -> None:
        """Keep notes again that could not be stored."""
        for note in notes:
            self.add(graph, note)


def _size(note: StoredNote) -> int:
    return len(note.id) + len(note.data)
