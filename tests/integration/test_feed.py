"""The feed of a graph has every command that was applied, in order, in pages of any size."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.transfer.exporter import export
from orchestration.transfer.following import list_changes
from orchestration.transfer.importer import import_lines
from orchestration.writing.erasure import erase
from schemas.commands import Command, Correct, EraseMemory, Relate, Remember, Retract, Supersede, Undo
from schemas.errors import Conflict, InvalidRequest, NotFound
from schemas.memory import Level, Source
from schemas.paging import decode_cursor, encode_cursor
from schemas.upkeep.applied_changes import AppliedChange, ChangesRequest
from substrate.backup.snapshot import begin_epochs
from substrate.graphs.names import GraphOf
from substrate.store import applied

KINDS = ("remember", "relate", "correct", "supersede", "retract", "undo")


async def follow(deps: Deps, citizen: str, after: str | None = None, limit: int = 500) -> list[AppliedChange]:
    """All changes after a cursor, in pages of at most `limit`."""
    changes: list[AppliedChange] = []
    while True:
        page = await list_changes(ChangesRequest(citizen_id=citizen, after=after, limit=limit), deps)
        assert len(page.changes) <= limit
        changes += page.changes
        after = page.next
        if not page.more:
            return changes


def command(citizen: str, kind: str, number: int, other: int) -> Command:
    memory, named = f"m{number}", {"citizen_id": citizen, "command_id": uuid4().hex}
    text = {"name": memory, "description": f"{memory} says {other}"}
    if kind == "relate":
        ends = {"source_id": memory, "target_id": f"m{other}", "relation_type": "KNOWS", "goal": "to know"}
        felt = {"energy": 0.5, "confidence": 0.5, "mindstate": "calm", "emotion_vector": {"joy": 0.4}}
        return Relate.model_validate({**named, **ends, **felt})
    made: dict[str, Callable[[], Command]] = {
        "remember": lambda: Remember.model_validate({**named, "id": memory, **text}),
        "correct": lambda: Correct.model_validate({**named, "id": memory, **text}),
        "supersede": lambda: Supersede.model_validate({**named, "id": memory, **text}),
        "retract": lambda: Retract.model_validate({**named, "id": memory}),
        "undo": lambda: Undo.model_validate({**named, "id": memory}),
    }
    return made[kind]()


numbers = st.integers(0, 3)
one = st.tuples(st.sampled_from(KINDS), numbers, numbers)
lists = st.lists(st.tuples(st.booleans(), st.lists(one, min_size=1, max_size=4)), min_size=1, max_size=8)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(sent=lists, limit=st.integers(1, 7), repeats=st.booleans())
async def test_the_pages_are_the_list_of_applied_commands(
    deps: Deps, sent: list[tuple[bool, list[tuple[str, int, int]]]], limit: int, repeats: bool
) -> None:
    citizen, applied, after = f"c{uuid4().hex}", list[str](), None
    live: list[str] = []
    for is_atomic, specified in sent:
        commands = [command(citizen, *each) for each in specified]
        flow = insertion.apply_atomically if is_atomic else insertion.apply
        for _ in range(1 + repeats):  # what is sent again is applied once
            answers = await flow(commands, deps, await deps.connection.now())
            applied += [each.command_id for each in answers if each.status == "stored" and not each.duplicate]
        if applied:
            page = await list_changes(ChangesRequest(citizen_id=citizen, after=after, limit=500), deps)
            live += [change.command_id for change in page.changes]
            after = page.next
    if not applied:
        with pytest.raises(NotFound):
            await follow(deps, citizen)
        return
    changes = await follow(deps, citizen, limit=limit)
    assert [change.command_id for change in changes] == applied
    assert live == applied
    for place, change in enumerate(changes):
        rest = await follow(deps, citizen, change.cursor)
        assert [each.command_id for each in rest] == applied[place + 1 :]


async def remember(deps: Deps, citizen: str, *ids: str, **more: object) -> None:
    for name in ids:
        fields = {"citizen_id": citizen, "id": name, "name": name, "description": f"{name} is there", **more}
        await insertion.apply([Remember.model_validate(fields)], deps, await deps.connection.now())


async def test_a_change_tells_of_its_record(deps: Deps, fresh_citizen: str) -> None:
    await remember(deps, fresh_citizen, "a", "b")
    relate = command(fresh_citizen, "relate", 0, 1).model_copy(update={"source_id": "a", "target_id": "b"})
    correct = command(fresh_citizen, "correct", 0, 1).model_copy(update={"id": "a"})
    for sent in (relate, correct):
        await insertion.apply([sent], deps, await deps.connection.now())
    told = [
        (one.command, one.subject, one.id, one.version, one.type, one.source)
        for one in await follow(deps, fresh_citizen)
    ]
    assert told == [
        ("remember", "memory", "a", 1, "Memory", "citizen"),
        ("remember", "memory", "b", 1, "Memory", "citizen"),
        ("relate", "link", "a|KNOWS|b", 1, "KNOWS", "citizen"),
        ("correct", "memory", "a", 2, "Memory", "citizen"),
    ]


async def test_filters_leave_out_and_never_lose_the_place(deps: Deps, fresh_citizen: str) -> None:
    await remember(deps, fresh_citizen, "a", "b", "c")
    await remember(deps, fresh_citizen, "d", node_type="Decision")
    asked = ChangesRequest(citizen_id=fresh_citizen, types=("Decision",), limit=2)
    first = await list_changes(asked, deps)
    assert (first.changes, first.more) == ((), True)
    second = await list_changes(asked.model_copy(update={"after": first.next}), deps)
    assert [change.id for change in second.changes] == ["d"]
    for fields, found in (({"commands": ("retract",)}, 0), ({"sources": (Source.CITIZEN,)}, 4)):
        asked = ChangesRequest.model_validate({"citizen_id": fresh_citizen, **fields})
        assert len((await list_changes(asked, deps)).changes) == found


async def test_more_receipts_than_are_looked_at_once(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await remember(deps, fresh_citizen, *(f"m{number}" for number in range(30)))
    monkeypatch.setattr(applied, "LOOKED_AT", 4)
    changes = await follow(deps, fresh_citizen, limit=3)
    assert [change.id for change in changes] == [f"m{number}" for number in range(30)]


async def test_who_waits_gets_what_comes_and_all_look_together(deps: Deps, fresh_citizen: str) -> None:
    await remember(deps, fresh_citizen, "a")
    waiting = ChangesRequest(citizen_id=fresh_citizen, after="now", wait=20)
    followers = [asyncio.create_task(list_changes(waiting, deps)) for _ in range(100)]
    await asyncio.sleep(0.5)
    await remember(deps, fresh_citizen, "b")
    pages = await asyncio.gather(*followers)
    assert {tuple(change.id for change in page.changes) for page in pages} == {("b",)}
    begun = time.monotonic()
    nothing = await list_changes(waiting.model_copy(update={"after": pages[0].next, "wait": 0.3}), deps)
    assert nothing.changes == ()
    assert nothing.next == pages[0].next
    assert 0.3 <= time.monotonic() - begun < 5


async def test_an_erasure_is_told_and_leaves_the_feed(deps: Deps, fresh_citizen: str) -> None:
    await remember(deps, fresh_citizen, "a", "b")
    seen = await list_changes(ChangesRequest(citizen_id=fresh_citizen), deps)
    order = EraseMemory(citizen_id=fresh_citizen, id="a", command_id=uuid4().hex)
    await erase(order, deps, await deps.connection.now(), deps.directory)
    page = await list_changes(ChangesRequest(citizen_id=fresh_citizen, after=seen.next, wait=5), deps)
    assert (page.changes, page.erased) == ((), True)
    assert not (await list_changes(ChangesRequest(citizen_id=fresh_citizen, after=page.next), deps)).erased
    assert [change.id for change in await follow(deps, fresh_citizen)] == ["b"]


async def test_a_cursor_of_another_past_is_refused(deps: Deps, fresh_citizen: str) -> None:
    await remember(deps, fresh_citizen, "a")
    seen = await list_changes(ChangesRequest(citizen_id=fresh_citizen), deps)
    other = f"{fresh_citizen}x"
    await remember(deps, other, "a")
    epoch, erased_at, at, nth, name = decode_cursor(seen.next, int, int, int, int, str)
    for citizen, after in (
        (other, seen.next),  # of another graph, and so of another store
        (fresh_citizen, encode_cursor(epoch, erased_at, at + 10**12, nth, name)),  # from the future
        (fresh_citizen, encode_cursor(epoch, erased_at + 1, at, nth, name)),
    ):
        with pytest.raises(Conflict):
            await follow(deps, citizen, after)
    for forged in ("", "x", "§", encode_cursor(epoch, at), encode_cursor(epoch, "0", at, nth, name)):
        with pytest.raises(InvalidRequest):
            await follow(deps, fresh_citizen, forged)
    before = encode_cursor(epoch, 0, -5, 0, "")  # before the first
    assert [change.id for change in await follow(deps, fresh_citizen, before)] == ["a"]
    waiting = ChangesRequest(citizen_id=fresh_citizen, after=seen.next, wait=20)
    follower = asyncio.create_task(list_changes(waiting, deps))
    await asyncio.sleep(0.3)
    await begin_epochs(deps.connection)  # as a restore does
    for refused in (follower, follow(deps, fresh_citizen, seen.next)):
        with pytest.raises(Conflict, match="another past"):
            await refused
    assert [change.id for change in await follow(deps, fresh_citizen)] == ["a"]


async def test_an_import_has_a_past_of_its_own(deps: Deps, fresh_citizen: str) -> None:
    await remember(deps, fresh_citizen, "a", "b")
    seen = await list_changes(ChangesRequest(citizen_id=fresh_citizen), deps)
    lines = list(await export([GraphOf(Level.N1, fresh_citizen)], deps, embeddings=True))
    other = f"{fresh_citizen}y"
    await import_lines(
        lambda: iter(lines), deps, await deps.connection.now(), citizen_id=other, progress=lambda *_: None
    )
    with pytest.raises(Conflict):
        await follow(deps, other, seen.next)
    assert [change.id for change in await follow(deps, other)] == ["a", "b"]


async def test_what_is_found_of_an_episode_comes_last_with_its_last_part(deps: Deps, fresh_citizen: str) -> None:
    parts = [
        Remember(
            citizen_id=fresh_citizen, command_id="talk", id=f"t{number}", name="t", description=f"turn {number}"
        )
        for number in range(2)
    ]
    for part in parts:
        await insertion.apply([part], deps, await deps.connection.now(), whole="talk")
        await remember(deps, fresh_citizen, f"after {part.id}")
    told = [(change.command, change.part) for change in await follow(deps, fresh_citizen)]
    assert told == [("remember", 1), ("ingest", 2), ("remember", 1)]
