"""Conversations stored in the background: the progress and the result of each.

They are lost when this process ends. Send an unfinished conversation again: nothing is stored twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import orjson

from orchestration.ingestion.storing import Progress
from schemas.errors import Conflict, NotFound, RateLimited, SubstrateError
from schemas.memory import graph_fields
from schemas.responses import EpisodeProgress, EpisodeReport
from substrate.connection.errors import LOAD_PATIENCE_S, patient
from substrate.graphs.names import origin_of

logger = logging.getLogger(__name__)

MAX_RUNNING: Final = 16
MAX_FINISHED: Final = 1000
"""How many finished conversations are remembered, so that their progress can be read."""
RETRY_AFTER_S: Final = 30

type StoreConversation = Callable[[Progress], Awaitable[EpisodeReport]]


class ConversationKey(NamedTuple):
    """A conversation: the name of its graph, and its id there."""

    graph: str
    episode_id: str


@dataclass
class _Job:
    progress: EpisodeProgress
    digest: bytes
    task: asyncio.Task[None] | None = None


async def _end(jobs: Iterable[_Job]) -> None:
    tasks = [job.task for job in jobs if job.task is not None]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class BackgroundIngestions:
    """The background ingestions of an application."""

    def __init__(self) -> None:
        self._jobs: dict[ConversationKey, _Job] = {}

    def begin(
        self, key: ConversationKey, messages: list[dict[str, Any]], work: StoreConversation
    ) -> EpisodeProgress:
        """Start the work, unless the same messages are being stored already.

        Raises Conflict when other messages are being stored under this id, RateLimited when too many run.
        """
        digest = blake2b(orjson.dumps(messages), digest_size=16).digest()
        job = self._jobs.get(key)
        if job is not None and job.progress.status == "running":
            if job.digest != digest:
                raise Conflict(
                    f"other messages are being stored as {key.episode_id}",
                    remedy="Wait until they are stored, or give this conversation another episode_id.",
                )
            return job.progress
        if sum(job.progress.status == "running" for job in self._jobs.values()) >= MAX_RUNNING:
            raise RateLimited(
                f"{MAX_RUNNING} conversations are being stored",
                remedy="Wait for one of them.",
                retry_after=RETRY_AFTER_S,
            )
        graph, citizen_id = origin_of(key.graph)
        named = {"citizen_id": citizen_id, **graph_fields(graph), "episode_id": key.episode_id}
        job = _Job(EpisodeProgress(**named), digest)
        self._jobs.pop(key, None)
        self._jobs[key] = job
        job.task = asyncio.create_task(self._run(job, work))
        return job.progress

    def progress(self, key: ConversationKey) -> EpisodeProgress:
        """The progress of a conversation. Raises NotFound for one that this process does not know."""
        job = self._jobs.get(key)
        if job is None:
            raise NotFound(
                f"no conversation {key.episode_id} is being stored here",
                remedy="Send it again: what is stored is not stored twice.",
            )
        return job.progress

    async def close(self) -> None:
        """Cancel running work. What is stored stays stored."""
        await _end(self._jobs.values())

    async def forget(self, graph: str, episode_id: str | None = None) -> None:
        """End and forget the storing of a conversation that is erased, or without one of all in a graph."""
        gone = [key for key in self._jobs if key.graph == graph and episode_id in (None, key.episode_id)]
        await _end(list(map(self._jobs.pop, gone)))

    async def _run(self, job: _Job, work: StoreConversation) -> None:
        def advance(done: int, total: int) -> None:
            job.progress = job.progress.model_copy(update={"done": done, "total": total})

        result: dict[str, Any]
        try:
            with patient(LOAD_PATIENCE_S):
                result = {"status": "stored", "report": await work(advance)}
        except SubstrateError as error:
            result = {"status": "failed", "detail": error.detail}
        except Exception as error:
            logger.exception("storing a conversation failed")
            detail = f"an unexpected {type(error).__name__}; see the log of the service"
            result = {"status": "failed", "detail": detail}
        job.progress = job.progress.model_copy(update=result)
        finished = [key for key, job in self._jobs.items() if job.progress.status != "running"]
        for key in finished[: max(0, len(finished) - MAX_FINISHED)]:
            del self._jobs[key]
