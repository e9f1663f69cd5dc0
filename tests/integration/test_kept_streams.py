"""An answer that was kept is the one that would be found now, whatever was written and whoever wrote it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any
from uuid import uuid4

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.exceptions import ResponseError

from orchestration import kept_streams, retrieval, stream_completion
from orchestration.dependencies import Deps, LearnedCache
from orchestration.features.feedback.feature import take_back, tell
from orchestration.features.withholding.quarantine import quarantine, release
from orchestration.features.withholding.values import QuarantineChange, QuarantineRequest
from orchestration.insertion import apply
from orchestration.kept_streams import Retrieved
from orchestration.mind.state import change_state
from orchestration.mind.stream_notes import read_stream_notes
from orchestration.retrieval import retrieve
from orchestration.transfer.exporter import export
from orchestration.transfer.importer import import_lines
from orchestration.upkeep.repair import run_repair
from orchestration.writing.erasure import erase
from schemas.commands import ANY_COMMAND, EraseCitizen, EraseMemory
from schemas.errors import SubstrateError
from schemas.intention import RetrievalIntention
from schemas.memory import HalfLives, Level
from schemas.mind.feedback import Feedback
from schemas.mind.state import StateChange
from schemas.temporal import Instant, to_datetime, to_instant
from schemas.upkeep.findings import RetractLink
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection
from substrate.cypher.query import Query
from substrate.graphs.names import GraphOf, graph_name
from substrate.graphs.registry import Graphs
from substrate.store import state_reads
from tests.integration.store import NOW, links, relate, remember, stored

OWN = {"intention_id", "stream_id", "retrieved_at", "retrieval_latency_ms", "stage_ms", "timings", "token_counts"}
"""The ids and times of an answer, and what these cost."""
QUESTION = "Where does the blue boat sleep?"
QUESTIONS = (
    QUESTION,
    "Who burns the lamp at night?",
    "What happened yesterday in the harbour?",
    "before the storm",
)
NAMES = ("boat", "harbour", "lamp", "keeper", "storm")
TEXTS = (
    "The blue boat sleeps in the harbour",
    "Water and stone",
    "It burns at night",
    "Tom",
    "The storm broke it",
)
SECOND, HOUR, DAY = 1_000_000, 3_600_000_000, 86_400_000_000
FORMS: tuple[dict[str, Any], ...] = (
    {},
    {"query_levels": ["N1", "N2", "N3"]},
    {"form": "references"},
    {"form": "compact"},
    {"parts": ["activation_tiers", "energy", "rules"]},
    {"max_tokens": 1500},
    {"explain": True, "rerank": "mmr", "require_valid": True},
    {"current_emotions": {"joy": 0.6}, "current_goal": "sail"},
)


def service(deps: Deps) -> Deps:
    """Another service on the same engine, which keeps its own."""
    assert deps.directory is not None
    connection = Connection(f"unix://{deps.directory / 'engine.sock'}", timeout_ms=deps.connection.timeout_ms)
    graphs = Graphs(connection, model=deps.embedder.model, dimension=deps.embedder.dimension)
    return replace(deps, connection=connection, graphs=graphs, learned=LearnedCache())


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no large graph."""
    monkeypatch.setattr(state_reads, "DEADLINE_MS", 900)


@pytest.fixture
async def kept(deps: Deps) -> AsyncIterator[Deps]:
    one = service(deps)
    yield one
    await one.graphs.close()
    await one.connection.close()


@pytest.fixture
async def other(deps: Deps) -> AsyncIterator[Deps]:
    one = service(deps)
    yield one
    await one.graphs.close()
    await one.connection.close()


@pytest.fixture
def plain(deps: Deps) -> Deps:
    """A service that keeps no answer."""
    assert deps.connection.answers.most_bytes == 0
    return deps


@pytest.fixture
async def boat(deps: Deps, fresh_citizen: str) -> str:
    """A citizen with five memories in a row."""
    await fill(deps, fresh_citizen)
    return fresh_citizen


