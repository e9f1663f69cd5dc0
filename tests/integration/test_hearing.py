"""A conversation that grows: whatever part of it is sent, each message is stored once, in its order."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from api.runtime.runtime import now
from orchestration.dependencies import Conversations, Deps
from orchestration.ingestion import hearing
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.hearing import NewMessages
from orchestration.ingestion.storing import Job
from schemas.memory import Level
from schemas.responses import HeardReport
from schemas.temporal import END_OF_TIME
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.store import reader
from tests.integration.store import noted

TURNS = Query(
    "test_turns",
    "MATCH (n:ConsciousnessNode) WHERE n.node_type = 'Turn' "
    "RETURN n.id, n.description, n.expired_at, n.invalid_at",
)
NEXT = Query(
    "test_next",
    "MATCH (a:ConsciousnessNode)-[e:LINK]->(b:ConsciousnessNode) "
    "WHERE e.relation_type = 'NEXT' AND a.node_type = 'Turn' RETURN a.id, b.id",
)


def messages(*texts: str, ids: bool = False) -> list[dict[str, Any]]:
    """A message for each text, in turn by the user and the assistant."""
    return [
        {"role": ("user", "assistant")[text[-1] in "13579"], "content": text} | ({"id": text} if ids else {})
        for text in texts
    ]


def numbered(first: int, last: int) -> list[str]:
    return [f"message {number}" for number in range(first, last)]


async def hear(deps: Deps, citizen: str, sent: list[dict[str, Any]]) -> HeardReport:
    return await hearing.hear_messages(NewMessages(citizen, "talk", sent), Job(deps, now()))


async def in_order(deps: Deps, citizen: str) -> list[str]:
    """The texts of the turns as the links lead from one to the next."""
    graph = deps.graph(graph_name(Level.N1, citizen))
    turns = {row[0]: row[1] for row in await graph.read(TURNS)}
    following = {str(row[0]): str(row[1]) for row in await graph.read(NEXT)}
    assert len(following) == len(await graph.read(NEXT)), "a turn has two that follow it"
    [turn] = turns.keys() - following.values()
    texts = [turns[turn]]
    while turn in following:
        turn = following[turn]
        texts.append(turns[turn])
    assert len(texts) == len(turns), "the links do not lead through all turns"
    return texts


@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize(
    "parts",
    [
        [(0, 1), (1, 2), (2, 3), (3, 9)],
        [(0, 3), (0, 6), (0, 9)],
        [(0, 4), (2, 6), (5, 9)],
        [(0, 9), (0, 9), (0, 4), (2, 6)],
    ],
)
async def test_whatever_part_is_sent_each_message_is_stored_once_in_its_order(
    deps: Deps, fresh_citizen: str, parts: list[tuple[int, int]], ids: bool
) -> None:
    for first, last in parts:
        report = await hear(deps, fresh_citizen, messages(*numbered(first, last), ids=ids))
        assert report.stored + report.duplicates == last - first
    assert await in_order(deps, fresh_citizen) == numbered(0, 9)


@pytest.mark.parametrize("ids", [False, True])
async def test_callers_at_once_lose_nothing_and_store_nothing_twice(
    deps: Deps, fresh_citizen: str, ids: bool
) -> None:
    ours = [f"our {number}" for number in range(0, 20, 2)]
    theirs = [f"their {number}" for number in range(1, 20, 2)]

    async def call(texts: list[str]) -> None:
        for text in texts:
            await hear(deps, fresh_citizen, messages(text, ids=ids))

    await asyncio.gather(call(ours), call(theirs))
    texts = await in_order(deps, fresh_citizen)
    assert sorted(texts) == sorted(ours + theirs)
    assert [text for text in texts if text in ours] == ours
    assert [text for text in texts if text in theirs] == theirs


async def test_another_process_that_stores_meanwhile_moves_the_rest_behind(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has turns of its own, and what it stores is not in what was read just before."""
    other = replace(deps, conversations=Conversations())
    await hear(deps, fresh_citizen, messages("first 0"))
    stale = await hearing.load(Episode("talk", fresh_citizen, ()), deps, now())
    await hear(other, fresh_citizen, messages("theirs 1"))
    load = hearing.load
    answers = iter([stale])

    async def load_once_stale(*asked: Any) -> Any:
        return next(answers, None) or await load(*asked)

    monkeypatch.setattr(hearing, "load", load_once_stale)
    report = await hear(deps, fresh_citizen, messages("ours 2", "ours 3"))
    assert [one.status for one in report.messages] == ["stored", "stored"]
    monkeypatch.undo()
    assert await in_order(deps, fresh_citizen) == ["first 0", "theirs 1", "ours 2", "ours 3"]


