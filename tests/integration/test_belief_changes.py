"""Changed beliefs of which a question finds one side only (003, component 2, flag 8)."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.stream_completion import MAX_VERSIONS
from schemas.commands import Correct
from schemas.stream import ConsciousnessStream
from schemas.temporal import to_datetime
from tests.integration.store import NOW, ask, found, remember, stored

LATER = NOW + 100_000
RIVERS = ("Aare", "Doubs", "Elbe", "Inn", "Loire", "Main", "Oder", "Po", "Rhine", "Saar", "Tiber", "Var")


async def a_corrected_belief_among_others(deps: Deps, citizen: str) -> None:
    """Of the ferry two things were believed that share no word; sixty others speak of ferries too."""
    others = [
        remember(citizen, f"{river}-{place}", description=f"Ferry number {place} goes over the {river} at noon.")
        for river in RIVERS
        for place in range(5)
    ]
    belief = "The ferry to the island leaves at noon."
    await stored(deps, remember(citizen, "crossing", name="crossing", description=belief), *others)
    corrected = "A bridge was built there, boats have stopped."
    await stored(deps, Correct(citizen_id=citizen, id="crossing", description=corrected), now=NOW + 10)


async def asked(deps: Deps, citizen: str, **fields: Any) -> ConsciousnessStream:
    question = "When does the ferry to the island leave?"
    return await ask(deps, citizen, question, now=LATER, max_results_per_level=3, **fields)


def told(stream: ConsciousnessStream) -> list[str]:
    return [one.node_id for one in stream.temporal_dissonances]


@pytest.mark.parametrize("mode", ["evolution", "full_history"])
async def test_a_change_of_belief_is_reported_when_the_question_finds_one_side_of_it(
    deps: Deps, fresh_citizen: str, mode: str
) -> None:
    await a_corrected_belief_among_others(deps, fresh_citizen)
    stream = await asked(deps, fresh_citizen, temporal_mode=mode)
    assert told(stream) == ["crossing"]
    records = sorted(one.version for one in found(stream) if one.node_id == "crossing")
    assert records == [1, 2], "the record that came along is shown as well"
    ordered = stream.activation_tiers.ordered()
    assert (ordered[0].node_id, ordered[0].version) == ("crossing", 1)
    assert (ordered[-1].node_id, ordered[-1].version) == ("crossing", 2), "it was not found by the question"
    assert {timing.query for timing in stream.timings} == {"N1_vector", "N1_graph", "N1_records"}
    assert stream.notes == ()


async def test_the_other_side_of_a_change_is_bounded_by_the_range_and_the_filters(
    deps: Deps, fresh_citizen: str
) -> None:
    await a_corrected_belief_among_others(deps, fresh_citizen)
    until = await asked(deps, fresh_citizen, temporal_mode="evolution", time_range_end=to_datetime(NOW + 5))
    assert [one.version for one in found(until) if one.node_id == "crossing"] == [1]
    assert told(until) == []
    await stored(deps, Correct(citizen_id=fresh_citizen, id="crossing", energy=0.9), now=NOW + 20)
    strong = await asked(deps, fresh_citizen, temporal_mode="full_history", min_energy=0.6)
    assert all(one.energy >= 0.6 for one in found(strong))


async def test_the_present_brings_no_other_record(deps: Deps, fresh_citizen: str) -> None:
    await a_corrected_belief_among_others(deps, fresh_citizen)
    stream = await asked(deps, fresh_citizen)
    assert "N1_records" not in {timing.query for timing in stream.timings}
    assert {one.version for one in found(stream)} == {1}


async def test_a_memory_with_many_records_adds_the_nearest_and_the_newest_record(
    deps: Deps, fresh_citizen: str
) -> None:
    c = fresh_citizen
    await stored(deps, remember(c, "weather", name="log", description="Zephyr over the marsh."))
    count = MAX_VERSIONS + 20
    for number in range(2, count + 1):
        changed = Correct(citizen_id=c, id="weather", description=f"Day {number} was dull.")
        await stored(deps, changed, now=NOW + number)
    stream = await ask(deps, c, "zephyr marsh", now=LATER, temporal_mode="full_history", max_results_per_level=1)
    shown = sorted(one.version for one in found(stream))
    assert {1, 2} <= set(shown), "the record found, and the one that took its place"
    assert len(shown) <= MAX_VERSIONS + 2
    assert set(range(count, count - MAX_VERSIONS + 10, -1)) <= set(shown), "and the newest"
    [note] = stream.notes
    assert note.startswith(f"of weather (N1) {MAX_VERSIONS} of {count} records came along")
    assert stream.temporal_dissonances[0].original_belief == "Zephyr over the marsh."
