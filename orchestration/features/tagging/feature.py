"""The job `tags` (the Dreamer of 001): made tags for what its writer left untagged, a few memories at a time."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import batched
from typing import Final, NamedTuple

from orchestration.feature import Feature
from orchestration.features.tagging import queries as store
from orchestration.features.tagging import rules
from orchestration.upkeep.job import Job, JobContext, Page
from schemas.temporal import Instant
from substrate.connection.errors import GraphMissing
from substrate.language.text import word_language
from substrate.store import reader
from substrate.store.derived import MadeTag

MEMORIES_A_PAGE: Final = 6
NEAREST: Final = 16
"""More than have a say: some of the nearest hold no more, or are no texts."""
WORDS_A_READ: Final = 16
"""A common word takes the engine a tenth of a millisecond or more; others have their turn after each read."""
COUNTS_KEPT: Final = 20_000
KEPT_FOR: Final = 600_000_000
"""Microseconds after which all words are counted anew."""


class TagChange(NamedTuple):
    """The made tags that a memory loses, by name, and those that it gets."""

    memory_id: str
    lost: tuple[str, ...]
    added: tuple[MadeTag, ...]

    @property
    def shown(self) -> str:
        parts = [*(f"+ {tag.shown}" for tag in self.added), *(f"- {name}" for name in self.lost)]
        return f"{self.memory_id}: {', '.join(parts)}"


class _Counts:
    """How many memories of a graph hold each word that a run has counted lately: most words come again and again.

    Another process that goes on with the run counts them itself.
    """

    def __init__(self) -> None:
        self._of = ("", "")
        self._begun: Instant = 0
        self._known: dict[str, int] = {}

    def forget(self) -> None:
        self._known = {}

    async def read(self, queries: Collection[str], context: JobContext) -> dict[str, int]:
        """How many memories hold each full-text query."""
        of = context.graph.name, context.run_id
        full = len(self._known) > COUNTS_KEPT
        if full or self._of != of or context.now - self._begun > KEPT_FOR:
            self._of, self._begun, self._known = of, context.now, {}
        known = self._known
        for some in batched(sorted(query for query in queries if query not in known), WORDS_A_READ):
            known |= await store.count_words(context.graph, some)
            await context.rest()
        return {query: known[query] for query in queries}


class TagsJob(Job):
    """Tags depend on texts, likeness and given tags alone: a second run over the same memories changes nothing."""

    name = "tags"

    def __init__(self) -> None:
        self._counts = _Counts()

    async def plan(self, context: JobContext, cursor: str | None) -> Page:
        """Decide the tags of the next memories. A graph that is gone has none."""
        if cursor is None:
            self._counts.forget()
        try:
            page = await self._plan(context, -1 if cursor is None else int(cursor))
        except GraphMissing:
            page = Page(0)
        if page.next is None:
            self._counts.forget()
        return page

    async def _plan(self, context: JobContext, after: int) -> Page:
        rows = await store.read_page(context.graph, after, MEMORIES_A_PAGE, context.now)
        if not rows:
            return Page(0)
        await context.rest()
        wanted = [row.memory for row in rows if row.present and wants_tags(row.memory)]
        chosen = await _choose(wanted, context, self._counts)
        changes: list[TagChange] = []
        for row in rows:
            tags = {tag.name: tag for tag in chosen.get(row.memory.id, ())}
            lost = tuple(name for name in row.made if name not in tags)
            added = tuple(tag for name, tag in tags.items() if name not in row.made)
            if lost or added:
                changes.append(TagChange(row.memory.id, lost, added))
        following = str(rows[-1].place) if len(rows) == MEMORIES_A_PAGE else None
        return Page(len(rows), following, beside=tuple(changes), shown=tuple(each.shown for each in changes))

    async def keep(self, context: JobContext, page: Page) -> int:
        """Take and give the tags of a page. Repeated, it changes nothing."""
        changes: Sequence[TagChange] = page.beside
        lost = {change.memory_id: change.lost for change in changes if change.lost}
        added = {change.memory_id: change.added for change in changes if change.added}
        taken = await store.drop_made_tags(context.graph, lost)
        return taken + await store.add_made_tags(context.graph, added, context.run_id)

    async def undo(self, context: JobContext) -> int:
        """Take away the tags that the run made. What it replaced does not come back: the next run makes tags."""
        taken, after = 0, -1
        while True:
            last, tags = await store.next_of_run(context.graph, after, context.run_id)
            if last is None:
                return taken
            taken += await store.drop_made_tags(context.graph, tags)
            after = last
            await context.rest()


def wants_tags(memory: store.TextRow) -> bool:
    """True for a text that its writer gave no tags. A session only holds what was said in it."""
    return bool(memory.text.strip()) and memory.node_type != "Session" and not memory.given


async def _choose(
    wanted: Sequence[store.TextRow], context: JobContext, known_counts: _Counts
) -> dict[str, tuple[MadeTag, ...]]:
    near = await _read_near([memory.id for memory in wanted], context)
    candidates: dict[str, dict[str, rules.Candidate]] = {}
    queries: dict[str, dict[str, str]] = {}
    for memory in wanted:
        possible = candidates[memory.id] = rules.find_candidates(memory.text, near.get(memory.id, ()))
        queries[memory.id] = rules.words_to_count(possible, word_language(memory.text))
        await asyncio.sleep(0)  # nine texts take milliseconds: requests go on between two memories
    counts = await known_counts.read({query for asked in queries.values() for query in asked.values()}, context)
    size = (await reader.counts(context.graph)).memories
    chosen: dict[str, list[str]] = {}
    asked: set[str] = set()
    for memory_id, possible in candidates.items():
        known = {key: counts[query] for key, query in queries[memory_id].items()}
        chosen[memory_id] = rules.choose_tags(possible, rules.Statistics(known, size))
        asked |= rules.possible_given(chosen[memory_id], possible)
    sizes = await reader.tag_members(context.graph, sorted(asked))
    given = {name: size for name, size in sizes.items() if size}
    named: dict[str, tuple[MadeTag, ...]] = {}
    for memory_id, keys in chosen.items():
        named[memory_id] = tuple(rules.name_tag(key, candidates[memory_id][key], given) for key in keys)
    return named


async def _read_near(ids: Sequence[str], context: JobContext) -> dict[str, list[rules.Neighbour]]:
    near: defaultdict[str, list[rules.Neighbour]] = defaultdict(list)
    if ids and context.deps.embedder.dimension:
        for row in await store.read_near(context.graph, ids, NEAREST, context.now):
            if row.memory.node_type != "Session":
                told = rules.TextWithTags(row.memory.text, row.memory.given)
                near[row.of].append(rules.Neighbour(row.likeness, told))
        await context.rest()
    return near


FEATURE: Final = Feature("tagging", jobs=(TagsJob(),))