async def fill(deps: Deps, citizen: str) -> None:
    memories = [remember(citizen, name, description=text) for name, text in zip(NAMES, TEXTS, strict=True)]
    await stored(deps, *memories, *(relate(citizen, *pair) for pair in pairwise(NAMES)))


async def ask(
    deps: Deps, citizen: str, text: str = QUESTION, *, now: Instant = NOW + HOUR, **how: Any
) -> Retrieved:
    """The answer, sent."""
    own = {"citizen_id": citizen, "query_text": text, "query_levels": ["N1"]}
    return await retrieve(RetrievalIntention.model_validate({**own, **how}), deps, now)


def told(answer: Retrieved, deps: Deps, **how: Any) -> dict[str, Any]:
    """What an answer says as it is sent, without its own ids and times."""
    asked = RetrievalIntention.model_validate({"citizen_id": "c", "query_text": QUESTION, **how})
    sent = orjson.loads(answer.send(asked, deps))
    assert sent["stream_id"] == answer.stream.stream_id
    assert sent["intention_id"] == answer.stream.intention_id
    return {name: value for name, value in sent.items() if name not in OWN}


async def both(kept: Deps, plain: Deps, citizen: str, text: str = QUESTION, **how: Any) -> tuple[Retrieved, Any]:
    """The answer of a service that keeps, which is that of one that does not."""
    now = how.pop("now", NOW + HOUR)
    found = await ask(plain, citizen, text, now=now, **how)
    answer = await ask(kept, citizen, text, now=now, **how)
    said = told(answer, kept, **how)
    assert said == told(found, plain, **how)
    assert answer.stream.model_dump(exclude=OWN) == found.stream.model_dump(exclude=OWN)
    return answer, said


async def shows(deps: Deps, citizen: str, **how: Any) -> str:
    """All that the answer says, as text."""
    return str(told(await ask(deps, citizen, **how), deps))


# --- random histories -----------------------------------------------------------------------------------------


class Life:
    """A citizen whose memories are changed at random by two services, and asked for by one that keeps answers."""

    def __init__(self, services: tuple[Deps, Deps, Deps], chance: Random) -> None:
        self.kept, self.other, self.plain = services
        self.chance, self.citizen, self.now = chance, f"t{uuid4().hex}", NOW
        self.hits = self.written = 0

    async def live(self) -> None:
        await fill(self.plain, self.citizen)
        self.now += HOUR
        for _ in range(self.chance.randint(3, 9)):
            await self.step()

    async def step(self) -> None:
        text, how = self.chance.choice(QUESTIONS), self.chance.choice(FORMS)
        for _ in range(self.chance.randint(1, 4)):
            self.now += self.chance.choice((1, SECOND, HOUR, DAY, 40 * DAY, -SECOND, -DAY))
            answer, _ = await both(self.kept, self.plain, self.citizen, text, now=self.now, **how)
            self.hits += answer.was_kept
        writer = self.chance.choice((self.kept, self.other))
        for _ in range(self.chance.randint(0, 2)):
            try:
                await self.chance.choice((self.command, self.command, self.command, self.rest))(writer)
                self.written += 1
            except (SubstrateError, GraphMissing):
                continue  # refused: nothing was written

    def some(self, **fields: Callable[[], Any]) -> dict[str, Any]:
        """Some of the fields."""
        return {name: make() for name, make in fields.items() if self.chance.random() < 0.4}

    def later(self) -> Any:
        return to_datetime(self.now + self.chance.choice((SECOND, HOUR, 2 * DAY, 50 * DAY)))

    def moment(self) -> Any:
        return to_datetime(self.now + self.chance.choice((-DAY, -SECOND, SECOND, HOUR, 2 * DAY, 50 * DAY)))

    async def command(self, writer: Deps) -> None:
        kind = self.chance.choice(("remember", "relate", "supersede", "correct", "retract", "undo", "resolve"))
        name, another = self.chance.sample((*NAMES, "mast"), 2)
        fields: dict[str, Any] = {"command": kind, "citizen_id": self.citizen, "id": name}
        said = {"description": self.chance.choice((*TEXTS, "White sails of the blue boat"))}
        said |= self.some(energy=self.chance.random)
        if kind == "remember":
            new = f"{name}-{self.now}"
            fields |= {"id": new, "name": name, **said}
            fields |= self.chance.choice(({}, {"valid_at": self.later()}, {"invalid_at": self.later()}))
        elif kind == "relate":
            link = relate(self.citizen, name, another, **self.some(valid_at=self.moment))
            await apply([link], writer, self.now)
            return
        elif kind == "resolve":
            fields |= {"effective_at": self.moment()}
        elif kind in ("supersede", "retract"):
            fields |= self.some(effective_at=self.moment) | (said if kind == "supersede" else {})
        elif kind == "correct":
            fields |= self.some(valid_at=self.moment) | said
        await apply([ANY_COMMAND.validate_python(fields)], writer, self.now)

    async def rest(self, writer: Deps) -> None:
        name = self.chance.choice(NAMES)
        match self.chance.randrange(5):
            case 0:
                memory = EraseMemory(citizen_id=self.citizen, level=Level.N1, id=name)
                await erase(memory, writer, self.now, writer.directory)
            case 1:
                given = Feedback(query_text=QUESTION, used=(name,))
                await tell(self.citizen, given, writer, self.now)
            case 2:
                await take_back(self.citizen, None, writer, self.now)
            case 3:
                await change_state(self.citizen, StateChange(energy=0.9), writer, self.now)
            case _:
                shared = remember(self.citizen, f"shared {name}", description=QUESTION, level=Level.N2)
                await apply([shared], writer, self.now)


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
async def test_every_answer_is_that_of_a_service_that_keeps_none(
    kept: Deps, other: Deps, plain: Deps, chance: Random
) -> None:
    await Life((kept, other, plain), chance).live()


