"""`graphiti`: the graph of Graphiti and Zep: entity nodes, facts on edges, episodes, four times each. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from orchestration.ingestion.formats.command_files import (
    CommandFields,
    elements,
    parse_foreign,
    relate,
    relation_type,
)
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import JSON, Format, Reader, short_name
from orchestration.ingestion.written_times import type_name
from schemas.base import without_nulls

FORM: Final = Format(
    "graphiti",
    '{"nodes": [{"uuid", "name", "summary"}], "edges": [{"uuid", "name", "fact", "source_node_uuid", '
    '"target_node_uuid", "valid_at", "invalid_at", "created_at", "expired_at"}], '
    '"episodes": [{"uuid", "content"}]}',
    JSON,
    holds=lambda names: names.near("nodes") and names.near("edges"),
    rank=2,
    of_store=True,
)
_VECTORS: Final = frozenset(("name_embedding", "fact_embedding"))
_NODE: Final = _VECTORS | {"uuid", "name", "summary", "labels"}
_EDGE: Final = _VECTORS | {
    "uuid", "name", "fact", "source_node_uuid", "target_node_uuid", "valid_at", "invalid_at", "episodes"
}  # fmt: skip
_EPISODE: Final = _VECTORS | {"uuid", "name", "content", "valid_at"}


def parse(files: FileSet) -> ParsedFiles:
    """Parse Graphiti's graph. A node and an episode become a memory each.

    A fact becomes a memory that is `ABOUT` its two nodes, and a link between them. `valid_at` and `invalid_at` are
    imported. A fact that is expired and has no `invalid_at` is retracted. `created_at` and `expired_at` go to
    `extra`: our transaction time begins with the import. Raises InvalidRequest with the place of the first invalid
    entry, or of an edge whose ends are missing.
    """
    return parse_foreign(files, FORM, _read)


def _read(reader: Reader, file: File, citizen_id: str | None) -> list[CommandFields]:
    owner = reader.owner(citizen_id)
    whole = reader.document(file)
    if not isinstance(whole, dict):
        reader.fail("", f"is {type_name(whole)}, not an object")
    commands: list[CommandFields] = []
    for name, read in (("nodes", _node), ("episodes", _episode)):
        for place, entry in _objects(reader, whole, name):
            commands.append(CommandFields(place, read(reader, entry, place)))
    ids = {fields["id"] for _, fields in commands}
    changes: list[CommandFields] = []
    for place, entry in _objects(reader, whole, "edges"):
        fact, *rest = _edge(reader, entry, place, ids)
        commands.append(CommandFields(place, fact))
        for fields in rest:
            changes.append(CommandFields(place, fields))
    return [CommandFields(place, {**fields, "citizen_id": owner}) for place, fields in (*commands, *changes)]


def _objects(reader: Reader, whole: Mapping[str, Any], name: str) -> list[tuple[str, dict[str, Any]]]:
    entries = list(elements(reader, whole, name, ""))
    for place, entry in entries:
        if not isinstance(entry, dict):
            reader.fail(place, f"is {type_name(entry)}, not an object")
    return entries


def _node(reader: Reader, entry: Mapping[str, Any], place: str) -> dict[str, Any]:
    labels = [reader.name(value, at) for at, value in elements(reader, entry, "labels", place)]
    return {
        "command": "remember",
        "id": reader.name(entry.get("uuid"), f"{place}, uuid"),
        "node_type": next((label for label in labels if label != "Entity"), "Entity"),
        "name": reader.name(entry.get("name"), f"{place}, name"),
        "description": reader.text(entry.get("summary") or "", f"{place}, summary"),
        "extra": reader.extra(without_nulls(entry), place, _NODE),
    }


def _episode(reader: Reader, entry: Mapping[str, Any], place: str) -> dict[str, Any]:
    text = reader.text(entry.get("content"), f"{place}, content")
    return {
        "command": "remember",
        "id": reader.name(entry.get("uuid"), f"{place}, uuid"),
        "node_type": "Episode",
        "name": short_name(reader.text(entry.get("name") or text, f"{place}, name")),
        "description": text,
        "valid_at": reader.moment_of(entry, "valid_at", place),
        "extra": reader.extra(without_nulls(entry), place, _EPISODE),
    }


def _edge(reader: Reader, entry: Mapping[str, Any], place: str, known: set[str]) -> list[dict[str, Any]]:
    """Return a fact as a memory; its links; when it has expired, the commands that retract it.

    `known`: the ids of the nodes and episodes of the file.
    """
    own = reader.name(entry.get("uuid"), f"{place}, uuid")
    source = reader.name(entry.get("source_node_uuid"), f"{place}, source_node_uuid")
    target = reader.name(entry.get("target_node_uuid"), f"{place}, target_node_uuid")
    for end in (source, target):
        if end not in known:
            reader.fail(place, f"its end {end} is no node of the file")
    name = reader.name(entry.get("name") or "RELATES_TO", f"{place}, name")
    text = reader.text(entry.get("fact") or name, f"{place}, fact")
    period = {field: reader.moment_of(entry, field, place) for field in ("valid_at", "invalid_at")}
    content = {"node_type": "Fact", "name": short_name(text), "description": text}
    episodes = dict.fromkeys(reader.name(value, at) for at, value in elements(reader, entry, "episodes", place))
    link_id = f"{own}:link"
    changes = [relate(source, relation_type(name), target, id=link_id, extra={"fact": own}, **period)]
    changes += [relate(own, "ABOUT", end, **period) for end in dict.fromkeys((source, target))]
    changes += [relate(own, "STATED_IN", episode, **period) for episode in episodes if episode in known]
    if entry.get("expired_at") is not None and period["invalid_at"] is None:
        changes += [{"command": "unrelate", "id": link_id}, {"command": "retract", "id": own}]
    extra = reader.extra(without_nulls(entry), place, _EDGE)
    return [{"command": "remember", "id": own, **content, **period, "extra": extra}, *changes]
