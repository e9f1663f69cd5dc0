"""Another model's vectors for a store that is read and written, on a real engine of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from random import choice
from typing import Any

import pytest

from api.runtime.runtime import open_runtime
from orchestration.dependencies import Deps
from orchestration.retrieval import retrieve
from orchestration.upkeep.reembedding import reembed_store
from orchestration.upkeep.sweep import sweep
from orchestration.writing.records import embedded_text
from schemas.commands import Retract, Supersede
from schemas.errors import StoreMisfit
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.upkeep.findings import ReembedReport, SweepRequest
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.cypher.query import Query
from substrate.graphs import filling, registry
from substrate.graphs.names import graph_name
from substrate.graphs.registry import FILLING, read_stamp
from substrate.inference.embeddings import Embedder, open_embedder
from substrate.likeness.elements import Role, set_name
from tests.integration.store import NOW, ask, ids, moment, remember, send, stored

SMALL = "tests.integration.small_embedder:Small"
OTHER = "tests.integration.small_embedder:Other"
SLOW = "tests.integration.small_embedder:Slow"
STUCK = "tests.integration.small_embedder:Stuck"
WORDS = "amber birch cedar dune ember fjord grove heath islet jetty knoll lagoon marsh nook oasis prairie".split()
COUNT = Query("count_traces", "MATCH (n) RETURN labels(n)[0], count(n)")
COVERED = Query(
    "covered",
    "MATCH (n) WHERE n:ConsciousnessNode OR n:PastVersion "
    "OPTIONAL MATCH (n)-[:HAS_TRACE]->(t) RETURN count(DISTINCT n), count(t), count(t.embedding)",
)

SAID = Query(
    "said", "MATCH (n:ConsciousnessNode) WHERE n.expired_at > 9000000000000000 RETURN n.id, n.description"
)
APART = Query(
    "apart",
    "UNWIND $expected AS x MATCH (n:ConsciousnessNode {id: x.id}) WITH x, n MATCH (n)-[:HAS_TRACE]->(t:Trace) "
    "RETURN n.id, vec.cosineDistance(t.embedding, vecf32(x.embedding))",
)

type OpenStore = Callable[[str], AbstractAsyncContextManager[Deps]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def open_store(data: Path) -> OpenStore:
    @asynccontextmanager
    async def opened(embedding: str) -> AsyncIterator[Deps]:
        chosen = EmbeddingSettings(embedding=embedding)
        async with open_runtime(Settings(store=StoreSettings(data=data), embedding=chosen)) as runtime:
            yield runtime.deps

    return opened


async def told(deps: Deps, citizen: str = "ada") -> None:
    """Sixteen memories, one with a past, one that is withdrawn, one that will be true tomorrow."""
    await stored(deps, *(remember(citizen, word, description=f"the {word} lies in the north") for word in WORDS))
    later = {"citizen_id": citizen, "expected_version": None}
    await stored(deps, Supersede(id="amber", description="the amber was sold", **later), now=NOW + 1000)
    await stored(deps, Retract(id="birch", **later), now=NOW + 2000)


async def alike(deps: Deps, text: str, **fields: Any) -> list[str]:
    """The nearest memories by likeness alone, nearest first."""
    stream = await ask(deps, "ada", text, now=NOW + 5000, **fields)
    assert stream.degraded == ()
    return ids(stream.levels["n1_personal"].vector_results)


async def labels(connection: Connection, citizen: str = "ada") -> dict[str, int]:
    rows = await connection.read(graph_name(Level.N1, citizen), COUNT, parameters({}))
    return {row[0]: row[1] for row in rows if "Trace" in row[0]}


async def covered(deps: Deps, citizen: str = "ada") -> tuple[int, int, int]:
    """Records, their traces in use, and those with an embedding."""
    [row] = await deps.connection.read(graph_name(Level.N1, citizen), COVERED, parameters({}))
    return row[0], row[1], row[2]


async def stale(deps: Deps, citizen: str = "ada") -> list[str]:
    """The memories whose embedding is not that of what they say."""
    graph = graph_name(Level.N1, citizen)
    said = await deps.connection.read(graph, SAID, parameters({}))
    texts = [embedded_text({"name": row[0], "description": row[1]}) for row in said]
    vectors = await deps.embedder.embed_texts(texts)
    expected = [{"id": row[0], "embedding": vector} for row, vector in zip(said, vectors, strict=True)]
    rows = await deps.connection.read(graph, APART, parameters({"expected": expected}))
    return [row[0] for row in rows if float(row[1]) > 0.001]


async def other_embedder(embedding: str) -> Embedder:
    return await open_embedder(EmbeddingSettings(embedding=embedding)).ready()


async def reembedded(deps: Deps, embedding: str) -> ReembedReport:
    return await reembed_store(deps.connection, await other_embedder(embedding), grace=0.0)


async def test_after_a_reembedding_all_is_as_if_the_model_had_always_been_the_new_one(
    open_store: OpenStore, tmp_path: Path
) -> None:
    past = {"temporal_mode": "point_in_time", "as_of_time": moment(100), "known_at": moment(100)}
    async with open_store(SMALL) as deps:
        await told(deps)
        report = await reembedded(deps, OTHER)
        assert (report.model, report.dimension, report.graphs, report.records) == (
            "other",
            96,
            ("citizen_ada",),
            18,
        )
        assert await labels(deps.connection) == {"TraceB": 15, "PastTraceB": 2}
        assert (await reembedded(deps, OTHER)).graphs == ()
    async with open_store(OTHER) as deps:
        assert await deps.graphs.for_reading("citizen_ada")
        graph = deps.graph("citizen_ada")
        held = [await deps.connection.command("VCARD", set_name(graph.name, Role.MEMORIES, n)) for n in (0, 1)]
        assert held == [0, 17 + 1]
        assert await filling.are_complete(graph, deps.embedder.dimension)
        now = [await alike(deps, text) for text in ("the amber was sold", *WORDS)]
        then = [await alike(deps, text, **past) for text in ("amber in the north", *WORDS)]
        await send(deps, remember("ada", "quay", description="the quay"))
        assert (await alike(deps, "quay"))[0] == "quay"
        await reembedded(deps, SMALL)
        assert await labels(deps.connection) == {"Trace": 16, "PastTrace": 2}
    data = StoreSettings(data=tmp_path / "fresh")
    async with open_runtime(Settings(store=data, embedding=EmbeddingSettings(embedding=OTHER))) as fresh:
        await told(fresh.deps)
        assert [await alike(fresh.deps, text) for text in ("the amber was sold", *WORDS)] == now
        assert [await alike(fresh.deps, text, **past) for text in ("amber in the north", *WORDS)] == then


async def test_no_answer_that_was_kept_outlives_the_vectors_that_found_it(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = count(step=2 * int(registry.STAMP_VALID_S))
    monkeypatch.setattr(registry, "_monotonic", lambda: float(next(ticks)))
    asked = RetrievalIntention(citizen_id="ada", query_text="cedar in the north", query_levels=[Level.N1])

    async def was_kept(deps: Deps) -> bool:
        return (await retrieve(asked, deps, NOW + 5000)).was_kept

    async with open_store(SMALL) as deps:
        await told(deps)
        assert [await was_kept(deps) for _ in range(3)] == [False, True, True]
        await reembedded(deps, OTHER)
        with pytest.raises(StoreMisfit, match="other"):
            await was_kept(deps)
        await reembedded(deps, SMALL)
        assert await was_kept(deps), "the vectors are those that found it"


async def test_reads_and_writes_go_on_until_all_vectors_are_there_and_none_is_lost(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "STAMP_VALID_S", 0.05)
    answers: list[int] = []
    written: list[str] = []
    under_way = asyncio.Event()

    async def read(deps: Deps) -> None:
        while True:
            answers.append(len(await alike(deps, "cedar in the north")))
            await asyncio.sleep(0.001)

    async def write(deps: Deps) -> None:
        for number in count():
            name = f"note-{number}"
            await stored(deps, remember("ada", name, description=f"note {number}"), now=NOW + 3000)
            change = Supersede(citizen_id="ada", id=choice(WORDS[2:]), description=f"changed {number}")
            await send(deps, change, now=NOW + 4000 + number)
            written.append(name)
            if number == 5:
                under_way.set()

    async with open_store(SMALL) as deps, open_store(OTHER) as new:
        await told(deps)
        use = asyncio.gather(read(deps), write(deps), return_exceptions=True)
        await under_way.wait()
        before = len(answers), len(written)
        await reembed_store(new.connection, new.embedder, grace=2.0)
        ended = await use
        assert [type(end) for end in ended] == [StoreMisfit, StoreMisfit], ended
        assert len(answers) > before[0]
        assert len(written) > before[1]
        assert min(answers) >= 15
        assert await stale(new) == []
        records, traces, vectors = await covered(new)
        assert records == traces == vectors
        assert set(await labels(new.connection)) == {"TraceB", "PastTraceB"}
        assert written[-1] in await alike(new, f"note {len(written) - 1}")


async def test_killed_in_the_middle_it_goes_on_where_it_was(
    open_store: OpenStore, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", STUCK)
    async with open_store(SMALL) as deps:
        await told(deps)
        await stored(deps, *(remember("ada", f"note-{number}") for number in range(60)))
        before = await alike(deps, "cedar")
        command = (sys.executable, "-m", "api.cli", "--data", str(data), "reembed")
        killed = await asyncio.create_subprocess_exec(*command, cwd=Path(__file__).parents[2])
        for _ in range(15_000):
            if (await labels(deps.connection)).get("TraceB", 0) or killed.returncode is not None:
                break
            await asyncio.sleep(0.02)
        killed.kill()
        await killed.wait()
        made = sum(size for label, size in (await labels(deps.connection)).items() if label.endswith("B"))
        assert 0 < made < 76
        assert await alike(deps, "cedar") == before
        stamp = await read_stamp(deps.graph("citizen_ada"))
        assert stamp is not None
        assert (stamp.embedding_model, stamp.other_model, stamp.other_state) == ("small", "slow", FILLING)
        report = await reembedded(deps, SLOW)
        assert report.records == 78 - made
        assert await labels(deps.connection) == {"TraceB": 75, "PastTraceB": 2}


class Broken(Exception):
    """What stands for the end of the process."""


async def test_broken_off_at_any_write_the_same_call_completes_it(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(SMALL) as deps:
        await told(deps)
        write = deps.connection.write
        for place in count(1):
            left = place

            async def breaking(*asked: Any) -> Any:
                nonlocal left
                left -= 1
                if left == 0:
                    raise Broken
                return await write(*asked)

            embedding = OTHER if place % 2 else SMALL
            with monkeypatch.context() as patched:
                patched.setattr(deps.connection, "write", breaking)
                with suppress(Broken):
                    await reembedded(deps, embedding)
            await reembedded(deps, embedding)
            names = ("TraceB", "PastTraceB") if place % 2 else ("Trace", "PastTrace")
            assert await labels(deps.connection) == dict(zip(names, (15, 2), strict=True)), place
            if left > 0:
                break
        assert place > 10


async def test_a_sweep_under_another_model_says_that_the_embeddings_are_stale_and_no_more(
    open_store: OpenStore,
) -> None:
    async with open_store(SMALL) as deps:
        await told(deps)
        await reembedded(deps, OTHER)
    async with open_store(SMALL) as deps:
        [report] = (await sweep(SweepRequest(citizen_id="ada", levels=(Level.N1,)), deps)).reports
        assert report.findings_by_kind["embedding_stale"] == 1
        assert "embedding_missing" not in report.findings_by_kind
        assert any("substrate reembed" in finding.message for finding in report.findings)
