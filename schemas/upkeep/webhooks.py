"""Values of webhooks: where changes are sent, which, and what became of each sending."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from schemas.base import CitizenId, Frozen, Identifier, Name
from schemas.collectives import GraphRequest
from schemas.memory import Collective, InGraph, Level, Source
from schemas.upkeep.applied_changes import ChangeFilter


def check_url(text: str) -> str:
    """The address. Raises ValueError for one to which nothing can be sent."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("give an address such as https://example.org/hook")
    if parts.username is not None or parts.fragment or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("an address has no user, no fragment, no spaces, and ASCII alone")
    return text


class WebhookRequest(ChangeFilter):
    """Send each change of a graph to `url` from now on; optionally only some, as in the feed."""

    url: Annotated[str, Field(max_length=2000), AfterValidator(check_url)]


class Webhook(InGraph, Frozen):
    """A webhook. `next`: its place in the feed. `ended`: nothing is sent any more; `why` says why."""

    id: str
    url: str
    level: Level
    collective: Collective | None = None
    citizen_id: CitizenId | None = None
    commands: tuple[str, ...] = ()
    types: tuple[Name, ...] = ()
    sources: tuple[Source, ...] = ()
    author: str | None = None
    created_at: datetime
    status: Literal["on", "ended"] = "on"
    why: str | None = None
    next: str


class NewWebhook(Webhook):
    """A new webhook with its `secret`, which is shown only once: with it a receiver checks the signatures."""

    secret: str


class WebhooksAnswer(Frozen):
    """The webhooks of a graph, the oldest first."""

    webhooks: tuple[Webhook, ...] = ()


class Delivery(Frozen):
    """A message of a webhook: what became of it, and `answer`, the last status or why there was none.

    `id` is the header `webhook-id`, the same each time that it is sent. `waiting`: it is sent again at `next_at`;
    `dead`: not any more, unless you ask for it; `gone`: it came again later. `of`: the memory or link changed.
    """

    id: str
    webhook_id: str
    kind: Literal["change", "erased", "restored"]
    command_id: str | None = None
    command: str | None = None
    of: str | None = None
    cursor: str
    status: Literal["delivered", "waiting", "dead", "gone"]
    attempts: int = 0
    at: datetime
    next_at: datetime | None = None
    answer: str = ""


class DeliveriesRequest(GraphRequest):
    """Which messages to list, the newest first; without a `status` all that are kept."""

    status: Literal["delivered", "waiting", "dead", "gone"] | None = None


class DeliveriesAnswer(Frozen):
    """All messages that wait or are dead, and the last hundred others."""

    deliveries: tuple[Delivery, ...] = ()


class SendAgain(GraphRequest):
    """Send dead messages again, with five more tries: one, or all. A webhook that ended goes on."""

    delivery_id: Identifier | None = None
