"""Revaluation: draw memories of low importance, and take the citizen's judgements of them."""

from __future__ import annotations

from typing import Final

from api.dependencies import Now
from api.security.permissions import CurrentCaller
from orchestration.dependencies import Deps
from orchestration.features.revaluation.feature import draw_for, judge
from orchestration.features.revaluation.values import JudgementRequest, JudgementsAnswer
from schemas.base import CitizenId
from schemas.commands import Command, Correct
from schemas.memory import Level
from schemas.operation import Method, Operation, citizen_may, group


async def judged(
    citizen_id: CitizenId, request: JudgementRequest, *, deps: Deps, now: Now, caller: CurrentCaller
) -> JudgementsAnswer:
    """Give memories a new importance, or leave them as they are. Each judgement counts on its own.

    A new importance is a correction: history shows it, `undo` takes it back, and it is no change of belief.
    """

    def prepare(command: Correct) -> Command:
        writer = caller.writer_of(Level.N1, citizen_id)
        return caller.limit_source(command).with_writer(writer)

    answer = await judge(citizen_id, request.judgements, deps, now, prepare=prepare)
    caller.commands += [
        outcome.receipt.command_id
        for outcome in answer.outcomes
        if outcome.status == "revalued" and outcome.receipt
    ]
    return answer


OPERATIONS: Final = group(
    "citizens",
    Operation("draw_revaluations", "GET /v1/citizens/{citizen_id}/revaluations", "Draw memories to judge anew",
              citizen_may("read"), draw_for,
              call=Method("revaluations", "Memories of low or no importance to judge anew; the same seed draws "
                          "the same until one is judged.")),
    Operation("judge_revaluations", "POST /v1/citizens/{citizen_id}/revaluations",
              "Say anew how much memories matter", citizen_may("write"), judged,
              call=Method("revaluate", "Give memories a new `importance`, or `leave` them as they are; each "
                          "judgement counts on its own.", positional="judgements")),
)  # fmt: skip
