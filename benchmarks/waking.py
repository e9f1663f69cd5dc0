"""What wakes on an ordinary life that nobody prepared, beside BM25 and cosine: the chats of benchmarks/lives.

    python -m benchmarks.waking [--lives NAME [NAME...]] [--json]

Each life is sent as `POST /v1/episodes` takes it, growing: before each probe all messages earlier than its moment
are sent under the life's episode id, so that nothing later can have been inferred from. The probe then asks as of
that moment, with all that is known. It sends only the fields that it has; a waking that the service refuses
counts as an empty answer. Only turns are ranked. BM25 and cosine rank the user's messages up to the moment by the
text of the goal, without a goal by the names of the emotions; without either they have nothing to rank by, and
their answer is empty. `newest` is the user's messages, newest first.

`expected@10` is the mean recall per probe, `not_first` the share that begins with what must not come first.
`grown chat`: half of the messages, then either all or only the rest; 1 when each is stored exactly once. What was
inferred is read back from the stored memories, each as it was at its own time, and the links.

`links`: of the links stored among the memories that a waking shows, those that it shows. `paths`: the wakings of
two memories or more that suggest a path; both by mode, of the wakings of the lives and, with `--chats`, of one in
each mode at the end of each chat of benchmarks/chats, from nothing but the citizen.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from statistics import fmean
from typing import Any, Final

import numpy as np
import orjson

from api.client import AsyncSubstrate
from benchmarks import chat
from benchmarks.baselines import indexed_text, rank_bm25, rank_cosine
from benchmarks.datasets import Conversation, Question, Turn
from benchmarks.life import USER, Life, Message, Waking, find_faults, load_lives
from benchmarks.scoring import Report, score
from benchmarks.waking_scores import (
    CUTOFF,
    Found,
    Known,
    Rates,
    compare,
    compare_identity,
    compare_known,
    rate_wakings,
)
from schemas.errors import Conflict, InvalidRequest
from schemas.intention import QueryMode
from schemas.memory import ConsciousnessNode
from schemas.settings import EmbeddingSettings
from schemas.stream import ConsciousnessStream
from substrate.inference.embeddings import Embedder, open_embedder

OURS: Final = "Substrate"
PAGE: Final = 500
PEOPLE: Final = 20
"""The entities of an identity that are read."""


@dataclass
class Results:
    """What came back, over all lives; `refused` counts wakings that the service did not take."""

    wakings: list[Waking] = field(default_factory=list)
    rankings: dict[str, list[list[str]]] = field(default_factory=dict)
    refused: int = 0
    questions: list[Question] = field(default_factory=list)
    answers: dict[str, list[list[str]]] = field(default_factory=dict)
    counts: dict[str, Found] = field(default_factory=dict)
    grown: dict[str, list[float]] = field(default_factory=dict)

    def count(self, found: Mapping[str, Found]) -> None:
        """Add the counts under their names."""
        for name, each in found.items():
            self.counts[name] = self.counts.get(name, Found()) + each

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, ready for JSON."""
        rated = {name: rate_wakings(self.wakings, ranked) for name, ranked in self.rankings.items()}
        return {
            "wakings": {name: _plain(by_mode) for name, by_mode in rated.items()},
            "refused wakings": self.refused,
            "questions": {name: report.overall.as_dict() for name, report in self.reports().items()},
            "grown chat": {way: fmean(shares) for way, shares in self.grown.items()},
            "counts": _plain(self.counts),
        }

    def reports(self) -> dict[str, Report]:
        """Score the questions by method."""
        return {name: score(self.questions, ranked) for name, ranked in self.answers.items()}


def _plain(figures: Mapping[str, Rates | Found]) -> dict[str, Any]:
    return {name: each.as_dict() for name, each in figures.items()}


def wire(message: Message) -> dict[str, str]:
    """Return a message as a caller sends it."""
    return {
        "id": message.id,
        "role": message.role,
        "content": message.text,
        "timestamp": message.time.isoformat(),
    }


def message_id(node: ConsciousnessNode) -> str | None:
    """Return the id of the message that a memory is the turn of: as it was sent, else None."""
    if node.node_type != "Turn":
        return None
    sent = node.extra.get("id")
    return str(sent) if sent is not None else node.node_id.rpartition(":")[2]


