"""Made tags: edges of type MADE_TAG beside the records, with the id of the run of upkeep that made them.

They lead to the node of a given tag (`#tag`) where the graph has one, else to a node of their own: `~` and the
stems, so that all forms of a word are one tag; its property `shown` is the tag as a reader sees it. No record, no
version and no filter knows of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import batched, chain
from typing import Any, Final, NamedTuple

from orchestration.writing.records import given_tags
from schemas.temporal import Instant, Scope
from substrate.connection.together import together
from substrate.cypher.fragments import ALONE, IS_FOUND, each_alone, tells, visible
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph, Search
from substrate.store.derived import DROP_UNUSED, MADE, TEXT_READ, MadeTag, change_count
from substrate.store.reader import read_embeddings

MOST_COUNTED: Final = 251
"""Memories with a word are counted up to this number."""
MEMORIES_AT_ONCE: Final = 500


def _text(name: str) -> str:
    """Columns: type, title (not of what was said), text, tags and what the writer left out."""
    title = f"CASE WHEN {name}.speaker IS NULL THEN {name}.name ELSE null END"
    return f"{name}.node_type, {title}, left({name}.description, {TEXT_READ}), {name}.tags, {name}.unset"


TAG_PAGE: Final = Query(
    "tag_page",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    "OPTIONAL MATCH (n)-[:MADE_TAG]->(g:Tag) WITH n, collect(g.name) AS made "
    f"RETURN id(n), n.id, {visible('n')} AND {tells('n')}, {_text('n')}, made ORDER BY id(n)",
)
"""The next memories with the names of their made tags. Third column: whether they hold now and say something."""

NEAR: Final = Query(
    "near_for_tags",
    "UNWIND range(0, size($ids) - 1) AS place WITH $ids[place] AS id, $near[place] AS found UNWIND found AS one "
    "MATCH (m:ConsciousnessNode {id: one[0]}) "
    f"WITH id, one, m WHERE m.id <> id AND {visible('m')} AND {tells('m')} "
    f"MATCH (m)-[:HAS_TRACE]->(t:Trace) WHERE {IS_FOUND} RETURN id, m.id, 1.0 - one[2], {_text('m')}",
)
"""The memories most like each of these."""

WORD_COUNTS: Final = Query(
    "word_counts",
    each_alone(
        "words",
        "word",
        "CALL { WITH word CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word) YIELD node "
        f"WITH node LIMIT {MOST_COUNTED} RETURN count(node) AS found }} RETURN word, found",
    ),
)

ADD: Final = Query(
    "add_made_tags",
    "UNWIND $rows AS r MATCH (n:ConsciousnessNode {id: r.id}) WITH r, n "
    "OPTIONAL MATCH (n)-[old:MADE_TAG]->(:Tag {name: r.name}) WITH r, n, old WHERE old IS NULL "
    "MERGE (g:Tag {name: r.name}) ON CREATE SET g.shown = r.shown "
    "CREATE (n)-[:MADE_TAG {run: $run}]->(g) RETURN count(n)",
)

DROP: Final = Query(
    "drop_made_tags",
    "UNWIND $rows AS r MATCH (n:ConsciousnessNode {id: r.id}) WITH r, n "
    "MATCH (n)-[g:MADE_TAG]->(t:Tag) WHERE t.name = r.name WITH collect(g) AS gone "
    "FOREACH (g IN gone | DELETE g) RETURN size(gone)",
)

NEXT_MEMORIES: Final = Query(
    "memories_of_run",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows RETURN max(id(n)), count(n)",
)

OF_RUN: Final = Query(
    "made_tags_of_run",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after AND id(n) <= $last WITH n "
    "MATCH (n)-[g:MADE_TAG]->(t:Tag) WHERE g.run = $run RETURN n.id, t.name",
)


class TextRow(NamedTuple):
    """A memory as tags are made of it. `tags` and `unset` are in stored form."""

    id: str
    node_type: str
    text: str
    tags: str | None
    unset: str | None

    @property
    def given(self) -> Sequence[str]:
        """The tags that its writer gave."""
        return given_tags({"tags": self.tags, "unset": self.unset})


class PageRow(NamedTuple):
    """A memory of a page. `present`: it holds now and tells something. `made`: the names of its made tags."""

    place: int
    memory: TextRow
    present: bool
    made: tuple[str, ...]


class NearRow(NamedTuple):
    """A memory near another, whose id is `of`. `likeness`: cosine similarity, -1 to 1."""

    of: str
    likeness: float
    memory: TextRow


async def read_page(graph: Graph, after: int, rows: int, now: Instant) -> list[PageRow]:
    """Return the next memories after the internal id `after`; empty at the end."""
    found = await graph.read_typed(TAG_PAGE, after=after, rows=rows, **Scope.current(now).bounds())
    return [PageRow(row[0], _text_row(row[1], row[3:8]), bool(row[2]), tuple(sorted(row[8]))) for row in found]


async def read_near(graph: Graph, ids: Sequence[str], k: int, now: Instant) -> list[NearRow]:
    """Return the memories that hold now among the `k` most like each of these."""
    own = await read_embeddings(graph, ids)
    near = [Search(embedding, k, open_only=True) for embedding in own.values()]
    found = await graph.read_typed(NEAR, ids=list(own), near=near, **Scope.current(now).bounds())
    return [NearRow(row[0], float(row[2]), _text_row(row[1], row[3:])) for row in found if row[2] is not None]


def _text_row(memory_id: str, columns: Sequence[Any]) -> TextRow:
    node_type, title, text, tags, unset = columns
    return TextRow(memory_id, node_type, ". ".join(part for part in (title, text) if part), tags, unset)


async def count_words(graph: Graph, words: Sequence[str]) -> dict[str, int]:
    """How many memories hold each full-text query, at most `MOST_COUNTED`."""
    parts = list(map(list, batched(words, ALONE)))
    rows = await together(*(graph.read(WORD_COUNTS, words=part) for part in parts))
    return {str(word): int(found) for word, found in chain.from_iterable(rows)}


async def add_made_tags(graph: Graph, tags: Mapping[str, Sequence[MadeTag]], run_id: str) -> int:
    """Add tags to memories by their ids; returns how many they did not have."""
    added = [
        {"id": memory_id, "name": tag.name, "shown": tag.shown if tag.name[0] == MADE else None}
        for memory_id, made in tags.items()
        for tag in made
    ]
    return await change_count(graph, ADD, rows=added, run=run_id) if added else 0


async def drop_made_tags(graph: Graph, names: Mapping[str, Sequence[str]]) -> int:
    """Take made tags by name from memories by their ids, and the nodes that no memory needs any more."""
    dropped = [{"id": memory_id, "name": name} for memory_id, made in names.items() for name in made]
    if not dropped:
        return 0
    count = await change_count(graph, DROP, rows=dropped)
    await change_count(graph, DROP_UNUSED, names=sorted({row["name"] for row in dropped}))
    return count


async def next_of_run(graph: Graph, after: int, run_id: str) -> tuple[int | None, dict[str, list[str]]]:
    """The made tags of a run in the next memories, and the last internal id of these; None at the end."""
    [(last, count)] = await graph.read_typed(NEXT_MEMORIES, after=after, rows=MEMORIES_AT_ONCE)
    if not count:
        return None, {}
    tags: dict[str, list[str]] = {}
    for memory_id, name in await graph.read(OF_RUN, after=after, last=last, run=run_id):
        tags.setdefault(str(memory_id), []).append(str(name))
    return int(last), tags
