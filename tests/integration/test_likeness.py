"""Likeness by either adapter: the same answers, and vector sets that are missing, wrong or left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.graph_queries import six_queries
from orchestration.resonance.ask import resonate
from orchestration.transfer.exporter import export
from orchestration.transfer.importer import import_lines
from orchestration.upkeep.sweep import sweep
from orchestration.writing.erasure import erase
from schemas.commands import Correct, EraseCitizen, EraseMemory, Retract, Supersede, Undo
from schemas.memory import Level
from schemas.upkeep.findings import SweepRequest
from schemas.wave_signal import Resonate
from substrate.cypher.schema import SCHEMA_VERSION
from substrate.graphs import filling
from substrate.graphs.graph import Graph, Query, Search
from substrate.graphs.names import GraphOf, graph_name
from substrate.graphs.registry import Adapter, Graphs, read_stamp
from substrate.likeness import port
from substrate.likeness.elements import WHOLE, Role, Vector, join_name, pack, set_name, set_names, split_name
from substrate.likeness.vector_sets import VectorSets
from substrate.store import transactions
from tests.integration.store import ask, day, ids, moment, remember, stored

TEXTS = ("the old harbour", "bread from the oven", "a letter from Lisbon", "snow on the ridge", "the harbour bell")
THEN: dict[str, Any] = {"temporal_mode": "point_in_time", "as_of_time": moment(3)}

OWNED = Query("owned", "MATCH (n)-[:HAS_TRACE]->(t) WHERE t.digest IS NOT NULL RETURN DISTINCT n.id, t.digest")
INDEXES = Query("indexes", "CALL db.indexes() YIELD label, types RETURN label, types")


@pytest.fixture(autouse=True)
def by_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few memories there are, likeness goes through the adapter."""
    monkeypatch.setattr(six_queries, "EXACT_BELOW", -1)


def graph_of(deps: Deps, citizen: str) -> Graph:
    return deps.graph(graph_name(Level.N1, citizen))


def key_of(citizen: str) -> str:
    return set_name(graph_name(Level.N1, citizen), Role.MEMORIES, 0)


def adapted(deps: Deps, likeness: Adapter) -> Deps:
    graphs = Graphs(deps.connection, model=deps.graphs.model, dimension=deps.graphs.dimension, likeness=likeness)
    return replace(deps, graphs=graphs)


async def told(deps: Deps, citizen: str) -> None:
    memories = [remember(citizen, f"m{place}", name=text, valid_at=moment(1)) for place, text in enumerate(TEXTS)]
    await stored(deps, *memories, now=day(1))


async def nearest(deps: Deps, citizen: str, question: str, **when: Any) -> list[str]:
    stream = await ask(deps, citizen, question, **when)
    assert not stream.degraded
    return ids(stream.levels["n1_personal"].vector_results)


async def names_in(deps: Deps, citizen: str) -> Sequence[str]:
    """The owners of the vectors in the set of a citizen, one for each vector."""
    found = await deps.connection.command("VRANGE", key_of(citizen), "-", "+")
    return [split_name(str(name))[0] for name in found if name != WHOLE]


async def marked(deps: Deps, citizen: str) -> set[tuple[str, str]]:
    """Owner and key of what a question about now finds where the past crowds the set."""
    embedding = await deps.embedder.embed_query("anything")
    search = Search(embedding, 50, open_only=True, crowded=True)
    found = await port.nearest(deps.connection, graph_of(deps, citizen).name, search)
    return {(near.owner, near.key) for near in found}


async def test_a_graph_with_whole_sets_is_opened_in_one_round_trip(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deps.connection, "missing", deps.connection.missing)  # other `Graphs` take it over
    await told(deps, fresh_citizen)
    sent: list[str] = []
    name, own = graph_of(deps, fresh_citizen).name, adapted(deps, "sets").graphs
    run = deps.connection._run

    async def counted(command: str, *others: Any) -> Any:
        sent.append(command)
        return await run(command, *others)

    monkeypatch.setattr(deps.connection, "_run", counted)
    for times in (1, 2):
        assert await own.open(name) is not None
        assert len(sent) == times


