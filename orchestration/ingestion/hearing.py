"""Hears messages of a conversation: stores what is new of a list that may be whole, grown, or new messages alone.

Lists for one episode are taken one after another in this process. When another process stores under the same ids
at the same time, the rest is placed anew behind what that stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from hashlib import blake2b
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple, cast

import orjson

from orchestration.dependencies import Deps
from orchestration.identifiers import identifier
from orchestration.ingestion.arrangement import Continuation, MessageOutcome, continue_episode
from orchestration.ingestion.episodes import Episode, Message, Session
from orchestration.ingestion.formats import messages
from orchestration.ingestion.formats.command_files import CommandFile
from orchestration.ingestion.formats.reader import Ingestible, ParsedFiles, Reader
from orchestration.ingestion.speakers import resolve_speakers
from orchestration.ingestion.storing import Heads, Job, Tally, store
from orchestration.ingestion.transcript import (
    StoredSession,
    StoredTurn,
    Transcript,
    TurnOrder,
    is_same,
    speech_key,
)
from orchestration.writing.records import instant
from schemas.commands import Command, Remember
from schemas.errors import InvalidRequest
from schemas.memory import GraphKey, Level, graph_fields
from schemas.responses import HeardMessage, HeardReport
from schemas.temporal import END_OF_TIME, Instant, to_instant
from substrate.language.text import count_of
from substrate.store import notes, reader
from substrate.store.notes import EpisodeRow

TRIES: Final = 8
"""Attempts to place a list, because another process may store under the same ids at the same time."""


class Hearing(NamedTuple):
    """What became of each message of a list, in its order, and notes on the list."""

    heard: tuple[MessageOutcome, ...]
    notes: tuple[str, ...]


class NewMessages(NamedTuple):
    """Messages as they were sent, for an episode."""

    citizen_id: str
    episode_id: str
    raw: Sequence[Mapping[str, Any]]
    graph: GraphKey = Level.N1


async def hear_messages(sent: NewMessages, job: Job) -> HeardReport:
    """Store what is new of the messages, and report each: an invalid one is refused, and the others are stored.

    Raises Unavailable when the engine or the embedding model does not answer; the same call then stores the rest.
    """
    read = read_messages(sent.raw)
    valid = tuple(message for message in read if isinstance(message, Message))
    tally, notes = Tally(), list[str]()
    times = [message.turn.time for message in valid if message.turn.time is not None]
    back = sum(later < earlier for earlier, later in pairwise(times))
    if back:
        notes.append(f"{count_of(back, 'message')} earlier than the one before: the order of the list is kept")
    heard: Sequence[MessageOutcome] = ()
    if valid:
        spoken = tuple(message.turn for message in valid if message.turn.speaker)
        speakers = Session("heard", "heard", None, spoken)  # so that stored people are found
        episode = Episode(sent.episode_id, sent.citizen_id, (speakers,), messages=valid, graph=sent.graph)
        resolved, said_of_them = await resolve_speakers(episode, job.deps)
        hearing = await hear(cast(Episode, resolved), job, tally, fewest=2)
        heard, notes = hearing.heard, [*notes, *said_of_them, *hearing.notes]
    following = iter(heard)
    reports: list[HeardMessage] = []
    for one in read:
        if isinstance(one, Message):
            message, status, turn_id, reason = next(following)
            one = HeardMessage(message_id=message.id, status=status, id=turn_id, reason=reason)
        reports.append(one)
    counts = Counter(report.status for report in reports)
    counted = {name: counts[name] for name in ("stored", "superseded", "retracted", "left_out", "refused")}
    return HeardReport(
        citizen_id=sent.citizen_id,
        **graph_fields(sent.graph),
        episode_id=sent.episode_id,
        messages=tuple(reports),
        duplicates=counts["duplicate"],
        findable=len({one.id for one in reports} & {turn_id for _, turn_id in tally.found}),
        notes=tuple(notes),
        **counted,
    )


async def name_conversation(unnamed: Episode, raw: Sequence[Mapping[str, Any]], deps: Deps) -> str:
    """The id of a conversation that was sent without one: a digest of its messages.

    A list that has grown keeps the id under which its beginning was stored, if nothing else was stored there.
    """
    so_far, names = blake2b(b"[", digest_size=8), list[str]()  # of the first message, of the first two, and so on
    for number, message in enumerate(raw):
        so_far.update((b"," if number else b"") + orjson.dumps(message))
        whole = so_far.copy()
        whole.update(b"]")
        names.append(f"episode_{whole.hexdigest()}")
    graph = deps.graph(unnamed.graph_name)
    if not await deps.graphs.for_reading(graph.name):
        return names[-1]
    command_ids = {replace(unnamed, id=name).command_id: name for name in names}
    stored = await reader.receipts(graph, list(command_ids))
    known = {command_ids[command_id] for command_id in stored}
    beginning = next((name for name in reversed(names) if name in known), names[-1])
    transcript = await load(replace(unnamed, id=beginning), deps, END_OF_TIME)
    read = [message for message in read_messages(raw) if isinstance(message, Message) and message.turn.text]
    grown = all(is_same(message, turn) for message, turn in zip(read, transcript.turns, strict=False))
    return beginning if grown else names[-1]


async def hear(
    episode: Episode, job: Job, tally: Tally, *, fewest: int = 1, tried: Sequence[MessageOutcome] = ()
) -> Hearing:
    """Store what is new of the messages of the episode. `fewest` as `transcript.align`.

    `tried`: what became of each message when another process stored meanwhile. Raises what `pipeline.ingest`
    raises; the same call then stores the rest.
    """
    async with job.deps.conversations.turn(episode.graph_name, episode.id):
        stored_before: dict[int, MessageOutcome] = {}
        for attempt in range(TRIES):
            found: dict[int, str] = {}
            for place, one in enumerate(tried):
                if one.id and one.status != "refused":
                    found[place] = one.id
                    if one.status == "stored":
                        stored_before[place] = one
            transcript, plan, known = await _plan(episode, job, fewest=fewest, found=found)
            counted = Tally(persons=tally.persons)
            await store(plan, job, counted, known)
            tried = _judge(plan, counted)
            if attempt == TRIES - 1 or not _stored_by_another(plan, counted):
                break
            tally.counts["stored"] += counted.counts["stored"]
            tally.found |= counted.found
        if not counted.refused and not plan.changes:
            _keep(transcript, plan, job)
        tally.merge(counted)
        heard = tuple(stored_before.get(place, one) for place, one in enumerate(tried))
        return Hearing(heard, plan.notes)


async def hear_together(episodes: Sequence[Episode], job: Job, tally: Tally) -> list[Hearing]:
    """Hear short conversations of one graph together, each once: they are read and written in common statements.

    If another process stores in one of them meanwhile, each is heard alone. Raises as `hear`.
    """
    if len(episodes) == 1:
        return [await hear(episodes[0], job, tally)]
    async with AsyncExitStack() as turns:
        for name in sorted({episode.id for episode in episodes}):
            await turns.enter_async_context(job.deps.conversations.turn(episodes[0].graph_name, name))
        stored = zip(episodes, await _load(episodes, job.deps, job.now), strict=True)
        plans = [continue_episode(episode, transcript, job.now) for episode, transcript in stored]
        counted = Tally(persons=tally.persons)
        await store(join_lists(plans), replace(job, progress=None), counted)
    if any(_stored_by_another(plan, counted) for plan in plans):
        tally.counts["stored"] += counted.counts["stored"]
        tally.found |= counted.found
        tried = [_judge(plan, counted) for plan in plans]
        return [await hear(episode, job, tally, tried=one) for episode, one in zip(episodes, tried, strict=True)]
    tally.merge(counted)
    return [Hearing(_judge(plan, counted), plan.notes) for plan in plans]


def join_lists(plans: Sequence[Continuation]) -> CommandFile:
    """All commands of these lists. A person is in them once, from when they first speak in any of them."""
    persons: dict[str | None, Remember] = {}
    others: list[Command] = []
    for command in chain.from_iterable(plan.commands() for plan in plans):
        if isinstance(command, Remember) and command.node_type == "Person":
            known = persons.get(command.id, command)
            persons[command.id] = min(known, command, key=lambda one: instant(one.valid_at, END_OF_TIME))
        else:
            others.append(command)
    shared = frozenset(chain.from_iterable(plan.shared() for plan in plans))
    one = plans[0]
    entries = (*persons.values(), *others)
    return CommandFile(one.id, one.citizen_id, entries, known=shared, command_id=one.command_id, graph=one.graph)


async def _plan(
    episode: Episode, job: Job, *, fewest: int, found: Mapping[int, str]
) -> tuple[Transcript, Continuation, Heads]:
    """Place the list behind what was kept of the episode, if that is still right, else behind what is stored."""
    kept = job.deps.conversations.take(episode.graph_name, episode.id)
    if isinstance(kept, Transcript) and kept.turns and not found:
        continuation = continue_episode(episode, kept, job.now, fewest=fewest)
        known = await _read_if_right(kept, continuation, job.deps)
        if known is not None:
            return kept, continuation, known
    transcript = await load(episode, job.deps, job.now)
    return transcript, continue_episode(episode, transcript, job.now, fewest=fewest, found=found), {}


async def _read_if_right(transcript: Transcript, continuation: Continuation, deps: Deps) -> Heads | None:
    """What is stored of the memories of the list; None unless the turns before the list are as they were, and none
    stands in the place of a new one."""
    episode, heard = continuation.episode, continuation.heard
    if not await deps.graphs.for_reading(episode.graph_name):
        return None
    new = {one.id for one in heard if one.status == "stored" and one.id}
    last = transcript.turns[-1]
    kept = {one.id for one in heard if one.id} - new | {last.id}
    looked_at = {*new, *kept, episode.memory_id(last.order.next().key)}
    ids = sorted(looked_at | continuation.memory_ids())
    heads = await reader.read_heads(deps.graph(episode.graph_name), ids)
    is_right = {turn: heads[turn].version for turn in looked_at & heads.keys()} == transcript.versions(kept)
    return {(episode.graph_name, each): heads.get(each) for each in ids} if is_right else None


def _keep(transcript: Transcript, continuation: Continuation, job: Job) -> None:
    """Keep what is stored now, for the next list of the conversation."""
    episode = continuation.episode
    added = []
    for step in continuation.steps:
        time = job.now if step.time is None else to_instant(step.time)
        if step.starts is not None:
            transcript.sessions[step.starts.key] = StoredSession(step.starts.key, step.starts.title, time)
        turn, order = step.turn, TurnOrder.of(step.turn.key)
        if step.is_new and order is not None:
            added.append(
                StoredTurn(
                    id=episode.memory_id(turn.key),
                    order=order,
                    speaker=turn.speaker,
                    said=speech_key(turn.speaker, turn.text),
                    since=time,
                    message_id=messages.read_id(turn.extra.get("id")),
                    fingerprint=None,
                    stamp=messages.read_stamp(turn.extra),
                )
            )
    transcript.add(added)
    job.deps.conversations.keep(episode.graph_name, episode.id, transcript)


def _judge(continuation: Continuation, counted: Tally) -> tuple[MessageOutcome, ...]:
    judged: list[MessageOutcome] = []
    for one in continuation.heard:
        refusal = counted.refused.get(one.id or "")
        if one.id and refusal is not None and one.status != "duplicate":
            one = one._replace(status="refused", reason="; ".join(refusal.faults))
        judged.append(one)
    return tuple(judged)


def _stored_by_another(continuation: Continuation, counted: Tally) -> bool:
    """True when a turn of the list was refused because its id was stored meanwhile with other content."""
    new = {one.id for one in continuation.heard if one.status == "stored"}
    conflicts = (record_id for record_id, receipt in counted.refused.items() if receipt.problem == "conflict")
    return any(record_id in new for record_id in conflicts)


type Change = Callable[[Ingestible], Awaitable[tuple[Ingestible, Sequence[str]]]]
"""What becomes of an item, and notes on it."""


async def change_items(parsed: ParsedFiles, change: Change) -> ParsedFiles:
    """The parsed files with each item changed, one after another, and with the notes on all."""
    items: list[Ingestible] = []
    notes = [*parsed.notes]
    for item in parsed.items:
        changed, said_of_it = await change(item)
        items.append(changed)
        notes += said_of_it
    return replace(parsed, items=tuple(items), notes=tuple(notes))


async def arrange(parsed: ParsedFiles, deps: Deps, now: Instant) -> ParsedFiles:
    """The items, with lists of messages placed behind what is stored of their episodes."""

    async def place(item: Ingestible) -> tuple[Ingestible, Sequence[str]]:
        if not (isinstance(item, Episode) and item.messages):
            return item, ()
        continuation = continue_episode(item, await load(item, deps, now), now)
        return continuation, continuation.notes

    return await change_items(parsed, place)


async def arranged_episodes(parsed: ParsedFiles, deps: Deps, now: Instant) -> ParsedFiles:
    """The items, with the turns of lists of messages under the keys under which they are stored."""
    arranged = await arrange(parsed, deps, now)
    items = (item.arranged() if isinstance(item, Continuation) else item for item in arranged.items)
    return replace(arranged, items=tuple(items), notes=parsed.notes)


async def load(episode: Episode, deps: Deps, now: Instant) -> Transcript:
    """What is stored of the episode; nothing when its graph does not exist."""
    return (await _load([episode], deps, now))[0]


async def _load(episodes: Sequence[Episode], deps: Deps, now: Instant) -> list[Transcript]:
    found: dict[str, list[EpisodeRow]] = {identifier(episode.id): [] for episode in episodes}
    graph = episodes[0].graph_name
    if await deps.graphs.for_reading(graph):
        async for row in notes.read_episodes(deps.graph(graph), list(found)):
            found[row.episode_id].append(row)
    return [build_transcript(episode, found[identifier(episode.id)], now) for episode in episodes]


def build_transcript(episode: Episode, rows: Sequence[EpisodeRow], now: Instant) -> Transcript:
    transcript = Transcript()
    transcript.add([turn for row in rows if (turn := _turn(episode, row, now)) is not None])
    sessions = [row for row in rows if row.node_type == "Session"]
    for row, key in zip(sessions, _session_keys(episode, transcript, sessions), strict=True):
        title = row.name.removesuffix(f" · {row.description}")
        transcript.sessions[key] = StoredSession(key, title, row.valid_at)
    return transcript


def _session_keys(episode: Episode, transcript: Transcript, sessions: Sequence[EpisodeRow]) -> list[str]:
    """The keys of the sessions. An id that is too long was cut, and does not tell its key: all are tried."""
    keys = [row.id.removeprefix(f"{episode.id}:") for row in sessions]
    if all(key.startswith("session_") for key in keys):
        return keys
    numbers = sorted({turn.order.session for turn in transcript.turns})
    parts = ["", *(f".{part}" for part in range(2, len(sessions) + 2))]
    possible = [f"session_{number}{part}" for number in numbers for part in parts]
    by_id = {episode.memory_id(key): key for key in possible}
    return [by_id.get(row.id, key) for row, key in zip(sessions, keys, strict=True)]


def _turn(episode: Episode, row: EpisodeRow, now: Instant) -> StoredTurn | None:
    """The turn of a row; None for a memory of the episode that is no turn of a list."""
    order = TurnOrder.of(row.id.removeprefix(f"{episode.id}:"))
    order = TurnOrder.of(row.name) if order is None else order
    if row.node_type != "Turn" or order is None:
        return None
    speaker = row.speaker or ""
    extra = orjson.loads(row.extra or "{}")
    return StoredTurn(
        id=row.id,
        order=order,
        speaker=speaker,
        said=speech_key(speaker, row.description or ""),
        since=row.valid_at,
        message_id=messages.read_id(extra.get("id")),
        fingerprint=row.fingerprint,
        version=row.version if row.expired_at == END_OF_TIME else 0,
        gone=row.expired_at != END_OF_TIME or row.invalid_at <= now,
        stamp=messages.read_stamp(extra),
    )


def read_messages(raw: Sequence[Mapping[str, Any]]) -> list[Message | HeardMessage]:
    """Each message, or the report of one that cannot be read."""
    reader = Reader(messages.FORM, "messages")
    read: list[Message | HeardMessage] = []
    for entry in raw:
        try:
            read.append(messages.read_message(reader, entry, "it"))
        except InvalidRequest as error:
            reason = error.detail.partition(f"; {messages.FORM.name} expects")[0].removeprefix("messages, it")
            message_id = messages.read_id(entry.get("id"))
            read.append(HeardMessage(message_id=message_id, status="refused", reason=reason.lstrip(":, ")))
    return read
