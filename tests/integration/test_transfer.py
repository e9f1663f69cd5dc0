"""Export and import: byte for byte the same, whole or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import uuid4

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestration.dependencies import Deps
from orchestration.mind.state import change_state, read_state, state_history
from orchestration.transfer.exporter import export
from orchestration.transfer.importer import ImportReport, import_lines
from orchestration.transfer.line_format import encode
from schemas.commands import Command, Correct, Retract, Supersede
from schemas.errors import InvalidRequest, Unavailable
from schemas.memory import Level
from schemas.mind.state import StateChange
from schemas.paging import Paged
from schemas.temporal import Scope, to_datetime
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.graphs.names import GraphOf
from substrate.store import archive
from substrate.store.kept import Kept
from tests.integration.store import NOW, ask, day, found, history, ids, moment, relate, remember, send, stored
from tests.integration.test_kept_reads import another_service

THEN: dict[str, Any] = {"temporal_mode": "point_in_time", "as_of_time": to_datetime(NOW + 4)}
CLOSE_LINK = Query(
    "close_link",
    "MATCH (a)-[e:LINK]->(b) WITH a, b, e LIMIT 1 CREATE (a)-[p:PAST_LINK]->(b) SET p = properties(e) "
    "SET p.expired_at = $at, e.created_at = $at RETURN p.id",
)


async def exported(deps: Deps, citizen: str, *, embeddings: bool = False) -> list[bytes]:
    return list(await export([GraphOf(Level.N1, citizen)], deps, embeddings=embeddings))


async def imported(deps: Deps, lines: Sequence[bytes], citizen: str | None = None) -> ImportReport:
    return await import_lines(lambda: iter(lines), deps, NOW + 1000, citizen_id=citizen, progress=lambda *_: None)


async def cleared(deps: Deps, citizen: str) -> None:
    graph = GraphOf(Level.N1, citizen).graph
    await deps.connection.command("GRAPH.DELETE", graph)
    deps.graphs.forget(graph)


async def lived(deps: Deps, citizen: str) -> None:
    """Some memories with every kind of past and a future."""
    felt = {"emotion_vector": {"joy": 0.3}, "tags": ("run", "x"), "buckets": ("home",), "energy": 0.123456}
    await stored(deps, *(remember(citizen, f"m{n}", description=f"thing {n}", **felt) for n in range(12)))
    await stored(deps, *(relate(citizen, f"m{n}", f"m{n + 1}", extra={"n": n}) for n in range(11)))
    await stored(deps, relate(citizen, "m0", "m1", id="a link of its own", relation_type="BLOCKS"))
    await deps.connection.write(GraphOf(Level.N1, citizen).graph, CLOSE_LINK, parameters({"at": NOW + 100}))
    change: dict[str, Any] = {"citizen_id": citizen, "id": "m3"}
    await stored(deps, Supersede(**change, description="new", tags=("z",)), now=NOW + 105)
    await stored(deps, Supersede(**change, description="to come", effective_at=moment(200)), now=NOW + 106)
    await stored(deps, Correct(citizen_id=citizen, id="m4", description="corrected"), now=NOW + 107)
    await stored(deps, Retract(citizen_id=citizen, id="m5"), now=NOW + 108)
    felt = {"emotion_vector": {"joy": 0.3}, "drives": {"rest": {"satisfaction": 0.2}}, "goal": "rest"}
    await change_state(citizen, StateChange.model_validate({"energy": 0.25, **felt}), deps, NOW)
    await change_state(citizen, StateChange(energy=0.1 + 0.2), deps, NOW + 109)
    await change_state(citizen, StateChange(goal="work", valid_at=moment(50)), deps, NOW + 110)


@pytest.mark.parametrize("embeddings", [False, True])
async def test_an_export_imported_and_exported_again_is_the_same_file(
    deps: Deps, fresh_citizen: str, *, embeddings: bool
) -> None:
    await lived(deps, fresh_citizen)
    before = await exported(deps, fresh_citizen, embeddings=embeddings)
    past = [await history(deps, fresh_citizen, f"m{n}") for n in range(12)]
    then = ids(found(await ask(deps, fresh_citizen, "thing 4", **THEN)))
    await cleared(deps, fresh_citizen)

    report = await imported(deps, before)

    assert await exported(deps, fresh_citizen, embeddings=embeddings) == before
    assert report.counts == orjson.loads(before[-1])["counts"] == {
        "node": 34, "tag": 4, "memory": 12, "record": 5, "link": 13
    }  # fmt: skip
    assert [await history(deps, fresh_citizen, f"m{n}") for n in range(12)] == past
    assert sorted(ids(found(await ask(deps, fresh_citizen, "thing 4", **THEN)))) == sorted(then)


async def test_vectors_left_out_of_an_export_are_computed_again(deps: Deps, fresh_citizen: str) -> None:
    await lived(deps, fresh_citizen)
    whole, bare = await exported(deps, fresh_citizen, embeddings=True), await exported(deps, fresh_citizen)
    await cleared(deps, fresh_citizen)

    await imported(deps, bare)

    again = await exported(deps, fresh_citizen, embeddings=True)
    assert [_without_vectors(line) for line in again] == [_without_vectors(line) for line in whole]
    for one, other in zip(again, whole, strict=True):
        first, second = (orjson.loads(line).get("trace", {}).get("vectors", {}) for line in (one, other))
        assert first.keys() == second.keys()
        for name in first:
            assert first[name] == pytest.approx(second[name], abs=1e-4)


def _without_vectors(raw: bytes) -> Any:
    line = orjson.loads(raw)
    line.get("trace", {}).pop("vectors", None)
    line.pop("sha256", None)
    return line


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("remember", "supersede", "correct", "retract", "relate")),
        st.integers(0, 3),
        st.integers(-400, 400),
    ),
    max_size=12,
)


def _command(kind: str, of: dict[str, Any], when: datetime) -> Command:
    match kind:
        case "remember":
            return remember(of["citizen_id"], of["id"], valid_at=when, tags=("t",))
        case "supersede":
            return Supersede(**of, effective_at=when, goal=f"at {when}")
        case "correct":
            return Correct(**of, description=f"{when}")
        case "retract":
            return Retract(**of, effective_at=when)
        case _:
            return relate(of["citizen_id"], of["id"], "m0")


@settings(max_examples=12)
@given(STEPS)
async def test_any_small_history_comes_back_as_it_was(deps: Deps, steps: list[tuple[str, int, int]]) -> None:
    citizen = f"t{uuid4().hex}"
    await stored(deps, remember(citizen, "m0"))
    for place, (kind, n, days) in enumerate(steps):
        when = moment(100) + timedelta(days=days, microseconds=place)
        await send(deps, _command(kind, {"citizen_id": citizen, "id": f"m{n}"}, when), now=NOW + place)
    before = await exported(deps, citizen)
    await cleared(deps, citizen)
    await imported(deps, before)
    assert await exported(deps, citizen) == before


def signed(lines: Sequence[bytes]) -> list[bytes]:
    """The lines with a last line that fits them."""
    digest = sha256(b"".join(lines[:-1])).hexdigest()
    return [*lines[:-1], encode({**orjson.loads(lines[-1]), "sha256": digest})]


def edited(lines: list[bytes], kind: str, change: Callable[[Any], None]) -> list[bytes]:
    """The lines with a change to the first one of a kind, and a last line that fits."""
    place = next(n for n, line in enumerate(lines) if orjson.loads(line)["kind"] == kind)
    line = orjson.loads(lines[place])
    change(line)
    return signed([*lines[:place], encode(line), *lines[place + 1 :]])


def properties(**said: Any) -> Callable[[Any], None]:
    return lambda line: line["properties"].update(said)


STATE_LINE = 2
"""The state that the citizen carries; its five past records stand behind it."""


def with_state(place: int, **said: Any) -> Callable[[list[bytes]], list[bytes]]:
    """The lines with a change to a record of the state, the one carried at 0, and a last line that fits."""

    def damaged(lines: list[bytes]) -> list[bytes]:
        line = orjson.loads(lines[STATE_LINE + place])
        line["properties"].update(said)
        return signed([*lines[: STATE_LINE + place], encode(line), *lines[STATE_LINE + place + 1 :]])

    return damaged


DAMAGES: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "cut between lines": (lambda lines: lines[:-3], "ends in the middle"),
    "cut inside a line": (lambda lines: [*lines[:5], lines[5][:20]], "line 6: it is not JSON"),
    "empty": (lambda _: [], "ends in the middle"),
    "no export": (lambda _: [b'{"kind":"x"}\n'], "line 1: it is no export"),
    "not even an object": (lambda _: [b"[1]\n"], "line 1"),
    "a letter changed": (lambda lines: [line.replace(b"thing 2", b"thing 9") for line in lines], "checksum"),
    "a line taken out": (lambda lines: signed([*lines[:4], *lines[5:]]), "counts differ"),
    "a newer version": (lambda lines: [lines[0].replace(b'"version":1', b'"version":2')], "has version 2"),
    "a newer schema": (
        lambda lines: edited(lines, "graph", lambda line: line.update(schema_version=99)),
        "schema version 99",
    ),
    "lines swapped": (lambda lines: signed([*lines[:42], lines[43], lines[42], *lines[44:]]), "out of order"),
    "a line twice": (lambda lines: signed([*lines[:43], lines[42], *lines[43:]]), "comes twice"),
    "a circle of corrections": (
        lambda lines: edited(lines, "record", properties(created_at=NOW + 900, expired_at=NOW + 901)),
        "circle",
    ),
    "two records at once": (
        lambda lines: edited(lines, "record", properties(expired_at=NOW + 900)),
        "at the same",
    ),
    "an end before its beginning": (lambda lines: edited(lines, "memory", properties(expired_at=5)), "before it"),
    "a link from nowhere": (
        lambda lines: edited(lines, "link", lambda line: line.update(source_id="m")),
        "the memory at one end of a link",
    ),
    "an id that the engine cannot hold": (
        lambda lines: edited(lines, "memory", properties(id=" m0")),
        "line 41: id: ",
    ),
    "a tag that the engine cannot hold": (lambda lines: edited(lines, "tag", properties(name="")), "line 37"),
    "a property with a crooked name": (lambda lines: edited(lines, "memory", properties(**{"a`b": 1})), "called"),
    "a map for a text": (lambda lines: edited(lines, "memory", properties(name={})), "property name"),
    "a memory without a name": (lambda lines: edited(lines, "memory", properties(name=None)), "property name"),
    "a number beyond 64 bits": (lambda lines: edited(lines, "memory", properties(version=2**63)), "64 bits"),
    "a time beyond all years": (lambda lines: edited(lines, "memory", properties(valid_at=-(2**62))), "line 41"),
    "an unknown kind": (lambda lines: edited(lines, "memory", lambda line: line.update(kind="ghost")), "ghost"),
    "a state beyond its bounds": (with_state(0, energy=7.0), "line 3: energy: "),
    "a state that is not JSON": (with_state(0, drives="{"), "line 3"),
    "a state without its times": (with_state(0, version=None), "line 3: property version"),
    "a state that ended": (with_state(0, expired_at=NOW + 900), "the current state has an end"),
    "two states at once": (with_state(1, expired_at=NOW + 10, cell="known/16/0"), "its cell does not match"),
    "a state where it is not found": (with_state(1, cell="known/1/0"), "its cell does not match its times"),
    "states at the same time": (with_state(3, invalid_at=NOW + 10**9), "cell"),
    "a version of the state twice": (with_state(0, version=3), "no current state with a later version"),
    "a past state alone": (
        lambda lines: signed([*lines[:STATE_LINE], *lines[STATE_LINE + 1 :]]),
        "it is a past state, and there is no current state",
    ),
    "a circle of states": (with_state(0, created_at=5), "the records of the state go in a circle"),
    "an unknown label": (lambda lines: edited(lines, "node", lambda line: line.update(label="A")), "label 'A'"),
}


async def test_a_damaged_file_is_refused_and_nothing_is_changed(deps: Deps, fresh_citizen: str) -> None:
    await lived(deps, fresh_citizen)
    lines = await exported(deps, fresh_citizen)
    before = await deps.connection.command("GRAPH.LIST")
    for named, (damage, said) in DAMAGES.items():
        with pytest.raises(InvalidRequest) as refused:
            await imported(deps, damage(list(lines)), f"{fresh_citizen}2")
        assert said in refused.value.detail, named
        assert refused.value.remedy
        assert await deps.connection.command("GRAPH.LIST") == before, named


async def test_the_state_of_an_earlier_release_comes_in_as_its_first_record(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "m0"))
    await change_state(fresh_citizen, StateChange(energy=0.25, goal="rest"), deps, day(20))

    def former(line: Any) -> None:
        line["properties"] = {"key": "state", "energy": 0.25, "goal": "rest", "updated_at": day(20)}

    lines = edited(await exported(deps, fresh_citizen), "node", former)
    await cleared(deps, fresh_citizen)
    await imported(deps, lines)
    [record] = (await state_history(fresh_citizen, Paged(), deps)).records
    assert (record.energy, record.goal, record.version) == (0.25, "rest", 1)
    assert (record.valid_at, record.created_at, record.expired_at) == (moment(20), moment(20), None)
    await change_state(fresh_citizen, StateChange(energy=0.75), deps, day(30))
    assert (await read_state(fresh_citizen, deps, Scope.at(day(25), day(25)))).energy == 0.25


async def test_a_graph_that_other_services_write_to_all_the_time_is_not_exported_torn(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lived(deps, fresh_citizen)
    other = another_service(deps)
    read, tries = archive.read_page, iter(range(100))

    async def read_while_others_write(graph: Graph, after: int, kept: Iterable[Kept]) -> list[archive.StoredNode]:
        if after == -1 and (n := next(tries)) < busy:
            await stored(other, remember(fresh_citizen, f"late {n}"))
            if busy > 1:
                own.append(asyncio.create_task(stored(deps, remember(fresh_citizen, f"own {n}"))))
        return await read(graph, after, kept)

    own: list[asyncio.Task[Any]] = []
    monkeypatch.setattr(archive, "read_page", read_while_others_write)
    busy = 1
    assert orjson.loads((await exported(deps, fresh_citizen))[-1])["counts"]["memory"] == 13
    busy = 100
    with pytest.raises(Unavailable, match="was written to while it was read"):
        await exported(deps, fresh_citizen)
    assert all(task.done() for task in own[:-3])  # its own writers went on meanwhile
    await asyncio.wait(own)
    await other.graphs.close()
    await other.connection.close()


async def test_a_graph_that_this_service_writes_to_all_the_time_is_exported_as_it_was_at_one_moment(
    deps: Deps, fresh_citizen: str
) -> None:
    await lived(deps, fresh_citizen)
    written = 0

    async def write() -> None:
        nonlocal written
        while True:
            await stored(deps, remember(fresh_citizen, f"late {written}"))
            written += 1

    writing = asyncio.create_task(write())
    counts = [orjson.loads((await exported(deps, fresh_citizen))[-1])["counts"]["memory"] for _ in range(5)]
    writing.cancel()
    assert counts == sorted(counts)
    assert 12 + written >= counts[-1] >= counts[0] >= 12
    await asyncio.wait([writing])
    await stored(deps, remember(fresh_citizen, "the last"))


SPOIL = Query("spoil", "MATCH (n:ConsciousnessNode {id: $id}) SET n.extra = $text RETURN n.id")


async def test_a_value_that_an_older_store_nested_too_deeply_is_imported_as_text(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "deep", extra={"a": 1}))
    text_of_it = '{"a":' * 200 + "1" + "}" * 200
    graph = GraphOf(Level.N1, fresh_citizen).graph
    await deps.connection.write(graph, SPOIL, parameters({"id": "deep", "text": text_of_it}))
    lines = await exported(deps, fresh_citizen)
    await cleared(deps, fresh_citizen)
    assert (await imported(deps, lines)).mended == 1
    [memory] = await history(deps, fresh_citizen, "deep")
    assert (memory.unreadable, memory.extra) == ((), {"a": text_of_it[5:-1]})


@pytest.mark.parametrize("kept", ["no JSON", '{"a": "' + "x" * 300_000 + '"}'], ids=["no JSON", "too large"])
async def test_a_map_that_no_door_would_take_is_not_imported(deps: Deps, fresh_citizen: str, kept: str) -> None:
    await stored(deps, remember(fresh_citizen, "m", extra={"a": 1}))
    graph = GraphOf(Level.N1, fresh_citizen).graph
    await deps.connection.write(graph, SPOIL, parameters({"id": "m", "text": kept}))
    lines = await exported(deps, fresh_citizen)
    await cleared(deps, fresh_citizen)
    with pytest.raises(InvalidRequest, match="cannot be imported: line 4"):
        await imported(deps, lines)
