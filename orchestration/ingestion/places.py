"""Where what was ingested came from: a folder or file is known again, wherever it lies now.

The graph keeps a receipt for each place, under a digest of its path: nobody can read from it where files lie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.identifiers import identifier
from orchestration.ingestion import hearing
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.storing import Origin
from orchestration.ingestion.transcript import align, is_same
from orchestration.writing.records import words_key
from schemas.temporal import Instant
from substrate.graphs.graph import Graph
from substrate.language.text import words
from substrate.store import reader, rows, writer

_LOOKED_UP: Final = 20
"""At most this many messages of a chat are looked for in other chats."""


class KnownPlace(NamedTuple):
    """What is stored from a place: its id, and since when the place is known."""

    id: str
    since: Instant


async def known_at(
    paths: Sequence[PurePath], origin: Origin, graph: Graph, *, given: str
) -> dict[PurePath, KnownPlace]:
    """What was stored from each of these paths before. `given`: the id that the files give to what they hold."""
    keys = {path: _key(origin.digest(path)) for path in paths}
    receipts = await reader.receipts(graph, list(keys.values()))
    found = {path: receipts[key] for path, key in keys.items() if key in receipts}
    given_ids = {identifier(given): given}
    return {
        path: KnownPlace(given_ids.get(one.id, one.id), one.created_at)
        for path, one in found.items()
        if one.id is not None
    }


async def note_place(path: PurePath, origin: Origin, item_id: str, *, graph: Graph, now: Instant) -> None:
    """Keep that what is stored under `item_id` came from this path."""
    kept = [_key(origin.digest(path)), _placed(item_id)]
    kept_id = identifier(item_id)
    receipts = [{"command_id": key, "command": "place", "id": kept_id, "created_at": now} for key in kept]
    await writer.store_receipts(graph, receipts)


def apart(item_id: str, origin: Origin, path: PurePath) -> str:
    """The id of another folder or file of this name."""
    return f"{item_id}~{origin.digest(path)[:8]}"


async def settle_episode(
    episode: Episode, origin: Origin | None, deps: Deps, now: Instant
) -> tuple[Episode, tuple[str, ...]]:
    """Find the stored chat that the chat of a file is, by its place, else by its messages; and say so in notes.

    A chat of the same name from another place with other messages is another one, and gets an id of its own.
    """
    path = None if origin is None else origin.of_episode(episode.id)
    graph = deps.graph(episode.graph_name)
    if origin is None or path is None or not await deps.graphs.for_reading(graph.name):
        return episode, ()
    known = (await known_at([path], origin, graph, given=episode.id)).get(path)
    if known is not None:
        return replace(episode, id=known.id), ()
    transcript = await hearing.load(episode, deps, now)
    if transcript.turns:
        was_placed = await reader.receipts(graph, [_placed(episode.id)])
        if not was_placed or await _is_stored_as(episode, episode.id, deps, now):
            return episode, ()
    stored_id = await _find_by_messages(episode, graph, now)
    if stored_id is not None and await _is_stored_as(episode, stored_id, deps, now):
        note = f"{path.name} is the stored conversation {stored_id}, from another place"
        return replace(episode, id=stored_id), (note,)
    if not transcript.turns:
        return episode, ()
    other = apart(episode.id, origin, path)
    note = f"{path.name}: another file of this name is stored as {episode.id}; this conversation is {other}"
    return replace(episode, id=other), (note,)


async def note_episode(
    given_id: str, episode: Episode, origin: Origin | None, *, deps: Deps, now: Instant
) -> None:
    """Keep where the chat of a file came from. `given_id`: the id that it had from the name of the file."""
    path = None if origin is None else origin.of_episode(given_id)
    graph = deps.graph(episode.graph_name)
    if origin is not None and path is not None and await deps.graphs.for_reading(graph.name):
        await note_place(path, origin, item_id=episode.id, graph=graph, now=now)


async def _is_stored_as(episode: Episode, stored_id: str, deps: Deps, now: Instant) -> bool:
    """True when the messages of a chat are those of the stored one: half of the shorter one is the same."""
    transcript = await hearing.load(replace(episode, id=stored_id), deps, now)
    positions = align(episode.messages, transcript, fewest=1).positions
    pairs = zip(episode.messages, positions, strict=True)
    same = sum(at is not None and is_same(message, transcript.turns[at]) for message, at in pairs)
    return same > 0 and 2 * same >= min(len(episode.messages), len(transcript.turns))


async def _find_by_messages(episode: Episode, graph: Graph, now: Instant) -> str | None:
    """The stored conversation that has most of the first longer messages of a chat."""
    texts = [" ".join(words(message.turn.text)) for message in episode.messages]
    keys = [key for key in map(words_key, texts) if key is not None][:_LOOKED_UP]
    found = [rows.record(row).content for row in await reader.find_by_text(graph, keys, now)] if keys else []
    turns = {(turn["episode_id"], turn["description"]) for turn in found if turn.get("episode_id")}
    counts = Counter(episode_id for episode_id, _ in turns if episode_id != identifier(episode.id))
    stored_id, count = max(counts.items(), key=lambda pair: (pair[1], pair[0]), default=("", 0))
    return stored_id if count and 2 * count >= len(set(keys)) else None


def _key(digest: str) -> str:
    return f"place:{digest}"


def _placed(item_id: str) -> str:
    return identifier(f"placed:{item_id}")
