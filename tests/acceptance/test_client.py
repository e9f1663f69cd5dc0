"""The Python client: the same calls over HTTP, in this process, by itself, awaited and not; faults as they were"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Any

import pytest

import substrate_client
from api.client import AsyncSubstrate, Substrate
from schemas.commands import Remember, Retract, Supersede
from schemas.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    Refused,
    SubstrateError,
    Unauthenticated,
)
from schemas.intention import RetrievalIntention
from tests.acceptance.conftest import ADMIN_KEY, Service

FELT: dict[str, Any] = {
    "energy": 0.7, "confidence": 0.8, "emotion_vector": {"joy": 0.5}, "goal": "g", "mindstate": "m",
}  # fmt: skip


class Either:
    """Any of the clients, called by name and awaited."""

    def __init__(self, client: substrate_client.AsyncSubstrate | substrate_client.Substrate) -> None:
        self.client = client

    async def __call__(self, method_name: str, /, *args: Any, **fields: Any) -> Any:
        """The answer of the method."""
        method = getattr(self.client, method_name)
        if isinstance(self.client, substrate_client.AsyncSubstrate):
            return await method(*args, **fields)
        return method(*args, **fields)  # blocks this loop: the client must not need it


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Substrate]:
    with Substrate.embedded(tmp_path_factory.mktemp("embedded"), embedding="none") as client:
        yield client


@pytest.fixture(scope="module")
async def awaited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[AsyncSubstrate]:
    opening = Held(AsyncSubstrate.embedded(tmp_path_factory.mktemp("awaited"), embedding="none"))
    yield await opening.open()
    await opening.close()


class Held:
    """A client opened and closed by one task, as `async with` does; fixtures run in several."""

    def __init__(self, opening: AbstractAsyncContextManager[AsyncSubstrate]) -> None:
        self._opening, self._closing = opening, asyncio.Event()
        self._opened: asyncio.Future[AsyncSubstrate] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        async with self._opening as client:
            self._opened.set_result(client)
            await self._closing.wait()

    async def open(self) -> AsyncSubstrate:
        return await self._opened

    async def close(self) -> None:
        self._closing.set()
        await self._task


@pytest.fixture(
    params=["HTTP, awaited", "HTTP", "by itself, awaited", "by itself", "in process, awaited", "in process"]
)
async def call(
    request: pytest.FixtureRequest, service: Service, embedded: Substrate, awaited: AsyncSubstrate
) -> AsyncIterator[Either]:
    if request.param == "in process":
        yield Either(embedded)
    elif request.param == "in process, awaited":
        yield Either(awaited)
    elif request.param in ("HTTP", "by itself"):
        kind = Substrate if request.param == "HTTP" else substrate_client.Substrate
        with kind(service.url, ADMIN_KEY) as client:
            yield Either(client)
    elif request.param == "by itself, awaited":
        async with substrate_client.AsyncSubstrate(service.url, ADMIN_KEY) as alone:
            yield Either(alone)
    else:
        async with AsyncSubstrate(service.url, ADMIN_KEY) as client:
            yield Either(client)


async def told(call: Either, citizen: str) -> None:
    """Tea with Tom, and a link from one to the other."""
    stored = await call("apply", [
        Remember(citizen_id=citizen, id="tea", name="Tea", description="Tea with Tom on Monday.", energy=0.9),
        {"command": "remember", "citizen_id": citizen, "id": "tom", "name": "Tom", "node_type": "Person"},
    ])  # fmt: skip
    assert (stored.stored, stored.refused) == (2, 0)
    related = await call(
        "relate", citizen_id=citizen, source_id="tea", target_id="tom", relation_type="WITH", **FELT
    )
    assert related.id == "tea|WITH|tom"


async def memories_are_revised_and_read_at_any_time(call: Either, citizen: str) -> None:
    await told(call, citizen)
    before = datetime.now(UTC)
    of = {"citizen_id": citizen, "id": "tea"}
    assert (await call("supersede", Supersede(**of, description="Coffee."))).version > 1
    assert (await call("get", "tea", citizen_id=citizen)).description == "Coffee."
    then = await call("get", "tea", citizen_id=citizen, as_of_time=before)
    assert then.description == "Tea with Tom on Monday."
    await call("correct", **of, description="Cocoa.")
    await call("resolve", **of)
    await call("undo", **of)
    now = await call("get", "tea", citizen_id=citizen)
    assert (now.description, now.resolution_state) == ("Cocoa.", None)
    assert {one.description for one in (await call("history", "tea", citizen_id=citizen)).records} == {
        "Tea with Tom on Monday.", "Coffee.", "Cocoa.",
    }  # fmt: skip
    assert len((await call("dissonances", citizen)).dissonances) == 2
    await call("retract", **of)
    with pytest.raises(NotFound):
        await call("get", "tea", citizen_id=citizen)


async def links_are_revised_and_read(call: Either, citizen: str) -> None:
    await told(call, citizen)
    of = {"citizen_id": citizen, "id": "tea|WITH|tom"}
    await call("supersede_link", **of, energy=0.1)
    await call("correct_link", **of, energy=0.2)
    await call("resolve_link", **of)
    await call("undo_link", **of)
    link = await call("get_link", "tea|WITH|tom", citizen_id=citizen)
    assert (link.energy, link.resolution_state) == (0.2, "in_progress")
    await call("unrelate", **of)
    assert (await call("list_links", citizen_id=citizen, relation_type="WITH")).links == ()
    assert len((await call("link_history", "tea|WITH|tom", citizen_id=citizen)).records) >= 3


async def commands_are_carried_out_one_by_one_or_as_a_whole(call: Either, citizen: str) -> None:
    good, bad = Remember(citizen_id=citizen, id="a", name="A"), {"command": "relate", "citizen_id": citizen}
    whole = await call("apply", [good, bad], atomic=True)
    assert [one.problem for one in whole.receipts] == ["not-applied", "invalid-request"]
    each = await call("apply", [good, bad])
    assert (each.stored, each.refused) == (1, 1)
    again = await call(
        "apply", [Retract(citizen_id=citizen, id="a"), good.model_copy(update={"id": "b"})], atomic=True
    )
    assert again.stored == 2


async def lists_come_a_page_at_a_time(call: Either, citizen: str) -> None:
    await told(call, citizen)
    first = await call("list_memories", citizen_id=citizen, limit=1)
    second = await call("list_memories", citizen_id=citizen, limit=1, cursor=first.next)
    assert {one.node_id for one in first.memories + second.memories} == {"tea", "tom"}


async def a_mind_is_asked(call: Either, citizen: str) -> None:
    await told(call, citizen)
    stream = await call("retrieve", RetrievalIntention(citizen_id=citizen, query_text="tea"))
    assert "tea" in {one.node_id for one in stream.activation_tiers.ordered()}
    woken = await call("wake", citizen_id=citizen, current_energy=0.5, current_emotions={"joy": 0.5})
    assert woken.citizen_id == citizen
    resonant = await call("resonate", citizen_id=citizen, nodes=["Tom"])
    assert next(one.memory.node_id for one in resonant.levels["n1_personal"]) in ("tea", "tom")
    walked = await call("associate", citizen_id=citizen, query_text="tea")
    assert [one.memory.node_id for one in walked.anchors] == ["tea"]
    assert (await call("identity", citizen_id=citizen)).entities[0].node_id == "tom"


async def a_conversation_comes_in_once(call: Either, citizen: str) -> None:
    said = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Good morning."}]
    assert (await call("ingest", citizen, said, episode_id="e1")).turns == 2
    assert (await call("ingest", citizen, said, episode_id="e1")).stored == 0
    assert (await call("erase_episode", citizen_id=citizen, episode_id="e1")).removed.memories >= 2


async def messages_are_heard_and_the_refused_ones_are_raised(call: Either, citizen: str) -> None:
    for text, stored in (("Hello.", 1), ("I moved to Bergen.", 1), ("I moved to Bergen.", 0)):
        heard = await call("hear", "e2", "user", text, citizen_id=citizen, session="one")
        assert (heard.stored, heard.refused) == (stored, 0)
    wrong = {"messages": [{"role": "user"}, {"role": "user", "content": "Fine."}], "citizen_id": citizen}
    with pytest.raises(Refused, match="message 1: has no text") as refused:
        await call("hear", "e2", **wrong)
    assert refused.value.report.stored == 1
    assert (await call("hear", "e2", **wrong, raise_on_refusal=False)).refused == 1


async def state_is_kept(call: Either, citizen: str) -> None:
    await call("set_state", citizen, energy=0.25, goal="rest")
    state = await call("state", citizen)
    assert (state.energy, state.goal) == (0.25, "rest")
    await call("set_state", citizen, goal="work")
    assert (await call("state", citizen, as_of_time=state.updated_at)).goal == "rest"
    first = await call("state_history", citizen, limit=2)
    second = await call("state_history", citizen, limit=2, cursor=first.next)
    assert [record.version for record in first.records + second.records] == [1, 2, 3]
    assert (await call("identity", citizen_id=citizen, as_of_time=state.updated_at)).state.goal == "rest"


async def what_is_erased_is_gone(call: Either, citizen: str) -> None:
    await told(call, citizen)
    assert (await call("erase_memory", citizen_id=citizen, id="tea")).removed.memories == 1
    await call("erase_citizen", citizen_id=citizen)
    with pytest.raises(NotFound):
        await call("list_memories", citizen_id=citizen)


async def a_command_sent_again_is_known(call: Either, citizen: str) -> None:
    command = Remember(citizen_id=citizen, name="Once", command_id=f"c-{citizen}")
    first, second = await call("remember", command), await call("remember", command)
    assert (first.duplicate, second.duplicate, first.id) == (False, True, second.id)
    assert (await call("receipt", f"c-{citizen}", citizen_id=citizen)).id == first.id
    assert len((await call("list_memories", citizen_id=citizen)).memories) == 1


async def faults_are_those_of_the_service(call: Either, citizen: str) -> None:
    with pytest.raises(InvalidRequest) as invalid:
        await call("remember", citizen_id=citizen, energy=2.0)
    assert [fault.partition(":")[0] for fault in invalid.value.faults] == ["name", "energy"]
    with pytest.raises(InvalidRequest, match="id: Field required"):
        await call("correct", citizen_id=citizen, name="x")
    await call("remember", citizen_id=citizen, id="m", name="x")
    with pytest.raises(Conflict) as conflict:
        await call("correct", citizen_id=citizen, id="m", name="y", expected_version=7)
    assert conflict.value.current_version == 1
    with pytest.raises(NotFound, match="nothing was remembered"):
        await call("history", "..", citizen_id="nobody")
    with pytest.raises(InvalidRequest):
        await call("remember", citizen_id=citizen, name="x", extra={"no": object()})
    assert len((await call("list_memories", citizen_id=citizen)).memories) == 1


async def the_service_tells_of_itself(call: Either, citizen: str) -> None:
    assert (await call("live")).status == "alive"
    assert (await call("health")).engine == "embedded"
    assert not (await call("validate_link", {"goal": citizen})).valid
    await call("remember", citizen_id=citizen, name="x")
    assert (await call("sweep", citizen_id=citizen)).reports


async def upkeep_is_run_listed_and_taken_back(call: Either, citizen: str) -> None:
    await call("remember", citizen_id=citizen, name="x")
    done = await call("run_upkeep", citizen_id=citizen)
    assert {run.job for run in done.runs} <= {job.name for job in done.jobs}
    listed = await call("upkeep_runs", citizen_id=citizen)
    assert {run.id for run in listed.runs} == {run.id for run in done.runs}
    for run in listed.runs:
        assert await call("upkeep_run", run.id) == run
        assert (await call("undo_upkeep", run.id)).status == "undone"
    with pytest.raises(NotFound, match="there is no run"):
        await call("upkeep_run", f"run-{'0' * 12}-{'0' * 12}")
    assert (await call("set_own_upkeep", citizen, mode="off")).mode == "off"
    assert (await call("own_upkeep", citizen)).mode == "off"
    assert (await call("set_own_upkeep", citizen)).mode is None


async def keys_are_made_and_revoked(call: Either, citizen: str) -> None:
    made = await call("create_key", name="of a test", scopes=[f"citizen:{citizen}:read"])
    assert made.key.startswith("sk-")
    assert (await call("change_key", made.id, highest_source="tool")).highest_source == "tool"
    assert (await call("revoke_key", made.id)).revoked_at
    assert made.id in {one.id for one in (await call("list_keys")).keys}


@pytest.mark.parametrize(
    "story",
    [
        memories_are_revised_and_read_at_any_time, links_are_revised_and_read, lists_come_a_page_at_a_time,
        commands_are_carried_out_one_by_one_or_as_a_whole,
        a_mind_is_asked, a_conversation_comes_in_once,
        messages_are_heard_and_the_refused_ones_are_raised, state_is_kept, what_is_erased_is_gone,
        a_command_sent_again_is_known, faults_are_those_of_the_service, the_service_tells_of_itself,
        upkeep_is_run_listed_and_taken_back, keys_are_made_and_revoked,
    ],
    ids=lambda story: story.__name__,
)  # fmt: skip
async def test_every_client_gives_the_same_answers(
    call: Either, citizen: str, story: Callable[[Either, str], Awaitable[None]]
) -> None:
    await story(call, citizen)


def test_the_sync_and_the_async_client_have_the_same_methods() -> None:
    def of(face: type) -> set[str]:
        return {name for name, one in inspect.getmembers(face, callable) if not name.startswith("_")}

    assert of(AsyncSubstrate) - {"aclose", "inside", "opened"} == of(Substrate) - {"close"}
    assert inspect.signature(Substrate.receipt).return_annotation == "WriteReceipt"


def test_keys_count_as_they_do_over_http(service: Service, citizen: str) -> None:
    with Substrate(service.url, "wrong") as client, pytest.raises(Unauthenticated):
        client.list_memories(citizen_id=citizen)
    key = service.key(f"citizen:{citizen}:read")
    with Substrate(service.url, key) as client, pytest.raises(Forbidden, match="citizen:ID:write or LEVEL:write"):
        client.remember(citizen_id=citizen, name="x")


def test_address_and_key_are_read_from_the_environment(
    service: Service, citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBSTRATE_BASE_URL", service.url)
    monkeypatch.setenv("SUBSTRATE_API_KEY", ADMIN_KEY)
    with Substrate() as client:
        assert client.remember(citizen_id=citizen, name="x").status == "stored"


def test_an_engine_that_cannot_start_says_so_and_leaves_no_thread(tmp_path: Any) -> None:
    (tmp_path / "file").write_text("no directory")
    before = threading.active_count()
    with pytest.raises(SubstrateError):
        Substrate.embedded(tmp_path / "file", embedding="none")
    assert threading.active_count() <= before


def test_a_closed_client_says_so(service: Service) -> None:
    client = Substrate(service.url, ADMIN_KEY)
    client.close()
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.health()
