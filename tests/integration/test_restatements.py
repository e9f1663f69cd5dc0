"""A retrieved text that is written back word for word is recognised, not stored as a new memory."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.assembly.compact import tell
from orchestration.dependencies import Deps
from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.ingestion.formats import ParsedFiles
from orchestration.ingestion.pipeline import ingest
from orchestration.writing import atomic
from schemas.commands import ANY_COMMAND, Remember, WriteReceipt
from schemas.memory import Level
from substrate.graphs.names import graph_name
from substrate.store import reader
from tests.integration.store import NOW, ask, carried, day, moment, remember, send, stored

TEXT = "The harbour of Esbjerg was closed for repairs, until May"
SINCE: dict[str, Any] = {"valid_at": moment(1)}


async def known(deps: Deps, citizen: str, **fields: Any) -> None:
    told = {"name": "harbour news", "description": TEXT, **SINCE, **fields}
    await stored(deps, remember(citizen, "first", **told), now=day(2))


async def said(deps: Deps, citizen: str, text: str, **fields: Any) -> WriteReceipt:
    [receipt] = await send(deps, Remember(citizen_id=citizen, name="a note", description=text, **fields))
    return receipt


async def memories(deps: Deps, citizen: str) -> int:
    return (await reader.counts(deps.graph(graph_name(Level.N1, citizen)))).memories


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.upper().replace(",", " -"),
        f"harbour news: {TEXT}",
        f"- [1 January 2026] harbour news: {TEXT}",
        f"- [1 January 2026] harbour news: {TEXT} (resolved; joy 0.5; id m_1)",
        f"[1 January 2026] {TEXT} (id m_1)",
    ],
)
async def test_a_text_that_a_memory_already_has_is_not_stored_again(
    deps: Deps, fresh_citizen: str, text: str
) -> None:
    await known(deps, fresh_citizen)
    receipt = await said(deps, fresh_citizen, text)
    assert (receipt.status, receipt.duplicate, receipt.recognised, receipt.id) == (
        "stored",
        True,
        "first",
        "first",
    )
    assert (receipt.version, receipt.valid_at) == (1, moment(1))
    assert any("recognised" in warning for warning in receipt.warnings)
    assert await memories(deps, fresh_citizen) == 1


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (TEXT, {"restate": True}),
        (f"Luca: {TEXT}", {}),
        (TEXT, {"speaker": "Luca"}),
        (TEXT, {"valid_at": moment(3)}),
        (TEXT, {"episode_id": "a talk"}),
        (TEXT, {"id": "an id of its own"}),
        (f"{TEXT} or June", {}),
    ],
)
async def test_another_text_is_stored(deps: Deps, fresh_citizen: str, text: str, fields: dict[str, Any]) -> None:
    await known(deps, fresh_citizen)
    receipt = await said(deps, fresh_citizen, text, **fields)
    assert (receipt.duplicate, receipt.recognised) == (False, None)
    assert await memories(deps, fresh_citizen) == 2


async def test_a_short_repeated_text_is_not_recognised(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "first", name="thanks", description="Thanks a lot, Ada!"))
    assert (await said(deps, fresh_citizen, "Thanks a lot, Ada!")).recognised is None


async def test_only_what_holds_now_is_recognised(deps: Deps, fresh_citizen: str) -> None:
    await known(deps, fresh_citizen)
    change = {"command": "supersede", "citizen_id": fresh_citizen, "id": "first", "description": f"{TEXT} or June"}
    await stored(deps, ANY_COMMAND.validate_python(change), now=day(5))
    assert (await said(deps, fresh_citizen, f"{TEXT} or June")).recognised == "first"
    assert (await said(deps, fresh_citizen, TEXT)).recognised is None


async def test_a_recognised_command_is_known_when_it_comes_again(deps: Deps, fresh_citizen: str) -> None:
    await known(deps, fresh_citizen)
    first = await said(deps, fresh_citizen, TEXT, command_id="again")
    change = {"command": "retract", "citizen_id": fresh_citizen, "id": "first"}
    await stored(deps, ANY_COMMAND.validate_python(change), now=NOW + 5)
    assert await said(deps, fresh_citizen, TEXT, command_id="again") == first
    other = await said(deps, fresh_citizen, f"{TEXT} or June", command_id="again")
    assert (other.status, other.problem) == ("refused", "conflict")


async def test_a_command_that_names_the_memory_itself_takes_the_usual_way(deps: Deps, fresh_citizen: str) -> None:
    await known(deps, fresh_citizen)
    receipt = await said(deps, fresh_citizen, TEXT, id="first")
    assert (receipt.status, receipt.problem) == ("refused", "conflict")


async def test_each_memory_of_a_stream_comes_back_recognised(deps: Deps, fresh_citizen: str) -> None:
    turns = (
        Turn("D1:1", "Ada", "I moved to the house by the old lighthouse in spring"),
        Turn("D1:2", "Luca", "My sister plays the cello: every evening, in the attic"),
    )
    intake = ParsedFiles((Episode("talk", fresh_citizen, (Session("s1", "one", None, turns),)),))
    await ingest(intake, deps, day(2))
    await known(deps, fresh_citizen)
    before = await memories(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, "lighthouse, cello and harbour")
    lines = [line for line in tell(stream).text.splitlines() if line.startswith("- [")]
    texts = [line for line in lines if "] one: " not in line]  # the session has a name but says nothing
    told = [line for line in texts if any(word in line for word in ("lighthouse", "cello", "harbour"))]
    assert len(told) == 3
    receipts = [await said(deps, fresh_citizen, line) for line in told]
    assert [receipt.duplicate for receipt in receipts] == [True] * 3
    assert await memories(deps, fresh_citizen) == before


async def test_a_repeated_text_in_an_atomic_list_is_recognised_too(deps: Deps, fresh_citizen: str) -> None:
    await known(deps, fresh_citizen)
    commands = [
        Remember(citizen_id=fresh_citizen, name="a note", description=TEXT, command_id="1"),
        remember(fresh_citizen, "another"),
    ]
    receipts = await atomic.apply(commands, deps, NOW)
    assert [(one.id, one.recognised) for one in receipts] == [("first", "first"), ("another", None)]
    assert await memories(deps, fresh_citizen) == 2
    assert await carried(deps, fresh_citizen, "another") is not None
    assert [one.recognised for one in await atomic.apply(commands, deps, NOW)] == ["first", None]
