"""A webhook sends each change, signed, again with growing distance, and never into a network."""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import pytest

from api.security.authentication import create_key, revoke_key
from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.features.webhooks import delivery
from orchestration.features.webhooks import queries as store
from orchestration.features.webhooks.delivery import NoAnswer, deliver, find_address, is_public, sign
from orchestration.features.webhooks.feature import (
    create_webhook,
    list_deliveries,
    list_webhooks,
    remove_webhook,
    send_again,
)
from orchestration.identifiers import ingestion_id
from orchestration.writing.erasure import erase
from schemas.collectives import GraphRequest
from schemas.commands import EraseCitizen, EraseEpisode, EraseMemory, Writer
from schemas.errors import InvalidRequest, NotFound
from schemas.keys import KeyRequest
from schemas.memory import Level
from schemas.upkeep.webhooks import (
    DeliveriesRequest,
    Delivery,
    NewWebhook,
    SendAgain,
    Webhook,
    WebhookRequest,
)
from substrate.backup.snapshot import begin_epochs
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.store.lease import digest
from tests.integration.store import NOW, relate, remember, stored
from tests.loopback import serving


class Receiver(ThreadingHTTPServer):
    """Keeps what it got; answers what `answers` says, the last of it for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        self.answers: list[int] = [204]
        self.seen: list[tuple[dict[str, str], bytes]] = []
        self.silent = False
        self.sends_to = ""
        super().__init__(("127.0.0.1", 0), Answering)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"

    def told(self) -> list[Any]:
        """The messages, without their ids and times."""
        return [(body["type"], body["data"].get("id")) for body in map(json.loads, [raw for _, raw in self.seen])]


class Answering(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append(({name.lower(): value for name, value in self.headers.items()}, body))
        if self.server.silent:
            time.sleep(1)
            return
        answers = self.server.answers
        self.send_response(answers.pop(0) if len(answers) > 1 else answers[0])
        if self.server.sends_to:
            self.send_header("Location", self.server.sends_to)
        self.end_headers()

    def do_GET(self) -> None:  # who follows a redirect would come like this
        self.server.seen.append(({}, b'{"type": "GET", "data": {}}'))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with serving(Receiver()) as server:
        yield server


@pytest.fixture
def deps(deps: Deps) -> Deps:
    """As where private addresses are allowed: the receivers are on loopback."""
    return replace(deps, private_webhooks=True)


async def hooked(deps: Deps, citizen: str, url: str, **fields: Any) -> NewWebhook:
    await stored(deps, remember(citizen, "first"))
    request = WebhookRequest.model_validate({"citizen_id": citizen, "url": url, **fields})
    return await create_webhook(request, deps, await deps.connection.now())


async def state(deps: Deps, citizen: str) -> Webhook:
    return (await list_webhooks(GraphRequest(citizen_id=citizen), deps)).webhooks[0]


async def log(deps: Deps, hook: Webhook, citizen: str, status: str | None = None) -> list[Delivery]:
    request = DeliveriesRequest.model_validate({"citizen_id": citizen, "status": status})
    return list((await list_deliveries(hook.id, request, deps)).deliveries)


async def make_due(deps: Deps, hook: Webhook, citizen: str) -> None:
    """As if its time had come."""
    graph = deps.graph(graph_name(Level.N1, citizen))
    waiting = await log(deps, hook, citizen, "waiting")
    now_due = [one.model_copy(update={"next_at": one.at - timedelta(days=1)}) for one in waiting]
    await store.save(graph, await state(deps, citizen), now_due)


async def test_each_change_is_sent_once_signed_by_the_convention(
    deps: Deps, fresh_citizen: str, receiver: Receiver
) -> None:
    hook = await hooked(deps, fresh_citizen, receiver.url)
    await stored(deps, remember(fresh_citizen, "a"), remember(fresh_citizen, "b"))
    for _ in range(2):
        await deliver(deps)
    assert receiver.told() == [("change", "a"), ("change", "b")]
    for headers, body in receiver.seen:
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        key = b64decode(hook.secret.removeprefix("whsec_"))
        due = b64encode(hmac.new(key, signed, "sha256").digest()).decode()
        assert headers["webhook-signature"] == f"v1,{due}"
        assert abs(int(headers["webhook-timestamp"]) - time.time()) < 300
        assert headers["host"] == receiver.url.split("/")[2]
    assert [one.status for one in await log(deps, hook, fresh_citizen)] == ["delivered"] * 2
    assert hook.secret not in str(await list_webhooks(GraphRequest(citizen_id=fresh_citizen), deps))


def test_the_signature_is_that_of_the_specification() -> None:
    secret, message = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
    headers = sign(secret, message, 1614265330, b'{"test": 2432232314}')
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


async def test_a_failure_is_sent_again_after_5_s_5_min_30_min_2_h_5_h_and_then_it_is_dead(
    deps: Deps, fresh_citizen: str, receiver: Receiver
) -> None:
    receiver.answers = [500]
    hook = await hooked(deps, fresh_citizen, receiver.url)
    await stored(deps, remember(fresh_citizen, "a"))
    distances = []
    for _ in range(5):
        await deliver(deps)
        await deliver(deps)  # it is not due: nothing is sent
        [one] = await log(deps, hook, fresh_citizen, "waiting")
        assert one.next_at is not None
        distances.append((one.next_at - one.at).total_seconds())
        await make_due(deps, hook, fresh_citizen)
    await deliver(deps)
    assert distances == [5, 300, 1800, 7200, 18000]
    [dead] = await log(deps, hook, fresh_citizen, "dead")
    assert (dead.attempts, dead.answer, len(receiver.seen)) == (6, "500", 6)
    assert {headers["webhook-id"] for headers, _ in receiver.seen} == {dead.id}
    receiver.answers = [200]
    await stored(deps, remember(fresh_citizen, "b"))
    await deliver(deps)  # what comes later does not wait for it
    assert receiver.told()[-1] == ("change", "b")
    await send_again(hook.id, SendAgain(citizen_id=fresh_citizen, delivery_id=dead.id), deps, NOW)
    await deliver(deps)
    assert receiver.told()[-1] == ("change", "a")
    assert not await log(deps, hook, fresh_citizen, "dead")
    with pytest.raises(NotFound):
        await send_again(hook.id, SendAgain(citizen_id=fresh_citizen, delivery_id=dead.id), deps, NOW)


async def test_a_redirect_to_a_private_address_is_not_followed(
    deps: Deps, fresh_citizen: str, receiver: Receiver
) -> None:
    receiver.answers, receiver.sends_to = [302], f"{receiver.url}/inside"
    hook = await hooked(deps, fresh_citizen, receiver.url)
    await stored(deps, remember(fresh_citizen, "a"))
    await deliver(deps)
    [one] = await log(deps, hook, fresh_citizen, "waiting")
    assert (one.answer, receiver.told()) == ("302", [("change", "a")])


async def test_an_address_that_answers_410_ends_the_webhook(
    deps: Deps, fresh_citizen: str, receiver: Receiver
) -> None:
    receiver.answers = [410]
    hook = await hooked(deps, fresh_citizen, receiver.url)
    await stored(deps, remember(fresh_citizen, "a"), remember(fresh_citizen, "b"))
    for _ in range(2):
        await deliver(deps)
    assert len(receiver.seen) == 1
    ended = await state(deps, fresh_citizen)
    assert (ended.status, ended.why) == ("ended", "the address answered 410")
    receiver.answers = [204]
    await send_again(hook.id, SendAgain(citizen_id=fresh_citizen), deps, NOW)
    await deliver(deps)
    assert receiver.told() == [("change", "a"), ("change", "a"), ("change", "b")]


async def test_an_address_that_never_answers_waits(
    deps: Deps, fresh_citizen: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "ANSWERED_WITHIN_S", 0.3)
    receiver.silent = True
    hook = await hooked(deps, fresh_citizen, receiver.url)
    await stored(deps, remember(fresh_citizen, "a"), remember(fresh_citizen, "b"))
    await deliver(deps)
    [one] = await log(deps, hook, fresh_citizen)
    assert (one.status, one.answer) == ("waiting", "no answer within 0 s")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::",
     "64:ff9b:1::a00:1", "::7f00:1", "::ffff:0:a00:1", "fec0::1"],
)  # fmt: skip
def test_addresses_inside_a_network_are_not_public(address: str) -> None:
    assert not is_public(address)


def test_addresses_of_the_internet_are_public() -> None:
    assert all(map(is_public, ("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e")))


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/x",
        "https://localhost/x",
        "https://[::1]/x",
        "http://example.org/x",
        "https://2130706433/",
        "https://a..b/",
        f"https://{64 * 'a'}.org/",
    ],
)
async def test_private_addresses_and_plain_http_are_refused_unless_allowed(url: str) -> None:
    with pytest.raises(NoAnswer):
        await find_address(url, private=False)


@pytest.mark.parametrize(
    "url",
    ["", "x", "ftp://a/b", "https://", "https://user:word@example.org/", "https://example.org/#x", "https://a b/",
     "https://example.org:0/", "https://exämple.org/", "file:///etc/passwd"],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        WebhookRequest(citizen_id="ada", url=url)


async def test_a_name_that_has_another_address_later_is_looked_up_once_and_refused(
    deps: Deps, fresh_citizen: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Public when it was made, private when something is to be sent; what was looked up is what is connected."""
    loop_type = type(asyncio.get_running_loop())
    asked: list[str] = []

    async def look_up(_loop: object, host: str, port: int, **_: object) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(loop_type, "getaddrinfo", look_up)
    url = f"http://changes.example:{receiver.server_port}/hook"
    hook = await hooked(deps, fresh_citizen, url.replace("http:", "https:"))
    await stored(deps, remember(fresh_citizen, "a"))
    await deliver(replace(deps, private_webhooks=False))
    [one] = await log(deps, hook, fresh_citizen)
    assert (one.answer, receiver.seen) == ("changes.example has a private address", [])
    assert await delivery.post(url, {}, b"{}", private=True) == 204
    assert asked == ["changes.example"] * 3
    assert receiver.seen[0][0]["host"] == f"changes.example:{receiver.server_port}"


