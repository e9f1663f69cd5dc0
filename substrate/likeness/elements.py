"""Names of the vector sets of a graph, and the names of the vectors in them. Pure.

A graph has one set for each role and generation of vectors. A vector is called by its owner, the id of a memory,
and by a key: for a memory the digest of the vector, for a passage its handle. So a vector can be joined only to
the very record that it was made for.
"""

from __future__ import annotations

import sys
from array import array
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Final, NamedTuple

SEPARATOR: Final = "\x1f"
"""Stands between owner and key; no id holds it."""
AFTER_SEPARATOR: Final = "\x20"
WHOLE: Final = SEPARATOR
"""An element of a set that has had every vector of its graph. It has neither owner nor key, and is never found. A
set that was lost, and begun again by a writer, has none."""
GENERATIONS: Final = (0, 1)
_DIGEST_BYTES: Final = 9


class Role(StrEnum):
    """What the vectors of a set are of."""

    MEMORIES = "likeness"
    PASSAGES = "likeness:passages"


class Vector(NamedTuple):
    """A vector to keep. `is_open`: it is one of the present. Without numbers it is there already, to be marked."""

    owner: str
    key: str
    embedding: Sequence[float]
    is_open: bool = True

    @property
    def name(self) -> str:
        """What the vector is called in its set."""
        return join_name(self.owner, self.key)


class Near(NamedTuple):
    """A vector that a search found, by owner and key, with its cosine distance from 0 to 2."""

    owner: str
    key: str
    distance: float


class Search(NamedTuple):
    """The `k` vectors nearest to the embedding.

    `open_only`: those of the present are sought; others may be among the found, unless `crowded`: this many are of
    the past that they would leave no room. `held`: how many there are in all; 0 where nobody counted, and then
    the past is left out too.
    """

    embedding: Sequence[float]
    k: int
    role: Role = Role.MEMORIES
    open_only: bool = False
    crowded: bool = False
    held: int = 0


def set_name(graph: str, role: Role, generation: int) -> str:
    """The name of a set. It has the hash tag of its graph, so that both lie on one node of a cluster."""
    tagged = graph if "{" in graph else f"{{{graph}}}"
    return f"{tagged}:{role.value}{':b' if generation else ''}"


def set_names(graph: str) -> list[str]:
    """The names of all sets that a graph may have."""
    return [set_name(graph, role, generation) for role in Role for generation in GENERATIONS]


def pack(embedding: Sequence[float]) -> bytes:
    """The numbers as little-endian 32-bit floats, which is how both the graph and a set keep them."""
    numbers = array("f", embedding)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def digest(embedding: Sequence[float]) -> str:
    """A short text that differs for different vectors."""
    return urlsafe_b64encode(blake2b(pack(embedding), digest_size=_DIGEST_BYTES).digest()).decode()


def digest_or_none(embedding: Sequence[float] | None) -> str | None:
    """The digest; None where there is no vector."""
    return digest(embedding) if embedding is not None and len(embedding) else None


def join_name(owner: str, key: str) -> str:
    """What a vector is called in its set."""
    return f"{owner}{SEPARATOR}{key}"


def split_name(name: str) -> tuple[str, str]:
    """Owner and key of a vector."""
    owner, _, key = name.rpartition(SEPARATOR)
    return owner, key


def open_mark(number: int) -> str:
    """The attribute of a vector of the present, on which a search filters; one of the past has none. `number`,
    which is above 0, differs each time that a vector is marked: who takes a mark away names it, and so takes away
    none that another writer set meanwhile."""
    return f'{{"open":{number}}}'


def read_found(reply: Sequence[Any]) -> list[Near]:
    """The vectors of a reply of `VSIM … WITHSCORES`: names and scores in turn; a score is (1 + cosine) / 2."""
    found = []
    for name, score in zip(reply[::2], reply[1::2], strict=True):
        owner, _, key = name.rpartition(SEPARATOR)
        if name != WHOLE:
            found.append(Near(owner, key, max(0.0, 2.0 - 2.0 * float(score))))
    return found
