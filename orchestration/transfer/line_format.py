"""The lines of an export: how each is written, and where it stands. Pure. `docs/export.md` describes the form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from schemas.memory import Level
from substrate.cypher.transfer import PAST_STATE
from substrate.graphs.names import graph_name

FORMAT: Final = "substrate-export"
VERSION: Final = 1
STAMPED: Final = ("schema_version", "embedding_model", "dimension")
"""What the stamp of every graph says; what else it says is carried as `meta`."""
DATA_KINDS: Final = ("node", "tag", "memory", "record", "link")

_OPTIONS: Final = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
_SHIFT: Final = 2**63


class Origin(NamedTuple):
    """Whose graph it is."""

    level: Level
    citizen_id: str | None

    @property
    def graph(self) -> str:
        """The name of the graph."""
        return graph_name(self.level, self.citizen_id)


def text(line: Mapping[str, Any]) -> bytes:
    """The line with its newline, its keys sorted."""
    return orjson.dumps(line, option=_OPTIONS)


def vector(numbers: Any) -> orjson.Fragment:
    """An array of float32 as JSON: each number in the shortest form that gives it back exactly."""
    return orjson.Fragment(orjson.dumps(numbers, option=orjson.OPT_SERIALIZE_NUMPY))


def header(*, embeddings: bool) -> dict[str, Any]:
    """The first line."""
    return {"kind": FORMAT, "version": VERSION, "embeddings": embeddings}


def key(line: Mapping[str, Any]) -> bytes:
    """Where a data line stands in its graph. It says nothing of internal ids, so that any store sorts alike.

    Raises KeyError or TypeError for a line that lacks what it is sorted by.
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
    """Text and numbers so that their bytes sort as they do: a number by its size, a text by its characters."""
    return b"\0".join(
        f"{part + _SHIFT:020d}".encode() if isinstance(part, int) else part.encode() for part in parts
    )
