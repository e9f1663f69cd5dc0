"""The one seam to the engine: what may travel, and what its errors become."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import exceptions as redis_errors

from api.telemetry.metrics import REGISTRY, query_in_flight
from orchestration.dependencies import Deps
from schemas.errors import Conflict, Fault, StoreTimeout, SubstrateError, Unavailable
from substrate.connection.errors import ConnectionLost, EngineBusy, GraphMissing, Moving, translate_error
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.cypher.query import Query

ECHO = Query("echo", "RETURN $value")
COUNT = Query("count", "MATCH (n) RETURN count(n)")
ENDLESS = Query("endless", "UNWIND range(1, 10000) AS i UNWIND range(1, 10000) AS j RETURN count(i + j)")
SEED = Query("seed", "CREATE (:Seed {name: $value})")


@pytest.fixture(scope="module")
async def graph(deps: Deps) -> AsyncIterator[str]:
    name = f"seam_{uuid4().hex}"
    await deps.connection.write(name, SEED, parameters({"value": "first"}))
    yield name
    await deps.connection.command("GRAPH.DELETE", name)


class Sly(str):
    """A string that prints itself as something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return "1 MATCH (n) DETACH DELETE n //"


@pytest.mark.parametrize(
    "value",
    [
        Path("1 MATCH (n) DETACH DELETE n //"),
        Decimal("0.5"),
        math.nan,
        math.inf,
        -math.inf,
        b"bytes",
        bytearray(b"bytes"),
        "a\x00b",
        "\x00",
        2**63,
        -(2**63) - 1,
        10**30,
        (1, 2),
        {1, 2},
        datetime(2026, 1, 1, tzinfo=UTC),
        UUID(int=7),
        object(),
        Sly("x"),
        1j,
    ],
    ids=lambda value: repr(value).partition(" at ")[0],
)
@pytest.mark.parametrize("nested", ["bare", "listed", "mapped", "deep"])
def test_only_plain_values_may_travel(value: Any, nested: str) -> None:
    shapes = {"bare": value, "listed": ["a", value], "mapped": {"a": value}, "deep": [{"a": [[value]]}]}
    with pytest.raises(Fault, match="parameter value"):
        parameters({"value": shapes[nested]})


@pytest.mark.parametrize("key", ["a\x00b", Sly("x"), b"a", ("a",), "", "a`b"], ids=repr)
def test_only_plain_names_may_travel(key: Any) -> None:
    with pytest.raises(Fault, match="parameter value"):
        parameters({"value": {key: 1}})


plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
hostile = st.text(st.sampled_from("\"'`\\\n\r\t{}[]()$/*-:;,ab1\u2028é🫀"))


@settings(max_examples=40)
@given(plain | hostile)
async def test_a_text_comes_back_as_it_went(deps: Deps, graph: str, text: str) -> None:
    assert await deps.connection.read(graph, ECHO, parameters({"value": text})) == [[text]]


@settings(max_examples=20)
@given(st.integers(-(2**63), 2**63 - 1))
async def test_a_number_comes_back_as_it_went(deps: Deps, graph: str, number: int) -> None:
    assert await deps.connection.read(graph, ECHO, parameters({"value": number})) == [[number]]


@settings(max_examples=40)
@given(st.lists(st.floats(-1e300, 1e300), min_size=1))
async def test_real_numbers_come_back_to_the_fifteen_digits_of_the_engine(
    deps: Deps, graph: str, numbers: list[float]
) -> None:
    ((back,),) = await deps.connection.read_typed(graph, ECHO, parameters({"value": numbers}))
    assert back == pytest.approx(numbers, rel=1e-14, abs=0.0)


async def test_a_text_that_is_a_query_is_only_a_text(deps: Deps, graph: str) -> None:
    attack = "' }) MATCH (n) DETACH DELETE n //"
    await deps.connection.write(graph, SEED, parameters({"value": attack}))
    (count,) = await deps.connection.read(graph, COUNT, parameters({}))
    assert count[0] >= 2


async def test_a_query_that_runs_too_long_ends_at_its_deadline(deps: Deps, graph: str) -> None:
    with pytest.raises(StoreTimeout, match="endless") as caught:
        await deps.connection.read(graph, ENDLESS, parameters({}), timeout_ms=20)
    assert isinstance(caught.value, Unavailable)
    assert caught.value.remedy


