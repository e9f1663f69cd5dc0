"""Conversations that are stored while nobody waits for them: how far each is, and what became of it.

They are those of this process. One that ends with it is sent again and goes on from there: nothing doubles.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import orjson

from orchestration.ingestion.pipeline import Progress
from schemas.errors import Conflict, NotFound, RateLimited, SubstrateError
from schemas.responses import EpisodeProgress, EpisodeReport

logger = logging.getLogger(__name__)

MAX_RUNNING: Final = 16
MAX_FINISHED: Final = 1000
"""How many that have ended can still be asked for."""
RETRY_AFTER_S: Final = 30

type Work = Callable[[Progress], Awaitable[EpisodeReport]]


class ConversationKey(NamedTuple):
    """Which conversation: whose, and its id."""

    citizen_id: str
    episode_id: str


@dataclass
class _Job:
    progress: EpisodeProgress
    digest: bytes
    task: asyncio.Task[None] | None = field(default=None)


class BackgroundIngestions:
    """All of an application."""

    def __init__(self) -> None:
        self._jobs: dict[ConversationKey, _Job] = {}

    def begin(self, which: ConversationKey, messages: list[dict[str, Any]], work: Work) -> EpisodeProgress:
        """Begin the work, unless the same is under way.

        Raises Conflict when other messages of this name are, RateLimited when too much is.
        """
        digest = blake2b(orjson.dumps(messages), digest_size=16).digest()
        job = self._jobs.get(which)
        if job is not None and job.progress.status == "running":
            if job.digest != digest:
                raise Conflict(
                    f"other messages are being stored as {which.episode_id}",
                    remedy="Wait for their end, or give this conversation another episode_id.",
                )
            return job.progress
        if sum(one.progress.status == "running" for one in self._jobs.values()) >= MAX_RUNNING:
            raise RateLimited(
                f"{MAX_RUNNING} conversations are being stored",
                remedy="Wait for one of them.",
                retry_after=RETRY_AFTER_S,
            )
        job = _Job(EpisodeProgress(citizen_id=which.citizen_id, episode_id=which.episode_id), digest)
        self._jobs.pop(which, None)
        self._jobs[which] = job
        job.task = asyncio.create_task(self._run(job, work))
        return job.progress

    def progress(self, which: ConversationKey) -> EpisodeProgress:
        """How far it is. Raises NotFound for one that this process does not know."""
        job = self._jobs.get(which)
        if job is None:
            raise NotFound(
                f"no conversation {which.episode_id} is being stored here",
                remedy="Send it again: what is stored is not stored twice.",
            )
        return job.progress

    async def close(self) -> None:
        """Stop what runs; what is stored stays."""
        tasks = [job.task for job in self._jobs.values() if job.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, job: _Job, work: Work) -> None:
        def advance(done: int, total: int) -> None:
            job.progress = job.progress.model_copy(update={"done": done, "total": total})

        ended: dict[str, Any]
        try:
            ended = {"status": "stored", "report": await work(advance)}
        except SubstrateError as error:
            ended = {"status": "failed", "detail": error.detail}
        except Exception as error:
            logger.exception("storing %s failed", job.progress.episode_id)
            ended = {
                "status": "failed",
                "detail": f"an unexpected {type(error).__name__}; the log has the whole of it",
            }
        job.progress = job.progress.model_copy(update=ended)
        self._forget()

    def _forget(self) -> None:
        over = [which for which, job in self._jobs.items() if job.progress.status != "running"]
        for which in over[: max(0, len(over) - MAX_FINISHED)]:
            del self._jobs[which]
