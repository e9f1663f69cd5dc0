"""Reads and writes the webhooks of a graph and what became of their messages: ids and answers, no texts.

A set beside the graphs holds digests of the graphs that have one, so that looking for work is one small read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

from schemas.errors import NotFound
from schemas.temporal import Instant
from schemas.upkeep.webhooks import Delivery, Webhook
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.applied import read_state
from substrate.store.lease import digest
from substrate.store.reader import receipts

GRAPHS: Final = "substrate:webhooks:graphs"
LOGGED: Final = 100
"""So many messages of a webhook that neither wait nor are dead are kept."""

HOOKS: Final = Query("webhooks", "MATCH (w:Webhook) RETURN w.data, w.secret, w.key_id ORDER BY w.made")
WRITE_HOOK: Final = Query(
    "write_webhook",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) WITH m LIMIT 1 MERGE (w:Webhook {id: $id}) "
    "ON CREATE SET w.made = $made, w.secret = $secret, w.key_id = $key SET w.data = $data RETURN w.id",
)
SAVE: Final = Query(
    "save_deliveries",
    "MATCH (w:Webhook {id: $id}) SET w.data = $data WITH w LIMIT 1 UNWIND $rows AS row "
    "MERGE (d:Delivery {id: row.id}) SET d.webhook = $id, d.status = row.status, d.at = row.at, "
    "d.of = row.of, d.command = row.command, d.data = row.data RETURN count(d)",
)
DELIVERIES: Final = Query(
    "deliveries", "MATCH (d:Delivery) WHERE d.webhook = $id RETURN d.data ORDER BY d.at DESC, d.id"
)
TRIM: Final = Query(
    "trim_deliveries",
    "MATCH (d:Delivery) WHERE d.webhook = $id AND d.status IN ['delivered', 'gone'] "
    "WITH d ORDER BY d.at DESC SKIP $keep DELETE d RETURN count(d)",
)
COMMANDS: Final = Query(
    "delivered_commands",
    "MATCH (d:Delivery) WHERE NOT d.command STARTS WITH 'event-' RETURN DISTINCT d.command",
)
FORGET: Final = Query(
    "forget_deliveries",
    "MATCH (d:Delivery) WHERE d.of IN $ids OR d.command IN $commands DELETE d RETURN count(d)",
)
REMOVE: Final = Query(
    "remove_webhook",
    "MATCH (w:Webhook {id: $id}) WITH w LIMIT 1 OPTIONAL MATCH (d:Delivery) WHERE d.webhook = $id "
    "WITH w, collect(d) AS those FOREACH (d IN those | DELETE d) DELETE w RETURN size(those)",
)


async def read_hooks(graph: Graph) -> list[tuple[Webhook, str, str | None]]:
    """The webhooks of a graph, each with its secret and the id of the key that made it."""
    rows = await graph.read_existing(HOOKS)
    return [(Webhook.model_validate_json(data), secret, key) for data, secret, key in rows]


async def write_hook(graph: Graph, hook: Webhook, secret: str, key_id: str | None) -> None:
    """Store a new webhook."""
    made = int(hook.created_at.timestamp() * 1_000_000)
    values = {"id": hook.id, "made": made, "secret": secret, "key": key_id, "data": hook.model_dump_json()}
    await graph.write(WRITE_HOOK, **values)
    await graph.connection.command("SADD", GRAPHS, digest(graph.name))


async def save(
    graph: Graph, hook: Webhook, deliveries: Sequence[Delivery] = (), *, erased_at: Instant | None = None
) -> None:
    """Store where a webhook stands, and what became of some messages.

    Raises NotFound when the graph is gone, which a write would make anew, or more was erased than at `erased_at`.
    """
    state = await read_state(graph)
    if state is None or erased_at not in (None, state.erased_at):
        raise NotFound("it was erased meanwhile")
    rows = []
    for one in deliveries:
        at = int(one.at.timestamp() * 1_000_000)
        said = {"status": one.status, "of": one.of, "command": one.command_id, "at": at}
        rows.append({"id": one.id, **said, "data": one.model_dump_json()})
    await graph.write(SAVE, id=hook.id, data=hook.model_dump_json(), rows=rows)
    if rows:
        await graph.write(TRIM, id=hook.id, keep=LOGGED)


async def read_deliveries(graph: Graph, webhook_id: str) -> list[Delivery]:
    """What became of its messages, the newest first."""
    return [Delivery.model_validate_json(data) for [data] in await graph.read_existing(DELIVERIES, id=webhook_id)]


async def forget_messages(graph: Graph, ids: Sequence[str]) -> None:
    """Take the messages about these memories out, and those of commands whose receipts are erased: on links that
    went with the memories, and of conversations."""
    commands = list(chain.from_iterable(await graph.read_existing(COMMANDS)))
    erased = list(set(commands).difference(await receipts(graph, commands))) if commands else []
    await graph.write(FORGET, ids=list(ids), commands=erased)


async def remove_hook(graph: Graph, webhook_id: str) -> bool:
    """Remove a webhook with its messages; False when there is none."""
    removed = bool(await graph.write(REMOVE, id=webhook_id))
    if not await read_hooks(graph):
        await graph.connection.command("SREM", GRAPHS, digest(graph.name))
        if await read_hooks(graph):  # another was made at this moment
            await graph.connection.command("SADD", GRAPHS, digest(graph.name))
    return removed
