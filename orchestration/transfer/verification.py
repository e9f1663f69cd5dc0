"""Checks line by line that an export is complete, unchanged and consistent. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson
from pydantic import TypeAdapter, ValidationError

from orchestration.mind.state import state_fields, state_record
from orchestration.mind.stream_note import unpack
from orchestration.transfer.line_format import DATA_KINDS, FORMAT, STAMPED, VERSION, sort_key
from schemas.base import MAX_TEXT, CitizenId, Identifier
from schemas.collectives import CollectiveId
from schemas.errors import InvalidRequest, StoreMisfit
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level, graph_key
from schemas.mind.state import StateChange
from schemas.temporal import END_OF_TIME, Period
from substrate.graphs.names import GraphOf
from substrate.store import archive, rows, states
from substrate.store.archive import (
    NEWEST_SCHEMA,
    PAST_STATE,
    STATE_LABELS,
    UNIQUE_PROPERTY,
    VECTORS,
    StoredLink,
)
from substrate.store.kept import Kept
from substrate.store.stream_notes import stored_note_of

type Line = Mapping[str, Any]

STREAM_NOTE: Final = "StreamNote"
REMEDY: Final = "Take another copy of the file, or export again; nothing was imported."
_PROPERTY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_IDENTIFIER: Final[TypeAdapter[str]] = TypeAdapter(Identifier)
_CITIZEN: Final[TypeAdapter[str]] = TypeAdapter(CitizenId)
_COLLECTIVE: Final[TypeAdapter[str]] = TypeAdapter(CollectiveId)
_MAX_UNIQUE_BYTES: Final = 4096
_MAX_MAP_BYTES: Final = 2 * MAX_TEXT
STATE: Final = "the state"
"""The identity of a citizen's state; a graph has only one."""


class EmbeddingModel(NamedTuple):
    """The model that the vectors of an export must come from."""

    name: str
    dimension: int


class GraphLine(NamedTuple):
    """The first line of a graph: its origin, and the properties of its stamp other than `STAMPED`."""

    origin: GraphOf
    meta: Mapping[str, Any]


def verify(lines: Iterable[bytes], model: EmbeddingModel, kept: Iterable[Kept]) -> Iterator[GraphLine | Line]:
    """Yield the lines of the export, each after its check. `kept`: what a graph may hold beside records.

    Only the end of the iteration proves that no line is missing. Raises InvalidRequest with the number of the
    line, StoreMisfit for the vectors of another model.
    """
    check = _ExportCheck(model, kept)
    for number, raw in enumerate(lines, 1):
        try:
            line = check.take(raw)
        except LineFault as fault:
            raise _refusal(f"line {number}: {fault}") from fault
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else "it is not what an export has here"
            raise _refusal(f"line {number}: {reason}") from error
        if line is not None:
            yield line
    if not check.ended:
        raise _refusal("the file ends in the middle: its last line is missing")


def _refusal(detail: str) -> InvalidRequest:
    return InvalidRequest(f"the export cannot be imported: {detail}", remedy=REMEDY)


class LineFault(Exception):
    """A line that no export of Substrate contains; the text of the error is the reason."""


def identity_of(line: Line) -> object:
    """Return the identity of which the line is a record; None for a line without times."""
    match line["kind"]:
        case "memory":
            return line["properties"]["id"]
        case "record":
            return line["of"]
        case "link":
            return line["source_id"], line["target_id"], line["properties"]["id"]
        case "node" if line["label"] in STATE_LABELS:
            return STATE
        case _:
            return None