async def test_an_edited_message_supersedes_its_turn_and_the_history_has_both(
    deps: Deps, fresh_citizen: str
) -> None:
    await hear(deps, fresh_citizen, messages(*numbered(0, 4)))
    edited = messages(*numbered(0, 4))
    edited[2]["content"] = "what I meant"
    report = await hear(deps, fresh_citizen, edited)
    assert [one.status for one in report.messages] == ["duplicate", "duplicate", "superseded", "duplicate"]
    graph = deps.graph(graph_name(Level.N1, fresh_citizen))
    history = await reader.history(graph, "talk:D1:3")
    assert (history[0][3], history[-1][3]) == ("message 2", "what I meant")
    assert (await hear(deps, fresh_citizen, edited)).duplicates == 4


async def test_a_deleted_message_is_taken_back_only_when_it_is_marked(deps: Deps, fresh_citizen: str) -> None:
    whole = messages(*numbered(0, 4), ids=True)
    await hear(deps, fresh_citizen, whole)
    report = await hear(deps, fresh_citizen, [whole[0], *whole[2:]])
    assert (report.duplicates, report.retracted) == (3, 0)
    assert "message 1" in report.notes[0]
    marked = [whole[0], {"id": "message 1", "deleted": True}, *whole[2:]]
    assert (await hear(deps, fresh_citizen, marked)).retracted == 1
    rows = await deps.graph(graph_name(Level.N1, fresh_citizen)).read(TURNS)
    assert [row[0] for row in rows if END_OF_TIME not in (row[2], row[3]) or row[3] < END_OF_TIME] == ["talk:D1:2"]
    for again in (marked, whole):
        assert (await hear(deps, fresh_citizen, again)).duplicates == 4


async def test_a_bad_message_is_refused_with_its_reason_and_loses_no_other(deps: Deps, fresh_citizen: str) -> None:
    sent: list[dict[str, Any]] = [
        {"role": "user", "content": "good"},
        {"role": "user"},
        {"content": "nobody"},
        {"role": "user", "content": ""},
        {"role": "user", "content": "x", "timestamp": "never"},
        {"role": "user", "content": 5},
        {"role": "user", "content": "also good", "timestamp": 1_700_000_000},
        {"role": "user", "content": "earlier", "timestamp": 1_600_000_000},
        {"role": "user", "content": "ahead", "timestamp": "2150-01-01"},
    ]
    report = await hear(deps, fresh_citizen, sent)
    assert [one.status for one in report.messages] == [
        "stored", "refused", "refused", "left_out", "refused", "refused", "stored", "stored", "stored",
    ]  # fmt: skip
    assert all(one.reason for one in report.messages if one.status in ("refused", "left_out"))
    assert report.messages[1].reason == "has no text"
    assert any("ahead of the clock" in note for note in report.notes)
    assert any("order of the list is kept" in note for note in report.notes)
    assert await in_order(deps, fresh_citizen) == ["good", "also good", "earlier", "ahead"]


async def test_a_heard_turn_is_written_in_one_statement(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hear(deps, fresh_citizen, messages("message 0", "message 1"))
    sent = noted(deps, monkeypatch)
    await hear(deps, fresh_citizen, messages("message 2"))
    assert [name for name in sent if name.startswith(("remember", "relate"))] == ["remember_linked"]
    assert await in_order(deps, fresh_citizen) == numbered(0, 3)
