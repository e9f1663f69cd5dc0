"""`graphiti`: what Graphiti and Zep keep: entity nodes, facts on edges, episodes, with their four times. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from orchestration.ingestion.formats.foreign import Said, intake, joined, listed, relate, relation, shown_name
from orchestration.ingestion.formats.parsed import File, Given, Intake
from orchestration.ingestion.formats.reader import Format, Reader, document, fault, kind

FORM: Final = Format(
    "graphiti",
    '{"nodes": [{"uuid", "name", "summary"}], "edges": [{"uuid", "name", "fact", "source_node_uuid", '
    '"target_node_uuid", "valid_at", "invalid_at", "created_at", "expired_at"}], '
    '"episodes": [{"uuid", "content"}]}',
)
KEPT: Final = "keep what was known"
_NODE: Final = frozenset(("uuid", "name", "summary", "labels"))
_EDGE: Final = frozenset(
    ("uuid", "name", "fact", "source_node_uuid", "target_node_uuid", "valid_at", "invalid_at", "episodes")
)
_EPISODE: Final = frozenset(("uuid", "name", "content", "valid_at"))
_VECTORS: Final = frozenset(("name_embedding", "fact_embedding"))


def parse(given: Given) -> Intake:
    """A node is a memory; a fact is a memory `ABOUT` its two nodes, and a link between them; so is an episode.

    `valid_at` and `invalid_at` are taken over. What was expired and has no `invalid_at` is retracted.
    `created_at` and `expired_at` are kept in `extra`: when we knew it begins with the import.
    Raises InvalidRequest naming the first entry that is not what it should be, or an edge without its ends.
    """
    return joined([intake(given, file, FORM, _read(file, given.citizen_id)) for file in given.files])


def _read(file: File, citizen_id: str | None) -> tuple[list[Said], Reader]:
    if citizen_id is None:
        raise fault(FORM, file.name, "", "does not say whose memory it is: name a citizen")
    whole = document(FORM, file)
    if not isinstance(whole, dict):
        raise fault(FORM, file.name, "", f"is {kind(whole)}, not an object")
    reader = Reader(FORM, file.name)
    known: set[str] = set()
    said: list[Said] = []
    for place, entry in _objects(reader, whole, "nodes"):
        said.append((place, _node(reader, entry, place)))
        known.add(said[-1][1]["id"])
    for place, entry in _objects(reader, whole, "episodes"):
        said.append((place, _episode(reader, entry, place)))
        known.add(said[-1][1]["id"])
    facts, links = [], []
    for place, entry in _objects(reader, whole, "edges"):
        fact, linked = _edge(reader, entry, place, known)
        facts.append((place, fact))
        links += [(place, one) for one in linked]
    said += facts + links
    return [(place, {**fields, "citizen_id": citizen_id}) for place, fields in said], reader


def _objects(reader: Reader, whole: Mapping[str, Any], name: str) -> list[tuple[str, dict[str, Any]]]:
    found = list(listed(reader, whole, name, ""))
    for place, entry in found:
        if not isinstance(entry, dict):
            reader.fail(place, f"is {kind(entry)}, not an object")
    return found


def _node(reader: Reader, entry: Mapping[str, Any], place: str) -> dict[str, Any]:
    labels = [reader.name(value, at) for at, value in listed(reader, entry, "labels", place)]
    return {
        "command": "remember",
        "id": reader.name(entry.get("uuid"), f"{place}, uuid"),
        "node_type": next((label for label in labels if label != "Entity"), "Entity"),
        "name": reader.name(entry.get("name"), f"{place}, name"),
        "description": reader.text(entry.get("summary") or "", f"{place}, summary"),
        "extra": _extra(reader, entry, _NODE, place),
    }


def _episode(reader: Reader, entry: Mapping[str, Any], place: str) -> dict[str, Any]:
    text = reader.text(entry.get("content"), f"{place}, content")
    return {
        "command": "remember",
        "id": reader.name(entry.get("uuid"), f"{place}, uuid"),
        "node_type": "Episode",
        "name": shown_name(entry.get("name") or text),
        "description": text,
        "valid_at": _time(reader, entry, "valid_at", place),
        "extra": _extra(reader, entry, _EPISODE, place),
    }


def _edge(
    reader: Reader, entry: Mapping[str, Any], place: str, known: set[str]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The fact as a memory, and its links; at their end what withdraws it, when it is believed no more."""
    own = reader.name(entry.get("uuid"), f"{place}, uuid")
    ends = [
        reader.name(entry.get(f"{end}_node_uuid"), f"{place}, {end}_node_uuid") for end in ("source", "target")
    ]
    for end in ends:
        if end not in known:
            reader.fail(place, f"its end {end} is no node of the file")
    named = reader.name(entry.get("name") or "RELATES_TO", f"{place}, name")
    text = reader.text(entry.get("fact") or named, f"{place}, fact")
    held = {name: _time(reader, entry, name, place) for name in ("valid_at", "invalid_at")}
    fact = {"command": "remember", "id": own, "node_type": "Fact", "name": shown_name(text), "description": text}
    link_id = f"{own}:link"
    links = [relate((ends[0], relation(named), ends[1]), KEPT, id=link_id, extra={"fact": own}, **held)]
    links += [relate((own, "ABOUT", end), KEPT, **held) for end in dict.fromkeys(ends)]
    sources = [reader.name(one, at) for at, one in listed(reader, entry, "episodes", place)]
    links += [relate((own, "STATED_IN", one), KEPT, **held) for one in dict.fromkeys(sources) if one in known]
    if entry.get("expired_at") is not None and held["invalid_at"] is None:
        links += [{"command": "unrelate", "id": link_id}, {"command": "retract", "id": own}]
    return {**fact, **held, "extra": _extra(reader, entry, _EDGE, place)}, links


def _extra(reader: Reader, entry: Mapping[str, Any], known: frozenset[str], place: str) -> dict[str, Any]:
    kept = {name: value for name, value in entry.items() if name not in known | _VECTORS and value is not None}
    return reader.extra(kept, place)


def _time(reader: Reader, entry: Mapping[str, Any], name: str, place: str) -> datetime | None:
    value = entry.get(name)
    return None if value is None else reader.moment(value, f"{place}, {name}")
