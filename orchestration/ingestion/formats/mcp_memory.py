"""`mcp-memory`: the JSON lines of the MCP memory server: entities, their observations, relations. Pure."""

from __future__ import annotations

from typing import Any, Final

from orchestration.identifiers import identifier
from orchestration.ingestion.formats.foreign import Said, intake, joined, listed, relate, relation, shown_name
from orchestration.ingestion.formats.parsed import File, Given, Intake
from orchestration.ingestion.formats.reader import Format, Reader, entries, fault

FORM: Final = Format(
    "mcp-memory",
    'lines of {"type": "entity", "name", "entityType", "observations"} '
    'or {"type": "relation", "from", "to", "relationType"}',
)
KEPT: Final = "keep what was known"


def parse(given: Given) -> Intake:
    """An entity is a memory, each of its observations one more that is `ABOUT` it, a relation a link.

    Raises InvalidRequest naming the first line that is neither, or a relation of an entity that is not there.
    """
    return joined([intake(given, file, FORM, _read(file, given.citizen_id)) for file in given.files])


def _read(file: File, citizen_id: str | None) -> tuple[list[Said], Reader]:
    if citizen_id is None:
        raise fault(FORM, file.name, "", "does not say whose memory it is: name a citizen")
    reader = Reader(FORM, file.name)
    memories: dict[str, list[Said]] = {}
    links: list[Said] = []
    relations: list[tuple[str, dict[str, Any]]] = []
    for place, entry in entries(FORM, file, "entities"):
        if entry.get("type") == "entity":
            name = reader.name(entry.get("name"), f"{place}, name")
            memories.setdefault(name, []).extend(_entity(reader, entry, (name, place), links))
        elif entry.get("type") == "relation":
            relations.append((place, entry))
        else:
            reader.fail(place, "is neither an entity nor a relation")
    for place, entry in relations:
        source, target = (reader.name(entry.get(end), f"{place}, {end}") for end in ("from", "to"))
        for end in (source, target):
            if end not in memories:
                reader.fail(place, f"relates {end!r}, which is no entity of the file")
        named = reader.name(entry.get("relationType"), f"{place}, relationType")
        ends = (_id(source), relation(named), _id(target))
        links.append((place, relate(ends, KEPT, extra={"relation": named})))
    said = [one for each in memories.values() for one in each] + _once(links)
    return [(place, {**fields, "citizen_id": citizen_id}) for place, fields in _once(said)], reader


def _entity(reader: Reader, entry: dict[str, Any], of: tuple[str, str], links: list[Said]) -> list[Said]:
    name, place = of
    node_type = reader.name(entry.get("entityType", "Memory"), f"{place}, entityType")
    said = [(place, {"command": "remember", "id": _id(name), "node_type": node_type, "name": name})]
    for at, value in listed(reader, entry, "observations", place):
        text = reader.text(value, at).strip()
        if not text:
            continue
        own = identifier(f"mcp-memory:{name}:{text}")
        observation = {"id": own, "node_type": "Observation", "name": shown_name(text), "description": text}
        said.append((at, {"command": "remember", **observation}))
        links.append((at, relate((own, "ABOUT", _id(name)), KEPT)))
    return said


def _once(said: list[Said]) -> list[Said]:
    """Each thing once: the server, too, keeps no second of the same."""
    first: dict[Any, Said] = {}
    for one in said:
        fields = one[1]
        key = fields.get("id") or (fields["source_id"], fields["relation_type"], fields["target_id"])
        first.setdefault(key, one)
    return list(first.values())


def _id(name: str) -> str:
    return identifier(f"mcp-memory:{name}")
