"""The state of a citizen on both axes of time, compared with a plain list of commands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestration.dependencies import Deps
from orchestration.features.identity.feature import read_identity
from orchestration.features.identity.values import WhoIs
from orchestration.graph_queries.existing_graphs import View
from orchestration.mind.state import (
    change_state,
    energy_series,
    felt_state,
    read_state,
    state_history,
    with_feedback,
)
from orchestration.resonance.ask import prepare_signal, resonate
from schemas.errors import Conflict, InvalidRequest, NotFound
from schemas.memory import Level
from schemas.mind.state import CitizenState, StateChange, StateRecord
from schemas.paging import Paged
from schemas.stream import EnergyFeedback
from schemas.temporal import END_OF_TIME, Instant, Period, Scope, to_datetime
from schemas.wave_signal import Resonate, SentSignal
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.store import states
from tests.integration.store import ASKED, NOW, ask, day, moment, relate, remember, stored

CLOCK = Query("clock", "MATCH (m:SubstrateMeta) RETURN m.clock")
FIELDS = ("energy", "emotion_vector", "goal", "drives", "window", "focus", "senses")
DEFAULT: dict[str, Any] = {
    "energy": 0.5, "emotion_vector": {}, "goal": None, "drives": {}, "window": (), "focus": None, "senses": {},
}  # fmt: skip
SHOWN = {"id": "m1", "text": None, "shown_at": to_datetime(NOW)}


async def change(deps: Deps, citizen: str, now: Instant = NOW, **fields: Any) -> CitizenState:
    return await change_state(citizen, StateChange.model_validate(fields), deps, now)


async def seen(deps: Deps, citizen: str, scope: Scope) -> dict[str, Any]:
    return (await read_state(citizen, deps, scope)).model_dump(include=set(FIELDS))


async def clock(deps: Deps, citizen: str) -> Instant:
    """When the graph was written to last; 0 where nothing was."""
    graph = graph_name(Level.N1, citizen)
    if not await deps.graphs.for_reading(graph):
        return 0
    [[at]] = await deps.connection.read(graph, CLOCK, parameters({}))
    return int(at or 0)


changes = st.tuples(
    st.fixed_dictionaries(
        {},
        optional={
            "energy": st.none() | st.sampled_from((0.0, 0.25, 1.0)),
            "emotion_vector": st.none() | st.sampled_from(({}, {"joy": 0.5}, {"fear": 1.0})),
            "goal": st.none() | st.sampled_from(("rest", "say 'it' \"so\"")),
            "drives": st.none() | st.just({"hunger": {"satisfaction": 0.1, "nodes": ("bread",), "bias": {}}}),
            "window": st.none() | st.sampled_from(((), (SHOWN,))),
            "focus": st.none() | st.just("the rent"),
            "senses": st.none() | st.just({"pain": {"text": None, "intensity": 0.7}}),
        },
    ),
    st.none() | st.integers(-30, 30),
    st.integers(-3, 6),
)


class Told:
    """The plain list: when each change was known, from when it holds, what it says. The last told counts."""

    def __init__(self) -> None:
        self.changes: list[tuple[Instant, Instant, dict[str, Any]]] = []

    def at(self, valid: Instant, known: Instant) -> dict[str, Any]:
        found = dict(DEFAULT)
        for at, since, fields in self.changes:
            if at <= known and since <= valid:
                found |= {name: DEFAULT[name] if value is None else value for name, value in fields.items()}
        return found

    def moments(self) -> list[Instant]:
        named = {moment for at, since, _ in self.changes for moment in (at, since)}
        return sorted({moment + step for moment in named for step in (-1, 0, 1)})


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(st.lists(changes, min_size=1, max_size=7))
async def test_each_moment_on_both_axes_has_the_state_that_was_last_recorded_for_it(
    deps: Deps, steps: Sequence[tuple[dict[str, Any], int | None, int]]
) -> None:
    citizen, told, now, before = f"t{uuid4().hex}", Told(), NOW, 0
    for fields, since, later in steps:
        now += later * 1_000_000
        valid = now if since is None else NOW + since * 500_000
        named = {} if since is None else {"valid_at": to_datetime(valid)}
        kept = await change(deps, citizen, now, **fields, **named)
        if (at := await clock(deps, citizen)) != before:
            told.changes.append((at, valid, fields))
            before = at
        assert kept.model_dump(include=set(FIELDS)) == told.at(valid, END_OF_TIME)
    moments = told.moments()
    for valid in moments:
        for known in moments:
            assert await seen(deps, citizen, Scope.at(valid, known)) == told.at(valid, known), (valid, known)


async def test_changes_at_once_of_different_fields_are_all_kept(deps: Deps, fresh_citizen: str) -> None:
    said: dict[str, Any] = {
        "energy": 0.25, "emotion_vector": {"joy": 0.5}, "goal": "rest",
        "drives": {"hunger": {"satisfaction": 0.1, "nodes": (), "bias": {}}},
    }  # fmt: skip
    await asyncio.gather(*(change(deps, fresh_citizen, **{name: value}) for name, value in said.items()))
    assert await seen(deps, fresh_citizen, Scope.current(NOW)) == DEFAULT | said


async def test_streams_that_feed_back_at_once_all_count(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a"))
    await change(deps, fresh_citizen, energy=1.0)
    stream = await ask(deps, fresh_citizen, "nothing of the kind")
    stream = stream.model_copy(update={"relative_potential": 0.3})
    step = 0.3 * (0.3 - 0.5)
    fed = await asyncio.gather(*(with_feedback(stream, None, deps, NOW + n) for n in range(5)))
    kept = await read_state(fresh_citizen, deps, Scope.current(NOW + 5))
    assert kept.energy == pytest.approx(1.0 + 5 * step)
    steps = [one.energy_feedback.after - one.energy_feedback.before for one in fed if one.energy_feedback]
    assert steps == pytest.approx([step] * 5)


async def fed(deps: Deps, citizen: str, relative: float, at: Instant, stream_id: str = "s1") -> EnergyFeedback:
    stream = await ask(deps, citizen, "nothing of the kind", now=at)
    told = stream.model_copy(update={"relative_potential": relative, "intention_id": stream_id})
    after = (await with_feedback(told, None, deps, at)).energy_feedback
    assert after is not None
    return after


async def energy_of(deps: Deps, citizen: str, scope: Scope) -> float:
    return (await felt_state(citizen, deps, scope, scope.known.start)).energy


async def test_after_feedback_the_energy_returns_as_it_is_read_and_the_record_stays(
    deps: Deps, fresh_citizen: str
) -> None:
    hour = 3_600_000_000
    await stored(deps, remember(fresh_citizen, "a"))
    await change(deps, fresh_citizen, energy=0.4)
    assert await energy_of(deps, fresh_citizen, Scope.current(NOW + 1000 * hour)) == 0.4
    first = NOW + 1000 * hour
    assert (await fed(deps, fresh_citizen, 1.0, first)).after == pytest.approx(0.55)
    # Another field that is set meanwhile changes nothing about it.
    await change(deps, fresh_citizen, first + hour, goal="rest")
    for hours, energy in ((0, 0.55), (12, 0.475), (24, 0.4375), (10_000, 0.4)):
        at = Scope.current(first + hours * hour)
        assert await energy_of(deps, fresh_citizen, at) == pytest.approx(energy)
        assert (await read_state(fresh_citizen, deps, at)).energy == pytest.approx(0.55)
    # The next feedback starts from where the energy is by then.
    second = await fed(deps, fresh_citizen, 0.2, first + 12 * hour, "s2")
    assert (second.before, second.baseline) == pytest.approx((0.475, 0.4))
    assert second.after == pytest.approx(0.475 - 0.09)
    # What was the case is what it was, and what was known then is what was known.
    assert await energy_of(deps, fresh_citizen, Scope.current(first + 6 * hour)) == pytest.approx(
        0.4 + 0.15 * 2**-0.5
    )
    assert await energy_of(deps, fresh_citizen, Scope.at(first + 24 * hour, first + 11 * hour)) == pytest.approx(
        0.4375
    )
    # A declared energy is the ordinary one from then on.
    await change(deps, fresh_citizen, first + 13 * hour, energy=0.8)
    assert await energy_of(deps, fresh_citizen, Scope.current(first + 99 * hour)) == 0.8


async def test_the_series_of_the_energy_names_the_streams_that_set_it(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a"))
    await change(deps, fresh_citizen, goal="rest")
    await change(deps, fresh_citizen, NOW + 1, energy=0.4)
    await fed(deps, fresh_citizen, 1.0, NOW + 2, "s1")
    await fed(deps, fresh_citizen, 0.2, NOW + 3, "s2")
    first = await energy_series(fresh_citizen, Paged(limit=5), deps, NOW + 4)
    assert (first.now, first.ordinary) == pytest.approx((0.46, 0.4))
    second = await energy_series(fresh_citizen, Paged(limit=5, cursor=first.next), deps, NOW + 4)
    lasting = [point for point in (*first.points, *second.points) if point.expired_at is None]
    assert [(point.energy, point.stream_id, point.baseline) for point in lasting] == [
        (None, None, None),
        (0.4, None, None),
        (pytest.approx(0.55), "s1", 0.4),
        (pytest.approx(0.46), "s2", 0.4),
    ]
    assert lasting[-1].feedback_at == lasting[-1].valid_at == to_datetime(NOW + 3)


async def test_feedback_on_an_energy_that_nobody_declared_returns_to_what_the_memories_tell(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "a", energy=0.2, goal="rest"))
    feedback = await fed(deps, fresh_citizen, 1.0, NOW)
    assert (feedback.before, feedback.after, feedback.baseline) == pytest.approx((0.2, 0.35, 0.2))
    felt = await felt_state(fresh_citizen, deps, Scope.current(day(300)), day(300))
    assert (felt.energy, felt.baseline) == pytest.approx((0.2, 0.2))
    assert felt.derived
    assert [source.memory_ids for source in felt.sources if source.field == "energy"] == [("a",)]


async def test_a_state_that_others_keep_changing_is_a_conflict_and_stays_unchanged(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await change(deps, fresh_citizen, energy=0.25)
    found = states.read_current

    async def behind(*where: Any) -> Any:
        record = await found(*where)
        await change_without_waiting(deps, fresh_citizen)
        return record

    monkeypatch.setattr("orchestration.mind.state._WAIT_S", 0.0)
    monkeypatch.setattr(states, "read_current", behind)
    with pytest.raises(Conflict, match="other writers keep changing"):
        await change(deps, fresh_citizen, goal="rest")
    monkeypatch.undo()
    assert (await read_state(fresh_citizen, deps, Scope.current(NOW))).goal is None


async def change_without_waiting(deps: Deps, citizen: str) -> None:
    """Another writer: the record carried is another one then."""
    text = "MATCH (s:CitizenState) SET s.version = s.version + 1"
    await deps.connection.command("GRAPH.QUERY", graph_name(Level.N1, citizen), text)


async def test_a_clock_that_goes_back_changes_no_past_answer(deps: Deps, fresh_citizen: str) -> None:
    await change(deps, fresh_citizen, day(10), energy=0.25, goal="rest")
    first = await clock(deps, fresh_citizen)
    await change(deps, fresh_citizen, day(9), energy=0.75)
    second = await clock(deps, fresh_citizen)
    assert second > first
    for when in (day(9), day(10), day(11)):
        assert (await read_state(fresh_citizen, deps, Scope.current(when))).energy == 0.75
    assert (await seen(deps, fresh_citizen, Scope.at(day(9), second)))["goal"] is None
    assert (await seen(deps, fresh_citizen, Scope.at(day(10), second)))["goal"] == "rest"
    assert (await seen(deps, fresh_citizen, Scope.at(day(10), first)))["energy"] == 0.25


async def test_a_window_is_kept_by_id_until_its_memories_are_erased_and_ends_a_cycle(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "tea"), remember(fresh_citizen, "rent"))
    assert (await change(deps, fresh_citizen, focus="the rent")).last_cycle_at is None
    shown = [{"id": "tea", "text": "kept nowhere"}, "Felix rang", {"id": "rent"}, {"id": "rent"}]
    ended = await change(deps, fresh_citizen, day(10), window=shown)
    assert [(item.id, item.text, item.shown_at) for item in ended.window] == [
        ("tea", None, moment(10)), (None, "Felix rang", moment(10)), ("rent", None, moment(10)),
    ]  # fmt: skip
    assert ended.last_cycle_at == moment(10)
    await change(deps, fresh_citizen, day(11), energy=0.3)
    await states.forget_shown(deps.graph(graph_name(Level.N1, fresh_citizen)), ["tea"])
    records = (await state_history(fresh_citizen, Paged(), deps)).records
    assert {tuple(item.id for item in record.window) for record in records} == {(), (None, "rent")}
    assert (await change(deps, fresh_citizen, day(13), window=None)).last_cycle_at is None
    assert (await change(deps, fresh_citizen, day(14), window=[])).last_cycle_at == moment(14)


async def test_a_signal_that_asks_nothing_is_that_of_the_kept_window_and_focus(
    deps: Deps, fresh_citizen: str
) -> None:
    asked = Resonate(citizen_id=fresh_citizen)
    with pytest.raises(InvalidRequest, match="the signal is empty"):
        await resonate(asked, deps, NOW)
    bread = remember(fresh_citizen, "bread", name="Bread", node_type="Concept")
    baked = remember(fresh_citizen, "baked", description="We baked a loaf", energy=0.4)
    await stored(deps, bread, baked, relate(fresh_citizen, "baked", "bread"))
    await change(deps, fresh_citizen, window=[{"id": "baked"}], focus="was it a sad day", senses={"pain": 0.8})
    found = await resonate(asked, deps, ASKED)
    assert found.signal.nodes == ("baked", "Bread")
    assert (found.signal.emotion, found.signal.intensity, found.signal.result) == ("hurt", 0.8, "negative")
    explicit = Resonate(citizen_id=fresh_citizen, emotion="joy")
    assert (await resonate(explicit, deps, ASKED)).signal == SentSignal(emotion="joy")


async def test_the_pages_of_a_history_contain_each_record_once(deps: Deps, fresh_citizen: str) -> None:
    with pytest.raises(NotFound):
        await state_history(fresh_citizen, Paged(), deps)
    await stored(deps, remember(fresh_citizen, "a"))
    assert (await state_history(fresh_citizen, Paged(), deps)).records == ()
    for number in range(5):
        await change(deps, fresh_citizen, NOW + number, energy=number / 10)
    records: list[StateRecord] = []
    cursor = None
    for _ in range(3):
        page = await state_history(fresh_citizen, Paged(limit=3, cursor=cursor), deps)
        records += page.records
        cursor = page.next
        await change(deps, fresh_citizen, NOW + 9, energy=len(records) / 10)  # moves nothing on the pages behind
    assert cursor is None
    assert [record.version for record in records] == list(range(1, 10))
    assert [record.energy for record in records if record.expired_at is None and record.invalid_at] == [
        0.0, 0.1, 0.2, 0.3
    ]  # fmt: skip
    [last] = [record for record in records if record.expired_at is None and record.invalid_at is None]
    assert (last.energy, last.valid_at) == (0.4, to_datetime(NOW + 4))


async def test_an_identity_contains_the_state_of_its_moment(deps: Deps, fresh_citizen: str) -> None:
    blank = await read_identity(WhoIs(citizen_id=fresh_citizen), deps, NOW)
    assert blank.state == CitizenState(citizen_id=fresh_citizen, baseline=0.5)
    assert f"citizen {fresh_citizen} had no state at that moment: the default state is shown" in blank.notes
    await change(deps, fresh_citizen, day(10), energy=0.25, drives={"hunger": {"satisfaction": 0.1}})
    await change(deps, fresh_citizen, day(20), energy=0.75, goal="rest")

    async def then(**when: datetime) -> tuple[float, str | None, list[str]]:
        state = (await read_identity(WhoIs(citizen_id=fresh_citizen, **when), deps, day(30))).state
        return state.energy, state.goal, list(state.drives)

    assert await then() == (0.75, "rest", ["hunger"])
    assert await then(as_of_time=moment(15)) == (0.25, None, ["hunger"])
    assert await then(as_of_time=moment(5)) == (0.5, None, [])
    assert await then(as_of_time=moment(25), known_at=moment(15)) == (0.25, None, ["hunger"])


async def test_a_signal_as_of_a_past_moment_is_moved_by_the_drives_of_that_moment(
    deps: Deps, fresh_citizen: str
) -> None:
    await change(deps, fresh_citizen, day(10), drives={"hunger": {"satisfaction": 0.1, "nodes": ["bread"]}})
    await change(deps, fresh_citizen, day(20), drives={"rest": {"satisfaction": 0.1, "nodes": ["bed"]}})
    request = Resonate(citizen_id=fresh_citizen, focus="What now?")

    async def nodes(scope: Scope) -> tuple[str, ...]:
        return (await prepare_signal(request, View(scope, {}, day(30)), deps)).sent.nodes

    assert await nodes(Scope.at(day(15), day(15))) == ("bread",)
    assert await nodes(Scope.at(day(25), day(25))) == ("bed",)
    assert await nodes(Scope.at(day(5), day(5))) == ()


@pytest.mark.parametrize("query", [states.READ_STATE_THEN, states.STATES_BETWEEN, states.STATE_PAGE])
async def test_past_states_are_found_by_an_index_however_many_there_are(
    deps: Deps, fresh_citizen: str, query: Query
) -> None:
    await change(deps, fresh_citizen, energy=0.25)
    values = {
        **Scope.at(NOW, NOW).bounds(), "cells": states.cells_at(Scope.at(NOW, NOW)), "open": END_OF_TIME,
        "after": NOW, "before": NOW + 9, "rows": 9, "first": 1, "beyond": 9,
    }  # fmt: skip
    plan = await deps.connection.command(
        "GRAPH.EXPLAIN", graph_name(Level.N1, fresh_citizen), parameters(values) + query.text
    )
    lines = [line for line in plan if "PastState" in line]
    assert [line.strip() for line in lines] == ["Node By Index Scan | (s:PastState)"]


@given(
    st.sampled_from(("known", "valid")),
    st.integers(-(2**52), 2**52),
    st.integers(1, 2**50),
    st.floats(0, 1, exclude_max=True),
)
def test_the_state_of_a_moment_lies_in_a_cell_that_is_searched(
    axis: str, start: int, length: int, share: float
) -> None:
    width = next(1 << power for power in range(55) if 1 << power >= length)
    at = start + int(share * length)
    elsewhere = Period(0, 1)
    inside = Period(at, at + 1)
    scope = Scope(elsewhere, inside) if axis == "known" else Scope(inside, elsewhere)
    assert f"{axis}/{width}/{start // width}" in states.cells_at(scope)
