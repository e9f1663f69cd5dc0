"""Asking: streams, waves, and who a citizen is."""

from __future__ import annotations

from typing import Any

from api.client.transport import Call, Sender, fields_of, segment
from schemas.association import Associations, TagWalk
from schemas.citizen import Identity, WhoIs
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.stream import ConsciousnessStream
from schemas.wave_signal import Resonances, Resonate


class Asking(Sender):
    """What a mind is asked."""

    async def retrieve(self, intention: RetrievalIntention | None = None, /, **fields: Any) -> ConsciousnessStream:
        """The part of a citizen's memory that matters now, over all three levels."""
        said = fields_of(intention, fields)
        call = Call("POST", "/v1/retrieve", said, again=not said.get("apply_feedback"))
        return await self._answer(ConsciousnessStream, call)

    async def wake(self, state: StateBasedRetrieval | None = None, /, **fields: Any) -> ConsciousnessStream:
        """What fits how a citizen is, with no question asked."""
        said = fields_of(state, fields)
        call = Call("POST", "/v1/wake", said, again=not said.get("apply_feedback"))
        return await self._answer(ConsciousnessStream, call)

    async def resonate(self, signal: Resonate | None = None, /, **fields: Any) -> Resonances:
        """The memories that resonate with a signal, with the score of each channel."""
        return await self._answer(Resonances, Call("POST", "/v1/resonate", fields_of(signal, fields)))

    async def associate(self, walk: TagWalk | None = None, /, **fields: Any) -> Associations:
        """What a question finds by its words, and over the tags and links of what it found."""
        return await self._answer(Associations, Call("POST", "/v1/associate", fields_of(walk, fields)))

    async def identity(self, whose: WhoIs | None = None, /, **fields: Any) -> Identity:
        """Who the citizen is, or was: what most of its memories point to."""
        said = fields_of(whose, fields)
        citizen = segment(said.pop("citizen_id", None))
        return await self._answer(Identity, Call("GET", f"/v1/citizens/{citizen}/identity", params=said))