async def test_only_what_was_chosen_is_sent_and_an_unknown_kind_is_refused(
    deps: Deps, fresh_citizen: str, receiver: Receiver
) -> None:
    await hooked(deps, fresh_citizen, receiver.url, types=("Decision",))
    await stored(deps, remember(fresh_citizen, "a"), remember(fresh_citizen, "b", node_type="Decision"))
    await deliver(deps)
    assert receiver.told() == [("change", "b")]
    with pytest.raises(InvalidRequest):
        await hooked(deps, fresh_citizen, receiver.url, commands=("nothing",))


async def test_what_was_erased_is_not_sent_again_and_leaves_no_text(
    deps: Deps, fresh_citizen: str, receiver: Receiver
) -> None:
    receiver.answers = [500]
    hook = await hooked(deps, fresh_citizen, receiver.url)
    await stored(deps, remember(fresh_citizen, "secret", name="The green door"))
    await deliver(deps)
    order = EraseMemory(citizen_id=fresh_citizen, id="secret", command_id=uuid4().hex)
    await erase(order, deps, await deps.connection.now(), deps.directory)
    await make_due(deps, hook, fresh_citizen)
    receiver.answers, receiver.seen = [204], []
    await deliver(deps)
    assert receiver.told() == [("erased", None)]
    messages = await log(deps, hook, fresh_citizen)
    assert [one.kind for one in messages] == ["erased"]
    assert not any(word in str(messages) for word in ("green door", "'secret'"))