def ranked_ids(stream: ConsciousnessStream) -> list[str]:
    """Return the messages of a stream, most active first, each once."""
    ids = (message_id(node) for node in stream.activation_tiers.ordered())
    return list(dict.fromkeys(each for each in ids if each is not None))


def own_conversation(life: Life, at: datetime) -> Conversation:
    """Return what the user said before a moment."""
    turns = [
        Turn(message.id, message.role, message.text, message.time, "")
        for message in life.messages
        if message.role == USER and message.time < at
    ]
    return Conversation(life.id, tuple(turns), ())


def whole_conversation(life: Life, at: datetime) -> Conversation:
    """Return all that was said before a moment."""
    turns = [Turn(each.id, each.role, each.text, each.time, "") for each in life.messages if each.time < at]
    return Conversation(life.id, tuple(turns), ())


def cue(waking: Waking) -> str:
    """Return the text that the baselines rank by: the goal, else the names of the emotions, else nothing."""
    return waking.goal or " ".join(waking.emotions or ())


async def rank_baselines(said: Conversation, text: str, embedder: Embedder) -> dict[str, list[str]]:
    """Rank what was said by a text; nothing by an empty one. Without embedder only by BM25."""
    ids = [turn.id for turn in said.turns]
    methods = ("BM25", "cosine") if embedder.dimension else ("BM25",)
    if not text or not said.turns:
        return {name: [] for name in methods}
    ranked = {"BM25": rank_bm25(said, [Question(text, "", frozenset())])[0]}
    if embedder.dimension:
        turns = await embedder.embed_texts([indexed_text(turn) for turn in said.turns])
        ranked["cosine"] = rank_cosine(np.array(turns), np.array([await embedder.embed_query(text)]), ids)[0]
    return ranked


async def ingest_until(life: Life, at: datetime, client: AsyncSubstrate) -> None:
    """Send all messages before a moment. Raises RuntimeError when any is refused."""
    messages = [wire(message) for message in life.messages if message.time < at]
    report = await client.ingest(life.citizen_id, messages, episode_id=life.id)
    if report.refused:
        raise RuntimeError(f"{life.id}: {report.refused} refused: {report.faults[:1]}")


async def wake(
    citizen_id: str, waking: Waking, client: AsyncSubstrate, known_at: datetime
) -> ConsciousnessStream | None:
    """Wake at the moment of a probe; None when the service refuses to wake from what the probe has."""
    try:
        return await client.wake(
            citizen_id=citizen_id,
            mode=waking.mode,
            as_of_time=waking.at,
            known_at=known_at,
            goal=waking.goal,
            emotions=waking.emotions,
            energy=waking.energy,
        )
    except InvalidRequest:
        return None


async def count_links(
    stream: ConsciousnessStream, waking: Waking, client: AsyncSubstrate, known_at: datetime
) -> dict[str, Found]:
    """Count what a waking shows of the links that are stored among its memories, and whether it has a path."""
    levels = stream.levels.values()
    memories = {node.node_id for level in levels for node in (*level.vector_results, *level.graph_results)}
    shown = {link.link_id for level in levels for link in level.relationships}
    stored: set[str] = set()
    solved: set[str] = set()
    cursor, more = None, True
    while more:
        page = await client.list_links(
            citizen_id=stream.citizen_id, limit=PAGE, cursor=cursor, as_of_time=waking.at, known_at=known_at
        )
        for link in page.links:
            if memories >= {link.source_id, link.target_id}:
                stored.add(link.link_id)
            if link.relation_type == "RESOLVED_BY":
                solved.add(link.link_id)
        cursor, more = page.next, page.next is not None
    found = {f"links, {waking.mode}": compare(shown, stored)}
    if waking.mode is QueryMode.RESOLUTION_PATTERNS and not waking.goal:
        patterns = [pattern.link_id for pattern in stream.resolution_patterns]
        found["patterns without a goal"] = compare(patterns, solved)
    if len(memories) > 1:
        found[f"paths, {waking.mode}"] = Found(bool(stream.traversal_graph.suggested_paths), 1, 1)
    return found


