"""Changes at the edges of time and of a command's identity."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.retrieval import retrieve_consciousness_context
from schemas.commands import ANY_COMMAND, WriteReceipt
from schemas.intention import RetrievalIntention
from schemas.temporal import to_instant
from tests.builders import LINK_METADATA

DAY = timedelta(days=1)
START = datetime(2025, 3, 1, tzinfo=UTC)


async def apply(deps: Deps, citizen: str, when: datetime, **fields: Any) -> WriteReceipt:
    command = ANY_COMMAND.validate_python({"citizen_id": citizen, **fields})
    [receipt] = await insertion.apply([command], deps, to_instant(when))
    return receipt


async def seen(deps: Deps, citizen: str, when: datetime) -> list[str]:
    intention = RetrievalIntention(query_text="where is the harbour", citizen_id=citizen)
    stream = await retrieve_consciousness_context(intention, deps, to_instant(when))
    return [node.description for node in stream.activation_tiers.ordered()]


async def harbour(deps: Deps, citizen: str) -> None:
    receipt = await apply(
        deps, citizen, START, command="remember", id="h", name="harbour", description="in Porto", valid_at=START
    )
    assert receipt.status == "stored"


async def test_a_change_to_come_is_not_current_before_its_time_and_is_after(
    deps: Deps, fresh_citizen: str
) -> None:
    await harbour(deps, fresh_citizen)
    change = {"command": "supersede", "id": "h", "description": "in Faro", "effective_at": START + 10 * DAY}
    assert (await apply(deps, fresh_citizen, START + 5 * DAY, **change)).status == "stored"
    assert await seen(deps, fresh_citizen, START + 6 * DAY) == ["in Porto"]
    assert await seen(deps, fresh_citizen, START + 11 * DAY) == ["in Faro"]


async def test_a_command_id_repeated_on_one_memory_is_one_command(deps: Deps, fresh_citizen: str) -> None:
    await harbour(deps, fresh_citizen)
    when = START + DAY
    first = await apply(
        deps, fresh_citizen, when, command="correct", id="h", description="in Faro", command_id="c1"
    )
    other = await apply(deps, fresh_citizen, when, command="retract", id="h", command_id="c1")
    assert (first.status, other.status, other.problem) == ("stored", "refused", "conflict")


async def test_a_retraction_sent_again_with_another_date_is_refused(deps: Deps, fresh_citizen: str) -> None:
    await harbour(deps, fresh_citizen)
    sent = {"command": "retract", "id": "h", "command_id": "r1"}
    assert (await apply(deps, fresh_citizen, START + 5 * DAY, **sent)).status == "stored"
    again = await apply(deps, fresh_citizen, START + 6 * DAY, **sent)
    assert (again.status, again.duplicate) == ("stored", True)
    moved = await apply(deps, fresh_citizen, START + 6 * DAY, **sent, effective_at=START + DAY)
    assert moved.status == "refused"


async def test_a_link_to_a_retracted_memory_is_refused(deps: Deps, fresh_citizen: str) -> None:
    await harbour(deps, fresh_citizen)
    await apply(deps, fresh_citizen, START, command="remember", id="g", name="gull", valid_at=START)
    await apply(deps, fresh_citizen, START + DAY, command="retract", id="g")
    link = {"command": "relate", "source_id": "h", "target_id": "g", "relation_type": "NEAR", **LINK_METADATA}
    assert (await apply(deps, fresh_citizen, START + 2 * DAY, **link)).problem == "not-found"


async def test_an_id_of_its_own_belongs_to_one_link(deps: Deps, fresh_citizen: str) -> None:
    await harbour(deps, fresh_citizen)
    for name in ("a", "b"):
        await apply(deps, fresh_citizen, START, command="remember", id=name, name=name, valid_at=START)
    link = {"command": "relate", "id": "L", "source_id": "h", "relation_type": "NEAR", **LINK_METADATA}
    assert (await apply(deps, fresh_citizen, START, **link, target_id="a")).status == "stored"
    assert (await apply(deps, fresh_citizen, START, **link, target_id="b")).problem == "conflict"


async def test_a_word_that_only_the_past_holds_finds_the_past(deps: Deps, fresh_citizen: str) -> None:
    await harbour(deps, fresh_citizen)
    await apply(deps, fresh_citizen, START + DAY, command="correct", id="h", description="in Faro")
    moment = START + DAY / 2
    intention = RetrievalIntention(
        query_text="Porto", citizen_id=fresh_citizen, temporal_mode="point_in_time", as_of_time=moment
    )
    stream = await retrieve_consciousness_context(intention, deps, to_instant(START + 2 * DAY))
    assert [node.description for node in stream.levels["n1_personal"].graph_results] == ["in Porto"]


@pytest.mark.parametrize("field", ["name", "node_type", "description", "energy", "confidence"])
def test_a_required_field_cannot_be_cleared(field: str) -> None:
    with pytest.raises(ValidationError, match="cannot be null"):
        ANY_COMMAND.validate_python({"command": "correct", "citizen_id": "a", "id": "h", field: None})


async def test_a_valid_time_that_ends_before_it_begins_is_refused(deps: Deps, fresh_citizen: str) -> None:
    await harbour(deps, fresh_citizen)
    past = {"command": "remember", "id": "p", "name": "p", "invalid_at": START - DAY}
    assert (await apply(deps, fresh_citizen, START, **past)).problem == "invalid-request"
    with pytest.raises(ValidationError, match="invalid_at must lie after valid_at"):
        ANY_COMMAND.validate_python({"citizen_id": "a", **past, "valid_at": START})


async def test_a_command_sent_again_after_its_memory_has_ended_is_known(deps: Deps, fresh_citizen: str) -> None:
    await harbour(deps, fresh_citizen)
    brief = {"command": "remember", "id": "b", "name": "b", "invalid_at": START + 2 * DAY, "command_id": "c1"}
    first = await apply(deps, fresh_citizen, START + DAY, **brief)
    again = await apply(deps, fresh_citizen, START + 3 * DAY, **brief)
    assert (first.status, again) == ("stored", first.model_copy(update={"duplicate": True}))
    other = await apply(deps, fresh_citizen, START + 3 * DAY, **{**brief, "name": "other"})
    assert (other.status, other.problem) == ("refused", "conflict")