async def test_an_erasure_takes_the_messages_about_links_of_the_memory_along(
    deps: Deps, fresh_citizen: str, receiver: Receiver
) -> None:
    hook = await hooked(deps, fresh_citizen, receiver.url)
    await stored(deps, remember(fresh_citizen, "ben"), remember(fresh_citizen, "secret"))
    await stored(deps, relate(fresh_citizen, "ben", "secret", id="whom ben loves"))
    await deliver(deps)
    assert "whom ben loves" in [one.of for one in await log(deps, hook, fresh_citizen)]
    order = EraseMemory(citizen_id=fresh_citizen, id="secret", command_id=uuid4().hex)
    await erase(order, deps, await deps.connection.now(), deps.directory)
    assert [one.of for one in await log(deps, hook, fresh_citizen)] == ["ben"]


async def test_an_erasure_takes_the_message_about_a_conversation_along(
    deps: Deps, fresh_citizen: str, receiver: Receiver
) -> None:
    hook = await hooked(deps, fresh_citizen, receiver.url)
    talk = ingestion_id("talk")
    turn = remember(fresh_citizen, "t0", command_id=talk, episode_id="talk", source="ingestion")
    await insertion.apply([turn], deps, NOW, whole=talk)
    await deliver(deps)
    assert [one.command_id for one in await log(deps, hook, fresh_citizen)] == [talk]
    order = EraseEpisode(citizen_id=fresh_citizen, episode_id="talk", command_id=uuid4().hex)
    await erase(order, deps, await deps.connection.now(), deps.directory)
    assert await log(deps, hook, fresh_citizen) == []


