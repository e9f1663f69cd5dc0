"""What a process holds of a graph in columns is what the store holds, whoever writes, and answers what rows answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from orchestration.dependencies import Deps
from orchestration.features.feedback.feature import tell
from orchestration.insertion import apply, apply_atomically
from orchestration.mind.state import change_state
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.transfer.exporter import export
from orchestration.transfer.importer import import_lines
from orchestration.transfer.line_format import Origin
from orchestration.writing.erasure import erase
from schemas.commands import ANY_COMMAND, Command, EraseCitizen, EraseMemory
from schemas.errors import SubstrateError
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.mind.feedback import Feedback
from schemas.mind.state import StateChange
from schemas.temporal import Instant, to_datetime
from substrate.columns import reading
from substrate.columns.graph_columns import GraphColumns
from substrate.columns.reading import GraphMoved, find_stale
from substrate.connection.errors import GraphMissing
from substrate.graphs.names import graph_name
from substrate.store import state_reads
from substrate.store.reader import read_situation
from tests.integration.store import NOW, relate, remember
from tests.integration.test_kept_reads import OWN_TIMES, another_service

NAMES = tuple(f"m{number}" for number in range(14))
WORDS = ("boat", "harbour", "lamp", "keeper", "dog", "rope", "tide", "storm")
QUESTIONS = ("the boat in the harbour", "who is the keeper of the lamp?", "rope and tide", "m3 and m7", "storm dog")
FORMS: tuple[dict[str, Any], ...] = ({}, {}, {"min_energy": 0.4}, {"filters": {"node_types": ["Memory"]}})
SECOND, DAY = 1_000_000, 86_400_000_000


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no large graph, and nobody waits between two pages of a load."""
    monkeypatch.setattr(state_reads, "DEADLINE_MS", 900)
    monkeypatch.setattr(reading, "REST_S", 0.0)


async def service(deps: Deps, megabytes: int) -> AsyncIterator[Deps]:
    one = another_service(deps)
    one.connection.keep_at_most(megabytes)
    one.connection.answers.most_bytes = 0
    yield one
    await one.graphs.close()
    await one.connection.close()


@pytest.fixture
async def holding(deps: Deps) -> AsyncIterator[Deps]:
    async for one in service(deps, 160):
        yield one


@pytest.fixture
async def other(deps: Deps) -> AsyncIterator[Deps]:
    async for one in service(deps, 8):
        yield one


@pytest.fixture
async def nothing(deps: Deps) -> AsyncIterator[Deps]:
    """A service that holds nothing: it answers from the rows of each question."""
    async for one in service(deps, 0):
        yield one


async def ask(deps: Deps, citizen: str, text: str, now: Instant, **how: Any) -> dict[str, Any]:
    own = {"citizen_id": citizen, "query_text": text, "query_levels": ["N1"]}
    stream = await retrieve_consciousness_context(RetrievalIntention.model_validate({**own, **how}), deps, now)
    assert not stream.degraded
    return stream.model_dump(mode="json", exclude=OWN_TIMES)


async def loaded(deps: Deps) -> None:
    """When the columns of all graphs that were asked often are filled."""
    await asyncio.gather(*deps.graphs._loading.values())


def held_by(deps: Deps, citizen: str) -> GraphColumns | None:
    return deps.connection.columns._graphs.get(graph_name(Level.N1, citizen))


async def stale(deps: Deps, citizen: str) -> Sequence[str]:
    """The memories of which the service holds something else than the store in the state that both have; where
    the store is in another state, nothing of it would be used."""
    columns, graph = held_by(deps, citizen), deps.graph(graph_name(Level.N1, citizen))
    if columns is None or columns.state != (await read_situation(graph)).state:
        return []
    return await find_stale(graph, columns, columns.ids)


async def fill(deps: Deps, citizen: str, chance: Random) -> None:
    memories = [
        remember(citizen, name, description=" ".join(chance.sample(WORDS, 3)), energy=chance.choice((0.2, 0.5, 0.9)))
        for name in NAMES
    ]
    await apply([*memories, *tangle(citizen, chance, 24)], deps, NOW)


def tangle(citizen: str, chance: Random, count: int) -> Iterable[Command]:
    for place in range(count):
        one, two = chance.sample(NAMES, 2)
        named = {"id": f"l{place}-{chance.randbytes(3).hex()}"} if chance.random() < 0.3 else {}
        yield relate(citizen, one, two, energy=chance.choice((0.2, 0.5, 0.9)), **named)


