"""Filters on every way of asking, on the real engine: what is found is exactly what passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestration.dependencies import Deps
from orchestration.features.association.flow import associate
from orchestration.features.association.values import TagWalk
from orchestration.graph_queries import six_queries
from orchestration.resonance.ask import resonate
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.commands import Supersede
from schemas.intention import Filters, RetrievalIntention, StateBasedRetrieval
from schemas.memory import ConsciousnessNode
from schemas.wave_signal import Resonate
from tests.integration.store import ASKED, NOW, day, found, ids, moment, remember, stored

CITIZEN = "every_way"
MANY, CHANGED = 300, 12
MOST = 100
TYPES, SPEAKERS, TAGS = ("Memory", "Turn", "Fact"), ("Ada", "Luca", 'Ö"'), ("sea", "wind", "salt")
EPISODES, SOURCES = ("monday", "tuesday"), ("citizen", "tool")
THEN, CHANGE = 60, 80
"""Days of the year: between them memories are known and some of them have not changed yet."""


class Record(NamedTuple):
    """What holds of a memory from one moment to another."""

    memory_id: str
    begun: datetime
    until: datetime | None
    fields: dict[str, Any]

    def holds(self, at: datetime) -> bool:
        return self.begun <= at and (self.until is None or at < self.until)

    def passes(self, filters: Filters) -> bool:
        fields = self.fields
        one_of = (
            (filters.node_types, fields["node_type"]),
            (filters.speakers, fields["speaker"]),
            (filters.episodes, fields["episode_id"]),
            (filters.sources, fields["source"]),
        )
        began = (filters.valid_from or self.begun) <= self.begun
        ended = filters.valid_to is None or self.begun < filters.valid_to
        labels = set(filters.tags) <= set(fields["tags"])
        return began and ended and labels and all(not wanted or value in wanted for wanted, value in one_of)


def life() -> list[Record]:
    """Memories that all ways of asking find alike, with the fields that filters ask for, drawn at random."""
    chance = Random(16)
    records = []
    for number in range(MANY):
        fields = {
            "node_type": chance.choice(TYPES),
            "speaker": chance.choice((*SPEAKERS, None)),
            "episode_id": chance.choice((*EPISODES, None)),
            "source": chance.choice(SOURCES),
            "tags": tuple(tag for tag in TAGS if chance.random() < 0.3),
        }
        records.append(Record(f"m{number}", moment(1 + number % 50), None, fields))
    rare = {"node_type": "Rare", "speaker": "Once", "episode_id": "sunday", "source": "system", "tags": ("only",)}
    return [*records, Record("needle", moment(7), None, rare)]


def changed(records: Iterable[Record]) -> list[Record]:
    """The records after the first few got other tags, from the citizen itself."""
    after = []
    for place, record in enumerate(records):
        if place < CHANGED:
            after.append(record._replace(until=moment(CHANGE)))
            after.append(
                record._replace(
                    begun=moment(CHANGE), fields={**record.fields, "tags": ("new",), "source": "citizen"}
                )
            )
        else:
            after.append(record)
    return after


@pytest.fixture(scope="module", autouse=True)
async def a_life(deps: Deps) -> None:
    felt = {"emotion_vector": {"joy": 0.9}, "resolution_state": "in_progress", "energy": 0.5, "goal": "brew"}
    told = life()
    commands = [
        remember(
            CITIZEN, one.memory_id, description=f"Tea {one.memory_id}", valid_at=one.begun, **one.fields, **felt
        )
        for one in told
    ]
    await stored(deps, *commands, now=day(51))
    changes = [
        Supersede(citizen_id=CITIZEN, id=one.memory_id, tags=("new",), effective_at=moment(CHANGE))
        for one in told[:CHANGED]
    ]
    await stored(deps, *changes, now=NOW)


type Way = Callable[[Deps, dict[str, Any]], Awaitable[list[ConsciousnessNode]]]


async def asked(deps: Deps, more: dict[str, Any]) -> list[ConsciousnessNode]:
    times = {"temporal_mode": "point_in_time"} if "as_of_time" in more else {}
    fields = {"query_text": "tea", "max_results_per_level": MOST, **times, **more}
    return found(await retrieve_consciousness_context(RetrievalIntention.model_validate(fields), deps, ASKED))


def waking(mode: str) -> Way:
    async def woken(deps: Deps, more: dict[str, Any]) -> list[ConsciousnessNode]:
        state = {"current_energy": 0.5, "current_emotions": {"joy": 0.9}, "current_goal": "brew"}
        fields = {**state, "query_mode": mode, "max_results_per_level": MOST, "temporal_scope": "all_time", **more}
        woke = StateBasedRetrieval.model_validate(fields)
        return found(await retrieve_consciousness_context_from_state(woke, deps, ASKED))

    return woken


async def resonated(deps: Deps, more: dict[str, Any]) -> list[ConsciousnessNode]:
    fields = {"emotion": "joy", "query_text": "tea", "max_results_per_level": MOST, **more}
    answer = await resonate(Resonate.model_validate(fields), deps, ASKED)
    return [one.memory for one in answer.levels["n1_personal"]]


async def associated(deps: Deps, more: dict[str, Any]) -> list[ConsciousnessNode]:
    answer = await associate(
        TagWalk.model_validate({"query_text": "tea", "max_chars": 100_000, **more}), deps, ASKED
    )
    return [one.memory for one in (*answer.anchors, *answer.neighbours)]


WAYS: dict[str, Way] = {
    "question": asked,
    "similar state": waking("find_similar_state"),
    "unresolved": waking("find_related_unresolved"),
    "resonance": resonated,
    "association": associated,
}

subsets = {
    "node_types": st.lists(st.sampled_from((*TYPES, "Rare")), unique=True, max_size=2),
    "speakers": st.lists(st.sampled_from((*SPEAKERS, "Once")), unique=True, max_size=2),
    "episodes": st.lists(st.sampled_from((*EPISODES, "sunday")), unique=True, max_size=2),
    "sources": st.lists(st.sampled_from((*SOURCES, "system")), unique=True, max_size=2),
    "tags": st.lists(st.sampled_from((*TAGS, "only", "new")), unique=True, max_size=2),
    "valid_from": st.none() | st.sampled_from([moment(number) for number in (5, 20)]),
    "valid_to": st.none() | st.sampled_from([moment(number) for number in (21, 40, 99)]),
}


@pytest.mark.parametrize("way", WAYS)
@given(filters=st.fixed_dictionaries({}, optional=subsets), as_of=st.sampled_from([None, moment(THEN)]))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_what_is_found_is_exactly_what_passes(
    deps: Deps, way: str, filters: dict[str, Any], as_of: datetime | None
) -> None:
    given_filters = Filters.model_validate(filters)
    at = moment(100) if as_of is None else as_of
    expected = {one.memory_id for one in changed(life()) if one.holds(at) and one.passes(given_filters)}
    more: dict[str, Any] = {"citizen_id": CITIZEN, "query_levels": ["N1"], "filters": filters}
    if as_of is not None:
        more |= {"as_of_time": as_of, "known_at": moment(101)}
    seen = ids(await WAYS[way](deps, more))
    assert set(seen) <= expected
    if len(expected) <= MOST:
        assert set(seen) == expected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "filters",
    [
        {"node_types": ["Rare"]},
        {"speakers": ["Once"]},
        {"episodes": ["sunday"]},
        {"sources": ["system"]},
        {"tags": ["only"]},
        {"valid_from": moment(7), "valid_to": moment(7.5), "speakers": ["Once"]},
    ],
    ids=str,
)
async def test_the_one_memory_that_passes_is_found_where_the_index_is_starved(
    deps: Deps, way: str, filters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"EXACT_BELOW": -1, "EXACT_WITHIN": -1, "WIDER": 1, "OVERFETCH": 1}.items():
        monkeypatch.setattr(six_queries, name, value)
    more = {"citizen_id": CITIZEN, "query_levels": ["N1"], "filters": filters}
    assert ids(await WAYS[way](deps, more)) == ["needle"]


async def _notes_of_ways(deps: Deps, filters: dict[str, Any]) -> list[tuple[str, ...]]:
    more = {"citizen_id": CITIZEN, "query_levels": ["N1"], "filters": filters}
    words = {"query_text": "tea", **more}
    return [
        (await retrieve_consciousness_context(RetrievalIntention.model_validate(words), deps, ASKED)).notes,
        (
            await retrieve_consciousness_context_from_state(StateBasedRetrieval.model_validate(more), deps, ASKED)
        ).notes,
        (await resonate(Resonate.model_validate(words), deps, ASKED)).notes,
        (await associate(TagWalk.model_validate(words), deps, ASKED)).notes,
    ]


@pytest.mark.parametrize(
    ("filters", "note"),
    [
        ({"speakers": ["luca"]}, "no memory has the speaker 'luca': did you mean 'Luca'?"),
        ({"tags": ["salts"]}, "no memory has the tag 'salts': did you mean 'salt'?"),
        ({"episodes": ["mondays", "monday"]}, "no memory has the episode 'mondays': did you mean 'monday'?"),
        ({"sources": ["upkeep"]}, "no memory has the source 'upkeep'; there are 'citizen', 'tool', 'system'"),
    ],
    ids=str,
)
async def test_a_value_that_nobody_has_is_named_with_the_one_that_was_meant(
    deps: Deps, filters: dict[str, Any], note: str
) -> None:
    for notes in await _notes_of_ways(deps, filters):
        assert note in notes


async def test_a_value_that_only_a_past_record_has_is_not_called_unknown(deps: Deps) -> None:
    for filters in ({"speakers": list(SPEAKERS), "sources": list(SOURCES)}, {"tags": list(TAGS)}):
        for notes in await _notes_of_ways(deps, filters):
            assert not [note for note in notes if note.startswith("no memory has the ")]
