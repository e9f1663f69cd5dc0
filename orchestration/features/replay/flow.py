"""Lists the noted streams of a citizen, and asks one again, as of then and known then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from orchestration.dependencies import Deps
from orchestration.features.replay.comparison import compare, describe, find_causes
from orchestration.features.replay.values import (
    Cause,
    Replay,
    ShownMemory,
    ShownTiers,
    StreamPage,
    StreamRecord,
    StreamSummary,
)
from orchestration.mind.stream_note import ShownRecord, StreamNote, citizen_of, shown_by
from orchestration.mind.stream_notes import name_weights, read_stream_note, read_stream_notes
from orchestration.ranking.learned import NOTHING_LEARNED
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.base import CitizenId, Identifier
from schemas.errors import NotFound
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.memory import GraphKey, Level, graph_fields
from schemas.operation import Says
from schemas.paging import Paged, decode_cursor, first_page
from schemas.stream import ConsciousnessStream
from schemas.temporal import END_OF_TIME, Instant, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.graphs.names import graph_name
from substrate.store import stream_notes as store
from substrate.store.stream_notes import LAST_ID, RecordNow

StreamId = Annotated[Identifier, Says("The `stream_id` of an answer.")]
type MayRead = Callable[[GraphKey], bool]
REMEDY = (
    "Streams are noted for as long as SUBSTRATE_STREAM_NOTES_DAYS says, and erased with their citizen; "
    "`GET /v1/citizens/ID/streams` lists them."
)


def read_everything(_key: GraphKey) -> bool:
    """For a caller who may read every graph."""
    return True


async def list_streams(citizen_id: CitizenId, page: Paged, deps: Deps) -> StreamPage:
    """The streams of a citizen, the newest first, a page at a time.

    Raises NotFound for a citizen without a graph, InvalidRequest for an invalid cursor.
    """
    until, before = (END_OF_TIME, LAST_ID) if page.cursor is None else decode_cursor(page.cursor, int, str)
    if not await deps.graphs.for_reading(graph_name(Level.N1, citizen_id)):
        raise NotFound(f"nothing was remembered for {citizen_id} yet")
    notes = await read_stream_notes(citizen_id, page.limit + 1, deps, until=until, before=before)
    shown, after = first_page(notes, page.limit, lambda note: (note.at, note.stream_id))
    streams = tuple(StreamSummary(**_summary(note)) for note in shown)
    return StreamPage(citizen_id=citizen_id, streams=streams, next=after)


async def read_stream(stream_id: StreamId, deps: Deps, may_read: MayRead = read_everything) -> StreamRecord:
    """What a stream was asked, when, what it saw on both axes of time, and the memories that it showed.

    Raises NotFound.
    """
    note = await _note(stream_id, deps)
    scope = note.found.scope
    tiers: list[tuple[ShownMemory, ...]] = []
    for tier in note.tiers:
        may = [each for each in tier if may_read(each.graph)]
        tiers.append(
            tuple(ShownMemory(**graph_fields(each.graph), id=each.id, version=each.version) for each in may)
        )
    focus, peripheral, background = tiers
    return StreamRecord(
        **_summary(note),
        citizen_id=_citizen(stream_id),
        goal=note.goal,
        request=dict(note.request),
        valid_from=_bound(scope.valid.start),
        valid_to=_bound(scope.valid.end),
        known_from=_bound(scope.known.start),
        known_to=_bound(scope.known.end),
        tiers=ShownTiers(focus=focus, peripheral=peripheral, background=background),
        hidden=_count_hidden(note.shown(), may_read),
        weights=note.weights,
        model=note.model,
        degraded=note.degraded,
    )


async def replay(stream_id: StreamId, deps: Deps, now: Instant, may_read: MayRead = read_everything) -> Replay:
    """Ask the same again, as of then and known then: what has become of each memory, and why another one is found.

    It is no new stream of the citizen, and changes nothing.

    Raises NotFound for a stream that is not noted, else as the stream did.
    """
    note, citizen_id = await _note(stream_id, deps), _citizen(stream_id)
    again, records = await asyncio.gather(
        ask_again(note, citizen_id, deps), _read_records(note.shown(), citizen_id, deps)
    )
    then = note.shown()
    shown_now = tuple(shown_by(again))
    new = [each for each in shown_now if each not in records]
    records |= await _read_records(new, citizen_id, deps)
    standing = [each for each in then if each in records]
    difference = compare(standing, shown_now, freed=len(then) - len(standing))
    known = await _known_causes(note, again, records, deps)
    causes = find_causes(known, difference)
    return Replay(
        stream_id=stream_id,
        citizen_id=citizen_id,
        way=note.way,
        asked=note.asked,
        asked_at=to_datetime(note.at),
        same=difference.is_none,
        order_changed=difference.order_changed,
        causes=causes,
        memories=tuple(describe(then, shown_now, records, causes, moment=now, may_read=may_read)),
        hidden=_count_hidden({*then, *shown_now}, may_read),
    )


async def ask_again(note: StreamNote, citizen_id: str, deps: Deps) -> ConsciousnessStream:
    """The stream as it is when the same is asked again. Where the model of vectors is another one, its searches
    find anew; else they begin at what they found then. Where something was erased since, what is left keeps its
    order, unless the weights are other ones. Raises as the whole retrieval.
    """
    if note.model == deps.embedder.model:
        hits = note.hits()
        standing = await _read_records(hits.values(), citizen_id, deps)
        lost = frozenset(hit for hit, shown in hits.items() if shown not in standing)
        recall = replace(note.found, lost=lost)
        if await _erased_since(note, citizen_id, deps) and await _weights_now(note, deps) == note.weights:
            recall = replace(recall, order=note.shown())
    else:
        recall = replace(note.found, hits={})
    request = {**note.request, "citizen_id": citizen_id}
    if note.way == "wake":
        state = StateBasedRetrieval.model_validate(request)
        return await retrieve_consciousness_context_from_state(state, deps, note.at, recall=recall)
    intention = RetrievalIntention.model_validate(request)
    return await retrieve_consciousness_context(intention, deps, note.at, recall=recall)


async def _known_causes(
    note: StreamNote, again: ConsciousnessStream, records: dict[ShownRecord, RecordNow], deps: Deps
) -> dict[Cause, bool]:
    """What may make a difference, and whether it is so here."""
    citizen_id = _citizen(note.stream_id)
    lost = any(each not in records for each in note.shown())
    erased = lost or await _erased_since(note, citizen_id, deps)
    missing = [part.query for part in again.degraded if part.query != "fields"]
    return {
        "weights": await _weights_now(note, deps) != note.weights,
        "model": note.model != deps.embedder.model,
        "erased": erased,
        "degraded": bool(note.degraded or missing),
        "reranker": note.request.get("rerank") in ("llm", "custom"),
        "written_meanwhile": any(record.created_at > note.at for record in records.values()),
        "imported": any(record.imported for record in records.values()),
    }


async def _weights_now(note: StreamNote, deps: Deps) -> str:
    """The name of what would rank the stream now, with the feedback that was known then."""
    if note.way == "wake":
        return name_weights(deps, NOTHING_LEARNED)
    learned = await deps.features.read("learned", _citizen(note.stream_id), note.found.scope, deps)
    return name_weights(deps, learned or NOTHING_LEARNED)


async def _erased_since(note: StreamNote, citizen_id: str, deps: Deps) -> bool:
    """Whether anything was erased from one of the graphs after the stream was asked for."""
    graphs = [deps.graph(graph_name(key, citizen_id)) for key in note.graphs()]
    times = await asyncio.gather(*map(store.read_erased_at, graphs))
    return any(at >= note.at for at in times)


async def _read_records(shown: Iterable[ShownRecord], citizen_id: str, deps: Deps) -> dict[ShownRecord, RecordNow]:
    """The records of these memories that still exist, as they are now."""
    by_graph: dict[GraphKey, list[ShownRecord]] = {}
    for each in shown:
        by_graph.setdefault(each.graph, []).append(each)
    records: dict[ShownRecord, RecordNow] = {}
    for key, wanted in by_graph.items():
        try:
            found = await store.read_records_now(
                deps.graph(graph_name(key, citizen_id)), [(each.id, each.version) for each in wanted]
            )
        except GraphMissing:
            continue
        for record in found:
            records[ShownRecord(key, record.id, record.version)] = record
    return records


async def _note(stream_id: str, deps: Deps) -> StreamNote:
    note = await read_stream_note(stream_id, _citizen(stream_id), deps)
    if note is None:
        raise NotFound(f"no stream {stream_id} is noted", remedy=REMEDY)
    return note


def _citizen(stream_id: str) -> str:
    citizen_id = citizen_of(stream_id)
    if citizen_id is None:
        raise NotFound(f"no stream {stream_id} is noted", remedy=REMEDY)
    return citizen_id


def _summary(note: StreamNote) -> dict[str, Any]:
    return {
        "stream_id": note.stream_id,
        "asked_at": to_datetime(note.at),
        "way": note.way,
        "asked": note.asked,
        "levels": note.levels,
        "shown": len(note.shown()),
    }


def _count_hidden(shown: Iterable[ShownRecord], may_read: MayRead) -> int:
    return sum(not may_read(each.graph) for each in shown)


def _bound(instant: Instant) -> datetime | None:
    """The end of a period; None for one that is open."""
    return None if abs(instant) >= END_OF_TIME else to_datetime(instant)
