"""Erase: what it removes, what it leaves, and that no file of the store holds a byte of it afterwards."""

from __future__ import annotations

import asyncio
import gc
import struct
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from api.runtime.runtime import Runtime, open_runtime
from orchestration.dependencies import Deps
from orchestration.features.association.flow import associate
from orchestration.features.association.values import TagWalk
from orchestration.ingestion.formats import File, FileSet, parse
from orchestration.ingestion.hearing import NewMessages, hear_messages
from orchestration.ingestion.pipeline import ingest
from orchestration.ingestion.storing import Job
from orchestration.mind.state import change_state, read_state
from orchestration.mind.stream_notes import store_notes
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.transfer.exporter import export
from orchestration.writing.erasure import erase
from schemas.commands import Correct, Erase, EraseCitizen, EraseEpisode, EraseMemory, ErasureReport, Supersede
from schemas.errors import Conflict, NotFound
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.mind.state import CitizenState, StateChange
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.temporal import Scope, to_datetime
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.connection.topology import Server
from substrate.cypher.query import Query
from substrate.cypher.schema import SCHEMA_VERSION
from substrate.engine import append_log
from substrate.graphs.indexes import PROBE_PREFIX, wait_for_pending_work
from substrate.graphs.names import GraphOf
from substrate.store import erasure
from substrate.store.erasure import ErasureMark
from tests.integration.store import NOW, history, links, relate, remember, send, stored

SECRETS = (
    b"the secret harbour where the old boats sleep", b"a corrected secret about the boats", b"very-private-tag",
    b"quietly held goal of the link", b"a-bucket-of-mine", b"told in confidence to nobody", b"secret-id",
)  # fmt: skip


