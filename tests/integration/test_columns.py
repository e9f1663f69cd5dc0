"""What a process holds of a graph in columns is what the store holds, whoever writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from api.cli.doctor import _check_store
from orchestration.dependencies import Deps
from orchestration.features.feedback.feature import tell
from orchestration.graph_queries import six_queries
from orchestration.insertion import apply, apply_atomically
from orchestration.mind.state import change_state
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.transfer.exporter import export
from orchestration.transfer.importer import import_lines
from orchestration.writing.erasure import erase
from schemas.commands import ANY_COMMAND, Command, Correct, EraseCitizen, EraseMemory, Retract
from schemas.errors import SubstrateError
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.mind.feedback import Feedback
from schemas.mind.state import StateChange
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.temporal import Instant, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.connection.graph_columns import GraphColumns
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.graphs import filling
from substrate.graphs.names import GraphOf, graph_name
from substrate.graphs.registry import LOADED_AFTER
from substrate.store import column_reading, neighbours, state_reads
from substrate.store.column_reading import PAGE, check_sample, find_stale, load, read_stale_note
from substrate.store.reader import read_situation
from tests.integration.store import NOW, relate, remember
from tests.integration.test_kept_reads import OWN_TIMES, another_service

SMALL = 9_000
"""Less than all columns of these graphs take."""
NAMES = tuple(f"m{number}" for number in range(14))
WORDS = ("boat", "harbour", "lamp", "keeper", "dog", "rope", "tide", "storm")
QUESTIONS = (
    "the boat in the harbour",
    "who is the keeper of the lamp?",
    "rope and tide",
    "m3 and m7",
    "storm dog",
)
ENERGIES = (0.2, 0.5, 0.9)
FORMS: tuple[dict[str, Any], ...] = ({}, {}, {"min_energy": 0.4}, {"filters": {"node_types": ["Memory"]}})
SECOND, DAY = 1_000_000, 86_400_000_000


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no large graph, nobody waits between two pages of a load, and the nearest are found by the
    vectors, not by comparing all."""
    monkeypatch.setattr(six_queries, "EXACT_BELOW", -1)
    monkeypatch.setattr(state_reads, "DEADLINE_MS", 900)
    monkeypatch.setattr(column_reading, "REST_S", 0.0)


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
    return deps.connection.columns.graphs.get(graph_name(Level.N1, citizen))


async def stale(deps: Deps, citizen: str) -> Sequence[str]:
    """The memories of which the service holds something else than the store in the state that both have; where
    the store is in another state, nothing of it would be used."""
    columns, graph = held_by(deps, citizen), deps.graph(graph_name(Level.N1, citizen))
    if columns is None or columns.state != (await read_situation(graph)).state:
        return []
    return await find_stale(graph, columns, columns.ids)


async def fill(deps: Deps, citizen: str, chance: Random) -> None:
    memories = [
        remember(citizen, name, description=" ".join(chance.sample(WORDS, 3)), energy=chance.choice(ENERGIES))
        for name in NAMES
    ]
    await apply([*memories, *tangle(citizen, chance, 24)], deps, NOW)


def tangle(citizen: str, chance: Random, count: int) -> Iterable[Command]:
    for place in range(count):
        one, two = chance.sample(NAMES, 2)
        named = {"id": f"l{place}-{chance.randbytes(3).hex()}"} if chance.random() < 0.3 else {}
        yield relate(citizen, one, two, energy=chance.choice(ENERGIES), **named)


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
        return [columns.link_version(place).id for place in columns.links(columns.slot(name))]

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
                many = [
                    remember(self.citizen, f"x{self.chance.randbytes(4).hex()}", description="tide")
                    for _ in range(60)
                ]
                await apply(many, writer, self.now)
            case 2:
                await change_state(self.citizen, StateChange(energy=0.9), writer, self.now)
            case 3:
                await tell(self.citizen, Feedback(query_text="tide", used=("m1",)), writer, self.now)
            case _:
                lines = list(await export([GraphOf(Level.N1, self.citizen)], writer, embeddings=True))
                await erase(EraseCitizen(citizen_id=self.citizen), writer, self.now, writer.directory)
                await import_lines(
                    lambda: iter(lines), writer, self.now, citizen_id=self.citizen, progress=lambda *_: None
                )


