"""Of a graph with more memories than a service can keep it reads and keeps less, and answers the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import batched
from random import Random
from typing import Any

import pytest

from orchestration import stream_completion
from orchestration.dependencies import Deps
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.writing.erasure import erase
from schemas.commands import Command, EraseMemory
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.stream import ConsciousnessStream
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.graphs.registry import LOADED_AFTER
from substrate.store.neighbours import Neighbours
from tests.integration.store import ASKED, relate, remember, stored
from tests.integration.test_kept_reads import OWN_TIMES, another_service

WORDS = ("boat", "harbour", "lamp", "keeper", "dog", "rope", "tide", "storm", "letter", "bell", "cook", "map")
ASKS = (
    "boat and lamp",
    "who is the keeper of the harbour?",
    "storm",
    "m3, m7 and m13",
    "rope tide bell letter cook",
)
MEMORIES = 300
"""More than are compared one by one: the nearest are found by the vectors."""


@asynccontextmanager
async def service_with(deps: Deps, megabytes: int) -> AsyncIterator[Deps]:
    """Another service on the same engine, which keeps no more than this."""
    service = another_service(deps)
    service.connection.keep_at_most(megabytes)
    try:
        yield service
    finally:
        await service.graphs.close()
        await service.connection.close()


def tangle(citizen: str, random: Random) -> list[Command]:
    """Links by chance: some pairs are linked many times, some memories are hubs, one has a crowd of links."""
    energy = [0.2, 0.5, 0.5, 0.9]
    pairs = [(random.randrange(MEMORIES), random.randrange(MEMORIES)) for _ in range(800)]
    pairs += [(3, 7)] * 6 + [(7, random.randrange(MEMORIES))] + [(3, 8), (8, 3), (8, 3), (8, 9)]
    pairs += [(hub, random.randrange(MEMORIES)) for hub in (10, 11, 12) for _ in range(70)]
    pairs += [(13, random.randrange(MEMORIES)) for _ in range(270)]
    pairs += [(start, hub) for start in (3, 4, 5) for hub in (10, 11, 12, 13)]
    return [
        relate(citizen, f"m{one}", f"m{other}", id=f"l{place}", energy=random.choice(energy))
        for place, (one, other) in enumerate(pairs)
        if one != other
    ]


async def fill(deps: Deps, citizen: str, seed: int) -> None:
    random = Random(seed)
    texts = [" ".join(random.sample(WORDS, 3)) for _ in range(MEMORIES)]
    for part in batched(enumerate(texts), 100):
        await stored(deps, *(remember(citizen, f"m{n}", description=text) for n, text in part))
    for some in batched(tangle(citizen, random), 100):
        await stored(deps, *some)


async def ask(deps: Deps, citizen: str, text: str, **fields: Any) -> ConsciousnessStream:
    fields = {"citizen_id": citizen, "query_text": text, "query_levels": (Level.N1,), **fields}
    stream = await retrieve_consciousness_context(RetrievalIntention.model_validate(fields), deps, ASKED + 5000)
    assert not stream.degraded
    return stream


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("megabytes", [0, 1], ids=["keeps nothing", "keeps a few"])
async def test_a_large_graph_answers_as_a_small_one(
    deps: Deps, fresh_citizen: str, seed: int, megabytes: int
) -> None:
    await fill(deps, fresh_citizen, seed)
    async with service_with(deps, megabytes) as service:
        await compare(service, deps, fresh_citizen)


async def compare(small_service: Deps, deps: Deps, fresh_citizen: str) -> None:
    """Each question twice to the one that keeps little, and once to the other."""
    for fields in ({"explain": True}, {"min_energy": 0.4}, {"filters": {"node_types": ["Thing", "Memory"]}}):
        for text in ASKS:
            expected = (await ask(deps, fresh_citizen, text, **fields)).model_dump(mode="json", exclude=OWN_TIMES)
            for _ in range(2):
                found = await ask(small_service, fresh_citizen, text, **fields)
                assert found.model_dump(mode="json", exclude=OWN_TIMES) == expected


async def damage(deps: Deps, citizen: str, how: str, *ids: str) -> None:
    """What no command of ours does."""
    query = Query("damage", f"MATCH (n:ConsciousnessNode) WHERE n.id IN $ids {how}")
    await deps.connection.write(graph_name(Level.N1, citizen), query, parameters({"ids": list(ids)}))


@pytest.mark.parametrize("value", ["n.energy = null", "n.energy = 'high'", "n.confidence = null"])
async def test_a_memory_with_an_energy_that_is_no_number_hides_no_other(
    deps: Deps, fresh_citizen: str, value: str
) -> None:
    tea = [remember(fresh_citizen, name, description=f"A green {name}") for name in ("tea", "cup")]
    await stored(deps, *tea, relate(fresh_citizen, "cup", "tea"))
    await damage(deps, fresh_citizen, f"SET {value}", "tea")
    level = (await ask(deps, fresh_citizen, "a green tea")).levels["n1_personal"]
    assert {memory.node_id for memory in (*level.vector_results, *level.graph_results)} == {"cup"}


async def test_a_memory_that_is_erased_between_two_looks_at_its_links_has_none(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(deps, fresh_citizen, 1)
    looked: list[Sequence[int]] = []
    read = Neighbours.read

    async def erase_before(self: Neighbours, slots: Iterable[int], wanted: int) -> None:
        if not wanted and not looked:
            await damage(deps, fresh_citizen, "DETACH DELETE n", *[self.columns.ids[slot] for slot in slots])
        looked.append([*slots])
        await read(self, slots, wanted)

    monkeypatch.setattr(Neighbours, "read", erase_before)
    async with service_with(deps, 0) as service:
        for text in ASKS:
            await ask(service, fresh_citizen, text)
    assert looked


async def test_a_graph_that_is_asked_again_is_held_whole_and_answers_the_same(
    deps: Deps, fresh_citizen: str
) -> None:
    await fill(deps, fresh_citizen, 0)
    async with service_with(deps, 64) as service:
        for text in ASKS[:LOADED_AFTER]:
            await ask(service, fresh_citizen, text)
        await asyncio.gather(*service.graphs._loading.values())
        await compare(service, deps, fresh_citizen)


async def test_what_is_erased_while_an_answer_is_made_is_not_kept(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(deps, fresh_citizen, 0)
    async with service_with(deps, 1) as service:
        level = (await ask(service, fresh_citizen, "boat and lamp")).levels["n1_personal"]
        gone = EraseMemory(citizen_id=fresh_citizen, level=Level.N1, id=level.vector_results[0].node_id)
        service.connection.forget_kept()

        usual = stream_completion.read_contested

        async def erase_before(*arguments: Any) -> Any:
            await erase(gone, service, ASKED + 9000, deps.directory)
            return await usual(*arguments)

        monkeypatch.setattr(stream_completion, "read_contested", erase_before)
        await ask(service, fresh_citizen, "boat and lamp")
        assert not service.connection.columns.graphs
