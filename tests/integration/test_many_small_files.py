"""Many small chats at once: they share statements, and come out as if each had been sent alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from api.runtime.runtime import now
from orchestration.dependencies import Conversations, Deps
from orchestration.identifiers import person_id
from orchestration.ingestion import hearing
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats import File, FileSet, ParsedFiles, parse
from orchestration.ingestion.pipeline import ingest
from orchestration.ingestion.transcript import speech_key
from schemas.memory import Level
from schemas.temporal import to_datetime
from substrate.graphs.names import graph_name
from substrate.store import reader
from tests.integration.test_ingest import figures, holdings

CHATS = 60
FIRST_DAY = 1_700_000_000


def chats(citizen: str, *, count: int = CHATS) -> ParsedFiles:
    """Chats of two messages; the later a chat is named, the earlier it was."""
    files = []
    for n in range(count):
        at = FIRST_DAY + 86_400 * (count - n)
        said = [("user", f"note {n}"), ("Ada", f"I read note {n}.")]
        entries = [{"speaker": who, "text": text, "timestamp": at + step} for step, (who, text) in enumerate(said)]
        files.append(File(f"n{n:03}.json", json.dumps(entries)))
    return parse("messages", FileSet("notes", tuple(files), citizen))


@contextmanager
def counted(deps: Deps) -> Iterator[Counter[str]]:
    """How often each query is sent."""
    sent: Counter[str] = Counter()

    @contextmanager
    def around(name: str) -> Iterator[None]:
        sent[name] += 1
        yield

    before, deps.connection.around = deps.connection.around, around
    try:
        yield sent
    finally:
        deps.connection.around = before


async def test_many_chats_take_few_statements_and_the_same_again_adds_nothing(
    deps: Deps, fresh_citizen: str
) -> None:
    with counted(deps) as sent:
        report = await ingest(chats(fresh_citizen), deps, now())
    assert figures(report) == (7 * CHATS + 2, 0, 0)
    assert max(sent[name] for name in ("remember", "relate", "episode_turns", "named_by_words")) < CHATS / 4
    before = await holdings(deps, fresh_citizen)
    with counted(deps) as sent:
        again = await ingest(chats(fresh_citizen), deps, now())
    assert (again.stored, again.refused, sent["remember"]) == (0, 0, 0)
    assert await holdings(deps, fresh_citizen) == before


async def test_each_of_many_chats_has_its_own_receipt_and_a_person_speaks_since_the_earliest(
    deps: Deps, fresh_citizen: str
) -> None:
    parsed = chats(fresh_citizen)
    await ingest(parsed, deps, now())
    graph = deps.graph(graph_name(Level.N1, fresh_citizen))
    receipts = await reader.receipts(graph, [str(item.command_id) for item in parsed.items])
    assert len(receipts) == CHATS
    known = await reader.known_since(graph, person_id("Ada"))
    assert known is not None
    assert to_datetime(known.since).timestamp() == FIRST_DAY + 86_400 + 1


async def test_a_chat_that_another_process_stores_meanwhile_goes_on_behind_it(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stores one of the chats, with other words, after what is stored of all was read."""
    sent = chats(fresh_citizen)
    named = cast(Episode, sent.items[3])
    entry = json.dumps([{"speaker": "user", "text": "theirs"}])
    parsed = parse("messages", FileSet("notes", (File("n003.json", entry),), fresh_citizen))
    theirs = replace(parsed, items=(replace(cast(Episode, parsed.items[0]), id=named.id),))
    other = replace(deps, conversations=Conversations())
    load, read = hearing._load, Counter[str]()

    async def load_before_another_stores(*asked: Any) -> Any:
        found = await load(*asked)
        read["times"] += 1
        if read["times"] == 1:
            await ingest(theirs, other, now())
        return found

    await ingest(chats(fresh_citizen, count=1), deps, now())
    monkeypatch.setattr(hearing, "_load", load_before_another_stores)
    report = await ingest(sent, deps, now())
    monkeypatch.undo()
    assert report.refused == 0
    whole = await hearing.load(named, deps, now())
    assert [turn.said for turn in whole.turns] == [
        speech_key("user", "theirs"), speech_key("user", "note 3"), speech_key("Ada", "I read note 3.")
    ]  # fmt: skip
