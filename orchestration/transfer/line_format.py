"""The lines of an export, as `docs/export.md` describes them: their form and their order. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from schemas.memory import GraphKey, Level, level_of
from substrate.graphs.names import graph_name
from substrate.store.archive import PAST_STATE, PastRecord, Trace

FORMAT: Final = "substrate-export"
VERSION: Final = 1
STAMPED: Final = ("schema_version", "embedding_model", "dimension")
"""Properties that the stamp of every graph has; its other properties are exported as `meta`."""
DATA_KINDS: Final = ("node", "tag", "memory", "record", "link")

_OPTIONS: Final = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
_SHIFT: Final = 2**63


class Origin(NamedTuple):
    """A graph, and the citizen whose graph it is on level N1."""

    key: GraphKey
    citizen_id: str | None

    @property
    def level(self) -> Level:
        return level_of(self.key)

    @property
    def graph(self) -> str:
        return graph_name(self.key, self.citizen_id)


class MemoryLines(NamedTuple):
    """A memory to export: the properties of the record that it carries, its trace, its tags, its past records.

    `tags` has, by tag name, the properties of the link to the tag.
    """

    carried: Mapping[str, Any]
    trace: Trace | None
    tags: Mapping[str, Mapping[str, Any]]
    records: Sequence[PastRecord]


def encode(line: Mapping[str, Any]) -> bytes:
    """Encode a line as JSON with sorted keys and a newline."""
    return orjson.dumps(line, option=_OPTIONS)


def vector(numbers: Any) -> orjson.Fragment:
    """Encode an array of float32 as JSON; each number in the shortest form from which it can be read exactly."""
    return orjson.Fragment(orjson.dumps(numbers, option=orjson.OPT_SERIALIZE_NUMPY))


def header(*, embeddings: bool) -> dict[str, Any]:
    """Return the first line of the file."""
    return {"kind": FORMAT, "version": VERSION, "embeddings": embeddings}


def sort_key(line: Mapping[str, Any]) -> bytes:
    """Return the sort key of a data line in its graph. It has no internal id, so every store sorts the same way.

    Raises KeyError or TypeError for a line without the fields that it is sorted by.
    """
    match line["kind"]:
        case "node" if line["label"] == PAST_STATE:
            return _key(0, line["label"], *_times(line["properties"], "version"))
        case "node":
            return _key(0, line["label"])
        case "tag":
            return _key(1, line["properties"]["name"])
        case "memory":
            return _key(2, line["properties"]["id"], 0)
        case "record":
            return _key(2, line["of"], 1, *_times(line["properties"], "version"))
        case _:
            ends = (line["source_id"], line["target_id"], line["properties"]["id"])
            return _key(3, *ends, *_times(line["properties"]), int(not line["past"]))


def _times(properties: Mapping[str, Any], *first: str) -> list[int]:
    return [properties[name] for name in (*first, "created_at", "valid_at", "expired_at", "invalid_at")]


def _key(*parts: str | int) -> bytes:
    """Return bytes that sort like the parts: numbers by size, texts by their characters."""
    return b"\0".join(
        f"{part + _SHIFT:020d}".encode() if isinstance(part, int) else part.encode() for part in parts
    )