async def live(life: Life, client: AsyncSubstrate, embedder: Embedder, results: Results) -> None:
    """Let a life grow from probe to probe, ask each at its moment, and add what came back."""
    probes: list[Any] = sorted((*life.wakings, *life.questions), key=lambda probe: probe.at)
    until: datetime | None = None
    for probe in probes:
        if until != probe.at:
            await ingest_until(life, probe.at, client)
            until = probe.at
        if isinstance(probe, Waking):
            known_at = datetime.now(UTC)
            woken = await wake(life.citizen_id, probe, client, known_at)
            shown = [] if woken is None else ranked_ids(woken)
            results.refused += woken is None
            if woken is not None:
                results.count(await count_links(woken, probe, client, known_at))
            results.wakings.append(probe)
            said = own_conversation(life, probe.at)
            ranked = await rank_baselines(said, cue(probe), embedder)
            newest = [turn.id for turn in reversed(said.turns)]
            _add(results.rankings, {OURS: shown, **ranked, "newest": newest})
        else:
            asked = Question(probe.question, "", frozenset(probe.evidence))
            stream = await client.retrieve(
                query_text=probe.question,
                citizen_id=life.citizen_id,
                temporal_mode="point_in_time",
                as_of_time=probe.at,
                known_at=datetime.now(UTC),
            )
            results.questions.append(asked)
            ranked = await rank_baselines(whole_conversation(life, probe.at), asked.text, embedder)
            _add(results.answers, {OURS: ranked_ids(stream), **ranked})
    await ingest_until(life, datetime.max.replace(tzinfo=UTC), client)


def _add(rankings: dict[str, list[list[str]]], ranked: Mapping[str, list[str]]) -> None:
    for name, ids in ranked.items():
        rankings.setdefault(name, []).append(ids)


async def read_turns(citizen_id: str, client: AsyncSubstrate) -> AsyncIterator[ConsciousnessNode]:
    """Read every turn of a citizen as it is now."""
    cursor = None
    while True:
        page = await client.list_memories(citizen_id=citizen_id, limit=PAGE, cursor=cursor)
        for memory in page.memories:
            if memory.node_type == "Turn":
                yield memory
        cursor = page.next
        if cursor is None:
            return


async def read_known(life: Life, client: AsyncSubstrate) -> Known:
    """Read what the store says of each message at its own time, and which is resolved by which now."""
    nodes: list[ConsciousnessNode] = []
    ids: dict[str, str] = {}
    times = {message.id: message.time for message in life.messages}
    async for turn in read_turns(life.citizen_id, client):
        own = message_id(turn)
        if own not in times:
            continue
        ids[turn.node_id] = own
        nodes.append(
            await client.get(
                turn.node_id,
                citizen_id=life.citizen_id,
                as_of_time=times[own],
                known_at=datetime.now(UTC),
            )
        )
    return Known(
        states={ids[node.node_id]: str(node.resolution_state) for node in nodes if node.resolution_state},
        goals={ids[node.node_id] for node in nodes if node.goal},
        felt={ids[node.node_id] for node in nodes if any((node.emotion_vector or {}).values())},
        rules={ids[node.node_id] for node in nodes if node.rule},
        pairs=[pair async for pair in _resolutions(life, ids, client)],
    )


async def _resolutions(
    life: Life, ids: Mapping[str, str], client: AsyncSubstrate
) -> AsyncIterator[tuple[str, str]]:
    cursor = None
    while True:
        page = await client.list_links(citizen_id=life.citizen_id, limit=PAGE, cursor=cursor)
        for link in page.links:
            if link.relation_type == "RESOLVED_BY":
                yield ids.get(link.source_id, link.source_id), ids.get(link.target_id, link.target_id)
        cursor = page.next
        if cursor is None:
            return


async def grow(life: Life, again: bool, client: AsyncSubstrate) -> float:
    """Send half of a life, then all of it or only the rest: 1 when each message is stored exactly once, else 0."""
    citizen = f"{life.citizen_id}-{'again' if again else 'alone'}"
    messages = [wire(message) for message in life.messages]
    half = len(messages) // 2
    await client.ingest(citizen, messages[:half], episode_id=life.id)
    try:
        await client.ingest(citizen, messages if again else messages[half:], episode_id=life.id)
    except (Conflict, InvalidRequest):
        return 0.0
    stored = [turn.extra.get("id", message_id(turn)) async for turn in read_turns(citizen, client)]
    return float(sorted(map(str, stored)) == sorted(message["id"] for message in messages))


