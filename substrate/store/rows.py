"""Rows of the engine to models, records and receipts, and back. Pure.

The engine answers with integers, None and text; how a column is read depends on its name alone. A model shows
what was known: `known_to` is the end of the transaction time that a question sees, and a record that was closed
later is shown as it was before.

Maps are stored as they were sent. Requests with maps nested deeper than `DEEPEST` are refused; stores of older
releases may still hold such maps, which are repaired.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

import orjson

from schemas.base import DEEPEST, is_deeper
from schemas.memory import (
    ConsciousnessNode,
    ConsciousnessRelationship,
    GraphKey,
    LinkRecord,
    MemoryRecord,
    Passage,
    ResolutionState,
    SharedFrom,
    Source,
    graph_fields,
)
from schemas.temporal import AFTER_ALL, END_OF_TIME, Instant, Period, open_end, to_datetime
from substrate.bitemporal import UNDONE, Record
from substrate.cypher.fragments import LINK_COLUMNS, LINK_UPKEEP, NODE_COLUMNS, NODE_UPKEEP, PROVENANCE
from substrate.store.passages import read_beginning

type _Readers = Sequence[tuple[str, Callable[[Any], Any]]]


class LinkName(NamedTuple):
    """How a link is found: by its ends where these gave it its id, else by the handle of its own id."""

    id: str
    ends: tuple[str, str] | None
    handle: int | None


class StoredReceipt(NamedTuple):
    """A receipt as the graph holds it, in the order of `RECEIPT_COLUMNS`.

    `recognised` is 1 for a command that only repeated what is stored. `warnings` is JSON; so is `told`, what the
    first answer said beside the record.
    """

    command_id: str
    fingerprint: int | None
    command: str
    id: str | None
    version: int | None
    valid_at: int | None
    invalid_at: int | None
    created_at: int
    warnings: str | None
    recognised: int | None = None
    told: str | None = None

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> StoredReceipt | None:
        """None where the row has no receipt."""
        return None if row[0] is None else cls(*row)


class RowOutcome(NamedTuple):
    """What a row of a write met: `new` when it was stored just now, else what existed.

    `at` is the transaction time of the row. `receipt` is that of an earlier command with the row's command id,
    `past_links` the number of closed records of the link.
    """

    id: str
    new: bool
    at: Instant
    fingerprint: int | None
    version: int
    valid_at: Instant | None
    invalid_at: Instant | None
    created_at: Instant | None
    expired_at: Instant | None
    receipt: StoredReceipt | None = None
    has_source: bool = True
    has_target: bool = True
    past_links: int = 0


FELT: Final = ("emotion_vector", "resolution_state", "energy")
"""What a new link may take from the memories at its ends."""
MAP_COLUMNS: Final = ("extra", "sensory_details")
WHOLE_MAP: Final = "json"
"""The only field of a map that could not be repaired field by field: it has the whole stored text."""


def read_map(text: str) -> dict[str, Any]:
    """Parse a stored map. Raises ValueError when the text is no map, or nested deeper than a response can be."""
    value = orjson.loads(text)
    if not isinstance(value, dict):
        raise ValueError("it is no map")
    # To count the brackets is a cheap check that excludes most texts.
    if text.count("{") + text.count("[") > DEEPEST and is_deeper(value, DEEPEST):
        raise ValueError(f"it is nested deeper than {DEEPEST} lists and maps")
    return value


TIMES = ("valid_at", "invalid_at", "created_at", "expired_at")
_NUMBERS = frozenset(
    ("energy", "confidence", "discovery_energy", "importance", "intensity", "energy_transfer_coefficient")
)
_LISTS = frozenset(("tags", "buckets", "aliases"))
_JSON = _LISTS | frozenset(("emotion_vector", "shared_from", *MAP_COLUMNS))


_READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_NUMBERS, float),
    **dict.fromkeys(_JSON, orjson.loads),
    **dict.fromkeys(_LISTS, lambda text: tuple(orjson.loads(text))),
    **dict.fromkeys(MAP_COLUMNS, read_map),
    "unset": lambda text: tuple(text.split(",")),
    "shared_from": SharedFrom.model_validate_json,
    **dict.fromkeys(("source", "closed_source"), {source.value: source for source in Source}.__getitem__),
    "known_as_happened": lambda stored: stored in (True, "true"),
    "resolution_state": {state.value: state for state in ResolutionState}.__getitem__,
    "valid_at": to_datetime,
    "created_at": to_datetime,
    "invalid_at": open_end,
    "expired_at": open_end,
}
"""How a column is read; a column without a reader is shown as it comes."""
_NODE_FIELDS = tuple("node_id" if column == "id" else column for column in NODE_COLUMNS)
_LINK_FIELDS = tuple("link_id" if column == "id" else column for column in LINK_COLUMNS)
_NODE_READERS = tuple((column, _READERS[column]) for column in NODE_COLUMNS if column in _READERS)
_LINK_READERS = tuple((column, _READERS[column]) for column in LINK_COLUMNS if column in _READERS)
_NODE_DEFAULTS, _LINK_DEFAULTS = ConsciousnessNode.defaults(), ConsciousnessRelationship.defaults()
_PROVENANCE_READERS = tuple((column, _READERS[column]) for column in PROVENANCE if column in _READERS)
NODE_PLACE = {column: place for place, column in enumerate(NODE_COLUMNS)}
LINK_PLACE = {column: place for place, column in enumerate(LINK_COLUMNS)}


QUARANTINED: Final = "quarantined"
_CLOSING = frozenset(("closed_reason", "closed_by", "closed_source", "closed_key"))
"""The columns that a record has beside `expired_at` once it is closed."""


def _fields(row: Sequence[Any], names: Sequence[str], readers: _Readers, known_to: Instant) -> dict[str, Any]:
    fields = {name: value for name, value in zip(names, row, strict=False) if value is not None}
    if fields.get("expired_at", END_OF_TIME) >= known_to:
        fields = {name: value for name, value in fields.items() if name not in _CLOSING}
        fields["expired_at"] = END_OF_TIME
    unreadable = [name for name, read in readers if name in fields and not _read_into(fields, name, read)]
    if unreadable:
        fields["unreadable"] = tuple(unreadable)
    if fields.get("closed_reason", QUARANTINED) != QUARANTINED:
        closed = fields["closed_reason"]
        fields.setdefault("invalidation_reason", "discovered_false" if closed == UNDONE else closed)
    return fields


def _read_into(fields: dict[str, Any], name: str, read: Callable[[Any], Any]) -> bool:
    """Replace the stored value by the read one. JSON that cannot be read is removed: False."""
    try:
        fields[name] = read(fields[name])
    except (ValueError, TypeError):
        if name not in _JSON:
            raise
        del fields[name]
        return False
    return True


def _with_shown_name(fields: dict[str, Any]) -> dict[str, Any]:
    if (beginning := read_beginning(fields.get("description"))) is not None:
        passage = Passage(start=0, end=len(beginning.text), length=beginning.length)
        fields = {**fields, "description": beginning.text, "passage": passage}
    name, text = fields.get("name"), fields.get("description")
    if name is None:
        return fields
    if fields.get("node_type") == "Session":
        return {**fields, "name": shown_session(name, text, fields.get("extra"))}
    return {**fields, "name": shown_name(fields["node_id"], name, fields.get("speaker"), text)}


def node(row: Sequence[Any], key: GraphKey, known_to: Instant = AFTER_ALL, **retrieval: Any) -> ConsciousnessNode:
    """`row` is in the order of `NODE_COLUMNS`; `retrieval` sets the retrieval fields."""
    fields = _fields(row, _NODE_FIELDS, _NODE_READERS, known_to)
    return ConsciousnessNode.unchecked({**_with_shown_name(fields), **graph_fields(key), **retrieval})


def link(
    row: Sequence[Any], ends: tuple[str, str], key: GraphKey, known_to: Instant = AFTER_ALL
) -> ConsciousnessRelationship:
    """`row` is in the order of `LINK_COLUMNS`; `ends` are the ids of source and target."""
    fields = {**_fields(row, _LINK_FIELDS, _LINK_READERS, known_to), **graph_fields(key)}
    return ConsciousnessRelationship.unchecked({**fields, "source_id": ends[0], "target_id": ends[1]})


def link_with_ends(row: Sequence[Any], key: GraphKey, known_to: Instant = AFTER_ALL) -> ConsciousnessRelationship:
    """The link of a row: the ids of its ends, then `LINK_COLUMNS`; what follows these is not shown."""
    return link(row[2:], (row[0], row[1]), key, known_to)


def node_fields(row: Sequence[Any], known_to: Instant = AFTER_ALL) -> dict[str, Any]:
    """All fields of the memory of a row, in their order, without its graph and what a question adds."""
    return {**_NODE_DEFAULTS, **_with_shown_name(_fields(row, _NODE_FIELDS, _NODE_READERS, known_to))}


def link_fields(row: Sequence[Any], known_to: Instant = AFTER_ALL) -> dict[str, Any]:
    """All fields of the link of a row, in their order, without its ends, its graph and what a question adds."""
    return {**_LINK_DEFAULTS, **_fields(row, _LINK_FIELDS, _LINK_READERS, known_to)}


def memory_record(row: Sequence[Any], key: GraphKey, known_to: Instant = AFTER_ALL) -> MemoryRecord:
    """`row` is in the order of `NODE_COLUMNS`, `PROVENANCE`."""
    fields = _fields(row, (*_NODE_FIELDS, *PROVENANCE), (*_NODE_READERS, *_PROVENANCE_READERS), known_to)
    return MemoryRecord.unchecked({**_with_shown_name(fields), **graph_fields(key)})


def link_record(row: Sequence[Any], key: GraphKey, known_to: Instant = AFTER_ALL) -> LinkRecord:
    """`row` has the ids of the ends, then `LINK_COLUMNS`, `PROVENANCE`."""
    names, readers = (*_LINK_FIELDS, *PROVENANCE), (*_LINK_READERS, *_PROVENANCE_READERS)
    fields = _fields(row[2:], names, readers, known_to)
    return LinkRecord.unchecked({**fields, "source_id": row[0], "target_id": row[1], **graph_fields(key)})


_NOT_CONTENT = frozenset((*TIMES, "id", "version", "invalidation_reason", "closed_reason"))
NODE_CONTENT = tuple(column for column in NODE_COLUMNS if column not in _NOT_CONTENT)
LINK_CONTENT = tuple(column for column in LINK_COLUMNS if column not in _NOT_CONTENT)


def record(row: Sequence[Any]) -> Record:
    """`row` is in the order of `NODE_COLUMNS`, `PROVENANCE`; the content stays in stored form."""
    return memory_from_properties(dict(zip((*NODE_COLUMNS, *PROVENANCE), row, strict=False)))


def record_of_link(row: Sequence[Any]) -> Record:
    """`row` is in the order of `LINK_COLUMNS`, `PROVENANCE`, without the ids of the ends."""
    return link_from_properties(dict(zip((*LINK_COLUMNS, *PROVENANCE), row, strict=False)))


def memory_from_properties(properties: Mapping[str, Any]) -> Record:
    """The record of a memory by its properties in stored form."""
    return _record(properties, NODE_CONTENT)


def link_from_properties(properties: Mapping[str, Any]) -> Record:
    """The record of a link by its properties in stored form; a link that never changed has no `version`."""
    return _record(properties, LINK_CONTENT)


def _record(by_name: Mapping[str, Any], columns: Sequence[str]) -> Record:
    content = {
        column: float(value) if column in _NUMBERS else value
        for column in columns
        if (value := by_name[column]) is not None
    }
    return Record(
        id=by_name["id"],
        version=by_name["version"] or 1,
        valid=Period(by_name["valid_at"], by_name["invalid_at"]),
        known=Period(by_name["created_at"], by_name["expired_at"]),
        content=content,
        reason=by_name["invalidation_reason"],
        closed_reason=by_name["closed_reason"],
        command_id=by_name.get("command_id"),
        closed_by=by_name.get("closed_by"),
        closed_source=None if (by := by_name.get("closed_source")) is None else Source(by),
        key_id=by_name.get("key_id"),
        closed_key=by_name.get("closed_key"),
        # The mark is stored only where it is true.
        known_as_happened=True if by_name.get("known_as_happened") in (True, "true") else None,
    )


def times(valid: Period, known: Period) -> dict[str, int]:
    """The four time properties of a record."""
    return {"valid_at": valid.start, "invalid_at": valid.end, "created_at": known.start, "expired_at": known.end}


def is_made(unset: str | None) -> bool:
    """True for the stored `unset` of a memory that was made of a name in some text."""
    return unset is not None and unset.startswith("name,")


def memory_properties(fields: Mapping[str, Any]) -> dict[str, Any]:
    """All properties of a memory in stored form: JSON columns as text, what `fields` lacks as None."""
    return stored(fields, NODE_COLUMNS + NODE_UPKEEP)


def link_properties(fields: Mapping[str, Any]) -> dict[str, Any]:
    """All properties of a link in stored form: JSON columns as text, what `fields` lacks as None."""
    return stored(fields, LINK_COLUMNS + LINK_UPKEEP)


def stored(fields: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """These columns in stored form: JSON columns as text, what `fields` lacks as None."""
    return {c: json_text(fields.get(c)) if c in _JSON else _plain(fields.get(c)) for c in columns}


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


SHOWN_WORDS: Final = 60
"""This many characters of a turn are shown as its name."""
SUBJECTS: Final = "subjects"
"""The key in `extra` of a session under which its subject words are stored."""
_ROLES: Final = frozenset(("user", "assistant", "system", "tool", "human", "ai"))
_COUNTED_TITLE: Final = re.compile(r"session \d+( \(\d+\))?( · |\Z)")


def shown_name(memory_id: str, name: str, speaker: str | None, text: str | None) -> str:
    """The name of a memory as readers see it: of a turn its speaker and first words, such as "Ada: we moved to …".
    A turn is stored under its place in the conversation, the end of its id. A name given to it later is shown."""
    if not speaker or not memory_id.endswith(f":{name}"):
        return name
    by = speaker.capitalize() if speaker in _ROLES else speaker
    line = " ".join((text or "").split())
    if len(line) > SHOWN_WORDS:
        line = f"{line[: SHOWN_WORDS + 1].rpartition(' ')[0] or line[:SHOWN_WORDS]}…"
    return f"{by}: {line}"


def shown_session(name: str, text: str | None, extra: Mapping[str, Any] | None) -> str:
    """The name of a session: its day and what it was about; its title too, unless that only counts it."""
    subjects = (extra or {}).get(SUBJECTS)
    if not isinstance(subjects, list) or not subjects:
        return name
    title = "" if _COUNTED_TITLE.match(name) else name.removesuffix(f" · {text}")
    when = " · ".join(part for part in (title, text) if part)
    return f"{when or name}: {', '.join(map(str, subjects))}"


def json_text(value: Any) -> str | None:
    """A list or map as JSON; None for an empty one."""
    return orjson.dumps(value).decode() if value else None


def repair_map(text: str) -> str:
    """Return the text of a map that `read_map` accepts; fields that are nested too deeply become texts of JSON."""
    try:
        read_map(text)
    except ValueError:
        return orjson.dumps(_flatten(text)).decode()
    return text


def repair_maps(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the content of a record with its maps repaired; the same object when nothing was repaired."""
    names = [name for name in MAP_COLUMNS if isinstance(content.get(name), str)]
    changed = {name: text for name in names if (text := repair_map(content[name])) != content[name]}
    return {**content, **changed} if changed else content


def _flatten(text: str) -> dict[str, Any]:
    try:
        fields = orjson.loads(text)
        if not isinstance(fields, dict):
            return {WHOLE_MAP: text}
        for name, value in fields.items():
            if is_deeper(value, DEEPEST - 1):
                fields[name] = orjson.dumps(value).decode()
        return fields
    except (ValueError, TypeError):  # no JSON, or deeper than the encoder goes
        return {WHOLE_MAP: text}
