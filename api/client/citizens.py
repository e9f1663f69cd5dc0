"""Citizens: their state, their conversations, what they learnt, and forgetting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api.client.transport import Call, Fields, Sender, address, command_of, fields_of, segment
from orchestration.mind.dissonance import count_recurring
from schemas.citizen import CitizenState, LearningMoments, StateChange, StateHistory
from schemas.commands import EraseCitizen, EraseEpisode, EraseMemory, ErasureReport
from schemas.responses import EpisodeReport


class Citizens(Sender):
    """What is about a citizen as a whole."""

    async def ingest(
        self, citizen_id: str, messages: Sequence[Fields], *, episode_id: str | None = None
    ) -> EpisodeReport:
        """Store a conversation: each message a `role`, a `content` and, if known, a `timestamp`.

        Sent again, nothing doubles.
        """
        said = {"citizen_id": citizen_id, "messages": [dict(one) for one in messages]}
        named = said if episode_id is None else {**said, "episode_id": episode_id}
        return await self._answer(EpisodeReport, Call("POST", "/v1/episodes", named))

    async def state(self, citizen_id: str, /, **when: Any) -> CitizenState:
        """What the citizen feels and wants; with `as_of_time`, `known_at` as it was, and as was known, then."""
        path = f"/v1/citizens/{segment(citizen_id)}/state"
        return await self._answer(CitizenState, Call("GET", path, params=when))

    async def state_history(self, citizen_id: str, /, **page: Any) -> StateHistory:
        """All records of the state, a page at a time: `cursor` is the `next` of the page before."""
        path = f"/v1/citizens/{segment(citizen_id)}/state/history"
        return await self._answer(StateHistory, Call("GET", path, params=page))

    async def set_state(
        self, citizen_id: str, change: StateChange | None = None, /, **fields: Any
    ) -> CitizenState:
        """Set what is given, from `valid_at` on or from now; what is left out stays."""
        path = f"/v1/citizens/{segment(citizen_id)}/state"
        return await self._answer(CitizenState, Call("PUT", path, fields_of(change, fields)))

    async def dissonances(self, citizen_id: str, /, **asked: Any) -> LearningMoments:
        """Every belief that changed, and how often each correction pattern recurs.

        With `limit` or `cursor` a page; `known_at` asks as it was known then.
        """
        call = Call("GET", f"/v1/citizens/{segment(citizen_id)}/dissonances", params=asked)
        learned = await self._whole(LearningMoments, call, "dissonances")
        return learned.model_copy(update={"recurring": tuple(count_recurring(learned.dissonances))})

    async def erase_memory(self, command: EraseMemory | None = None, /, **fields: Any) -> ErasureReport:
        """Remove the memory for good, from the past too. What cannot be undone."""
        said = command_of(command, fields)
        return await self._answer(ErasureReport, Call("POST", f"{address('memories', said)}/erase", said))

    async def erase_episode(self, command: EraseEpisode | None = None, /, **fields: Any) -> ErasureReport:
        """Remove a conversation for good: its memories, its links, and the people whom only it knew."""
        said = command_of(command, fields)
        path = f"/v1/episodes/{segment(said.pop('episode_id', None))}"
        return await self._answer(ErasureReport, Call("DELETE", path, params=said))

    async def erase_citizen(self, command: EraseCitizen | None = None, /, **fields: Any) -> ErasureReport:
        """Remove the whole personal memory for good."""
        said = command_of(command, fields)
        path = f"/v1/citizens/{segment(said.pop('citizen_id', None))}"
        return await self._answer(ErasureReport, Call("DELETE", path, params=said))
