"""Schema migrations as data, and the migration of a graph to the present schema when it is opened.

Each graph is migrated by itself. A migration is a list of steps that can be repeated, and its number is written to
the stamp after them: when it is interrupted anywhere, the next process to open the graph repeats it. A graph is
used only once it has the present schema.

An index or constraint on a label that is new with its migration costs nothing. On a label with nodes the engine
builds it while others read, but a write to the graph during the build stops the whole engine until the build is
done (4 s at 200,000 vectors). So the graph is opened only after the build: until then no process of this release
writes to it, and processes of older releases should be stopped. A label with vectors is never indexed again. A
step over records goes in pages, each a short statement of its own.

The query texts of a migration are never changed later.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from schemas.errors import StoreMisfit
from schemas.temporal import END_OF_TIME
from substrate.cypher.query import Query
from substrate.cypher.schema import READ_STAMP, SCHEMA_VERSION
from substrate.graphs import indexes
from substrate.graphs.graph import Graph
from substrate.likeness import vector_sets

ROWS: Final = 500
"""Records of one page."""

SET_VERSION: Final = Query(
    "set_version",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) WHERE m.schema_version = $number - 1 "
    "SET m.schema_version = $number RETURN m.schema_version",
)
"""The last step of each migration. It returns no row when another process has run it already."""


def _last_change(name: str) -> str:
    """Return the expression for the time of a record's last change."""
    return f"CASE WHEN {name}.expired_at = $open THEN {name}.created_at ELSE {name}.expired_at END"


def _clock(name: str, label: str, links: str, latest: str) -> Query:
    return Query(
        name,
        f"MATCH (m:SubstrateMeta {{key: 'stamp'}}) WITH m MATCH (n:{label}) WHERE id(n) > $after "
        f"WITH m, n LIMIT $rows {links} WITH m, max(id(n)) AS last, max({latest}) AS latest "
        "SET m.clock = CASE WHEN coalesce(latest, 0) > coalesce(m.clock, 0) THEN latest ELSE m.clock END "
        "RETURN last",
    )


FIRST_STATE: Final = Query(
    "first_state",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) WITH m "
    "MATCH (s:CitizenState) WHERE id(s) > $after AND s.version IS NULL "
    "WITH m, s, coalesce(s.updated_at, m.created_at) AS told LIMIT $rows "
    "SET s.version = 1, s.valid_at = told, s.invalid_at = $open, s.created_at = told, s.expired_at = $open, "
    "s.key = null, s.updated_at = null, "
    "m.clock = CASE WHEN told > coalesce(m.clock, 0) THEN told ELSE m.clock END RETURN id(s)",
)
"""Turns the state into its first record, known and valid since the state was last set."""
CLOCK_OF_MEMORIES: Final = _clock("clock_of_memories", "ConsciousnessNode", "", _last_change("n"))
CLOCK_OF_VERSIONS: Final = _clock("clock_of_versions", "PastVersion", "", _last_change("n"))
CLOCK_OF_LINKS: Final = _clock(
    "clock_of_links", "ConsciousnessNode", "OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->() ", _last_change("e")
)
"""Each sets the clock of the graph to at least the last change of its records."""


SET_SETS: Final = Query(
    "set_sets", "MATCH (m:SubstrateMeta {key: 'stamp'}) SET m.likeness = 'sets' RETURN m.likeness"
)


DROP_VECTORS: Final = tuple(
    Query(f"drop_vector_{label.lower()}_{column}", f"DROP VECTOR INDEX FOR (n:{label}) ON (n.{column})")
    for label in ("Trace", "PastTrace", "PassageTrace", "OtherTrace", "OtherPastTrace", "OtherPassageTrace")
    for column in ("emotion", "embedding")
)
"""The engine builds an index with two columns anew when one is dropped; the second drop ends that at once."""


def _index(name: str, target: str) -> Query:
    return Query(f"index_{name}", f"CREATE INDEX FOR {target}")


class CreateUnique(NamedTuple):
    """Makes a property, which has an index, unique among the nodes of a label."""

    label: str
    column: str


class IndexPassages(NamedTuple):
    """Creates the vector index of passages for the embedding in use; none for a graph without embeddings."""


class MoveVectors(NamedTuple):
    """Moves the vectors of a graph from its indexes to vector sets, where the server has them."""


class ChangeRecords(NamedTuple):
    """Changes records page by page; the query returns the last internal id of its page, and no row at the end."""

    query: Query


type Step = Query | CreateUnique | IndexPassages | MoveVectors | ChangeRecords


class Migration(NamedTuple):
    """The steps from version `number - 1` to `number`."""

    number: int
    purpose: str
    steps: tuple[Step, ...]