@pytest.mark.parametrize("kind", [EraseMemory, EraseCitizen])
async def test_what_is_erased_while_a_message_is_sent_leaves_nothing(
    deps: Deps, fresh_citizen: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, kind: type[Any]
) -> None:
    """The answer comes after the erasure: nothing of the memory is stored anew, and no graph is made again."""
    hook = await hooked(deps, fresh_citizen, receiver.url)
    await stored(deps, remember(fresh_citizen, "secret"), remember(fresh_citizen, "later"))
    fields = {"id": "secret"} if kind is EraseMemory else {}
    post = delivery.post

    async def erase_and_post(url: str, headers: dict[str, str], body: bytes, *, private: bool) -> int:
        order = kind(citizen_id=fresh_citizen, command_id=uuid4().hex, **fields)
        await erase(order, deps, await deps.connection.now(), deps.directory)
        return await post(url, headers, body, private=private)

    monkeypatch.setattr(delivery, "post", erase_and_post)
    await deliver(deps)
    monkeypatch.setattr(delivery, "post", post)
    await deliver(deps)
    if kind is EraseCitizen:
        assert graph_name(Level.N1, fresh_citizen) not in await deps.graphs.existing_or_parked()
        assert receiver.told() == [("change", "secret")]
    else:
        assert receiver.told() == [("change", "secret"), ("change", "later"), ("erased", None)]
        assert [one.of for one in await log(deps, hook, fresh_citizen)] == [None, "later"]


async def test_a_webhook_that_cannot_be_read_stops_no_other(
    deps: Deps, fresh_citizen: str, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    other = f"{fresh_citizen}a"
    await hooked(deps, other, receiver.url)
    await hooked(deps, fresh_citizen, receiver.url)
    graph = deps.graph(graph_name(Level.N1, other))
    change = Query("webhook_of_a_later_release", "MATCH (w:Webhook) SET w.data = '{\"of\": 2}' RETURN w.id")
    await graph.write(change)
    await stored(deps, remember(fresh_citizen, "a"))
    await deliver(deps)
    await graph.write(Query("remove_webhooks", "MATCH (w:Webhook) DELETE w RETURN 1"))
    assert receiver.told() == [("change", "a")]
    assert "wait" in caplog.text
    caplog.clear()


async def test_a_graph_without_webhooks_is_not_looked_at_any_more(
    deps: Deps, fresh_citizen: str, receiver: Receiver
) -> None:
    first = await hooked(deps, fresh_citizen, receiver.url)
    second = await hooked(deps, fresh_citizen, receiver.url)
    looked_at = []
    for hook in (first, second):
        await remove_webhook(hook.id, GraphRequest(citizen_id=fresh_citizen), deps)
        digests = await deps.connection.command("SMEMBERS", store.GRAPHS)
        looked_at.append(digest(graph_name(Level.N1, fresh_citizen)) in digests)
    assert looked_at == [True, False]


async def test_a_restored_graph_says_so_and_the_webhook_goes_on(
    deps: Deps, fresh_citizen: str, receiver: Receiver
) -> None:
    await hooked(deps, fresh_citizen, receiver.url)
    await begin_epochs(deps.connection)  # as a restore does
    await deliver(deps)
    await stored(deps, remember(fresh_citizen, "later"))
    await deliver(deps)
    assert receiver.told() == [("restored", None), ("change", "later")]


async def test_a_webhook_ends_with_its_key_and_with_its_removal(
    deps: Deps, fresh_citizen: str, receiver: Receiver
) -> None:
    now = await deps.connection.now()
    key = await create_key(deps.connection, KeyRequest(name="k", scopes=(f"citizen:{fresh_citizen}:read",)), now)
    await stored(deps, remember(fresh_citizen, "first"))
    request = WebhookRequest(citizen_id=fresh_citizen, url=receiver.url)
    hook = await create_webhook(request, deps, now, Writer(key.id))
    await revoke_key(deps.connection, key.id, now)
    await stored(deps, remember(fresh_citizen, "a"))
    await deliver(deps)
    ended = await state(deps, fresh_citizen)
    assert (ended.status, receiver.seen) == ("ended", [])
    await remove_webhook(hook.id, GraphRequest(citizen_id=fresh_citizen), deps)
    with pytest.raises(NotFound):
        await log(deps, hook, fresh_citizen)
