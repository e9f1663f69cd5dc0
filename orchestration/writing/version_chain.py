"""The version chain of one memory or link: its records as stored, and as each command of a list leaves them. Pure.

A later command decides on what an earlier one left; in the end each chain gives the rows to write. All commands of
a list have one transaction time: a record that one of them opens and another closes was never known, and is left
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from orchestration.writing import changes, records
from orchestration.writing.changes import UNDOS, Attribution, Refusal, WriteTimes
from schemas.commands import ChangeCommand, Undo, UndoLink
from schemas.temporal import Instant, Period
from substrate import bitemporal
from substrate.bitemporal import Change, Opened, Record, Rewriting, is_open
from substrate.store import rows
from substrate.store.changesets import LinkEnds, StoredRecords, TransactionRows
from substrate.store.rows import LinkName

_NOT_IN_CONTENT: Final = frozenset(
    (
        *rows.TIMES, "id", "version", "invalidation_reason", "command_id", "key_id",
        "emotion", "tag_names", "source_id", "target_id",
    )
)  # fmt: skip
"""Entries of a new row that belong to the record, or are stored beside it."""
_NOT_CLOSED: Final[Mapping[str, Any]] = dict.fromkeys(
    ("closed_by", "closed_source", "closed_key", "closed_reason")
)


@dataclass(frozen=True, slots=True)
class ContentSource:
    """Where the content of a record comes from: that of the stored version `of`, 0 for none, with some changes.

    `text` is to be embedded where the embedding differs too.
    """

    of: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ChainState:
    """The records as a command leaves them, by version, and the version that the identity carries.

    `by` is who sent that command, None for the stored state.
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
    """One memory or link, of which `link_name` says how it is found. `states` begins with the stored one.

    Versions of one content share an entry of `content_sources`: `origins` has by version the one where its content
    began. `fingerprints` has by version the fingerprint of the command with which the record began, some changes
    ago.
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
        """The chain of an identity with one state: as it is stored, or empty."""
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
        """The records as the last command left them, by version."""
        return self.states[-1].records

    @property
    def carried(self) -> Record | None:
        """The record that the identity carries; of a withdrawn link the one that was opened last."""
        if not self.records:
            return None
        version = self.states[-1].carried
        return self.records[max(self.records) if version is None else version]

    @property
    def is_changed(self) -> bool:
        return self.records != self.states[0].records

    def open_records(self) -> bitemporal.Open:
        """The open records, by valid time."""
        return bitemporal.open_records(self.records.values())

    def content_source(self, version: int) -> ContentSource:
        return self.content_sources[self.origins[version]]

    def begun_by(self, fingerprint: int, valid: Period) -> Record | None:
        """The first record of the command with this fingerprint, where its content holds within `valid`."""
        held = [record for record in self.open_records() if record.valid.overlaps(valid)]
        if not any(self.fingerprints.get(record.version) == fingerprint for record in held):
            return None
        return self.records[min(v for v in self.records if self.fingerprints.get(v) == fingerprint)]

    def all_begin_later(self, held: Iterable[Record], now: Instant) -> bool:
        """Whether all of these records of it begin after `now`, and after the last change.

        What had begun at the last change lies not ahead: a clock that says so went back.
        """
        moment = max([now, *(record.last_known for record in self.records.values())])
        return all(record.valid.start > moment for record in held)

    def begin(self, row: Mapping[str, Any], command_id: str, at: Instant) -> Record:
        """Open the record of a new row (`command_rows`): of a new identity, or of one that holds again.

        Raises Refusal where another record of it holds, and for a link with other ends.
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
        self._apply(change, Attribution(command_id, None, record.key_id))
        return record

    def raise_source(self, writer: Mapping[str, Any], record: Record, by: Attribution, at: Instant) -> Record:
        """Rewrite an open record with the source and author of a `writer` that weighs more; all else stays."""
        rewriting = Rewriting(at, self.states[-1].last_version, None)
        raised = {**record.content, **writer}
        change = bitemporal.rewrite([record], record.valid, lambda _: raised, rewriting)
        version = change.receipt_record.version
        source = self.content_source(record.version)
        raised_source = replace(source, changes={**source.changes, **writer})
        self._add_content(version, raised_source, self.fingerprints.get(record.version))
        self._apply(change, by)
        return self.records[version]

    def change(self, command: ChangeCommand, command_id: str, times: WriteTimes) -> Record:
        """Apply a change; the record that its receipt describes. Raises Refusal."""
        if isinstance(command, UNDOS) and len(self.states) > 1:
            return self._undo_last(command, command_id, times)
        last_version = self.states[-1].last_version
        change = changes.decide(command, tuple(self.records.values()), last_version, times)
        for opened in change.opened:
            version, fingerprint = opened.record.version, self.fingerprints.get(opened.from_version)
            if opened.revised:
                self._add_content(version, self._revised_source(opened, command), fingerprint)
            else:
                self.origins[version], self.fingerprints[version] = self.origins[opened.from_version], fingerprint
        self._apply(change, Attribution.from_command(command, command_id))
        return change.receipt_record

    def _undo_last(self, command: Undo | UndoLink, command_id: str, times: WriteTimes) -> Record:
        """Revert the last change of this very list, which nobody ever knew of: the state before it comes back."""
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
        restored = tuple(Opened(record, record.version) for record in closed)
        return Change(times.known_from, tuple(opened), restored).receipt_record

    def _join(self, ends: LinkEnds) -> None:
        if self.ends not in (None, ends):
            fault = f"link {self.id} joins {' and '.join(self.ends or ())}; give one between others another id"
            raise Refusal("conflict", fault, current_version=self.states[-1].last_version)
        self.ends = ends

    def _add_content(self, version: int, source: ContentSource, fingerprint: int | None) -> None:
        self.content_sources[version] = source
        self.origins[version] = version
        self.fingerprints[version] = fingerprint

    def _apply(self, change: Change, by: Attribution) -> None:
        """Add the state after a change, closed and opened records with the command that did it."""
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
                opened.record, known=Period(change.at), command_id=by.command_id, key_id=by.key_id, **_NOT_CLOSED
            )
        last_version = max([last.last_version, *(opened.record.version for opened in change.opened)])
        open_ones = bitemporal.open_records(after.values())
        withdrawn = last.carried if last.carried in after else self.states[0].carried
        carried = open_ones[-1].version if open_ones else withdrawn
        self.states.append(ChainState(after, carried, last_version, by))

    def _revised_source(self, opened: Opened, command: ChangeCommand) -> ContentSource:
        """The source of the content that it was made from, with what the command changes."""
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
    """The texts of changed chains that need an embedding, each once."""
    texts: dict[str, None] = {}
    for chain in chains:
        sources = [chain.content_source(version) for version in chain.records] if chain.is_changed else []
        texts |= {source.text: None for source in sources if source.text is not None}
    return list(texts)


