"""A graph that an older release wrote is brought to this one's schema when it is opened."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.mind.state import change_state, read_state, state_history
from orchestration.mind.stream_notes import read_stream_note
from schemas.commands import Supersede
from schemas.errors import StoreMisfit
from schemas.memory import Level
from schemas.mind.state import StateChange
from schemas.paging import Paged
from schemas.temporal import END_OF_TIME, Scope
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.cypher.schema import SCHEMA_VERSION
from substrate.graphs import filling
from substrate.graphs.names import graph_name
from substrate.graphs.registry import Graphs, read_stamp
from tests.integration.store import NOW, ask, carried, day, found, history, ids, moment, remember, stored

FULLTEXT = "name, n.description, n.search_text, n.entity_names"
VERSION_1 = (
    "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.id)",
    "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.name_key)",
    "CREATE INDEX FOR (n:PastVersion) ON (n.id)",
    "CREATE INDEX FOR (n:PastVersion) ON (n.name_key)",
    "CREATE INDEX FOR (n:Tag) ON (n.name)",
    "CREATE INDEX FOR ()-[e:LINK]-() ON (e.handle)",
    f"CREATE FULLTEXT INDEX FOR (n:ConsciousnessNode) ON (n.{FULLTEXT})",
    f"CREATE FULLTEXT INDEX FOR (n:PastVersion) ON (n.{FULLTEXT})",
    *(
        f"CREATE VECTOR INDEX FOR (n:{label}) ON (n.{column}) OPTIONS {{dimension: {size}, "
        "similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100}"
        for label in ("Trace", "PastTrace")
        for column, size in (("embedding", 384), ("emotion", 48))
    ),
    "MERGE (m:SubstrateMeta {key: 'stamp'}) ON CREATE SET m.schema_version = 1, "
    "m.embedding_model = 'all-MiniLM-L6-v2', m.dimension = 384, m.created_at = 1",
)
"""How version 1 made a graph."""
MEMORY_1 = (
    "CREATE (n:ConsciousnessNode {id: $id, node_type: 'Memory', name: $id, description: $said, "
    "search_text: $said, name_key: $id, entity_names: $id, energy: 0.5, confidence: 0.5, version: $version, "
    "valid_at: $at, invalid_at: $open, created_at: $at, expired_at: $open, command_id: $id, fingerprint: 7})"
    "-[:HAS_TRACE]->(:Trace {embedding: vecf32($embedding)})"
)
REVISED_1 = (
    "MATCH (n:ConsciousnessNode {id: 'walk'}) CREATE (n)-[:HAD]->(p:PastVersion)-[:HAS_TRACE]->(pt:PastTrace) "
    "SET p = properties(n) SET p.version = 1, p.description = 'Ada walks', p.created_at = $first, "
    "p.expired_at = $latest, p.invalidation_reason = 'discovered_false' SET pt.embedding = vecf32($embedding)"
)
_OF_LINK = (
    "energy: 0.5, confidence: 0.5, energy_transfer_coefficient: 0.5, goal: 'g', mindstate: 'm', "
    "resolution_state: 'resolved', emotion_vector: '{}', valid_at: $first, invalid_at: $open, created_at: $first"
)
LINKED_1 = (
    "MATCH (a:ConsciousnessNode {id: 'walk'}), (b:ConsciousnessNode {id: 'rain'}) "
    f"CREATE (a)-[:LINK {{id: 'walk|NEXT|rain', relation_type: 'NEXT', {_OF_LINK}, expired_at: $open}}]->(b) "
    f"CREATE (a)-[:PAST_LINK {{id: 'walk|WITH|rain', relation_type: 'WITH', {_OF_LINK}, expired_at: $gone}}]->(b)"
)
CLOCK = Query("clock", "MATCH (m:SubstrateMeta) RETURN m.clock")
INDEXES = Query("indexes", "CALL db.indexes() YIELD label, types RETURN label, types")
CONSTRAINTS = Query(
    "constraints", "CALL db.constraints() YIELD type, label, properties RETURN type, label, properties"
)


async def written_by_version_1(deps: Deps, citizen: str) -> str:
    """A graph with two memories, one of them corrected, one link, and one link that was retracted."""
    graph = graph_name(Level.N1, citizen)

    async def run(text: str, **values: Any) -> None:
        await deps.connection.command("GRAPH.QUERY", graph, parameters(values) + text)

    for statement in VERSION_1:
        await run(statement)
    for label, column in (("ConsciousnessNode", "id"), ("Tag", "name")):
        unique = ("UNIQUE", "NODE", label, "PROPERTIES", 1, column)
        await deps.connection.command("GRAPH.CONSTRAINT", "CREATE", graph, *unique)
    for number, (name, said) in enumerate((("walk", "ada runs by the sea"), ("rain", "it rains in the north"))):
        [vector] = await deps.embedder.embed_texts([f"{name}. {said}"])
        when = {"at": day(10 + number), "open": END_OF_TIME, "version": 2 - number}
        await run(MEMORY_1, id=name, said=said, embedding=vector, **when)
    await run(REVISED_1, first=day(9), latest=day(10), embedding=vector)
    await run(LINKED_1, first=day(11), gone=day(40), open=END_OF_TIME)
    return graph


async def shape(deps: Deps, graph: str) -> tuple[list[str], list[str]]:
    """The indexes and the constraints of a graph, whatever order they were made in."""
    indexes = await deps.connection.read(graph, INDEXES, parameters({}))
    constraints = await deps.connection.read(graph, CONSTRAINTS, parameters({}))
    columns = [f"{label} {sorted(types.strip('{}').split('], '))}" for label, types in indexes]
    return sorted(column.replace("]", "") for column in columns), sorted(map(str, constraints))


def anew(deps: Deps) -> Deps:
    """The same store, as a process sees it that has just started."""
    return replace(deps, graphs=Graphs(deps.connection, model=deps.graphs.model, dimension=deps.graphs.dimension))


FORMER_STATE = "MERGE (s:CitizenState {key: 'state'}) SET s += $state RETURN s.energy"
"""How versions 1 and 2 kept a state."""


async def test_the_one_state_that_was_kept_is_the_first_record(deps: Deps, fresh_citizen: str) -> None:
    graph = await written_by_version_1(deps, fresh_citizen)
    state = {"energy": 0.25, "goal": "rest", "updated_at": day(50)}
    await deps.connection.command("GRAPH.QUERY", graph, parameters({"state": state}) + FORMER_STATE)
    kept = await read_state(fresh_citizen, deps, Scope.current(day(60)))
    assert (kept.energy, kept.goal, kept.updated_at, kept.valid_at) == (0.25, "rest", moment(50), moment(50))
    assert await deps.connection.read(graph, CLOCK, parameters({})) == [[day(50)]]
    await change_state(fresh_citizen, StateChange(energy=0.75), deps, day(70))
    assert (await read_state(fresh_citizen, deps, Scope.at(day(60), day(60)))).energy == 0.25
    assert (await read_state(fresh_citizen, deps, Scope.at(day(40), day(80)))).energy == 0.5
    records = (await state_history(fresh_citizen, Paged(), deps)).records
    assert [(record.version, record.energy) for record in records] == [(1, 0.25), (2, 0.25), (3, 0.75)]


async def version(deps: Deps, graph: str) -> int:
    stamp = await read_stamp(deps.graph(graph))
    assert stamp is not None
    return stamp.schema_version


async def test_a_graph_of_version_1_answers_and_is_shaped_like_a_new_one(deps: Deps, fresh_citizen: str) -> None:
    graph = await written_by_version_1(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, "who runs by the sea?")
    assert (ids(found(stream)), stream.degraded) == (["walk", "rain"], ())
    assert [one.description for one in await history(deps, fresh_citizen, "walk")] == [
        "Ada walks",
        "ada runs by the sea",
    ]
    assert await version(deps, graph) == SCHEMA_VERSION
    assert await deps.connection.read(graph, CLOCK, parameters({})) == [[day(40)]]
    await stored(deps, remember(f"{fresh_citizen}.new", "walk"))
    assert await shape(deps, graph) == await shape(deps, graph_name(Level.N1, f"{fresh_citizen}.new"))
    await stored(deps, Supersede(citizen_id=fresh_citizen, id="walk", description="ada rests"), now=NOW)
    memory = await carried(deps, fresh_citizen, "walk")
    assert memory is not None
    assert memory.description == "ada rests"


async def test_a_migration_broken_off_anywhere_is_completed_by_the_next_to_open(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, steps = await written_by_version_1(deps, fresh_citizen), 0
    run = deps.connection._run
    for allowed in count():
        left = allowed

        async def breaking(name: str, words: Any, send: Any = None) -> Any:
            nonlocal left
            if words[0] != "GRAPH.RO_QUERY":
                left -= 1
                if left < 0:
                    raise ConnectionResetError
            return await run(name, words, send)

        monkeypatch.setattr(deps.connection, "_run", breaking)
        try:
            await anew(deps).graphs.for_reading(graph)
            break
        except ConnectionResetError:
            steps += 1
            monkeypatch.setattr(deps.connection, "_run", run)
            is_whole = await filling.are_whole(deps.graph(graph))
            assert await version(deps, graph) < SCHEMA_VERSION or not is_whole
    monkeypatch.setattr(deps.connection, "_run", run)
    assert steps >= 6
    assert await filling.are_whole(deps.graph(graph))
    assert await version(deps, graph) == SCHEMA_VERSION
    assert await deps.connection.read(graph, CLOCK, parameters({})) == [[day(40)]]


async def test_a_graph_of_a_newer_release_is_refused_and_left_as_it_is(deps: Deps, fresh_citizen: str) -> None:
    graph = graph_name(Level.N1, fresh_citizen)
    await stored(deps, remember(fresh_citizen, "walk"))
    newer = SCHEMA_VERSION + 1
    await deps.connection.command("GRAPH.QUERY", graph, f"MATCH (m:SubstrateMeta) SET m.schema_version = {newer}")
    with pytest.raises(StoreMisfit, match=f"schema version {newer}, this Substrate knows") as refused:
        await ask(anew(deps), fresh_citizen, "walk")
    assert "newer" in refused.value.remedy
    assert await version(deps, graph) == newer


async def test_a_long_text_is_searched_in_passages_in_a_graph_of_an_older_release(
    deps: Deps, fresh_citizen: str
) -> None:
    graph = await written_by_version_1(deps, fresh_citizen)
    pages = "\n\n".join(
        f"Page {number} is about the {'ebb' if number == 7 else 'tide'}. {'So it is. ' * 40}"
        for number in range(20)
    )
    await stored(anew(deps), remember(fresh_citizen, "book", description=pages), now=day(70))
    stream = await ask(deps, fresh_citizen, "Which page is about the ebb?", now=day(71))
    [book] = [memory for memory in found(stream) if memory.node_id == "book"]
    assert "about the ebb" in book.description
    labels = {row[0] for row in await deps.connection.read(graph, INDEXES, parameters({}))}
    assert "Passage" in labels


FORMER_INDEXES = (
    ("StreamNote", "id"),
    ("StreamNote", "at"),
    ("ContextNote", "memory_id"),
    ("ContextNote", "command_id"),
)
"""What version 8 added."""


async def test_a_filled_graph_of_version_7_notes_streams_and_is_otherwise_as_it_was(
    deps: Deps, fresh_citizen: str
) -> None:
    graph = graph_name(Level.N1, fresh_citizen)
    await stored(
        deps, *(remember(fresh_citizen, f"m{number}", description=f"day {number}") for number in range(9))
    )
    await stored(deps, Supersede(citizen_id=fresh_citizen, id="m3", description="the third day"), now=NOW + 100)
    await change_state(fresh_citizen, StateChange(energy=0.75), deps, NOW + 200)
    new, said = await shape(deps, graph), await history(deps, fresh_citizen, "m3")
    at = await deps.connection.read(graph, CLOCK, parameters({}))
    for label, column in FORMER_INDEXES:
        await deps.connection.command("GRAPH.QUERY", graph, f"DROP INDEX ON :{label}({column})")
    await deps.connection.command("GRAPH.QUERY", graph, "MATCH (m:SubstrateMeta) SET m.schema_version = 7")
    assert await shape(deps, graph) != new
    reopened = anew(deps)
    stream = await ask(reopened, fresh_citizen, "day 5")
    assert (await version(deps, graph), await shape(deps, graph)) == (SCHEMA_VERSION, new)
    assert await history(reopened, fresh_citizen, "m3") == said
    assert await deps.connection.read(graph, CLOCK, parameters({})) == at
    assert (await read_state(fresh_citizen, reopened, Scope.current(NOW + 300))).energy == 0.75
    note = await read_stream_note(stream.stream_id, fresh_citizen, reopened)
    assert note is not None
    assert {shown.id for shown in note.shown()} <= set(ids(found(stream)))
