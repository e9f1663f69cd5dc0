"""A life that is imported as it happened: each record becomes known at its time, and no past answer changes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest

from orchestration.dependencies import Deps
from orchestration.ingestion.formats import File, FileSet, parse
from orchestration.ingestion.pipeline import ingest_as_happened
from orchestration.writing.erasure import erase
from schemas.commands import EraseCitizen, Supersede
from schemas.errors import Conflict, InvalidRequest
from schemas.memory import Level
from schemas.responses import IngestReport
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader
from substrate.store.reader import read_clock
from substrate.store.rows import memory_record
from tests.integration.store import ASKED, NOW, ask, day, found, moment, remember, stored
from tests.integration.test_kept_reads import another_service

SAID = (
    (1, "Ada", "I live in Berlin."),
    (2, "Ben", "How is the weather in Berlin?"),
    (5, "Ada", "I moved to Lisbon."),
    (5, "Ben", "Lisbon is sunny."),
    (9, "Ada", "I am back from the beach in Lisbon."),
)


def messages(*said: tuple[float, str, str]) -> list[dict[str, Any]]:
    return [{"speaker": who, "text": text, "timestamp": moment(at).isoformat()} for at, who, text in said]


async def replay(deps: Deps, citizen: str, told: list[dict[str, Any]], name: str = "talk") -> IngestReport:
    files = FileSet(name, (File(name, orjson.dumps(told).decode()),), citizen)
    return await ingest_as_happened(parse("messages", files), deps, NOW)


def graph(deps: Deps, citizen: str) -> Graph:
    return deps.graph(graph_name(Level.N1, citizen))


async def texts(deps: Deps, citizen: str, at: float | datetime) -> set[str]:
    as_of = at if isinstance(at, datetime) else moment(at)
    stream = await ask(deps, citizen, "Berlin Lisbon", as_of_time=as_of, max_results_per_level=50)
    return {one.description for one in found(stream) if one.node_type == "Turn"}


async def test_a_question_about_the_past_sees_what_had_been_said_by_then(deps: Deps, fresh_citizen: str) -> None:
    report = await replay(deps, fresh_citizen, messages(*SAID))
    assert (report.refused, report.turns) == (0, 5)
    for after in (1.5, 3, 6, 10):
        said = {text for at, _, text in SAID if at < after}
        assert await texts(deps, fresh_citizen, after) == said
    assert await texts(deps, fresh_citizen, 0.5) == set()


async def test_each_record_is_known_from_when_it_holds_and_is_marked(deps: Deps, fresh_citizen: str) -> None:
    await replay(deps, fresh_citizen, messages(*SAID))
    seen = found(await ask(deps, fresh_citizen, "Berlin Lisbon", max_results_per_level=50))
    assert len(seen) >= len(SAID)
    for one in seen:
        assert timedelta(0) <= one.created_at - one.valid_at < timedelta(milliseconds=1)
        [row] = await reader.history(graph(deps, fresh_citizen), one.node_id)
        assert memory_record(row, Level.N1).known_as_happened
    times = [one.created_at for one in seen]
    assert len(set(times)) == len(times)


async def test_what_changes_later_is_known_later_and_not_marked(deps: Deps, fresh_citizen: str) -> None:
    await replay(deps, fresh_citizen, messages(*SAID))
    [turn] = [one for one in found(await ask(deps, fresh_citizen, "Berlin")) if one.description == SAID[0][2]]
    change = Supersede(citizen_id=fresh_citizen, id=turn.node_id, description="I lived in Berlin.")
    await stored(deps, change, now=NOW + 10)
    rows = await reader.history(graph(deps, fresh_citizen), turn.node_id)
    marks = [
        (one.known_as_happened, one.expired_at is None) for one in (memory_record(row, Level.N1) for row in rows)
    ]
    assert marks == [(True, False), (False, True), (False, True)]
    assert await texts(deps, fresh_citizen, 3) == {SAID[0][2], SAID[1][2]}
    assert await read_clock(graph(deps, fresh_citizen), 0) >= NOW


async def test_a_memory_that_knows_of_that_time_takes_nothing(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "known", valid_at=moment(1)), now=day(4))
    with pytest.raises(Conflict, match=r"learned something on 2026-01-04 12:00:00.*happened on 2026-01-01"):
        await replay(deps, fresh_citizen, messages(*SAID))
    assert await texts(deps, fresh_citizen, 99) == set()
    later = [(at, who, text) for at, who, text in SAID if at > 4]
    assert (await replay(deps, fresh_citizen, messages(*later))).refused == 0
    assert await texts(deps, fresh_citizen, 6) == {SAID[2][2], SAID[3][2]}


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ([{"speaker": "Ada", "text": "When?"}], "does not say when it happened|lies in the future"),
        (messages((101, "Ada", "Tomorrow.")), "lies in the future"),
    ],
)
async def test_what_has_no_time_or_lies_ahead_is_refused(
    deps: Deps, fresh_citizen: str, told: list[dict[str, Any]], fault: str
) -> None:
    with pytest.raises(InvalidRequest, match=fault):
        await replay(deps, fresh_citizen, told)
    assert found(await ask(deps, fresh_citizen, "anything", now=ASKED)) == []


@pytest.mark.parametrize("again", ["at the same moment", "later"])
async def test_what_was_erased_is_told_by_no_service_when_it_is_told_again_without_it(
    deps: Deps, fresh_citizen: str, again: str
) -> None:
    first, second = "I live in Berlin and my pin is 4711.", "I live in Berlin and tell no pin."
    other = another_service(deps)
    await replay(deps, fresh_citizen, messages((1, "Ada", first)))
    for _ in range(2):
        assert first in {node.description for node in found(await ask(other, fresh_citizen, "Berlin pin"))}
    await erase(EraseCitizen(citizen_id=fresh_citizen), deps, NOW + 10, deps.directory)
    files = FileSet("talk", (File("talk", orjson.dumps(messages((1, "Ada", second))).decode()),), fresh_citizen)
    moment_again = NOW if again == "at the same moment" else NOW + 20
    await ingest_as_happened(parse("messages", files), deps, moment_again)
    said = {node.description for node in found(await ask(other, fresh_citizen, "Berlin pin"))}
    await other.graphs.close()
    await other.connection.close()
    assert second in said
    assert not any("4711" in text for text in said)
