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

INDEX_RECEIPT: Final = Query("index_receipt", "CREATE INDEX FOR (n:Receipt) ON (n.command_id)")
INDEX_PAST_LINK: Final = Query("index_past_link", "CREATE INDEX FOR ()-[e:PAST_LINK]-() ON (e.handle)")
INDEX_TEXT: Final = Query("index_text", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.text_key)")
INDEX_STATE: Final = Query("index_state", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.resolution_state)")
INDEX_PAST_STATE: Final = Query("index_past_state", "CREATE INDEX FOR (n:PastVersion) ON (n.resolution_state)")

INDEX_RULE: Final = Query("index_rule", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.rule)")
INDEX_PAST_RULE: Final = Query("index_past_rule", "CREATE INDEX FOR (n:PastVersion) ON (n.rule)")


def _known(name: str) -> str:
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


INDEX_STATE_VERSION: Final = Query("index_state_version", "CREATE INDEX FOR (s:PastState) ON (s.version)")
INDEX_STATE_BEGUN: Final = Query("index_state_begun", "CREATE INDEX FOR (s:PastState) ON (s.valid_at)")
INDEX_STATE_CELL: Final = Query("index_state_cell", "CREATE INDEX FOR (s:PastState) ON (s.cell)")
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
CLOCK_OF_MEMORIES: Final = _clock("clock_of_memories", "ConsciousnessNode", "", _known("n"))
CLOCK_OF_VERSIONS: Final = _clock("clock_of_versions", "PastVersion", "", _known("n"))
CLOCK_OF_LINKS: Final = _clock(
    "clock_of_links", "ConsciousnessNode", "OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->() ", _known("e")
)
"""Each sets the clock of the graph to at least the last change of its records."""

INDEX_BEGUN: Final = Query("index_node_begun", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.valid_at)")
INDEX_PAST_BEGUN: Final = Query("index_past_begun", "CREATE INDEX FOR (n:PastVersion) ON (n.valid_at)")


INDEX_PASSAGE_MEMORY: Final = Query("index_passage_memory", "CREATE INDEX FOR (q:Passage) ON (q.memory_id)")
INDEX_PASSAGE_HANDLE: Final = Query("index_passage_handle", "CREATE INDEX FOR (q:Passage) ON (q.handle)")
FULLTEXT_PASSAGE: Final = Query(
    "fulltext_passage", "CREATE FULLTEXT INDEX FOR (q:Passage) ON (q.text, q.search_text)"
)

INDEX_CHANGE_PAGE: Final = Query("index_change_page", "CREATE INDEX FOR (c:UpkeepChange) ON (c.page)")
INDEX_CHANGE_COMMAND: Final = Query("index_change_command", "CREATE INDEX FOR (c:UpkeepChange) ON (c.command_id)")
INDEX_CHANGE_TARGET: Final = Query("index_change_target", "CREATE INDEX FOR (c:UpkeepChange) ON (c.target)")

INDEX_NOTE_ID: Final = Query("index_stream_note_id", "CREATE INDEX FOR (s:StreamNote) ON (s.id)")
INDEX_NOTE_AT: Final = Query("index_stream_note_at", "CREATE INDEX FOR (s:StreamNote) ON (s.at)")
INDEX_CONTEXT_MEMORY: Final = Query(
    "index_context_note_memory", "CREATE INDEX FOR (c:ContextNote) ON (c.memory_id)"
)
INDEX_CONTEXT_COMMAND: Final = Query(
    "index_context_note_command", "CREATE INDEX FOR (c:ContextNote) ON (c.command_id)"
)


INDEX_EMOTIONS: Final = Query("index_emotions", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.emotions)")
INDEX_PAST_EMOTIONS: Final = Query("index_past_emotions", "CREATE INDEX FOR (n:PastVersion) ON (n.emotions)")
SET_SETS: Final = Query(
    "set_sets", "MATCH (m:SubstrateMeta {key: 'stamp'}) SET m.likeness = 'sets' RETURN m.likeness"
)


DROP_VECTORS: Final = tuple(
    Query(f"drop_vector_{label.lower()}_{column}", f"DROP VECTOR INDEX FOR (n:{label}) ON (n.{column})")
    for label in ("Trace", "PastTrace", "PassageTrace", "OtherTrace", "OtherPastTrace", "OtherPassageTrace")
    for column in ("emotion", "embedding")
)
"""The engine builds an index with two columns anew when one is dropped; the second drop ends that at once."""


class CreateIndex(NamedTuple):
    query: Query


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


type Step = CreateIndex | CreateUnique | IndexPassages | MoveVectors | ChangeRecords


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
            CreateIndex(INDEX_TEXT),
            CreateIndex(INDEX_STATE),
            CreateIndex(INDEX_PAST_STATE),
            CreateIndex(INDEX_RECEIPT),
            CreateUnique("Receipt", "command_id"),
            CreateIndex(INDEX_PAST_LINK),
            ChangeRecords(CLOCK_OF_MEMORIES),
            ChangeRecords(CLOCK_OF_VERSIONS),
            ChangeRecords(CLOCK_OF_LINKS),
        ),
    ),
    Migration(
        3,
        "a citizen's state is a record, and its past ones are kept",
        (
            CreateIndex(INDEX_STATE_VERSION),
            CreateIndex(INDEX_STATE_BEGUN),
            CreateIndex(INDEX_STATE_CELL),
            ChangeRecords(FIRST_STATE),
        ),
    ),
    Migration(
        4,
        "what began in a period is found by an index",
        (CreateIndex(INDEX_BEGUN), CreateIndex(INDEX_PAST_BEGUN)),
    ),
    Migration(
        5, "standing instructions are found by an index", (CreateIndex(INDEX_RULE), CreateIndex(INDEX_PAST_RULE))
    ),
    Migration(
        6,
        "a long text is searched in passages",
        (
            CreateIndex(INDEX_PASSAGE_MEMORY),
            CreateIndex(INDEX_PASSAGE_HANDLE),
            CreateIndex(FULLTEXT_PASSAGE),
            IndexPassages(),
        ),
    ),
    Migration(
        7,
        "the changes of a run of upkeep are found by an index",
        (CreateIndex(INDEX_CHANGE_PAGE), CreateIndex(INDEX_CHANGE_COMMAND), CreateIndex(INDEX_CHANGE_TARGET)),
    ),
    Migration(
        8,
        "the notes of streams and contexts are found by indexes",
        (
            CreateIndex(INDEX_NOTE_ID),
            CreateIndex(INDEX_NOTE_AT),
            CreateIndex(INDEX_CONTEXT_MEMORY),
            CreateIndex(INDEX_CONTEXT_COMMAND),
        ),
    ),
    Migration(
        9,
        "likeness is answered by vector sets, which need not be built at every start, and feelings by an index",
        (MoveVectors(), CreateIndex(INDEX_EMOTIONS), CreateIndex(INDEX_PAST_EMOTIONS)),
    ),
)


async def migrate(graph: Graph, version: int) -> None:
    """Migrate a graph from schema `version` to the present one; does nothing when it has that already.

    Raises StoreMisfit when the graph was written by a newer release, else as `Graph.write`; the graph then has the
    version of the last completed migration.
    """
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
        if isinstance(step, CreateIndex):
            await indexes.create_index(graph, step.query)
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
