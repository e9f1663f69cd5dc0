"""Memories that say the same on two identities. Pure.

A sweep keeps sixteen bytes of each memory: a digest of its content and its internal id. What agrees in the digest
is read again and compared whole.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from orchestration.upkeep import text_quality
from orchestration.upkeep.findings import Place, applying, finding, revision
from schemas.commands import Retract
from schemas.temporal import END_OF_TIME, Instant, Period
from schemas.upkeep import Finding
from substrate.store.upkeep import Content


class Digests:
    """The contents of a graph, each as a digest."""

    def __init__(self) -> None:
        self._digests = array("q")
        self._places = array("q")

    def add(self, digest: int, place: int) -> None:
        """The memory with the internal id `place` has this content."""
        self._digests.append(digest)
        self._places.append(place)

    def repeated(self) -> Iterator[list[int]]:
        """The internal ids of memories that agree, group by group."""
        digests = np.frombuffer(self._digests, dtype=np.int64) if self._digests else np.zeros(0, np.int64)
        order = np.argsort(digests, kind="stable")
        ends = np.flatnonzero(np.diff(digests[order])) + 1
        for group in np.split(order, ends):
            if len(group) > 1:
                yield [self._places[int(place)] for place in group]


class Told(NamedTuple):
    """One memory of a group: when it holds, and the whole of its content as one text of fixed length."""

    id: str
    version: int
    valid: Period
    created_at: Instant
    content: bytes


def told(contents: Iterable[Content]) -> Iterator[Told]:
    """The memories of a group that are still believed."""
    for one in contents:
        if one.known.end != END_OF_TIME:
            continue
        said = text_quality.Said(one.name, one.description, one.speaker, one.node_type)
        key = text_quality.content_key(said)
        if key is not None:
            yield Told(one.id, one.version, one.valid, one.known.start, text_quality.long_digest(key))


def of_group(group: Iterable[Told], place: Place) -> Iterator[Finding]:
    """Each memory that says what an earlier one says over the same time; the first of all is none."""
    originals: dict[bytes, list[Told]] = {}
    for one in sorted(group, key=lambda each: (each.created_at, each.id)):
        same = originals.setdefault(one.content, [])
        first = next((other for other in same if other.valid.overlaps(one.valid)), None)
        if first is None:
            same.append(one)
            continue
        marks = revision(place, {"id": one.id, "version": one.version}, "duplicate")
        task = applying(Retract, **marks)
        yield finding("duplicate", place, one.id, f"it says the same as {first.id}, over the same time", task)
