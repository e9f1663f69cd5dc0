"""A stream as it is sent: its form, its sections, and what it costs (`form`, `parts`). Pure.

A null is left out, and of a memory, a link, a node or an edge each optional field that has its default.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final, NamedTuple

import orjson
from pydantic import BaseModel

from orchestration.assembly.budget import Budget
from schemas.base import Sparse
from schemas.intention import Form, Part
from schemas.stream import ConsciousnessStream, TokenCounts
from schemas.stream_forms import PART_FIELDS, referenced

BYTES_PER_TOKEN: Final = 3.3
"""Of a stream as JSON. Of real ones it is 3.4 to 3.5: the estimate is a little high."""
GRAPH_SHARE: Final = 2 / 3
"""The JSON of a node or an edge of the graph, as a share of that of its memory or link."""
REFERENCE_BYTES: Final = 30
"""A reference with its quotes and comma, about."""
SAMPLE: Final = 5
"""So many memories and links are measured to estimate the size of the other form."""
FRAME_TOKENS: Final = 320
"""What a stream takes without its memories, links and sections, about."""
COUNTS_TOKENS: Final = 30
"""What the counts themselves take, about."""
PATHS: Final = "suggested_paths"
_LEAST_FIRST: Final = (
    "timings",
    "stage_ms",
    "model_calls",
    "learned",
    "energy_shares",
    PATHS,
    "metadata_validation",
    "state",
    "offers",
    "rules",
    "consciousness_summary",
    "resolution_patterns",
    "temporal_dissonances",
    "traversal_graph",
    "levels",
    "links",
    "notes",
    "entities",
)
"""What is left out where it does not fit, the least important first."""
_WITH_RECORDS: Final = frozenset(("levels", "activation_tiers", "traversal_graph", "memories", "links"))
_SECTIONED: Final = frozenset(("memories", "links", *chain.from_iterable(PART_FIELDS.values())))

type Row = dict[str, Any]
"""The fields of a record that are sent."""


def estimate_tokens(size: float) -> int:
    """The tokens of so many bytes of JSON, as an estimate."""
    return round(size / BYTES_PER_TOKEN)


def stream_json(
    stream: ConsciousnessStream,
    form: Form,
    parts: Collection[Part] | None = None,
    budget: Budget | None = None,
) -> bytes:
    """The stream in this form, with what it costs. `parts`: the sections to send; None for the usual ones.

    Within a `budget` sections are left out until it holds, the least important first; never the tiers.
    """
    wanted = sections_of(form, parts)
    rows = _Rows()
    fields = _sent_fields(stream, form, wanted, rows)
    body = _dump(fields)
    if budget is None:
        counts = _estimate(stream, form, wanted, len(body), rows=rows)
        return body[:-1] + b',"token_counts":' + _dump(counts) + b"}"
    most = budget.limit - COUNTS_TOKENS
    # In the compact form the text is what is bounded, and all else is sent if it finds room beside it.
    most = most if form != "compact" else max(most, FRAME_TOKENS + budget.count(stream.text or ""))
    for name in chain((None,), _LEAST_FIRST):
        if name is not None and not _leave_out(fields, name):
            continue
        body = _dump(fields)
        if (sent := budget.count(body.decode())) <= most:
            break
    other = _estimate(stream, form, wanted & fields.keys(), len(body), rows=rows)
    own: dict[str, int] = {} if form == "compact" else {form: sent + COUNTS_TOKENS}
    counts = other.model_copy(update={"sent": sent + COUNTS_TOKENS, "counter": budget.counter, **own})
    return body[:-1] + b',"token_counts":' + _dump(counts) + b"}"


def others_json(stream: ConsciousnessStream, sections: Collection[str]) -> str:
    """All sections without memories and links."""
    return _dump(
        {name: getattr(stream, name) for name in set(sections) - _WITH_RECORDS if name in vars(stream)}
    ).decode()


def record_json(record: Sparse) -> str:
    """A record as it is sent."""
    return _dump(sparse_row(record)).decode()


def sections_of(form: Form, parts: Collection[Part] | None) -> set[str]:
    """The fields of the sections that are sent. The text of the compact form stands for all that are not named."""
    named: Iterable[Part] = parts if parts is not None else () if form == "compact" else PART_FIELDS
    wanted = {name for part in named for name in PART_FIELDS[part]}
    return wanted | {"memories", "links"} if wanted & _WITH_RECORDS else wanted


def _sent_fields(stream: ConsciousnessStream, form: Form, wanted: Collection[str], rows: _Rows) -> dict[str, Any]:
    value = stream if form == "full" else referenced(stream, wanted)
    sent = {name: each for name, each in vars(value).items() if name in wanted or name not in _SECTIONED}
    for name in _WITH_RECORDS & sent.keys():
        sent[name] = rows.of_section(sent[name])
    return {**{name: each for name, each in sent.items() if each is not None}, "form": form}


class _Rows:
    """The fields of records, each read once."""

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}  # by the identity of the record

    def of_section(self, section: Any) -> Any:
        """The section with the fields of its records in place of them."""
        if isinstance(section, dict):
            return {name: self.of_section(each) for name, each in section.items()}
        if isinstance(section, Sparse):
            return self.row(section)
        if isinstance(section, BaseModel):
            return {name: self.of_list(each) for name, each in vars(section).items()}
        return section

    def of_list(self, value: Any) -> Any:
        """The fields of the records of a list; any other value unchanged."""
        if not isinstance(value, tuple) or not value or not isinstance(value[0], Sparse):
            return value
        return list(map(self.row, value))

    def row(self, record: Sparse) -> Row:
        """The fields of a record."""
        row = self._rows.get(id(record))
        if row is None:
            row = self._rows[id(record)] = sparse_row(record)
        return row

    def mean_size(self, records: Sequence[Sparse]) -> float:
        """The bytes of a record, by a sample from the whole list."""
        sample = records[:: max(1, len(records) // SAMPLE)]
        return len(_dump(list(map(self.row, sample)))) / len(sample) if sample else 0.0


def sparse_row(record: Sparse) -> Row:
    """The fields of a record without those that have their default."""
    blank, maps = _blank(type(record))
    row = {name: field for name, field in vars(record).items() if field is not blank[name]}
    for name in maps:
        if name in row and not row[name]:
            del row[name]
    return row


class _Blank(NamedTuple):
    """The default of each field, and the fields whose default is an empty map: each record has one of its own."""

    defaults: Mapping[str, Any]
    maps: tuple[str, ...]


_NEEDED: Final = object()
"""Stands for the default of a field without one."""


@cache
def _blank(kind: type[Sparse]) -> _Blank:
    defaults = kind.defaults()
    blank = {name: _NEEDED if field.is_required() else defaults[name] for name, field in kind.model_fields.items()}
    return _Blank(blank, tuple(name for name, default in blank.items() if default == {}))


def _dump(value: Any) -> bytes:
    return orjson.dumps(value, default=_without_nulls, option=orjson.OPT_UTC_Z)


def _without_nulls(value: BaseModel) -> Row:
    return {name: field for name, field in vars(value).items() if field is not None}


def _leave_out(fields: dict[str, Any], name: str) -> bool:
    """Take a section out, or the paths of the graph; say whether it was there."""
    if name != PATHS:
        return fields.pop(name, None) is not None
    graph = fields.get("traversal_graph")
    if graph is None:
        return False
    graph = dict(vars(graph)) if isinstance(graph, BaseModel) else dict(graph)
    fields["traversal_graph"] = {**graph, PATHS: ()}
    return bool(graph[PATHS])


# --- what it costs -------------------------------------------------------------------------------------------


def _estimate(
    stream: ConsciousnessStream, form: Form, wanted: Collection[str], size: int, *, rows: _Rows
) -> TokenCounts:
    """What the stream costs as it is sent, and in the other form that carries its memories."""
    sent = estimate_tokens(size)
    if form == "compact":
        return TokenCounts(sent=sent)
    saved = _saved(stream, wanted, rows)
    if form == "full":
        return TokenCounts(sent=sent, full=sent, references=estimate_tokens(size - saved))
    return TokenCounts(sent=sent, full=estimate_tokens(size + saved), references=sent)


def _saved(stream: ConsciousnessStream, wanted: Collection[str], rows: _Rows) -> float:
    """The bytes by which references make a stream of these sections smaller, about."""
    levels = stream.levels.values() if "levels" in wanted else ()
    active = stream.activation_tiers.ordered() if "activation_tiers" in wanted else ()
    graph = stream.traversal_graph
    nodes, edges = (len(graph.nodes), len(graph.edges)) if "traversal_graph" in wanted else (0, 0)
    found = [*active, *chain.from_iterable((*each.vector_results, *each.graph_results) for each in levels)]
    distinct = len({id(memory) for memory in found})
    links = list(chain.from_iterable(each.relationships for each in levels))
    again = len(found) - distinct + GRAPH_SHARE * nodes
    names = len(found) + distinct + nodes + 2 * len(links) + edges
    memory, link = rows.mean_size(found), rows.mean_size(links)
    return memory * again + link * GRAPH_SHARE * edges - REFERENCE_BYTES * names
