"""Consolidation: makes one memory of several that belong together, L1 of L0, L2 of L1, L3 of L2 (002).

A page is a window of the graph: the next memories, all that have the nodes among them, and the members of the
generalisations that these belong to. Members are never changed; what is made is stored by ordinary commands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from orchestration.appraisal.telling import read_silence
from orchestration.feature import Feature
from orchestration.features.consolidation import queries as store
from orchestration.features.consolidation import rules
from orchestration.upkeep.job import Job, JobContext, Page
from orchestration.writing.appraised_rows import NO_STATEMENTS
from orchestration.writing.records import embedded_text, given_tags
from schemas.commands import Command, Retract
from schemas.memory import GENERALISATION, SILENCES, ConsciousnessNode, Source, graph_fields
from schemas.temporal import to_instant
from substrate.inference.language import ModelRequest
from substrate.language.text import name_key, words
from substrate.store import erasure, reader
from substrate.store.derived import find_made_of

MOST_ITEMS: Final = 500
"""Memories of a window."""
MOST_PASSES: Final = 4
MOST_HOLDERS: Final = 150
"""No window is made of all that have a node which more have; it still counts as shared."""
FEWEST_WORDS: Final = 6
"""A shorter text is near to too many others to be near to them in meaning."""
SAME: Final = 0.9
"""From this cosine on a new generalisation says what another says."""
SECONDS: Final = 20.0
"""Deadline of the language model for one generalisation, and how many are asked at once, and in a page."""
ASKED_AT_ONCE, ASKED_A_PAGE = 2, 8


type Planned = tuple[str, frozenset[str]]
"""A generalisation of a page by its id: after its commands it has these members, or it goes."""


class _Position(NamedTuple):
    """Where a page begins: after which internal id, in which pass, and whether this pass has changed anything.

    What is made has windows of its own, and changes those after it: a graph is gone through again until a pass
    changes nothing, so that the next run has nothing to do.
    """

    number: int = 1
    after: int = -1
    changed: bool = False

    @classmethod
    def read(cls, cursor: str | None) -> _Position:
        if cursor is None:
            return cls()
        number, after, changed = map(int, cursor.split(":"))
        return cls(number, after, bool(changed))

    def text(self) -> str:
        return f"{self.number}:{self.after}:{int(self.changed)}"

    def next_pass(self) -> str | None:
        """The beginning of the next pass; None when there is none."""
        again = self.changed and self.number < MOST_PASSES
        return _Position(self.number + 1).text() if again else None


@dataclass(frozen=True, slots=True)
class _Window:
    """What a page has read: memories, with nodes and vectors by id, and the generalisations around them.

    `fields`: those of each command on its graph.
    """

    fields: Mapping[str, Any]
    memories: Mapping[str, ConsciousnessNode]
    nodes: Mapping[str, Collection[str]]
    vectors: Mapping[str, Sequence[float]]
    names: Mapping[str, store.NodeName]
    holders: rules.Holders
    made: Mapping[str, store.StoredGeneralisation]

    def item(self, memory: ConsciousnessNode) -> rules.Item:
        speaker = name_key(memory.speaker or "")
        nodes, names, tags = self.nodes.get(memory.node_id, ()), self.names, _tags(memory)
        about = [node for node in nodes if node not in names or names[node].key != speaker]
        since, known = to_instant(memory.valid_at), to_instant(memory.created_at)
        vector, level = self.vectors.get(memory.node_id), memory.abstraction or "L0"
        return rules.Item(memory.node_id, level, since, frozenset((*about, *tags)), vector, known)

    def members(self, cluster: rules.Cluster) -> list[ConsciousnessNode]:
        return [self.memories[member] for member in cluster.members]

    def shown_names(self, cluster: rules.Cluster) -> list[str]:
        return [self.names[node].name if node in self.names else node for node in cluster.nodes]


def _tags(memory: ConsciousnessNode) -> tuple[str, ...]:
    return tuple(f"#{tag}" for tag in given_tags({"tags": memory.tags, "unset": memory.unset}))


class ConsolidationJob(Job):
    """The job."""

    name = "consolidation"

    async def plan(self, context: JobContext, cursor: str | None) -> Page:
        """The generalisations of the next window: new ones, and those that grow, shrink or are only half there."""
        position = _Position.read(cursor)
        read = await store.read_page(context.graph, position.after, NO_STATEMENTS)
        if not read:
            return Page(0, position.next_pass())
        page: list[store.PageRow] = []
        room = MOST_ITEMS  # this many memories around the nodes of the page
        for row in read:
            room -= row.links if _is_window(row) else 1
            if page and room < 0:
                break
            page.append(row)
        window = await _read_window(context, page)
        broken = frozenset(each.id for each in window.made.values() if _is_broken(each))
        commands, beside, shown = await _plan_changes(context, window, broken)
        # A third of a page is seen twice, so that no cluster is cut at its end.
        step = len(page) if context.is_dry_run else max(1, 2 * len(page) // 3)
        changed = position.changed or bool(commands and not context.is_dry_run)
        following: str | None = _Position(position.number, page[step - 1].place, changed).text()
        if len(page) == len(read) < store.MEMORIES_A_PAGE and (context.is_dry_run or not commands):
            following = position.next_pass()
        first = position.number == 1
        return Page(step if first else 0, following, tuple(commands), tuple(beside), tuple(shown) if first else ())

    async def keep(self, context: JobContext, page: Page) -> int:
        """Remove what was planned but has not all its members, as one of them was erased meanwhile."""
        planned: dict[str, frozenset[str]] = dict(page.beside)
        stored = await store.read_made(context.graph, planned) if planned else []
        gone = [each.id for each in stored if each.live and each.linked != planned[each.id]]
        if gone:
            await erasure.erase_memories(context.graph, gone, context.deps.features.kept)
        return len(gone)


def _is_window(row: store.PageRow) -> bool:
    """True for a node of which all holders are looked at together."""
    return row.is_open and row.is_node and rules.FEWEST <= row.links <= MOST_HOLDERS


def _is_broken(made: store.StoredGeneralisation) -> bool:
    """True for one whose links were not all stored, or of which a member was erased meanwhile."""
    count = made.extra.get(rules.MEMBER_COUNT)
    return made.live and isinstance(count, int) and len(made.linked) < count


async def _read_window(context: JobContext, page: Sequence[store.PageRow]) -> _Window:
    graph, rest = context.graph, context.rest
    own = [row.id for row in page if row.is_open and not row.is_node]
    around = await store.read_holders(graph, [row.id for row in page if _is_window(row)])
    some = list(dict.fromkeys([*own, *around]))[:MOST_ITEMS]
    await rest()
    made = await store.read_made(graph, {*await find_made_of(graph, some), *own})
    await rest()
    memories = {each.node_id: each for each in await store.read_contents(graph, some, context.key)}
    others = _members_to_read(made, memories)
    memories |= {each.node_id: each for each in await store.read_contents(graph, others, context.key)}
    memories = {memory_id: each for memory_id, each in memories.items() if _may_be_member(each)}
    await rest()
    nodes = await store.read_nodes(graph, list(memories), NO_STATEMENTS)
    names = await store.read_names(graph, set().union(*nodes.values()))
    tags = await reader.tag_members(graph, sorted(set().union(*map(_tags, memories.values()))))
    await rest()
    telling = [each.node_id for each in memories.values() if len(words(each.description)) >= FEWEST_WORDS]
    vectors = await reader.read_embeddings(graph, telling) if context.deps.embedder.dimension else {}
    total = (await reader.counts(graph)).memories
    holders = rules.Holders({**{node: each.links for node, each in names.items()}, **tags}, total)
    fields = {**graph_fields(context.key), "citizen_id": context.citizen_id, "source": Source.UPKEEP}
    return _Window(fields, memories, nodes, vectors, names, holders, {each.id: each for each in made})


def _members_to_read(
    made: Sequence[store.StoredGeneralisation], memories: Mapping[str, ConsciousnessNode]
) -> list[str]:
    """Beside the memories of the window the members of what may grow by a newer one, or has changed; at most
    `MOST_ITEMS`."""
    live = [each for each in made if each.live]
    taken = set().union(*(each.visible for each in live))
    free = [to_instant(memory.created_at) for each, memory in memories.items() if each not in taken]
    newest = max(free, default=-1)
    wanted: dict[str, None] = {}
    for each in live:
        missing = each.visible - memories.keys() - wanted.keys()
        may_change = each.created_at < newest or _has_changed(each)
        if may_change and len(wanted) + len(missing) <= MOST_ITEMS:
            wanted |= dict.fromkeys(sorted(missing))
    return list(wanted)


def _may_be_member(memory: ConsciousnessNode) -> bool:
    """What somebody said or wrote, and what was made of that; no person or place, nothing else of upkeep, and
    nothing that only asks, thanks or greets.
    """
    if memory.node_type.lower() in NO_STATEMENTS or not memory.description.strip():
        return False
    if memory.step in SILENCES or read_silence(memory.description) == "Courtesy":
        return False
    return memory.source is not Source.UPKEEP or memory.node_type == GENERALISATION


async def _plan_changes(
    context: JobContext, window: _Window, broken: Collection[str]
) -> tuple[list[Command], list[Planned], list[str]]:
    """The commands of a window, what they are to leave, and the same in words."""
    commands: list[Command] = []
    beside: list[Planned] = [(each, frozenset()) for each in sorted(broken)]
    shown = [f"remove {each}: not all of its members are there" for each in sorted(broken)]
    whole = [each for each in window.made.values() if each.id not in broken]
    # In a thread: some hundred memories with their vectors may take longer than a request should wait.
    items = list(map(window.item, window.memories.values()))
    found = await asyncio.to_thread(rules.find_clusters, items, whole, window.holders)
    grown = {cluster.grows for cluster in found}
    for each in whole:
        is_read = len(each.visible) < rules.FEWEST or each.visible <= window.memories.keys()
        if each.live and each.id not in grown and is_read and _has_changed(each):
            left = [window.memories[member] for member in each.visible if member in window.memories]
            left.sort(key=lambda memory: (memory.valid_at, memory.node_id))
            if len(left) < rules.FEWEST:
                gone = {"id": each.id, "command_id": f"{each.id}:gone:{each.version}"}
                commands.append(Retract(**window.fields, **gone))
                shown.append(f"retract {each.id}: fewer than {rules.FEWEST} of its members hold")
            else:
                members = tuple(memory.node_id for memory in left)
                found.append(rules.Cluster(left[0].abstraction or "L0", members, (), each.id))
    made_now, planned_now, shown_now = await _generalise(context, window, found)
    return [*commands, *made_now], [*beside, *planned_now], [*shown, *shown_now]


def _has_changed(made: store.StoredGeneralisation) -> bool:
    return made.extra.get(rules.MEMBER_SET) not in (None, rules.member_set(made.visible))


async def _generalise(
    context: JobContext, window: _Window, clusters: Sequence[rules.Cluster]
) -> tuple[list[Command], list[Planned], list[str]]:
    """The same of the clusters, without those of which another generalisation says what they say."""
    words_by_cluster = await _find_words(context, window, clusters)
    contents = []
    for cluster, told in zip(clusters, words_by_cluster, strict=True):
        contents.append(rules.aggregate(cluster, window.members(cluster), told, window.shown_names(cluster)))
        await asyncio.sleep(0)  # requests go on between two clusters
    texts = [embedded_text(content.fields) for content in contents]
    embedder = context.deps.embedder
    vectors = await embedder.embed_texts(texts) if texts and embedder.dimension else [[] for _ in texts]
    commands: list[Command] = []
    planned: list[Planned] = []
    shown: list[str] = []
    fields = window.fields
    kept: list[tuple[str, np.ndarray[Any, Any]]] = []
    for cluster, content, vector in zip(clusters, contents, vectors, strict=True):
        abstraction = rules.NEXT[cluster.abstraction]
        if cluster.grows is None and vector:
            said = [float(other @ _unit(vector)) for kind, other in kept if kind == abstraction]
            said.append(await store.nearest_generalisation(context.graph, vector, abstraction))
            if max(said) >= SAME:
                continue
        if vector:
            kept.append((abstraction, _unit(vector)))
        if cluster.grows is None:
            commands += rules.new_commands(cluster, content, fields)
            planned.append((rules.generalisation_id(cluster), frozenset(cluster.members)))
        else:
            stored = window.made[cluster.grows]
            commands += rules.grown_commands(cluster, content, stored, fields, now=context.now)
            planned.append((stored.id, stored.linked | frozenset(cluster.members)))
        shown.append(f"{abstraction} of {len(cluster.members)}: {content.fields['description']}")
        await asyncio.sleep(0)
    return commands, planned, shown


def _unit(vector: Sequence[float]) -> np.ndarray[Any, Any]:
    array = np.array(vector, dtype=np.float64)
    length = np.linalg.norm(array)
    return array / length if length else array


async def _find_words(
    context: JobContext, window: _Window, clusters: Sequence[rules.Cluster]
) -> list[rules.GeneralText]:
    """What each cluster has in common: by the language model where one is configured and says it well."""
    turns = asyncio.Semaphore(ASKED_AT_ONCE)

    async def find(place: int, cluster: rules.Cluster) -> rules.GeneralText:
        members = window.members(cluster)
        vectors = [window.vectors.get(member.node_id) for member in members]
        first = rules.medoid(vectors, [window.nodes.get(member.node_id, ()) for member in members])
        members = [members[first], *members[:first], *members[first + 1 :]]  # then the others in the order of time
        plain = rules.words_of(members, members[0], window.shown_names(cluster))
        model = context.deps.language_model
        if model is None or place >= ASKED_A_PAGE:
            return plain
        texts = [f"{each.speaker}: {each.description}" if each.speaker else each.description for each in members]
        request = ModelRequest("generalisation", rules.build_messages(texts), SECONDS)
        async with turns:
            value, _ = await model.ask(request, rules.Generalised)
        if value is None or rules.find_fault(value, texts) is not None:
            return plain
        return rules.GeneralText(value.text, value.rule, model.model)

    return list(await asyncio.gather(*(find(place, cluster) for place, cluster in enumerate(clusters))))


FEATURE: Final = Feature("consolidation", jobs=(ConsolidationJob(),))
