"""The calls on upkeep: run jobs, list runs, take one back, and what a citizen asks for itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict, Unpack

from api.client import fields
from api.client.transport import Call, Sender, collect_fields, quote_segment
from schemas.upkeep.runs import JobName, OwnUpkeep, Run, RunRequest, RunsAnswer


class RunFields(fields.CitizenFields, total=False):
    jobs: Sequence[JobName] | None
    levels: Sequence[fields.AnyLevel] | None
    dry_run: bool


class RunsFields(fields.CitizenFields, total=False):
    level: fields.AnyLevel | None
    job: JobName | None
    limit: int


class OwnFields(TypedDict, total=False):
    mode: Literal["idle", "off"] | None
    jobs: Sequence[JobName] | None


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
