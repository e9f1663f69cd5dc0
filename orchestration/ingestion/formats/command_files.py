"""Files that become commands: those of `commands`, and those of other memory systems. Pure.

`commands`: JSON lines of commands, as `schemas.commands` defines them. `graphiti`: the graph of Graphiti
and Zep, with four times on each edge. `mem0`: memories with their history, if the file has it. `mcp-memory`: the
JSON lines of the MCP memory server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from hashlib import blake2b
from itertools import chain
from typing import Any, Final

import orjson

from orchestration.identifiers import identifier
from orchestration.ingestion.formats.reader import (
    JSON,
    File,
    FileSet,
    Format,
    ParsedFiles,
    Reader,
    is_citizen_id,
    parse_each,
    short_name,
)
from orchestration.ingestion.written_times import type_name
from schemas.base import without_nulls
from schemas.commands import KINDS, Command
from schemas.memory import GraphKey, Level, Source

FORM: Final = Format(
    "commands",
    'lines of {"command": "remember" | "relate" | "supersede" | "correct" | "retract", and its fields}',
    JSON,
    holds=lambda names: names.near("command"),
    rank=1,
    of_store=True,
)
GOAL: Final = "keep what was known"
"""The goal of links that have none in the other system."""
NEUTRAL_METADATA: Final = {"energy": 0.5, "confidence": 0.5, "emotion_vector": {}, "mindstate": "imported"}
"""Neutral values for the metadata that every link must have and that the other system does not record."""
LINK_PARTS: Final = ("source_id", "relation_type", "target_id")
"""What a link without an id is known by."""
_NOT_IN_A_TYPE: Final = re.compile(r"[^A-Z0-9]+")


@dataclass(frozen=True, slots=True)
class CommandFile:
    """Commands in the order of their file.

    `are_rows`: they are new memories, the rows of a table. `known`: ids of those that are stored and stay.
    `command_id` and `graph`: as for an `Ingestible`.
    """

    id: str
    citizen_id: str | None
    entries: tuple[Command, ...]
    are_rows: bool = False
    known: frozenset[str] = frozenset()
    command_id: str | None = None
    graph: GraphKey = Level.N1

    @property
    def size(self) -> int:
        return len(self.entries)

    def shared(self) -> frozenset[str]:
        return self.known

    def commands(self) -> Iterator[Command]:
        return iter(self.entries)


def parse(files: FileSet) -> ParsedFiles:
    """Parse each file to one list of commands. A line without a citizen belongs to the given citizen.

    A line without `command_id` gets one derived from its content, so that the file can be ingested again. Raises
    InvalidRequest with the line and the field of the first invalid command.
    """

    def read(reader: Reader, file: File) -> Iterator[CommandFile]:
        commands: list[Command] = []
        for place, entry in reader.entries(file, "commands"):
            commands.append(_command(reader, place, entry, files.citizen_id))
            reader.counts.update(commands[-1].notes)
        yield CommandFile(file.name, files.citizen_id, tuple(commands))

    return parse_each(files, FORM, read)


def _command(reader: Reader, place: str, entry: dict[str, Any], citizen_id: str | None) -> Command:
    owner: dict[str, Any] = {}
    if entry.get("level", "N1") == "N1" and not entry.get("collective"):
        if entry.get("citizen_id") is not None:
            owner = {"level": "N1"}  # what names a citizen is its own, whatever graph the file is meant for
        elif citizen_id is not None:
            owner = {"citizen_id": citizen_id}
    content = KINDS.get(str(entry.get("command")), Command).under_own_names(entry)
    try:
        digest = blake2b(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), digest_size=10).hexdigest()
    except TypeError as error:
        reader.fail(place, f"cannot be stored ({error})")
    return reader.command(place, {**owner, "command_id": f"line:{digest}", **entry})


type CommandFields = tuple[str, dict[str, Any]]
"""The place of a command in the file, and its fields."""


def parse_foreign(
    files: FileSet, form: Format, read: Callable[[Reader, File, str | None], Sequence[CommandFields]]
) -> ParsedFiles:
    """Build the commands that `read` returns for each file of another memory system and the given citizen.

    Raises InvalidRequest with the place of the first invalid entry, and for a file without entries.
    """

    def read_one(reader: Reader, file: File) -> Iterator[CommandFile]:
        commands: list[Command] = []
        for place, fields in read(reader, file, files.citizen_id):
            own_id = fields.get("id") or "|".join(fields[part] for part in LINK_PARTS)
            key = f"import:{form.name}:{fields['command']}:{own_id}"
            at = fields.get("effective_at")
            named = {
                "citizen_id": files.citizen_id,
                "command_id": identifier(f"{key}:{at.isoformat()}" if at else key),
                "source": Source.INGESTION,
            }
            commands.append(reader.command(place, {**named, **without_nulls(fields)}))
        if not commands:
            reader.fail("", "has no memory or link to import")
        yield CommandFile(file.name, files.citizen_id, tuple(commands))

    return parse_each(files, form, read_one)


def relation_type(name: str) -> str:
    """Return the name of a relation as a relation type: `works at` becomes `WORKS_AT`."""
    plain = _NOT_IN_A_TYPE.sub("_", name.upper()).strip("_")[:64]
    return plain if plain[:1].isalpha() else "RELATES_TO"


def _relate(source_id: str, type_: str, target_id: str, **fields: Any) -> dict[str, Any]:
    """Return the fields of a link; without an `id` its id is made of its ends and its type."""
    ends = dict(zip(LINK_PARTS, (source_id, type_, target_id), strict=True))
    return {"command": "relate", **ends, "goal": GOAL, **NEUTRAL_METADATA, **fields}


def _elements(reader: Reader, entry: Mapping[str, Any], name: str, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a list that may be missing, each with its place."""
    value = entry.get(name)
    if value is None:
        return
    if not isinstance(value, list):
        reader.fail(f"{place}, field {name}".removeprefix(", "), f"is {type_name(value)}, not a list")
    for number, element in enumerate(value, start=1):
        yield f"{place}, {name} {number}".removeprefix(", "), element