async def wake_plain(told: Life | chat.Chat, client: AsyncSubstrate, results: Results) -> None:
    """Send a chat whole, wake in each mode from nothing but the citizen, and count the links that come back."""
    await client.ingest(told.citizen_id, [wire(message) for message in told.messages], episode_id=told.id)
    at = told.messages[-1].time + chat.AFTER
    nothing = {"goal": None, "emotions": None, "energy": None, "expected": (), "not_first": ()}
    for mode in QueryMode:
        probe = Waking.model_validate({"mode": mode, "at": at, **nothing})
        known_at = datetime.now(UTC)
        stream = await wake(told.citizen_id, probe, client, known_at)
        if stream is not None:
            results.count(await count_links(stream, probe, client, known_at))


async def measure(lives: Iterable[Life], chats: Iterable[chat.Chat] = ()) -> Results:
    """Live all lives, and wake at the end of all chats, on a new store."""
    results = Results(grown={"whole again": [], "new alone": []})
    settings = EmbeddingSettings()
    embedder = await asyncio.to_thread(open_embedder, settings)
    await embedder.ready()
    try:
        with tempfile.TemporaryDirectory(prefix="substrate-waking-") as directory:
            async with AsyncSubstrate.embedded(directory) as client:
                for life in lives:
                    await live(life, client, embedder, results)
                    await wake_plain(life, client, results)
                    results.count(compare_known(await read_known(life, client), life))
                    identity = await client.identity(citizen_id=life.citizen_id, limit=PEOPLE)
                    results.count(compare_identity(identity, life.identity))
                    results.grown["whole again"].append(await grow(life, True, client))
                    results.grown["new alone"].append(await grow(life, False, client))
                for told in chats:
                    await wake_plain(told, client, results)
    finally:
        await embedder.aclose()
    return results


def format_results(results: Results) -> str:
    """Format all figures as plain tables."""
    lines = [f"{'waking':32}{'method':12}{'n':>5}{f'exp@{CUTOFF}':>9}{'not first':>11}"]
    rated = {name: rate_wakings(results.wakings, ranked) for name, ranked in results.rankings.items()}
    for mode in rated[OURS]:
        for name, by_mode in rated.items():
            each = by_mode[mode]
            lines.append(f"{mode:32}{name:12}{each.probes:5}{each.expected:9.3f}{each.not_first:11.3f}")
    lines += [
        f"refused wakings: {results.refused}",
        "",
        f"{'questions':32}{'':12}{'n':>5}{'rec@5':>9}{'rec@10':>11}",
    ]
    for name, report in results.reports().items():
        found = report.overall
        lines.append(f"{'':32}{name:12}{found.questions:5}{found.recall[5]:9.3f}{found.recall[10]:11.3f}")
    lines += ["", *(f"grown chat, {way}: {fmean(shares):.3f}" for way, shares in results.grown.items()), ""]
    lines.append(f"{'found':32}{'right':>8}{'shown':>8}{'to find':>9}{'precision':>11}{'recall':>8}")
    lines += [_count_line(name, found) for name, found in results.counts.items()]
    return "\n".join(lines)


def _count_line(name: str, found: Found) -> str:
    figures = found.as_dict()
    precision, recall = ("-" if figures[key] is None else f"{figures[key]:.3f}" for key in ("precision", "recall"))
    return f"{name:32}{found.right:8}{found.shown:8}{found.expected:9}{precision:>11}{recall:>8}"


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lives", nargs="+", default=[], help="names of lives, without .json; default: all")
    parser.add_argument("--chats", action="store_true", help="count the links of benchmarks/chats as well")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    try:
        lives = load_lives(arguments.lives)
        chats = chat.load_chats() if arguments.chats else ()
    except FileNotFoundError as error:
        parser.error(str(error))
    if faults := [f"{life.id}: {fault}" for life in lives for fault in find_faults(life)]:
        parser.error("; ".join(faults))
    results = asyncio.run(measure(lives, chats))
    plain = partial(orjson.dumps, option=orjson.OPT_INDENT_2)
    text = plain(results.as_dict()).decode() if arguments.json else format_results(results)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
