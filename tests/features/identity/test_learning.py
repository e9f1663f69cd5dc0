"""Learning moments by pages: together they are what all records say, at any moment of knowledge."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestration.dependencies import Deps
from orchestration.features.identity import queries as learning
from orchestration.features.identity.learning import learning_moments, learning_page
from orchestration.features.identity.values import LearningPage
from orchestration.mind.dissonance import detect_temporal_dissonances
from schemas.commands import Command, Correct, Supersede
from schemas.memory import ConsciousnessNode, Level
from schemas.stream import TemporalDissonance
from schemas.temporal import Instant, Period, TemporalMode, to_datetime
from substrate.graphs.names import graph_name
from substrate.store import reader
from substrate.store.rows import node
from tests.integration.store import day, moment, remember, stored

IDS = ("a", "b", "c")
LATER = day(300)

changes = st.lists(
    st.tuples(st.sampled_from(["correct", "supersede", "felt"]), st.sampled_from(IDS), st.integers(0, 3)),
    min_size=3,
    max_size=14,
)


def command(citizen: str, change: tuple[str, str, int], number: int) -> Command:
    kind, memory_id, word = change
    whose = {"citizen_id": citizen, "id": memory_id}
    if kind == "felt":
        return Correct.model_validate({**whose, "energy": word / 10, "tags": [f"t{number}"]})
    said = {**whose, "description": f"word {word}", "correction_pattern_id": f"p{word}"}
    if kind == "correct":
        return Correct.model_validate(said)
    return Supersede.model_validate({**said, "effective_at": moment(2 + number / 100)})


async def due(deps: Deps, citizen: str, known_to: Instant) -> list[TemporalDissonance]:
    graph = graph_name(Level.N1, citizen)
    nodes: list[ConsciousnessNode] = []
    for memory_id in IDS:
        rows = await reader.history(deps.graph(graph), memory_id)
        nodes += [node(row, Level.N1, known_to) for row in rows if row[6] < known_to]
    found = detect_temporal_dissonances(nodes, TemporalMode.FULL_HISTORY)
    return sorted(found, key=lambda one: (one.belief_held_until, one.node_id, one.belief_held_from))


@pytest.mark.usefixtures("few")
@settings(max_examples=12)
@given(changes, st.integers(1, 4), st.integers(0, 15))
async def test_pages_joined_are_what_all_records_say(
    deps: Deps, taken: list[tuple[str, str, int]], limit: int, known: int
) -> None:
    citizen = f"t{uuid4().hex}"
    await stored(deps, *(remember(citizen, name, valid_at=moment(1)) for name in IDS), now=day(20))
    for number, change in enumerate(taken):
        await stored(deps, command(citizen, change, number), now=day(21 + number))
    now = await learning_moments(citizen, deps, LATER)
    assert list(now.dissonances) == await due(deps, citizen, LATER)
    at = day(20.5 + known)
    asked = LearningPage(limit=limit, known_at=to_datetime(at))
    found: list[TemporalDissonance] = []
    while True:
        page = await learning_page(citizen, asked, deps, LATER)
        assert len(page.dissonances) <= limit
        found += page.dissonances
        if page.next is None:
            break
        asked = LearningPage(limit=limit, cursor=page.next)
    assert found == await due(deps, citizen, at + 1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few closings in one read that a life takes several."""
    monkeypatch.setattr("orchestration.features.identity.learning.MAX_CLOSINGS", 3)


async def test_a_page_reads_what_lies_around_it(deps: Deps, fresh_citizen: str) -> None:
    graph = graph_name(Level.N1, fresh_citizen)
    await stored(deps, remember(fresh_citizen, "a"), now=day(1))
    for number in range(40):
        change = Correct(citizen_id=fresh_citizen, id="a", description=f"take {number}")
        await stored(deps, change, now=day(2 + number))
    records = await learning.read_around(deps.graph(graph), {"a": Period(day(10), day(12))}, LATER)
    assert sorted(record.description for record in records) == ["take 10", "take 7", "take 8", "take 9"]
    first = await learning_page(fresh_citizen, LearningPage(limit=3), deps, LATER)
    assert [one.corrected_belief for one in first.dissonances] == ["take 0", "take 1", "take 2"]
    # What changes meanwhile is not told by the pages that follow.
    await stored(deps, Correct(citizen_id=fresh_citizen, id="a", description="late"), now=day(100))
    rest = await learning_page(fresh_citizen, LearningPage(limit=50, cursor=first.next), deps, LATER)
    assert (len(rest.dissonances), rest.dissonances[-1].corrected_belief) == (37, "take 39")
