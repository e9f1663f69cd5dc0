"""`mcp-memory`: the JSON lines of the MCP memory server: entities, their observations, relations. Pure."""

from __future__ import annotations

from typing import Any, Final

from orchestration.identifiers import identifier
from orchestration.ingestion.formats.foreign import (
    CommandFields,
    elements,
    parse_foreign,
    relate,
    relation_type,
    require_citizen,
    short_name,
)
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Reader, entries

FORM: Final = Format(
    "mcp-memory",
    'lines of {"type": "entity", "name", "entityType", "observations"} '
    'or {"type": "relation", "from", "to", "relationType"}',
)


def parse(files: FileSet) -> ParsedFiles:
    """Parse entities to memories, each observation to a memory `ABOUT` its entity, and relations to links.

    Raises InvalidRequest with the place of the first line of another type, or of a relation whose entity is
    missing.
    """
    return parse_foreign(files, FORM, _read)


def _read(reader: Reader, file: File, citizen_id: str | None) -> list[CommandFields]:
    owner = require_citizen(reader, citizen_id)
    memories: dict[str, list[CommandFields]] = {}
    about: list[CommandFields] = []
    relations: list[tuple[str, dict[str, Any]]] = []
    for place, entry in entries(FORM, file, "entities"):
        if entry.get("type") == "entity":
            name = reader.name(entry.get("name"), f"{place}, name")
            memories.setdefault(name, []).append(_entity(reader, entry, name, place))
            observations = _observations(reader, entry, name, place)
            memories[name] += observations
            ids = ((observation.place, observation.fields["id"]) for observation in observations)
            about += [CommandFields(at, relate(own, "ABOUT", _id(name))) for at, own in ids]
        elif entry.get("type") == "relation":
            relations.append((place, entry))
        else:
            reader.fail(place, "is neither an entity nor a relation")
    related = [_relation(reader, entry, place, memories) for place, entry in relations]
    grouped = [command for commands in memories.values() for command in commands]
    first: dict[Any, CommandFields] = {}  # of each memory and each link: the MCP server ignores a second one too
    for place, fields in (*grouped, *about, *related):
        key = fields.get("id") or (fields["source_id"], fields["relation_type"], fields["target_id"])
        first.setdefault(key, CommandFields(place, {**fields, "citizen_id": owner}))
    return list(first.values())


def _entity(reader: Reader, entry: dict[str, Any], name: str, place: str) -> CommandFields:
    node_type = reader.name(entry.get("entityType", "Memory"), f"{place}, entityType")
    return CommandFields(place, {"command": "remember", "id": _id(name), "node_type": node_type, "name": name})


def _observations(reader: Reader, entry: dict[str, Any], name: str, place: str) -> list[CommandFields]:
    observations = []
    for at, value in elements(reader, entry, "observations", place):
        text = reader.text(value, at).strip()
        if text:
            content = {"node_type": "Observation", "name": short_name(text), "description": text}
            own = identifier(f"mcp-memory:{name}:{text}")
            observations.append(CommandFields(at, {"command": "remember", "id": own, **content}))
    return observations


def _relation(
    reader: Reader, entry: dict[str, Any], place: str, memories: dict[str, list[CommandFields]]
) -> CommandFields:
    source, target = (reader.name(entry.get(end), f"{place}, {end}") for end in ("from", "to"))
    for end in (source, target):
        if end not in memories:
            reader.fail(place, f"relates {end!r}, which is no entity of the file")
    name = reader.name(entry.get("relationType"), f"{place}, relationType")
    fields = relate(_id(source), relation_type(name), _id(target), extra={"relation": name})
    return CommandFields(place, fields)


def _id(name: str) -> str:
    return identifier(f"mcp-memory:{name}")
