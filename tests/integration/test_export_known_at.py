"""An export as it was known at a moment: the same for ever, and a store that answers as that one did then."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from orchestration.dependencies import Deps
from orchestration.mind.state import change_state
from orchestration.transfer.exporter import export
from schemas.commands import Command, Correct, CorrectLink, Retract, Supersede, Undo, Unrelate
from schemas.memory import Level
from schemas.mind.state import StateChange
from schemas.temporal import Instant
from substrate.graphs.names import GraphOf
from tests.integration.store import NOW, history, moment, relate, remember, send
from tests.integration.test_transfer import cleared, exported, imported

STAGES = 6


async def known(deps: Deps, citizen: str, at: Instant, *, embeddings: bool = False) -> list[bytes]:
    return list(await export([GraphOf(Level.N1, citizen)], deps, embeddings=embeddings, known_at=at))


def after(stage: int) -> Instant:
    return NOW + 1000 * stage + 900


async def lived(deps: Deps, citizen: str, stage: int) -> None:
    """One stage of a life."""
    c: dict[str, Any] = {"citizen_id": citizen}
    stages: list[list[Command]] = [
        [remember(citizen, name, description=name, tags=("first",), valid_at=moment(1)) for name in "abc"],
        [relate(citizen, "a", "b"), relate(citizen, "b", "c", id="own"), Correct(**c, id="a", tags=("second",))],
        [Supersede(**c, id="a", description="moved", effective_at=moment(50)), Retract(**c, id="b")],
        [remember(citizen, "d"), Correct(**c, id="c", description="mended"), Undo(**c, id="a")],
        [CorrectLink(**c, id="own", energy=0.1), Unrelate(**c, id="a|NEXT|b")],
        [CorrectLink(**c, id="own", energy=0.2), Retract(**c, id="d"), Correct(**c, id="a", energy=0.9)],
    ]
    for place, command in enumerate(stages[stage - 1]):
        (receipt,) = await send(deps, command, now=NOW + 1000 * stage + place)
        assert receipt.status == "stored", receipt
    await change_state(citizen, StateChange(goal=f"goal {stage}"), deps, NOW + 1000 * stage + 500)


@pytest.mark.parametrize("embeddings", [False, True])
async def test_an_export_as_known_at_a_moment_does_not_depend_on_later_changes(
    deps: Deps, fresh_citizen: str, *, embeddings: bool
) -> None:
    before: list[list[bytes]] = []
    for stage in range(1, STAGES + 1):
        await lived(deps, fresh_citizen, stage)
        before.append(await known(deps, fresh_citizen, after(stage), embeddings=embeddings))
    for stage, lines in enumerate(before, start=1):
        assert await known(deps, fresh_citizen, after(stage), embeddings=embeddings) == lines
    assert len({lines[-1] for lines in before}) == STAGES


@pytest.mark.parametrize("stage", range(1, STAGES + 1))
async def test_an_export_of_a_moment_makes_a_store_that_holds_what_this_one_held(
    deps: Deps, fresh_citizen: str, stage: int
) -> None:
    for past in range(1, stage + 1):
        await lived(deps, fresh_citizen, past)
    due = [await history(deps, fresh_citizen, name) for name in "abcd"]
    whole = [line for line in map(orjson.loads, await exported(deps, fresh_citizen)) if line["kind"] == "link"]
    for later in range(stage + 1, STAGES + 1):
        await lived(deps, fresh_citizen, later)
    lines = await known(deps, fresh_citizen, after(stage))
    await cleared(deps, fresh_citizen)
    await imported(deps, lines)
    assert [await history(deps, fresh_citizen, name) for name in "abcd"] == due
    again = await exported(deps, fresh_citizen)
    assert [line for line in map(orjson.loads, again) if line["kind"] == "link"] == whole
    assert again == lines


async def test_before_anything_was_known_an_export_is_empty(deps: Deps, fresh_citizen: str) -> None:
    await lived(deps, fresh_citizen, 1)
    lines = await known(deps, fresh_citizen, NOW - 1)
    assert [orjson.loads(line)["kind"] for line in lines] == ["substrate-export", "graph", "end"]
