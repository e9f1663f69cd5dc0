"""Lists what is contested on a shared level, and says how far the citizens agree on a memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from orchestration.dependencies import Deps
from orchestration.features.sharing import queries as sharing
from orchestration.features.sharing.copies import origin_of
from orchestration.features.sharing.queries import ContestedRow
from orchestration.features.sharing.values import Agreement, Contested, ContestedPage, ContestedQuery
from orchestration.graph_queries.existing_graphs import View
from orchestration.metadata_enrichment import Contests
from orchestration.writing.records import search_properties
from schemas.errors import Fault, InvalidRequest, NotFound, StoreTimeout
from schemas.memory import GraphKey, Level, graph_fields
from schemas.paging import decode_cursor, encode_cursor
from schemas.temporal import Instant, Scope
from substrate.connection.together import together
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader, records
from substrate.store.rows import record


async def list_contested(query: ContestedQuery, deps: Deps, now: Instant) -> ContestedPage:
    """The shared memories that somebody contests now, each with who does and why, a page at a time.

    Raises InvalidRequest for a wrong cursor.
    """
    [after] = (-1,) if query.cursor is None else decode_cursor(query.cursor, int)
    key = query.graph_key
    graph = deps.graph(graph_name(key, None))
    if not await deps.graphs.for_reading(graph.name):
        return ContestedPage(memories=())
    found: list[Contested] = []
    last = after
    async for rows in sharing.walk_contested(graph, Scope.current(now), after):
        for place, shown in await _shown(rows, graph, key, now):
            if len(found) == query.limit:
                return ContestedPage(memories=tuple(found), next=encode_cursor(last))
            is_by = query.by is None or any(contest.by == query.by for contest in shown.contested)
            if is_by and query.author in (None, shown.author):
                found.append(shown)
            last = place
    return ContestedPage(memories=tuple(found))


async def _shown(
    rows: list[ContestedRow], graph: Graph, key: GraphKey, now: Instant
) -> list[tuple[int, Contested]]:
    if not rows:
        return []
    contests = await sharing.read_contests(graph, [row.id for row in rows], Scope.current(now))
    return [
        (row.place, Contested(**graph_fields(key), id=row.id, name=row.name, author=row.author, contested=held))
        for row in rows
        if (held := contests.get(row.id))
    ]


def agreement(holders: Collection[str], contesters: Collection[str]) -> float | None:
    """The share of those who hold a memory among all who spoke of it, in [0, 1]; None where nobody did.

    |H − C| / |H ∪ C|, with H who holds it and C who contests it: each citizen counts once, and one that does both
    has changed its mind.
    """
    spoke = {*holders, *contesters}
    return len({*holders} - {*contesters}) / len(spoke) if spoke else None


async def read_agreement(key: GraphKey, memory_id: str, deps: Deps, now: Instant) -> Agreement:
    """How far the citizens agree on a shared memory now.

    Raises InvalidRequest for one of N1, NotFound for an unknown one or one that does not hold now.
    """
    if key == Level.N1:
        raise InvalidRequest("level: agreement is about what is shared: N2 or N3")
    graph, scope = deps.graph(graph_name(key, None)), Scope.current(now)
    found = (
        await records.read_memory(graph, memory_id, scope) if await deps.graphs.for_reading(graph.name) else None
    )
    if found is None or found.row is None:
        raise NotFound(f"there is no memory {memory_id} in {key} now")
    memory = record(found.row)
    key_of_words = search_properties(memory.content, None)["text_key"]  # short texts have none
    rows = await reader.find_by_text(graph, [key_of_words], now) if key_of_words else []
    same = [memory, *(other for other in map(record, rows) if other.id != memory.id)]
    contests = await sharing.read_contests(graph, [each.id for each in same], scope)
    said = {contest.by for held in contests.values() for contest in held}
    contesters = {by for by in said if by is not None}
    holders = {str(author) for each in same if (author := each.content.get("author"))}
    sharers = {str(each.content.get("author")) for each in same if origin_of(each) is not None}
    return Agreement(
        **graph_fields(key),
        id=memory_id,
        agreement=agreement(holders, contesters),
        held_by=tuple(sorted(holders - contesters)),
        contested_by=tuple(sorted(contesters)),
        shared_by=tuple(sorted(sharers)),
    )


async def contests_shown(ids: Mapping[GraphKey, Sequence[str]], view: View) -> Contests:
    """Who contests these shared memories in the scope, by graph and id; nobody where a graph answers too late."""
    targets = [view.targets[key] for key in ids if key != Level.N1]
    try:
        found = await together(
            *(sharing.read_contests(each.graph, ids[each.key], view.scope, past=each.past) for each in targets)
        )
    except (StoreTimeout, Fault):
        return {}
    return {(each.key, name): held for each, by in zip(targets, found, strict=True) for name, held in by.items()}