def add_rows(chains: Iterable[VersionChain], vectors: Vectors, changed: TransactionRows) -> None:
    """Add the rows of the chains that change. `vectors` has the embedding of each of `texts_to_embed`."""
    for chain in chains:
        if not chain.is_changed:
            continue
        if chain.link_name is None:
            _add_memory(chain, vectors, changed)
        else:
            changed.links.append(_link_changes(chain))
        carried = chain.carried
        pending = [record for record in chain.records.values() if record is not carried and is_open(record)]
        changed.pending_until = max([changed.pending_until, *(record.valid.end for record in pending)])


def _add_memory(chain: VersionChain, vectors: Vectors, changed: TransactionRows) -> None:
    before, after = chain.states[0], chain.states[-1]
    carried = chain.carried
    assert carried is not None
    past_before = before.past
    moved_to_past = [record for version, record in after.past.items() if version not in past_before]
    closed_in_past = [
        record for version, record in after.past.items() if past_before.get(version, record) != record
    ]
    changed.past += _past_rows(chain, moved_to_past, vectors)
    changed.closing += [
        {"id": chain.id, "version": record.version, "marks": _marks(record)} for record in closed_in_past
    ]
    if before.carried != after.carried or carried != before.records.get(carried.version):
        row = {**_content_row(chain, carried, vectors), "marks": _marks(carried)}
        (changed.new if chain.stored is None else changed.carried).append(row)
    if carried.version in past_before:
        changed.moved.append({"id": chain.id, "version": carried.version})
    changed.touched.append({"id": chain.id, "versions": after.last_version})
    _add_sides(chain, before.records.get(before.carried or 0), carried, changed)


def _past_rows(chain: VersionChain, moved: Sequence[Record], vectors: Vectors) -> list[dict[str, Any]]:
    """One row for each content; its records share a trace."""
    by_origin: dict[int, dict[str, Any]] = {}
    for record in moved:
        origin = chain.origins[record.version]
        if origin not in by_origin:
            by_origin[origin] = {**_content_row(chain, record, vectors), "records": []}
        by_origin[origin]["records"].append({"marks": _marks(record)})
    return list(by_origin.values())


def _add_sides(chain: VersionChain, before: Record | None, carried: Record, changed: TransactionRows) -> None:
    """Add to which side the trace of a memory moves, and its tags where they change."""
    was_open = before is None or is_open(before)
    if was_open and not is_open(carried):
        changed.withdrawn.append(chain.id)
    if not was_open and is_open(carried):
        changed.restored.append(chain.id)
    tags = records.stored_tag_names(carried.content)
    if tags != ([] if before is None else records.stored_tag_names(before.content)):
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
    """The properties of a record beside its content."""
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


def _link_changes(chain: VersionChain) -> dict[str, Any]:
    before, after = chain.states[0], chain.states[-1]
    held = after.carried if chain.carried is not None and is_open(chain.carried) else None
    # Where the highest version was never known, the records that are written name it.
    highest = {"versions": after.last_version if after.last_version > max(chain.records, default=0) else None}
    opened: list[dict[str, Any]] = []
    closing: list[dict[str, Any]] = []
    for version, record in chain.records.items():
        changes_side = (version == before.carried) != (version == held)
        if version not in before.records or changes_side:
            source = chain.content_source(version)
            opened.append(
                {
                    "type": "LINK" if version == held else "PAST_LINK",
                    "of": source.of,
                    "content": dict(source.changes),
                    "marks": {**_link_marks(record), **highest},
                }
            )
        elif record != before.records[version]:
            closing.append({"version": version, "marks": {**_marks(record), **highest}})
    return {
        "id": chain.id,
        **(chain.ends._asdict() if chain.ends else {}),
        "opened": opened,
        "closing": closing,
        "carried_again": [held] if held in before.records and held != before.carried else [],
        "moved": before.carried is not None and before.carried != held,
    }


def _link_marks(record: Record) -> dict[str, Any]:
    """The first record of a link has no version."""
    marks = _marks(record)
    return marks if record.version > 1 else {**marks, "version": None}