GRAPHITI: Final = Format(
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


def _read_graphiti(reader: Reader, file: File, citizen_id: str | None) -> list[CommandFields]:
    """A node and an episode become a memory each, a fact a memory that is `ABOUT` its two nodes, and a link.

    `valid_at` and `invalid_at` are imported. A fact that is expired and has no `invalid_at` is retracted.
    `created_at` and `expired_at` go to `extra`: our transaction time begins with the import.
    """
    reader.owner(citizen_id)
    whole = reader.document(file)
    if not isinstance(whole, dict):
        reader.fail("", f"is {type_name(whole)}, not an object")
    commands: list[CommandFields] = []
    for name, read in (("nodes", _node), ("episodes", _episode)):
        for place, entry in _objects(reader, whole, name):
            commands.append((place, read(reader, entry, place)))
    ids = {fields["id"] for _, fields in commands}
    changes: list[CommandFields] = []
    for place, entry in _objects(reader, whole, "edges"):
        fact, *rest = _edge(reader, entry, place, ids)
        commands.append((place, fact))
        changes += [(place, fields) for fields in rest]
    return [*commands, *changes]


parse_graphiti: Final = partial(parse_foreign, form=GRAPHITI, read=_read_graphiti)


def _objects(reader: Reader, whole: Mapping[str, Any], name: str) -> list[CommandFields]:
    entries = list(_elements(reader, whole, name, ""))
    for place, entry in entries:
        if not isinstance(entry, dict):
            reader.fail(place, f"is {type_name(entry)}, not an object")
    return entries


def _node(reader: Reader, entry: Mapping[str, Any], place: str) -> dict[str, Any]:
    labels = [reader.name(value, at) for at, value in _elements(reader, entry, "labels", place)]
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
    """Return a fact as a memory; its links; when it has expired, the commands that retract it."""
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
    episodes = dict.fromkeys(reader.name(value, at) for at, value in _elements(reader, entry, "episodes", place))
    link_id = f"{own}:link"
    changes = [_relate(source, relation_type(name), target, id=link_id, extra={"fact": own}, **period)]
    changes += [_relate(own, "ABOUT", end, **period) for end in dict.fromkeys((source, target))]
    changes += [_relate(own, "STATED_IN", episode, **period) for episode in episodes if episode in known]
    if entry.get("expired_at") is not None and period["invalid_at"] is None:
        changes += [{"command": "unrelate", "id": link_id}, {"command": "retract", "id": own}]
    extra = reader.extra(without_nulls(entry), place, _EDGE)
    return [{"command": "remember", "id": own, **content, **period, "extra": extra}, *changes]


MEM0: Final = Format(
    "mem0",
    'a list, lines or {"results": [...]} of {"id", "memory", "user_id", "created_at", "metadata", "history"}',
    JSON,
    holds=lambda names: names.has("memory", "id"),
    rank=3,
    of_store=True,
)
_MEM0_KNOWN: Final = frozenset(("id", "memory", "user_id", "created_at", "updated_at", "categories", "history"))


def _read_mem0(reader: Reader, file: File, citizen_id: str | None) -> list[CommandFields]:
    """A memory holds from its `created_at`; an UPDATE supersedes and a DELETE retracts it.

    Without a citizen, a memory belongs to its `user_id`.
    """
    commands: list[CommandFields] = []
    for place, entry in reader.entries(file, "results"):
        owner = citizen_id or entry.get("user_id")
        if not isinstance(owner, str) or not is_citizen_id(owner):
            reader.fail(place, f"its user_id {owner!r} cannot name a citizen: name one")
        named = {"citizen_id": owner, "id": reader.name(entry.get("id"), f"{place}, id")}
        commands += [(place, {**named, **fields}) for fields in _memory(reader, entry, place)]
    return commands


parse_mem0: Final = partial(parse_foreign, form=MEM0, read=_read_mem0)


def _memory(reader: Reader, entry: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    created = reader.moment_of(entry, "created_at", place)
    text = reader.text(entry.get("memory"), f"{place}, memory").strip()
    steps = [_step(reader, step, at) for at, step in _elements(reader, entry, "history", place)]
    steps.sort(key=lambda step: (step[1] is not None, step[1]))
    current = next((told for event, _, told in steps if event == "ADD"), text)
    tags = [reader.name(value, at) for at, value in _elements(reader, entry, "categories", place)]
    extra = reader.extra(entry, place, _MEM0_KNOWN)
    first = {"command": "remember", "valid_at": created, "tags": tags, "extra": extra, **_content(current)}
    commands: list[dict[str, Any]] = [first]
    for event, at, told in steps:
        if event == "UPDATE":
            commands.append({"command": "supersede", "effective_at": at, **_content(told)})
            current = told
        elif event == "DELETE":
            commands.append({"command": "retract", "effective_at": at, "reason": "reality_changed"})
    if current != text and not any(event == "DELETE" for event, _, _ in steps):
        updated = reader.moment_of(entry, "updated_at", place)
        commands.append({"command": "supersede", "effective_at": updated, **_content(text)})
    return commands


def _step(reader: Reader, step: Any, place: str) -> tuple[str, datetime | None, str]:
    """Return a change in the history of a memory: what it was, when, and the text since then."""
    if not isinstance(step, dict) or step.get("event") not in ("ADD", "UPDATE", "DELETE"):
        reader.fail(place, "its event is none of ADD, UPDATE, DELETE")
    text = step.get("new_memory") or step.get("old_memory") or ""
    at = reader.moment_of(step, "updated_at" if step.get("updated_at") else "created_at", place)
    return step["event"], at, reader.text(text, f"{place}, new_memory").strip()


def _content(text: str) -> dict[str, str]:
    return {"name": short_name(text), "description": text}


MCP_MEMORY: Final = Format(
    "mcp-memory",
    'lines of {"type": "entity", "name", "entityType", "observations"} '
    'or {"type": "relation", "from", "to", "relationType"}',
    JSON,
    holds=lambda names: names.near("entityType", "relationType"),
    rank=1,
    of_store=True,
)


def _read_mcp_memory(reader: Reader, file: File, citizen_id: str | None) -> list[CommandFields]:
    """Entities become memories, each observation a memory `ABOUT` its entity, and relations links."""
    reader.owner(citizen_id)
    memories: dict[str, list[CommandFields]] = {}
    about: list[CommandFields] = []
    relations: list[CommandFields] = []
    for place, entry in reader.entries(file, "entities"):
        if entry.get("type") == "entity":
            name = reader.name(entry.get("name"), f"{place}, name")
            node_type = reader.name(entry.get("entityType", "Memory"), f"{place}, entityType")
            entity = {"command": "remember", "id": _id(name), "node_type": node_type, "name": name}
            memories.setdefault(name, []).append((place, entity))
            for at, value in _elements(reader, entry, "observations", place):
                text = reader.text(value, at).strip()
                if text:
                    own = identifier(f"mcp-memory:{name}:{text}")
                    content = {"command": "remember", "id": own, "node_type": "Observation", **_content(text)}
                    memories[name].append((at, content))
                    about.append((at, _relate(own, "ABOUT", _id(name))))
        elif entry.get("type") == "relation":
            relations.append((place, entry))
        else:
            reader.fail(place, "is neither an entity nor a relation")
    links = [(place, _relation(reader, entry, place, memories)) for place, entry in relations]
    first: dict[Any, CommandFields] = {}  # of each memory and each link: the MCP server ignores a second one too
    for place, fields in (*chain.from_iterable(memories.values()), *about, *links):
        first.setdefault(fields.get("id") or tuple(fields[part] for part in LINK_PARTS), (place, fields))
    return list(first.values())


def _relation(reader: Reader, entry: dict[str, Any], place: str, entities: Collection[str]) -> dict[str, Any]:
    source, target = (reader.name(entry.get(end), f"{place}, {end}") for end in ("from", "to"))
    for end in (source, target):
        if end not in entities:
            reader.fail(place, f"relates {end!r}, which is no entity of the file")
    relation = reader.name(entry.get("relationType"), f"{place}, relationType")
    return _relate(_id(source), relation_type(relation), _id(target), extra={"relation": relation})


def _id(name: str) -> str:
    return identifier(f"mcp-memory:{name}")


parse_mcp_memory: Final = partial(parse_foreign, form=MCP_MEMORY, read=_read_mcp_memory)
