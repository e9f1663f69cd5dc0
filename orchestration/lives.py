"""Identities as the commands of a transaction leave them, one after the other. Pure.

A life is what is stored of a memory or a link, and what the commands so far close and open of it. A later
command decides on what an earlier one left; in the end each life says what is to be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from orchestration import decisions, records
from schemas.command import ChangeCommand
from schemas.commands import Correct, Supersede, Undo
from schemas.link_commands import UndoLink
from schemas.temporal import Instant, Period
from substrate import rows
from substrate.bitemporal import Record, is_open
from substrate.cypher.columns import LINK_COLUMNS, NODE_COLUMNS, PROVENANCE
from substrate.reviser import Ends
from substrate.rows import LinkName
from substrate.transaction import Seen, Stored, Writes

_MADE_BY_RECORD: Final = frozenset((*rows.TIMES, "id", "version", "invalidation_reason", "command_id"))
_BY_NOBODY: Final[Mapping[str, Any]] = {"closed_by": None, "closed_source": None}


@dataclass(frozen=True, slots=True)
class Source:
    """Where the content of a record comes from: that of the stored version `of`, 0 for none, with some changes.

    `text` is what is to be embedded, when that differs too.
    """

    of: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None


@dataclass(slots=True)
class Life:
    """One identity. `name` is how a link is found, None of a memory."""

    id: str
    name: LinkName | None
    stored: Mapping[int, Record]
    records: dict[int, Record]
    sources: dict[int, Source]
    fingerprint: int | None = None
    ends: Ends | None = None
    retagged: bool = False

    @classmethod
    def of(cls, identity: str, stored: Stored | None, name: LinkName | None) -> Life:
        """The life of an identity as it is stored, or not."""
        if stored is None:
            return cls(identity, name, {}, {}, {})
        found = {record.version: record for record in stored.records}
        sources = {version: Source(version) for version in found}
        return cls(identity, name, found, dict(found), sources, stored.fingerprint, stored.ends)

    @property
    def carried(self) -> Record | None:
        """The record that the identity carries."""
        return self.records[max(self.records)] if self.records else None

    def begin(self, row: Mapping[str, Any], at: Instant) -> Record:
        """A new memory or link, by its row as it would be stored."""
        columns, read = (NODE_COLUMNS, rows.record) if self.name is None else (LINK_COLUMNS, rows.record_of_link)
        record = replace(read([row.get(column) for column in (*columns, *PROVENANCE)]), known=Period(at))
        self.records[1] = record
        text = records.embedded_text(row) if self.name is None else None
        kept = set(row) - _MADE_BY_RECORD - {"emotion", "tag_names", "source_id", "target_id"}
        self.sources[1] = Source(0, {column: row[column] for column in kept if row[column] is not None}, text)
        self.fingerprint = row["fingerprint"]
        self.retagged = bool(row.get("tag_names"))
        if self.name is not None:
            self.ends = Ends(row["source_id"], row["target_id"])
        return record

    def change(self, command: ChangeCommand, command_id: str, now: Instant, at: Instant) -> Record:
        """Carry out a change, told at `now` and known from `at` on; the record it leaves. Raises Refusal."""
        found = tuple(self.records.values())
        if isinstance(command, (Undo, UndoLink)):
            _, reversal = decisions.reversal(command, found, now)
            closed, opened = reversal.closed, (reversal.kept, reversal.latest)
            self.retagged = True
        else:
            _, change = decisions.decide(command, found, now)
            closed, opened = (change.closed,), (change.kept, change.latest)
            retags = isinstance(command, (Supersede, Correct)) and {"tags", "buckets"} & command.model_fields_set
            self.retagged = self.retagged or bool(retags)
        for record in closed:
            by: dict[str, Any] = {"closed_by": command_id, "closed_source": command.source}
            self.records[record.version] = replace(record, known=Period(record.known.start, at), **by)
        for record in filter(None, opened):
            self._open(replace(record, known=Period(at), command_id=command_id, **_BY_NOBODY), command)
        return opened[1] or self.records[closed[0].version]

    def _open(self, record: Record, command: ChangeCommand) -> None:
        record = replace(record, closed_reason=None)
        for version, before in self.records.items():
            if before.content is record.content:
                self.sources[record.version] = self.sources[version]
                break
        else:
            self.sources[record.version] = self._revised(record, command)
        self.records[record.version] = record

    def _revised(self, record: Record, command: ChangeCommand) -> Source:
        """The source of new content: that of the record before, with what the command changes."""
        before = self.records[record.version - 1]
        source = self.sources[before.version]
        if self.name is not None:
            changed = decisions.changed_fields(command, before.content)
            return replace(source, changes={**source.changes, **changed})
        content = record.content
        emotions = orjson.loads(content["emotion_vector"]) if content.get("emotion_vector") else None
        whole = {**dict.fromkeys(NODE_COLUMNS), **content, **records.search_properties(content, emotions)}
        changed = {name: value for name, value in whole.items() if name not in _MADE_BY_RECORD}
        text = records.embedded_text(content)
        same = text == records.embedded_text(before.content)
        return Source(source.of, {**source.changes, **changed}, source.text if same else text)

    @property
    def touched(self) -> bool:
        """Whether anything of it changes."""
        return self.records != self.stored


type Vectors = Mapping[str, list[float] | None]


def texts(lives: Iterable[Life]) -> list[str]:
    """What is to be embedded, each once."""
    sources = (source for life in lives if life.touched for source in life.sources.values())
    return list(dict.fromkeys(source.text for source in sources if source.text is not None))


def seen(lives: Sequence[Life]) -> Seen:
    """What must still be so when it is written."""
    all_seen = Seen()
    stored = {life.id for life in lives if life.name is None and life.stored}
    for life in lives:
        if life.name is None:
            all_seen.ids.append(life.id)
            if life.stored:
                one = life.stored[max(life.stored)]
                all_seen.memories.append([life.id, one.version, one.known.start, one.known.end])
        elif life.stored or (life.ends and stored.issuperset(life.ends)):
            all_seen.links.append(_seen_link(life))
        if life.name is not None and life.name.handle is not None and not life.stored:
            all_seen.handles.append(life.name.handle)
    return all_seen


def _seen_link(life: Life) -> dict[str, Any]:
    latest = life.stored[max(life.stored)] if life.stored else None
    held = [latest.version] if latest is not None and is_open(latest) else []
    ends = life.ends._asdict() if life.ends else {}
    return {"id": life.id, **ends, "carried": held, "past": len(life.stored) - len(held)}


def write(lives: Iterable[Life], vectors: Vectors, writes: Writes) -> None:
    """Add what is to be written of the lives that change."""
    for life in lives:
        if not life.touched:
            continue
        if life.name is None:
            _write_memory(life, vectors, writes)
        else:
            _write_link(life, writes)
        kept = [one for one in life.records.values() if one is not life.carried and is_open(one)]
        writes.pending_until = max([writes.pending_until, *(one.valid.end for one in kept)])


def _write_memory(life: Life, vectors: Vectors, writes: Writes) -> None:
    carried = life.records[max(life.records)]
    before = life.stored.get(max(life.stored)) if life.stored else None
    grouped: dict[int, dict[str, Any]] = {}
    for version, record in life.records.items():
        moves = version not in life.stored or (before is not None and version == before.version)
        if version == carried.version or (not moves and record is life.stored[version]):
            continue
        if not moves:
            writes.closing.append({"id": life.id, "version": version, "marks": _marks(record)})
            continue
        source = life.sources[version]
        row = grouped.setdefault(id(source), {**_content(life.id, record, source, vectors), "records": []})
        row["records"].append({"marks": _marks(record)})
    writes.past += grouped.values()
    row = {**_content(life.id, carried, life.sources[carried.version], vectors), "marks": _marks(carried)}
    (writes.carried if life.stored else writes.new).append(row)
    _write_sides(life, before, carried, writes)


def _write_sides(life: Life, before: Record | None, carried: Record, writes: Writes) -> None:
    was_open = before is None or is_open(before)
    if was_open and not is_open(carried):
        writes.withdrawn.append(life.id)
    if not was_open and is_open(carried):
        writes.restored.append(life.id)
    if life.retagged:
        writes.tagged.append({"id": life.id, "tags": records.stored_tag_names(carried.content)})


def _content(identity: str, record: Record, source: Source, vectors: Vectors) -> dict[str, Any]:
    return {
        "id": identity,
        "of": source.of,
        "content": dict(source.changes),
        "embedding": None if source.text is None else vectors[source.text],
        "felt": bool(source.changes),
        "emotion": records.felt_trace(record.content, identity, record.version),
    }


def _marks(record: Record) -> dict[str, Any]:
    """What a record has of its own, beside its content."""
    return {
        **rows.times(record.valid, record.known),
        "id": record.id,
        "version": record.version,
        "invalidation_reason": record.reason,
        "closed_reason": record.closed_reason,
        "command_id": record.command_id,
        "closed_by": record.closed_by,
        "closed_source": record.closed_source and record.closed_source.value,
    }


def _write_link(life: Life, writes: Writes) -> None:
    carried = life.records[max(life.records)]
    before = life.stored.get(max(life.stored)) if life.stored else None
    held = before is not None and is_open(before)
    opened: list[dict[str, Any]] = []
    closing: list[dict[str, Any]] = []
    for version, record in life.records.items():
        stays = life.stored.get(version) == record
        moves = held and before is not None and version == before.version
        if stays and not (moves and carried.version != version):
            continue
        if version in life.stored and not moves:
            closing.append({"version": version, "marks": _marks(record)})
            continue
        side = "LINK" if version == carried.version and is_open(carried) else "PAST_LINK"
        source = life.sources[version]
        opened.append(
            {"type": side, "of": source.of, "content": dict(source.changes), "marks": _link_marks(record)}
        )
    ends = life.ends._asdict() if life.ends else {}
    moved = held and carried != before
    writes.links.append({"id": life.id, **ends, "opened": opened, "closing": closing, "moved": moved})


def _link_marks(record: Record) -> dict[str, Any]:
    """The first record of a link has no version."""
    marks = _marks(record)
    return marks if record.version > 1 else {**marks, "version": None}
