"""Makes, lists and removes the webhooks of a graph, and sends dead messages again. `delivery` sends them."""

from __future__ import annotations

import secrets
from base64 import b64encode
from operator import itemgetter
from typing import Final
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.webhooks import queries as store
from orchestration.features.webhooks.delivery import NoAnswer, deliver, find_address
from orchestration.transfer.following import FROM_NOW, list_changes
from schemas.base import Identifier
from schemas.collectives import GraphRequest
from schemas.commands import Writer
from schemas.errors import Conflict, InvalidRequest, NotFound
from schemas.operation import Method, Operation, graph_may, group
from schemas.temporal import Instant, to_datetime
from schemas.upkeep import webhooks as values
from schemas.upkeep.applied_changes import ChangesRequest
from substrate.graphs.graph import Graph
from substrate.store.kept import Kept

NOBODY: Final = Writer()
MOST: Final = 20
"""So many webhooks a graph may have."""


async def create_webhook(
    request: values.WebhookRequest, deps: Deps, now: Instant, writer: Writer = NOBODY
) -> values.NewWebhook:
    """Send each change of a graph to an address from now on. The secret is shown only once.

    Raises NotFound for a graph that is not there, InvalidRequest for an unknown command or an address to which
    nothing may be sent, Conflict for too many.
    """
    try:
        await find_address(request.url, private=deps.private_webhooks)
    except NoAnswer as error:
        remedy = "Give a public https address, or have the operator set SUBSTRATE_WEBHOOKS_PRIVATE=true."
        raise InvalidRequest(f"url: {error}", remedy=remedy) from error
    graph = await deps.existing_graph(request.graph_key, request.citizen_id)
    asked = ChangesRequest(**request.model_dump(exclude={"url"}), after=FROM_NOW)
    begins = (await list_changes(asked, deps)).next
    if len(await store.read_hooks(graph)) >= MOST:
        raise Conflict(f"the graph has {MOST} webhooks", remedy="Remove one first.")
    secret = f"whsec_{b64encode(secrets.token_bytes(32)).decode()}"
    hook = values.Webhook(
        **request.model_dump(), id=f"hook-{uuid4().hex[:12]}", created_at=to_datetime(now), next=begins
    )
    await store.write_hook(graph, hook, secret, writer.key_id)
    return values.NewWebhook(**hook.model_dump(), secret=secret)


async def list_webhooks(request: GraphRequest, deps: Deps) -> values.WebhooksAnswer:
    """The webhooks of a graph, without their secrets."""
    graph = await deps.graph_if_any(request.graph_key, request.citizen_id)
    stored = [] if graph is None else await store.read_hooks(graph)
    return values.WebhooksAnswer(webhooks=tuple(map(itemgetter(0), stored)))


async def remove_webhook(webhook_id: Identifier, request: GraphRequest, deps: Deps) -> values.Webhook:
    """Remove a webhook: nothing is sent any more.

    Raises NotFound for an unknown one.
    """
    graph, hook = await find_webhook(webhook_id, request, deps)
    await store.remove_hook(graph, webhook_id)
    return hook


async def list_deliveries(
    webhook_id: Identifier, request: values.DeliveriesRequest, deps: Deps
) -> values.DeliveriesAnswer:
    """What became of the messages of a webhook, the newest first; with `status: dead` its dead letters.

    Raises NotFound for an unknown one.
    """
    graph, _ = await find_webhook(webhook_id, request, deps)
    found = await store.read_deliveries(graph, webhook_id)
    return values.DeliveriesAnswer(
        deliveries=tuple(filter(lambda one: request.status in (None, one.status), found))
    )


async def send_again(
    webhook_id: Identifier, request: values.SendAgain, deps: Deps, now: Instant
) -> values.DeliveriesAnswer:
    """Send dead messages again, one or all, at once and with five more tries. A webhook that ended goes on.

    Raises NotFound for an unknown webhook, and for a message that is not dead.
    """
    graph, hook = await find_webhook(webhook_id, request, deps)
    again = {"status": "waiting", "attempts": 0, "next_at": to_datetime(now)}
    chosen = []
    for one in await store.read_deliveries(graph, webhook_id):
        if one.status == "dead" and request.delivery_id in (None, one.id):
            chosen.append(one.model_copy(update=again))
    if not chosen and request.delivery_id is not None:
        raise NotFound(f"{webhook_id} has no dead message {request.delivery_id}")
    await store.save(graph, hook.model_copy(update={"status": "on", "why": None}), chosen)
    return values.DeliveriesAnswer(deliveries=tuple(chosen))


async def find_webhook(webhook_id: str, request: GraphRequest, deps: Deps) -> tuple[Graph, values.Webhook]:
    graph = await deps.existing_graph(request.graph_key, request.citizen_id)
    for hook, _, _ in await store.read_hooks(graph):
        if hook.id == webhook_id:
            return graph, hook
    raise NotFound(f"there is no webhook {webhook_id} here")


READS: Final = graph_may("read")
WRITES: Final = graph_may("write")
OPERATIONS: Final = group(
    "feed",
    Operation("create_webhook", "POST /v1/webhooks", "Send changes to an address", WRITES, create_webhook,
              status=201, call=Method(once=True)),
    Operation("list_webhooks", "GET /v1/webhooks", "List the webhooks of a graph", READS, list_webhooks),
    Operation("remove_webhook", "DELETE /v1/webhooks/{webhook_id}", "Remove a webhook", WRITES, remove_webhook,
              call=Method(once=True)),
    Operation("list_deliveries", "GET /v1/webhooks/{webhook_id}/deliveries", "List the messages of a webhook",
              READS, list_deliveries),
    Operation("send_again", "POST /v1/webhooks/{webhook_id}/deliveries", "Send dead messages again",
              WRITES, send_again),
)  # fmt: skip
FEATURE: Final = Feature(
    "webhooks",
    operations=OPERATIONS,
    work=deliver,
    kept=(
        Kept("Webhook", why="has what its owner named, and a secret"),
        Kept("Delivery", forget=store.forget_messages),
    ),
)