async def test_both_adapters_answer_alike_about_now_and_then(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deps.connection, "missing", deps.connection.missing)  # other `Graphs` take it over
    answers = []
    for likeness in ("sets", "index"):
        own, citizen = adapted(deps, likeness), f"{fresh_citizen}{likeness}"
        await told(own, citizen)
        await stored(own, Correct(citizen_id=citizen, id="m0", name="a garden in May"), now=day(5))
        await stored(own, Retract(citizen_id=citizen, id="m3"), now=day(6))
        stamp = await read_stamp(graph_of(own, citizen))
        assert stamp is not None
        assert stamp.likeness == likeness
        answers.append(
            [
                await nearest(own, citizen, question, **when)
                for question in ("the old harbour", "a garden", "snow")
                for when in ({}, THEN)
            ]
        )
    assert answers[0] == answers[1]
    assert answers[0][0][0] == "m4"
    assert answers[0][1][0] == "m0"


@pytest.mark.parametrize("fault", ["missing", "half", "begun again", "another dimension", "another type"])
async def test_a_set_that_cannot_be_used_is_filled_again_when_the_graph_is_opened(
    deps: Deps, fresh_citizen: str, fault: str
) -> None:
    await told(deps, fresh_citizen)
    before = await nearest(deps, fresh_citizen, "harbour")
    key, command = key_of(fresh_citizen), deps.connection.command
    if fault == "half":
        [*_, name] = await command("VRANGE", key, "-", "+")
        await command("VREM", key, name)
    else:
        await command("DEL", key)
    if fault == "begun again":
        embedding = await deps.embedder.embed_query("a stray thought")
        await port.add(deps.connection, graph_of(deps, fresh_citizen).name, [Vector("x", "y", embedding)])
    if fault == "another dimension":
        await VectorSets(deps.connection, graph_of(deps, fresh_citizen).name, 0).add(
            [Vector("x", "y", [1.0, 0.0])], Role.MEMORIES
        )
    if fault == "another type":
        await command("SET", key, "not vectors")
    if fault == "half":
        deps.graphs.forget()  # else it is seen when the graph is looked at next, once a second
    else:
        deps.graphs._open_until.clear()  # as a second later
    assert await nearest(deps, fresh_citizen, "harbour") == before
    owners = {*await names_in(deps, fresh_citizen)} - {"x"}
    assert sorted(owners) == [f"m{place}" for place in range(len(TEXTS))]
    assert not deps.connection.vectors.of(graph_of(deps, fresh_citizen).name).partial


@pytest.mark.parametrize("wrong", ["another dimension", "another type", "other precision", "other neighbours"])
async def test_a_write_into_a_set_that_cannot_be_used_succeeds(deps: Deps, fresh_citizen: str, wrong: str) -> None:
    await told(deps, fresh_citizen)
    key, command = key_of(fresh_citizen), deps.connection.command
    await command("DEL", key)
    if wrong == "another type":
        await command("SET", key, "not vectors")
    elif wrong.startswith("other"):
        embedding = pack(await deps.embedder.embed_query("a stray thought"))
        how = ("Q8",) if wrong == "other precision" else ("NOQUANT", "M", 4)
        await command("VADD", key, "FP32", embedding, "x", *how)
    else:
        sets = VectorSets(deps.connection, graph_of(deps, fresh_citizen).name, 0)
        await sets.add([Vector("x", "y", [1.0, 0.0])], Role.MEMORIES)
    await stored(deps, remember(fresh_citizen, "new", name="a lighthouse", valid_at=moment(1)), now=day(2))
    assert (await nearest(deps, fresh_citizen, "a lighthouse"))[0] == "new"
    assert (await nearest(deps, fresh_citizen, TEXTS[1]))[0] == "m1"


