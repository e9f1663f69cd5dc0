"""The shared world: share a memory up a level, contest what another shared, and see how far citizens agree."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.dependencies import Now, OpenRuntime
from api.request_parsing.addresses import SharedMemoryInPath
from api.request_parsing.strict_json import StrictRoute
from api.security.mind_permissions import AGREEMENT, CONTEST, CONTESTED, SHARE
from api.security.permissions import Caller, CurrentCaller, named_graph, requires
from orchestration.features.sharing import contests
from orchestration.features.sharing import flow as sharing
from orchestration.features.sharing.contested import list_contested, read_agreement
from orchestration.features.sharing.values import (
    Agreement,
    ContestedPage,
    ContestedQuery,
    ContestRequest,
    Share,
    Shared,
    Withdraw,
)
from schemas.collectives import OfCollective
from schemas.commands import WriteReceipt

router = APIRouter(prefix="/v1", tags=["sharing"], route_class=StrictRoute)


@router.post("/share", operation_id="share_memory")
@requires(SHARE)
async def share(request: Share, runtime: OpenRuntime, now: Now, caller: CurrentCaller) -> Shared:
    """Copy a memory with its links to N2 or N3, in the name of the citizen.

    Shared again, the copy is brought up to date. The copy has the source of the original, or the highest that the
    key may claim, if that weighs less. What was retracted is refused.
    """
    done = await sharing.share(request, caller.writer_of(request.goes_to, request.citizen_id), runtime.deps, now)
    if isinstance(done, WriteReceipt):
        raise done.refusal()
    caller.commands.append(done.command_id)
    return done


@router.post("/contests", operation_id="contest_memory")
@requires(CONTEST)
async def contest(request: ContestRequest, runtime: OpenRuntime, now: Now, caller: CurrentCaller) -> WriteReceipt:
    """Say that a shared memory of another is wrong, and why: a statement, with a link CONTESTS to the memory.

    Sent again with another reason, it changes the statement. The receipt is that of the statement.
    """
    writer = caller.writer_of(request.graph_key, request.citizen_id)
    return _applied(await contests.contest(request, writer, runtime.deps, now), caller)


@router.post("/contests/withdraw", operation_id="withdraw_contest")
@requires(CONTEST)
async def withdraw(request: Withdraw, runtime: OpenRuntime, now: Now, caller: CurrentCaller) -> WriteReceipt:
    """Take a contest back from now on. That it was contested until then stays in its history."""
    writer = caller.writer_of(request.graph_key, request.citizen_id)
    return _applied(await contests.withdraw(request, writer, runtime.deps, now), caller)


def _applied(receipt: WriteReceipt, caller: Caller) -> WriteReceipt:
    """The receipt. Raises the error of a refusal."""
    if receipt.status == "refused":
        raise receipt.refusal()
    caller.commands.append(receipt.command_id)
    return receipt


@router.get("/contested", operation_id="list_contested")
@requires(CONTESTED)
async def contested(query: Annotated[ContestedQuery, Query()], runtime: OpenRuntime, now: Now) -> ContestedPage:
    """The shared memories that somebody contests now, each with who does and why, a page at a time."""
    return await list_contested(query, runtime.deps, now)


@router.get("/memories/{level}/{memory_id:path}/agreement", operation_id="get_agreement")
@requires(AGREEMENT)
async def agreement(
    address: SharedMemoryInPath, query: Annotated[OfCollective, Query()], runtime: OpenRuntime, now: Now
) -> Agreement:
    """How far the citizens agree on a shared memory: who holds it, who has a copy there, who contests it."""
    return await read_agreement(named_graph(address.level, query), address.memory_id, runtime.deps, now)