# --- when an answer is kept -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", FORMS)
async def test_an_answer_is_kept_and_sent_again_as_it_was(
    other: Deps, plain: Deps, boat: str, how: dict[str, Any]
) -> None:
    late = NOW + 5000 * DAY  # nothing of the shared graphs begins later
    answers = [(await both(other, plain, boat, now=late + turn * DAY, **how))[0] for turn in range(3)]
    assert [one.was_kept for one in answers] == [False, True, True]
    assert (other.connection.answers.hits, other.connection.answers.misses) == (2, 1)
    assert len({one.stream.stream_id for one in answers}) == 3


@pytest.mark.parametrize(
    ("text", "how"),
    [
        (QUESTION, {"plurality": {}}),
        (QUESTION, {"apply_feedback": True}),
        (QUESTION, {"as_of_time": to_datetime(NOW + SECOND)}),
        (QUESTION, {"known_at": to_datetime(NOW + SECOND)}),
        (QUESTION, {"temporal_mode": "evolution"}),
        (QUESTION, {"temporal_mode": "full_history"}),
        ("Where did the blue boat sleep yesterday?", {}),
        ("What did we do with the boat last week?", {}),
        ("What about the boat in the last two hours?", {}),
    ],
)
async def test_what_hangs_on_chance_or_on_the_moment_of_asking_is_not_kept(
    other: Deps, boat: str, text: str, how: dict[str, Any]
) -> None:
    assert [(await ask(other, boat, text, **how)).was_kept for _ in range(2)] == [False, False]
    assert len(other.connection.answers) == 0


async def test_an_answer_with_something_missing_is_not_kept(other: Deps, plain: Deps, boat: str) -> None:
    @contextmanager
    def late(name: str) -> Iterator[None]:
        if name == "scan_now":
            raise ResponseError("Query timed out")
        yield

    other.connection.around = late
    assert (await ask(other, boat)).stream.degraded
    other.connection.around = nullcontext
    answer, _ = await both(other, plain, boat)
    assert not answer.was_kept


async def test_each_answer_leaves_a_note_of_its_own(other: Deps, plain: Deps, boat: str) -> None:
    for turn in range(3):
        await both(other, plain, boat, now=NOW + HOUR + turn)
    notes = await read_stream_notes(boat, 10, other, until=NOW + DAY, before="~")
    first, *others = [replace(note, stream_id="", at=0, request={}) for note in notes]
    assert len(notes) == len({note.stream_id for note in notes}) == 6
    assert {str(note.tiers) for note in others} == {str(first.tiers)}
    assert {str(note.found.hits) for note in others} == {str(first.found.hits)}
    assert [note.found.scope.valid.start for note in notes] == [note.at for note in notes]