class Life:
    """A citizen whose memories two services change at random, and of which one holds columns."""

    def __init__(self, services: tuple[Deps, Deps, Deps], chance: Random) -> None:
        self.holding, self.other, self.nothing = services
        self.chance, self.citizen, self.now = chance, f"t{uuid4().hex}", NOW
        self.named: list[str] = []

    async def live(self) -> None:
        await fill(self.other, self.citizen, self.chance)
        self.now += DAY
        for _ in range(4):
            await self.same()
        await loaded(self.holding)
        for _ in range(10):
            writer = self.chance.choice((self.holding, self.other))
            for _ in range(self.chance.choice((1, 1, 2, 3))):
                self.now += self.chance.choice((1, SECOND, DAY, -SECOND))
                with suppress(SubstrateError, GraphMissing):
                    await self.chance.choice((*[self.command] * 9, *[self.list] * 2, self.rest))(writer)
            await self.same()

    async def same(self) -> None:
        """The same answer from columns as from rows, and the same in all that is held."""
        text, how = self.chance.choice(QUESTIONS), self.chance.choice(FORMS)
        now = self.now + self.chance.choice((0, 0, SECOND, 3 * DAY, -SECOND))
        try:
            due = await ask(self.nothing, self.citizen, text, now, **how)
        except GraphMissing:
            return
        assert await ask(self.holding, self.citizen, text, now, **how) == due
        assert await stale(self.holding, self.citizen) == []

    def made(self) -> Command:
        name, another = self.chance.sample(NAMES, 2)
        kind = self.chance.choice(
            ("remember", "remember", "relate", "relate", "supersede", "correct", "retract", "undo", "resolve",
             "supersede_link", "correct_link", "unrelate", "undo_link")
        )  # fmt: skip
        fields: dict[str, Any] = {"command": kind, "citizen_id": self.citizen, "id": name}
        moment = to_datetime(self.now + self.chance.choice((-DAY, -SECOND, SECOND, 2 * DAY)))
        energy = {"energy": self.chance.choice((0.1, 0.5, 1.0))}
        if kind == "relate":
            return next(iter(tangle(self.citizen, self.chance, 1)))
        if kind == "remember":
            fields |= {"name": name, "description": " ".join(self.chance.sample(WORDS, 3)), **energy}
            if self.chance.random() < 0.7:
                fields["id"] = f"{name}-{self.chance.randbytes(3).hex()}"
            fields |= self.chance.choice(({}, {"valid_at": moment}, {"speaker": "Ada"}))
        elif kind.endswith("link") or kind == "unrelate":
            fields["id"] = f"{name}|NEXT|{another}"
            links = [each for name in NAMES for each in self.links(name)]
            if links:
                fields["id"] = self.chance.choice(links)
        if kind.startswith(("supersede", "correct")):
            fields |= energy
        if kind in ("supersede", "retract", "resolve", "unrelate") and self.chance.random() < 0.4:
            fields["effective_at"] = moment
        return ANY_COMMAND.validate_python(fields)

    def links(self, name: str) -> list[str]:
        columns = held_by(self.holding, self.citizen)
        if columns is None or name not in columns.ids:
            return []
        return [columns.link(number, name)[0].id for number in columns.links(name)]

    async def command(self, writer: Deps) -> None:
        await apply([self.made() for _ in range(self.chance.choice((1, 1, 3)))], writer, self.now)

    async def list(self, writer: Deps) -> None:
        await apply_atomically([self.made() for _ in range(self.chance.choice((2, 4)))], writer, self.now)

    async def rest(self, writer: Deps) -> None:
        match self.chance.randrange(5):
            case 0:
                memory = EraseMemory(citizen_id=self.citizen, level=Level.N1, id=self.chance.choice(NAMES))
                await erase(memory, writer, self.now, writer.directory)
            case 1:
                many = [remember(self.citizen, f"x{self.chance.randbytes(4).hex()}", description="tide") for _ in range(60)]
                await apply(many, writer, self.now)
            case 2:
                await change_state(self.citizen, StateChange(energy=0.9), writer, self.now)
            case 3:
                await tell(self.citizen, Feedback(query_text="tide", used=("m1",)), writer, self.now)
            case _:
                lines = list(await export([Origin(Level.N1, self.citizen)], writer, embeddings=True))
                await erase(EraseCitizen(citizen_id=self.citizen), writer, self.now, writer.directory)
                quiet = {"citizen_id": self.citizen, "progress": lambda *_: None}
                await import_lines(lambda: iter(lines), writer, self.now, **quiet)


@settings(max_examples=8, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
@given(st.integers(0, 2**32))
async def test_columns_are_what_the_store_holds_whoever_writes(
    holding: Deps, other: Deps, nothing: Deps, seed: int
) -> None:
    await Life((holding, other, nothing), Random(seed)).live()
