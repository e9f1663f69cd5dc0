"""Beliefs that changed (003, component 2), against the bitemporal commands that change them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.mind.dissonance import (
    count_recurring,
    detect_temporal_dissonances,
    discovery_fields,
    infer_dissonances,
    unbroken_start,
)
from schemas.memory import ConsciousnessNode, InvalidationReason
from schemas.stream import RecurringCorrection, TemporalDissonance
from schemas.temporal import Instant, Period, TemporalMode, open_end, to_datetime
from substrate import bitemporal
from substrate.bitemporal import Record, RewriteContext
from tests.builders import a_node

HOUR = 3_600_000_000
NOW = datetime(2026, 1, 10, tzinfo=UTC)
HISTORY = TemporalMode.FULL_HISTORY


def shown(record: Record, level: str = "N1") -> ConsciousnessNode:
    """A record as a stream shows it."""
    return a_node(
        node_id=record.id,
        version=record.version,
        level=level,
        valid_at=to_datetime(record.valid.start),
        invalid_at=open_end(record.valid.end),
        created_at=to_datetime(record.known.start),
        expired_at=open_end(record.known.end),
        invalidation_reason=record.reason or record.closed_reason,
        closed_reason=record.closed_reason,
        **record.content,
    )


@dataclass
class Life:
    """One identity under the commands of DESIGN §4, with what it has believed."""

    id: str
    content: Mapping[str, Any] = field(default_factory=lambda: {"name": "m", "description": "A"})
    start: Instant = HOUR
    records: list[Record] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.now = self.start
        self.open: Record | None = Record(self.id, 1, Period(self.start), Period(self.start), self.content)
        self.records.append(self.open)

    def _carry_out(self, portion: Period, said: Mapping[str, Any] | None, reason: InvalidationReason) -> Life:
        self.now += HOUR
        context = RewriteContext(self.now, max(one.version for one in self.records), reason)
        change = bitemporal.rewrite(
            [self.latest], portion, lambda one: None if said is None else {**one.content, **said}, context
        )
        self.records[self.records.index(self.latest)] = change.closed[0]
        self.records += [one.record for one in change.opened]
        self.open = change.opened[-1].record if change.opened else None
        return self

    @property
    def latest(self) -> Record:
        assert self.open is not None
        return self.open

    def supersede(self, **said: Any) -> Life:
        effective = self.latest.valid.start + HOUR // 2
        return self._carry_out(Period(effective), said, "reality_changed")

    def correct(self, **said: Any) -> Life:
        return self._carry_out(self.latest.valid, said, "discovered_false")

    def retract(self, effective: Instant | None = None) -> Life:
        begins = self.latest.valid.start if effective is None else effective
        return self._carry_out(Period(begins), None, "discovered_false")

    def told(self, mode: TemporalMode = HISTORY) -> list[tuple[str, str, str]]:
        found = detect_temporal_dissonances(map(shown, self.records), mode)
        return [(one.original_belief, one.corrected_belief, one.dissonance_type) for one in found]


# --- what is a change of belief --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("life", "told"),
    [
        (Life("m"), []),
        (Life("m").supersede(description="B"), [("A", "B", "reality_changed")]),
        (Life("m").correct(description="B"), [("A", "B", "discovered_false")]),
        (
            Life("m").correct(description="B").correct(description="C"),
            [("A", "B", "discovered_false"), ("B", "C", "discovered_false")],
        ),
        (
            Life("m").supersede(description="B").supersede(description="C").correct(description="D"),
            [("A", "B", "reality_changed"), ("B", "C", "reality_changed"), ("C", "D", "discovered_false")],
        ),
        # back and forth are two changes
        (
            Life("m").supersede(description="B").supersede(description="A"),
            [("A", "B", "reality_changed"), ("B", "A", "reality_changed")],
        ),
        # nothing that was believed changed
        (Life("m").correct(energy=0.9), []),
        (Life("m").supersede(resolution_state="resolved"), []),
        (Life("m").correct(description=" A\n"), []),
        # a change after one of these is still one change
        (Life("m").correct(energy=0.9).correct(description="B"), [("A", "B", "discovered_false")]),
        # a retraction continues the content up to its end, or leaves nothing
        (Life("m").retract(HOUR + 1), []),
        (Life("m").retract(), []),
        (Life("m").correct(description="B").retract(), [("A", "B", "discovered_false")]),
        # only the name changed
        (Life("m").correct(name="n"), [("m", "n", "discovered_false")]),
    ],
)
def test_each_change_of_belief_is_reported_once(life: Life, told: list[tuple[str, str, str]]) -> None:
    assert life.told() == told


@pytest.mark.parametrize(
    ("found", "told"),
    [((0, 1), [("A", "B")]), ((1, 2), [("B", "C")]), ((0, 2), []), ((0,), []), ((2,), [])],
)
def test_records_that_never_followed_one_another_are_no_pair(
    found: Sequence[int], told: list[tuple[str, str]]
) -> None:
    life = Life("m").correct(description="B").correct(description="C")
    changes = detect_temporal_dissonances([shown(life.records[place]) for place in found], HISTORY)
    assert [(one.original_belief, one.corrected_belief) for one in changes] == told


# --- what is told of it ----------------------------------------------------------------------------------


def test_the_fields_are_those_of_003() -> None:
    old = a_node(
        description="Phase 2 is incomplete",
        name="phase 2",
        expired_at=NOW + timedelta(days=2),
        invalidation_reason="discovered_false",
        emotion_vector={"calm": 0.1},
    )
    new = a_node(
        description="Phase 2 is complete",
        name="phase two",
        version=2,
        created_at=NOW + timedelta(days=2),
        emotion_vector={"shame": 0.6, "relief": 0.5},
        discovery_energy=0.8,
        correction_pattern_id="read-the-branch",
    )
    assert detect_temporal_dissonances([new, old], HISTORY) == [
        TemporalDissonance(
            node_id="m",
            level=old.level,
            node_name="phase 2",
            original_belief="Phase 2 is incomplete",
            corrected_belief="Phase 2 is complete",
            dissonance_type="discovered_false",
            correction_trigger="Corrected by read-the-branch",
            correction_pattern_id="read-the-branch",
            discovery_energy=0.8,
            discovery_emotions={"shame": 0.6, "relief": 0.5},
            belief_held_from=NOW,
            belief_held_until=NOW + timedelta(days=2),
            corrected_at=NOW + timedelta(days=2),
            held_seconds=172_800.0,
        )
    ]


def test_a_belief_of_several_stretches_is_as_old_as_its_oldest_record() -> None:
    def record(version: int, valid: Period, known: Period, said: str) -> Record:
        return Record("m", version, valid, known, {"name": "m", "description": said}, None, "discovered_false")

    early, late = Period(1, 2), Period(2, 3)
    records = [
        record(1, early, Period(HOUR, 5 * HOUR), "A"),
        record(2, late, Period(3 * HOUR, 5 * HOUR), "A"),
        record(3, Period(1, 3), Period(5 * HOUR, 6 * HOUR), "A"),
        record(4, Period(1, 3), Period(6 * HOUR), "B"),
    ]
    [one] = detect_temporal_dissonances(map(shown, records), HISTORY)
    assert one.belief_held_from == to_datetime(HOUR)


@pytest.mark.parametrize(("energy", "told"), [(None, 0.5), (0.0, 0.0), (1.0, 1.0)])
def test_a_discovery_that_says_nothing_moved_by_half_and_has_no_trigger(energy: float | None, told: float) -> None:
    (one,) = detect_temporal_dissonances(
        map(shown, Life("m").correct(description="B", discovery_energy=energy).records), HISTORY
    )
    assert (one.discovery_energy, one.correction_trigger) == (told, "Unknown correction trigger")
    assert (one.correction_pattern_id, one.discovery_emotions) == (None, None)


def test_errors_that_recur_are_counted_by_pattern() -> None:
    lives = [
        Life("a")
        .correct(description="B", correction_pattern_id="haste")
        .correct(description="C", correction_pattern_id="haste"),
        Life("b").correct(description="B", correction_pattern_id="haste"),
        Life("c").correct(description="B", correction_pattern_id="borrowed"),
        Life("d").correct(description="B"),
    ]
    found = detect_temporal_dissonances([shown(r) for life in lives for r in life.records], HISTORY)
    assert count_recurring(found) == [
        RecurringCorrection(correction_pattern_id="haste", count=3, node_ids=("a", "b")),
        RecurringCorrection(correction_pattern_id="borrowed", count=1, node_ids=("c",)),
    ]
    assert count_recurring([]) == []


# --- precision and recall --------------------------------------------------------------------------------

IDENTITIES, RECORDS = 200, 600
type Truth = set[tuple[str, str, str, str, datetime]]


def generated(seed: int) -> tuple[list[ConsciousnessNode], Truth]:
    """200 identities and 600 records made by random commands, shuffled, with each change of belief known."""
    rng = random.Random(seed)
    lives = [Life(f"m{number}_v{number % 3}", start=HOUR * rng.randrange(1, 50)) for number in range(IDENTITIES)]
    truth: Truth = set()
    total = IDENTITIES
    while total < RECORDS:
        life = rng.choice(lives)
        if life.open is None:
            continue
        change = rng.choice(["supersede", "correct", "correct", "retract"])
        if change == "retract" and (total < RECORDS - 40 or rng.random() < 0.5):
            continue
        before = str(life.latest.content["description"])
        after = rng.choice([before, f"belief {rng.randrange(10**6)}", f"belief {rng.randrange(10**6)}"])
        said = {"description": after, "energy": rng.random()}
        if change == "retract":
            life.retract(rng.choice([None, life.latest.valid.start + 1]))
        elif change == "correct" or total == RECORDS - 1:
            life.correct(**said)
            reason = "discovered_false"
        else:
            life.supersede(**said)
            reason = "reality_changed"
        if change != "retract" and after != before:
            truth.add((life.id, before, after, reason, to_datetime(life.latest.known.start)))
        total = sum(len(one.records) for one in lives)
    nodes = [shown(record) for life in lives for record in life.records]
    rng.shuffle(nodes)
    return nodes, truth


@pytest.mark.parametrize("seed", range(5))
def test_precision_and_recall_on_a_generated_history_are_one(seed: int) -> None:
    nodes, truth = generated(seed)
    assert (len({node.node_id for node in nodes}), len(nodes)) == (IDENTITIES, RECORDS)
    assert len(truth) > 100
    found = [
        (one.node_id, one.original_belief, one.corrected_belief, one.dissonance_type, one.corrected_at)
        for one in detect_temporal_dissonances(nodes, HISTORY)
    ]
    right = truth & set(found)
    assert (len(right) / len(found), len(right) / len(truth)) == (1.0, 1.0)
    assert len(found) == len(truth)


@given(st.lists(st.sampled_from(["A", "B", "C"]), max_size=8), st.lists(st.booleans(), min_size=8, max_size=8))
def test_there_are_as_many_dissonances_as_changes_of_mind(beliefs: list[str], world: list[bool]) -> None:
    life = Life("m")
    for belief, changed in zip(beliefs, world, strict=False):
        life = (life.supersede if changed else life.correct)(description=belief)
    assert len(life.told()) == sum(one != other for one, other in pairwise(["A", *beliefs]))


def test_the_model_of_the_test_closes_what_it_changes() -> None:
    life = Life("m").supersede(description="B")
    closed, kept, latest = life.records
    assert closed.known.end == kept.known.start == latest.known.start
    assert replace(kept, valid=closed.valid).content == closed.content


@given(st.lists(st.integers(1, 5), max_size=6), st.integers(1, 3))
def test_a_belief_is_as_old_as_the_first_of_the_records_without_a_gap(lengths: list[int], gap: int) -> None:
    ends = [100]
    for length in lengths:
        ends.append(ends[-1] - length)
    chain = [Period(start, end) for end, start in pairwise(ends)]
    apart = Period(ends[-1] - gap - 1, ends[-1] - gap)
    assert unbroken_start(100, chain[::-1]) == ends[-1]
    assert unbroken_start(100, [*chain, apart]) == ends[-1]
    assert unbroken_start(100, [apart] if ends[-1] == 100 else []) == 100


@pytest.mark.parametrize(
    ("reason", "emotions", "energy", "fields"),
    [
        (None, None, None, {}),
        ("Tom told me", None, None, {"correction_pattern_id": "Tom told me"}),
        (" Tom \n told  me", {"shame": 0.2, "surprise": 0.8}, None,
         {"correction_pattern_id": "Tom told me", "discovery_energy": 0.8}),
        (None, {"shame": 0.2}, 0.0, {"discovery_energy": 0.0}),
        (None, {}, None, {}),
    ],
)  # fmt: skip
def test_a_correction_carries_its_reason_and_its_strongest_feeling(
    reason: str | None, emotions: dict[str, float] | None, energy: float | None, fields: dict[str, Any]
) -> None:
    assert discovery_fields(reason, emotions, energy) == fields


def test_a_later_memory_that_tells_what_holds_instead_is_an_inferred_change_of_reality() -> None:
    earlier = a_node(node_id="berlin", description="I live in Berlin", valid_at=datetime(2025, 1, 4, tzinfo=UTC))
    later = a_node(node_id="lisbon", description="I moved to Lisbon", valid_at=datetime(2025, 6, 4, tzinfo=UTC))
    (change,) = infer_dissonances([(earlier, later)], TemporalMode.EVOLUTION)
    assert (change.node_id, change.corrected_by, change.dissonance_type) == ("berlin", "lisbon", "reality_changed")
    assert change.inferred
    assert (change.belief_held_from, change.belief_held_until) == (earlier.valid_at, later.valid_at)
    assert infer_dissonances([(earlier, later)], TemporalMode.CURRENT) == []
