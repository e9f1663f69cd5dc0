"""The rows that a changed version chain gives to write, and the texts that must be embedded for them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orchestration.writing import passages, records
from orchestration.writing.passages import LongText
from orchestration.writing.version_chain import VersionChain
from substrate.bitemporal import Record, changes_until, is_open
from substrate.store import rows
from substrate.store.changesets import TransactionRows

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
        carried = chain.carried
        pending = [record for record in chain.records.values() if record is not carried and is_open(record)]
        changed.pending_until = max([changed.pending_until, *(record.valid.end for record in pending)])
        times = (record.valid for record in chain.records.values() if is_open(record))
        changes = (changes_until(valid.start, valid.end, changed.at) for valid in times)
        changed.changes_until = max([changed.changes_until, *changes])


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
    was = before.records.get(before.carried or 0)
    was_open = was is None or is_open(was)
    if was_open and not is_open(carried):
        changed.withdrawn.append(chain.id)
    if not was_open and is_open(carried):
        changed.restored.append(chain.id)
    tags = records.stored_tag_names(carried.content)
    if tags != ([] if was is None else records.stored_tag_names(was.content)):
        changed.tagged.append({"id": chain.id, "tags": tags})


def _past_rows(chain: VersionChain, moved: Sequence[Record], vectors: Vectors) -> list[dict[str, Any]]:
    """One row for each content: records of the same content share a node with their vectors."""
    by_origin: dict[int, dict[str, Any]] = {}
    for record in moved:
        origin = chain.origins[record.version]
        if origin not in by_origin:
            by_origin[origin] = {**_content_row(chain, record, vectors), "records": []}
        by_origin[origin]["records"].append({"marks": _marks(record)})
    return list(by_origin.values())


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
