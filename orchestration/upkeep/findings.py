"""The findings of a sweep, the repair task of each, and the quality of a graph over time. Pure."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple

import orjson
from pydantic import ValidationError

from orchestration.upkeep import text_quality
from orchestration.validation import (
    validate_consciousness_link,
    validate_field_type,
    validate_node,
)
from orchestration.writing.passages import cut, is_long
from schemas.base import DEEPEST, MAX_TEXT
from schemas.commands import Correct, Retract
from schemas.memory import (
    STORED_DEFAULTS,
    ConsciousnessNode,
    Grade,
    GraphKey,
    ResolutionState,
    ValidationResult,
    graph_fields,
)
from schemas.temporal import END_OF_TIME, Instant, Period
from schemas.upkeep.findings import (
    MOST_SUMMARIES,
    ApplyCommand,
    CloseRecord,
    Finding,
    Kind,
    QualitySummary,
    ReEmbed,
    RetractLink,
    ReviseLink,
    Severity,
    SweepReport,
)
from substrate.store import rows
from substrate.store.passages import StoredLongText
from substrate.store.rows import is_made
from substrate.store.upkeep import TEXT_READ, Content, LinkEnd, LinkRow, MemoryRow, RecordRow, link_identity

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
SEVERITY: Final[Mapping[Kind, Severity]] = {
    "link_invalid": "error",
    "memory_invalid": "error",
    "overlap": "error",
    "embedding_missing": "error",
    "embedding_stale": "error",
    "passages_missing": "error",
    "passages_stray": "error",
    "closed_end": "warning",
    "duplicate": "warning",
    "junk": "warning",
    "essay_emotion": "warning",
    "unreadable": "error",
    "unset_default": "info",
}
TIMES: Final = ("valid_at", "invalid_at", "created_at", "expired_at")
_FELT: Final = ("goal", "resolution_state", "felt_quality", "body_sensation")
LINK_DEFAULTS: Final[Mapping[str, Any]] = {
    "energy_transfer_coefficient": 0.5,
    "resolution_state": ResolutionState.IN_PROGRESS,
}
"""The defaults of 003 for links without these fields; a repair may fill in no other field."""

_NUMBERS: Final = ("energy", "confidence", "energy_transfer_coefficient")
_JSON: Final = ("emotion_vector", "sensory_details")


class SweptGraph(NamedTuple):
    """The graph to sweep; `embedded` is True when it was written with an embedding model."""

    key: GraphKey
    citizen_id: str | None
    embedded: bool = True

    def fields(self) -> dict[str, Any]:
        """Return the fields that name the graph in a repair task."""
        return {**graph_fields(self.key), "citizen_id": self.citizen_id}


def build_finding(kind: Kind, graph: SweptGraph, identity: str, message: str, *, repair: Any = None) -> Finding:
    """Build a finding with the severity of its kind."""
    return Finding(
        kind=kind, severity=SEVERITY[kind], **graph_fields(graph.key), id=identity, message=message, repair=repair
    )


def _as_number(value: Any) -> Any:
    """Convert a text to a number, because the engine returns numbers as texts; anything else is unchanged."""
    with suppress(ValueError):
        return float(value) if isinstance(value, str) else value
    return value


def _from_json(value: Any) -> Any:
    """Parse a JSON text; anything else is unchanged."""
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(value) if isinstance(value, str) else value
    return value


def is_open(row: MemoryRow) -> bool:
    """True when the record that the memory carries is known now."""
    return bool(row.fields["expired_at"] == END_OF_TIME)


def find_in_memory(row: MemoryRow, graph: SweptGraph) -> Iterator[Finding]:
    """Yield the findings on one memory. A retracted memory without a fault is history and has none."""
    faults = list(_memory_faults(row))
    identity = str(row.fields["id"])
    if faults:
        # Missing energy and confidence are repaired with 0.5 (003, task 4); no command can repair other faults.
        only_numbers = all(fault.startswith(("energy ", "confidence ")) for fault in faults)
        numbers = [_as_number(row.fields[name]) for name in STORED_DEFAULTS]
        repair = None
        if only_numbers and is_open(row) and all(isinstance(each, (float, int, type(None))) for each in numbers):
            repair = attempt_command(Correct, **_revision_of(row, graph, "felt"), **STORED_DEFAULTS)
        message = f"{'; '.join(faults)}: questions cannot find it, or fail when they do"
        yield build_finding("memory_invalid", graph, identity, message, repair=repair)
        return
    if not is_open(row):
        return
    yield from _junk(row, graph)
    if maps := _mended_maps(row):
        # The name is corrected to itself: every record that a command opens has its maps repaired.
        repair = attempt_command(Correct, **_revision_of(row, graph, "unreadable"), name=row.fields["name"])
        yield _unreadable(graph, row.fields["id"], maps, repair)
    if graph.embedded and row.embedding != "Vectorf32":
        task = attempt(ReEmbed, **graph.fields(), id=identity, version=row.fields["version"])
        message = "it has no embedding: a search by meaning cannot find it"
        yield build_finding("embedding_missing", graph, identity, message, repair=task)
    yield from _essay_emotion_of_memory(row, graph)
    unset = _unset_defaults(row)
    if unset:
        message = f"{', '.join(unset)}: never set, so a default is used"
        yield build_finding("unset_default", graph, identity, message)


def find_in_long_texts(texts: Iterable[StoredLongText], graph: SweptGraph) -> Iterator[Finding]:
    """Yield a finding on each long text that lacks passages."""
    for text in texts:
        expected = len(cut(text.text)) if is_long(text.text) else 0
        if text.stored < expected:
            message = f"{expected - text.stored} of the {expected} passages of its text are missing"
            task = attempt(ReEmbed, **graph.fields(), id=text.memory_id, version=text.version)
            yield build_finding("passages_missing", graph, text.memory_id, message, repair=task)


def find_strays(strays: Mapping[str, int], graph: SweptGraph) -> Iterator[Finding]:
    """Yield a finding on each memory of which passages are stored that no record has."""
    for memory_id, count in strays.items():
        message = f"{count} passages are stored of a text that no record has"
        task = attempt(ReEmbed, **graph.fields(), id=memory_id, version=1)
        yield build_finding("passages_stray", graph, memory_id, message, repair=task)


def attempt[T](make: Callable[..., T], **fields: Any) -> T | None:
    """Build a repair task; None when the stored values are invalid for it."""
    try:
        return make(**fields)
    except ValidationError:
        return None


def attempt_command(kind: type[Retract | Correct], **fields: Any) -> ApplyCommand | None:
    """Build the task that applies a command; None when the command would be invalid."""
    command = attempt(kind, **fields)
    return None if command is None else ApplyCommand(command=command)


def revision_fields(graph: SweptGraph, memory_id: str, version: int, *, reason: str) -> dict[str, Any]:
    """Return the fields that name the memory in a repairing command. The same repair has the same command id."""
    seen = {"id": memory_id, "expected_version": version}
    return {**graph.fields(), **seen, "command_id": text_quality.repair_command_id(reason, memory_id, version)}


def _revision_of(row: MemoryRow, graph: SweptGraph, reason: str) -> dict[str, Any]:
    return revision_fields(graph, row.fields["id"], row.fields["version"], reason=reason)


def _mended_maps(row: MemoryRow | LinkRow) -> dict[str, dict[str, Any]]:
    """Return the maps of a row that are nested too deeply for a response, repaired."""
    mended = {name: (text, rows.repair_map(text)) for name, text in row.deep.items()}
    return {name: orjson.loads(new) for name, (old, new) in mended.items() if new != old}


def _unreadable(graph: SweptGraph, identity: str, names: Iterable[str], repair: Any) -> Finding:
    message = f"{', '.join(names)}: nested deeper than {DEEPEST}, so every answer leaves it out"
    return build_finding("unreadable", graph, identity, message, repair=repair)


def _memory_faults(row: MemoryRow) -> Iterator[str]:
    fields = row.fields
    yield from (f"{name} is missing" for name in ("id", "name", "node_type") if not isinstance(fields[name], str))
    if not isinstance(fields["version"], int):
        yield "version is missing"
    yield from _time_faults(fields)
    for name in ("energy", "confidence"):
        value = _as_number(fields[name])
        if not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:
            yield f"{name} is missing or outside [0, 1]"
    felt = _from_json(fields["emotion_vector"])
    if felt is not None and not validate_field_type("emotion_vector", felt):
        yield "emotion_vector is no map of numbers in [0, 1]"
    if not row.felt_as_numbers and not any(fields[name] is None for name in STORED_DEFAULTS):
        yield "energy or confidence is stored as text or negative"


def _time_faults(fields: Mapping[str, Any]) -> Iterator[str]:
    times = [fields[name] for name in TIMES]
    if not all(isinstance(time, int) for time in times):
        yield "a time is missing or is not a number"
        return
    valid_at, invalid_at, created_at, expired_at = times
    if valid_at >= invalid_at or created_at >= expired_at:
        yield "a period ends before it begins"


def memory_texts(row: MemoryRow) -> text_quality.MemoryTexts:
    """Return the texts of a memory of a page; long ones are cut to `TEXT_READ` characters."""
    fields = row.fields
    speaker = fields["speaker"] if isinstance(fields["speaker"], str) else None
    return text_quality.MemoryTexts(fields["name"], fields["description"] or "", speaker, fields["node_type"])


def _junk(row: MemoryRow, graph: SweptGraph) -> Iterator[Finding]:
    reason = text_quality.junk_reason(memory_texts(row), linked=row.links_in + row.links_out > 0)
    if reason is None:
        return
    revision = _revision_of(row, graph, "junk")
    if reason == text_quality.EMPTY_BESIDE_NAME:
        repair = attempt_command(Correct, **revision, description="")
    else:
        repair = attempt_command(Retract, **revision)
    yield build_finding("junk", graph, row.fields["id"], reason, repair=repair)


def _essay_emotion_of_memory(row: MemoryRow, graph: SweptGraph) -> Iterator[Finding]:
    fields = row.fields
    short = text_quality.shorten_emotions(_from_json(fields["emotion_vector"]))
    if short is None:
        return
    changes: dict[str, Any] = {"emotion_vector": short.emotions}
    felt_quality = fields["felt_quality"]
    if felt_quality is None or len(felt_quality) < TEXT_READ:  # else the page has only a part of it
        changes["felt_quality"] = text_quality.append_essays(felt_quality, short.essays, MAX_TEXT)
    repair = attempt_command(Correct, **_revision_of(row, graph, "essay"), **changes)
    yield build_finding("essay_emotion", graph, fields["id"], short.message, repair=repair)


def _unset_defaults(row: MemoryRow) -> list[str]:
    """Return the fields that the first command left out and no later command has changed.

    None for what was only made of a name: nobody had anything to say of it.
    """
    if is_made(str(row.fields["unset"] or "")):
        return []
    names = str(row.fields["unset"] or "").split(",")
    defaults = {**STORED_DEFAULTS, "emotion_vector": None}
    return [name for name in names if name in defaults and _as_number(row.fields[name]) == defaults[name]]


def validate_own_metadata(row: MemoryRow) -> ValidationResult:
    """Validate the metadata of the memory itself, by the rules of 003."""
    fields = row.fields
    metadata = {name: fields[name] for name in _FELT}
    metadata |= {name: _as_number(fields[name]) for name in STORED_DEFAULTS}
    metadata["emotion_vector"] = _from_json(fields["emotion_vector"])
    return validate_node(ConsciousnessNode.model_construct(**metadata))


class LinkFindings(NamedTuple):
    """The validation of a link by the rules of 003, and the findings on it."""

    validation: ValidationResult
    findings: list[Finding]


def find_in_link(row: LinkRow, graph: SweptGraph) -> LinkFindings:
    numbers = {name: _as_number(row.fields[name]) for name in _NUMBERS}
    metadata = {**row.fields, **numbers, **{name: _from_json(row.fields[name]) for name in _JSON}}
    validation = validate_consciousness_link(metadata)
    errors = list(validation.errors)
    if not errors and not row.felt_as_numbers:
        errors.append(f"REQUIRED field invalid: one of {', '.join(_NUMBERS)} is stored as text")
        validation = validation.model_copy(update={"valid": False, "errors": tuple(errors)})
    missing = [name for name in ("id", "relation_type") if not isinstance(metadata[name], str)]
    errors += [f"{name} is missing" for name in missing]
    errors += _time_faults(metadata)
    findings: list[Finding] = []
    if errors:
        repair = _link_repair(row, graph, errors)
        findings.append(build_finding("link_invalid", graph, _link_name(row), "; ".join(errors), repair=repair))
    else:
        short = text_quality.shorten_emotions(metadata["emotion_vector"])
        if short is not None:
            task = _link_task(row, graph)
            description = text_quality.append_essays(row.fields["emotion_description"], short.essays, MAX_TEXT)
            changes = {"emotion_vector": short.emotions, "emotion_description": description}
            revision = attempt(ReviseLink, **task, **changes) if task else None
            findings.append(build_finding("essay_emotion", graph, _link_name(row), short.message, repair=revision))
    maps = _mended_maps(row)
    if maps:
        task = _link_task(row, graph)
        repair = attempt(ReviseLink, **task, **maps) if task else None
        findings.append(_unreadable(graph, _link_name(row), maps, repair))
    findings += _closed_end(row, graph)
    return LinkFindings(validation, findings)


def _link_name(row: LinkRow) -> str:
    return str(row.fields["id"] or f"{row.source.id}|{row.fields['relation_type']}|{row.target.id}")


def _link_task(row: LinkRow, graph: SweptGraph) -> dict[str, Any] | None:
    """Return the fields that name a link in a repair task; None for a link that is closed or lacks one of them."""
    fields = row.fields
    if not isinstance(fields["id"], str) or not isinstance(fields["created_at"], int):
        return None
    if fields["expired_at"] != END_OF_TIME:
        return None
    ends = {"source_id": row.source.id, "target_id": row.target.id}
    return {**graph.fields(), **ends, "id": fields["id"], "seen": fields["created_at"]}


def _link_repair(row: LinkRow, graph: SweptGraph, errors: list[str]) -> RetractLink | ReviseLink | None:
    """Fill in the defaults of 003 when nothing else is wrong; otherwise propose to retract the link."""
    task = _link_task(row, graph)
    if task is None:
        return None
    messages = "\n".join(errors)
    wrong = [name for name in LINK_DEFAULTS if f": {name}" in messages]
    if len(wrong) == len(errors):
        return attempt(ReviseLink, **task, **{name: LINK_DEFAULTS[name] for name in wrong})
    return attempt(RetractLink, **task)


def _closed_end(row: LinkRow, graph: SweptGraph) -> Iterator[Finding]:
    """Find a link that is still open although a memory at one end was retracted: it must end with that memory."""
    fields = row.fields
    if fields["expired_at"] != END_OF_TIME:
        return
    retracted = [(end, until) for end in (row.source, row.target) if (until := _held_until(end)) is not None]
    link_end = fields["invalid_at"] if isinstance(fields["invalid_at"], int) else END_OF_TIME
    shorter = [(end, until) for end, until in retracted if until < link_end]
    if not shorter:
        return
    end, until = min(shorter, key=lambda pair: pair[1])
    task = _link_task(row, graph)
    link_start = fields["valid_at"] if isinstance(fields["valid_at"], int) else END_OF_TIME
    repair = attempt(RetractLink, **task, until=until if until > link_start else None) if task else None
    message = f"the memory {end.id} at one end was retracted"
    yield build_finding("closed_end", graph, _link_name(row), message, repair=repair)


def _held_until(end: LinkEnd) -> Instant | None:
    """Return the end of a retracted memory; before all time if it never held, None when it was not retracted."""
    if isinstance(end.expired_at, int) and end.expired_at < END_OF_TIME:
        return -END_OF_TIME
    if end.reason is not None and isinstance(end.invalid_at, int) and end.invalid_at < END_OF_TIME:
        return end.invalid_at
    return None


class Overlap(NamedTuple):
    """Two records of one identity that overlap in valid time and in transaction time."""

    older: RecordRow
    newer: RecordRow


def find_overlaps(records: Iterable[RecordRow]) -> Iterator[Overlap]:
    """Yield overlaps among the records of one identity; `older` became known first, or at the same time.

    Records known at the same time should not overlap in valid time, so each new one is compared only with its
    neighbours. Not every pair is found, but at least one if there is any.
    """
    believed: list[RecordRow] = []
    for record in sorted(records, key=lambda record: (record.known.start, record.valid.start, record.carried)):
        position = bisect_left(believed, record.valid.start, key=attrgetter("valid.start"))
        while position > 0 and (left := believed[position - 1]).valid.end > record.valid.start:
            position -= 1
            if left.known.end > record.known.start:
                yield Overlap(left, record)
                break
            del believed[position]
        position = bisect_left(believed, record.valid.start, key=attrgetter("valid.start"))
        while position < len(believed) and believed[position].valid.start < record.valid.end:
            if believed[position].known.end > record.known.start:
                yield Overlap(believed[position], record)
                break
            del believed[position]
        insort(believed, record, key=attrgetter("valid.start"))


def find_in_memories(records: Iterable[RecordRow], graph: SweptGraph) -> Iterator[Finding]:
    """Yield the overlapping records of memories. `records` must have all records of each memory."""
    identities = groupby(sorted(records, key=attrgetter("identity")), key=attrgetter("identity"))
    for identity, its_records in identities:
        for older, newer in find_overlaps(its_records):
            message = f"its versions {older.version} and {newer.version} hold and are known at the same moment"
            yield build_finding("overlap", graph, identity, message, repair=_closing(older, newer, graph))


def _closing(older: RecordRow, newer: RecordRow, graph: SweptGraph) -> CloseRecord | None:
    """Build the task that closes the past record of the two, if it is open and the other holds all that time."""
    for left_open, other in ((older, newer), (newer, older)):
        both_known = left_open.known.end == other.known.end == END_OF_TIME
        within = other.valid.start <= left_open.valid.start and left_open.valid.end <= other.valid.end
        if both_known and within and not left_open.carried and isinstance(left_open.version, int):
            return attempt(
                CloseRecord,
                **graph.fields(),
                id=left_open.identity,
                version=left_open.version,
                seen=left_open.known.start,
                at=max(other.known.start, left_open.known.start + 1),
            )
    return None


def record_of(row: LinkRow) -> RecordRow | None:
    """Return a link as a record; None when it has no id or no times, which is another finding."""
    fields = row.fields
    times = [fields[name] for name in TIMES]
    if not isinstance(fields["id"], str) or not all(isinstance(time, int) for time in times):
        return None
    identity = link_identity(row.source.id, fields["id"], row.target.id)
    return RecordRow(identity, None, Period(*times[:2]), Period(*times[2:]), carried=True)


def find_in_links(records: Iterable[RecordRow], graph: SweptGraph) -> Iterator[Finding]:
    """Yield the overlapping records of links. `records` must have all records of each link, open and closed."""
    identities = groupby(sorted(records, key=attrgetter("identity")), key=attrgetter("identity"))
    for identity, its_records in identities:
        source_id, link_id, target_id = identity.split("\0")
        task = {**graph.fields(), "id": link_id, "source_id": source_id, "target_id": target_id}
        for older, newer in find_overlaps(_drop_read_twice(list(its_records))):
            both_open = older.carried and newer.carried and older.known.end == newer.known.end == END_OF_TIME
            repair = None
            if both_open and older.known.start != newer.known.start:  # the newer one should have replaced it
                repair = attempt(RetractLink, **task, seen=older.known.start)
            message = "two of its records hold at the same moment"
            yield build_finding("overlap", graph, link_id, message, repair=repair)


def _drop_read_twice(records: list[RecordRow]) -> Iterator[RecordRow]:
    """Drop closed records that were also read as open records, because another writer closed them in between."""
    read_as_open = {(record.valid, record.known.start) for record in records if record.carried}
    for record in records:
        is_open = record.carried or record.known.end == END_OF_TIME
        if is_open or (record.valid, record.known.start) not in read_as_open:
            yield record


class DatedContent(NamedTuple):
    """A memory of a group: when it holds, and a digest of its whole content."""

    id: str
    version: int
    valid: Period
    created_at: Instant
    digest: bytes


def date_contents(contents: Iterable[Content]) -> Iterator[DatedContent]:
    """Yield the memories of a group that are known now and can be duplicates."""
    for content in contents:
        if content.known.end != END_OF_TIME:
            continue
        texts = text_quality.MemoryTexts(content.name, content.description, content.speaker, content.node_type)
        key = text_quality.content_key(texts)
        if key is not None:
            digest = text_quality.long_digest(key)
            yield DatedContent(content.id, content.version, content.valid, content.known.start, digest)


def find_duplicates(group: Sequence[DatedContent], graph: SweptGraph) -> Iterator[Finding]:
    """Yield each memory that has the same content as an earlier one at the same time."""
    originals: dict[bytes, list[DatedContent]] = {}
    for content in sorted(group, key=lambda content: (content.created_at, content.id)):
        same = originals.setdefault(content.digest, [])
        original = next((earlier for earlier in same if earlier.valid.overlaps(content.valid)), None)
        if original is None:
            same.append(content)
            continue
        revision = revision_fields(graph, content.id, content.version, reason="duplicate")
        message = f"it has the same content as {original.id}, at the same time"
        yield build_finding("duplicate", graph, content.id, message, repair=attempt_command(Retract, **revision))


DAYS: Final = 30
"""All summaries of this many days are kept, and a grade is compared with those of this many days."""
_DAY: Final = 86_400_000_000
_WEEK: Final = 7 * _DAY
GRADES: Final[tuple[Grade, ...]] = ("poor", "acceptable", "good", "excellent")
"""The grades of 003, the lowest first."""


def summarise(report: SweepReport, swept_at: datetime) -> QualitySummary:
    """The figures of a sweep that are kept: counts alone, so that nothing of a memory outlives it."""
    found: Counter[Severity] = Counter()
    for kind, count in report.findings_by_kind.items():
        found[SEVERITY[kind]] += count
    quality = report.report
    return QualitySummary(
        swept_at=swept_at,
        quality_grade=None if quality.nothing_given else quality.quality_grade,
        average_completeness=quality.average_completeness,
        total_memories=quality.total_memories,
        graded_memories=quality.graded_memories,
        fully_valid_memories=quality.fully_valid_memories,
        memories_with_warnings=quality.memories_with_warnings,
        memories_with_errors=quality.memories_with_errors,
        findings_by_kind=report.findings_by_kind,
        findings_by_severity={severity: found[severity] for severity in SEVERITIES if found[severity]},
    )


def thin_out(times: Sequence[Instant], now: Instant) -> frozenset[Instant]:
    """The times of the summaries to drop.

    All of the last 30 days stay, and of each week before them the last one; of what stays, the newest 500. A week
    has 7 days from the epoch on, so that a summary that stayed once stays while newer ones are few.
    """
    recent = [at for at in times if at > now - DAYS * _DAY]
    of_weeks: dict[int, Instant] = {}
    for at in sorted(set(times) - set(recent)):
        of_weeks[at // _WEEK] = at
    kept = sorted((*recent, *of_weeks.values()), reverse=True)[:MOST_SUMMARIES]
    return frozenset(times) - frozenset(kept)


def fallen_from(summaries: Sequence[QualitySummary]) -> Grade | None:
    """The best grade of the 30 days before the last summary, when its own is lower; else None.

    `summaries`: oldest first. A sweep without a grade counts as no sweep: nobody gave metadata, or none is left.
    """
    graded = [(each.swept_at, each.quality_grade) for each in summaries if each.quality_grade is not None]
    if len(graded) < 2 or summaries[-1].quality_grade is None:
        return None
    (last_at, last), before = graded[-1], graded[:-1]
    since = last_at - timedelta(days=DAYS)
    best = max((GRADES.index(grade) for at, grade in before if at >= since), default=0)
    return GRADES[best] if best > GRADES.index(last) else None