class RecordCheck:
    """Takes the records of one identity in the order of the file: no two may overlap on both axes."""

    def __init__(self, identity: object = None) -> None:
        self.identity = identity
        self._carried: Mapping[str, Any] | None = None
        self._carried_taken = False
        self._versions: set[int] = set()
        self._open: list[tuple[Period, Period]] = []
        self._last_known = -(2**63)

    def take(self, line: Line) -> None:
        """Check the next line of this identity. Raises LineFault."""
        kind, properties = line["kind"], line["properties"]
        if kind == "memory":
            self._carried = properties
        elif kind == "link":
            self._check_overlap(properties)
        elif kind == "record":
            if self._carried is None:
                raise LineFault(f"it is a record of {line['of']}, which does not come before it")
            past = self._versions - {self._carried["version"]}
            if "shares_trace_of" in line and line["shares_trace_of"] not in past:
                raise LineFault("it shares the trace of a record that does not come before it")
            self._take_carried(properties)
            self._check_record(properties)
        elif self.identity == STATE:
            self._take_state(line["label"], properties)

    def _take_state(self, label: str, properties: Mapping[str, Any]) -> None:
        carried = self._carried
        if label != PAST_STATE:
            if carried is not None:
                raise LineFault("there are two current states")
            self._carried = properties
            return
        if carried is None or properties["version"] >= carried["version"]:
            raise LineFault("it is a past state, and there is no current state with a later version")
        self._check_record(properties)

    def finish(self) -> None:
        """Check the carried record if it is not checked yet: the first in the file may be the last in time."""
        self._take_carried()
        self._carried = None

    def _take_carried(self, following: Mapping[str, Any] | None = None) -> None:
        """Check the carried record, before the first record with a higher version, which corrects its past."""
        carried = self._carried
        if self._carried_taken or carried is None:
            return
        if following is None or carried["version"] < following["version"]:
            self._carried_taken = True
            self._check_record(carried)

    def _check_record(self, properties: Mapping[str, Any]) -> None:
        if properties["version"] in self._versions:
            raise LineFault(f"version {properties['version']} of {_name(properties)} comes twice")
        self._versions.add(properties["version"])
        self._check_overlap(properties)

    def _check_overlap(self, properties: Mapping[str, Any]) -> None:
        valid = Period(properties["valid_at"], properties["invalid_at"])
        known = Period(properties["created_at"], properties["expired_at"])
        if valid.end < valid.start or known.end < known.start:
            raise LineFault(f"a record of {_name(properties)} ends before it begins")
        if known.start < self._last_known:
            raise LineFault(
                f"the records of {_name(properties)} go in a circle: one corrects another before it was made"
            )
        self._last_known = known.start
        self._open = [(held, recorded) for held, recorded in self._open if recorded.end > known.start]
        if any(valid.overlaps(held) and known.overlaps(recorded) for held, recorded in self._open):
            raise LineFault(
                f"two records of {_name(properties)} hold at the same time; "
                "`substrate validate --fix` mends that in the store it came from"
            )
        self._open.append((valid, known))


def _name(properties: Mapping[str, Any]) -> str:
    return str(properties.get("id", STATE))


