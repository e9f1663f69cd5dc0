"""Stores the commands of an ingestion in chunks, and counts what became of them.

Memories that are stored already are not embedded again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain, pairwise
from pathlib import PurePath
from types import MappingProxyType
from typing import Final, NamedTuple

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.ingestion.arrangement import Continuation
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats.reader import Ingestible, commands_of
from orchestration.ingestion.speakers import backdate_persons
from orchestration.writing import mentions, records
from orchestration.writing.appraisals import BY_WORDS, LEFT_OUT
from schemas.commands import Command, Relate, Remember, Retract, Revision, Unrelate, Writer, WriteReceipt
from schemas.errors import Unavailable
from schemas.memory import Source
from schemas.responses import IngestReport
from schemas.temporal import END_OF_TIME, Instant
from substrate.graphs.names import graph_name
from substrate.inference.embeddings import EmbedderAhead
from substrate.store import reader, writer
from substrate.store.reader import RecordHead

type Heads = Mapping[tuple[str, str], RecordHead | None]
"""The heads of memories by graph and id; None of one that does not exist."""
type Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is: messages of conversations, commands of anything else."""

NOBODY: Final = Writer()
MAX_FAULTS = 50
"""At most this many faults are listed in a report; all are counted."""
NAMED_AT_ONCE: Final = 600
"""The texts among this many commands are linked with what they name at once."""


