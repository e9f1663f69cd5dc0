"""A store in a Redis Cluster, and under Sentinels: what was acknowledged stays, and is there once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from api.runtime.runtime import open_runtime
from benchmarks.cluster import TIMEOUT_MS, fail_over
from benchmarks.machines import Machines, Server, cluster, sentinels
from orchestration.dependencies import Deps
from orchestration.writing.erasure import erase
from orchestration.writing.quotas import read_used
from schemas.commands import EraseCitizen
from schemas.errors import SubstrateError, Unavailable
from schemas.memory import Level
from schemas.settings import AckMode, EmbeddingSettings, ReadMode, Settings, StoreSettings, UpkeepSettings
from substrate.connection.inspection import compare_rights, describe_rights, find_faults, inspect_servers
from substrate.connection.pool import Connection
from substrate.connection.topology import LEARNED_AGAIN_S
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from tests.integration.store import ask, found, ids, remember, send, stored

KINDS: dict[str, Callable[[], AbstractAsyncContextManager[Machines]]] = {
    "cluster": cluster,
    "sentinels": sentinels,
}
CITIZENS = ("ada", "bob", "cyd", "dee", "eve")
_IDS = Query("ids", "MATCH (n:ConsciousnessNode) RETURN n.id")
_TIMES = Query("times", "MATCH (n:ConsciousnessNode) RETURN n.created_at")
TRIES = 60
"""So often a command is sent again: a failover takes seconds, and longer on a busy machine."""


@pytest.fixture(scope="module", params=list(KINDS))
async def machines(request: pytest.FixtureRequest) -> AsyncIterator[Machines]:
    async with KINDS[request.param]() as opened:
        yield opened


@asynccontextmanager
async def service(
    machines: Machines,
    ack: AckMode = "auto",
    user: str = "",
    read: ReadMode = "primary",
    park_to: Path | None = None,
) -> AsyncIterator[Deps]:
    """A service over the machines, as a user with the word `word`, or without one."""
    settings = Settings(
        upkeep=UpkeepSettings(upkeep="off"),
        store=StoreSettings(
            url=machines.url.replace("://", f"://{user}:word@" if user else "://"),
            names="off",
            ack=ack,
            read=read,
            park_to=park_to,
        ),
        embedding=EmbeddingSettings(embedding="local"),
    )
    async with open_runtime(settings) as runtime:
        yield runtime.deps


async def send_until_stored(deps: Deps, citizen: str, number: int) -> None:
    """Send one command with an id of its own until it is acknowledged."""
    command = remember(citizen, f"m{number}", description=f"Thing {number}", command_id=f"{citizen} {number}")
    for _ in range(TRIES):
        try:
            receipts = await send(deps, command, now=await deps.connection.now())
        except Unavailable:
            receipts = []
        if receipts and receipts[0].status == "stored":
            return
        assert not receipts, receipts
        await asyncio.sleep(0.2)
    raise AssertionError(f"{citizen} {number} was not stored")


async def held(deps: Deps, citizen: str) -> list[str]:
    """The ids of the memories of a citizen, each as often as it is there."""
    rows = await deps.graph(graph_name(Level.N1, citizen)).read(_IDS)
    return sorted(str(row[0]) for row in rows)


async def test_what_one_service_writes_another_reads_wherever_it_lies(
    machines: Machines, local_model: object
) -> None:
    async with service(machines) as one, service(machines) as other:
        for citizen in CITIZENS:
            boat = remember(citizen, "boat", description=f"The boat of {citizen}")
            await stored(one, boat, now=await one.connection.now())
        for citizen in CITIZENS:
            stream = await ask(other, citizen, "Where is the boat?", now=await other.connection.now())
            assert ids(found(stream)) == ["boat"]
            assert not stream.degraded
            used = await read_used(citizen, other)
            assert (used.memories, used.links) == (1, 0)
            assert used.bytes > 384 * 4
        names = await one.connection.graph_names()
        assert {graph_name(Level.N1, citizen) for citizen in CITIZENS} <= set(names)
        assert len(names) == len(set(names))


async def test_an_erased_citizen_is_on_no_server_and_may_begin_again(
    machines: Machines, local_model: object
) -> None:
    async with service(machines) as deps:
        now = await deps.connection.now()
        await stored(deps, remember("gone", "secret", description="The word is heliotrope"), now=now)
        report = await erase(EraseCitizen(citizen_id="gone"), deps, await deps.connection.now(), None)
        assert report.log_rewritten
        assert graph_name(Level.N1, "gone") not in await deps.connection.graph_names()
        for server in machines.servers:
            for file in server.directory.rglob("*"):
                assert not file.is_file() or b"heliotrope" not in file.read_bytes(), file
        await stored(deps, remember("gone", "new"), now=await deps.connection.now())
        assert await held(deps, "gone") == ["new"]


async def test_a_user_with_the_least_rights_can_do_all_of_it_and_a_right_that_is_missing_is_named(
    machines: Machines, local_model: object, tmp_path: Path
) -> None:
    rights = describe_rights("least").replace(">PASSWORD", ">word").split()
    for server in machines.servers:
        await server.ask(*rights)
    async with service(machines, user="least", park_to=tmp_path) as deps:
        await stored(deps, remember("gil", "boat", description="The boat"), now=await deps.connection.now())
        stream = await ask(deps, "gil", "Where is the boat?", now=await deps.connection.now())
        assert (ids(found(stream)), stream.degraded) == (["boat"], ())
        assert deps.graphs.parking is not None
        assert await deps.graphs.parking.park("citizen_gil")
        assert (await read_used("gil", deps)).memories == 1
        await erase(EraseCitizen(citizen_id="gil"), deps, await deps.connection.now(), None)
        assert len(await inspect_servers(deps.connection)) == len(machines.servers)
    async with service(machines) as able:
        assert await compare_rights(able.connection, "least") == ([], [])
        for server in machines.servers:
            await server.ask("ACL", "SETUSER", "least", "-wait", "+flushall")
        assert await compare_rights(able.connection, "least") == (["wait"], ["flushall"])
    async with service(machines, user="least") as deps:
        with pytest.raises(SubstrateError, match="wait"):
            await send(deps, remember("gil", "boat", description="The boat"), now=await deps.connection.now())


async def test_who_was_parked_by_one_service_is_woken_by_another_wherever_it_lies(
    machines: Machines, local_model: object, tmp_path: Path
) -> None:
    names = [f"{citizen}2" for citizen in CITIZENS]
    async with service(machines, park_to=tmp_path) as one, service(machines, park_to=tmp_path) as other:
        for citizen in names:
            boat = remember(citizen, "boat", description=f"The boat of {citizen}")
            await stored(one, boat, now=await one.connection.now())
            assert one.graphs.parking is not None
            assert await one.graphs.parking.park(graph_name(Level.N1, citizen))
        assert not {graph_name(Level.N1, citizen) for citizen in names} & set(await one.connection.graph_names())
        assert set(names) <= set(await other.graphs.citizens())
        for citizen in names[1:]:
            stream = await ask(other, citizen, "Where is the boat?", now=await other.connection.now())
            assert ids(found(stream)) == ["boat"]
            assert not stream.degraded
            await stored(other, remember(citizen, "oar"), now=await other.connection.now())
            assert await held(one, citizen) == ["boat", "oar"]
        await erase(EraseCitizen(citizen_id=names[0]), other, await other.connection.now(), None)
        assert names[0] not in await one.graphs.citizens()
        assert len(await asyncio.to_thread(os.listdir, tmp_path)) == len(names) - 1


async def test_a_user_or_a_password_that_is_wrong_is_told_at_once(machines: Machines, local_model: object) -> None:
    one = f"redis://127.0.0.1:{machines.servers[0].port}"
    for url in (machines.url, one):
        connection = Connection(url.replace("://", "://nobody:word@"), timeout_ms=1000)
        with pytest.raises(Unavailable, match="refuses the user or the password"):
            async with asyncio.timeout(3):
                await connection.now()
        await connection.close()


async def test_what_is_wrong_among_the_servers_is_told(machines: Machines, local_model: object) -> None:
    async with service(machines) as deps:
        assert list(find_faults(await inspect_servers(deps.connection), 1)) == []
        [fault, *_] = find_faults(await inspect_servers(deps.connection), 3)
        assert "a write waits for 3" in fault[0]


async def test_questions_may_ask_replicas_find_what_their_service_wrote_and_say_how_old_that_may_be(
    machines: Machines, local_model: object
) -> None:
    async def asked(server: Server) -> int:
        async with server.client() as client:
            return int((await client.info("commandstats"))["cmdstat_graph.RO_QUERY"]["calls"])

    async with service(machines, read="replica") as deps, service(machines) as plain:
        graph = graph_name(Level.N1, "hal")
        for number in range(4):
            boat = remember("hal", f"boat{number}", description=f"The boat {number}")
            await stored(deps, boat, now=await deps.connection.now())
            stream = await ask(deps, "hal", f"Where is boat {number}?", now=await deps.connection.now())
            assert f"boat{number}" in ids(found(stream))
            assert stream.behind_ms is not None
        primary = await machines.owner(graph)
        replicas = await machines.replicas_of(primary)
        await asyncio.sleep(1.5)  # the notes of the streams are written, and the stamp of the graph is out of date
        before = await asked(primary), sum([await asked(each) for each in replicas])
        stream = await ask(deps, "hal", "What is there on the water?", now=await deps.connection.now())
        after = await asked(primary), sum([await asked(each) for each in replicas])
        assert after[0] == before[0]
        assert after[1] > before[1]
        assert stream.behind_ms is not None
        assert 0 < stream.behind_ms < 5000
        same = await ask(plain, "hal", "What is there on the water?", now=await plain.connection.now())
        assert ids(found(same)) == ids(found(stream))
        assert same.behind_ms is None
        for replica in replicas:
            replica.send(signal.SIGSTOP)
        stream = await ask(deps, "hal", "Is there anything that floats?", now=await deps.connection.now())
        for replica in replicas:
            replica.send(signal.SIGCONT)
        assert set(ids(found(stream))) == {f"boat{number}" for number in range(4)}


async def test_every_acknowledged_command_is_there_once_after_its_primary_was_killed(
    machines: Machines, local_model: object
) -> None:
    async with service(machines) as deps:
        for citizen in CITIZENS:
            await stored(deps, remember(citizen, "first"), now=await deps.connection.now())
        numbers = dict.fromkeys(CITIZENS, 0)

        async def write(citizen: str) -> None:
            while not over.is_set() or numbers[citizen] < 8:
                await send_until_stored(deps, citizen, numbers[citizen])
                numbers[citizen] += 1

        over = asyncio.Event()
        writers = [asyncio.create_task(write(citizen)) for citizen in CITIZENS]
        await asyncio.sleep(0.5)
        primary = await machines.owner(graph_name(Level.N1, CITIZENS[0]))
        primary.send(signal.SIGKILL)
        await machines.until_moved(graph_name(Level.N1, CITIZENS[0]), primary)
        primary.start()
        over.set()
        await asyncio.gather(*writers)
        for citizen in CITIZENS:
            own = {f"m{number}" for number in range(numbers[citizen])}
            assert own <= set(await held(deps, citizen))
            assert len(await held(deps, citizen)) == len(set(await held(deps, citizen)))
            times = await deps.graph(graph_name(Level.N1, citizen)).read(_TIMES)
            assert len(times) == len({int(row[0]) for row in times})
    async with service(machines) as later:
        for citizen in CITIZENS:
            assert {f"m{number}" for number in range(numbers[citizen])} <= set(await held(later, citizen))


async def test_a_transaction_finds_the_server_that_took_over(machines: Machines) -> None:
    connection = Connection(machines.url, timeout_ms=1000, acknowledge="primary")
    key = "substrate:of_the_test"
    try:
        await connection.transaction(("SET", key, 1))
        await fail_over(machines, key)
        async with asyncio.timeout(LEARNED_AGAIN_S - 1):
            while True:
                try:
                    await connection.transaction(("SET", key, 2))
                    break
                except Unavailable:
                    await asyncio.sleep(0.1)
        assert await connection.command("GET", key) == "2"
    finally:
        await connection.close()


async def test_without_a_replica_nothing_is_acknowledged_and_the_answer_says_why(
    machines: Machines, local_model: object
) -> None:
    async with service(machines) as deps:
        await send_until_stored(deps, "fay", 8)
        primary = await machines.owner(graph_name(Level.N1, "fay"))
        replicas = await machines.replicas_of(primary)
        assert replicas
        for replica in replicas:
            replica.send(signal.SIGKILL)
        deps.connection.servers.moving_s = deps.connection.moving_s = 0.0
        said = []
        for number in range(3):
            with pytest.raises(Unavailable) as caught:
                await send(deps, remember("fay", f"m{number}", command_id=f"fay {number}"))
            said.append(caught.value.detail)
        assert "too few replicas" in said[-1]
        for replica in replicas:
            replica.start()
        await send_until_stored(deps, "fay", 9)
        async with service(machines, ack="primary") as careless:
            await send_until_stored(careless, "fay", 10)
        assert {"m8", "m9", "m10"} <= set(await held(deps, "fay"))


async def test_a_primary_that_is_cut_off_acknowledges_nothing_that_is_lost_when_the_network_is_whole(
    local_model: object,
) -> None:
    async with sentinels(timeout_ms=TIMEOUT_MS, doors=True) as machines, service(machines) as deps:
        graph = graph_name(Level.N1, "ada")
        await stored(deps, remember("ada", "first"), now=await deps.connection.now())
        primary = await machines.cut_off(graph, services_reach_all=True)
        for number in range(4):
            await send_until_stored(deps, "ada", number)
        assert await machines.owner(graph) is not primary
        machines.network.mend()
        await send_until_stored(deps, "ada", 4)
        assert await held(deps, "ada") == ["first", "m0", "m1", "m2", "m3", "m4"]
