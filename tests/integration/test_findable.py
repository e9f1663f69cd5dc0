"""Nothing that was stored is unfindable: what is dated ahead of the clock, and every column of a row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from orchestration.dependencies import Conversations, Deps
from orchestration.ingestion import hearing
from orchestration.ingestion.formats import FileSet, parse
from orchestration.ingestion.formats.files import make_file
from orchestration.ingestion.hearing import NewMessages
from orchestration.ingestion.pipeline import ingest
from orchestration.ingestion.storing import Job
from schemas.commands import Correct, Remember
from schemas.memory import ConsciousnessNode, ResolutionState
from schemas.responses import HeardReport, IngestReport
from schemas.temporal import Instant, to_datetime
from tests.integration.store import ASKED, NOW, ask, carried, day, moment, send, stored

CODE_WORD = "The code word of the vault is Zebra."
LATER = day(400)
"""A moment after every time that the tests name."""


def said(text: str, at: float | None = None, **fields: Any) -> dict[str, Any]:
    stamp = {} if at is None else {"timestamp": moment(at).isoformat()}
    return {"role": "user", "content": text, **stamp, **fields}


async def hear(deps: Deps, citizen: str, *sent: dict[str, Any], now: Instant = NOW) -> HeardReport:
    return await hearing.hear_messages(NewMessages(citizen, "talk", sent), Job(deps, now))


async def take(
    deps: Deps, citizen: str, file: str, text: str, *, now: Instant = NOW, name: str = "table"
) -> IngestReport:
    parsed = parse(None, FileSet(name, (make_file(file, text.encode(), to_datetime(day(1))),), citizen))
    return await ingest(parsed, deps, now)


async def focus(deps: Deps, citizen: str, question: str, now: Instant = ASKED) -> list[ConsciousnessNode]:
    return list((await ask(deps, citizen, question, now=now)).activation_tiers.focus)


async def first(deps: Deps, citizen: str, question: str, now: Instant = ASKED) -> str:
    return next((memory.description for memory in await focus(deps, citizen, question, now)), "nothing")


@pytest.mark.parametrize("message_id", [{}, {"id": "m1"}])
async def test_a_message_that_is_stamped_ahead_is_found_now_and_stored_once(
    deps: Deps, fresh_citizen: str, message_id: dict[str, str]
) -> None:
    sent = (said(CODE_WORD, 200, **message_id), {"role": "assistant", "content": "Noted."})
    report = await hear(deps, fresh_citizen, *sent)
    assert (report.stored, report.findable) == (2, 2)
    assert report.notes == ("1 message dated ahead of the clock: true from now on",)
    assert await first(deps, fresh_citizen, "What is the code word of the vault?") == CODE_WORD
    turn = await carried(deps, fresh_citizen, "talk:D1:1")
    assert turn is not None
    assert (turn.valid_at, turn.extra["timestamp"]) == (to_datetime(NOW), moment(200).isoformat())
    for at in (NOW + 10, day(201), LATER):
        for process in (deps, replace(deps, conversations=Conversations())):
            again = await hear(process, fresh_citizen, *sent, now=at)
            assert (again.stored, again.duplicates, again.findable, again.notes) == (0, 2, 0, ())
    grown = await hear(deps, fresh_citizen, *sent, said("And of the gate it is Okapi.", 201), now=LATER)
    assert [one.status for one in grown.messages] == ["duplicate", "duplicate", "stored"]


async def test_the_file_of_a_chat_that_is_stamped_ahead_stores_nothing_when_it_is_ingested_again(
    deps: Deps, fresh_citizen: str
) -> None:
    chat = orjson.dumps([said(CODE_WORD, 200), said("Thanks."), said("Bye.", 250)]).decode()
    report = await take(deps, fresh_citizen, "chat.json", chat)
    assert (report.refused, report.findable) == (0, 3)
    for at in (NOW + 10, day(201), LATER):
        again = await take(deps, fresh_citizen, "chat.json", chat, now=at)
        assert (again.stored, again.refused, again.findable) == (0, 0, 0)
    assert await first(deps, fresh_citizen, "What is the code word of the vault?") == CODE_WORD


async def test_what_follows_a_stamp_of_this_moment_is_not_found_a_second_too_late(
    deps: Deps, fresh_citizen: str
) -> None:
    sent = ({**said("Hello."), "timestamp": to_datetime(NOW - 1).isoformat()}, said(CODE_WORD))
    assert (await hear(deps, fresh_citizen, *sent)).findable == 2
    chat = orjson.dumps(list(sent)).decode()
    for _ in range(2):
        assert (await take(deps, fresh_citizen, "chat.json", chat)).refused == 0
    assert await first(deps, fresh_citizen, "What is the code word of the vault?") == CODE_WORD


async def test_a_message_that_an_earlier_release_hid_until_its_time_is_found_when_it_is_sent_again(
    deps: Deps, fresh_citizen: str
) -> None:
    """As it was stored then: with its own time, seen from a clock that is behind it."""
    sent = (said("Hello.", 90), said(CODE_WORD, 200))
    await hear(deps, fresh_citizen, *sent, now=day(201))
    assert CODE_WORD not in await first(deps, fresh_citizen, "What is the code word of the vault?")
    report = await hear(deps, fresh_citizen, *sent)
    assert (report.stored, report.duplicates, report.findable) == (0, 2, 1)
    assert await first(deps, fresh_citizen, "What is the code word of the vault?") == CODE_WORD
    chat = orjson.dumps(list(sent)).decode()
    for at in (NOW + 10, LATER):
        again = await take(deps, fresh_citizen, "chat.json", chat, now=at, name="talk")
        assert (again.stored, again.refused) == (0, 0)


@pytest.mark.parametrize("stamp", ["9999-12-31T23:59:59Z", "NaN", "never"])
async def test_a_stamp_that_is_no_time_of_ours_is_refused_and_told(
    deps: Deps, fresh_citizen: str, stamp: str
) -> None:
    report = await hear(deps, fresh_citizen, {**said("Lost?"), "timestamp": stamp}, said(CODE_WORD))
    assert (report.refused, report.stored, report.findable) == (1, 1, 1)


async def test_a_command_holds_from_when_it_says(deps: Deps, fresh_citizen: str) -> None:
    line = {"command": "remember", "name": "The move", "valid_at": moment(200).isoformat()}
    report = await take(deps, fresh_citizen, "plan.jsonl", orjson.dumps(line).decode())
    assert (report.stored, report.findable) == (1, 0)


TASKS = """Task,Due,Note
renew passport,2026-12-01,bring two photos
water the plants,2026-06-20,only the ferns
"""


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (TASKS, "When must I renew my passport?", "Due: 2026-12-01"),
        (TASKS, "What do I need for the passport?", "bring two photos"),
        ("Trip,Date\nBergen by ferry,2026-12-01\nOslo,2026-01-05\n", "When do we go to Bergen?", "2026-12-01"),
        ("Author,Title,Notes\nLe Guin,The Dispossessed,lent to Sem\n", "Who has The Dispossessed?", "lent to Sem"),
        ("Who,Date,Note\nAda,2026-12-01,dentist\n", "When is the dentist?", "Date: 2026-12-01"),
    ],
)
async def test_a_row_is_found_by_each_of_its_columns_also_when_its_date_is_to_come(
    deps: Deps, fresh_citizen: str, table: str, question: str, answer: str
) -> None:
    report = await take(deps, fresh_citizen, "table.csv", table)
    assert (report.refused, report.findable) == (0, table.count("\n") - 1)
    assert answer in await first(deps, fresh_citizen, question)
    for at in (NOW + 10, LATER):
        again = await take(deps, fresh_citizen, "table.csv", table, now=at)
        assert (again.stored, again.refused, again.findable) == (0, 0, 0)


async def test_an_edited_row_is_superseded_and_can_go_back(deps: Deps, fresh_citizen: str) -> None:
    table = "id,task,due,date\n7,renew passport,2026-12-01,2026-02-01\n"
    await take(deps, fresh_citizen, "table.csv", table)
    edited = table.replace("2026-12-01", "2026-11-01")
    for number, text in enumerate((edited, table, edited), start=1):
        for expected in (1, 0):
            report = await take(deps, fresh_citizen, "table.csv", text, now=NOW + number)
            assert (report.superseded, report.stored, report.refused) == (expected, expected, 0)
    row = await carried(deps, fresh_citizen, "csv:table:7")
    assert row is not None
    assert "due: 2026-11-01" in row.description


async def test_a_row_that_was_changed_by_hand_stays(deps: Deps, fresh_citizen: str) -> None:
    await take(deps, fresh_citizen, "table.csv", "id,note\n7,blue\n")
    await stored(deps, Correct(citizen_id=fresh_citizen, id="csv:table:7", description="green"), now=NOW + 1)
    report = await take(deps, fresh_citizen, "table.csv", "id,note\n7,red\n", now=NOW + 2)
    assert (report.stored, report.refused, report.duplicates) == (0, 0, 1)


async def test_a_row_of_an_earlier_release_gets_its_whole_text_and_holds_now(
    deps: Deps, fresh_citizen: str
) -> None:
    """It was stored with one column as its text, from the day of its date."""
    old = {"name": "Oslo", "description": "Oslo", "source": "ingestion"}
    row = Remember(
        citizen_id=fresh_citizen, id="csv:table:7", command_id="csv:table:7", valid_at=moment(200), **old
    )
    await send(deps, row)
    table = "id,text,date\n7,Oslo,2026-07-19\n"
    report = await take(deps, fresh_citizen, "table.csv", table, now=NOW + 1)
    assert (report.superseded, report.refused, report.findable) == (1, 0, 1)
    assert "date: 2026-07-19" in await first(deps, fresh_citizen, "When do we go to Oslo?")
    assert (await take(deps, fresh_citizen, "table.csv", table, now=LATER)).stored == 0


NOTE = """# House
- [ ] pour the foundation 📅 2026-06-20
- [x] buy cement ✅ 2026-03-01
"""


async def test_a_task_of_a_note_is_open_work_until_it_is_ticked(deps: Deps, fresh_citizen: str) -> None:
    report = await take(deps, fresh_citizen, "house.md", NOTE)
    assert (report.refused, report.findable) == (0, 3)
    [best, *_] = await focus(deps, fresh_citizen, "When do we pour the foundation?")
    assert best.description == "pour the foundation 📅 2026-06-20"
    assert (best.resolution_state, best.valid_at) == (ResolutionState.IN_PROGRESS, moment(1))
    done = await carried(deps, fresh_citizen, "table:house.md#buy cement")
    assert done is not None
    assert done.resolution_state is ResolutionState.RESOLVED
    assert (await take(deps, fresh_citizen, "house.md", NOTE, now=NOW + 1)).stored == 0
    ticked = NOTE.replace("[ ]", "[x]")
    report = await take(deps, fresh_citizen, "house.md", ticked, now=NOW + 2)
    assert (report.superseded, report.retracted, report.refused) == (2, 0, 0)
    task = await carried(deps, fresh_citizen, best.node_id)
    assert task is not None
    assert task.resolution_state is ResolutionState.RESOLVED
    assert (await take(deps, fresh_citizen, "house.md", ticked, now=NOW + 3)).stored == 0


async def test_a_note_that_is_dated_ahead_is_found_now(deps: Deps, fresh_citizen: str) -> None:
    note = "---\ndate: 2026-12-24\n---\nGrandmother comes with the night train.\n"
    report = await take(deps, fresh_citizen, "christmas.md", note)
    assert (report.findable, report.notes[-1]) == (1, "1 note dated ahead of the clock: true from now on")
    assert "night train" in await first(deps, fresh_citizen, "How does grandmother come?")
    assert (await take(deps, fresh_citizen, "christmas.md", note, now=NOW + 1)).stored == 0


async def test_a_note_that_an_earlier_release_hid_until_its_date_is_found_when_it_is_ingested_again(
    deps: Deps, fresh_citizen: str
) -> None:
    note = "---\ndate: 2026-07-19\n---\nGrandmother comes with the night train.\n"
    await take(deps, fresh_citizen, "summer.md", note, now=day(250))
    report = await take(deps, fresh_citizen, "summer.md", note)
    assert (report.superseded, report.refused, report.findable) == (1, 0, 1)
    assert "night train" in await first(deps, fresh_citizen, "How does grandmother come?")
    assert (await take(deps, fresh_citizen, "summer.md", note, now=NOW + 1)).stored == 0


async def test_a_report_counts_what_can_be_found_and_not_what_has_ended(deps: Deps, fresh_citizen: str) -> None:
    lines = [
        {"command": "remember", "id": "now", "name": "Now"},
        {
            "command": "remember",
            "id": "past",
            "name": "Past",
            "valid_at": "2025-01-01",
            "invalid_at": "2026-01-01",
        },
        {"command": "remember", "id": "ended", "name": "Ended", "valid_at": "2025-01-01"},
        {"command": "retract", "id": "ended", "effective_at": "2025-06-01"},
        {"command": "remember", "id": "changed", "name": "Changed", "valid_at": "2025-01-01"},
        {"command": "supersede", "id": "changed", "name": "To change", "effective_at": "2026-12-01"},
    ]
    text = "\n".join(orjson.dumps(line).decode() for line in lines)
    report = await take(deps, fresh_citizen, "commands.jsonl", text)
    assert (report.stored, report.refused, report.findable) == (6, 0, 2)