class Origin(NamedTuple):
    """Where the files of an ingestion lie. `name` is that of the file set that they are parsed as.

    `is_folder`: of a folder, or an archive. `unread`: paths of files there that could not be read or parsed.
    """

    name: str
    path: PurePath
    host: str
    is_folder: bool
    unread: frozenset[str] = frozenset()

    def of_episode(self, episode_id: str) -> PurePath | None:
        """The path of the chat with this id; None when its id does not come from the name of its file."""
        if episode_id == self.name:
            return self.path
        inside = episode_id.removeprefix(f"{self.name}/")
        return self.path / inside if self.is_folder and inside != episode_id else None

    def digest(self, path: PurePath) -> str:
        """A name for a path on this machine that does not tell it."""
        return blake2b(f"{self.host}\n{path}".encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


@dataclass(slots=True)
class Tally:
    """What became of the commands. `refused`: receipts of refused ones by the id of the memory or link.

    `found`: citizen and id of the memories that were stored or changed and can be found now.
    """

    counts: Counter[str] = field(default_factory=Counter)
    persons: set[tuple[str | None, str]] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    refused: dict[str, WriteReceipt] = field(default_factory=dict)
    warnings: Counter[str] = field(default_factory=Counter)
    found: set[tuple[str | None, str | None]] = field(default_factory=set)

    def count_command(self, command: Command) -> None:
        if isinstance(command, Relate):
            self.counts["links"] += 1
        elif isinstance(command, Remember):
            counted = {"Turn": "turns", "Session": "sessions", "Person": "persons"}
            kind = counted.get(command.node_type, "memories")
            if kind != "persons" or (command.citizen_id, command.id or "") not in self.persons:
                self.counts[kind] += 1
            if kind == "persons":
                self.persons.add((command.citizen_id, command.id or ""))

    def count_receipt(
        self, command: Command, receipt: WriteReceipt, shared: frozenset[str], *, now: Instant
    ) -> None:
        if receipt.status == "stored":
            self.counts["duplicates" if receipt.duplicate else "stored"] += 1
            if not receipt.duplicate and isinstance(command, Revision | Retract):
                self.counts["retracted" if isinstance(command, Retract) else "superseded"] += 1
            if not receipt.duplicate and _holds(command, receipt, now):
                self.found.add((command.citizen_id, receipt.id))
            elif isinstance(command, Retract):
                self.found.discard((command.citizen_id, receipt.id))
            told = [text for text in receipt.warnings if text not in command.notes]
            if getattr(command, "source", None) is Source.INGESTION:
                told = [text for text in told if text.startswith((BY_WORDS, LEFT_OUT))]
            self.warnings.update(told)
        elif receipt.problem == "conflict" and receipt.id in shared:
            self.counts["duplicates"] += 1
        else:
            self.counts["refused"] += 1
            self.refused[receipt.id or ""] = receipt
            if len(self.faults) < MAX_FAULTS:
                self.faults.append(_fault(command, receipt))

    def count_unread(self, faults: Sequence[str]) -> None:
        """Count what could not be read as refused."""
        self.counts["refused"] += len(faults)
        self.faults += faults[: max(0, MAX_FAULTS - len(self.faults))]

    def merge(self, other: Tally) -> None:
        """Add what was counted elsewhere."""
        self.counts.update(other.counts)
        self.persons |= other.persons
        self.faults += other.faults[: max(0, MAX_FAULTS - len(self.faults))]
        self.refused |= other.refused
        self.found |= other.found
        self.warnings.update(other.warnings)

    def report(self, notes: Sequence[str], formats: Sequence[str] = ()) -> IngestReport:
        warned = (f"{text} ({count:,})" for text, count in self.warnings.items())
        found = {"findable": len(self.found), "formats": tuple(formats)}
        return IngestReport(**found, faults=tuple(self.faults), notes=(*notes, *warned), **self.counts)


def _holds(command: Command, receipt: WriteReceipt, now: Instant) -> bool:
    """True for a memory with words of its own that holds now, so that a question can find it."""
    if not isinstance(command, Remember | Revision) or command.node_type in ("Session", "Person"):
        return False
    begun, written = (records.instant(moment, now) for moment in (receipt.valid_at, receipt.created_at))
    return begun <= max(now, written) and records.instant(receipt.invalid_at, END_OF_TIME) > now


def _fault(command: Command, receipt: WriteReceipt) -> str:
    if receipt.problem == "conflict" and getattr(command, "source", None) is Source.INGESTION:
        return f"{receipt.id}: is stored with other content; supersede it, or ingest under another name"
    return f"{receipt.id}: {'; '.join(receipt.faults)}"


def chunks(commands: Iterator[Command]) -> Iterator[list[Command]]:
    """Group the commands into chunks: at most one statement of memories, then links whose ends exist by then.

    A memory moves before a link only if it is no end of that link; any other command is a chunk of its own.
    """
    memories: list[Command] = []
    links: list[Command] = []
    ends: set[str] = set()
    for command in commands:
        if isinstance(command, Remember):
            fits = len(memories) < writer.NODES_PER_STATEMENT and command.id not in ends
        else:
            fits = isinstance(command, Relate) and len(links) < writer.LINKS_PER_STATEMENT
        if not fits and (memories or links):
            yield memories + links
            memories, links, ends = [], [], set()
        if isinstance(command, Remember):
            memories.append(command)
        elif isinstance(command, Relate):
            links.append(command)
            ends |= {command.source_id, command.target_id}
        else:
            yield [command]
    if memories or links:
        yield memories + links


@dataclass(slots=True)
class Job:
    """What the storing of an item needs beside it. `done` of `total` as `progress` is told.

    `origin`: where the files lie, if the items come from files.
    """

    deps: Deps
    now: Instant
    writer: Writer = NOBODY
    progress: Progress | None = None
    total: int = 0
    done: int = 0
    origin: Origin | None = None

    def advance(self, count: int) -> None:
        """Tell that this many more are done."""
        self.done += count
        if self.progress is not None and count:
            self.progress(self.done, max(self.done, self.total))


def length(item: Ingestible) -> int:
    """Return how much of an item there is to store, as `Progress` counts it."""
    return sum(len(session.turns) for session in item.sessions) if isinstance(item, Episode) else item.size


async def store(item: Ingestible, job: Job, tally: Tally, known: Heads = MappingProxyType({})) -> None:
    """Store the commands of an item. `known`: what was just read of its memories. Raises what `ingest` raises.

    After a chunk that is all new, the texts of the next one are embedded while it is written.
    """
    shared, is_talk = item.shared(), isinstance(item, Episode | Continuation)
    texts, deps, now = Texts(), job.deps, job.now
    embedder, is_first = deps.embedder, True
    for chunk, following in pairwise(chain(chunks(texts.of(_written(item, job), deps)), [[]])):
        stored = await read_stored(chunk, deps, known)
        heads = [find_stored(command, stored, shared) for command in chunk]
        fresh = [command for command, head in zip(chunk, heads, strict=True) if head is None]
        tally.counts["duplicates"] += len(chunk) - len(fresh)
        again = [
            each
            for each, head in zip(chunk, heads, strict=True)
            if head is not None
            and isinstance(each, Remember)
            and each.node_type == "Person"
            and head.valid.start > records.instant(each.valid_at, END_OF_TIME)
        ]
        tally.warnings.update(await backdate_persons(again, deps, now))
        is_only = is_first and not following and item.command_id is not None
        made = await texts.name_ahead(fresh, deps) if is_only else []
        things = [each for each in made if isinstance(each, Remember)]
        writing, embedder, is_first = replace(deps, embedder=embedder), deps.embedder, False
        if following and len(fresh) == len(chunk):
            memories = [each for each in following if isinstance(each, Remember)]
            embedder = EmbedderAhead(embedder, [records.embedded_text(vars(each)) for each in memories])
        commands = [*things, *fresh, *made[len(things) :]]
        receipts = await insertion.apply(commands, writing, now, whole=item.command_id)
        for command, receipt in zip(fresh, receipts[len(things) :], strict=False):
            # The names of new texts are decided for the whole at once.
            alone = item.command_id is not None and deps.names and isinstance(command, Revision | Retract)
            named = await insertion.name_texts([command], [receipt], deps, now) if alone else [receipt]
            tally.count_receipt(command, named[0], shared, now=now)
        for command in chunk:
            tally.count_command(command)
        turns = [each for each in chunk if isinstance(each, Remember) and each.node_type == "Turn"]
        job.advance(len(turns if is_talk else chunk))
    await _store_names(texts, job, tally)


async def store_names(item: Ingestible, job: Job, tally: Tally) -> None:
    """Store the names in the texts of an item, and their links, when all that the item holds is stored."""
    texts = Texts()
    for _ in texts.of(_written(item, job), job.deps):
        pass
    await _store_names(texts, job, tally)


def _written(item: Ingestible, job: Job) -> Iterator[Command]:
    service = job.writer._replace(steward=True)  # ends the order that it made, whoever told the turns
    for command in commands_of(item):
        yield command.with_writer(service if isinstance(command, Unrelate) and command.inferred else job.writer)


class Texts:
    """The new memories among the commands of an item, which are made only once: in parts of `NAMED_AT_ONCE`."""

    def __init__(self) -> None:
        self.parts: list[list[Remember]] = []

    def of(self, commands: Iterator[Command], deps: Deps) -> Iterator[Command]:
        """Yield the commands, and keep those that may hold names when the settings ask for names."""
        for place, command in enumerate(commands):
            if deps.names and place % NAMED_AT_ONCE == 0:
                self.parts.append([])
            if deps.names and isinstance(command, Remember):
                self.parts[-1].append(command)
            yield command

    async def name_ahead(self, fresh: Sequence[Command], deps: Deps) -> list[Command]:
        """What the names in the texts make, if it can be stored with them: memories, then links.

        It can where the texts are all that is new, and none stores something under a name.
        """
        are_new = all(isinstance(each, Remember | Relate) for each in fresh)
        if fresh and are_new and not mentions.given_names(fresh):
            with suppress(Unavailable):
                made = list(chain.from_iterable(await self.read_names(deps)))
                if all(isinstance(each, Remember) or (isinstance(each, Relate) and not each.id) for each in made):
                    self.parts = []
                    return made
        return []

    async def read_names(self, deps: Deps) -> Iterator[list[Command]]:
        """What the names in the texts make, a part at a time."""
        writings: dict[str, list[mentions.Writing]] = {}
        memories = list(chain.from_iterable(self.parts))
        for command in memories:
            writing = mentions.writing_of(command, command.id, command.valid_at)
            if writing is not None:
                writings.setdefault(mentions.home_of(command), []).append(writing)
        given = mentions.given_names(memories) if writings else {}
        names = [await mentions.decide(written, deps, given.get(graph, ())) for graph, written in writings.items()]
        return (found.commands_of(part) for part in self.parts for found in names)


async def _store_names(texts: Texts, job: Job, tally: Tally) -> None:
    try:
        for made in await texts.read_names(job.deps):
            await insertion.store_made(made, job.deps, job.now)
    except Unavailable as error:
        tally.warnings[f"{LEFT_OUT}: names in the texts, because {error.detail}; sent again, they are linked"] += 1


async def read_stored(chunk: Sequence[Command], deps: Deps, known: Heads = MappingProxyType({})) -> Heads:
    """The heads of the chunk's memories, as far as they are not `known`."""
    ids: dict[str, list[str]] = {}
    for command in chunk:
        if isinstance(command, Remember) and command.id is not None:
            graph = graph_name(command.graph_key, command.citizen_id)
            if (graph, command.id) not in known:
                ids.setdefault(graph, []).append(command.id)
    heads = dict(known)
    for graph, memory_ids in ids.items():
        if await deps.graphs.for_reading(graph):
            found = await reader.read_heads(deps.graph(graph), memory_ids)
            heads.update({(graph, memory_id): head for memory_id, head in found.items()})
    return heads


def find_stored(command: Command, stored: Heads, shared: frozenset[str]) -> RecordHead | None:
    """The head of a new memory that is stored already: with the same content, or as one of the `shared` ones."""
    if not isinstance(command, Remember) or command.id is None:
        return None
    head = stored.get((graph_name(command.graph_key, command.citizen_id), command.id))
    is_same = head is not None and (command.id in shared or head.fingerprint == records.fingerprint(command))
    return head if is_same else None
