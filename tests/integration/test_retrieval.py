"""Intention in, stream out, on the real engine."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestration.dependencies import Deps
from orchestration.graph_queries import six_queries
from schemas.commands import Command, Correct, Retract, Supersede
from schemas.memory import ConsciousnessNode, Level
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, to_instant
from substrate.connection.pool import READS_AT_ONCE, Connection, Row
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.store import reader
from tests.integration.store import NOW, ask, day, found, ids, moment, relate, remember, send, stored
from tests.waiting import wait_until_async

ENDLESS = "UNWIND range(1, 10000) AS i UNWIND range(1, 10000) AS j RETURN count(i + j)"
BROKEN = "RETURN nothing_of_this_name"


class Hurt(Connection):
    """The store, but one query on one graph is another one: endless, or refused by the engine."""

    def __init__(self, whole: Connection, hurt: tuple[str, str], text: str) -> None:
        self.__dict__.update(whole.__dict__)
        self._hurt = hurt
        self._text = text

    async def read(self, graph: str, query: Query, header: str, timeout_ms: int | None = None) -> list[Row]:
        if (graph, query.name) == self._hurt:
            return await super().read(graph, Query(query.name, self._text), header, 30)
        return await super().read(graph, query, header, timeout_ms)


# --- time ------------------------------------------------------------------------------------------------


@pytest.fixture(params=["scan", "sets", "index"])
def likeness(request: pytest.FixtureRequest, deps: Deps, monkeypatch: pytest.MonkeyPatch) -> str:
    """Likeness by an exact scan, as small graphs have it, and by vector sets or an index, as large ones."""
    if request.param != "scan":
        monkeypatch.setattr(six_queries, "EXACT_BELOW", -1)
        monkeypatch.setattr(deps.graphs, "_likeness", request.param)
    return str(request.param)


def life(citizen: str) -> list[tuple[Instant, Command]]:
    """Where Ada lives, as it came to be known: moved, mistaken about the town, and then no longer true."""
    who: dict[str, Any] = {"citizen_id": citizen, "id": "home"}
    return [
        (day(2), remember(citizen, "home", description="Ada lives in Lisbon", valid_at=moment(1))),
        (day(12), Supersede(**who, description="Ada lives in Porto", effective_at=moment(10))),
        (day(15), Correct(**who, description="Ada lives in Braga")),
        (day(22), Retract(**who, effective_at=moment(20), reason="reality_changed")),
    ]


async def lived(deps: Deps, citizen: str) -> None:
    for at, command in life(citizen):
        await stored(deps, command, now=at)


async def then(deps: Deps, citizen: str, valid: float, known: float | None) -> ConsciousnessStream:
    known_at: dict[str, Any] = {} if known is None else {"known_at": moment(known)}
    return await ask(
        deps, citizen, "Where does Ada live?", temporal_mode="point_in_time", as_of_time=moment(valid), **known_at
    )


@pytest.mark.parametrize("by", ["vector_results", "graph_results"])
async def test_the_past_is_seen_as_it_was_and_as_it_was_known(
    deps: Deps, fresh_citizen: str, likeness: str, by: str
) -> None:
    await lived(deps, fresh_citizen)
    seen = {}
    for valid, known in (
        (5, 1), (0, 3), (5, 2), (5, 3), (11, 3), (9.9, 13), (10, 13), (11, 13), (5, 16), (11, 15), (11, 16),
        (11, 23), (19.9, 23), (20, 23), (21, 16), (21, 23),
    ):  # fmt: skip
        results = getattr((await then(deps, fresh_citizen, valid, known)).levels["n1_personal"], by)
        seen[valid, known] = [memory.description.removeprefix("Ada lives in ") for memory in results]
    assert seen == {
        (5, 1): [],
        (0, 3): [],
        (5, 2): ["Lisbon"],
        (5, 3): ["Lisbon"],
        (11, 3): ["Lisbon"],
        (9.9, 13): ["Lisbon"],
        (10, 13): ["Porto"],
        (11, 13): ["Porto"],
        (5, 16): ["Lisbon"],
        (11, 15): ["Braga"],
        (11, 16): ["Braga"],
        (11, 23): ["Braga"],
        (19.9, 23): ["Braga"],
        (20, 23): [],
        (21, 16): ["Braga"],
        (21, 23): [],
    }


async def test_without_known_at_a_moment_is_seen_as_it_was_known_then(deps: Deps, fresh_citizen: str) -> None:
    await lived(deps, fresh_citizen)
    seen = [
        [memory.description.rpartition(" ")[2] for memory in found(await then(deps, fresh_citizen, number, None))]
        for number in (1, 3, 11, 13, 16, 21, 23)
    ]
    assert seen == [[], ["Lisbon"], ["Lisbon"], ["Porto"], ["Braga"], ["Braga"], []]


async def test_known_at_alone_asks_what_is_true_now_as_it_was_known_then(deps: Deps, fresh_citizen: str) -> None:
    await lived(deps, fresh_citizen)
    asked: dict[str, Any] = {"temporal_mode": "point_in_time", "known_at": moment(13)}
    for now, city in ((9, "Lisbon"), (11, "Porto"), (300, "Porto")):
        stream = await ask(deps, fresh_citizen, "Where does Ada live?", now=day(now), **asked)
        assert [memory.description.rpartition(" ")[2] for memory in found(stream)] == [city]


async def test_periods_are_closed_open_to_the_microsecond(deps: Deps, fresh_citizen: str, likeness: str) -> None:
    tick = timedelta(microseconds=1)
    begins, ends, known, ended = moment(1), moment(9), moment(12), moment(15)
    lasting = remember(fresh_citizen, "stay", valid_at=begins, invalid_at=ends)
    await stored(deps, lasting, now=to_instant(known))
    await stored(deps, Retract(citizen_id=fresh_citizen, id="stay"), now=to_instant(ended))
    seen = {}
    for valid in (begins - tick, begins, ends - tick, ends):
        for at in (known - tick, known, ended - tick, ended):
            asked: dict[str, Any] = {"temporal_mode": "point_in_time", "as_of_time": valid, "known_at": at}
            seen[valid, at] = bool(found(await ask(deps, fresh_citizen, "stay", **asked)))
    inside = {(valid, at) for valid in (begins, ends - tick) for at in (known, ended - tick)}
    assert {pair for pair, is_seen in seen.items() if is_seen} == inside


async def test_the_present_is_what_holds_now_as_known_now(deps: Deps, fresh_citizen: str, likeness: str) -> None:
    seen = []
    for at, command in life(fresh_citizen):
        await stored(deps, command, now=at)
        stream = await ask(deps, fresh_citizen, "Where does Ada live?", now=at)
        seen.append([memory.description.rpartition(" ")[2] for memory in found(stream)])
    assert seen == [["Lisbon"], ["Porto"], ["Braga"], []]


async def test_a_memory_that_never_held_is_visible_only_while_it_was_believed(
    deps: Deps, fresh_citizen: str, likeness: str
) -> None:
    await stored(deps, remember(fresh_citizen, "rumour", valid_at=moment(1)), now=day(2))
    await stored(deps, Retract(citizen_id=fresh_citizen, id="rumour"), now=day(8))
    assert ids(found(await ask(deps, fresh_citizen, "rumour"))) == []
    asked: dict[str, Any] = {"temporal_mode": "point_in_time", "as_of_time": moment(5)}
    assert ids(found(await ask(deps, fresh_citizen, "rumour", **asked))) == ["rumour"]
    assert ids(found(await ask(deps, fresh_citizen, "rumour", **asked, known_at=moment(8)))) == []
    counts = await reader.counts(deps.graph(graph_name(Level.N1, fresh_citizen)))
    assert (counts.traces, counts.past_traces) == (0, 1)


def versions(stream: ConsciousnessStream) -> list[tuple[int, str]]:
    return sorted((memory.version, memory.description.rpartition(" ")[2]) for memory in found(stream))


async def test_the_full_history_has_every_record_with_its_times(
    deps: Deps, fresh_citizen: str, likeness: str
) -> None:
    await lived(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, "Where does Ada live?", temporal_mode="full_history")
    assert versions(stream) == [(1, "Lisbon"), (2, "Lisbon"), (3, "Porto"), (4, "Braga"), (5, "Braga")]
    records = {memory.version: memory for memory in found(stream)}
    assert [(r.valid_at, r.invalid_at, r.created_at, r.expired_at) for _, r in sorted(records.items())] == [
        (moment(1), None, moment(2), moment(12)),
        (moment(1), moment(10), moment(12), None),
        (moment(10), None, moment(12), moment(15)),
        (moment(10), None, moment(15), moment(22)),
        (moment(10), moment(20), moment(22), None),
    ]
    assert records[1].invalidation_reason == "reality_changed"
    assert records[3].invalidation_reason == "discovered_false"


async def test_a_question_for_what_was_before_is_told_where_it_stands(deps: Deps, fresh_citizen: str) -> None:
    said = remember(fresh_citizen, "home", description="Ada lives in Porto.", valid_at=moment(1))
    await stored(deps, said)
    now = Supersede(citizen_id=fresh_citizen, id="home", description="Ada lives in Braga.", effective_at=moment(5))
    await stored(deps, now)
    note = "1 memory said something else before: ask with temporal_mode full_history"
    assert note in (await ask(deps, fresh_citizen, "Where did Ada live before?")).notes
    assert note not in (await ask(deps, fresh_citizen, "Where does Ada live?")).notes


@pytest.mark.parametrize(
    ("start", "end", "known"),
    [
        (None, None, [1, 2, 3, 4, 5]),
        (None, 12, [1]),
        (12, 15, [1, 2, 3]),
        (13, 16, [2, 3, 4]),
        (22, None, [2, 4, 5]),
        (None, 2, []),
    ],
)
async def test_evolution_has_the_records_that_were_held_or_changed_in_the_range(
    deps: Deps, fresh_citizen: str, start: int | None, end: int | None, known: list[int]
) -> None:
    await lived(deps, fresh_citizen)
    bounds = {"time_range_start": start, "time_range_end": end}
    asked: dict[str, Any] = {name: moment(number) for name, number in bounds.items() if number is not None}
    stream = await ask(deps, fresh_citizen, "Where does Ada live?", temporal_mode="evolution", **asked)
    assert [version for version, _ in versions(stream)] == known


@pytest.mark.parametrize(("change", "reason"), [(12, "reality_changed"), (15, "discovered_false")])
async def test_a_change_belongs_to_the_one_range_that_begins_with_it(
    deps: Deps, fresh_citizen: str, change: int, reason: str
) -> None:
    await lived(deps, fresh_citizen)
    told = []
    for start, end in ((1, change), (change, change + 1)):
        bounds: dict[str, Any] = {"time_range_start": moment(start), "time_range_end": moment(end)}
        stream = await ask(deps, fresh_citizen, "Where does Ada live?", temporal_mode="evolution", **bounds)
        told.append([one for one in stream.temporal_dissonances if one.corrected_at == moment(change)])
        assert all(one.expired_at is None or one.expired_at < moment(end) for one in found(stream))
    assert [[one.dissonance_type for one in some] for some in told] == [[], [reason]]


async def test_a_link_is_seen_while_it_holds_and_is_known(deps: Deps, fresh_citizen: str) -> None:
    both = [remember(fresh_citizen, name, valid_at=moment(1)) for name in ("Ada", "Charles")]
    friends = relate(fresh_citizen, "Ada", "Charles", valid_at=moment(5), invalid_at=moment(9))
    await stored(deps, *both, now=day(2) - 10)
    await stored(deps, friends, now=day(3))
    seen = {}
    for valid, known in ((4, 10), (5, 10), (8, 10), (9, 10), (6, 2), (6, 3)):
        stream = await then(deps, fresh_citizen, valid, known)
        assert sorted(ids(found(stream))) == ["Ada", "Charles"]
        seen[valid, known] = len(stream.levels["n1_personal"].relationships)
    assert seen == {(4, 10): 0, (5, 10): 1, (8, 10): 1, (9, 10): 0, (6, 2): 0, (6, 3): 1}


steps = st.lists(
    st.tuples(st.sampled_from(["supersede", "correct", "retract"]), st.none() | st.integers(1, 12)), max_size=4
)


type Belief = dict[int, tuple[str, tuple[int, ...]]]
"""What is said of a day, and the record that says it."""


def after_step(before: Belief, kind: str, effective: int | None, number: int) -> Belief:
    """What is believed after a step that was stored, from the words of the rules alone."""
    last = before[max(before)][1]
    if kind == "correct" or (kind == "retract" and effective is None):
        changed = [one for one, (_, record) in before.items() if record == last]
    else:
        start = 2 if effective is None else effective
        changed = [one for one in before if one >= start]
    rest = {one: what for one, what in before.items() if one not in changed}
    if kind == "retract":
        return rest
    return {**rest, **{one: (f"said {number}", (*before[one][1], number)) for one in changed}}


@settings(max_examples=12)
@given(steps, st.lists(st.tuples(st.integers(0, 13), st.integers(0, 5)), min_size=6, max_size=6, unique=True))
async def test_any_question_about_the_past_gets_the_answer_of_a_model_that_kept_every_belief(
    deps: Deps, taken: list[tuple[str, int | None]], asked: list[tuple[int, int]]
) -> None:
    citizen, memory_id = f"t{uuid4().hex}", uuid4().hex
    # What was believed of each day, and in which record, from the transaction time of each step on; step n is
    # known at day 20 + n. The last day stands for all that come.
    believed: list[Belief] = [dict.fromkeys(range(2, 14), ("said 0", ()))]
    await stored(deps, remember(citizen, memory_id, description="said 0", valid_at=moment(2)), now=day(20))
    for number, (kind, effective) in enumerate(taken, start=1):
        receipt = await a_step(deps, (citizen, memory_id), (kind, effective, number))
        before = believed[-1]
        believed.append(after_step(before, kind, effective, number) if receipt == "stored" else before)
    for valid, known in asked:
        stream = await ask(
            deps,
            citizen,
            memory_id,
            temporal_mode="point_in_time",
            as_of_time=moment(valid),
            known_at=moment(20 + known),
        )
        seen = [memory.description for memory in found(stream) if memory.node_id == memory_id]
        expected = believed[min(known, len(believed) - 1)].get(valid)
        assert seen == ([] if expected is None else [expected[0]])


async def a_step(deps: Deps, of: tuple[str, str], step: tuple[str, int | None, int]) -> str:
    kind, effective, number = step
    who: dict[str, Any] = {"citizen_id": of[0], "id": of[1]}
    at = None if effective is None else moment(effective)
    command: Command = {
        "supersede": Supersede(**who, description=f"said {number}", effective_at=at or moment(2)),
        "correct": Correct(**who, description=f"said {number}"),
        "retract": Retract(**who, effective_at=at),
    }[kind]
    (receipt,) = await send(deps, command, now=day(20 + number))
    return receipt.status


# --- filters and limits ----------------------------------------------------------------------------------


async def felt_life(deps: Deps, citizen: str) -> None:
    await stored(
        deps,
        remember(citizen, "calm", energy=0.2, confidence=0.9, emotion_vector={"calm": 0.5}),
        remember(citizen, "thrill", energy=0.8, confidence=0.8, emotion_vector={"excited": 0.9, "joy": 0.2}),
        remember(citizen, "doubt", energy=0.8, confidence=0.3, emotion_vector={"Excitement": 0.1, "unsure": 0.6}),
        remember(citizen, "nothing felt", energy=0.6, confidence=0.6),
        relate(citizen, "calm", "thrill"),
    )


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, ["calm", "doubt", "nothing felt", "thrill"]),
        ({"min_energy": 0.6}, ["doubt", "nothing felt", "thrill"]),
        ({"min_energy": 0.61}, ["doubt", "thrill"]),
        ({"min_confidence": 0.8}, ["calm", "thrill"]),
        ({"min_energy": 0.5, "min_confidence": 0.5}, ["nothing felt", "thrill"]),
        ({"required_emotions": ["excitement"]}, ["doubt", "thrill"]),
        ({"required_emotions": ["Excited"]}, ["doubt", "thrill"]),
        ({"required_emotions": ["excited", "uncertainty"]}, ["doubt"]),
        ({"required_emotions": ["awe"]}, []),
        ({"required_emotions": ["excited", "uncertainty"], "emotions_match": "any"}, ["doubt", "thrill"]),
        ({"required_emotions": ["awe", "uncertainty"], "emotions_match": "any"}, ["doubt"]),
        ({"required_emotions": [], "emotions_match": "any"}, ["calm", "doubt", "nothing felt", "thrill"]),
        ({"required_emotions": []}, ["calm", "doubt", "nothing felt", "thrill"]),
    ],
)
@pytest.mark.parametrize("mode", ["current", "full_history"])
async def test_only_what_passes_the_felt_filter_is_found(
    deps: Deps, fresh_citizen: str, asked: dict[str, Any], expected: list[str], mode: str
) -> None:
    await felt_life(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, "calm thrill doubt", temporal_mode=mode, **asked)
    assert sorted(ids(found(stream))) == expected


@pytest.mark.parametrize("levels", [["N1"], ["N2"], ["N3", "N1"], ["N1", "N2", "N3"]])
async def test_only_the_levels_asked_for_are_read(deps: Deps, fresh_citizen: str, levels: list[str]) -> None:
    word = f"w{uuid4().hex}"
    await stored(deps, *(remember(fresh_citizen, f"{word} {level}", level=level) for level in ("N1", "N2", "N3")))
    stream = await ask(deps, fresh_citizen, word, levels=levels)
    names = {"N1": "n1_personal", "N2": "n2_collective", "N3": "n3_ecosystem"}
    assert list(stream.levels) == [names[level] for level in levels]
    for level in levels:
        results = stream.levels[names[level]]
        assert f"{word} {level}" in ids(results.graph_results)
        assert {memory.level for memory in results.vector_results} == {Level(level)}
    assert stream.query_count == 2 * len(levels)
    assert [timing.query for timing in stream.timings] == [
        f"{level}_{kind}" for level in levels for kind in ("vector", "graph")
    ]
    assert all(timing.milliseconds > 0.0 and timing.rows > 0 for timing in stream.timings)
    assert stream.degraded == ()


@pytest.mark.parametrize(
    ("asked", "passing"), [({"min_energy": 0.8}, 6), ({"required_emotions": ["awe"]}, 6), ({}, 50)]
)
@pytest.mark.parametrize("mode", ["current", "full_history"])
async def test_a_memory_that_passes_the_filter_is_found_however_many_others_are_nearer(
    deps: Deps, crowd: str, asked: dict[str, Any], passing: int, mode: str
) -> None:
    stream = await ask(deps, crowd, "a walk by the sea", temporal_mode=mode, max_results_per_level=50, **asked)
    near = ids(stream.levels["n1_personal"].vector_results)
    assert len(near) == passing
    (timing,) = [timing for timing in stream.timings if timing.query == "N1_vector"]
    assert timing.asked_again is bool(asked)
    if asked:
        assert sorted(near) == [f"rare {number}" for number in range(6)]


@pytest.fixture(scope="module")
async def crowd(deps: Deps) -> str:
    """A citizen with four hundred memories near to one question, and six of another kind."""
    citizen = f"t{uuid4().hex}"
    near = [remember(citizen, f"walk {n}", description="a walk by the sea", energy=0.1) for n in range(400)]
    far: dict[str, Any] = {"description": "the tax office", "energy": 0.9, "emotion_vector": {"awe": 0.9}}
    await stored(deps, *near, *(remember(citizen, f"rare {number}", **far) for number in range(6)))
    return citizen


@pytest.mark.parametrize(("holding_both", "again"), [(12, False), (2, True)])
@pytest.mark.parametrize("mode", ["current", "full_history"])
async def test_among_frequent_words_memories_with_two_of_them_are_anchors(
    deps: Deps, fresh_citizen: str, holding_both: int, again: bool, mode: str
) -> None:
    long = "the harbour and, after many other words that say nothing of it and only make it longer, the market"
    one = [
        remember(fresh_citizen, f"{w} {n}", name="note", description=w)
        for w in ("harbour", "market")
        for n in range(50)
    ]
    both = [remember(fresh_citizen, f"both {n}", name="note", description=long) for n in range(holding_both)]
    await stored(deps, *one, *both)
    stream = await ask(deps, fresh_citizen, "harbour market", temporal_mode=mode)
    (timing,) = [timing for timing in stream.timings if timing.query == "N1_graph"]
    assert timing.asked_again is again
    assert timing.rows == (40 if again else holding_both)


# --- names, neighbours, links ----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["current", "full_history"])
@pytest.mark.parametrize("name", ["Caroline", "Carolinne", "Caro"])
async def test_a_name_in_the_question_starts_the_traversal_even_misspelt(
    deps: Deps, fresh_citizen: str, name: str, mode: str
) -> None:
    caroline = remember(
        fresh_citizen, "p1", node_type="Person", name="person_Caroline", aliases=["Caro"], description=""
    )
    await stored(
        deps,
        caroline,
        remember(fresh_citizen, "p2", node_type="Person", name="person_Melanie"),
        *(remember(fresh_citizen, f"t{number}", name=f"turn {number}") for number in range(4)),
        relate(fresh_citizen, "t1", "p1", relation_type="SAID_BY"),
        relate(fresh_citizen, "t2", "t1"),
        relate(fresh_citizen, "t3", "p2", relation_type="SAID_BY"),
    )
    # Likeness is taken away, so that all there is came over links from the name.
    scan = "scan_now" if mode == "current" else "scan_then"
    hurt = replace(deps, connection=Hurt(deps.connection, (graph_name(Level.N1, fresh_citizen), scan), BROKEN))
    stream = await ask(hurt, fresh_citizen, f"what of {name}", temporal_mode=mode)
    assert stream.entities == ("person_Caroline",)
    assert sorted(ids(stream.levels["n1_personal"].graph_results)) == ["p1", "t1", "t2"]


async def test_a_question_that_names_nobody_starts_from_its_words(deps: Deps, fresh_citizen: str) -> None:
    await stored(
        deps,
        remember(fresh_citizen, "a", description="the bridge over the river"),
        remember(fresh_citizen, "b", description="it was cold"),
        remember(fresh_citizen, "c", description="we went home"),
        relate(fresh_citizen, "a", "b"),
    )
    stream = await ask(deps, fresh_citizen, "Tell me about the bridges")
    assert stream.entities == ()
    assert sorted(ids(stream.levels["n1_personal"].graph_results)) == ["a", "b"]


async def test_a_relationship_is_shown_with_all_it_carries_and_both_its_ends(
    deps: Deps, fresh_citizen: str
) -> None:
    carried: dict[str, Any] = {
        "relation_type": "JUSTIFIES",
        "energy": 0.25,
        "emotion_vector": {"joy": 0.5, "fear": 0.125},
        "felt_quality": "warm",
        "sensory_details": {"smell": "coffee"},
        "resolution_state": "blocked",
        "energy_transfer_coefficient": 0.75,
        "extra": {"weather": "rain"},
    }
    await stored(
        deps,
        remember(fresh_citizen, "a", description="the bridge"),
        remember(fresh_citizen, "b", description="it was cold"),
        relate(fresh_citizen, "b", "a", **carried),
    )
    results = (await ask(deps, fresh_citizen, "bridge")).levels["n1_personal"]
    (link,) = results.relationships
    assert {name: getattr(link, name) for name in carried} == carried
    assert (link.source_id, link.target_id) == ("b", "a")
    assert {"a", "b"} <= set(ids(results.graph_results))


async def test_every_relationship_has_both_ends_in_the_stream(deps: Deps, fresh_citizen: str) -> None:
    memories = [remember(fresh_citizen, f"m{number}", description="walk") for number in range(30)]
    ring = [relate(fresh_citizen, f"m{number}", f"m{(number * 7 + 1) % 30}") for number in range(30)]
    await stored(deps, *memories, *ring)
    limits: list[dict[str, Any]] = [{}, {"max_results_per_level": 5}, {"max_tokens": 2000}]
    for asked in limits:
        stream = await ask(deps, fresh_citizen, "walk", **asked)
        shown = set(ids(found(stream)))
        assert shown
        for link in stream.levels["n1_personal"].relationships:
            assert {link.source_id, link.target_id} <= shown


# --- the answer as a whole -------------------------------------------------------------------------------


def ordered(stream: ConsciousnessStream) -> list[ConsciousnessNode]:
    return list(stream.activation_tiers.ordered())


@pytest.mark.parametrize("mode", ["current", "evolution"])
async def test_an_explained_score_is_the_sum_of_its_terms(deps: Deps, crowd: str, mode: str) -> None:
    stream = await ask(deps, crowd, "an excited walk by the sea", explain=True, temporal_mode=mode)
    assert len(ordered(stream)) > 20
    for memory in ordered(stream):
        terms = dict(memory.score_terms or {})
        parts = [terms.pop(name) for name in ("likeness", "words", "spread", "sitting")]
        assert all(part >= 0.0 for part in parts)
        assert set(terms) == {"relevance", "priority", "confidence", "emotional_resonance", "incompleteness"}
        assert sum(terms.values()) == pytest.approx(memory.consciousness_adjusted_score, abs=1e-5)
        assert memory.relevance_score == pytest.approx(terms["relevance"], abs=1e-5)
    scores = [memory.consciousness_adjusted_score or 0.0 for memory in ordered(stream)]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("mode", ["current", "full_history"])
async def test_reading_never_makes_a_graph(deps: Deps, fresh_citizen: str, mode: str) -> None:
    before = await deps.connection.command("GRAPH.LIST")
    await ask(deps, fresh_citizen, "anything", levels=["N1", "N2", "N3"], temporal_mode=mode)
    assert sorted(await deps.connection.command("GRAPH.LIST")) == sorted(before)


questions = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("|@()[]{}%*\"'-~:$=<>;\\"), min_size=1
).filter(lambda text: bool(text.strip()))


QUESTIONED = f"t{uuid4().hex}"


@settings(max_examples=30)
@given(questions, st.sampled_from(["current", "full_history"]))
async def test_whatever_is_asked_is_answered(deps: Deps, question: str, mode: str) -> None:
    await stored(deps, remember(QUESTIONED, "anchor", name="Caroline"))
    stream = await ask(deps, QUESTIONED, question, temporal_mode=mode)
    assert stream.degraded == ()
    assert stream.levels["n1_personal"].vector_results


# --- a part that fails -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "reason"), [(ENDLESS, "deadline"), (BROKEN, "refused")])
@pytest.mark.parametrize(
    ("level", "query", "name"),
    [
        (Level.N1, "scan_now", "N1_vector"),
        (Level.N1, "graph_now", "N1_graph"),
        (Level.N2, "graph_now", "N2_graph"),
    ],
)
async def test_a_query_that_fails_costs_its_part_and_is_named(
    deps: Deps, fresh_citizen: str, level: Level, query: str, name: str, text: str, reason: str
) -> None:
    word = f"w{uuid4().hex}"
    await stored(deps, *(remember(fresh_citizen, f"{word} {where}", level=where) for where in ("N1", "N2", "N3")))
    asked = ["N1", "N2", "N3"]
    whole = await ask(deps, fresh_citizen, word, levels=asked)
    hurt = replace(deps, connection=Hurt(deps.connection, (graph_name(level, fresh_citizen), query), text))
    stream = await ask(hurt, fresh_citizen, word, levels=asked)
    assert [missing.query for missing in stream.degraded] == [name]
    assert reason in stream.degraded[0].reason
    assert stream.query_count == 6
    for place, there in stream.levels.items():
        if not place.startswith(name[:2].lower()):
            assert ids(there.vector_results) == ids(whole.levels[place].vector_results)
            assert ids(there.graph_results) == ids(whole.levels[place].graph_results)
    own = stream.levels[next(place for place in stream.levels if place.startswith(name[:2].lower()))]
    failed, kept = own.vector_results, own.graph_results
    if name.endswith("graph"):
        failed, kept = kept, failed
    assert f"{word} {level}" in ids(kept)
    assert f"{word} {level}" not in ids(failed)


class Mute(Hurt):
    """The store, but one query on one graph is never answered."""

    async def read(self, graph: str, query: Query, header: str, timeout_ms: int | None = None) -> list[Row]:
        if (graph, query.name) == self._hurt:
            await asyncio.Event().wait()
        return await super().read(graph, query, header, timeout_ms)


async def test_a_query_that_is_never_answered_is_not_waited_for(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "walk"))
    mute = Mute(deps.connection, (graph_name(Level.N1, fresh_citizen), "scan_now"), "")
    mute.timeout_ms = 1500
    stream = await ask(replace(deps, connection=mute), fresh_citizen, "walk")
    assert [missing.query for missing in stream.degraded] == ["N1_vector"]
    assert "no answer within" in stream.degraded[0].reason
    assert ids(stream.levels["n1_personal"].graph_results) == ["walk"]


async def test_more_questions_than_the_engine_takes_at_once_wait_for_their_turn(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "harbour"))
    ended = asyncio.Event()
    held = [asyncio.create_task(deps.connection.reads.run(ended.wait)) for _ in range(READS_AT_ONCE)]
    waiting = asyncio.create_task(ask(deps, fresh_citizen, "harbour"))
    await wait_until_async(lambda: deps.connection.reads.waiting)
    assert not waiting.done()
    ended.set()
    stream = await waiting
    await asyncio.gather(*held)
    assert (ids(found(stream)), stream.degraded) == (["harbour"], ())


# --- what is cut is told ---------------------------------------------------------------------------------


async def test_with_explain_a_note_says_how_many_starts_are_followed_over_two_links(
    deps: Deps, fresh_citizen: str
) -> None:
    c = fresh_citizen
    await stored(deps, *(remember(c, f"m{place}", description="the mill") for place in range(5)))
    [why] = (await ask(deps, c, "the mill", explain=True)).notes
    assert why.startswith("answer_confidence, in log-odds: "), "nothing hangs on them"
    await stored(deps, relate(c, "m4", "m3"))
    assert (await ask(deps, c, "the mill")).notes == (), "how the engine was asked is for who wants it explained"
    stream = await ask(deps, c, "the mill", explain=True)
    near = (
        "what is two links away was looked for from the first starts only: 3 of 5 (N1_vector), 3 of 5 (N1_graph)"
    )
    assert near in stream.notes
    none = await ask(deps, c, "the mill", min_energy=0.9, explain=True)
    assert not any(note.startswith("what is two links away") for note in none.notes)


async def test_named_memories_that_are_no_starts_are_reported(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    names = ["Ada", "Bruno", "Clara", "Dario", "Emil", "Frida", "Gero", "Hanna", "Ines", "Jonas"]
    await stored(deps, *(remember(c, f"person:{name}", name=name, node_type="Person") for name in names))
    stream = await ask(deps, c, f"What do {', '.join(names[:8])} eat?")
    assert (sorted(stream.entities), stream.notes) == (names[:8], ())
    stream = await ask(deps, c, f"What do {', '.join(names)} eat?")
    assert len(stream.entities) == 8
    [note] = stream.notes
    said, _, left = note.partition("; not ")
    assert said == "N1: the question names 10 memories, the first 8 are starts"
    assert sorted(left.split(", ")) == sorted(set(names) - set(stream.entities))


async def test_a_memory_with_many_records_leaves_room_for_the_others_that_are_named(
    deps: Deps, fresh_citizen: str
) -> None:
    c = fresh_citizen
    names = ["Ada", "Bruno", "Clara"]
    await stored(deps, *(remember(c, f"person:{name}", name=name, node_type="Person") for name in names))
    for number in range(6):
        for name in names:
            await stored(
                deps, Correct(citizen_id=c, id=f"person:{name}", energy=number / 10), now=NOW + number + 1
            )
    stream = await ask(deps, c, "Ada, Bruno and Clara", temporal_mode="full_history", now=NOW + 100, explain=True)
    [graph] = [timing for timing in stream.timings if timing.query == "N1_graph"]
    assert graph.rows == 21
