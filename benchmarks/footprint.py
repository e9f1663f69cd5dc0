"""Memory of the engine per turn of a conversation: its record, its vector, its links NEXT and SAID_BY.

Use a long conversation: the vector index allocates blocks of 1,024, and an empty graph takes about one megabyte.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from benchmarks.synthetic import World
from orchestration.dependencies import Deps
from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.writing import command_rows
from schemas.commands import Relate, Remember
from schemas.memory import Level
from schemas.temporal import Instant
from substrate.graphs.names import graph_name
from substrate.store import writer

CITIZEN = "footprint"
FIRST = datetime(2025, 1, 1, tzinfo=UTC)


def conversation(turns: int) -> Episode:
    """Build a conversation of two speakers with texts of twenty words."""
    texts = World(nodes=turns, links=0).texts(turns, seed=5)
    utterances = tuple(
        Turn(f"D1:{place}", ("Ada", "Luca")[place % 2], text, FIRST + timedelta(minutes=place))
        for place, text in enumerate(texts)
    )
    return Episode(CITIZEN, CITIZEN, (Session("session_1", "session 1", FIRST, utterances),))


async def bytes_per_turn(turns: int, deps: Deps, now: Instant) -> float:
    """Return the bytes that the engine allocates per turn of a long conversation, without the empty graph."""
    graph = graph_name(Level.N1, CITIZEN)
    await deps.graphs.for_writing(graph, now)
    before = await _allocated(deps)
    vectors = iter(World(nodes=turns, links=0).vectors(turns + 8, 3, deps.embedder.dimension))
    nodes, links = [], []
    for command in conversation(turns).commands():
        if isinstance(command, Remember):
            row = command_rows.new_row(command, command.command_id or "", now)
            row["embedding"] = [round(float(number), 5) for number in next(vectors)]
            nodes.append(row)
        elif isinstance(command, Relate):
            links.append(command_rows.new_row(command, command.command_id or "", now))
    for start in range(0, len(nodes), writer.NODES_PER_STATEMENT):
        batch = writer.RowBatch(
            command_rows.without_receipts(nodes[start : start + writer.NODES_PER_STATEMENT]), now
        )
        await writer.remember(deps.graph(graph), batch)
    for start in range(0, len(links), writer.LINKS_PER_STATEMENT):
        batch = writer.RowBatch(
            command_rows.without_receipts(links[start : start + writer.LINKS_PER_STATEMENT]), now
        )
        await writer.relate(deps.graph(graph), batch)
    return (await _allocated(deps) - before) / turns


async def _allocated(deps: Deps) -> int:
    info = await deps.connection.command("INFO", "memory")
    return int(info["used_memory"])