async def test_what_is_restored_while_its_set_is_filled_is_of_the_present(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await told(deps, fresh_citizen)
    await stored(deps, Retract(citizen_id=fresh_citizen, id="m1"), now=day(2))
    graph, add_missing = graph_of(deps, fresh_citizen), filling._add_missing
    await deps.connection.command("DEL", key_of(fresh_citizen))

    async def undo_first(graph: Graph, sets: VectorSets, part: Any, vectors: Sequence[Vector]) -> int:
        if not part.is_open:
            monkeypatch.setattr(filling, "_add_missing", add_missing)
            await stored(deps, Undo(citizen_id=fresh_citizen, id="m1"), now=day(3))
        return await add_missing(graph, sets, part, vectors)

    monkeypatch.setattr(filling, "_add_missing", undo_first)
    await filling.fill(graph, deps.graphs.dimension)
    assert "m1" in {owner for owner, _ in await marked(deps, fresh_citizen)}


async def test_a_text_that_holds_again_is_of_the_present_again(deps: Deps, fresh_citizen: str) -> None:
    await told(deps, fresh_citizen)

    first = await marked(deps, fresh_citizen)
    await stored(deps, Correct(citizen_id=fresh_citizen, id="m0", name="a garden in May"), now=day(5))
    second = await marked(deps, fresh_citizen)
    assert len(first) == len(second) == len(TEXTS)
    assert len(first - second) == len(second - first) == 1
    await stored(deps, Correct(citizen_id=fresh_citizen, id="m0", name=TEXTS[0]), now=day(6))
    assert await marked(deps, fresh_citizen) == first
    await stored(deps, Retract(citizen_id=fresh_citizen, id="m2"), now=day(7))
    assert {owner for owner, _ in first - await marked(deps, fresh_citizen)} == {"m2"}
    await stored(deps, Undo(citizen_id=fresh_citizen, id="m2"), now=day(8))
    assert await marked(deps, fresh_citizen) == first


@pytest.mark.parametrize("when", ["before it looks", "after it looked"])
@pytest.mark.parametrize("by", ["correct", "undo"])
async def test_a_writer_who_restores_a_text_while_another_closes_it_leaves_it_in_the_present(
    deps: Deps, fresh_citizen: str, when: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await told(deps, fresh_citizen)
    first = await marked(deps, fresh_citizen)
    place, name = (transactions, "_present") if when == "before it looks" else (port, "unmark")
    original, calls = getattr(place, name), count()
    whose: dict[str, Any] = {"citizen_id": fresh_citizen, "id": "m0"}
    restoring = Correct(**whose, name=TEXTS[0]) if by == "correct" else Undo(**whose)

    async def meanwhile(*given: Any) -> Any:
        # Who closes looks before its statement, which is the first time, and after it.
        if next(calls) == (1 if place is transactions else 0):
            await stored(deps, restoring, now=day(6))
        return await original(*given)

    monkeypatch.setattr(place, name, meanwhile)
    await stored(deps, Correct(**whose, name="a garden in May"), now=day(5))
    monkeypatch.undo()
    monkeypatch.setattr(six_queries, "EXACT_BELOW", -1)
    assert first <= await marked(deps, fresh_citizen)
    assert (await nearest(deps, fresh_citizen, TEXTS[0]))[0] == "m0"


async def vectors_in(deps: Deps, citizen: str) -> set[str]:
    found = await deps.connection.command("VRANGE", key_of(citizen), "-", "+")
    return {str(name) for name in found}


async def vectors_of_records(deps: Deps, citizen: str) -> set[str]:
    rows = await graph_of(deps, citizen).read(OWNED)
    return {WHOLE} | {join_name(str(row[0]), str(row[1])) for row in rows}


async def test_a_set_has_the_vectors_of_all_records_whatever_is_done_to_them(
    deps: Deps, fresh_citizen: str
) -> None:
    await told(deps, fresh_citizen)
    whose: dict[str, Any] = {"citizen_id": fresh_citizen}
    changes = [
        Supersede(**whose, id="m0", name="the new harbour", effective_at=moment(3)),
        Correct(**whose, id="m0", name="a garden in May", valid_from=moment(1), valid_to=moment(2)),
        Correct(**whose, id="m1", name="salt on the table"),
        Retract(**whose, id="m2"),
        Undo(**whose, id="m2"),
        Retract(**whose, id="m3", effective_at=moment(4)),
        Undo(**whose, id="m1"),
    ]
    for number, change in enumerate(changes):
        await stored(deps, change, now=day(5 + number))
        assert await vectors_of_records(deps, fresh_citizen) <= await vectors_in(deps, fresh_citizen)
    assert await vectors_in(deps, fresh_citizen) == await vectors_of_records(deps, fresh_citizen)
    answers = [await nearest(deps, fresh_citizen, text, **when) for text in TEXTS for when in ({}, THEN)]

    lines = list(await export([GraphOf(Level.N1, fresh_citizen)], deps, embeddings=True))
    other = f"{fresh_citizen}.again"
    await import_lines(lambda: iter(lines), deps, day(20), citizen_id=other, progress=lambda *_: None)
    assert await vectors_in(deps, other) == await vectors_of_records(deps, other)
    assert [await nearest(deps, other, text, **when) for text in TEXTS for when in ({}, THEN)] == answers
    assert await marked(deps, other) == await marked(deps, fresh_citizen)

    await erase(EraseMemory(citizen_id=other, id="m0"), deps, day(21), None)
    assert await vectors_in(deps, other) == await vectors_of_records(deps, other)
    for text in (*TEXTS, "the new harbour", "a garden in May"):
        for when in ({}, THEN):
            assert "m0" not in await nearest(deps, other, text, **when)


async def test_the_sets_of_a_graph_go_with_it(deps: Deps, fresh_citizen: str) -> None:
    await told(deps, fresh_citizen)
    name = graph_name(Level.N1, fresh_citizen)
    await erase(EraseMemory(citizen_id=fresh_citizen, id="m1"), deps, day(3), None)
    assert sorted(await names_in(deps, fresh_citizen)) == ["m0", "m2", "m3", "m4"]
    await erase(EraseCitizen(citizen_id=fresh_citizen), deps, day(4), None)
    assert await deps.connection.command("EXISTS", *set_names(name)) == 0


async def test_a_sweep_removes_strays_and_adds_what_is_missing(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "WRITTEN_WITHIN_S", 0.0)
    await told(deps, fresh_citizen)
    await stored(deps, Correct(citizen_id=fresh_citizen, id="m0", name="a garden in May"), now=day(5))
    whole = sorted(await names_in(deps, fresh_citizen))
    strays = [Vector("nobody", "k", [1.0] * 384), Vector("m1", "of another text", [0.5] * 384)]
    graph = graph_of(deps, fresh_citizen)
    await port.add(deps.connection, graph.name, strays)
    [*_, name] = await deps.connection.command("VRANGE", key_of(fresh_citizen), "-", "+")
    await deps.connection.command("VREM", key_of(fresh_citizen), name)
    await sweep(SweepRequest(citizen_id=fresh_citizen), deps)
    assert sorted(await names_in(deps, fresh_citizen)) == whole


async def test_a_graph_of_an_older_release_gets_vector_sets_when_it_is_opened(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deps.connection, "missing", deps.connection.missing)
    former = adapted(deps, "index")
    await told(former, fresh_citizen)
    await stored(former, Correct(citizen_id=fresh_citizen, id="m0", name="a garden in May"), now=day(5))
    before = [await nearest(former, fresh_citizen, "the old harbour", **when) for when in ({}, THEN)]
    older = Query("older", "MATCH (m:SubstrateMeta) SET m.schema_version = 8")
    digestless = Query("digestless", "MATCH (t) WHERE t.digest IS NOT NULL SET t.digest = null")
    graph = graph_of(deps, fresh_citizen)
    await graph.write(digestless)
    await graph.write(older)
    opened = adapted(deps, "auto")
    assert [await nearest(opened, fresh_citizen, "the old harbour", **when) for when in ({}, THEN)] == before
    stamp = await read_stamp(graph)
    assert stamp is not None
    assert (stamp.likeness, stamp.schema_version) == ("sets", SCHEMA_VERSION)
    assert len(await names_in(deps, fresh_citizen)) == len(TEXTS) + 1
    assert not [row for row in await graph.read(INDEXES) if "VECTOR" in str(row[1])]


async def test_vectors_of_the_past_do_not_crowd_out_what_resonates_now(deps: Deps, fresh_citizen: str) -> None:
    asked = "a small ship near the quay in the evening"
    notes = [remember(fresh_citizen, f"t{place}", name=f"the tax of {place}") for place in range(250)]
    await stored(deps, remember(fresh_citizen, "near", name="the old harbour at dusk"), *notes, now=day(1))
    request = Resonate.model_validate({"citizen_id": fresh_citizen, "query_text": asked})

    async def resonant() -> list[str]:
        answer = await resonate(request, deps, day(2))
        return [one.memory.node_id for one in answer.levels["n1_personal"]]

    before = await resonant()
    assert before[0] == "near"
    embedding = await deps.embedder.embed_query(asked)
    past = [Vector(f"gone{place}", "k", [*embedding[:-1], place / 1e6], is_open=False) for place in range(500)]
    await port.add(deps.connection, graph_of(deps, fresh_citizen).name, past)
    assert await resonant() == before
