"""The version chain of one memory or link: its records as stored, and after each command of a list. Pure.

Each command acts on the records that the earlier ones left; `add_rows` makes the rows to write of the last. All
commands of a list have one transaction time. So a record that one command opens and a later one closes was never
known at any time, and is not written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from orchestration.appraisal.appraise import Appraisal
from orchestration.writing import appraised_rows, changes, passages, records
from orchestration.writing.changes import Attribution, Refusal, WriteTimes
from orchestration.writing.passages import LongText
from schemas.commands import ChangeCommand, Revision, Undoing
from schemas.temporal import Instant, Period
from substrate import bitemporal
from substrate.bitemporal import Change, OpenedRecord, Record, RewriteContext, changes_until, is_open
from substrate.store import rows
from substrate.store.changesets import LinkEnds, StoredRecords, TransactionRows
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


type Vectors = Mapping[str, list[float] | None]


def texts_to_embed(chains: Iterable[VersionChain]) -> list[str]:
    """The texts in changed chains that need an embedding, each once."""
    texts: dict[str, None] = {}
    for chain in chains:
        sources = list(map(chain.content_source, chain.records)) if chain.is_changed else []
        texts |= {source.text: None for source in sources if source.text is not None}
    return list(texts)


def long_texts(chains: Iterable[VersionChain]) -> list[LongText]:
    """The long texts that changed chains may be the first to have, each once."""
    found: list[LongText] = []
    for chain in chains:
        sources = list(map(chain.content_source, chain.records)) if chain.is_changed else []
        found += passages.long_texts((source.changes for source in sources), chain.id)
    return list(dict.fromkeys(found))


def add_rows(chains: Iterable[VersionChain], vectors: Vectors, changed: TransactionRows) -> None:
    """Add to `changed` the rows of the changed chains. `vectors`: the embedding of each of `texts_to_embed`."""
    for chain in chains:
        if not chain.is_changed:
            continue
        if chain.link_name is None:
            _add_memory(chain, vectors, changed)
        else:
            changed.links.append(_link_changes(chain))
        for record in filter(is_open, chain.records.values()):
            changed.changes_until = max(changed.changes_until, changes_until(*record.valid, changed.at))
            if record is not chain.carried:
                changed.pending_until = max(changed.pending_until, record.valid.end)


def _add_memory(chain: VersionChain, vectors: Vectors, changed: TransactionRows) -> None:
    before, after = chain.states[0], chain.states[-1]
    carried = chain.carried
    assert carried is not None
    past_before = before.past
    by_origin: dict[int, dict[str, Any]] = {}  # records of the same content share a node with their vectors
    for version, record in after.past.items():
        if version not in past_before:
            row = by_origin.setdefault(
                chain.origins[version], {**_content_row(chain, record, vectors), "records": []}
            )
            row["records"].append({"marks": _marks(record)})
        elif past_before[version] != record:
            changed.closing.append({"id": chain.id, "version": version, "marks": _marks(record)})
    changed.past += by_origin.values()
    if before.carried != after.carried or carried != before.records.get(carried.version):
        row = {**_content_row(chain, carried, vectors), "marks": _marks(carried)}
        (changed.new if chain.stored is None else changed.carried).append(row)
    if carried.version in past_before:
        changed.moved.append({"id": chain.id, "version": carried.version})
    changed.touched.append({"id": chain.id, "versions": after.last_version})
    was = before.records.get(before.carried or 0)
    was_open = was is None or is_open(was)
    if was_open != is_open(carried):
        (changed.withdrawn if was_open else changed.restored).append(chain.id)
    tags = records.stored_tag_names(carried.content)
    if tags != ([] if was is None else records.stored_tag_names(was.content)):
        changed.tagged.append({"id": chain.id, "tags": tags})


def _content_row(chain: VersionChain, record: Record, vectors: Vectors) -> dict[str, Any]:
    source = chain.content_source(record.version)
    return {
        "id": chain.id,
        "of": source.of,
        "content": dict(source.changes),
        "embedding": None if source.text is None else vectors[source.text],
        "felt": bool(source.changes),
        "emotion": records.felt_trace(record.content, chain.id, record.version),
    }


def _marks(record: Record) -> dict[str, Any]:
    """The properties of a record that are not its content."""
    return {
        **rows.times(record.valid, record.known),
        "id": record.id,
        "version": record.version,
        "invalidation_reason": record.reason,
        "closed_reason": record.closed_reason,
        "command_id": record.command_id,
        "key_id": record.key_id,
        "known_as_happened": record.known_as_happened,
        "closed_by": record.closed_by,
        "closed_source": record.closed_source and record.closed_source.value,
        "closed_key": record.closed_key,
    }


def _link_changes(chain: VersionChain) -> dict[str, Any]:
    before, after = chain.states[0], chain.states[-1]
    carried = after.carried if chain.carried is not None and is_open(chain.carried) else None
    # When no record with the highest version is written, the others must store that number: it is not used again.
    highest = {"versions": after.last_version if after.last_version > max(chain.records, default=0) else None}
    opened: list[dict[str, Any]] = []
    closing: list[dict[str, Any]] = []
    for version, record in chain.records.items():
        changes_side = (version == before.carried) != (version == carried)
        if version not in before.records or changes_side:
            source = chain.content_source(version)
            numbered = {} if version > 1 else {"version": None}  # the first record is stored without a version
            opened.append(
                {
                    "type": "LINK" if version == carried else "PAST_LINK",
                    "of": source.of,
                    "content": dict(source.changes),
                    "marks": {**_marks(record), **numbered, **highest},
                }
            )
        elif record != before.records[version]:
            closing.append({"version": version, "marks": {**_marks(record), **highest}})
    return {
        "id": chain.id,
        **(chain.ends._asdict() if chain.ends else {}),
        "opened": opened,
        "closing": closing,
        "carried_again": [carried] if carried in before.records and carried != before.carried else [],
        "moved": before.carried is not None and before.carried != carried,
    }
