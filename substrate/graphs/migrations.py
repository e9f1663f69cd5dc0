"""Schema migrations as data, and bringing a graph from its version to this one when it is opened.

Each graph goes by itself. A migration is a run of steps that can be repeated, and its number is written to the
stamp behind them: killed anywhere, the next to open the graph runs it again. This release uses no graph before.

An index or a constraint on a label that is new with its migration costs nothing. On a filled label the engine
builds beside the readers, but a write to the graph meanwhile stops the whole engine until the build is done (4
s at 200,000 vectors). So each build is waited for before the graph is opened: no process of this release writes
to it, one of an older release should be stopped, and a label with vectors is never indexed again. Where a step
goes over records, it does so in pages, each a short statement of its own.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from schemas.errors import StoreMisfit
from schemas.temporal import END_OF_TIME
from substrate.cypher import migrations as cypher
from substrate.cypher.query import Query
from substrate.cypher.schema import SCHEMA_VERSION
from substrate.graphs import indexes
from substrate.graphs.graph import Graph

ROWS: Final = 500
"""Records of a page."""


class Index(NamedTuple):
    """Make an index."""

    query: Query


class Unique(NamedTuple):
    """Demand that a property, which has an index, is unique among the nodes of a label."""

    label: str
    column: str


class Pages(NamedTuple):
    """Go over records by their internal ids; a page answers with the last of them, and with no row at the end."""

    query: Query


type Step = Index | Unique | Pages


class Migration(NamedTuple):
    """What leads from version `number - 1` to `number`."""

    number: int
    what: str
    steps: tuple[Step, ...]


MIGRATIONS: Final = (
    Migration(
        2,
        "a receipt of each command, a clock that never goes back, links and open work found by an index",
        (
            Index(cypher.INDEX_TEXT),
            Index(cypher.INDEX_STATE),
            Index(cypher.INDEX_PAST_STATE),
            Index(cypher.INDEX_RECEIPT),
            Unique("Receipt", "command_id"),
            Index(cypher.INDEX_PAST_LINK),
            Pages(cypher.CLOCK_OF_MEMORIES),
            Pages(cypher.CLOCK_OF_VERSIONS),
            Pages(cypher.CLOCK_OF_LINKS),
        ),
    ),
    Migration(
        3,
        "a citizen's state is a record, and its past ones are kept",
        (
            Index(cypher.INDEX_STATE_VERSION),
            Index(cypher.INDEX_STATE_BEGUN),
            Index(cypher.INDEX_STATE_CELL),
            Pages(cypher.FIRST_STATE),
        ),
    ),
)


async def migrate(graph: Graph, version: int) -> None:
    """Bring a graph of schema `version` to the one of this release; one that has it is left alone.

    Raises StoreMisfit when the graph was written by a newer release, and what the engine raises; the graph then
    has the version of the last migration that was completed.
    """
    if version > SCHEMA_VERSION:
        raise StoreMisfit(
            f"graph {graph.name} has schema version {version}, this Substrate knows {SCHEMA_VERSION}",
            remedy="Use the release of Substrate that wrote it, or a newer one.",
        )
    for migration in MIGRATIONS[version - 1 :]:
        for step in migration.steps:
            await _run(graph, step)
        await graph.write(cypher.SET_VERSION, number=migration.number)


async def _run(graph: Graph, step: Step) -> None:
    if isinstance(step, Pages):
        await _pages(graph, step.query)
        return
    async with indexes.index_lock(graph.connection):
        if isinstance(step, Index):
            await indexes.create_index(graph, step.query)
        else:
            await indexes.create_unique(graph, step.label, step.column)
        await indexes.wait_operational(graph)


async def _pages(graph: Graph, query: Query) -> None:
    after = -1
    while rows := await graph.write(query, after=after, rows=ROWS, open=END_OF_TIME):
        after = rows[0][0]