MIGRATIONS: Final = (
    Migration(
        2,
        "a receipt of each command, a clock that never goes back, links and open work found by an index",
        (
            _index("text", "(n:ConsciousnessNode) ON (n.text_key)"),
            _index("state", "(n:ConsciousnessNode) ON (n.resolution_state)"),
            _index("past_state", "(n:PastVersion) ON (n.resolution_state)"),
            _index("receipt", "(n:Receipt) ON (n.command_id)"),
            CreateUnique("Receipt", "command_id"),
            _index("past_link", "()-[e:PAST_LINK]-() ON (e.handle)"),
            ChangeRecords(CLOCK_OF_MEMORIES),
            ChangeRecords(CLOCK_OF_VERSIONS),
            ChangeRecords(CLOCK_OF_LINKS),
        ),
    ),
    Migration(
        3,
        "a citizen's state is a record, and its past ones are kept",
        (
            _index("state_version", "(s:PastState) ON (s.version)"),
            _index("state_begun", "(s:PastState) ON (s.valid_at)"),
            _index("state_cell", "(s:PastState) ON (s.cell)"),
            ChangeRecords(FIRST_STATE),
        ),
    ),
    Migration(
        4,
        "what began in a period is found by an index",
        (
            _index("node_begun", "(n:ConsciousnessNode) ON (n.valid_at)"),
            _index("past_begun", "(n:PastVersion) ON (n.valid_at)"),
        ),
    ),
    Migration(
        5,
        "standing instructions are found by an index",
        (_index("rule", "(n:ConsciousnessNode) ON (n.rule)"), _index("past_rule", "(n:PastVersion) ON (n.rule)")),
    ),
    Migration(
        6,
        "a long text is searched in passages",
        (
            _index("passage_memory", "(q:Passage) ON (q.memory_id)"),
            _index("passage_handle", "(q:Passage) ON (q.handle)"),
            Query("fulltext_passage", "CREATE FULLTEXT INDEX FOR (q:Passage) ON (q.text, q.search_text)"),
            IndexPassages(),
        ),
    ),
    Migration(
        7,
        "the changes of a run of upkeep are found by an index",
        (
            _index("change_page", "(c:UpkeepChange) ON (c.page)"),
            _index("change_command", "(c:UpkeepChange) ON (c.command_id)"),
            _index("change_target", "(c:UpkeepChange) ON (c.target)"),
        ),
    ),
    Migration(
        8,
        "the notes of streams and contexts are found by indexes",
        (
            _index("stream_note_id", "(s:StreamNote) ON (s.id)"),
            _index("stream_note_at", "(s:StreamNote) ON (s.at)"),
            _index("context_note_memory", "(c:ContextNote) ON (c.memory_id)"),
            _index("context_note_command", "(c:ContextNote) ON (c.command_id)"),
        ),
    ),
    Migration(
        9,
        "likeness is answered by vector sets, which need not be built at every start, and feelings by an index",
        (
            MoveVectors(),
            _index("emotions", "(n:ConsciousnessNode) ON (n.emotions)"),
            _index("past_emotions", "(n:PastVersion) ON (n.emotions)"),
        ),
    ),
    Migration(
        10,
        "the commands of a graph are found in the order in which they were applied",
        (
            _index("receipt_created", "(n:Receipt) ON (n.created_at)"),
            _index("receipt_moved", "(n:Receipt) ON (n.moved_at)"),
        ),
    ),
    Migration(
        11,
        "what the feed tells beside commands is found in its order",
        (_index("event_created", "(e:Event) ON (e.created_at)"),),
    ),
)


async def migrate(graph: Graph, version: int) -> None:
    """Migrate a graph from schema `version` to the present one; does nothing when it has that already. Raises
    StoreMisfit when the graph was written by a newer release, else as `Graph.write`; the graph then has the
    version of the last completed migration."""
    if version > SCHEMA_VERSION:
        raise StoreMisfit(
            f"graph {graph.name} has schema version {version}, this Substrate knows {SCHEMA_VERSION}",
            remedy="Use the release of Substrate that wrote it, or a newer one.",
        )
    for migration in MIGRATIONS[version - 1 :]:
        for step in migration.steps:
            await _run(graph, step)
        await graph.write(SET_VERSION, number=migration.number)


async def _run(graph: Graph, step: Step) -> None:
    if isinstance(step, ChangeRecords):
        after = -1
        while rows := await graph.write(step.query, after=after, rows=ROWS, open=END_OF_TIME):
            after = rows[0][0]
        return
    if isinstance(step, MoveVectors):
        await _move_vectors(graph)
        return
    async with indexes.index_lock(graph.connection):
        if isinstance(step, Query):
            await indexes.create_index(graph, step)
        elif isinstance(step, IndexPassages):
            await _index_passages_in_use(graph)
        else:
            await indexes.create_unique(graph, step.label, step.column)
        await indexes.wait_operational(graph)


async def _index_passages_in_use(graph: Graph) -> None:
    [[_, _, dimension, _, generation, *_]] = await graph.read(READ_STAMP)
    if dimension:
        graph.connection.vectors.use(graph.name, generation=generation)
        await indexes.create_index(
            graph,
            Query(
                "vector_passagetrace_embedding",
                "CREATE VECTOR INDEX FOR (n:PassageTrace) ON (n.embedding) OPTIONS "
                f"{{dimension: {int(dimension)}, similarityFunction: 'cosine', "
                "M: 16, efConstruction: 200, efRuntime: 100}",
            ),
        )


async def _move_vectors(graph: Graph) -> None:
    """Drop the vector indexes. The sets are filled once the graph is open, and answer from then on."""
    [[_, _, _, _, generation, _, _, _, likeness, *_]] = await graph.read(READ_STAMP)
    if likeness == "sets" or not await vector_sets.are_supported(graph.connection):
        return
    graph.connection.vectors.use(graph.name, generation=generation)
    async with indexes.index_lock(graph.connection):
        for query in DROP_VECTORS:
            await indexes.drop_index(graph, query)
        await indexes.wait_operational(graph)
    await graph.write(SET_SETS)