# --- what happens between and behind --------------------------------------------------------------------------


async def remove(kept: Deps, citizen: str) -> None:
    while (await kept.connection.command("INFO", "persistence"))["aof_rewrite_in_progress"]:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    memory = EraseMemory(citizen_id=citizen, level=Level.N1, id="boat")
    await erase(memory, kept, NOW + DAY, kept.directory)


async def test_nothing_erased_is_shown_or_stays_in_memory(kept: Deps, other: Deps, plain: Deps, boat: str) -> None:
    for service in (kept, other):
        assert all(["sleeps in the harbour" in await shows(service, boat) for _ in range(2)])
    before = len(kept.connection.answers)
    await remove(kept, boat)
    assert len(kept.connection.answers) == before - 1
    for service in (kept, other):
        _, said = await both(service, plain, boat)
        assert "sleeps in the harbour" not in str(said)
        assert (await both(service, plain, boat))[0].was_kept


@pytest.mark.parametrize(("where", "how"), [(kept_streams, {}), (retrieval, {"form": "compact"})])
@pytest.mark.parametrize("eraser", ["kept", "other"])
async def test_nothing_is_shown_that_is_erased_while_its_answer_is_looked_up(
    kept: Deps,
    other: Deps,
    boat: str,
    monkeypatch: pytest.MonkeyPatch,
    where: Any,
    how: dict[str, Any],
    eraser: str,
) -> None:
    await ask(kept, boat, **how)
    name = "read_next_change" if where is kept_streams else "with_mind"
    usual = getattr(where, name)

    async def erasing(*arguments: Any) -> Any:
        monkeypatch.setattr(where, name, usual)
        await remove(kept if eraser == "kept" else other, boat)
        return await usual(*arguments)

    monkeypatch.setattr(where, name, erasing)
    answer = await ask(kept, boat, **how)
    assert not answer.was_kept
    assert "sleeps in the harbour" not in answer.stream.model_dump_json()


@pytest.mark.parametrize("write", ["erase", "supersede"])
@pytest.mark.parametrize("by_itself", [True, False])
async def test_what_is_written_while_an_answer_is_found_does_not_make_it_stay(
    kept: Deps, other: Deps, plain: Deps, boat: str, monkeypatch: pytest.MonkeyPatch, write: str, by_itself: bool
) -> None:
    usual, writer = stream_completion.add_versions, kept if by_itself else other

    async def writing(*arguments: Any, **more: Any) -> Any:
        monkeypatch.setattr(retrieval, "add_versions", usual)
        if write == "erase":
            await remove(writer, boat)
        else:
            later = {"command": "supersede", "citizen_id": boat, "id": "boat", "description": "It lies on land"}
            await stored(writer, ANY_COMMAND.validate_python(later), now=NOW + SECOND)
        return await usual(*arguments, **more)

    monkeypatch.setattr(retrieval, "add_versions", writing)
    await ask(kept, boat)
    answer, said = await both(kept, plain, boat)
    assert not answer.was_kept
    assert "sleeps in the harbour" not in str(said)


async def test_an_answer_holds_until_something_begins_or_ends_to_hold(
    kept: Deps, other: Deps, plain: Deps, boat: str
) -> None:
    begins, ends = NOW + 3 * DAY, NOW + 5 * DAY
    sail = remember(boat, "sail", description="The blue boat has a sail", valid_at=to_datetime(begins))
    flag = remember(boat, "flag", description="The blue boat has a flag", invalid_at=to_datetime(ends))
    link = relate(boat, "boat", "keeper", valid_at=to_datetime(begins + DAY))
    await stored(kept, sail, flag, link)
    asked = [NOW + HOUR, NOW + DAY, begins - 1, begins, begins + 1, begins + DAY - 1, begins + DAY, ends - 1, ends,
             ends + 50 * DAY, ends - 1, NOW + HOUR, NOW + DAY]  # fmt: skip
    again = [(await both(other, plain, boat, now=now))[0].was_kept for now in asked]
    assert again == [False, True, True, False, True, True, False, True, False, True, False, False, True]


