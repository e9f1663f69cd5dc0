"""Exports of chat programs in a real store: once, again, and longer."""

from __future__ import annotations

import json
from typing import Any

from api.runtime.runtime import now
from orchestration.dependencies import Deps
from orchestration.ingestion.formats import FileSet, parse
from orchestration.ingestion.formats.files import make_file
from orchestration.ingestion.pipeline import ingest
from schemas.memory import Level
from schemas.responses import IngestReport
from substrate.graphs.names import graph_name
from substrate.store import reader
from tests.unit.orchestration.ingestion.formats.exports import export

CHATGPT = "chatgpt_conversations.json"
WHATSAPP = "WhatsApp Chat with Luca.txt"


async def take(deps: Deps, citizen: str, name: str, raw: bytes) -> IngestReport:
    return await ingest(parse(None, FileSet("export", (make_file(name, raw),), citizen)), deps, now())


async def memories(deps: Deps, citizen: str) -> int:
    return (await reader.counts(deps.graph(graph_name(Level.N1, citizen)))).memories


async def test_a_later_export_adds_only_what_is_new(deps: Deps, fresh_citizen: str) -> None:
    whole: list[dict[str, Any]] = json.loads(export(CHATGPT))
    earlier = json.loads(json.dumps(whole))
    earlier[0]["current_node"] = "aaaa0000-1111-4222-8333-000000000006"
    first = await take(deps, fresh_citizen, CHATGPT, json.dumps(earlier).encode())
    assert (first.formats, first.turns, first.refused) == (("chatgpt",), 5, 0)
    held = await memories(deps, fresh_citizen)
    longer = await take(deps, fresh_citizen, CHATGPT, json.dumps(whole).encode())
    assert (longer.turns, longer.refused) == (7, 0)
    # Two turns, and the session of the next day.
    assert await memories(deps, fresh_citizen) == held + 3
    again = await take(deps, fresh_citizen, CHATGPT, json.dumps(whole).encode())
    assert (again.stored, again.refused) == (0, 0)


async def test_a_message_that_was_edited_supersedes_its_turn(deps: Deps, fresh_citizen: str) -> None:
    raw = export(WHATSAPP)
    await take(deps, fresh_citizen, WHATSAPP, raw)
    edited = raw.replace(b"It did, thank you", b"It did, all of it")
    more = edited + b"04/01/2025, 10:00 - Luca Moretti: we sail on Monday\n"
    report = await take(deps, fresh_citizen, WHATSAPP, more)
    turn = await reader.read_names(deps.graph(graph_name(Level.N1, fresh_citizen)), ["whatsapp:Luca:D1:2"])
    assert (report.turns, report.refused, list(turn)) == (6, 0, ["whatsapp:Luca:D1:2"])
    again = await take(deps, fresh_citizen, WHATSAPP, more)
    assert (again.stored, again.refused) == (0, 0)


async def test_of_a_cut_export_what_is_whole_is_stored_and_the_fault_is_reported(
    deps: Deps, fresh_citizen: str
) -> None:
    raw = export(CHATGPT)
    cut = raw[: raw.index(b'"Porto in May sounds lovely."')]
    report = await take(deps, fresh_citizen, CHATGPT, cut)
    assert (report.turns, report.refused) == (5, 1)
    assert "is cut or damaged" in report.faults[0]


async def test_progress_counts_messages(deps: Deps, fresh_citizen: str) -> None:
    told: list[tuple[int, int]] = []
    parsed = parse(None, FileSet("export", (make_file(CHATGPT, export(CHATGPT)),), fresh_citizen))
    for _ in range(2):
        await ingest(parsed, deps, now(), progress=lambda done, total: told.append((done, total)))
        assert told[-1] == (7, 7)
        assert all(0 < done <= total == 7 for done, total in told)
        told.clear()
