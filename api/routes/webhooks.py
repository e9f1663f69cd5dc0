"""Webhooks: the door makes them, because the settings say which addresses are allowed."""

from __future__ import annotations

from typing import Final

from api.dependencies import Now, OpenRuntime
from api.runtime.webhooks import check_address
from api.security.permissions import CurrentCaller
from orchestration.features.webhooks.feature import create_webhook
from orchestration.features.webhooks.values import NewWebhook, WebhookRequest
from schemas.operation import Method, Operation, graph_may, group


async def create(request: WebhookRequest, runtime: OpenRuntime, now: Now, caller: CurrentCaller) -> NewWebhook:
    """Send each change of a graph to an address from now on. The secret is shown only once.

    It follows what the key may read, and ends with the key.
    """
    await check_address(request.url, private=runtime.settings.server.webhooks_private)
    return await create_webhook(request, runtime.deps, now, key_id=caller.principal.key_id)


OPERATIONS: Final = group(
    "feed",
    Operation("create_webhook", "POST /v1/webhooks", "Send changes to an address", graph_may("read"), create,
              status=201, call=Method(once=True)),
)  # fmt: skip
