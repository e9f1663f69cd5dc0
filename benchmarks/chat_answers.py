"""Stores the chats of benchmarks/chats and asks their questions, in this process, with engine and model."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.chat import Change, Chat
from benchmarks.waking import wire
from orchestration.ingestion.formats import File, FileSet, parse
from orchestration.ingestion.pipeline import ingest
from orchestration.retrieval import retrieve_consciousness_context
from schemas.intention import RetrievalIntention
from schemas.settings import Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from schemas.temporal import TemporalMode, to_datetime

PRESENT, PAST, ANSWERABLE, TIME, INSTRUCTION = "present", "past", "answerable", "time phrase", "instruction"
NEVER_SAID, OTHER_CHAT, GIBBERISH = "never said", "another chat", "gibberish"
NONSENSE: Final = (
    "flimbar quosti wenthal drup?",
    "Why does the zorvex glimp under marnock?",
    "asdf qwer zxcv uiop",
    "blorptastic nimwhistle of the ungrado",
    "How many trelks fit a vorpish dunnel?",
    "xkq jjw pprt vvv",
)
OTHERS: Final = 8
"""How many questions of other chats each chat is asked."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A question of a kind, asked at a moment. `expected`: messages that answer it; `former`: those outdated."""

    kind: str
    question: str
    at: datetime
    expected: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    group: str = ""


def own_probes(chat: Chat) -> list[Probe]:
    """Return the questions of a chat itself."""
    return [
        *(probe for change in chat.changes for probe in _change_probes(change, chat.end)),
        *(Probe(ANSWERABLE, each.question, each.at, each.evidence) for each in chat.questions),
        *(Probe(TIME, each.question, each.at, each.expected, group=chat.language) for each in chat.time_phrases),
        *(Probe(INSTRUCTION, text, chat.end, (each.id,)) for each in chat.instructions for text in each.questions),
        *(Probe(NEVER_SAID, each.question, each.at) for each in chat.unanswerable),
    ]


def _change_probes(change: Change, end: datetime) -> Iterator[Probe]:
    for question in change.present:
        yield Probe(PRESENT, question, end, change.values[-1:], change.values[:-1], change.manner)
    for past in change.past:
        others = tuple(each for each in change.values if each != past.first)
        yield Probe(PAST, past.question, end, (past.first,), others, change.manner)


def foreign_probes(chat: Chat, chats: Sequence[Chat]) -> Iterator[Probe]:
    """Yield what nobody in this chat can know: questions of other chats, evenly taken, and gibberish."""
    others = [asked.question for other in chats if other is not chat for asked in other.questions]
    step = max(1, len(others) // OTHERS)
    start = chats.index(chat) % step
    for question in others[start::step][:OTHERS]:
        yield Probe(OTHER_CHAT, question, chat.end)
    for question in NONSENSE:
        yield Probe(GIBBERISH, question, chat.end)


@asynccontextmanager
async def open_store() -> AsyncIterator[Runtime]:
    """Open a new store that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="substrate-chats-") as directory:
        settings = Settings()
        async with open_runtime(Settings(StoreSettings(data=Path(directory)), settings.embedding)) as rt:
            yield rt


async def store_chat(chat: Chat, rt: Runtime) -> None:
    """Store a chat as `POST /v1/episodes` does. Raises RuntimeError when a part of it was refused."""
    sent = orjson.dumps([wire(message) for message in chat.messages]).decode()
    files = FileSet(chat.id, (File("messages", sent),), chat.citizen_id)
    report = await ingest(parse("messages", files), rt.deps, now())
    if report.refused:
        raise RuntimeError(f"{chat.id}: {report.refused} refused: {report.faults[:1]}")


def intention(chat: Chat, probe: Probe) -> RetrievalIntention:
    """Return the question as of its moment, with all that is known."""
    return RetrievalIntention(
        query_text=probe.question,
        citizen_id=chat.citizen_id,
        temporal_mode=TemporalMode.POINT_IN_TIME,
        as_of_time=probe.at,
        known_at=to_datetime(now()),
    )


async def ask(chat: Chat, probe: Probe, rt: Runtime) -> ConsciousnessStream:
    """Ask one question of a stored chat."""
    return await retrieve_consciousness_context(intention(chat, probe), rt.deps, now())


async def ask_all(
    chats: Iterable[Chat], probes: Sequence[Sequence[Probe]], rt: Runtime
) -> list[list[ConsciousnessStream]]:
    """Store each chat and ask its probes; one list of streams a chat."""
    streams = []
    for chat, own in zip(chats, probes, strict=True):
        await store_chat(chat, rt)
        streams.append([await ask(chat, probe, rt) for probe in own])
    return streams
