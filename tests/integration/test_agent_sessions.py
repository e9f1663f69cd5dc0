"""Sessions of agents in a real store: again, grown, and heard by the hook before."""

from __future__ import annotations

import json

from api.runtime.runtime import now
from hook import read_messages
from orchestration.dependencies import Deps
from orchestration.ingestion.formats import parse
from orchestration.ingestion.formats.files import make_file
from orchestration.ingestion.formats.reader import FileSet
from orchestration.ingestion.hearing import NewMessages, hear_messages
from orchestration.ingestion.pipeline import ingest
from orchestration.ingestion.storing import Job
from schemas.memory import Level
from schemas.responses import IngestReport
from substrate.graphs.names import graph_name
from substrate.store import reader, rows
from tests.unit.orchestration.ingestion.formats.exports import EXPORTS

LINES = (EXPORTS / "agents" / "claude_code.jsonl").read_bytes().splitlines(keepends=True)
SESSION = f"session-{json.loads(LINES[3])['sessionId']}"


async def take(deps: Deps, citizen: str, lines: list[bytes]) -> IngestReport:
    file = make_file("p/session.jsonl", b"".join(lines))
    return await ingest(parse(None, FileSet("projects", (file,), citizen)), deps, now())


async def test_a_session_goes_on_where_it_stopped(deps: Deps, fresh_citizen: str) -> None:
    first = await take(deps, fresh_citizen, LINES[:6])
    assert (first.turns, first.refused) == (2, 0)
    again = await take(deps, fresh_citizen, LINES[:6])
    assert (again.stored, again.refused) == (0, 0)
    grown = await take(deps, fresh_citizen, [*LINES, LINES[3][:80]])
    assert (grown.refused, grown.superseded, grown.duplicates > 0) == (0, 0, True)
    assert (await take(deps, fresh_citizen, LINES)).stored == 0
    row = await reader.memory(deps.graph(graph_name(Level.N1, fresh_citizen)), f"{SESSION}:D1:4")
    assert row is not None
    result = rows.node(row, Level.N1)
    assert (result.speaker, (result.description or "")[:8]) == ("tool", "E   asse")


async def test_what_the_hook_heard_is_not_stored_again(deps: Deps, fresh_citizen: str) -> None:
    heard = list(read_messages(LINES))
    sent = NewMessages(fresh_citizen, SESSION, heard)
    told = await hear_messages(sent, Job(deps, now()))
    assert (told.stored, told.refused) == (len(heard), 0)
    report = await take(deps, fresh_citizen, LINES)
    assert (report.refused, report.superseded) == (0, 0)
    tools = 2
    ids = [f"{SESSION}:D1:{key}" for key in range(1, len(heard) + 1)]
    graph = deps.graph(graph_name(Level.N1, fresh_citizen))
    assert all([await reader.memory(graph, one) for one in ids])
    others = 1 + 3  # a session, and three speakers
    assert (await reader.counts(graph)).memories == len(heard) + tools + others