@pytest.fixture(scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    """A store of these tests alone, whose snapshots are not compressed, so that they can be searched."""
    store = StoreSettings(data=tmp_path_factory.mktemp("erasing"))
    async with open_runtime(Settings(store=store, embedding=EmbeddingSettings(embedding="local"))) as runtime:
        await runtime.deps.connection.command("CONFIG SET", "rdbcompression", "no")
        yield runtime


async def erased(own: Runtime, command: Erase) -> ErasureReport:
    assert own.engine is not None
    return await erase(command, own.deps, NOW + 100, own.engine.directory)


def on_disk(own: Runtime, needles: tuple[bytes, ...]) -> set[bytes]:
    """Which of the needles are in any file of the data directory."""
    assert own.engine is not None
    files = [path for path in own.engine.directory.rglob("*") if path.is_file()]
    assert any("base.rdb" in path.name for path in files)
    return {needle for path in files for needle in needles if needle in path.read_bytes()}


async def vectors_of(deps: Deps, citizen: str, memory_id: str) -> tuple[bytes, ...]:
    """The beginnings of the embeddings of a memory and its past, as the engine's files hold them."""
    lines = [orjson.loads(line) for line in await export([GraphOf(Level.N1, citizen)], deps, embeddings=True)]
    ours = [
        line for line in lines if line.get("of") == memory_id or line.get("properties", {}).get("id") == memory_id
    ]
    floats = [line["trace"]["vectors"]["embedding"] for line in ours if "vectors" in line.get("trace", {})]
    assert len(floats) >= 2
    return tuple(struct.pack("<384f", *numbers)[:400] for numbers in floats)


async def secret_life(own: Runtime, citizen: str) -> None:
    secret: dict[str, Any] = {"tags": ("very-private-tag", "shared"), "buckets": ("a-bucket-of-mine",)}
    text = SECRETS[0].decode()
    await stored(
        own.deps, remember(citizen, "secret-id", description=text, extra={"of": SECRETS[5].decode()}, **secret)
    )
    await stored(
        own.deps, remember(citizen, "plain", description=f"{citizen} has nothing to hide", tags=("shared",))
    )
    await stored(
        own.deps,
        relate(citizen, "plain", "secret-id", goal=SECRETS[3].decode()),
        relate(citizen, "secret-id", "plain"),
        relate(citizen, "secret-id", "secret-id"),
    )
    change: dict[str, Any] = {"citizen_id": citizen, "id": "secret-id"}
    await stored(own.deps, Correct(**change, description=SECRETS[1].decode()), now=NOW + 1)
    await stored(own.deps, Supersede(**change, name="tell", tags=("shared",)), now=NOW + 2)


@pytest.mark.parametrize("whole", [False, True])
async def test_no_file_of_the_store_holds_the_erased(own: Runtime, fresh_citizen: str, *, whole: bool) -> None:
    await secret_life(own, fresh_citizen)
    vectors = await vectors_of(own.deps, fresh_citizen, "secret-id")
    needles = (*SECRETS, *vectors)
    assert on_disk(own, needles) >= set(SECRETS), "the log holds them, or this test proves nothing"
    await append_log.rewrite(own.deps.connection)
    assert on_disk(own, needles) == set(needles), "a snapshot holds them, or this test proves nothing"
    command = (
        EraseCitizen(citizen_id=fresh_citizen) if whole else EraseMemory(citizen_id=fresh_citizen, id="secret-id")
    )

    report = await erased(own, command)

    assert report.log_rewritten
    assert not report.duplicate
    assert on_disk(own, needles) == set()
    other = f"{fresh_citizen} has nothing to hide".encode()
    assert on_disk(own, (other,)) == (set() if whole else {other})


async def test_erasing_a_memory_removes_all_that_belongs_to_it_and_nothing_else(
    own: Runtime, fresh_citizen: str
) -> None:
    await secret_life(own, fresh_citizen)

    report = await erased(own, EraseMemory(citizen_id=fresh_citizen, id="secret-id"))

    said = report.removed
    assert (said.memories, said.records, said.links, said.past_links, said.tags) == (1, 3, 3, 0, 2)
    assert await links(own.deps, fresh_citizen) == []
    assert await history(own.deps, fresh_citizen, "secret-id") == []
    assert [record.tags for record in await history(own.deps, fresh_citizen, "plain")] == [("shared",)]
    lines = [
        orjson.loads(line) for line in await export([GraphOf(Level.N1, fresh_citizen)], own.deps, embeddings=False)
    ]
    assert [line["properties"]["name"] for line in lines if line["kind"] == "tag"] == ["#shared"]


async def test_a_tag_that_a_past_record_still_bears_stays_and_leads_back_to_it(
    own: Runtime, fresh_citizen: str
) -> None:
    await stored(
        own.deps,
        remember(fresh_citizen, "a", description="zebra", tags=("t", "only b"), buckets=("stable",)),
        remember(fresh_citizen, "b", tags=("t", "never a")),
    )
    bare: dict[str, Any] = {"citizen_id": fresh_citizen, "id": "a", "tags": (), "buckets": ()}
    await stored(own.deps, Correct(**bare), now=NOW + 50)
    walk = TagWalk(citizen_id=fresh_citizen, query_text="zebra", as_of_time=to_datetime(NOW + 10))
    before = await associate(walk, own.deps, NOW + 200)

    report = await erased(own, EraseMemory(citizen_id=fresh_citizen, id="b"))

    after = await associate(walk, own.deps, NOW + 200)
    assert [one.memory.node_id for one in before.neighbours] == ["b"]
    assert ([one.memory.node_id for one in after.anchors], after.neighbours) == (["a"], ())
    assert {bridge.name for bridge in after.tags} == {"#t", "#only b", "@stable"}
    assert report.removed.tags == 1, "the tag that nobody else had"
    lines = [
        orjson.loads(line) for line in await export([GraphOf(Level.N1, fresh_citizen)], own.deps, embeddings=False)
    ]
    kept = sorted(line["properties"]["name"] for line in lines if line["kind"] == "tag")
    assert kept == ["#only b", "#t", "@stable"]


async def test_a_walk_goes_on_where_a_tag_of_the_past_is_gone(own: Runtime, fresh_citizen: str) -> None:
    await stored(own.deps, remember(fresh_citizen, "a", description="zebra", tags=("t",)))
    await stored(own.deps, Correct(citizen_id=fresh_citizen, id="a", tags=()), now=NOW + 1)
    gone = Query("tags_gone", "MATCH (t:Tag) DELETE t")
    await own.deps.connection.write(f"citizen_{fresh_citizen}", gone, parameters({}))
    walk = TagWalk(citizen_id=fresh_citizen, query_text="zebra", as_of_time=to_datetime(NOW))
    found = await associate(walk, own.deps, NOW + 200)
    assert [(bridge.name, bridge.memories) for bridge in found.tags] == [("#t", 1)]
    assert [one.memory.node_id for one in found.anchors] == ["a"]


async def test_a_citizen_s_state_goes_with_the_citizen_from_the_past_too(own: Runtime, fresh_citizen: str) -> None:
    await stored(own.deps, remember(fresh_citizen, "m"))
    for number, goal in enumerate((b"a goal nobody may know", b"another")):
        said = StateChange(goal=goal.decode(), emotion_vector={"a feeling of my own": 0.5})
        await change_state(fresh_citizen, said, own.deps, NOW + number)
    secret = (b"a goal nobody may know", b"a feeling of my own")
    await append_log.rewrite(own.deps.connection)
    assert on_disk(own, secret) == set(secret), "a snapshot holds them, or this test proves nothing"

    report = await erased(own, EraseCitizen(citizen_id=fresh_citizen))

    assert report.removed.states == 3
    assert on_disk(own, secret) == set()
    then = await read_state(fresh_citizen, own.deps, Scope.at(NOW, NOW))
    assert then == CitizenState(citizen_id=fresh_citizen)


async def test_logs_may_be_rewritten_for_many_at_once(own: Runtime, fresh_citizen: str) -> None:
    await stored(own.deps, remember(fresh_citizen, "m"))
    connection = own.deps.connection
    before = (await append_log.read_persistence(connection))["aof_rewrites"]
    assert await asyncio.gather(*(append_log.rewrite(connection) for _ in range(6))) == [True] * 6
    assert (await append_log.read_persistence(connection))["aof_rewrites"] > before


async def test_a_process_rests_while_another_removes_what_it_made_for_that(
    own: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = Connection.command_at

    async def listed_late(self: Connection, server: Server, *words: str | int) -> Any:
        answer = await command(self, server, *words)
        return [*answer, f"{PROBE_PREFIX}gone"] if words[0] == "GRAPH.LIST" else answer

    monkeypatch.setattr(Connection, "command_at", listed_late)
    await wait_for_pending_work(own.deps.connection)


async def test_a_long_past_goes_in_shares(own: Runtime, fresh_citizen: str) -> None:
    await stored(own.deps, remember(fresh_citizen, "m"))
    for n in range(60):
        await stored(own.deps, Correct(citizen_id=fresh_citizen, id="m", goal=f"{n}"), now=NOW + n)
    report = await erased(own, EraseMemory(citizen_id=fresh_citizen, id="m"))
    assert (report.removed.memories, report.removed.records, report.removed.traces) == (1, 60, 61)


async def test_an_erasure_is_carried_out_once_and_says_nothing_of_what_it_erased(
    own: Runtime, fresh_citizen: str
) -> None:
    await stored(own.deps, remember(fresh_citizen, "m"), remember(fresh_citizen, "n"))
    first = EraseMemory(citizen_id=fresh_citizen, id="m", command_id=f"erase-{fresh_citizen}")
    before = await erased(own, first)
    again = await erased(own, first)
    assert (again.duplicate, again.log_rewritten, again.erased_at) == (True, True, before.erased_at)
    assert again.removed.memories == 0
    kept = await erasure.read_mark(own.deps.graph(f"citizen_{fresh_citizen}"), f"erase-{fresh_citizen}")
    assert kept == ErasureMark(NOW + 100, log_rewritten=True)
    with pytest.raises(Conflict, match="was used for an erasure before"):
        await erased(own, first.model_copy(update={"id": "n"}))
    with pytest.raises(NotFound):
        await erased(own, EraseMemory(citizen_id=fresh_citizen, id="m"))


async def test_an_erasure_that_broke_off_goes_on_when_it_is_sent_again(own: Runtime, fresh_citizen: str) -> None:
    await stored(own.deps, remember(fresh_citizen, "m"))
    graph = own.deps.graph(f"citizen_{fresh_citizen}")
    mark = (erasure.mark_name(graph.name, f"e-{fresh_citizen}"), erasure.format_mark(ErasureMark(NOW)))
    await graph.connection.command("HSET", erasure.MARKS, *mark)
    command = EraseMemory(citizen_id=fresh_citizen, id="m", command_id=f"e-{fresh_citizen}")
    assert (await erased(own, command)).removed.memories == 1
    await graph.connection.command("HSET", erasure.MARKS, *mark)
    assert (await erased(own, command)).log_rewritten


async def test_an_erased_memory_is_unknown_and_may_be_stored_again(own: Runtime, fresh_citizen: str) -> None:
    await stored(own.deps, remember(fresh_citizen, "m"), remember(fresh_citizen, "n"))
    await erased(own, EraseMemory(citizen_id=fresh_citizen, id="m"))
    late = await send(
        own.deps, Correct(citizen_id=fresh_citizen, id="m", goal="late"), relate(fresh_citizen, "n", "m")
    )
    assert [receipt.problem for receipt in late] == ["not-found", "not-found"]
    [anew] = await stored(own.deps, remember(fresh_citizen, "m", description="another"))
    assert (anew.version, len(await history(own.deps, fresh_citizen, "m"))) == (1, 1)


async def test_an_episode_goes_with_its_people_unless_others_know_them(own: Runtime, fresh_citizen: str) -> None:
    for episode, speakers in (("one", ("ann", "bo")), ("two", ("bo", "cy"))):
        turns = [{"role": who, "content": f"{who} says a word in {episode}"} for who in speakers]
        file = File("messages", orjson.dumps(turns).decode())
        await ingest(parse("messages", FileSet(episode, (file,), fresh_citizen)), own.deps, NOW)
    await stored(
        own.deps, remember(fresh_citizen, "note"), relate(fresh_citizen, "note", "person:bo", episode_id="one")
    )

    report = await erased(own, EraseEpisode(citizen_id=fresh_citizen, episode_id="one"))

    assert report.erased == "episode"
    assert on_disk(own, (b"says a word in one", b"says a word in two")) == {b"says a word in two"}
    assert [bool(await history(own.deps, fresh_citizen, f"person:{who}")) for who in ("ann", "bo", "cy")] == [
        False, True, True
    ]  # fmt: skip
    assert {link.episode_id for link in await links(own.deps, fresh_citizen)} == {"two"}
    with pytest.raises(NotFound):
        await erased(own, EraseEpisode(citizen_id=fresh_citizen, episode_id="one"))


async def test_what_was_made_of_names_goes_with_the_last_text_that_has_them(
    own: Runtime, fresh_citizen: str
) -> None:
    text = "My friend Ottokar Quarkstein is in Ljubljana, I called him."
    job = Job(own.deps, NOW)
    for episode, said in (("one", text), ("one", f"{text} Ask Xaveria Zimt too."), ("two", "Ljubljana is far.")):
        message = {"role": "user", "content": said, "timestamp": "2023-01-01T08:00:00Z"}
        await hear_messages(NewMessages(fresh_citizen, episode, [message]), job)
    await stored(own.deps, remember(fresh_citizen, "note", description="Ottokar Quarkstein called me."))
    assert await history(own.deps, fresh_citizen, "person:ottokar_quarkstein")

    await erased(own, EraseEpisode(citizen_id=fresh_citizen, episode_id="one"))

    names = ("person:ottokar_quarkstein", "place:ljubljana", "person:xaveria_zimt")
    known = [bool(await history(own.deps, fresh_citizen, name)) for name in names]
    assert known == [True, True, False], "other texts have the first two"
    await erased(own, EraseMemory(citizen_id=fresh_citizen, id="note"))
    known = [bool(await history(own.deps, fresh_citizen, name)) for name in names]
    assert known == [False, True, False]
    assert on_disk(own, (b"Quarkstein", b"Xaveria")) == set()


async def test_a_citizen_erased_by_another_process_begins_anew(own: Runtime, fresh_citizen: str) -> None:
    await stored(own.deps, remember(fresh_citizen, "m"))
    async with open_runtime(own.settings) as other:
        assert (await erased(other, EraseCitizen(citizen_id=fresh_citizen))).removed.memories == 1
    await stored(own.deps, remember(fresh_citizen, "m", description="a new life"))
    assert await own.deps.graphs.unready(f"citizen_{fresh_citizen}") == []
    lines = await export([GraphOf(Level.N1, fresh_citizen)], own.deps, embeddings=False)
    assert orjson.loads(list(lines)[1])["schema_version"] == SCHEMA_VERSION


async def test_a_snapshot_that_a_killed_backup_left_goes_too(own: Runtime, fresh_citizen: str) -> None:
    assert own.engine is not None
    left: list[Path] = [own.engine.directory / name for name in ("dump.rdb", "temp-99.rdb")]
    for path in left:
        path.write_bytes(b"left behind")
    await stored(own.deps, remember(fresh_citizen, "m"))
    await erased(own, EraseMemory(citizen_id=fresh_citizen, id="m"))
    assert on_disk(own, (b"left behind",)) == set()


def holders(word: str) -> list[str]:
    """The containers of this process that hold a text with the word."""
    return sorted(
        {type(each).__name__ for each in gc.get_objects() if any(word in text for text in texts_in(each))}
    )


def texts_in(container: object) -> Iterator[str]:
    """The texts that are the keys, the values or the elements of a container."""
    parts: Iterable[object] = ()
    if isinstance(container, dict):
        parts = (*container.keys(), *container.values())
    elif isinstance(container, list | tuple | set | frozenset | deque):
        parts = tuple(container)
    return (part for part in parts if isinstance(part, str))


async def come_and_go(own: Runtime, citizen: str) -> None:
    """Ask about a citizen who does not exist, let it live, and erase it."""
    question = RetrievalIntention(query_text="Where are the boats?", citizen_id=citizen)
    await retrieve_consciousness_context(question, own.deps, NOW)
    await stored(own.deps, remember(citizen, "boat", description="The boats are in the harbour."))
    await retrieve_consciousness_context(question, own.deps, NOW + 50)
    assert (await read_state(citizen, own.deps, Scope.at(NOW, NOW))) is not None
    assert holders(citizen), "the store knows it now, or this test proves nothing"
    await erased(own, EraseCitizen(citizen_id=citizen))


async def test_nothing_in_the_process_names_citizens_who_are_erased_or_never_were(own: Runtime) -> None:
    for number in range(3):
        await come_and_go(own, f"{''.join(('no', 'body', 'any', 'more'))}{number}")
    await store_notes(own.deps)
    gc.collect()
    assert holders("".join(("no", "body", "any", "more"))) == []