@settings(max_examples=6, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
@given(st.integers(0, 2**32))
async def test_columns_are_what_the_store_holds_whoever_writes(
    holding: Deps, other: Deps, nothing: Deps, seed: int
) -> None:
    holding.connection.columns.most_bytes = 64 << 20 if seed % 2 else SMALL
    await Life((holding, other, nothing), Random(seed)).live()


# --- what happens while a question is answered ----------------------------------------------------------------


class Between:
    """Does something once, when a service has read so many times."""

    def __init__(self, deps: Deps, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reads = self.at = 0
        self.act: Callable[[], Awaitable[object]] | None = None
        self.names: list[str] = []
        usual = deps.connection.read

        async def read(graph: str, query: Query, header: str, *rest: Any) -> Any:
            rows = await usual(graph, query, header, *rest)
            self.reads += 1
            self.names.append(query.name)
            if self.act is not None and self.reads == self.at:
                act, self.act = self.act, None
                await act()
            return rows

        monkeypatch.setattr(deps.connection, "read", read)

    def plan(self, at: int, act: Callable[[], Awaitable[object]]) -> None:
        self.reads, self.at, self.act = 0, at, act

    async def end(self) -> None:
        """What was planned for after the last read is done now."""
        if self.act is not None:
            act, self.act = self.act, None
            await act()


async def boat(deps: Deps, citizen: str) -> None:
    """A boat and what is around it, and something far from all."""
    texts = {"boat": "The blue boat", "harbour": "Stone", "lamp": "Light", "keeper": "Tom", "dog": "It barks"}
    memories = [remember(citizen, name, description=text) for name, text in texts.items()]
    many = [remember(citizen, f"far-{number}", description="Nothing of it") for number in range(12)]
    chain = [relate(citizen, *pair) for pair in pairwise(texts)]
    assert {receipt.status for receipt in await apply([*memories, *many, *chain], deps, NOW)} == {"stored"}


BLUE = "the blue boat"
LATE = NOW + DAY
MOST_READS = 12


@pytest.mark.parametrize("ends", [("boat", "far-0"), ("harbour", "far-1")])
@pytest.mark.parametrize("is_own", [True, False], ids=["by itself", "by another"])
@pytest.mark.parametrize("how", [{}, {"filters": {"node_types": ["Memory"]}}], ids=["all", "filtered"])
async def test_a_write_in_the_middle_of_a_question_costs_it_no_link_that_was_there(
    holding: Deps,
    other: Deps,
    nothing: Deps,
    fresh_citizen: str,
    monkeypatch: pytest.MonkeyPatch,
    ends: tuple[str, str],
    is_own: bool,
    how: dict[str, Any],
) -> None:
    await boat(other, fresh_citizen)
    between = Between(holding, monkeypatch)
    link = 0

    async def write() -> None:
        weak = relate(fresh_citizen, *ends, energy=0.0, id=f"weak-{fresh_citizen}-{link}")
        receipts = await apply([weak], holding if is_own else other, LATE + link)
        assert receipts[0].status == "stored"

    for link in range(1, MOST_READS):
        await ask(holding, fresh_citizen, BLUE, LATE, **how)  # warm, or cold of one end at least
        if link % 2:
            holding.connection.forget_kept()
        before = await ask(nothing, fresh_citizen, BLUE, LATE + 100, **how)
        between.plan(link, write)
        found = await ask(holding, fresh_citizen, BLUE, LATE + 100, **how)
        await between.end()
        after = await ask(nothing, fresh_citizen, BLUE, LATE + 100, **how)
        assert found in (before, after)
        assert await stale(holding, fresh_citizen) == []


async def test_what_is_erased_while_it_is_asked_for_is_found_by_no_later_question(
    holding: Deps, other: Deps, nothing: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await boat(other, fresh_citizen)
    between = Between(holding, monkeypatch)
    for number, name in enumerate(("lamp", "harbour", "boat")):
        for _ in range(LOADED_AFTER):
            await ask(holding, fresh_citizen, BLUE, LATE)
        await loaded(holding)
        gone = EraseMemory(citizen_id=fresh_citizen, level=Level.N1, id=name)
        between.plan(2 + 2 * number, partial(erase, gone, other, LATE, other.directory))
        await ask(holding, fresh_citizen, BLUE, LATE)
        await between.end()
        found = await ask(holding, fresh_citizen, BLUE, LATE)
        assert found == await ask(nothing, fresh_citizen, BLUE, LATE)
        assert name not in {node["node_id"] for node in found["levels"]["n1_personal"]["graph_results"]}


async def test_a_graph_that_is_erased_while_it_is_read_as_a_whole_is_named_in_no_log(
    holding: Deps, fresh_citizen: str, caplog: pytest.LogCaptureFixture
) -> None:
    graph = holding.graph(graph_name(Level.N1, fresh_citizen))
    await holding.graphs._load(graph, GraphColumns(), load)  # there is none of this name
    assert fresh_citizen not in caplog.text


async def test_ten_that_ask_at_once_a_graph_that_is_opened_have_it_read_once(
    holding: Deps, nothing: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(nothing, fresh_citizen, Random(1))
    between = Between(holding, monkeypatch)
    asked = [text for text in QUESTIONS for _ in range(2)]
    answers = await asyncio.gather(*(ask(holding, fresh_citizen, text, LATE) for text in asked))
    await loaded(holding)
    for text, answer in zip(asked, answers, strict=True):
        assert answer == await ask(nothing, fresh_citizen, text, LATE)
    assert between.names.count(PAGE.name) == 1
    columns = held_by(holding, fresh_citizen)
    assert columns is not None
    assert columns.is_filled


async def test_no_time_of_asking_and_no_clock_that_goes_back_changes_what_is_held(
    holding: Deps, other: Deps, nothing: Deps, fresh_citizen: str
) -> None:
    await boat(other, fresh_citizen)
    later = to_datetime(LATE + 5 * DAY)
    sail = remember(fresh_citizen, "sail", description="White", valid_at=later)
    await apply([sail, relate(fresh_citizen, "boat", "sail", valid_at=later)], other, LATE)
    for now in (LATE + 6 * DAY, LATE, LATE + 9 * DAY, NOW + 1, LATE + 6 * DAY):
        assert await ask(holding, fresh_citizen, BLUE, now) == await ask(nothing, fresh_citizen, BLUE, now)
    for number, now in enumerate((LATE, NOW - DAY, LATE + 7 * DAY, NOW - 9 * DAY)):
        await apply([relate(fresh_citizen, "boat", f"far-{number}", energy=1.0)], other, now)
        found = await ask(holding, fresh_citizen, BLUE, LATE + 8 * DAY)
        assert found == await ask(nothing, fresh_citizen, BLUE, LATE + 8 * DAY)
        assert await stale(holding, fresh_citizen) == []


async def test_nothing_is_held_of_another_start_of_the_engine(holding: Deps, fresh_citizen: str) -> None:
    await boat(holding, fresh_citizen)
    await ask(holding, fresh_citizen, BLUE, LATE)
    assert held_by(holding, fresh_citizen) is not None
    holding.connection._engines = dict.fromkeys(holding.connection._engines, "an earlier start")
    await holding.connection.close()
    await holding.connection.ping()
    assert held_by(holding, fresh_citizen) is None


# --- what others wrote ----------------------------------------------------------------------------------------

LATELY = Query("lately", "MATCH (m:SubstrateMeta) RETURN m.lately")


@pytest.mark.parametrize("kind", ["remember", "relate", "correct", "retract", "state", "all"])
async def test_after_a_write_of_another_only_what_it_changed_is_read_again(
    holding: Deps, other: Deps, nothing: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    await boat(other, fresh_citizen)
    for _ in range(LOADED_AFTER):
        await ask(holding, fresh_citizen, BLUE, LATE)
    await loaded(holding)
    columns = held_by(holding, fresh_citizen)
    writes: dict[str, Command] = {
        "remember": remember(fresh_citizen, "gull", description="A gull"),
        "relate": relate(fresh_citizen, "keeper", "far-3"),
        "correct": Correct(citizen_id=fresh_citizen, id="dog", energy=0.1),
        "retract": Retract(citizen_id=fresh_citizen, id="far-4"),
    }
    for number, (name, command) in enumerate(writes.items()):
        if kind in (name, "all"):
            await apply([command], other, LATE + number)
    if kind in ("state", "all"):
        await change_state(fresh_citizen, StateChange(energy=0.9), other, LATE + 10)
    between = Between(holding, monkeypatch)
    read: list[str] = []
    usual = column_reading.hold

    def hold(columns: GraphColumns, rows: Any, names: Any = None) -> Any:
        read.extend(names or ())
        return usual(columns, rows, names)

    monkeypatch.setattr(neighbours, "hold", hold)
    found = await ask(holding, fresh_citizen, BLUE, LATE + 20)
    assert held_by(holding, fresh_citizen) is columns
    assert set(read) <= {"keeper", "far-3", "dog", "far-4", "gull"}
    assert between.names.count("changed_lately") == 1
    assert found == await ask(nothing, fresh_citizen, BLUE, LATE + 20)


async def test_what_the_last_writes_changed_is_not_exported_and_ends_with_an_erasure(
    holding: Deps, fresh_citizen: str
) -> None:
    graph = holding.graph(graph_name(Level.N1, fresh_citizen))
    await boat(holding, fresh_citizen)
    assert "far-1" not in str(await graph.read(LATELY))  # many at once: it does not say what
    await apply([relate(fresh_citizen, "boat", "far-1")], holding, LATE)
    assert "far-1" in str(await graph.read(LATELY))
    lines = [str(line) for line in await export([GraphOf(Level.N1, fresh_citizen)], holding, embeddings=True)]
    assert "lately" not in "".join(lines)
    gone = EraseMemory(citizen_id=fresh_citizen, level=Level.N1, id="far-1")
    await erase(gone, holding, LATE, holding.directory)
    assert await graph.read(LATELY) == [[None]]


# --- bounds ---------------------------------------------------------------------------------------------------

CROWDED = 20_000


@pytest.mark.parametrize("megabytes", [0, 8, 160])
async def test_a_memory_with_a_crowd_of_links_is_asked_for_in_any_room(
    deps: Deps, nothing: Deps, crowd: str, megabytes: int
) -> None:
    async for one in service(deps, megabytes):
        for text in ("the hub", "m17", "the hub", "m17 and m18", "the hub"):
            found = await ask(one, crowd, text, LATE)
            await loaded(one)
            assert found == await ask(nothing, crowd, text, LATE)
        assert one.connection.columns.bytes <= max(1_000, one.connection.columns.most_bytes)


@pytest.fixture(scope="module")
async def crowd(deps: Deps) -> str:
    """A citizen with a hub that is linked with all else."""
    citizen = f"t{uuid4().hex}"
    others = [remember(citizen, f"m{number}") for number in range(100)]
    await apply([remember(citizen, "hub", description="The hub"), *others], deps, NOW)
    query = Query(
        "crowd",
        "MATCH (a:ConsciousnessNode {id: 'hub'})-[e:LINK]->() WITH a, e LIMIT 1 UNWIND range(1, $count) AS n "
        "MATCH (m:ConsciousnessNode {id: 'm' + toString(n % 100)}) CREATE (a)-[k:LINK]->(m) SET k = properties(e) "
        "SET k.energy = 0.1 + (n % 900) / 1000.0, k.id = 'l' + toString(n) RETURN count(k)",
    )
    await apply([relate(citizen, "hub", "m1")], deps, NOW)
    for _ in range(CROWDED // 2_000):
        await deps.connection.write(graph_name(Level.N1, citizen), query, parameters({"count": 2_000}))
    return citizen


# --- the check ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", ["memory", "link", "vector"])
async def test_a_change_that_is_lost_is_found_and_nothing_of_the_graph_is_held_then(
    holding: Deps, other: Deps, nothing: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    await boat(other, fresh_citizen)
    for _ in range(LOADED_AFTER):
        await ask(holding, fresh_citizen, BLUE, LATE)
    await loaded(holding)
    assert await check_sample(holding.connection) == 0
    told = await read_stale_note(holding.connection)
    with monkeypatch.context() as patched:
        patched.setattr(GraphColumns, "forget", lambda *_: None)
        changes: dict[str, Command] = {
            "memory": Correct(citizen_id=fresh_citizen, id="boat", energy=0.1),
            "vector": Correct(citizen_id=fresh_citizen, id="boat", description="A red boat"),
            "link": relate(fresh_citizen, "boat", "dog"),
        }
        await apply([changes[lost]], other, LATE + 10)
        await ask(holding, fresh_citizen, BLUE, LATE + 20)
    found = await check_sample(holding.connection)
    assert found == (2 if lost == "link" else 1)
    assert held_by(holding, fresh_citizen) is None
    assert holding.connection.columns.stale == found
    assert await read_stale_note(holding.connection) == told + found
    store = StoreSettings(data=holding.directory or Path())
    checks = await _check_store(Settings(store=store, embedding=EmbeddingSettings(embedding="none")))
    assert [check.remedy != "" for check in checks if check.subject == "columns"] == [True]
    assert await ask(holding, fresh_citizen, BLUE, LATE + 20) == await ask(nothing, fresh_citizen, BLUE, LATE + 20)
    assert await check_sample(holding.connection) == 0


async def test_a_check_of_nothing_and_of_what_has_moved_finds_nothing(
    holding: Deps, other: Deps, fresh_citizen: str
) -> None:
    assert await check_sample(holding.connection) == 0
    await boat(other, fresh_citizen)
    await ask(holding, fresh_citizen, BLUE, LATE)
    await apply([relate(fresh_citizen, "boat", "dog")], other, LATE + 10)
    assert await check_sample(holding.connection) == 0
    await erase(EraseCitizen(citizen_id=fresh_citizen), other, LATE + 20, other.directory)
    assert await check_sample(holding.connection) == 0
    assert holding.connection.columns.stale == 0


async def test_a_vector_that_gets_its_digest_later_is_found_by_it(
    holding: Deps, nothing: Deps, fresh_citizen: str
) -> None:
    await boat(nothing, fresh_citizen)
    graph = nothing.graph(graph_name(Level.N1, fresh_citizen))
    await graph.write(Query("older", "MATCH (t:Trace) SET t.digest = null"))
    before = await ask(holding, fresh_citizen, BLUE, LATE)
    await filling.fill(graph, nothing.embedder.dimension)
    after = await ask(holding, fresh_citizen, BLUE, LATE)
    assert after == await ask(nothing, fresh_citizen, BLUE, LATE) != before
