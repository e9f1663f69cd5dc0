"""Makes memories of the names in new texts, and links each text with what it mentions.

Only what the citizen or another human wrote is read; in a shared graph "I" is nobody's self. What was made
is named in the `unset` of the memory and of the link. A name that the graph knows is reused, whoever made it. Sent
again, the same texts make the same memories and links, so nothing is stored twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any, Final

from orchestration.appraisal.deeds import Deed, End
from orchestration.appraisal.names import MOST_READ, Kind, ends_of, name_language, read_names
from orchestration.appraisal.self_statements import states_something
from orchestration.dependencies import Deps
from orchestration.identifiers import identifier, natural_id
from orchestration.question.reading import ASKING, ROLES
from orchestration.writing.appraisals import LONG
from orchestration.writing.name_book import FEWEST_LETTERS, NameBook, NamedEntry, NamedText
from schemas.commands import (
    Command,
    Correct,
    Relate,
    Remember,
    Retract,
    Revision,
    Supersede,
    Unrelate,
    WriteReceipt,
)
from schemas.memory import CONTEXT, TELLING, TO_REMEMBER, Level, ResolutionState, Source, graph_fields
from schemas.temporal import to_datetime, to_instant
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.language.text import name_key, stop_words, words
from substrate.store import naming, reader, rows
from substrate.store.naming import SELF_ID, SELF_TYPE

WHO_IS_MEANT: Final = "remember who and what is meant"
KINDS: Final = tuple(kind.value for kind in Kind)
_NEVER_READ: Final = frozenset((*KINDS, "Session", SELF_TYPE))
_OWN_SOURCES: Final = frozenset((Source.CITIZEN.value, Source.INGESTION.value))
_NOT_HUMAN: Final = ROLES - ASKING
_MADE: Final = ("name", "node_type")
_MADE_OF_LINK: Final = ("goal", "mindstate", "energy", "confidence", "emotion_vector")
_MENTIONS: Final = "MENTIONS"
_MANY: Final = 20
"""From this many texts on they are read in a thread, so that the service answers meanwhile."""
_MOST_TYPES: Final = 64
_MOST_UNKNOWN: Final = 100
"""At most this many names that are used once are looked for in earlier texts."""


@dataclass(frozen=True, slots=True)
class Writing:
    """A text with the id under which it is stored, the `command` that wrote it, and its `speaker` if it has one.

    `about`: names that the writer gave. `own`: a human wrote it, so that its words are read for names. `ended`:
    ids of links of the text that it replaces.
    """

    command: Any
    memory_id: str
    text: str
    time: datetime | None
    about: tuple[str, ...] = ()
    own: bool = True
    ended: tuple[str, ...] = ()
    speaker: str | None = None
    node_type: str | None = None

    def named_text(self) -> NamedText:
        return NamedText(self.memory_id, self.text if self.own else "", self.time)


async def new_writings(
    commands: Sequence[Command], receipts: Sequence[WriteReceipt], deps: Deps
) -> dict[str, list[Writing]]:
    """The new texts of some commands that were applied, by the name of their graph. Raises as `Graph.read`."""
    found: dict[str, list[Writing]] = {}
    for command, receipt in zip(commands, receipts, strict=True):
        if receipt.status == "refused" or receipt.recognised is not None or receipt.id is None:
            continue
        if isinstance(command, Remember):
            writing = writing_of(command, receipt.id, receipt.valid_at)
        elif isinstance(command, Retract) or (isinstance(command, Revision) and command.description is not None):
            writing = await _revised(command, receipt, deps)
        else:
            continue
        if writing is not None:
            found.setdefault(home_of(command), []).append(writing)
    return found


def writing_of(command: Command, memory_id: str | None, time: datetime | None) -> Writing | None:
    """The text of a new memory; None for a command that writes none, or where no names are read."""
    if not isinstance(command, Remember) or memory_id is None:
        return None
    own = command.node_type not in _NEVER_READ and is_own(command.source, command.speaker)
    if not own and not command.about:
        return None
    text = command.description or command.name
    text = ends_of(text) if len(text) > MOST_READ else text
    kind = command.node_type
    return Writing(command, memory_id, text, time, command.about, own, speaker=command.speaker, node_type=kind)


def is_own(source: str, speaker: str | None) -> bool:
    """True for a text that a human wrote: the citizen itself, or somebody who speaks in a conversation."""
    return source in _OWN_SOURCES and (speaker or "").strip().lower() not in _NOT_HUMAN


async def _revised(command: Revision | Retract, receipt: WriteReceipt, deps: Deps) -> Writing | None:
    """The new text of a memory, none of a retracted one, with the links that the service made of that before."""
    graph = deps.graph(home_of(command))
    row = await reader.memory(graph, command.id)
    written = {} if row is None else rows.record(row).content
    kind, speaker = written.get("node_type"), written.get("speaker")
    if row is None or kind in _NEVER_READ or not is_own(written["source"], speaker):
        return None
    ended = await naming.read_made_links(graph, command.id)
    if isinstance(command, Retract):  # it stays linked with what it named, as it stays in the past
        told = tuple(link_id for link_id in ended if not link_id.startswith(f"{command.id}|"))
        return Writing(command, command.id, "", command.effective_at, ended=told) if told else None
    text, time = ends_of(str(command.description)), receipt.valid_at
    return Writing(command, command.id, text, time, ended=ended, speaker=speaker, node_type=kind)


def home_of(command: Command) -> str:
    """The name of the graph of a command."""
    return graph_name(command.graph_key, command.citizen_id)


def given_names(commands: Iterable[Command]) -> dict[str, list[NamedEntry]]:
    """The people, places and things that some commands are about to store, by the name of their graph."""
    found: dict[str, list[NamedEntry]] = {}
    for command in commands:
        if isinstance(command, Remember) and command.node_type in KINDS and command.id is not None:
            entry = NamedEntry(command.id, command.name, command.node_type, command.aliases)
            found.setdefault(home_of(command), []).append(entry)
    return found


async def decide(texts: Sequence[Writing], deps: Deps, given: Sequence[NamedEntry] = ()) -> Mentions:
    """Decide the names of some texts of one graph, all together. Raises as `Graph.read`.

    `given`: what will be stored under a name together with the texts.
    """
    like = texts[0].command
    graph = deps.graph(home_of(like))
    named_texts = [writing.named_text() for writing in texts]
    known: dict[str, naming.NamedRecord] = {}
    uses: list[naming.NameUse] = []
    if await deps.graphs.for_reading(graph.name):
        looked_up = await _off_loop(texts, _spoken_words, texts)
        known = {memory.id: memory for memory in await naming.find_named(graph, looked_up, KINDS)}
        if len(texts) < _MANY:
            weak = await _off_loop(texts, _weak_names, named_texts)
            uses = await _earlier_uses(weak, [text.memory_id for text in named_texts], known, graph)
    entries = [
        NamedEntry(memory.id, memory.name, memory.node_type, memory.aliases, is_guess=memory.made)
        for memory in known.values()
        if name_key(memory.name) not in ROLES
    ]
    stored = {entry.id for entry in entries}
    entries += [entry for entry in given if entry.id not in stored and name_key(entry.name) not in ROLES]
    earlier = [NamedText(use.memory_id, ends_of(use.text), to_datetime(use.valid_at)) for use in uses]
    book = await _off_loop(texts, NameBook, (*earlier, *named_texts), entries)
    types = sorted(set(chain.from_iterable(memory.types for memory in known.values())))[:_MOST_TYPES]
    place = {"citizen_id": like.citizen_id} if like.level is Level.N1 else graph_fields(like.graph_key)
    return Mentions(graph.name, place, book, known, uses, types)


async def _off_loop[Result](texts: Sequence[Writing], work: Any, *values: Any) -> Any:
    """The result of `work`, in a thread when there are many texts, or long ones."""
    is_dear = len(texts) >= _MANY or sum(len(each.text) for each in texts) > LONG
    return await asyncio.to_thread(work, *values) if is_dear else work(*values)


def _spoken_words(texts: Sequence[Writing]) -> list[str]:
    """The distinct words of the texts by which known names can be found."""
    spoken: set[str] = set()
    for writing in texts:
        spoken.update(words(" ".join((writing.text, *writing.about))))
    bare = {word[:-1] for word in spoken if word.endswith("s")}
    return sorted(word for word in (spoken | bare) - stop_words() if len(word) > 1 and word.strip("_"))


def _weak_names(texts: Sequence[NamedText]) -> dict[str, str]:
    """The names that the texts have by their capital alone, by key."""
    found = chain.from_iterable(read_names(text.text, name_language(text.text)) for text in texts)
    return {name_key(mention.name): mention.name for mention in found if mention.weak}


async def _earlier_uses(
    names: Mapping[str, str], texts: list[str], known: dict[str, naming.NamedRecord], graph: Graph
) -> list[naming.NameUse]:
    """Earlier texts of the graph, but these, that use one of some weak names.

    Known names that begin with such a name are added to `known`: "Dex" may be Dexter.
    """
    taken = {name_key(name) for memory in known.values() for name in (memory.name, *memory.aliases)}
    unknown = [(key, name) for key, name in names.items() if key.isalnum() and key not in taken | stop_words()]
    unknown = unknown[:_MOST_UNKNOWN]
    if not unknown:
        return []
    beginnings = [f"{key}*" for key, _ in unknown if len(key) >= FEWEST_LETTERS]
    known.update({memory.id: memory for memory in await naming.find_named(graph, beginnings, KINDS)})
    roles, sources = sorted(_NOT_HUMAN), sorted(_OWN_SOURCES)
    kinds = sorted(_NEVER_READ)
    return await naming.find_uses(graph, unknown, but=texts, kinds=kinds, roles=roles, sources=sources)


@dataclass(slots=True)
class Mentions:
    """What is to be made of the names of some texts of a graph, which `place` names in a command.

    `known`: named memories of the graph, by id. `types`: of links between names, beside those of the languages.
    """

    graph: str
    place: Mapping[str, Any]
    book: NameBook
    known: Mapping[str, naming.NamedRecord]
    earlier: Sequence[naming.NameUse] = ()
    types: Sequence[str] = ()
    _stored: set[str] = field(default_factory=set)
    _given: set[str] = field(default_factory=set)

    def commands_of(self, chunk: Sequence[Command]) -> list[Command]:
        """What is to be stored for the texts among some commands for this graph that were applied."""
        found = (
            writing_of(command, getattr(command, "id", None), getattr(command, "valid_at", None))
            for command in chunk
            if home_of(command) == self.graph
        )
        texts = [writing for writing in found if writing is not None]
        return self.commands(texts) if texts else []

    def commands(self, texts: Sequence[Writing]) -> list[Command]:
        """What is to be stored for some of the texts: memories, changes of known ones, then links."""
        links = [link for writing in texts for link in self._links(writing)]
        for use in self.earlier:  # in texts from before it became a memory
            entry = self.book.get(use.name)
            if entry is not None:
                writing = Writing(texts[0].command, use.memory_id, use.text, to_datetime(use.valid_at))
                links.append(self.link_to(writing, entry.id).assuming(*_MADE_OF_LINK))
        ends = [(link.source_id, link.target_id)[link.relation_type == _MENTIONS :] for link in links]
        targets = dict.fromkeys(chain.from_iterable(ends))
        new = [target for target in targets if target not in self._stored and self._is_new(target)]
        self._stored.update(new)
        memories = [self._memory(target, texts) for target in new]
        return [*memories, *self._changes(targets, texts), *self._endings(texts, links), *links]

    def _is_new(self, target: str) -> bool:
        entry = self.book.entries.get(target)
        return target not in self.known and (entry is None or entry.made)

    def _links(self, writing: Writing) -> Iterator[Relate]:
        given = [self.book.find(name).id for name in writing.about]
        self._given.update(given)
        for target in dict.fromkeys(given):
            self.book.entries[target].note_time(writing.time)
            yield self.link_to(writing, target)
        mentioned = self.book.mentions(writing.named_text()) if writing.own else []
        for entry in mentioned:
            if entry.id not in given:
                yield self.link_to(writing, entry.id).assuming(*_MADE_OF_LINK)
        if "citizen_id" in self.place and writing.own and states_something(writing.text, self.book.language):
            yield self.link_to(writing, SELF_ID).assuming(*_MADE_OF_LINK)
        if (mentioned or writing.about) and writing.node_type != CONTEXT:
            for deed in self.read_deeds(writing):
                yield self._deed_link(writing, deed)

    def read_deeds(self, writing: Writing) -> list[Deed]:
        """What a text tells that one did to another of those that it mentions, its speaker among them."""
        speaker = (writing.speaker or "").strip()
        own = self.place.get("citizen_id")  # in a shared graph "I" is nobody's self
        is_self = own is not None and (not speaker or speaker.lower() in ASKING or speaker == own)
        one = self.book.get(speaker) or (NamedEntry(SELF_ID, "", SELF_TYPE) if is_self else NamedEntry("", "", ""))
        deeds = self.book.deeds(writing.named_text(), writing.about, End(one.id, one.kind), self.types)
        return [deed for deed in deeds if deed.source and deed.target]

    def _deed_link(self, writing: Writing, deed: Deed) -> Relate:
        told = {
            "id": identifier(f"{writing.memory_id}:{deed.source}:{deed.relation_type}:{deed.target}"),
            "source_id": deed.source,
            "relation_type": deed.relation_type,
            "goal": TO_REMEMBER,
            "mindstate": TELLING,
            "confidence": deed.confidence,
            "formation_trigger": naming.MADE_OF_DEEDS,
            "episode_id": writing.memory_id,
        }
        return self.link_to(writing, deed.target).model_copy(update=told).assuming(*_MADE_OF_LINK)

    def link_to(self, writing: Writing, target_id: str) -> Relate:
        command = writing.command
        return (
            Relate(
                **self.place,
                source_id=writing.memory_id,
                target_id=target_id,
                relation_type=_MENTIONS,
                goal=WHO_IS_MEANT,
                mindstate="naming",
                energy=0.5,
                confidence=1.0,
                emotion_vector={},
                resolution_state=ResolutionState.RESOLVED,
                formation_trigger=naming.MADE_OF_NAMES,
                source=command.source,
                episode_id=getattr(command, "episode_id", None),
                **({} if writing.time is None else {"valid_at": writing.time}),
            )
            .with_writer(command.writer)
            .as_inferred()
        )

    def _memory(self, target: str, texts: Sequence[Writing]) -> Remember:
        entry = self.book.entries.get(target)
        if entry is None:
            since = min((writing.time for writing in texts if writing.time is not None), default=None)
            entry = NamedEntry(SELF_ID, self.place["citizen_id"], SELF_TYPE, made=True, since=since)
        like = texts[0].command
        aliases = tuple(dict.fromkeys((*entry.aliases, *entry.new_aliases)))
        memory = Remember(
            **self.place,
            id=entry.id,
            name=entry.name,
            node_type=entry.kind,
            source=like.source,
            **({"aliases": aliases} if aliases else {}),
            **({} if entry.since is None else {"valid_at": entry.since}),
        )
        written = memory.with_writer(like.writer)
        return written if target in self._given else written.assuming(*_MADE).as_inferred()

    def _changes(self, targets: Iterable[str], texts: Sequence[Writing]) -> Iterator[Command]:
        """New aliases of known memories, and an earlier start of those that are mentioned before they begin."""
        like = texts[0].command
        for memory_id in targets:
            memory, entry = self.known.get(memory_id), self.book.entries.get(memory_id)
            if memory is None or entry is None or memory_id in self._stored:
                continue
            fields: dict[str, Any] = {}
            if entry.new_aliases:
                fields["aliases"] = (*memory.aliases, *entry.new_aliases)
            if entry.kind != memory.node_type:
                fields["node_type"] = entry.kind
            if entry.since is not None and to_instant(entry.since) < memory.valid_at:
                fields["valid_at"] = entry.since
            if fields:
                self._stored.add(memory_id)
                change = Correct(**self.place, id=memory_id, source=like.source, **fields)
                steward = memory.made or like.writer.steward  # nobody's word is what the service made
                yield change.with_writer(like.writer._replace(steward=steward))

    def _endings(self, texts: Sequence[Writing], links: Sequence[Relate]) -> Iterator[Unrelate]:
        """Ends the links of a replaced text with what the new one does not mention."""
        said = {link.id or natural_id(link.source_id, _MENTIONS, link.target_id) for link in links}
        for writing in texts:
            for link_id in writing.ended:
                if link_id not in said:
                    changed = writing.time and isinstance(writing.command, Supersede | Retract)
                    when = {"effective_at": writing.time} if changed else {}
                    ended = Unrelate(**self.place, id=link_id, source=writing.command.source, **when)
                    yield ended.with_writer(writing.command.writer)
