"""Writers over REST that record which commands were acknowledged, and clear up those without an answer."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

KINDS: Final = ("remember", "batch", "supersede", "supersede", "link", "atomic")
BATCH: Final = 5
UNANSWERED_PAUSE_S: Final = 0.2
UNANSWERED_PAUSE_AT_MOST_S: Final = 1.6
SETTLING_PAUSE_S: Final = 0.05
SETTLING_TRIES: Final = 400
LETTERS: Final = "bcdfghklmnprstvz"
_FELT: Final = {"energy": 0.5, "confidence": 0.5, "emotion_vector": {"joy": 0.5}, "goal": "g", "mindstate": "m"}
type Body = dict[str, Any]


@dataclass(frozen=True)
class Sent:
    """A request and its commands; `atomic` commands are applied all or none."""

    path: str
    body: Any
    commands: tuple[Body, ...]
    atomic: bool = False


@dataclass
class Account:
    """The outcome of all commands that were sent, by command id."""

    acknowledged: dict[str, Body] = field(default_factory=dict)
    absent: dict[str, Body] = field(default_factory=dict)
    atomic: list[tuple[str, ...]] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)
    unsure: list[Sent] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def word(dice: random.Random) -> str:
    """A word that no other memory has."""
    return "".join(dice.choice(LETTERS) for _ in range(12))


class Writer:
    """A client of a service, with its own memories."""

    def __init__(self, citizen: str, place: int, account: Account) -> None:
        self._citizen = citizen
        self._name = f"w{place}"
        self._account = account
        self._dice = random.Random(f"{citizen} {place}")
        self._made = 0
        self._own: list[str] = []

    async def write(self, http: httpx.AsyncClient, ended: asyncio.Event) -> None:
        """Send one request after the other until `ended` is set."""
        pause = UNANSWERED_PAUSE_S
        while not ended.is_set():
            sent = self._next()
            if not await settled(http, sent, self._account):
                self._account.unsure.append(sent)
                await asyncio.sleep(pause)
                pause = min(2 * pause, UNANSWERED_PAUSE_AT_MOST_S)
                continue
            pause = UNANSWERED_PAUSE_S
            if sent.path != "/v1/links":
                self._own += [one["id"] for one in sent.commands if one["id"] not in self._own]

    def _next(self) -> Sent:
        kind = self._dice.choice(KINDS)
        if kind == "supersede" and self._own:
            return self._supersede(self._dice.choice(self._own))
        if kind == "link" and len(self._own) > 1:
            return self._link(self._dice.sample(self._own, 2))
        if kind == "batch":
            many = tuple(self._remember() for _ in range(BATCH))
            return Sent("/v1/memories", list(many), many)
        if kind == "atomic":
            many = tuple(self._remember() for _ in range(BATCH))
            return Sent("/v1/memories?atomic=true", list(many), many, atomic=True)
        one = self._remember()
        return Sent("/v1/memories", one, (one,))

    def _command(self) -> Body:
        self._made += 1
        return {"citizen_id": self._citizen, "command_id": f"{self._name}-c{self._made}"}

    def _remember(self) -> Body:
        command = self._command()
        content = {"name": word(self._dice), "emotion_vector": {"joy": 0.5}}
        return {**command, "id": f"{self._name}-m{self._made}", **content}

    def _supersede(self, memory: str) -> Sent:
        body = {**self._command(), "name": word(self._dice)}
        return Sent(f"/v1/memories/N1/{memory}/supersede", body, ({**body, "id": memory, "supersedes": True},))

    def _link(self, ends: list[str]) -> Sent:
        command = self._command()
        between = {"source_id": ends[0], "target_id": ends[1], "relation_type": "NEXT"}
        body = {**command, "id": f"{self._name}-l{self._made}", **between, **_FELT}
        return Sent("/v1/links", body, (body,))


async def settled(http: httpx.AsyncClient, sent: Sent, account: Account) -> bool:
    """Send a request and record the answer; True when it shows the outcome of all commands."""
    try:
        answer = await http.post(sent.path, json=sent.body)
    except httpx.TransportError:
        account.told["no answer"] += 1
        return False
    account.told[str(answer.status_code)] += 1
    if answer.status_code in (503, 507):
        if int(answer.headers.get("Retry-After", 0)) < 1:
            account.faults.append(f"{sent.path}: 503 without Retry-After")
        return False
    if not answer.is_success:
        account.faults.append(f"{sent.path}: {answer.status_code} {answer.text[:200]}")
        return True
    body = answer.json()
    for receipt in body.get("receipts", [body]):
        if receipt["status"] != "stored":
            account.faults.append(f"{sent.path}: {receipt['faults']}")
    account.acknowledged |= {command["command_id"]: command for command in sent.commands}
    if sent.atomic:
        account.atomic.append(tuple(one["command_id"] for one in sent.commands))
    return True


async def settle(http: httpx.AsyncClient, account: Account, dice: random.Random) -> None:
    """Clear up each request without an answer: by its receipts, or by sending it again."""
    for sent in account.unsure:
        if dice.random() < 0.5:
            await _again(http, sent, account)
            continue
        for command in sent.commands:
            address = {"citizen_id": command["citizen_id"], "level": "N1"}
            answer = await _receipt(http, command["command_id"], address)
            into = account.acknowledged if answer.is_success else account.absent
            into[command["command_id"]] = command
            account.told[f"receipt {answer.status_code}"] += 1
        if sent.atomic:
            account.atomic.append(tuple(one["command_id"] for one in sent.commands))
    account.unsure.clear()


async def _again(http: httpx.AsyncClient, sent: Sent, account: Account) -> None:
    for _ in range(SETTLING_TRIES):
        if await settled(http, sent, account):
            return
        await asyncio.sleep(SETTLING_PAUSE_S)
    raise RuntimeError(f"{sent.path} is not served")


async def _receipt(http: httpx.AsyncClient, command_id: str, address: Body) -> httpx.Response:
    for _ in range(SETTLING_TRIES):
        with suppress(httpx.TransportError):
            answer = await http.get(f"/v1/receipts/{command_id}", params=address)
            if answer.status_code not in (503, 507):
                return answer
        await asyncio.sleep(SETTLING_PAUSE_S)
    raise RuntimeError(f"the receipt of {command_id} is not served")