class _ExportCheck:
    """Takes the lines of an export one by one, and checks each against those before it."""

    def __init__(self, model: EmbeddingModel, kept: Iterable[Kept]) -> None:
        self.ended = False
        self._carried = {each.label: each for each in kept if each.is_carried}
        self._model = model
        self._digest = sha256()
        self._counts: Counter[str] = Counter()
        self._embeddings: bool | None = None
        self._graphs: set[str] = set()
        self._last_key: bytes | None = None
        self._level = Level.N1
        self._records = RecordCheck()

    def take(self, raw: bytes) -> GraphLine | Line | None:
        if self.ended:
            raise LineFault("it comes after the last line")
        try:
            line: Line = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise LineFault("it is not JSON; the file is damaged or cut") from error
        kind = line["kind"]
        if kind in ("memory", "record", "link"):
            line = _mend_maps(line)
        if kind == "node" and line["label"] == STATE_LABELS[0]:
            line = {**line, "properties": states.with_versions(line["properties"])}
        if kind == "end":
            self._end(line)
            return None
        self._digest.update(raw)
        if self._embeddings is None:
            self._begin(line)
            return None
        if kind == "graph":
            return self._graph(line)
        self._data(line)
        return line

    def _begin(self, line: Line) -> None:
        if line["kind"] != FORMAT:
            raise LineFault("it is no export of Substrate")
        if line["version"] != VERSION:
            raise LineFault(f"the export has version {line['version']}, this Substrate reads version {VERSION}")
        self._embeddings = bool(line["embeddings"])

    def _graph(self, line: Line) -> GraphLine:
        origin = GraphOf(graph_key(Level(line["level"]), line.get("collective")), line["citizen_id"])
        if origin.level is Level.N1:
            _validate("citizen_id", lambda: _CITIZEN.validate_python(origin.citizen_id))
        if (collective := line.get("collective")) is not None:
            _validate("collective", lambda: _COLLECTIVE.validate_python(collective))
        stamped = [line[name] for name in STAMPED]
        if stamped[0] > NEWEST_SCHEMA:
            raise LineFault(f"it comes from schema version {stamped[0]}, this Substrate has {NEWEST_SCHEMA}")
        if self._embeddings and tuple(stamped[1:]) != self._model:
            raise StoreMisfit(
                f"the vectors of this export come from {stamped[1]} ({stamped[2]} dimensions), "
                f"configured is {self._model.name} ({self._model.dimension})",
                remedy="Export without --embeddings, or set SUBSTRATE_EMBEDDING to the model of the export.",
            )
        if origin.graph in self._graphs:
            raise LineFault(f"graph {origin.graph} comes twice")
        self._graphs.add(origin.graph)
        self._level, self._last_key = origin.level, b""
        self._records.finish()
        self._records = RecordCheck()
        _check_properties(line["meta"])
        return GraphLine(origin, line["meta"])

    def _data(self, line: Line) -> None:
        kind = line["kind"]
        if self._last_key is None:
            raise LineFault("no graph was named before it")
        if kind not in DATA_KINDS:
            raise LineFault(f"its kind {str(kind)[:40]!r} is not known")
        self._counts[kind] += 1
        _check_properties(line["properties"])
        for name in rows.MAP_COLUMNS:  # no request and no repair can store a larger one
            value = line["properties"].get(name)
            if isinstance(value, str) and len(value.encode()) > _MAX_MAP_BYTES:
                raise LineFault(f"{name} has more than {_MAX_MAP_BYTES} bytes")
        if kind == "node":
            _check_node(line, self._carried)
        else:
            _CHECKS[kind](line, self._level)
        if "trace" in line:
            _check_trace(line["trace"], self._model if self._embeddings else None)
        place = sort_key(line)
        if place < self._last_key or (place == self._last_key and kind in ("memory", "tag")):
            raise LineFault("it is out of order, or comes twice")
        self._last_key = place
        self._check_records(line)

    def _check_records(self, line: Line) -> None:
        identity = identity_of(line)
        if identity is None:
            return  # lines without times may stand between the records of the state
        if identity != self._records.identity:
            self._records.finish()
            self._records = RecordCheck(identity)
        self._records.take(line)

    def _end(self, line: Line) -> None:
        self._records.finish()
        if line["sha256"] != self._digest.hexdigest():
            raise LineFault("the checksum differs: the file was edited or damaged")
        if line["counts"] != self._counts:
            raise LineFault("the counts differ: lines are missing")
        self.ended = True


def _check_properties(properties: Mapping[str, Any]) -> None:
    for name, value in properties.items():
        if not _PROPERTY.fullmatch(name):
            raise LineFault(f"a property cannot be called {name[:40]!r}")
        items = value if isinstance(value, list) else [value]
        if any(isinstance(item, (list, dict)) or item is None for item in items):
            raise LineFault(f"property {name} is neither a text, a number, a truth value nor a list of those")
        if any(isinstance(item, str) and "\0" in item for item in items):
            raise LineFault(f"property {name} holds a NUL character")
        if any(isinstance(item, int) and not -(2**63) <= item < 2**63 for item in items):
            raise LineFault(f"property {name} holds a number beyond 64 bits")


def _mend_maps(line: Line) -> Line:
    """Repair the maps that are nested too deeply, and mark such a line: older releases stored such maps.

    Raises ValueError for a map that is not JSON.
    """
    properties = line["properties"]
    for name in rows.MAP_COLUMNS:
        if isinstance(properties.get(name), str):
            orjson.loads(properties[name])
    mended = rows.repair_maps(properties)
    return line if mended is properties else {**line, "properties": mended, "mended": True}


