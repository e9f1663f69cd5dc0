"""Sends the messages of webhooks, as a consumer of the feed, and never to an address inside a network.

One service of all that share a store does so at a time. A message is stored as sent after it was sent, so a crash
sends it again, with the same `webhook-id`. Its text is read from the feed each time and kept nowhere.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import socket
import time
from base64 import b64decode, b64encode
from datetime import timedelta
from functools import cache, partial
from hashlib import blake2b
from ipaddress import IPv4Address, IPv6Address, ip_address
from operator import attrgetter
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import orjson

from orchestration.dependencies import Deps
from orchestration.features.webhooks import queries as store
from orchestration.transfer.following import FROM_NOW, list_changes
from schemas.errors import Conflict, NotFound, SubstrateError
from schemas.memory import graph_fields
from schemas.paging import decode_cursor, encode_cursor
from schemas.temporal import Instant, to_datetime
from schemas.upkeep.applied_changes import AppliedChange, ChangePage, ChangesRequest
from schemas.upkeep.webhooks import Delivery, Webhook
from substrate.graphs.graph import Graph
from substrate.store import api_keys
from substrate.store.applied import LAST_ID
from substrate.store.lease import digest
from substrate.store.stream_notes import read_erased_at

logger = logging.getLogger(__name__)

DISTANCES_S: Final = (5, 300, 1_800, 7_200, 18_000)
"""After a failure a message is sent again so much later: 5 s, 5 min, 30 min, 2 h, 5 h; then it is dead."""
ANSWERED_WITHIN_S: Final = 10.0
ROUND_S: Final = 15.0
"""A webhook sends so long in one round; others wait for the slowest."""
MOST_OPEN: Final = 1_000
"""With so many messages that wait a webhook reads no further in the feed; with so many dead ones it ends."""
TURN: Final = "substrate:webhooks:turn"
TURN_MS: Final = 60_000
_LEAVE: Final = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
GONE: Final = 410
authorities: Final = cache(partial(httpx.create_ssl_context, trust_env=False))
"""Made once: to read the certificates takes 25 ms, in which the service answers nobody."""


class NoAnswer(Exception):
    """Nothing was sent, or no answer came; the text says why."""


async def find_address(url: str, *, private: bool) -> str:
    """The address of the host of a URL, looked up once. Raises NoAnswer for one that is not public."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not private:
        raise NoAnswer("only https is allowed")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # the latter for a name that has an empty or too long part
        raise NoAnswer(f"no address for {parts.hostname}") from error
    for _, _, _, _, (address, *_) in found:
        if not private and not is_public(str(address)):
            raise NoAnswer(f"{parts.hostname} has a private address")
    return str(found[0][4][0])


