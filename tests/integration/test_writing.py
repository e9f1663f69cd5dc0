"""Commands in, receipts out, on the real engine."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestration.dependencies import Deps
from schemas.commands import Correct, Retract, Supersede, WriteReceipt
from schemas.errors import StoreMisfit
from schemas.memory import Level
from schemas.temporal import to_datetime
from substrate.connection.parameters import parameters
from substrate.cypher import schema
from substrate.graphs.names import graph_name
from substrate.graphs.registry import Graphs
from tests.integration.store import (
    NOW,
    ask,
    carried,
    day,
    found,
    history,
    ids,
    links,
    moment,
    relate,
    remember,
    send,
    stored,
)


def outcome(receipts: list[WriteReceipt]) -> list[tuple[str, str | None, str]]:
    return [
        (receipt.command, receipt.id, "duplicate" if receipt.duplicate else receipt.problem or receipt.status)
        for receipt in receipts
    ]


# --- remember and relate ---------------------------------------------------------------------------------


async def test_a_mixed_batch_keeps_its_order_and_each_command_its_receipt(deps: Deps, fresh_citizen: str) -> None:
    who: dict[str, Any] = {"citizen_id": fresh_citizen}
    shared = f"s{uuid4().hex}"
    receipts = await send(
        deps,
        remember(fresh_citizen, "a", valid_at=moment(1)),
        relate(fresh_citizen, "a", "b"),
        remember(fresh_citizen, "b", valid_at=moment(1)),
        relate(fresh_citizen, "a", "b"),
        remember(fresh_citizen, "a", valid_at=moment(1)),
        Supersede(**who, id="a", name="a later", effective_at=moment(2)),
        remember(fresh_citizen, "a", name="another"),
        remember(fresh_citizen, shared, level="N2"),
        relate(fresh_citizen, "b", shared),
        Correct(**who, id="nobody", name="x"),
        Correct(**who, id="b", name="b mended"),
        Retract(**who, id="b"),
        Correct(**who, id="b", name="too late"),
    )
    assert outcome(receipts) == [
        ("remember", "a", "stored"),
        ("relate", "a|NEXT|b", "not-found"),
        ("remember", "b", "stored"),
        ("relate", "a|NEXT|b", "stored"),
        ("remember", "a", "duplicate"),
        ("supersede", "a", "stored"),
        ("remember", "a", "conflict"),
        ("remember", shared, "stored"),
        ("relate", f"b|NEXT|{shared}", "not-found"),
        ("correct", "nobody", "not-found"),
        ("correct", "b", "stored"),
        ("retract", "b", "stored"),
        ("correct", "b", "conflict"),
    ]


async def test_a_link_to_what_is_not_there_is_refused_with_every_missing_end(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "here"))
    receipts = await send(
        deps,
        relate(fresh_citizen, "here", "gone"),
        relate(fresh_citizen, "gone", "here"),
        relate(fresh_citizen, "gone", "away"),
    )
    assert [len(receipt.faults) for receipt in receipts] == [1, 1, 2]
    assert {receipt.problem for receipt in receipts} == {"not-found"}
    assert await links(deps, fresh_citizen) == []


async def test_a_refused_command_changes_nothing(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a", valid_at=moment(1), description="first"))
    before = await history(deps, fresh_citizen, "a")
    who: dict[str, Any] = {"citizen_id": fresh_citizen, "id": "a"}
    receipts = await send(
        deps,
        remember(fresh_citizen, "a", description="second"),
        Supersede(**who, description="x", effective_at=moment(0)),
        Supersede(**who, description="x", valid_from=moment(-3), valid_to=moment(-2)),
        Correct(**who, description="x", expected_version=2),
        Retract(**who, expected_version=7),
    )
    assert [receipt.problem for receipt in receipts] == [
        "conflict",
        "invalid-request",
        "invalid-request",
        "conflict",
        "conflict",
    ]
    assert await history(deps, fresh_citizen, "a") == before


# --- once, however often it is sent ----------------------------------------------------------------------


@pytest.mark.parametrize("memory_id", ["walk", None])
async def test_a_command_sent_again_is_known_by_its_id(
    deps: Deps, fresh_citizen: str, memory_id: str | None
) -> None:
    command = remember(fresh_citizen, memory_id, command_id="c1", description="by the sea")
    (first,) = await stored(deps, command, now=day(5))
    (again,) = await stored(deps, command, now=day(6))
    assert again == first.model_copy(update={"duplicate": True})


async def test_a_memory_sent_again_is_known_by_its_content(deps: Deps, fresh_citizen: str) -> None:
    (first,) = await stored(deps, remember(fresh_citizen, "walk", command_id="c1"), now=day(5))
    (again,) = await stored(deps, remember(fresh_citizen, "walk", command_id="c2"), now=day(6))
    assert (again.duplicate, again.created_at) == (True, first.created_at)


@pytest.mark.parametrize("memory_id", ["walk", None])
async def test_a_command_id_used_for_another_content_is_refused(
    deps: Deps, fresh_citizen: str, memory_id: str | None
) -> None:
    (first,) = await stored(deps, remember(fresh_citizen, memory_id, name="one", command_id="c1"))
    (second,) = await send(deps, remember(fresh_citizen, memory_id, name="two", command_id="c1"))
    assert (second.status, second.problem) == ("refused", "conflict")
    assert "command_id" in second.faults[0]
    assert first.id is not None
    memory = await carried(deps, fresh_citizen, first.id)
    assert memory is not None
    assert memory.name == "one"


async def test_a_memory_sent_again_after_a_change_still_has_its_own_receipt(
    deps: Deps, fresh_citizen: str
) -> None:
    command = remember(fresh_citizen, "walk", command_id="c1", valid_at=moment(1))
    (first,) = await stored(deps, command, now=day(5))
    change = Supersede(citizen_id=fresh_citizen, id="walk", name="A run", effective_at=moment(2))
    await stored(deps, change, now=day(6))
    (again,) = await stored(deps, command, now=day(7))
    assert (again.duplicate, again.version, again.created_at) == (True, 1, first.created_at)


@pytest.mark.parametrize("kind", ["supersede", "correct", "retract until", "retract"])
async def test_a_revision_sent_again_is_done_once(deps: Deps, fresh_citizen: str, kind: str) -> None:
    await stored(deps, remember(fresh_citizen, "walk", valid_at=moment(1)), now=day(1))
    who: dict[str, Any] = {"citizen_id": fresh_citizen, "id": "walk", "command_id": "c2"}
    command = {
        "supersede": Supersede(**who, name="A run", effective_at=moment(2)),
        "correct": Correct(**who, name="A run"),
        "retract until": Retract(**who, effective_at=moment(2)),
        "retract": Retract(**who),
    }[kind]
    (first,) = await stored(deps, command, now=day(5))
    after = await history(deps, fresh_citizen, "walk")
    (again,) = await stored(deps, command, now=day(6))
    assert (again.duplicate, again.version) == (True, first.version)
    assert (again.valid_at, again.invalid_at, again.created_at) == (
        first.valid_at,
        first.invalid_at,
        first.created_at,
    )
    assert await history(deps, fresh_citizen, "walk") == after


async def test_a_revision_id_used_for_another_content_is_refused(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "walk", valid_at=moment(1)), now=day(1))
    who: dict[str, Any] = {"citizen_id": fresh_citizen, "id": "walk", "command_id": "c2"}
    await stored(deps, Correct(**who, name="A run"), now=day(5))
    (receipt,) = await send(deps, Correct(**who, name="A swim"), now=day(6))
    assert (receipt.status, receipt.problem) == ("refused", "conflict")
    memory = await carried(deps, fresh_citizen, "walk")
    assert memory is not None
    assert memory.name == "A run"


async def test_a_link_sent_again_is_the_same_link(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a"), remember(fresh_citizen, "b"))
    receipts = await send(
        deps,
        relate(fresh_citizen, "a", "b", command_id="c1"),
        relate(fresh_citizen, "a", "b", command_id="c1"),
        relate(fresh_citizen, "a", "b", command_id="c2"),
        relate(fresh_citizen, "a", "b", command_id="c1", energy=0.1),
        relate(fresh_citizen, "a", "b", energy=0.1),
        relate(fresh_citizen, "a", "b", energy=0.1, id="another"),
        relate(fresh_citizen, "b", "a"),
    )
    assert [state for _, _, state in outcome(receipts)] == [
        "stored",
        "duplicate",
        "duplicate",
        "conflict",
        "conflict",
        "stored",
        "stored",
    ]
    assert [link.link_id for link in await links(deps, fresh_citizen)] == ["another", "a|NEXT|b", "b|NEXT|a"]


# --- what comes back equals what went in -----------------------------------------------------------------

FRAGMENTS = [
    "'", '"', "`", "\\", "\\u0041", "\n", "\r", "\t", "|", "$rows", "{}", "//", "/*", "%", ";", "é", "🫀",
    "\u2028", "\u202e", "\ufeff", "MATCH (n) DETACH DELETE n", "'}) RETURN 1 //", "null", "true", "0",
]  # fmt: skip
characters = st.characters(
    exclude_categories=["Cs"],
    exclude_characters=[chr(code) for code in (*range(32), 127) if chr(code) not in "\n\r\t"],
)
texts = st.text(characters, max_size=30) | st.lists(st.sampled_from(FRAGMENTS), max_size=5).map("".join)
names = texts.filter(lambda text: bool(text.strip(" \n\r\t")))
identifiers = texts.map(lambda text: "".join(text.replace("|", "").split())).filter(lambda text: text != "")
units = st.floats(0.0, 1.0)
feelings = st.dictionaries(texts, units, min_size=1, max_size=3)
leaves = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | texts
json_values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3), max_leaves=5)
extras = st.dictionaries(texts, json_values, max_size=3)
tags = st.lists(texts, max_size=3, unique=True)

memories = st.fixed_dictionaries(
    {"name": names, "node_type": names, "description": texts, "energy": units, "confidence": units},
    optional={
        "emotion_vector": feelings,
        "felt_quality": texts,
        "body_sensation": texts,
        "goal": texts,
        "tags": tags,
        "buckets": tags,
        "aliases": tags,
        "result": texts,
        "rule": texts,
        "importance": units,
        "correction_pattern_id": identifiers,
        "episode_id": identifiers,
        "speaker": texts,
        "extra": extras,
    },
)
link_fields = st.fixed_dictionaries(
    {"goal": names, "mindstate": names, "energy": units, "confidence": units, "emotion_vector": feelings},
    optional={
        "formation_trigger": texts,
        "felt_quality": texts,
        "emotion_description": texts,
        "body_sensation": texts,
        "spatial_context": texts,
        "sensory_details": st.dictionaries(texts, leaves, min_size=1, max_size=2),
        "episode_id": identifiers,
        "extra": extras,
    },
)
WRITTEN = f"t{uuid4().hex}"


def comes_back(read: Any, sent: dict[str, Any]) -> None:
    """The engine answers a bare number with 15 digits; all else must be equal."""
    for field, value in sent.items():
        back = getattr(read, field)
        if isinstance(value, float):
            assert back == pytest.approx(value, rel=1e-14, abs=1e-300), field
        else:
            assert (list(back) if isinstance(value, list) else back) == value, field


@settings(max_examples=40)
@given(memories, link_fields, identifiers)
async def test_whatever_was_remembered_comes_back_as_it_was(
    deps: Deps, memory: dict[str, Any], link: dict[str, Any], identifier: str
) -> None:
    salt = uuid4().hex
    memory_id, link_id = f"{identifier} {salt}", f"{salt} {identifier}"
    await stored(
        deps,
        remember(WRITTEN, "origin"),
        remember(WRITTEN, memory_id, **memory),
        relate(WRITTEN, "origin", memory_id, id=link_id, **link),
    )
    back = await carried(deps, WRITTEN, memory_id)
    assert back is not None
    comes_back(back, {"node_id": memory_id, **memory})
    (link_back,) = [one for one in await links(deps, WRITTEN) if one.link_id == link_id]
    comes_back(link_back, {"source_id": "origin", "target_id": memory_id, **link})


@settings(max_examples=15)
@given(memories, memories)
async def test_whatever_was_corrected_comes_back_as_it_was_corrected(
    deps: Deps, before: dict[str, Any], change: dict[str, Any]
) -> None:
    memory_id = uuid4().hex
    revision = {field: value for field, value in change.items() if field not in ("extra", "episode_id", "speaker")}
    correction = Correct.model_validate({"citizen_id": WRITTEN, "id": memory_id, **revision})
    await stored(deps, remember(WRITTEN, memory_id, **before), correction)
    first, second = await history(deps, WRITTEN, memory_id)
    comes_back(first, before)
    # Which pattern corrected it tells of one change, and is not taken over by the next.
    comes_back(second, {**before, "correction_pattern_id": None, **revision})


async def test_time_comes_back_to_the_microsecond(deps: Deps, fresh_citizen: str) -> None:
    times = [to_datetime(-(2**53) + 2), to_datetime(0), moment(1) + timedelta(microseconds=1)]
    await stored(deps, *(remember(fresh_citizen, f"m{n}", valid_at=time) for n, time in enumerate(times)))
    for number, time in enumerate(times):
        memory = await carried(deps, fresh_citizen, f"m{number}")
        assert memory is not None
        assert memory.valid_at == time


# --- several writers -------------------------------------------------------------------------------------


async def test_one_of_two_writers_of_a_memory_stores_it(deps: Deps, fresh_citizen: str) -> None:
    for number in range(6):
        memory_id = f"m{number}"
        one, other = await asyncio.gather(
            send(deps, remember(fresh_citizen, memory_id, description="one")),
            send(deps, remember(fresh_citizen, memory_id, description="other")),
        )
        assert sorted(state for _, _, state in outcome(one + other)) == ["conflict", "stored"]
        winner = "one" if one[0].status == "stored" else "other"
        memory = await carried(deps, fresh_citizen, memory_id)
        assert memory is not None
        assert memory.description == winner


async def test_a_command_sent_by_two_at_once_is_done_once(deps: Deps, fresh_citizen: str) -> None:
    command = remember(fresh_citizen, command_id="c1", name="A walk")
    both = await asyncio.gather(*(send(deps, command) for _ in range(4)))
    states = [state for receipts in both for _, _, state in outcome(receipts)]
    assert sorted(states) == ["duplicate", "duplicate", "duplicate", "stored"]
    assert len({receipts[0].id for receipts in both}) == 1


async def test_a_link_sent_by_several_at_once_is_made_once(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a"), remember(fresh_citizen, "b"))
    every = await asyncio.gather(*(send(deps, relate(fresh_citizen, "a", "b")) for _ in range(8)))
    states = [state for receipts in every for _, _, state in outcome(receipts)]
    assert sorted(states) == ["duplicate"] * 7 + ["stored"]
    assert len(await links(deps, fresh_citizen)) == 1


async def test_one_of_eight_writers_with_the_same_expected_version_may_change_it(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "walk", valid_at=moment(1)), now=day(1))
    racers = [
        Supersede(
            citizen_id=fresh_citizen,
            id="walk",
            name=f"racer {number}",
            effective_at=moment(2),
            expected_version=1,
        )
        for number in range(8)
    ]
    every = [receipts[0] for receipts in await asyncio.gather(*(send(deps, racer) for racer in racers))]
    won = [place for place, receipt in enumerate(every) if receipt.status == "stored"]
    assert len(won) == 1
    assert all(receipt.problem == "conflict" for place, receipt in enumerate(every) if place not in won)
    records = await history(deps, fresh_citizen, "walk")
    assert [record.version for record in records] == [1, 2, 3]
    assert records[-1].name == f"racer {won[0]}"


async def test_no_correction_of_several_at_once_is_lost(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "walk"), now=day(1))
    corrections = [
        Correct.model_validate({"citizen_id": fresh_citizen, "id": "walk", field: "said"})
        for field in ("goal", "result", "rule")
    ]
    every = await asyncio.gather(*(send(deps, correction) for correction in corrections))
    assert [receipts[0].status for receipts in every] == ["stored"] * 3
    memory = await carried(deps, fresh_citizen, "walk")
    assert memory is not None
    assert (memory.goal, memory.result, memory.rule) == ("said", "said", "said")
    known = [record.created_at for record in await history(deps, fresh_citizen, "walk")]
    assert known == sorted(set(known))


# --- graphs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "dimension"), [("another-model", 384), ("all-MiniLM-L6-v2", 1536)])
async def test_a_graph_of_another_embedding_is_refused_with_the_remedy(
    deps: Deps, fresh_citizen: str, model: str, dimension: int
) -> None:
    await stored(deps, remember(fresh_citizen, "walk"))
    other = replace(deps, graphs=Graphs(deps.connection, model=model, dimension=dimension))
    with pytest.raises(StoreMisfit, match="all-MiniLM-L6-v2") as writing:
        await send(other, remember(fresh_citizen, "talk"))
    with pytest.raises(StoreMisfit):
        await ask(other, fresh_citizen, "the walk")
    assert "SUBSTRATE_EMBEDDING" in writing.value.remedy
    assert await carried(deps, fresh_citizen, "talk") is None


async def test_a_citizen_cannot_reach_the_shared_graphs_by_its_name(deps: Deps) -> None:
    names = {graph_name(Level.N1, citizen) for citizen in ("collective_n2", "n2", "ecosystem_n3")}
    assert not names & {graph_name(Level.N2, None), graph_name(Level.N3, None)}


async def test_many_first_writers_open_one_graph(deps: Deps, fresh_citizen: str) -> None:
    every = await asyncio.gather(*(send(deps, remember(fresh_citizen, f"m{n}")) for n in range(6)))
    assert all(receipts[0].status == "stored" for receipts in every)
    assert await deps.graphs.unready(graph_name(Level.N1, fresh_citizen)) == []
    assert graph_name(Level.N1, fresh_citizen) in await deps.graphs.existing()


@pytest.mark.parametrize("level", ["N1", "N2"])
async def test_only_a_new_memory_makes_a_graph(deps: Deps, fresh_citizen: str, level: str) -> None:
    who: dict[str, Any] = {"citizen_id": fresh_citizen, "id": f"nobody {fresh_citizen}", "level": level}
    before = await deps.connection.command("GRAPH.LIST")
    receipts = await send(
        deps,
        relate(fresh_citizen, "a", f"b {fresh_citizen}", level=level),
        Supersede(**who, name="x"),
        Correct(**who, name="x"),
        Retract(**who),
    )
    assert [receipt.problem for receipt in receipts] == ["not-found"] * 4
    assert sorted(await deps.connection.command("GRAPH.LIST")) == sorted(before)


async def test_a_graph_whose_making_was_interrupted_is_finished(deps: Deps, fresh_citizen: str) -> None:
    name = graph_name(Level.N1, fresh_citizen)
    for index in schema.INDEXES[:3]:
        await deps.connection.write(name, index, parameters({}))
    assert not await deps.graphs.for_reading(name)
    await stored(deps, remember(fresh_citizen, "walk", description="by the sea"))
    assert await deps.graphs.unready(name) == []
    assert ids(found(await ask(deps, fresh_citizen, "the sea"))) == ["walk"]


async def test_a_graph_of_another_schema_is_refused(deps: Deps, fresh_citizen: str) -> None:
    stamp = {
        "schema_version": 99,
        "embedding_model": deps.graphs.model,
        "dimension": 384,
        "now": NOW,
        "likeness": "sets",
    }
    await deps.connection.write(graph_name(Level.N1, fresh_citizen), schema.WRITE_STAMP, parameters(stamp))
    with pytest.raises(StoreMisfit, match="schema version 99"):
        await send(deps, remember(fresh_citizen, "walk"))


async def test_an_engine_started_anew_is_asked_again_for_each_graph(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "walk"))
    deps.graphs.forget()
    assert await deps.graphs.for_reading(graph_name(Level.N1, fresh_citizen))
    assert not await deps.graphs.for_reading(graph_name(Level.N1, f"{fresh_citizen}.other"))
    (receipt,) = await stored(deps, remember(fresh_citizen, "walk"))
    assert receipt.duplicate
