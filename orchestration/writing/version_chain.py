"""The version chain of one memory or link: its records as stored, and after each command of a list. Pure.

Each command acts on the records that the earlier ones left; `chain_rows` makes the rows to write of the last. All
commands of a list have one transaction time. So a record that one command opens and a later one closes was never
known at any time, and is not written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from orchestration.appraisal.appraise import Appraisal
from orchestration.writing import appraised_rows, changes, records
from orchestration.writing.changes import Attribution, Refusal, WriteTimes
from schemas.commands import ChangeCommand, Revision, Undoing
from schemas.temporal import Instant, Period
from substrate import bitemporal
from substrate.bitemporal import Change, OpenedRecord, Record, RewriteContext, is_open
from substrate.store import rows
from substrate.store.changesets import LinkEnds, StoredRecords
from substrate.store.rows import LinkName

_NOT_IN_CONTENT: Final = frozenset(
    (
        *rows.TIMES, "id", "version", "invalidation_reason", "command_id", "key_id",
        "known_as_happened",
        "emotion", "tag_names", "source_id", "target_id",
    )
)  # fmt: skip
"""Entries of a new row that are no content: they belong to the record itself, or are stored in other nodes."""
_NOT_CLOSED: Final[Mapping[str, Any]] = dict.fromkeys(
    ("closed_by", "closed_source", "closed_key", "closed_reason")
)


@dataclass(frozen=True, slots=True)
class ContentSource:
    """How to build the content of a record: copy the stored version `of` (0: start empty), then set `changes`.

    `text`: the text to embed again; None when the embedding of version `of` is still right.
    """

    of: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ChainState:
    """The records after a command, by version, and the version that the identity carries.

    `by`: who sent that command; None for the stored state.
    """

    records: Mapping[int, Record]
    carried: int | None
    last_version: int
    by: Attribution | None = None

    @property
    def open_versions(self) -> set[int]:
        return {version for version, record in self.records.items() if is_open(record)}

    @property
    def past(self) -> dict[int, Record]:
        """The records on the past side: all but the carried one."""
        return {version: record for version, record in self.records.items() if version != self.carried}


@dataclass(slots=True)
class VersionChain:
    """One memory or link. `link_name` is None for a memory. `states`: as stored, then after each command.

    Several versions may have the same content. `origins`: by version, the first version with its content;
    `content_sources`: by such a first version, how to build the content. `fingerprints`: by version, the
    fingerprint of the command that created the record from which it was made.
    """

    id: str
    link_name: LinkName | None
    stored: StoredRecords | None
    states: list[ChainState]
    content_sources: dict[int, ContentSource]
    origins: dict[int, int]
    fingerprints: dict[int, int | None] = field(default_factory=dict)
    ends: LinkEnds | None = None

    @classmethod
    def from_stored(cls, record_id: str, stored: StoredRecords | None, link_name: LinkName | None) -> VersionChain:
        """A chain with one state: the stored records, or none."""
        if stored is None:
            return cls(record_id, link_name, None, [ChainState({}, None, 0)], {}, {})
        by_version = {record.version: record for record in stored.records}
        return cls(
            record_id,
            link_name,
            stored,
            [ChainState(by_version, stored.carried, stored.last_version)],
            {version: ContentSource(version) for version in by_version},
            {version: version for version in by_version},
            dict(stored.fingerprints),
            stored.ends,
        )

    @property
    def records(self) -> Mapping[int, Record]:
        """The records after the last command, by version."""
        return self.states[-1].records

    @property
    def carried(self) -> Record | None:
        """The record that the identity carries; for a retracted link the one that was opened last."""
        if not self.records:
            return None
        version = self.states[-1].carried
        return self.records[max(self.records) if version is None else version]

    @property
    def is_changed(self) -> bool:
        return self.records != self.states[0].records

    def open_records(self) -> bitemporal.OpenRecords:
        """The open records, by valid time."""
        return bitemporal.open_records(self.records.values())

    def content_source(self, version: int) -> ContentSource:
        return self.content_sources[self.origins[version]]

    def begun_by(self, fingerprint: int, valid: Period) -> Record | None:
        """The first record of the command with this fingerprint, if one made from it holds within `valid`."""
        overlapping = [record for record in self.open_records() if record.valid.overlaps(valid)]
        if not any(self.fingerprints.get(record.version) == fingerprint for record in overlapping):
            return None
        return self.records[min(v for v in self.records if self.fingerprints.get(v) == fingerprint)]

    def all_begin_later(self, records: Iterable[Record], now: Instant) -> bool:
        """True when these records begin after `now` and after the last change: the clock may have gone back."""
        moment = max([now, *(record.last_known for record in self.records.values())])
        return all(record.valid.start > moment for record in records)

    def was_changed_by(self, command_id: str) -> bool:
        """True when the command opened or closed one of its records."""
        return any(command_id in (record.command_id, record.closed_by) for record in self.records.values())

    def begin(self, row: Mapping[str, Any], command_id: str, at: Instant) -> Record:
        """Open the record of a new row (`command_rows`) in a new identity, or where none of its records holds.

        Raises Refusal when another record of the identity holds then, and for a link with other ends.
        """
        if self.link_name is None:
            record = rows.memory_from_properties(row)
        else:
            self._join(LinkEnds(row["source_id"], row["target_id"]))
            record = rows.link_from_properties(row)
        version = self.states[-1].last_version + 1
        record = replace(record, version=version, known=Period(at))
        try:
            change = bitemporal.begin(self.open_records(), record)
        except ValueError as error:
            raise Refusal("conflict", str(error), current_version=version - 1) from error
        text = records.embedded_text(row) if self.link_name is None else None
        content = {n: value for n, value in row.items() if n not in _NOT_IN_CONTENT and value is not None}
        self._add_content(version, ContentSource(0, content, text), row["fingerprint"])
        self._apply(change, Attribution(command_id, None, record.key_id, record.known_as_happened))
        return record

    def raise_source(self, writer: Mapping[str, Any], record: Record, by: Attribution, at: Instant) -> Record:
        """Rewrite an open record with the source and author in `writer`, which outweighs its own."""
        context = RewriteContext(at, self.states[-1].last_version, None)
        raised = {**record.content, **writer}
        change = bitemporal.rewrite([record], record.valid, lambda _: raised, context)
        version = change.receipt_record.version
        source = self.content_source(record.version)
        raised_source = replace(source, changes={**source.changes, **writer})
        self._add_content(version, raised_source, self.fingerprints.get(record.version))
        self._apply(change, by)
        return self.records[version]

    def change(
        self, command: ChangeCommand, command_id: str, times: WriteTimes, appraisal: Appraisal | None = None
    ) -> Record:
        """Apply a change and return the record for its receipt. Raises Refusal when it may not be applied.

        `appraisal`: what the text of the command says; None when texts are not appraised.
        """
        if isinstance(command, Undoing) and len(self.states) > 1:
            return self._undo_last(command, command_id, times)
        by = Attribution.from_command(command, command_id)
        change = changes.decide(command, tuple(self.records.values()), self.states[-1].last_version, times)
        if isinstance(command, Revision) and appraisal is not None:
            change = self._appraised(change, command, appraisal)
        for opened in change.opened:
            version, fingerprint = opened.record.version, self.fingerprints.get(opened.from_version)
            if opened.revised:
                self._add_content(version, self._revised_source(opened, command), fingerprint)
            else:
                self.origins[version], self.fingerprints[version] = self.origins[opened.from_version], fingerprint
        self._apply(change, by)
        return change.receipt_record

    def _appraised(self, change: Change, command: Revision, appraisal: Appraisal) -> Change:
        """The change with what the new text says in the fields that nobody gave."""
        opened = []
        for each in change.opened:
            before, record = self.records[each.from_version].content, each.record
            content = appraised_rows.revise_content(before, record.content, command, appraisal)
            opened.append(replace(each, record=replace(record, content=content)) if each.revised else each)
        return replace(change, opened=tuple(opened))

    def _undo_last(self, command: Undoing, command_id: str, times: WriteTimes) -> Record:
        """Revert the last change of the same list. It was never stored, so the state before it returns whole."""
        changes.check_version(command, tuple(self.records.values()), self.states[-1].last_version, times.now)
        last, before = self.states[-1], self.states[-2]
        by = last.by
        assert by is not None
        opened = bitemporal.open_records(last.records[v] for v in last.open_versions - before.open_versions)
        closed = bitemporal.open_records(before.records[v] for v in before.open_versions - last.open_versions)
        attributed = [replace(record, closed_source=by.source, closed_key=by.key_id) for record in closed]
        changes.check_trust(command, opened or closed)
        changes.check_trust_in_closers(command, attributed)
        changes.check_undone_writer(command, opened, attributed)
        fault = None
        if before.last_version == 0:
            fault = "nothing was changed since it was written"
        elif command.undoes not in (None, by.command_id):
            fault = f"the command {by.command_id} came after {command.undoes}; undo that first"
        if fault is not None:
            raise Refusal("conflict", fault, current_version=last.last_version)
        undone_by = Attribution.from_command(command, command_id)
        self.states.append(replace(before, last_version=last.last_version, by=undone_by))
        restored = tuple(OpenedRecord(record, record.version) for record in closed)
        return Change(times.known_from, tuple(opened), restored).receipt_record

    def _join(self, ends: LinkEnds) -> None:
        if self.ends not in (None, ends):
            fault = f"link {self.id} joins {' and '.join(self.ends or ())}; use another id for other ends"
            raise Refusal("conflict", fault, current_version=self.states[-1].last_version)
        self.ends = ends

    def _add_content(self, version: int, source: ContentSource, fingerprint: int | None) -> None:
        self.content_sources[version] = source
        self.origins[version] = version
        self.fingerprints[version] = fingerprint

    def _apply(self, change: Change, by: Attribution) -> None:
        """Add the state after a change, and note in each closed or opened record which command did it."""
        last = self.states[-1]
        after = dict(last.records)
        for record in change.closed:
            if record.known.start == change.at:
                del after[record.version]
            else:
                after[record.version] = replace(
                    record, closed_by=by.command_id, closed_source=by.source, closed_key=by.key_id
                )
        for opened in change.opened:
            after[opened.record.version] = replace(
                opened.record,
                known=Period(change.at),
                command_id=by.command_id,
                key_id=by.key_id,
                known_as_happened=by.known_as_happened,
                **_NOT_CLOSED,
            )
        last_version = max([last.last_version, *(opened.record.version for opened in change.opened)])
        open_records = bitemporal.open_records(after.values())
        withdrawn = last.carried if last.carried in after else self.states[0].carried
        carried = open_records[-1].version if open_records else withdrawn
        self.states.append(ChainState(after, carried, last_version, by))

    def _revised_source(self, opened: OpenedRecord, command: ChangeCommand) -> ContentSource:
        """The content source of the version that `opened` was made from, with the changes of the command."""
        before, source = self.records[opened.from_version], self.content_source(opened.from_version)
        if self.link_name is not None:
            changed = changes.changed_fields(command, before.content)
            return replace(source, changes={**source.changes, **changed})
        content = opened.record.content
        emotions = orjson.loads(content["emotion_vector"]) if content.get("emotion_vector") else None
        cleared = dict.fromkeys(rows.NODE_CONTENT)
        changed = {**cleared, **content, **records.search_properties(content, emotions)}
        text = records.embedded_text(content)
        same = text == records.embedded_text(before.content)
        return ContentSource(source.of, {**source.changes, **changed}, source.text if same else text)
