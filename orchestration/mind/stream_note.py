"""The note of a stream: what was asked, when, and what was shown; and its packed form. Pure."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain, islice
from typing import Any, Final, Literal, NamedTuple

import orjson

from orchestration.graph_queries.recall import Recall, RecalledHit, WordsThen
from orchestration.question.time_expressions import NamedPeriod
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.memory import ConsciousnessNode, GraphKey, Level
from schemas.mind.state import CitizenState
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, Period, Scope

type Way = Literal["retrieve", "wake"]
type Asked = RetrievalIntention | StateBasedRetrieval
type RecordKey = tuple[GraphKey, str, int]
"""What `ShownRecord` names, as a bare tuple, which costs less: every question makes a hundred."""

MARK: Final = "~"
"""Stands between the citizen and the rest of a stream's id; no id of a citizen has it."""
_DICTIONARY: Final = (
    b'{"way":"wake","way":"retrieve","request":{"filters":null,"plurality":null,"explain":false,"max_tokens":null,'
    b'"form":"full","form":"compact","require_valid":false,"apply_feedback":true,"apply_feedback":false,'
    b'"reality_pressure":0.5,"query_mode":"find_related_unresolved","include_only_unresolved":true,'
    b'"temporal_scope":"recent","as_of_time":null,"known_at":null,"time_range_start":null,"time_range_end":null,'
    b'"query_levels":["N1","N2","N3"],"max_results_per_level":20,"time_zone":"UTC","min_energy":null,'
    b'"min_confidence":null,"required_emotions":null,"current_goal":null,"current_emotions":null,'
    b'"current_energy":null,"rerank":null,"prefer":null,"generated_by":"unknown","temporal_mode":"current",'
    b'"query_text":"What"},"scope":[9007199254740990,9007199254740991],"weights":"","model":"local","goal":null,'
    b'"degraded":[],"tiers":[5,20,50],"hits":{"N1_cue":[0,1,2],"N1_lately":[0,1,2],"N3_graph":[],"N2_graph":[],'
    b'"N1_graph":[0,1,2,3,4,5,6],"N3_vector":[],"N2_vector":[],"N1_vector":[0,1,2,3,4,5,6]},"scores":{},'
    b'"words":{"N3":[0,{},[]],"N2":[0,{},[]],"N1":[100,{"what":1},["person:"]]},"periods":[],"state":null,"memories":"'
)
"""What most notes say. It is never changed: the notes that are stored could not be read any more."""
_LEVEL: Final = 6
_MOST_BYTES: Final = 2_000_000
"""So much of an unpacked note is read: more than the longest request and 80 ids can have."""


class ShownRecord(NamedTuple):
    """One memory that a stream showed, in the version that it showed."""

    graph: GraphKey
    id: str
    version: int


