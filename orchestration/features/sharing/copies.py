"""A memory copied to a shared level: under which id, and which command writes or updates it. Pure.

The id follows from the graph and the id of the original alone. So a memory has one copy in a graph, however
often it is shared, and its copies are found without an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import orjson

from orchestration.identifiers import copy_id, natural_id
from orchestration.writing.changes import Refusal, lower_source, record_source
from schemas.commands import Command, Correct, Relate, Remember, Revision, Supersede, Writer
from schemas.memory import GraphKey, SharedFrom, Source, graph_fields
from schemas.temporal import END_OF_TIME, Instant, to_datetime
from substrate import bitemporal
from substrate.bitemporal import Record
from substrate.store.changesets import LinkEnds
from substrate.store.rows import LINK_CONTENT, NODE_CONTENT, shown_name

_NOT_COPIED: Final = frozenset(("source", "episode_id", "correction_pattern_id", "discovery_energy"))
"""The source is decided, the others say something of the graph of the original alone."""
_OF_MEMORY: Final = tuple(name for name in NODE_CONTENT if name in Remember.model_fields.keys() - _NOT_COPIED)
_OF_LINK: Final = tuple(name for name in LINK_CONTENT if name in Relate.model_fields.keys() - _NOT_COPIED)
_JSON: Final = frozenset(("emotion_vector", "tags", "buckets", "aliases", "extra", "sensory_details"))


class Copying(NamedTuple):
    """Who copies what to where. `id`: of the copy."""

    graph: GraphKey
    citizen_id: str
    id: str
    command_id: str
    writer: Writer
    origin: SharedFrom


def origin_of(copy: Record) -> SharedFrom | None:
    """What a record was shared from; None for one that is no copy."""
    kept = copy.content.get("shared_from")
    return None if kept is None else SharedFrom.model_validate_json(kept)


def write_copy(original: Record, copies: Iterable[Record], copying: Copying, now: Instant) -> Command | None:
    """The command that makes the copy, or brings it to the version of the original; None where it has that.

    `copies`: the records of the copy so far. A copy whose original became another thing at a moment is superseded
    there, else it is corrected. Raises Refusal when the id has a memory that is no copy.
    """
    fields = _fields(original.content, _OF_MEMORY)
    content = original.content
    fields["name"] = shown_name(original.id, content["name"], content.get("speaker"), content.get("description"))
    open_copies = bitemporal.open_records(copies)
    if not open_copies:
        unset = (content.get("unset") or "").split(",")
        end = original.valid.end
        ended = {} if end == END_OF_TIME else {"invalid_at": to_datetime(end)}
        made = Remember(
            **_common(original, copying), **fields, valid_at=to_datetime(original.valid.start), **ended
        )
        return _signed(made.assuming(*unset), copying)
    held = bitemporal.held_at(open_copies, now)
    origin = origin_of(held)
    if origin is None:
        raise Refusal("conflict", f"{copying.id} is a memory of its own", current_version=held.version)
    if origin.version == copying.origin.version:
        return None
    return _signed(_update(original, held, fields, copying), copying)


def _update(original: Record, held: Record, fields: Mapping[str, Any], copying: Copying) -> Command:
    before = _fields(held.content, _OF_MEMORY)
    names = [name for name in _OF_MEMORY if name in Revision.model_fields and fields.get(name) != before.get(name)]
    changed = {name: fields.get(name, _EMPTY.get(name)) for name in names} or {"name": fields["name"]}
    common, start, end = _common(original, copying), original.valid.start, original.valid.end
    if held.valid.start < start < held.valid.end:
        return Supersede(**common, **changed, effective_at=to_datetime(start))
    if original.valid != held.valid:
        changed["valid_at"] = to_datetime(start)
        changed["invalid_at"] = None if end == END_OF_TIME else to_datetime(end)
    return Correct(**common, **changed)


_EMPTY: Final[Mapping[str, Any]] = {"tags": (), "buckets": (), "aliases": (), "extra": {}, "description": ""}
"""What a field has that the original no longer has; the others are cleared."""


def _common(original: Record, copying: Copying) -> dict[str, Any]:
    """The fields of each command on a copy. Its source is never raised over what its writer may claim."""
    source = lower_source(record_source(original), copying.writer.highest_source)
    place = {**graph_fields(copying.graph), "citizen_id": copying.citizen_id, "id": copying.id}
    return {**place, "command_id": copying.command_id, "source": source}


def _signed[C: Command](command: C, copying: Copying) -> C:
    return command.as_copy_of(copying.origin).with_writer(copying.writer)


def copy_link(link: Record, ends: LinkEnds, new_ends: LinkEnds, copying: Copying, *, graph: str) -> Relate:
    """The command that makes the copy of a link of this graph between the copies of its ends."""
    is_named = link.id != natural_id(ends.source_id, link.content["relation_type"], ends.target_id)
    end = link.valid.end
    fields = _fields(link.content, _OF_LINK)
    own = {"id": copy_id(graph, link.id)} if is_named else {}
    ended = {} if end == END_OF_TIME else {"invalid_at": to_datetime(end)}
    source = lower_source(Source(link.content.get("source", Source.CITIZEN)), copying.writer.highest_source)
    relate = Relate(
        **own,
        **{"emotion_vector": {}, **fields},
        **graph_fields(copying.graph),
        citizen_id=copying.citizen_id,
        source_id=new_ends.source_id,
        target_id=new_ends.target_id,
        source=source,
        valid_at=to_datetime(link.valid.start),
        **ended,
    )
    unset = (link.content.get("unset") or "").split(",")
    return relate.assuming(*unset).with_writer(copying.writer)


def _fields(content: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """These fields of a content in stored form, as a command has them; those that it lacks are left out."""
    given = {name: content[name] for name in names if content.get(name) is not None}
    return {name: orjson.loads(value) if name in _JSON else value for name, value in given.items()}
