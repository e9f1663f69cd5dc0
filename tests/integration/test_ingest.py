"""Ingestion into a real store: once, again, interrupted, and with what is not what it claims to be."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from api.runtime.runtime import now
from orchestration.dependencies import Deps
from orchestration.identifiers import person_id
from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.ingestion.formats import File, FileSet, ParsedFiles, parse
from orchestration.ingestion.pipeline import ingest
from schemas.errors import InvalidRequest
from schemas.memory import Level
from schemas.responses import IngestReport
from schemas.temporal import Instant, Scope, to_instant
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.store import listing, reader, rows

LINKS = Query(
    "test_links",
    "MATCH (a:ConsciousnessNode)-[e:LINK]->(b:ConsciousnessNode) WHERE e.relation_type = $type "
    "RETURN a.id, b.id ORDER BY a.valid_at",
)


def chat(citizen: str, turns: int, name: str = "talk") -> ParsedFiles:
    entries = [
        {
            "role": ("Zoë", "李雷")[n % 2],
            "content": f'Nº {n} 🎣 \'\\ "q" {{x}} $y',
            "timestamp": 1_700_000_000 + 60 * n,
        }
        for n in range(turns)
    ]
    return parse("messages", FileSet(name, (File("talk.json", json.dumps(entries)),), citizen))


async def holdings(deps: Deps, citizen: str) -> tuple[int, int]:
    counts = await reader.counts(deps.graph(graph_name(Level.N1, citizen)))
    return counts.memories, counts.links


async def linked(deps: Deps, citizen: str, relation_type: str) -> list[tuple[Any, ...]]:
    found = await deps.connection.read(graph_name(Level.N1, citizen), LINKS, parameters({"type": relation_type}))
    return [tuple(row) for row in found]


def figures(report: IngestReport) -> tuple[int, int, int]:
    return report.stored, report.duplicates, report.refused


async def test_a_conversation_goes_in_once(deps: Deps, fresh_citizen: str) -> None:
    intake = chat(fresh_citizen, 120)
    report = await ingest(intake, deps, now())
    assert (report.turns, report.sessions, report.persons, report.links) == (120, 1, 2, 240)
    assert figures(report) == (363, 0, 0)
    assert await holdings(deps, fresh_citizen) == (123, 240)
    again = await ingest(intake, deps, now())
    assert figures(again) == (0, 363, 0)
    assert await holdings(deps, fresh_citizen) == (123, 240)


async def test_stored_memories_are_not_embedded_again(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ingest(chat(fresh_citizen, 60), deps, now())
    embedded: list[str] = []
    embed = deps.embedder.embed_texts

    async def counted(texts: list[str]) -> list[list[float]]:
        embedded.extend(texts)
        return await embed(texts)

    monkeypatch.setattr(deps.embedder, "embed_texts", counted)
    report = await ingest(chat(fresh_citizen, 61), deps, now())
    assert figures(report) == (3, 183, 0)
    assert len(embedded) == 1


async def test_order_speakers_and_text_come_back_as_they_went_in(deps: Deps, fresh_citizen: str) -> None:
    await ingest(chat(fresh_citizen, 3), deps, now())
    assert await linked(deps, fresh_citizen, "NEXT") == [
        ("talk:D1:1", "talk:D1:2"),
        ("talk:D1:2", "talk:D1:3"),
    ]
    assert await linked(deps, fresh_citizen, "SAID_BY") == [
        ("talk:D1:1", "person:zoe"),
        ("talk:D1:2", "person:李雷"),
        ("talk:D1:3", "person:zoe"),
    ]
    assert await linked(deps, fresh_citizen, "STARTS_WITH") == [("talk:session_1", "talk:D1:1")]
    row = await reader.memory(deps.graph(graph_name(Level.N1, fresh_citizen)), "talk:D1:2")
    assert row is not None
    turn = rows.node(row, Level.N1)
    assert (turn.description, turn.speaker) == ('Nº 1 🎣 \'\\ "q" {x} $y', "李雷")
    assert turn.valid_at.timestamp() == 1_700_000_060


async def test_interrupted_ingestion_is_completed_by_the_next(deps: Deps, fresh_citizen: str) -> None:
    intake = chat(fresh_citizen, 200)
    heard: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        heard.append((done, total))
        task.cancel()

    task = asyncio.create_task(ingest(intake, deps, now(), progress=stop))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(heard) == 1
    assert 0 < heard[0][0] < heard[0][1] == 200
    assert (await holdings(deps, fresh_citizen))[0] < 203
    report = await ingest(intake, deps, now())
    assert report.stored + report.duplicates == 603
    assert report.stored < 603
    assert await holdings(deps, fresh_citizen) == (203, 400)
    assert len(await linked(deps, fresh_citizen, "NEXT")) == 199


async def test_changed_content_under_the_same_id_is_refused_with_the_reason(
    deps: Deps, fresh_citizen: str
) -> None:
    def talk(text: str) -> ParsedFiles:
        turns = (Turn("D1:1", "A", text), Turn("D1:2", "B", "same"))
        return ParsedFiles((Episode("talk", fresh_citizen, (Session("s1", "one", None, turns),)),))

    await ingest(talk("before"), deps, now())
    report = await ingest(talk("after"), deps, now())
    assert figures(report) == (0, 8, 1)
    assert report.faults[0].startswith("talk:D1:1: is stored with other content")


@pytest.mark.parametrize("form", ["messages", "locomo", "markdown", "commands"])
async def test_a_malformed_file_stores_nothing(deps: Deps, fresh_citizen: str, form: str) -> None:
    good = {
        "messages": '{"role": "u", "content": "fine"}\n{"role": "u"}',
        "locomo": json.dumps(
            [
                {
                    "sample_id": "s",
                    "conversation": {"session_1": [{"speaker": "A", "dia_id": "1", "text": "x"}, 1]},
                }
            ]
        ),
        "markdown": "---\ndate: never\n---\nfine",
        "commands": '{"command": "remember", "name": "fine"}\n{"command": "remember"}',
    }
    with pytest.raises(InvalidRequest, match=r"f\.x"):
        await ingest(parse(form, FileSet("f", (File("f.x", good[form]),), fresh_citizen)), deps, now())
    assert graph_name(Level.N1, fresh_citizen) not in await deps.graphs.existing()


def met_on(citizen: str, name: str, *days: int) -> ParsedFiles:
    """A conversation in which Zoë speaks once on each of these days of January 2024."""
    entries = [
        {"role": "Zoë", "content": f"{name} {day}", "timestamp": f"2024-01-{day:02}T12:00:00Z"} for day in days
    ]
    return parse("messages", FileSet(name, (File("talk.json", json.dumps(entries)),), citizen))


async def speakers(deps: Deps, citizen: str, day: int, known: Instant) -> list[tuple[str, str]]:
    """What was said by whom on a day, as known at a moment: the ends of links that are seen with both."""
    scope = Scope.at(to_instant(datetime(2024, 1, day, 13, tzinfo=UTC)), known)
    graph = graph_name(Level.N1, citizen)
    seen = await listing.list_links(
        deps.graph(graph), listing.ListQuery(scope, "SAID_BY", 100), listing.ListPosition()
    )
    there = [
        (row[0], row[1])
        for row in seen.rows
        if all([(await reader.read_memory(deps.graph(graph), end, scope)).row for end in row[:2]])
    ]
    return sorted(there)


async def test_a_speaker_who_is_met_in_an_earlier_conversation_was_there_by_then(
    deps: Deps, fresh_citizen: str
) -> None:
    late, early = met_on(fresh_citizen, "late", 20), met_on(fresh_citizen, "early", 10, 12)
    await ingest(late, deps, 1_750_000_000_000_000)
    before = now()
    assert await speakers(deps, fresh_citizen, 11, before) == []
    report = await ingest(early, deps, before + 1)
    assert (report.duplicates, report.refused, report.notes) == (1, 0, early.notes)
    for again in (early, late):
        assert figures(await ingest(again, deps, before + 1000))[0] == 0
    known = before + 10_000_000
    assert len(await speakers(deps, fresh_citizen, 11, known)) == 1
    assert len(await speakers(deps, fresh_citizen, 21, known)) == 3
    # What was known before stays: nobody had met her by then.
    assert await speakers(deps, fresh_citizen, 11, before) == []
    history = await reader.history(deps.graph(graph_name(Level.N1, fresh_citizen)), person_id("Zoë"))
    assert [row[4] for row in history] == [to_instant(datetime(2024, 1, day, 12, tzinfo=UTC)) for day in (20, 10)]


async def test_a_speaker_holds_from_the_earliest_turn_of_a_conversation_whatever_its_order(
    deps: Deps, fresh_citizen: str
) -> None:
    await ingest(met_on(fresh_citizen, "mixed", 20, 10), deps, now())
    history = await reader.history(deps.graph(graph_name(Level.N1, fresh_citizen)), person_id("Zoë"))
    assert [row[4] for row in history] == [to_instant(datetime(2024, 1, 10, 12, tzinfo=UTC))]