def _check_unique(label: str, properties: Mapping[str, Any]) -> None:
    """Raises LineFault for values of a unique property on which the engine could crash."""
    name = UNIQUE_PROPERTY.get(label)
    if name is None:
        return
    value = properties[name]
    if not isinstance(value, str) or not value.strip() or value != value.strip():
        raise LineFault(f"{name} of {label} is no text without spaces at its ends")
    if len(value.encode()) > _MAX_UNIQUE_BYTES:
        raise LineFault(f"{name} of {label} is longer than {_MAX_UNIQUE_BYTES} bytes")


def _check_node(line: Line, carried: Mapping[str, Kept]) -> None:
    label, properties = line["label"], line["properties"]
    kept = carried.get(label)
    if kept is None:
        raise LineFault(f"its label {str(label)[:40]!r} is not known")
    _check_unique(label, properties)
    if label in STATE_LABELS:
        record = states.record_of(properties)
        _validate("state", lambda: state_record(record))
        fields = state_fields(record.content)
        change = {name: value for name, value in fields.items() if name in StateChange.model_fields}
        _validate("state", lambda: StateChange(**change))
        if label == PAST_STATE and properties.get("cell") != states.cell_of(record):
            raise LineFault("its cell does not match its times")
        if label != PAST_STATE and (record.valid.end, record.known.end) != (END_OF_TIME, END_OF_TIME):
            raise LineFault("the current state has an end")
    if label == STREAM_NOTE:
        unpack(*stored_note_of(properties))
    check = kept.check
    if check is not None:
        _validate(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label).lower(), lambda: check(properties))


def _check_memory(line: Line, level: Level) -> None:
    _check_record(line, level)
    for name, properties in line["tags"].items():
        _check_unique("Tag", {"name": name})
        _check_properties(properties)


def _check_record(line: Line, level: Level) -> None:
    properties = line["properties"]
    _validate("id", lambda: _IDENTIFIER.validate_python(properties["id"]))
    if line["kind"] == "record" and properties["id"] != line["of"]:
        raise LineFault("it is a record of another memory")
    _validate("memory", lambda: _check_readable(archive.memory_of(properties, level)))


def _check_link(line: Line, level: Level) -> None:
    for end in ("source_id", "target_id"):
        _validate(end, partial(_IDENTIFIER.validate_python, line[end]))
    link = StoredLink(line["source_id"], line["target_id"], line["properties"])
    _validate("link", lambda: _check_readable(archive.link_of(link, level)))


def _check_readable(record: ConsciousnessNode | ConsciousnessRelationship) -> None:
    if record.unreadable:
        raise LineFault(f"{', '.join(record.unreadable)} cannot be read")


def _validate(name: str, read: Callable[[], object]) -> None:
    """Run `read`. Raises LineFault when pydantic refuses the value; `name` is used if pydantic names no field."""
    try:
        read()
    except ValidationError as error:
        fault = error.errors()[0]
        raise LineFault(f"{'.'.join(map(str, fault['loc'])) or name}: {fault['msg']}") from error


_CHECKS: Final[Mapping[str, Callable[[Line, Level], None]]] = {
    "tag": lambda line, _: _check_unique("Tag", line["properties"]),
    "memory": _check_memory,
    "record": _check_record,
    "link": _check_link,
}


def _check_trace(trace: Mapping[str, Any], model: EmbeddingModel | None) -> None:
    if trace["label"] not in ("Trace", "PastTrace"):
        raise LineFault(f"a trace cannot be a {str(trace['label'])[:40]!r}")
    _check_properties(trace["properties"])
    vectors = trace.get("vectors", {})
    if model is None and vectors:
        raise LineFault("it has vectors, but the first line says that there are none")
    if not vectors.keys() <= set(VECTORS):
        raise LineFault("it has an unknown vector")
    if model is not None and "embedding" in vectors and len(vectors["embedding"]) != model.dimension:
        raise LineFault(f"its embedding has {len(vectors['embedding'])} numbers, not {model.dimension}")
