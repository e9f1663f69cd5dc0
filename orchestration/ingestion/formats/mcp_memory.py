"""`mcp-memory`: the JSON lines of the MCP memory server: entities, their observations, relations. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from typing import Any, Final

from orchestration.identifiers import identifier
from orchestration.ingestion.formats.command_files import (
    LINK_PARTS,
    CommandFields,
    elements,
    parse_foreign,
    relate,
    relation_type,
)
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import JSON, Format, Reader, short_name

FORM: Final = Format(
    "mcp-memory",
    'lines of {"type": "entity", "name", "entityType", "observations"} '
    'or {"type": "relation", "from", "to", "relationType"}',
    JSON,
    holds=lambda names: names.near("entityType", "relationType"),
    rank=1,
    of_store=True,
)


def parse(files: FileSet) -> ParsedFiles:
    """Parse entities to memories, each observation to a memory `ABOUT` its entity, and relations to links.

    Raises InvalidRequest with the place of the first line of another type, or of a relation whose entity is
    missing.
    """
    return parse_foreign(files, FORM, _read)


def _read(reader: Reader, file: File, citizen_id: str | None) -> list[CommandFields]:
    owner = reader.owner(citizen_id)
    memories: dict[str, list[CommandFields]] = {}
    about: list[CommandFields] = []
    relations: list[CommandFields] = []
    for place, entry in reader.entries(file, "entities"):
        if entry.get("type") == "entity":
            name = reader.name(entry.get("name"), f"{place}, name")
            node_type = reader.name(entry.get("entityType", "Memory"), f"{place}, entityType")
            entity = {"command": "remember", "id": _id(name), "node_type": node_type, "name": name}
            memories.setdefault(name, []).append(CommandFields(place, entity))
            for observation in _observations(reader, entry, name, place):
                memories[name].append(observation)
                link = relate(observation.fields["id"], "ABOUT", _id(name))
                about.append(CommandFields(observation.place, link))
        elif entry.get("type") == "relation":
            relations.append(CommandFields(place, entry))
        else:
            reader.fail(place, "is neither an entity nor a relation")
    related = [_relation(reader, entry, place, memories) for place, entry in relations]
    first: dict[Any, CommandFields] = {}  # of each memory and each link: the MCP server ignores a second one too
    for place, fields in (*chain.from_iterable(memories.values()), *about, *related):
        key = fields.get("id") or tuple(fields[part] for part in LINK_PARTS)
        first.setdefault(key, CommandFields(place, {**fields, "citizen_id": owner}))
    return list(first.values())


def _relation(reader: Reader, entry: dict[str, Any], place: str, entities: Collection[str]) -> CommandFields:
    source, target = (reader.name(entry.get(end), f"{place}, {end}") for end in ("from", "to"))
    for end in (source, target):
        if end not in entities:
            reader.fail(place, f"relates {end!r}, which is no entity of the file")
    relation = reader.name(entry.get("relationType"), f"{place}, relationType")
    link = relate(_id(source), relation_type(relation), _id(target), extra={"relation": relation})
    return CommandFields(place, link)


def _observations(reader: Reader, entry: dict[str, Any], name: str, place: str) -> Iterator[CommandFields]:
    for at, value in elements(reader, entry, "observations", place):
        text = reader.text(value, at).strip()
        if text:
            content = {"node_type": "Observation", "name": short_name(text), "description": text}
            own = identifier(f"mcp-memory:{name}:{text}")
            yield CommandFields(at, {"command": "remember", "id": own, **content})


def _id(name: str) -> str:
    return identifier(f"mcp-memory:{name}")