@dataclass(frozen=True, slots=True)
class StreamNote:
    """What is kept of a stream that was asked for at `at`.

    `request`: as it was sent, every option named, without the citizen. `goal`: of the asker, or of the state that
    it had declared. `tiers`: what was shown in focus, periphery and background, best first. `found`: what its
    searches found, and the scope that it saw. `weights` and `model`: names of what ranked and embedded; they
    change when that does. `degraded`: queries whose results were missing.
    """

    stream_id: str
    at: Instant
    way: Way
    request: Mapping[str, Any]
    tiers: tuple[tuple[ShownRecord, ...], ...]
    found: Recall
    weights: str
    model: str
    goal: str | None = None
    degraded: tuple[str, ...] = ()

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels that were asked."""
        return tuple(map(Level, self.request["query_levels"]))

    @property
    def asked(self) -> str:
        """The question in words; of a waking its mode."""
        return str(self.request["query_text" if self.way == "retrieve" else "query_mode"])

    def shown(self) -> tuple[ShownRecord, ...]:
        """All that was shown, best first."""
        return tuple(chain.from_iterable(self.tiers))

    def hits(self) -> dict[RecalledHit, ShownRecord]:
        """All that its searches found, each with its graph."""
        found: dict[RecalledHit, ShownRecord] = {}
        for name, hits in self.found.hits.items():
            found |= {hit: ShownRecord(_graph_of(name), hit.id, hit.version) for hit in hits}
        return found

    def graphs(self) -> tuple[GraphKey, ...]:
        """The graphs that were searched, as far as they had anything."""
        named = map(_graph_of, self.found.hits)
        return tuple(dict.fromkeys((*named, *(each.graph for each in self.shown()))))


def make_stream_id(asked: Asked, now: Instant) -> str:
    """The id of the stream that answers `asked` at `now`. It begins with its citizen."""
    own = asked.intention_id if isinstance(asked, RetrievalIntention) else asked.state_id
    digest = blake2b(f"{own}\n{now}".encode(), digest_size=5, person=b"stream").hexdigest()
    return f"{asked.citizen_id}{MARK}{now:013x}{digest}"


def citizen_of(stream_id: str) -> str | None:
    """The citizen of a stream; None for an id that no stream has."""
    citizen, mark, rest = stream_id.partition(MARK)
    return citizen if mark and rest else None


def rename_stream(stream_id: str, citizen_id: str) -> str:
    """The id of the same stream, of a citizen with another name."""
    return f"{citizen_id}{MARK}{stream_id.partition(MARK)[2]}"


def make_note(
    asked: Asked, stream: ConsciousnessStream, now: Instant, found: Recall, *, weights: str, model: str
) -> StreamNote:
    """The note of a stream that was asked for at `now`. Nothing of the text of a memory is in it."""
    tiers, state = stream.activation_tiers, found.state
    if state is not None:
        # What waking reads of a state, without what was read from memories: these may be erased.
        goal = None if any(source.field == "goal" for source in state.sources) else state.goal
        felt = {"energy": state.energy, "emotion_vector": state.emotion_vector, "goal": goal}
        state = CitizenState(citizen_id=state.citizen_id, **felt)
    made = {"intention_id", "state_id", "generated_at"} - asked.model_fields_set
    return StreamNote(
        stream_id=stream.stream_id,
        at=now,
        way="retrieve" if isinstance(asked, RetrievalIntention) else "wake",
        request=asked.model_dump(mode="json", exclude={"citizen_id", *made}),
        tiers=tuple(tuple(_list_shown(tier)) for tier in (tiers.focus, tiers.peripheral, tiers.background)),
        found=replace(found, state=state),
        weights=weights,
        model=model,
        goal=asked.current_goal if state is None else state.goal,
        degraded=tuple(part.query for part in stream.degraded if part.query != "fields"),
    )


def shown_by(stream: ConsciousnessStream) -> Iterator[ShownRecord]:
    """All that a stream shows, best first."""
    return _list_shown(stream.activation_tiers.ordered())


def _list_shown(nodes: Sequence[ConsciousnessNode]) -> Iterator[ShownRecord]:
    return (ShownRecord(node.graph_key, node.node_id, node.version) for node in nodes)


def pack(note: StreamNote) -> str:
    """The note as compressed text, without its id and its time."""
    found = note.found
    # The memories of a note, each once. Those that were shown come first, in their order.
    table: dict[RecordKey, int] = {}
    for key in chain.from_iterable(note.tiers):
        table.setdefault(key, len(table))
    hits, scores = {}, {}
    for name, each in found.hits.items():
        graph = _graph_of(name)
        hits[name] = [table.setdefault((graph, hit.id, hit.version), len(table)) for hit in each]
        if each and each[0].score is not None:
            scores[name] = [hit.score for hit in each]
    state = found.state
    fields = {
        "way": note.way,
        "request": note.request,
        "scope": [*found.scope.valid, *found.scope.known],
        "weights": note.weights,
        "model": note.model,
        "goal": note.goal,
        "degraded": note.degraded,
        "tiers": list(map(len, note.tiers)),
        "hits": hits,
        "scores": scores,
        "words": {key: [each.memories, each.frequencies, each.entities] for key, each in found.words.items()},
        "periods": [[*each.period, each.weight] for each in found.periods],
        "state": None if state is None else [state.energy, state.emotion_vector, state.goal],
        "memories": "\n".join(map(_write_shown, table)),
    }
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=_DICTIONARY)
    return b64encode(packer.compress(orjson.dumps(fields)) + packer.flush()).decode()


def _graph_of(query: str) -> GraphKey:
    """The graph that a query was sent to, from its name."""
    return query.rpartition("_")[0]


def unpack(stream_id: str, at: Instant, data: str, _inferred: object = ()) -> StreamNote:
    """The note from its packed text. Raises ValueError, TypeError or KeyError for another text."""
    reader = zlib.decompressobj(-zlib.MAX_WBITS, zdict=_DICTIONARY)
    try:
        text = reader.decompress(b64decode(data), _MOST_BYTES)
        fields = orjson.loads(text)
    except zlib.error as error:
        raise ValueError(f"the note of {stream_id} cannot be read") from error
    table = list(map(_read_shown, fields["memories"].split("\n"))) if fields["memories"] else []
    shown = iter(table)
    return StreamNote(
        stream_id=stream_id,
        at=at,
        way=fields["way"],
        request=fields["request"],
        tiers=tuple(tuple(islice(shown, length)) for length in fields["tiers"]),
        found=_read_found(fields, table, citizen_of(stream_id) or ""),
        weights=fields["weights"],
        model=fields["model"],
        goal=fields["goal"],
        degraded=tuple(fields["degraded"]),
    )


def _read_found(fields: Mapping[str, Any], table: Sequence[ShownRecord], citizen_id: str) -> Recall:
    valid_from, valid_to, known_from, known_to = fields["scope"]
    state = None
    if fields["state"] is not None:
        energy, emotions, goal = fields["state"]
        state = CitizenState(citizen_id=citizen_id, energy=energy, emotion_vector=emotions, goal=goal)
    hits: dict[str, tuple[RecalledHit, ...]] = {}
    for name, places in fields["hits"].items():
        scores = fields["scores"].get(name) or [None] * len(places)
        found = zip(map(table.__getitem__, places), scores, strict=True)
        hits[name] = tuple(RecalledHit(each.id, each.version, score) for each, score in found)
    words = {
        key: WordsThen(memories, counts, tuple(ids)) for key, (memories, counts, ids) in fields["words"].items()
    }
    return Recall(
        scope=Scope(Period(valid_from, valid_to), Period(known_from, known_to)),
        hits=hits,
        words=words,
        periods=tuple(NamedPeriod(Period(start, end), weight) for start, end, weight in fields["periods"]),
        state=state,
    )


def _write_shown(shown: RecordKey) -> str:
    """The id, with the version where it is not the first, and the graph where it is not N1. No id has a bar."""
    graph, memory_id, version = shown
    if graph == Level.N1:
        return memory_id if version == 1 else f"{memory_id}|{version}"
    return f"{memory_id}|{'' if version == 1 else version}|{graph}"


def _read_shown(text: str) -> ShownRecord:
    memory_id, _, rest = text.partition("|")
    version, _, graph = rest.partition("|")
    return ShownRecord(graph or Level.N1.value, memory_id, int(version or 1))
