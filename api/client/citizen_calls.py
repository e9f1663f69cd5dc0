"""The calls on citizens: their list, identity, state, what they learned, feedback on answers, revaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack
from uuid import uuid4

from api.client import fields
from api.client.transport import Call, Sender, collect_fields, quote_segment
from orchestration.features.identity.values import Identity, IdentityDiff, LearningMoments, WhoIs
from orchestration.features.revaluation.values import Draw, Judgement, JudgementsAnswer
from orchestration.features.shape.values import Look, Perspectives
from orchestration.mind.dissonance import count_recurring
from schemas.intention import Filters
from schemas.mind.feedback import Feedback, FeedbackPage, FeedbackRecord, FeedbackTakenBack
from schemas.mind.state import CitizenPage, CitizenState, EnergySeries, StateChange, StateHistory
from schemas.upkeep.offers import OfferOutcome, OfferReply, OffersAnswer, OffersRequest


class BetweenFields(TypedDict, total=False):
    """A `Between`."""

    from_time: fields.Time
    to_time: fields.Time | None
    known_at: fields.Time | None


class LookFields(fields.CitizenFields, fields.MomentFields, total=False):
    """A `Look`."""

    query_text: str
    query: str
    id: str | None
    emotion: str | None
    query_levels: Sequence[fields.AnyLevel]
    filters: Filters | fields.Json | None
    each: int


class CitizenCalls(Sender):
    """The calls of a client on citizens."""

    async def list_citizens(self, /, **page: Unpack[fields.PageFields]) -> CitizenPage:
        """One page of the citizens that the key may read; `cursor` is the `next` of the page before."""
        return await self._request(CitizenPage, Call("GET", "/v1/citizens", params=page))

    async def identity(self, whose: WhoIs | None = None, /, **given: Unpack[fields.IdentityFields]) -> Identity:
        """Who the citizen is, or was: the entities that most of its memories point to."""
        body = collect_fields(whose, given)
        citizen = quote_segment(body.pop("citizen_id", None))
        return await self._request(Identity, Call("GET", f"/v1/citizens/{citizen}/identity", params=body))

    async def perspectives(self, asked: Look | None = None, /, **given: Unpack[LookFields]) -> Perspectives:
        """A question looked at by meaning, by shape and by feeling; no memory stands in two of them."""
        return await self._request(Perspectives, Call("POST", "/v1/perspectives", collect_fields(asked, given)))

    async def identity_diff(self, citizen_id: str, /, **between: Unpack[BetweenFields]) -> IdentityDiff:
        """What changed in the citizen between `from_time` and `to_time`, which is now if it is left out."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/identity/diff"
        return await self._request(IdentityDiff, Call("GET", path, params=between))

    async def state(self, citizen_id: str, /, **when: Unpack[fields.MomentFields]) -> CitizenState:
        """The energy, emotions, goal and drives of the citizen, now or at `as_of_time` as known at `known_at`."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/state"
        return await self._request(CitizenState, Call("GET", path, params=when))

    async def state_history(self, citizen_id: str, /, **page: Unpack[fields.PageFields]) -> StateHistory:
        """One page of the records of the state; `cursor` is the `next` of the page before."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/state/history"
        return await self._request(StateHistory, Call("GET", path, params=page))

    async def energy(self, citizen_id: str, /, **page: Unpack[fields.PageFields]) -> EnergySeries:
        """The energy now, and one page of what set it; `cursor` is the `next` of the page before."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/energy"
        return await self._request(EnergySeries, Call("GET", path, params=page))

    async def set_state(
        self, citizen_id: str, change: StateChange | None = None, /, **given: Unpack[fields.StateFields]
    ) -> CitizenState:
        """Set the fields given, from `valid_at` or now on; the others stay."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/state"
        return await self._request(CitizenState, Call("PUT", path, collect_fields(change, given)))

    async def tell_feedback(
        self, citizen_id: str, feedback: Feedback | None = None, /, **given: Unpack[fields.FeedbackFields]
    ) -> FeedbackRecord:
        """Say which memories answered a question (`used`), which did not (`wrong`), and what is `not_changed`."""
        body = collect_fields(feedback, given)
        body["feedback_id"] = body.get("feedback_id") or uuid4().hex
        path = f"/v1/citizens/{quote_segment(citizen_id)}/feedback"
        return await self._request(FeedbackRecord, Call("POST", path, body))

    async def list_feedback(self, citizen_id: str, /, **page: Unpack[fields.PageFields]) -> FeedbackPage:
        """One page of what the citizen told, and the factors now; `cursor` is the `next` of the page before."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/feedback"
        return await self._request(FeedbackPage, Call("GET", path, params=page))

    async def take_back_feedback(self, citizen_id: str, feedback_id: str | None = None) -> FeedbackTakenBack:
        """Take one feedback back, or without an id all: from now on it is as if it had never been told."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/feedback"
        path += "" if feedback_id is None else f"/{quote_segment(feedback_id)}"
        return await self._request(FeedbackTakenBack, Call("DELETE", path, repeatable=feedback_id is None))

    async def offers(
        self, request: OffersRequest | None = None, /, **given: Unpack[fields.OffersFields]
    ) -> OffersAnswer:
        """What could be resolved or unblocked and nobody took up, each with its ready-made command."""
        return await self._request(
            OffersAnswer, Call("GET", "/v1/upkeep/offers", params=collect_fields(request, given))
        )

    async def answer_offer(
        self, offer_id: str, reply: OfferReply | None = None, /, **given: Unpack[fields.OfferReplyFields]
    ) -> OfferOutcome:
        """Take an offer up, which applies its command, or decline it, so that it does not come back."""
        body = collect_fields(reply, given)
        path = f"/v1/upkeep/offers/{quote_segment(offer_id)}"
        return await self._request(OfferOutcome, Call("POST", path, body, repeatable=False))

    async def revaluations(self, citizen_id: str, /, *, count: int = 10, seed: int = 0) -> Draw:
        """Memories of low or no importance to judge anew; the same seed draws the same until one is judged."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/revaluations"
        return await self._request(Draw, Call("GET", path, params={"count": count, "seed": seed}))

    async def revaluate(
        self, citizen_id: str, judgements: Sequence[Judgement | Mapping[str, Any]]
    ) -> JudgementsAnswer:
        """Give memories a new `importance`, or `leave` them as they are; each judgement counts on its own."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/revaluations"
        said = [collect_fields(judgement, {}) for judgement in judgements]
        return await self._request(JudgementsAnswer, Call("POST", path, {"judgements": said}))

    async def save_mirror(
        self, citizen_id: str | None, target: Path | str, **where: Unpack[fields.LevelFields]
    ) -> int:
        """Save the memory of the citizen, or a shared graph, as a tar of Markdown files; returns its bytes.

        Raises FileExistsError when the file exists.
        """
        call = Call("GET", "/v1/files/mirror", params={"citizen_id": citizen_id, **where})
        return await self._save(call, Path(target))

    async def dissonances(self, citizen_id: str, /, **filters: Unpack[fields.LearningFields]) -> LearningMoments:
        """Every belief that changed, and how often each correction pattern recurs.

        With `limit` or `cursor` only one page; with `known_at` as it was known then.
        """
        call = Call("GET", f"/v1/citizens/{quote_segment(citizen_id)}/dissonances", params=filters)
        learned = await self._request_all_pages(LearningMoments, call, "dissonances")
        return learned.model_copy(update={"recurring": tuple(count_recurring(learned.dissonances))})
