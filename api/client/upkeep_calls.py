"""The calls on upkeep: run jobs, list runs, take one back; quarantines; policies of retention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict, Unpack

from api.client import fields
from api.client.transport import Call, Sender, collect_fields, quote_segment
from orchestration.features.withholding.values import (
    PoliciesAnswer,
    Policy,
    PolicyReach,
    Quarantine,
    QuarantineRequest,
    QuarantinesAnswer,
    SetPolicy,
)
from schemas.upkeep.runs import JobName, OwnUpkeep, Run, RunRequest, RunsAnswer


class RunFields(fields.CitizenFields, total=False):
    jobs: Sequence[JobName] | None
    levels: Sequence[fields.AnyLevel] | None
    collective: str | None
    dry_run: bool


class RunsFields(fields.CitizenFields, total=False):
    level: fields.AnyLevel | None
    collective: str | None
    job: JobName | None
    limit: int


class OwnFields(TypedDict, total=False):
    mode: Literal["idle", "off"] | None
    jobs: Sequence[JobName] | None


class GraphFields(fields.CitizenFields, fields.LevelFields, total=False):
    """One graph: a level, and on N1 the citizen."""


class QuarantineChangeFields(GraphFields, total=False):
    by: fields.AnySource


class QuarantineFields(QuarantineChangeFields, total=False):
    source: fields.AnySource | None
    episode_id: str | None
    key_id: str | None
    speaker: str | None
    tag: str | None
    since: fields.Time | None
    until: fields.Time | None
    note: str
    dry_run: bool


class PolicyFields(QuarantineChangeFields, total=False):
    source: fields.AnySource | None
    tag: str | None
    node_type: str | None
    keep_days: float | None
    keep_newest: int | None
    keep_until_resolved: bool
    age: Literal["written", "happened"]
    action: Literal["retract", "erase"]
    confirm: int | None
    dry_run: bool


class UpkeepCalls(Sender):
    """The calls of a client on upkeep."""

    async def upkeep_runs(self, /, **filters: Unpack[RunsFields]) -> RunsAnswer:
        """The runs of upkeep, the newest first, who does the upkeep now, and which jobs there are."""
        return await self._request(RunsAnswer, Call("GET", "/v1/upkeep/runs", params=filters))

    async def upkeep_run(self, run_id: str) -> Run:
        """One run, by its id."""
        return await self._request(Run, Call("GET", f"/v1/upkeep/runs/{quote_segment(run_id)}"))

    async def run_upkeep(self, request: RunRequest | None = None, /, **given: Unpack[RunFields]) -> RunsAnswer:
        """Run jobs now; with `dry_run` only say what they would do. Raises Conflict when another run goes on."""
        call = Call("POST", "/v1/upkeep/run", collect_fields(request, given), repeatable=False)
        return await self._request(RunsAnswer, call)

    async def undo_upkeep(self, run_id: str) -> Run:
        """Take a whole run back; `errors` names what somebody else has changed since, and was left."""
        return await self._request(Run, Call("POST", f"/v1/upkeep/runs/{quote_segment(run_id)}/undo"))

    async def own_upkeep(self, citizen_id: str) -> OwnUpkeep:
        """Which upkeep the citizen asks for itself."""
        return await self._request(OwnUpkeep, Call("GET", f"/v1/citizens/{quote_segment(citizen_id)}/upkeep"))

    async def set_own_upkeep(
        self, citizen_id: str, own: OwnUpkeep | None = None, /, **given: Unpack[OwnFields]
    ) -> OwnUpkeep:
        """Say which upkeep the citizen wants: `mode="off"` for none in idle time, or `jobs` of its own."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/upkeep"
        return await self._request(OwnUpkeep, Call("PUT", path, collect_fields(own, given)))


_QUARANTINE = "/v1/upkeep/quarantine"
_POLICIES = "/v1/upkeep/policies"


class RetentionCalls(Sender):
    """The calls of a client on what is hidden, and on how long memories are kept."""

    async def quarantine(
        self, request: QuarantineRequest | None = None, /, **given: Unpack[QuarantineFields]
    ) -> Quarantine:
        """Hide what came from a source, an episode or a key, and what follows from it; `dry_run` only lists it."""
        body = collect_fields(request, given)
        return await self._request(Quarantine, Call("POST", _QUARANTINE, body, repeatable=False))

    async def list_quarantines(self, /, **graph: Unpack[GraphFields]) -> QuarantinesAnswer:
        """The quarantines of a graph, the newest first."""
        return await self._request(QuarantinesAnswer, Call("GET", _QUARANTINE, params=graph))

    async def get_quarantine(self, quarantine_id: str, /, **graph: Unpack[GraphFields]) -> Quarantine:
        """A quarantine with the first things that it hid."""
        path = f"{_QUARANTINE}/{quote_segment(quarantine_id)}"
        return await self._request(Quarantine, Call("GET", path, params=graph))

    async def release_quarantine(
        self, quarantine_id: str, /, **given: Unpack[QuarantineChangeFields]
    ) -> Quarantine:
        """Bring back everything that it hid, but what was changed since."""
        path = f"{_QUARANTINE}/{quote_segment(quarantine_id)}/release"
        return await self._request(Quarantine, Call("POST", path, dict(given)))

    async def retract_quarantine(
        self, quarantine_id: str, /, **given: Unpack[QuarantineChangeFields]
    ) -> Quarantine:
        """Make it final: what it hid stays retracted."""
        path = f"{_QUARANTINE}/{quote_segment(quarantine_id)}/retract"
        return await self._request(Quarantine, Call("POST", path, dict(given)))

    async def list_policies(self, /, **graph: Unpack[GraphFields]) -> PoliciesAnswer:
        """The policies of retention of a graph, by name."""
        return await self._request(PoliciesAnswer, Call("GET", _POLICIES, params=graph))

    async def get_policy(self, name: str, /, **graph: Unpack[GraphFields]) -> PolicyReach:
        """A policy and what it reaches now."""
        return await self._request(PolicyReach, Call("GET", f"{_POLICIES}/{quote_segment(name)}", params=graph))

    async def set_policy(
        self, name: str, policy: SetPolicy | None = None, /, **given: Unpack[PolicyFields]
    ) -> PolicyReach:
        """Store a policy, or with `dry_run` count what it reaches.

        Raises Conflict when it reaches more than half of the graph and `confirm` is not that count.
        """
        call = Call("PUT", f"{_POLICIES}/{quote_segment(name)}", collect_fields(policy, given))
        return await self._request(PolicyReach, call)

    async def remove_policy(self, name: str, /, **graph: Unpack[GraphFields]) -> Policy:
        """Remove a policy. What it reached before stays as it is."""
        call = Call("DELETE", f"{_POLICIES}/{quote_segment(name)}", params=graph, repeatable=False)
        return await self._request(Policy, call)