async def test_a_graph_too_large_to_look_for_what_is_scheduled_keeps_no_answer(
    other: Deps, plain: Deps, boat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def late(name: str) -> Iterator[None]:
        sent.append(name)
        if name == "next_change":
            raise ResponseError("Query timed out")
        yield

    sent: list[str] = []
    other.connection.around = late
    await plain.graph(graph_name(Level.N1, boat)).write(FORGET_CHANGES)
    assert [(await both(other, plain, boat))[0].was_kept for _ in range(3)] == [False] * 3
    assert sent.count("next_change") == len((await ask(plain, boat)).stream.timings) // 2


async def test_an_answer_holds_no_longer_than_a_link_that_a_repair_ends_later(
    other: Deps, plain: Deps, boat: str
) -> None:
    [link, *_] = await links(plain, boat)
    task = RetractLink(
        citizen_id=boat,
        level=Level.N1,
        id=link.link_id,
        source_id=link.source_id,
        target_id=link.target_id,
        seen=to_instant(link.created_at),
        until=NOW + 2 * HOUR,
    )
    assert (await run_repair(task, plain, NOW + 10)).status == "done"
    asked = [NOW + HOUR, NOW + HOUR, NOW + 3 * HOUR]
    assert [(await both(other, plain, boat, now=now))[0].was_kept for now in asked] == [False, True, False]


def note_queries(deps: Deps) -> list[str]:
    """The names of the queries that a service sends from now on."""
    sent: list[str] = []

    @contextmanager
    def noted(name: str) -> Iterator[None]:
        sent.append(name)
        yield

    deps.connection.around = noted
    return sent


FORGET_CHANGES = Query("forget_changes", "MATCH (m:SubstrateMeta) SET m.changes_until = null RETURN m.key")
"""As in a graph of an older release."""


async def test_of_a_graph_in_which_nothing_is_scheduled_nothing_is_looked_up(
    other: Deps, plain: Deps, boat: str
) -> None:
    sent = note_queries(other)
    times = {"valid_at": to_datetime(NOW - 2 * DAY), "invalid_at": to_datetime(NOW - DAY)}
    await stored(plain, remember(boat, "flag", description="The blue boat had a flag", **times))
    assert [(await both(other, plain, boat))[0].was_kept for _ in range(3)] == [False, True, True]
    assert "next_change" not in sent
    await stored(plain, remember(boat, "later", description="A blue boat", valid_at=to_datetime(NOW + 2 * HOUR)))
    assert [(await both(other, plain, boat))[0].was_kept for _ in range(2)] == [False, True]
    assert "next_change" in sent
    assert not (await both(other, plain, boat, now=NOW + 2 * HOUR))[0].was_kept


@pytest.mark.parametrize("by_itself", [True, False])
async def test_undo_quarantine_and_feedback_change_the_answer_and_back(
    kept: Deps, other: Deps, plain: Deps, fresh_citizen: str, by_itself: bool
) -> None:
    citizen, writer = fresh_citizen, other if by_itself else kept
    lie = remember(citizen, "lie", description="The blue boat sleeps in a lie", source="tool")
    await stored(writer, remember(citizen, "boat", description=TEXTS[0]), lie)

    async def answer() -> str:
        """Asked twice: the second answer is a kept one."""
        said = [await both(other, plain, citizen, now=NOW + 2 * DAY) for _ in range(2)]
        assert said[1][0].was_kept
        return orjson.dumps(said[1][1], option=orjson.OPT_SORT_KEYS).decode()

    first = await answer()
    hidden = await quarantine(QuarantineRequest(citizen_id=citizen, source="tool"), writer, NOW + SECOND)
    assert "sleeps in a lie" in first
    assert "sleeps in a lie" not in await answer()
    assert hidden.id is not None
    await release(hidden.id, QuarantineChange(citizen_id=citizen), writer, NOW + 2 * SECOND)
    assert "sleeps in a lie" in await answer()
    for change, shown in (("supersede", True), ("undo", False)):
        fields = {"command": change, "citizen_id": citizen, "id": "boat"}
        fields |= {"description": "The blue boat sleeps on land"} if change == "supersede" else {}
        await stored(writer, ANY_COMMAND.validate_python(fields), now=NOW + 3 * SECOND)
        assert ("sleeps on land" in await answer()) == shown
    before = await answer()
    await tell(citizen, Feedback(query_text=QUESTION, used=("lie",), wrong=("boat",)), writer, NOW + DAY)
    assert await answer() != before
    await take_back(citizen, None, writer, NOW + DAY + SECOND)
    assert await answer() == before


async def test_a_citizen_that_was_removed_and_imported_again_is_asked_anew(
    kept: Deps, other: Deps, plain: Deps, boat: str
) -> None:
    lines = list(await export([GraphOf(Level.N1, boat)], kept, embeddings=True))
    for _ in range(2):
        first, _ = await both(other, plain, boat)
    await erase(EraseCitizen(citizen_id=boat), kept, NOW + DAY, kept.directory)
    for service in (other, plain):
        with suppress(GraphMissing):  # it was there a moment ago
            await ask(service, boat)
    gone, said = await both(other, plain, boat)
    assert (first.was_kept, gone.was_kept) == (True, False)
    assert "sleeps in the harbour" not in str(said)
    await import_lines(lambda: iter(lines), kept, NOW + 2 * DAY, citizen_id=boat, progress=lambda *_: None)
    again = [(await both(other, plain, boat))[0] for _ in range(2)]
    assert [one.was_kept for one in again] == [False, True]
    assert "sleeps in the harbour" in again[1].stream.model_dump_json()


@pytest.mark.parametrize("what", ["memory", "link", "nothing"])
async def test_an_imported_graph_says_until_when_it_changes_by_itself(
    other: Deps, plain: Deps, boat: str, what: str
) -> None:
    later = {"valid_at": to_datetime(NOW + 2 * HOUR)}
    if what == "memory":
        await stored(plain, remember(boat, "later", description="A blue boat in the harbour", **later))
    if what == "link":
        await stored(plain, relate(boat, NAMES[0], NAMES[-1], **later))
    lines = list(await export([GraphOf(Level.N1, boat)], plain, embeddings=True))
    await import_lines(lambda: iter(lines), plain, NOW, citizen_id=f"{boat}-again", progress=lambda *_: None)
    sent = note_queries(other)
    assert [(await both(other, plain, f"{boat}-again"))[0].was_kept for _ in range(2)] == [False, True]
    assert ("next_change" in sent) == (what != "nothing")
    assert (await both(other, plain, f"{boat}-again", now=NOW + 3 * HOUR))[0].was_kept == (what == "nothing")


async def test_nothing_is_kept_of_another_start_of_the_engine(other: Deps, plain: Deps, boat: str) -> None:
    await ask(other, boat)
    assert len(other.connection.answers) == 1
    other.connection._engines = dict.fromkeys(other.connection._engines, "an earlier start")
    await other.graphs.close()
    await other.connection.close()
    assert [(await both(other, plain, boat))[0].was_kept for _ in range(2)] == [False, True]


async def test_energies_that_fade_are_those_of_the_moment(other: Deps, plain: Deps, boat: str) -> None:
    shown = [(await both(other, plain, boat, now=NOW + turn * 30 * DAY))[0] for turn in range(1, 4)]
    energies = [one.stream.levels["n1_personal"].graph_results[0].effective_energy for one in shown]
    assert [one.was_kept for one in shown] == [False, True, True]
    assert len(set(energies)) == 3
    quick = HalfLives(blocked=1, in_progress=1, unset=1, resolved=1)
    one, another = (replace(each, half_lives=quick) for each in (other, plain))
    assert [(await both(one, another, boat, now=NOW + 90 * DAY))[0].was_kept for _ in range(2)] == [False, True]
