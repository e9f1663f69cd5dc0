"""A longer job beside the writers of a kill round: a conversation that is stored, or a run of upkeep.

The conversation is sent in the middle of the round, and again until it is stored; afterwards each of its messages
must be there once. The run of upkeep is asked for again and again, and at the end until every job has ended well.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from typing import Any, Final

import httpx

from benchmarks.writers import SETTLING_TRIES, UNANSWERED_PAUSE_S, Account, word
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

MESSAGES: Final = 60
PAUSE_S: Final = 0.05
UPKEEP: Final = ("sweep", "tags", "consolidation")
TURNS = Query(
    "held_turns",
    "MATCH (n:ConsciousnessNode) WHERE n.episode_id = $episode_id AND n.expired_at > $now RETURN n.description",
)
UNENDED = Query("held_unended_runs", "MATCH (r:UpkeepRun) WHERE r.status <> 'done' RETURN r.id, r.status")
EPISODE: Final = "talk"


class Conversation:
    """Sixty messages, each with a word of its own."""

    def __init__(self, citizen: str) -> None:
        dice = random.Random(f"talk of {citizen}")
        self.words = [word(dice) for _ in range(MESSAGES)]
        messages = [
            {"role": "user" if place % 2 else "assistant", "content": f"I saw {one} on the way."}
            for place, one in enumerate(self.words)
        ]
        self._body = {"citizen_id": citizen, "episode_id": EPISODE, "messages": messages}

    async def send(self, http: httpx.AsyncClient, account: Account) -> bool:
        """Send all messages; True when every one is stored."""
        answer = await answered(http, "/v1/episodes", self._body)
        if answer is None:
            return False
        if answer.status_code != 200 or answer.json()["refused"]:
            account.faults.append(f"the conversation: {answer.status_code} {answer.text[:200]}")
        return True

    async def flaws(self, graph: Graph, now: int) -> tuple[list[str], list[str]]:
        """The messages that are lost, and those that are there more than once."""
        texts = [str(row[0]) for row in await graph.read(TURNS, episode_id=EPISODE, now=now)]
        held = Counter(one for one in self.words for text in texts if one in text)
        return [one for one in self.words if not held[one]], [one for one in held if held[one] > 1]


class Upkeep:
    """Runs of upkeep of one citizen."""

    def __init__(self, citizen: str) -> None:
        self._body = {"citizen_id": citizen, "jobs": list(UPKEEP)}

    async def send(self, http: httpx.AsyncClient, account: Account) -> bool:
        """Ask for a run; True when every job has ended well."""
        answer = await answered(http, "/v1/upkeep/run", self._body)
        if answer is None or answer.status_code in (404, 409):  # nothing to work on yet, or another works
            return False
        if answer.status_code != 200:
            account.faults.append(f"upkeep: {answer.status_code} {answer.text[:200]}")
            return True
        return all(run["status"] == "done" for run in answer.json()["runs"])

    async def flaws(self, graph: Graph, now: int) -> tuple[list[str], list[str]]:
        """No message can be lost here; a run that did not end well counts as lost."""
        return [f"run {row[0]} is {row[1]} at {now}" for row in await graph.read(UNENDED)], []


type KilledJob = Conversation | Upkeep


def job_of_round(number: int, citizen: str) -> KilledJob:
    """A conversation in even rounds, upkeep in odd ones."""
    return Upkeep(citizen) if number % 2 else Conversation(citizen)


async def keep_sending(job: KilledJob, http: httpx.AsyncClient, account: Account, ended: asyncio.Event) -> None:
    """Send the job until it is done; one of upkeep again, until `ended` is set."""
    while not ended.is_set():
        if await job.send(http, account) and isinstance(job, Conversation):
            return
        await asyncio.sleep(PAUSE_S)


async def finish(job: KilledJob, http: httpx.AsyncClient, account: Account) -> None:
    """Send the job again until it is done. Raises RuntimeError when it never is."""
    for _ in range(SETTLING_TRIES):
        if await job.send(http, account):
            return
        await asyncio.sleep(UNANSWERED_PAUSE_S)
    raise RuntimeError(f"{type(job).__name__} is not done")


async def answered(http: httpx.AsyncClient, path: str, body: Any) -> httpx.Response | None:
    """The answer; None when there is none, or one that says to come again."""
    with suppress(httpx.TransportError):
        answer = await http.post(path, json=body)
        return None if answer.status_code in (503, 507) else answer
    return None
