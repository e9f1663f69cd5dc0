"""A stream as it is sent: its form, its sections, and what it costs (`form`, `parts`). Pure.

A null is left out, and of a memory, a link, a node or an edge each optional field that has its default.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import orjson
from pydantic import BaseModel

from orchestration.assembly.budget import Budget
from orchestration.mind.energy import Decay
from schemas.base import Sparse
from schemas.intention import Form, Part
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship
from schemas.stream import (
    ALWAYS_SENT,
    LISTS,
    ActivationTiers,
    ConsciousnessLevelResults,
    ConsciousnessStream,
    TokenCounts,
)
from schemas.stream_forms import PART_FIELDS, all_links, all_memories, referenced
from schemas.temporal import Instant, to_instant
from substrate.inference import tokens

BYTES_PER_TOKEN: Final = 3.3
"""Of a stream of English, or a like language, as JSON. Of real ones it is 3.4 to 3.5, of long texts more."""
FULL_TOKENS: Final = 100_000
"""The most tokens that 003 accepts of a stream, for the form that says each memory several times."""
SAMPLES, SAMPLE_BYTES, MANY_SAMPLES, SAMPLED = 8, 400, 40, 0.97
"""This many places are counted by the vocabulary; those of a large stream may have fewer tokens than the rest."""
OTHER_SCRIPTS: Final = 0.02
"""A stream with more of its bytes beyond ASCII is in another script."""
GRAPH_SHARE: Final = 2 / 3
"""The JSON of a node or an edge of the graph, as a share of that of its memory or link."""
REFERENCE_BYTES: Final = 30
"""A reference with its quotes and comma, about."""
SAMPLE: Final = 5
"""This many memories and links are measured to estimate the size of the other form."""
COUNTS_TOKENS: Final = 30
"""What the counts themselves take, about."""
PATHS: Final = "suggested_paths"
POTENTIAL: Final = "energy_feedback_potential"
"""A figure of a section that is never left out: it is one number, and what wakes a citizen (003, component 5c)."""
_MOST_FIRST: Final = (
    "notes", "entities", "relative_potential", "energy_feedback", "citizen_energy", "temporal_dissonances",
    "resolution_patterns", "rules", "offers", "consciousness_summary", "state", "metadata_validation",
    "traversal_graph", PATHS, "energy_shares", "learned", "retrieval_latency_ms", "query_count", "model_calls",
    "stage_ms", "timings",
)  # fmt: skip
"""What is left out where it does not fit, the most important first. Paths and figures are those of the graph."""
_WITH_RECORDS: Final = frozenset(("levels", "activation_tiers", "traversal_graph", "memories", "links"))
_SECTIONED: Final = frozenset(("memories", "links", *chain.from_iterable(PART_FIELDS.values())))
PLACES: Final = ("activation_tiers", "levels", "traversal_graph")
"""The sections that show memories: first in the first of them that is wanted; the last is left out first."""
LINKED: Final = frozenset(("levels", "traversal_graph"))
_IDS: Final = ("stream_id", "intention_id")
_HEX: Final = re.compile("[0-9a-f]{4,}")
_STEADY_HEX: Final = "8f3b2c1e7d944a6fb05e93c7d1e2f4a8"
_STEADY_TIME: Final = "2026-10-29T17:38:56.739185Z"
"""What stands for ids and times of an answer while it is fitted, so that the next one has the same sections."""
_MEASURED: Final = frozenset(("retrieval_latency_ms", "timings", "stage_ms", "model_calls"))
NOTHING_COUNTED: Final[Mapping[str, int]] = MappingProxyType({})
_ASCII: Final = bytes(range(128))
_MILLISECONDS: Final = re.compile(rb"\d+\.\d+")

type Row = dict[str, Any]
"""The fields of a record that are sent."""


def estimate_tokens(size: float, bytes_per_token: float = BYTES_PER_TOKEN) -> int:
    """The tokens of this many bytes of JSON, as an estimate."""
    return round(size / bytes_per_token)


def bytes_per_token(body: bytes) -> float:
    """How many bytes of this stream a token has, about.

    Of one in another script than English some places are counted, of one that may exceed 003's bound more of them.
    """
    is_other = len(body.translate(None, _ASCII)) > OTHER_SCRIPTS * len(body)
    is_large = len(body) > FULL_TOKENS * (1 if is_other else BYTES_PER_TOKEN)
    if not is_other and not is_large:
        return BYTES_PER_TOKEN
    step = max(SAMPLE_BYTES, len(body) // (MANY_SAMPLES if is_large else SAMPLES))
    places = [body[start : start + SAMPLE_BYTES] for start in range(0, len(body), step)]
    counted = sum(map(tokens.counter(), (place.decode(errors="ignore") for place in places)))
    return sum(map(len, places)) * (SAMPLED if is_large else 1) / max(1, counted)


def stream_json(
    stream: ConsciousnessStream,
    form: Form,
    parts: Collection[Part] | None = None,
    budget: Budget | None = None,
    *,
    records: Records | None = None,
    sections: Mapping[str, int] = NOTHING_COUNTED,
) -> bytes:
    """The stream in this form, with what it costs. `parts`: the sections to send; None for the usual ones.

    Within a `budget` the memories and links stand as they are given (see `fitting`), and of the other sections
    those that find room beside them, the most important first. `records` and `sections`: the JSON of records, and
    the tokens of sections, as far as they are known.
    """
    wanted = sections_of(form, parts)
    records = records or Records()
    fields = _sent_fields(stream, form, wanted)
    if not stream.rules and parts is None:
        fields.pop("rules", None)  # they were not read
    if budget is None:
        body = records.dump(fields)
        return _with_counts(body, _estimate(stream, form, wanted, body, records=records))
    fields = _within(fields, form, budget, records=records, sections=sections)
    body = records.dump(fields)
    sent = budget.count(body.decode()) + COUNTS_TOKENS
    other = _estimate(stream, form, wanted & fields.keys(), body, records=records)
    own: dict[str, int] = {} if form == "compact" else {form: sent}
    return _with_counts(body, other.model_copy(update={"sent": sent, "counter": budget.counter, **own}))


def _with_counts(body: bytes, counts: TokenCounts) -> bytes:
    return body[:-1] + b',"token_counts":' + _dump(counts) + b"}"


def frame_tokens(stream: ConsciousnessStream, form: Form, budget: Budget, sections: Collection[str]) -> int:
    """What a bounded stream takes without its memories, links and those `sections` that may be left out."""
    fields = _sent_fields(stream, form, {POTENTIAL}.intersection(sections))
    return COUNTS_TOKENS + _tokens(_drop_empty(fields, keep=_MOST_FIRST), budget, Records())


def section_tokens(stream: ConsciousnessStream, sections: Collection[str], budget: Budget) -> dict[str, int]:
    """What each section without memories and links takes, the most important first."""
    values = {name: getattr(stream, name) for name in ("notes", "entities", *sections) if name in _MOST_FIRST}
    if "traversal_graph" in sections:
        graph = dict(vars(stream.traversal_graph))
        values[PATHS] = graph.pop(PATHS)
        values["traversal_graph"] = {**graph, "nodes": (), "edges": ()}
    told = {name: _member_tokens(name, each, budget) for name, each in values.items() if not _is_empty(each)}
    return {name: told[name] for name in _MOST_FIRST if name in told}


def places_tokens(stream: ConsciousnessStream, sections: Collection[str], budget: Budget) -> dict[str, int]:
    """What the tiers and the levels take before a memory stands in them."""
    lists = dict.fromkeys(LISTS, ())
    empty: dict[str, Any] = {
        "activation_tiers": dict.fromkeys(("focus", "peripheral", "background"), ()),
        "levels": {level: {**lists, "omitted": dict.fromkeys(lists, 100)} for level in stream.levels},
    }
    return {name: _member_tokens(name, each, budget) for name, each in empty.items() if name in sections}


def sections_of(form: Form, parts: Collection[Part] | None) -> set[str]:
    """The fields of the sections that are sent. The text of the compact form stands for all that are not named."""
    named: Iterable[Part] = parts if parts is not None else () if form == "compact" else PART_FIELDS
    wanted = {name for part in named for name in PART_FIELDS[part]}
    return wanted | {"memories", "links"} if wanted & _WITH_RECORDS else wanted


def _sent_fields(stream: ConsciousnessStream, form: Form, wanted: Collection[str]) -> dict[str, Any]:
    value = stream if form == "full" else referenced(stream, wanted)
    sent = {
        name: each
        for name, each in vars(value).items()
        if each is not None and (name in wanted or name not in _SECTIONED)
    }
    if "traversal_graph" in sent:
        sent["traversal_graph"] = vars(sent["traversal_graph"])
    return {**sent, "form": form}


class Records:
    """The JSON of records as they are sent, each made once."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Sparse, bytes]] = {}  # by the identity of the record

    def json(self, record: Sparse) -> bytes:
        """A record as it is sent."""
        made = self._made.get(id(record))
        if made is None:
            made = self._made[id(record)] = record, _dump(sparse_row(record))
        return made[1]

    def dump(self, value: Any) -> bytes:
        """Any value with records in it as it is sent."""
        return orjson.dumps(value, default=self._member, option=orjson.OPT_UTC_Z)

    def _member(self, value: BaseModel) -> Any:
        return orjson.Fragment(self.json(value)) if isinstance(value, Sparse) else _without_nulls(value)

    def mean_size(self, records: Sequence[Sparse]) -> float:
        """The bytes of a record, by a sample from the whole list."""
        sample = records[:: max(1, len(records) // SAMPLE)]
        return len(self.dump(sample)) / len(sample) if sample else 0.0


def sparse_row(record: Sparse) -> Row:
    """The fields of a record without those that have their default."""
    blank, maps = _blank(type(record))
    row = {name: field for name, field in vars(record).items() if field is not blank[name]}
    for name in maps:
        if name in row and not row[name]:
            del row[name]
    return row


_NEEDED: Final = object()
"""Stands for the default of a field without one."""


@cache
def _blank(kind: type[Sparse]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The default of each field, and the fields whose default is an empty map: each record has one of its own."""
    defaults = kind.defaults()
    blank = {name: _NEEDED if field.is_required() else defaults[name] for name, field in kind.model_fields.items()}
    return blank, tuple(name for name, default in blank.items() if default == {})


def _dump(value: Any) -> bytes:
    return orjson.dumps(value, default=_without_nulls, option=orjson.OPT_UTC_Z)


def _without_nulls(value: BaseModel) -> Row:
    return {name: field for name, field in vars(value).items() if field is not None}


# --- within a budget -----------------------------------------------------------------------------------------


def _within(fields: Row, form: Form, budget: Budget, *, records: Records, sections: Mapping[str, int]) -> Row:
    """The fields that fit: never less than the frame, the tiers and the text."""
    needed, others = _apart(_drop_empty(fields))
    shown, left = needed, 0
    for shown in _with_fewer_places(needed, form):
        left = budget.limit - COUNTS_TOKENS - _tokens(shown, budget, records)
        if left >= 0:
            break
    if form == "compact":  # its text is what is bounded; all else is sent if it finds room beside it
        left = max(left, 0)
    for name, value in others.items():
        cost = sections[name] if name in sections else _member_tokens(name, value, budget)
        if cost > left or (name == PATHS and "traversal_graph" not in shown):
            continue
        left -= cost
        if name == PATHS:
            shown["traversal_graph"] = {**shown["traversal_graph"], PATHS: value}
        else:
            shown[name] = value
    return {name: shown[name] for name in fields if name in shown}


def _apart(fields: Row) -> tuple[Row, Row]:
    """What a bounded stream has before all else, and what it has where there is room, the most important first.

    Of a graph that shows no memory other sections tell more.
    """
    others: Row = {name: fields[name] for name in _MOST_FIRST if name in fields}
    needed = {name: each for name, each in fields.items() if name not in others}
    graph = others.pop("traversal_graph", None)
    if graph is None:
        return needed, others
    figures = {**graph, PATHS: ()}
    if graph["nodes"] or "activation_tiers" not in needed:
        needed["traversal_graph"] = figures
    late: Row = {"traversal_graph": figures, PATHS: graph[PATHS]}
    others |= {name: each for name, each in late.items() if name not in needed and not _is_empty(each)}
    return needed, {name: others[name] for name in _MOST_FIRST if name in others}


def _with_fewer_places(fields: Row, form: Form) -> Iterator[Row]:
    """The fields; then without the graph, without the levels, and of the compact form without any memory."""
    places = [name for name in reversed(PLACES) if name in fields]
    for left_out in range(max(1, len(places) + (form == "compact"))):
        standing = places[left_out:]
        unused: set[str] = {*places[:left_out]}
        unused |= set() if LINKED.intersection(standing) else {"links"}
        unused |= set() if standing else {"memories"}
        yield {name: each for name, each in fields.items() if name not in unused}


def _drop_empty(fields: Row, keep: Collection[str] = ()) -> Row:
    """The fields that say something, or that every stream has; `keep`: without these."""
    needed = {*ALWAYS_SENT, "activation_tiers", "memories"}
    return {
        name: each for name, each in fields.items() if name not in keep and (name in needed or not _is_empty(each))
    }


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, tuple | list | dict) and not value)


def _tokens(fields: Row, budget: Budget, records: Records) -> int:
    steady = {name: _HEX.sub(_steady_hex, fields[name]) for name in _IDS if name in fields}
    return budget.count(records.dump({**fields, **steady, "retrieved_at": _STEADY_TIME}).decode())


def _steady_hex(found: re.Match[str]) -> str:
    length = len(found[0])
    return (_STEADY_HEX * (length // len(_STEADY_HEX) + 1))[:length]


def _member_tokens(name: str, value: Any, budget: Budget) -> int:
    body = _dump(value)
    if name in _MEASURED:
        body = _MILLISECONDS.sub(b"888.888", body)
    return budget.count(f',"{name}":{body.decode()}')


# --- what it costs -------------------------------------------------------------------------------------------


def _estimate(
    stream: ConsciousnessStream, form: Form, wanted: Collection[str], body: bytes, *, records: Records
) -> TokenCounts:
    """What the stream costs as it is sent, and in the other form that carries its memories."""
    size, of_token = len(body), bytes_per_token(body)
    sent = estimate_tokens(size, of_token)
    if form == "compact":
        return TokenCounts(sent=sent, text=tokens.counter()(stream.text or ""))
    # The bytes by which references make a stream of these sections smaller, about.
    levels = stream.levels.values() if "levels" in wanted else ()
    active = stream.activation_tiers.ordered() if "activation_tiers" in wanted else ()
    graph = stream.traversal_graph
    nodes, edges = (len(graph.nodes), len(graph.edges)) if "traversal_graph" in wanted else (0, 0)
    found = [*active, *chain.from_iterable((*each.vector_results, *each.graph_results) for each in levels)]
    distinct = len(set(map(id, found)))
    links = list(chain.from_iterable(each.relationships for each in levels))
    again = len(found) - distinct + GRAPH_SHARE * nodes
    names = len(found) + distinct + nodes + 2 * len(links) + edges
    memory, link = records.mean_size(found), records.mean_size(links)
    saved = memory * again + link * GRAPH_SHARE * edges - REFERENCE_BYTES * names
    if form == "full":
        return TokenCounts(sent=sent, full=sent, references=estimate_tokens(size - saved, of_token))
    full = min(FULL_TOKENS, estimate_tokens(size + saved, of_token))
    return TokenCounts(sent=sent, full=full, references=sent)


OWN: Final = ("stream_id", "intention_id", "retrieved_at", "retrieval_latency_ms", "behind_ms", "stage_ms")
"""The fields that each answer has for itself."""

type Record = ConsciousnessNode | ConsciousnessRelationship
type _Replaced = dict[int, Record]
"""By the identity of a record: what stands in its place."""


class SentStream(NamedTuple):
    """The JSON of each field of a stream that was sent, in their order; nothing of the fields `OWN`."""

    fields: Mapping[str, bytes]

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return sum(map(len, self.fields.values()))

    def again(self, stream: ConsciousnessStream) -> bytes:
        """The same JSON with the fields `OWN` of this stream."""
        values = vars(stream)
        return _dump({
            name: values[name] if name in OWN else orjson.Fragment(body) for name, body in self.fields.items()
        })  # fmt: skip


def as_sent(body: bytes) -> SentStream:
    """What was sent, to be sent again."""
    fields = orjson.loads(body)
    return SentStream({name: b"" if name in OWN else _dump(value) for name, value in fields.items()})


class FadingStream:
    """A stream whose records show their energies as of some moment."""

    __slots__ = ("_changed", "_energies", "_records", "_shown", "_states", "stream")

    def __init__(self, stream: ConsciousnessStream) -> None:
        self.stream = stream
        every: list[Record] = [*all_memories(stream), *all_links(stream)]
        self._records = list({id(record): record for record in every}.values())
        self._energies = [record.energy for record in self._records]
        self._states = [record.resolution_state for record in self._records]
        self._changed: list[Instant] = [to_instant(record.valid_at) for record in self._records]
        self._shown = [record.effective_energy for record in self._records]

    def shows(self, decay: Decay) -> bool:
        """Whether the records show exactly these energies."""
        return self._column(decay) == self._shown

    def at(self, decay: Decay) -> ConsciousnessStream:
        """The stream with the energies of this moment; the very same one while none of them differs."""
        column = self._column(decay)
        if column != self._shown:
            self._show(column)
        return self.stream

    def _column(self, decay: Decay) -> list[float | None]:
        column = decay.column(self._energies, self._states, self._changed)
        return column or [None] * len(self._records)

    def _show(self, column: list[float | None]) -> None:
        replaced: _Replaced = {}
        for place, (energy, shown) in enumerate(zip(column, self._shown, strict=True)):
            if energy != shown:
                former = self._records[place]
                replaced[id(former)] = self._records[place] = former.model_copy(
                    update={"effective_energy": energy}
                )
        tiers, levels = self.stream.activation_tiers, self.stream.levels
        self.stream = self.stream.model_copy(
            update={
                "activation_tiers": _put(tiers, tuple(vars(tiers)), replaced),
                "levels": {name: _put(level, LISTS, replaced) for name, level in levels.items()},
            }
        )
        self._shown = column


def _put[Lists: (ActivationTiers, ConsciousnessLevelResults)](
    lists: Lists, names: Sequence[str], replaced: _Replaced
) -> Lists:
    some: dict[str, tuple[Record, ...]] = {}
    for name in names:
        some[name] = tuple(replaced.get(id(each), each) for each in getattr(lists, name))
    return lists.model_copy(update=some)