def is_public(address: str) -> bool:
    """Whether an address is one of the public internet, also where IPv6 carries one of IPv4."""
    ip = ip_address(address.partition("%")[0])
    inner: IPv4Address | IPv6Address | None = None
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip.packed[:12] == bytes.fromhex("0064ff9b0000000000000000"):  # NAT64
            inner = ip_address(ip.packed[12:])
        elif inner is None and ip.packed[0] >> 5 != 1:  # the public internet has no others than 2000::/3
            return False
    return ip.is_global and not ip.is_multicast and (inner is None or is_public(str(inner)))


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers of a message by the Standard Webhooks specification."""
    key = b64decode(secret.removeprefix("whsec_"))
    signed = hmac.digest(key, f"{message_id}.{timestamp}.".encode() + body, "sha256")
    signature = f"v1,{b64encode(signed).decode()}"
    return {"webhook-id": message_id, "webhook-timestamp": str(timestamp), "webhook-signature": signature}


async def post(url: str, headers: dict[str, str], body: bytes, *, private: bool) -> int:
    """Send a message; the status of the answer. A redirect is not followed. Raises NoAnswer when none came."""
    try:
        async with (
            asyncio.timeout(ANSWERED_WITHIN_S),
            httpx.AsyncClient(verify=authorities(), timeout=None, trust_env=False) as http,
        ):
            parts, address = urlsplit(url), await find_address(url, private=private)
            request = http.build_request(
                "POST",
                httpx.URL(url).copy_with(host=address),  # the name may have another address a moment later
                headers={**headers, "Host": parts.netloc, "Content-Type": "application/json"},
                content=body,
                extensions={"sni_hostname": parts.hostname},
            )
            answer = await http.send(request, stream=True)
            await answer.aclose()
            return answer.status_code
    except TimeoutError as error:
        raise NoAnswer(f"no answer within {ANSWERED_WITHIN_S:.0f} s") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NoAnswer(type(error).__name__) from error


class Sender(NamedTuple):
    """Sends the messages of one webhook."""

    graph: Graph
    hook: Webhook
    secret: str
    deps: Deps
    erased_at: Instant

    def asks(self, after: str, limit: int) -> ChangesRequest:
        """What the webhook asks of the feed."""
        place = {**graph_fields(self.hook.graph_key), "citizen_id": self.hook.citizen_id}
        chosen = self.hook.model_dump(include={"commands", "types", "sources", "author"})
        return ChangesRequest.model_validate({**place, **chosen, "after": after, "limit": limit})

    async def attempt(self, one: Delivery, change: AppliedChange | None) -> Delivery:
        """Send a message once; what became of it."""
        now = to_datetime(await self.deps.connection.now())
        data = {} if change is None else change.model_dump(mode="json", exclude_none=True)
        body = orjson.dumps({"type": one.kind, "timestamp": now.isoformat(), "data": data})
        headers = sign(self.secret, one.id, int(now.timestamp()), body)
        try:
            status = await post(self.hook.url, headers, body, private=self.deps.private_webhooks)
            answer, is_sent = str(status), 200 <= status < 300
        except NoAnswer as error:
            status, answer, is_sent = 0, str(error), False
        tries = one.attempts + 1
        tried = {"attempts": tries, "at": now, "answer": answer, "next_at": None, "status": "delivered"}
        if not is_sent:
            is_last = status == GONE or tries > len(DISTANCES_S)
            later = None if is_last else now + timedelta(seconds=DISTANCES_S[tries - 1])
            tried |= {"status": "dead" if is_last else "waiting", "next_at": later}
        return one.model_copy(update=tried)

    async def again(self, one: Delivery) -> Delivery:
        """Send a message that waits; its text is read anew."""
        if one.kind != "change":
            return await self.attempt(one, None)
        epoch, erased_at, at, nth, _ = decode_cursor(one.cursor, int, int, int, int, str)
        before = encode_cursor(epoch, erased_at, at, nth - 1, LAST_ID)
        try:
            found = (await list_changes(self.asks(before, 1), self.deps)).changes
        except Conflict:
            found = ()
        if not found or found[0].command_id != one.command_id:
            return one.model_copy(update={"status": "gone", "next_at": None})
        return await self.attempt(one, found[0])

    async def round(self) -> None:
        """Send what is due, then what is new in the feed, for a while. What fails is sent again later."""
        hook, ends = self.hook, time.monotonic() + ROUND_S
        stored = await store.read_deliveries(self.graph, hook.id)
        now = to_datetime(await self.deps.connection.now())
        waiting = list(filter(lambda one: one.status == "waiting", reversed(stored)))
        for one in waiting:
            if one.next_at is not None and one.next_at <= now and time.monotonic() < ends:
                hook = await self.keep(hook, await self.again(one))
        dead = list(map(attrgetter("status"), stored)).count("dead")
        if dead >= MOST_OPEN:
            hook = hook.model_copy(update={"status": "ended", "why": f"{dead} messages are dead"})
            await store.save(self.graph, hook)
        if hook.status == "on" and len(waiting) < MOST_OPEN:
            await self.read_on(hook, ends)

    async def read_on(self, hook: Webhook, ends: float) -> None:
        """Send what is new in the feed, until a message fails or the round ends."""
        more = True
        while more and time.monotonic() < ends:
            messages, end, more = await self.read_new(hook)
            for one, change in messages:
                tried = await self.attempt(one, change)
                hook = await self.keep(hook.model_copy(update={"next": one.cursor}), tried)
                if tried.status != "delivered" or time.monotonic() > ends:
                    return
            if end != hook.next:
                hook = hook.model_copy(update={"next": end})
                await store.save(self.graph, hook)

    async def keep(self, hook: Webhook, tried: Delivery) -> Webhook:
        """Store what became of a message; the webhook then, which a 410 ends."""
        if tried.answer == str(GONE):
            hook = hook.model_copy(update={"status": "ended", "why": "the address answered 410"})
        await store.save(self.graph, hook, [tried], erased_at=self.erased_at)
        return hook

    async def read_new(self, hook: Webhook) -> tuple[list[tuple[Delivery, AppliedChange | None]], str, bool]:
        """The messages of the next page, the place behind it, and whether there are more."""
        try:
            page = await list_changes(self.asks(hook.next, 50), self.deps)
        except Conflict:
            page = await list_changes(self.asks(FROM_NOW, 1), self.deps)
            return [(self.message("restored", page.next, page), None)], page.next, False
        messages: list[tuple[Delivery, AppliedChange | None]] = []
        for change in page.changes:
            messages.append((self.message("change", change.cursor, page, change), change))
        if page.erased:
            messages.append((self.message("erased", page.next, page), None))
        return messages, page.next, page.more

    def message(self, kind: str, cursor: str, page: ChangePage, change: AppliedChange | None = None) -> Delivery:
        """A message that was not sent yet; its id is the same whenever it is made."""
        of = cursor if change is None else f"{page.epoch} {change.command_id} {change.part}"
        name = blake2b(f"{self.hook.id} {kind} {of}".encode(), digest_size=12).hexdigest()
        told = (
            {} if change is None else {"command_id": change.command_id, "command": change.command, "of": change.id}
        )
        made = {"id": f"msg_{name}", "webhook_id": self.hook.id, "kind": kind, "cursor": cursor, **told}
        return Delivery.model_validate({**made, "status": "waiting", "at": self.hook.created_at})


async def deliver(deps: Deps) -> None:
    """One round of all webhooks, where no other service does it now. Raises as reads and writes do."""
    digests = await deps.connection.command("SMEMBERS", store.GRAPHS)
    if not digests:
        return
    name = uuid4().hex
    if not await deps.connection.command("SET", TURN, name, "NX", "PX", TURN_MS):
        return
    try:
        rounds = []
        for graph in map(deps.graph, await deps.graphs.existing()):
            if digest(graph.name) in digests:
                rounds.append(send_of_graph(graph, deps))
        for error in filter(None, await asyncio.gather(*rounds, return_exceptions=True)):
            logger.error("the webhooks of a graph wait", exc_info=error)
    finally:
        await deps.connection.command("EVAL", _LEAVE, 1, TURN, name)


async def send_of_graph(graph: Graph, deps: Deps) -> None:
    """One round of the webhooks of a graph. What was read is not stored where something was erased since."""
    erased_at, rounds = await read_erased_at(graph), []
    for hook, secret, key_id in await store.read_hooks(graph):
        if hook.status == "on":
            rounds.append(send_messages(Sender(graph, hook, secret, deps, erased_at), key_id))
    await asyncio.gather(*rounds)


async def send_messages(sender: Sender, key_id: str | None) -> None:
    connection, hook = sender.deps.connection, sender.hook
    try:
        key = None if key_id is None else await api_keys.find(connection, key_id)
        now = to_datetime(await connection.now())
        if key is not None and (
            key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now)
        ):
            why = {"status": "ended", "why": f"the key {key_id} that made it is no longer valid"}
            await store.save(sender.graph, hook.model_copy(update=why))
            return
        await sender.round()
    except NotFound:
        return  # it is gone, or something was erased meanwhile: what was sent is looked at anew
    except SubstrateError as error:
        logger.warning("webhook %s waits: %s", hook.id, error.detail)
    except Exception:
        logger.exception("webhook %s waits", hook.id)