async def test_a_missing_graph_is_distinguished_from_an_empty_one_and_not_created(deps: Deps) -> None:
    name = f"seam_{uuid4().hex}"
    with pytest.raises(GraphMissing):
        await deps.connection.read(name, COUNT, parameters({}))
    assert name not in await deps.connection.command("GRAPH.LIST")


async def test_a_query_that_the_engine_refuses_is_a_fault_of_ours(deps: Deps, graph: str) -> None:
    with pytest.raises(Fault, match="refused the query broken"):
        await deps.connection.read(graph, Query("broken", "RETURN nothing_of_this_name"), parameters({}))


async def test_a_read_cannot_change_the_graph(deps: Deps, graph: str) -> None:
    before = await deps.connection.read(graph, COUNT, parameters({}))
    with pytest.raises(Fault):
        await deps.connection.read(graph, SEED, parameters({"value": "x"}))
    assert await deps.connection.read(graph, COUNT, parameters({})) == before


async def test_an_engine_that_is_away_is_unavailable_and_called_back(tmp_path: Path) -> None:
    connection = Connection(f"unix://{tmp_path}/nobody.sock", timeout_ms=100)
    called: list[str] = []

    async def revive() -> None:
        called.append("revive")

    with pytest.raises(Unavailable):
        await connection.ping()
    connection.revive = revive
    with pytest.raises(Unavailable, match="count"):
        await connection.read("any", COUNT, parameters({}))
    assert called == ["revive"]
    await connection.close()


async def test_the_context_of_a_query_stays_open_until_its_answer_arrives(deps: Deps, graph: str) -> None:
    told: list[str] = []

    @contextmanager
    def around(name: str) -> Iterator[None]:
        told.append(f"{name} begins")
        try:
            yield
        finally:
            told.append(f"{name} ends")

    held, deps.connection.around = deps.connection.around, around
    await deps.connection.read(graph, COUNT, parameters({}))
    with pytest.raises(StoreTimeout):
        await deps.connection.read(graph, ENDLESS, parameters({}), timeout_ms=10)
    deps.connection.around = held
    assert told == ["count begins", "count ends", "endless begins", "endless ends"]


def test_a_query_that_waits_is_in_the_gauge() -> None:
    def waiting() -> float | None:
        return REGISTRY.get_sample_value("substrate_engine_queries_in_flight")

    before = waiting()
    with query_in_flight("count"):
        assert waiting() == (before or 0) + 1
    assert waiting() == before


async def test_a_round_trip_takes_some_time(deps: Deps) -> None:
    assert await deps.connection.ping() > 0.0


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (redis_errors.BusyLoadingError("loading"), Moving),
        (redis_errors.ResponseError("LOADING Redis is loading the dataset in memory"), Moving),
        (redis_errors.ConnectionError("Connection refused"), ConnectionLost),
        (redis_errors.TimeoutError("Timeout reading from socket"), ConnectionLost),
        (OSError("broken pipe"), ConnectionLost),
        (redis_errors.ConnectionError("No connection available."), EngineBusy),
        (redis_errors.ResponseError("Query timed out"), StoreTimeout),
        (redis_errors.ResponseError("Invalid graph operation on empty key"), GraphMissing),
        (redis_errors.ResponseError("unique constraint violation on node of type X"), Conflict),
        (redis_errors.ResponseError("Max pending queries exceeded"), EngineBusy),
        (redis_errors.ResponseError("OOM command not allowed"), Unavailable),
        (redis_errors.ResponseError("MISCONF Redis is configured to save"), Unavailable),
        (redis_errors.ResponseError("NOREPLICAS Not enough good replicas"), Unavailable),
        (redis_errors.ResponseError("READONLY You can't write against a read only replica"), Moving),
        (redis_errors.ResponseError("UNBLOCKED force unblock, instance state changed"), ConnectionLost),
        (redis_errors.ResponseError("Division by zero"), Fault),
    ],
    ids=str,
)
def test_every_error_of_the_engine_has_a_place_in_our_tree(error: Exception, kind: type[SubstrateError]) -> None:
    assert type(translate_error(error, "q")) is kind
