"""Identities as the commands of a transaction leave them, one after the other. Pure.

A life is what is stored of a memory or a link, and what the commands so far close and open of it. A later
command decides on what an earlier one left; in the end each life says what is to be written. All commands of a
transaction have one moment: a record that one of them opens and another closes was never known, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from orchestration.writing import changes as decisions
from orchestration.writing import records
from orchestration.writing.changes import By, Told
from orchestration.writing.receipts import Refusal
from schemas.commands import ChangeCommand, Undo, UndoLink
from schemas.temporal import Instant, Period
from substrate import bitemporal
from substrate.bitemporal import Change, Opened, Record, Rewriting, is_open
from substrate.cypher.fragments import LINK_COLUMNS, NODE_COLUMNS, PROVENANCE
from substrate.store import rows
from substrate.store.rows import LinkName
from substrate.store.transactions import Ends, Seen, Stored, Writes

_MADE_BY_RECORD: Final = frozenset((*rows.TIMES, "id", "version", "invalidation_reason", "command_id", "key_id"))
_BY_NOBODY: Final[Mapping[str, Any]] = dict.fromkeys(("closed_by", "closed_source", "closed_key", "closed_reason"))


@dataclass(frozen=True, slots=True)
class Source:
    """Where the content of a record comes from: that of the stored version `of`, 0 for none, with some changes.

    `text` is what is to be embedded, when that differs too.
    """

    of: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """The records of an identity as a command leaves them, by version, and which of them it carries.

    `by` is who sent that command, None for what is stored.
    """

    records: Mapping[int, Record]
    carried: int | None
    last_version: int
    by: By | None = None

    @property
    def still(self) -> set[int]:
        """The versions of the open records."""
        return {version for version, record in self.records.items() if is_open(record)}


@dataclass(slots=True)
class Life:
    """One identity. `name` is how a link is found, None of a memory. `states` begin with what is stored.

    `begun` has by version the fingerprint of the command with which each record began, some changes ago.
    """

    id: str
    name: LinkName | None
    stored: Stored | None
    states: list[State]
    sources: dict[int, Source]
    begun: dict[int, int | None] = field(default_factory=dict)
    ends: Ends | None = None

    @classmethod
    def of(cls, identity: str, stored: Stored | None, name: LinkName | None) -> Life:
        """The life of an identity as it is stored, or not."""
        if stored is None:
            return cls(identity, name, None, [State({}, None, 0)], {})
        found = {record.version: record for record in stored.records}
        sources = {version: Source(version) for version in found}
        state = State(found, stored.carried, stored.last_version)
        return cls(identity, name, stored, [state], sources, dict(stored.begun), stored.ends)

    @property
    def records(self) -> Mapping[int, Record]:
        """The records as the last command left them, by version."""
        return self.states[-1].records

    @property
    def carried(self) -> Record | None:
        """The record that the identity carries; of a withdrawn link the one that was opened last."""
        if not self.records:
            return None
        version = self.states[-1].carried
        return self.records[max(self.records) if version is None else version]

    def open_records(self) -> bitemporal.Open:
        """The open records, by valid time."""
        return bitemporal.open_records(self.records.values())

    def first_of(self, fingerprint: int, valid: Period) -> Record | None:
        """The record with which this command began what is held over this valid time; None where another did."""
        held = [one for one in self.open_records() if one.valid.overlaps(valid)]
        if not any(self.begun.get(one.version) == fingerprint for one in held):
            return None
        return min((one for v, one in self.records.items() if self.begun.get(v) == fingerprint), key=_version)

    def to_come(self, held: Iterable[Record], now: Instant) -> bool:
        """Whether all of these records of it begin later than `now`. What had begun when the identity was changed
        last is not to come: a clock that says so went back.
        """
        moment = max([now, *(one.last_known for one in self.records.values())])
        return all(one.valid.start > moment for one in held)

    def begin(self, row: Mapping[str, Any], command_id: str, at: Instant) -> Record:
        """A new memory or link, or one that holds again, by its row as it would be stored. Raises Refusal."""
        if self.name is not None:
            self._joins(Ends(row["source_id"], row["target_id"]))
        columns, read = (NODE_COLUMNS, rows.record) if self.name is None else (LINK_COLUMNS, rows.record_of_link)
        version = self.states[-1].last_version + 1
        record = read([row.get(column) for column in (*columns, *PROVENANCE)])
        record = replace(record, version=version, known=Period(at))
        try:
            change = bitemporal.begin(self.open_records(), record)
        except ValueError as error:
            raise Refusal("conflict", str(error), current_version=version - 1) from error
        text = records.embedded_text(row) if self.name is None else None
        kept = set(row) - _MADE_BY_RECORD - {"emotion", "tag_names", "source_id", "target_id"}
        said = {column: row[column] for column in kept if row[column] is not None}
        self.sources[version] = Source(0, said, text)
        self.begun[version] = row["fingerprint"]
        self._take(change, By(command_id, None, record.key_id))
        return record

    def raise_to(self, whose: Mapping[str, Any], record: Record, by: By, at: Instant) -> Record:
        """The open record as the word of a source that weighs more: all that it says stays, as does the past."""
        how = Rewriting(at, self.states[-1].last_version, None)
        raised = {**record.content, **whose}
        change = bitemporal.rewrite([record], record.valid, lambda _: raised, how)
        version = change.receipt_record.version
        said = self.sources[record.version]
        self.sources[version] = replace(said, changes={**said.changes, **whose})
        self.begun[version] = self.begun.get(record.version)
        self._take(change, by)
        return self.records[version]

    def _joins(self, ends: Ends) -> None:
        if self.ends not in (None, ends):
            fault = f"link {self.id} joins {' and '.join(self.ends or ())}; give one between others another id"
            raise Refusal("conflict", fault, current_version=self.states[-1].last_version)
        self.ends = ends

    def change(self, command: ChangeCommand, command_id: str, told: Told) -> Record:
        """Carry out a change; the record that its receipt tells. Raises Refusal."""
        if isinstance(command, (Undo, UndoLink)) and len(self.states) > 1:
            return self._undo_of_these(command, command_id, told)
        found = tuple(self.records.values())
        change = decisions.decide(command, found, self.states[-1].last_version, told)
        for opened in change.opened:
            self.sources[opened.record.version] = self._source(opened, command)
            self.begun[opened.record.version] = self.begun.get(opened.from_version)
        self._take(change, By.of(command, command_id))
        return change.receipt_record

    def _undo_of_these(self, command: Undo | UndoLink, command_id: str, told: Told) -> Record:
        """Revert the last change of this very transaction: nobody ever knew of it. The record that is told."""
        decisions.expect(command, tuple(self.records.values()), self.states[-1].last_version, told.now)
        last, before = self.states[-1], self.states[-2]
        by = last.by
        assert by is not None
        closed = bitemporal.open_records(one for v, one in last.records.items() if v not in before.still)
        back = bitemporal.open_records(one for v, one in before.records.items() if v not in last.still)
        taken = [replace(one, closed_source=by.source, closed_key=by.key_id) for one in back]
        decisions.trust_in(command, closed or back)
        decisions.trust_in_closing(command, taken)
        decisions.undoes_whom(command, closed, taken)
        problem = None
        if before.last_version == 0:
            problem = "nothing was changed since it was written"
        elif command.undoes not in (None, by.command_id):
            problem = f"the command {by.command_id} came after {command.undoes}; undo that first"
        if problem is not None:
            raise Refusal("conflict", problem, current_version=last.last_version)
        self.states.append(replace(before, last_version=last.last_version, by=By.of(command, command_id)))
        return Change(told.at, tuple(closed), tuple(Opened(one, one.version) for one in back)).receipt_record

    def _take(self, change: Change, by: By) -> None:
        last = self.states[-1]
        after = dict(last.records)
        by_whom: dict[str, Any] = {"closed_by": by.command_id, "closed_source": by.source, "closed_key": by.key_id}
        for record in change.closed:
            if record.known.start == change.at:
                del after[record.version]
            else:
                after[record.version] = replace(record, **by_whom)
        for opened in change.opened:
            told = replace(opened.record, known=Period(change.at), **_BY_NOBODY)
            record = replace(told, command_id=by.command_id, key_id=by.key_id)
            after[record.version] = record
        highest = max([last.last_version, *(opened.record.version for opened in change.opened)])
        still = bitemporal.open_records(after.values())
        withdrawn = last.carried if last.carried in after else self.states[0].carried
        carried = still[-1].version if still else withdrawn
        self.states.append(State(after, carried, highest, by))

    def _source(self, opened: Opened, command: ChangeCommand) -> Source:
        """The source of what a record says: that of the record it is made from, with what the command changes."""
        before, source = self.records[opened.from_version], self.sources[opened.from_version]
        if not opened.revised:
            return source
        if self.name is not None:
            changed = decisions.changed_fields(command, before.content)
            return replace(source, changes={**source.changes, **changed})
        content = opened.record.content
        emotions = orjson.loads(content["emotion_vector"]) if content.get("emotion_vector") else None
        whole = {**dict.fromkeys(NODE_COLUMNS), **content, **records.search_properties(content, emotions)}
        changed = {name: value for name, value in whole.items() if name not in _MADE_BY_RECORD}
        text = records.embedded_text(content)
        same = text == records.embedded_text(before.content)
        return Source(source.of, {**source.changes, **changed}, source.text if same else text)

    @property
    def touched(self) -> bool:
        """Whether anything of it changes."""
        return self.records != self.states[0].records


def _version(record: Record) -> int:
    return record.version


type Vectors = Mapping[str, list[float] | None]


def texts(lives: Iterable[Life]) -> list[str]:
    """What is to be embedded, each once."""
    sources = (life.sources[version] for life in lives if life.touched for version in life.records)
    return list(dict.fromkeys(source.text for source in sources if source.text is not None))


def seen(lives: Sequence[Life]) -> Seen:
    """What must still be so when it is written."""
    all_seen = Seen()
    stored = {life.id for life in lives if life.name is None and life.stored}
    for life in lives:
        if life.name is None:
            all_seen.ids.append(life.id)
            if life.stored is not None:
                all_seen.memories.append([life.id, life.stored.carried, life.stored.touched])
        elif life.stored or (life.ends and stored.issuperset(life.ends)):
            all_seen.links.append(_seen_link(life))
        if life.name is not None and life.name.handle is not None and life.stored is None:
            all_seen.handles.append(life.name.handle)
    return all_seen


def _seen_link(life: Life) -> dict[str, Any]:
    before = life.states[0]
    held = [] if before.carried is None else [before.carried]
    past = [record for version, record in before.records.items() if version != before.carried]
    ends = life.ends._asdict() if life.ends else {}
    return {"id": life.id, **ends, "carried": held, "past": len(past), "still": sum(map(is_open, past))}


def without_end(lives: Sequence[Life]) -> str | None:
    """A link that would join a memory of which nobody was ever to know; None when there is none."""
    never = {life.id for life in lives if life.name is None and life.stored is None and not life.records}
    joined = (life for life in lives if life.name is not None and life.touched and life.ends is not None)
    return next((life.id for life in joined if never.intersection(life.ends or ())), None)


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
    before, after = life.states[0], life.states[-1]
    carried = life.carried
    assert carried is not None
    grouped: dict[int, dict[str, Any]] = {}
    for version, record in life.records.items():
        fresh = version not in before.records
        if version == after.carried or (not fresh and version != before.carried):
            if version != after.carried and record != before.records[version]:
                writes.closing.append({"id": life.id, "version": version, "marks": _marks(record)})
            continue
        source = life.sources[version]
        row = grouped.setdefault(id(source), {**_content(life.id, record, source, vectors), "records": []})
        row["records"].append({"marks": _marks(record)})
    writes.past += grouped.values()
    if before.carried != after.carried or carried != before.records.get(carried.version):
        row = {**_content(life.id, carried, life.sources[carried.version], vectors), "marks": _marks(carried)}
        (writes.new if life.stored is None else writes.carried).append(row)
    if after.carried in before.records and after.carried != before.carried:
        writes.moved.append({"id": life.id, "version": after.carried})
    writes.touched.append({"id": life.id, "versions": after.last_version})
    _write_sides(life, carried, writes)


def _write_sides(life: Life, carried: Record, writes: Writes) -> None:
    before = life.states[0].records.get(life.states[0].carried or 0)
    was_open = before is None or is_open(before)
    if was_open and not is_open(carried):
        writes.withdrawn.append(life.id)
    if not was_open and is_open(carried):
        writes.restored.append(life.id)
    tags = records.stored_tag_names(carried.content)
    if tags != ([] if before is None else records.stored_tag_names(before.content)):
        writes.tagged.append({"id": life.id, "tags": tags})


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
        "key_id": record.key_id,
        "closed_by": record.closed_by,
        "closed_source": record.closed_source and record.closed_source.value,
        "closed_key": record.closed_key,
    }


def _write_link(life: Life, writes: Writes) -> None:
    before, after = life.states[0], life.states[-1]
    opened: list[dict[str, Any]] = []
    closing: list[dict[str, Any]] = []
    held = None if life.carried is None or not is_open(life.carried) else after.carried
    highest = {"versions": after.last_version if after.last_version > max(life.records, default=0) else None}
    for version, record in life.records.items():
        moves = (version == before.carried) != (version == held)
        if version in before.records and not moves:
            if record != before.records[version]:
                closing.append({"version": version, "marks": {**_marks(record), **highest}})
            continue
        side = "LINK" if version == held else "PAST_LINK"
        source = life.sources[version]
        marks = {**_link_marks(record), **highest}
        opened.append({"type": side, "of": source.of, "content": dict(source.changes), "marks": marks})
    again = [held] if held in before.records and held != before.carried else []
    writes.links.append(
        {
            "id": life.id,
            **(life.ends._asdict() if life.ends else {}),
            "opened": opened,
            "closing": closing,
            "carried_again": again,
            "moved": before.carried is not None and before.carried != held,
        }
    )


def _link_marks(record: Record) -> dict[str, Any]:
    """The first record of a link has no version."""
    marks = _marks(record)
    return marks if record.version > 1 else {**marks, "version": None}
