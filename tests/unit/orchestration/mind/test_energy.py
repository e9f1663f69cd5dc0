"""What the links found give back (003, component 5c)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.mind.energy import (
    Energy,
    apply_energy_feedback,
    bounds,
    drift,
    energy_feedback_potential,
    energy_shares,
    feed_back,
    relationship_transfer,
    relative_potential,
)
from schemas.memory import ConsciousnessRelationship, ResolutionState
from substrate.store.naming import MADE_OF_NAMES
from tests.builders import a_relationship

units = st.floats(0.0, 1.0)
feelings = st.none() | st.dictionaries(st.sampled_from(["joy", "fear", "calm", "awe"]), units, max_size=4)


links = st.lists(
    st.builds(
        lambda energy, transfer, state, felt: a_relationship(
            energy=energy, energy_transfer_coefficient=transfer, resolution_state=state, emotion_vector=felt
        ),
        units,
        units,
        st.sampled_from(ResolutionState),
        feelings,
    ),
    max_size=8,
)


@pytest.mark.parametrize(
    ("energy", "coefficient", "state", "felt", "transfer"),
    [
        # 0.8 x 0.5 = 0.4, then x 0.3, x 1.0, x 1.5
        (0.8, 0.5, "resolved", None, 0.12),
        (0.8, 0.5, "in_progress", None, 0.4),
        (0.8, 0.5, "blocked", None, 0.6),
        # an empty map is no emotion: x 1.0
        (0.8, 0.5, "blocked", {}, 0.6),
        # 0.6 x (0.7 + 0.6 = 1.3)
        (0.8, 0.5, "blocked", {"frustration": 0.7, "determination": 0.6}, 0.78),
        # a faint emotion takes away: 0.4 x 0.25
        (0.8, 0.5, "in_progress", {"calm": 0.25}, 0.1),
        # 0.9 + 0.8 + 0.7 = 2.4 is capped at 2.0
        (0.8, 0.5, "in_progress", {"joy": 0.9, "awe": 0.8, "hope": 0.7}, 0.8),
        # emotions that nobody felt: x 0.0
        (0.8, 0.5, "blocked", {"joy": 0.0}, 0.0),
        # the most that a link can give: 1 x 1 x 1.5 x 2.0
        (1.0, 1.0, "blocked", {"fear": 1.0, "anger": 1.0}, 3.0),
        (0.0, 1.0, "blocked", {"fear": 1.0}, 0.0),
        (1.0, 0.0, "blocked", {"fear": 1.0}, 0.0),
    ],
)
def test_the_transfer_of_a_link_by_hand(
    energy: float, coefficient: float, state: str, felt: dict[str, float] | None, transfer: float
) -> None:
    one = a_relationship(
        energy=energy, energy_transfer_coefficient=coefficient, resolution_state=state, emotion_vector=felt
    )
    assert relationship_transfer(one) == pytest.approx(transfer)


def test_the_potential_by_hand() -> None:
    # 0.12 + 0.4 + 0.78 = 1.3; 1.3 / 150
    three = [
        a_relationship(energy=0.8, resolution_state="resolved"),
        a_relationship(energy=0.8),
        a_relationship(energy=0.8, resolution_state="blocked", emotion_vector={"frustration": 0.7, "drive": 0.6}),
    ]
    assert energy_feedback_potential(three) == pytest.approx(1.3 / 150)


@pytest.mark.parametrize(
    ("current", "potential", "weight", "after"),
    [
        (0.5, 0.5, 0.3, 0.5),
        (0.5, 1.0, 0.3, 0.65),
        (0.5, 0.0, 0.3, 0.35),
        (0.6, 0.7, 0.3, 0.66),
        (0.95, 1.0, 0.3, 1.0),
        (0.05, 0.0, 0.3, 0.0),
        (0.5, 1.0, 0.0, 0.5),
        (0.5, 1.0, 1.0, 1.0),
    ],
)
def test_the_feedback_by_hand(current: float, potential: float, weight: float, after: float) -> None:
    assert apply_energy_feedback(current, potential, weight) == pytest.approx(after)


@given(units, units, units)
def test_energy_after_feedback_lies_between_zero_and_one(current: float, potential: float, weight: float) -> None:
    assert 0.0 <= apply_energy_feedback(current, potential, weight) <= 1.0


@given(units, units, units)
def test_more_potential_never_tires(current: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert apply_energy_feedback(current, low) <= apply_energy_feedback(current, high)


@given(links)
def test_the_potential_lies_between_zero_and_one_and_is_the_sum_of_the_shares(
    found: list[ConsciousnessRelationship],
) -> None:
    potential = energy_feedback_potential(found)
    assert 0.0 <= potential <= 1.0
    assert potential == pytest.approx(sum(one.transfer for one in energy_shares(found)) / 150)
    assert potential == energy_feedback_potential(found[::-1])


@given(st.floats(0.01, 1.0), st.floats(0.01, 1.0), st.none() | st.just({"joy": 0.4, "awe": 0.9}))
def test_blocked_gives_more_than_in_progress_and_that_more_than_resolved(
    energy: float, coefficient: float, felt: dict[str, float] | None
) -> None:
    resolved, in_progress, blocked = (
        relationship_transfer(
            a_relationship(
                energy=energy,
                energy_transfer_coefficient=coefficient,
                resolution_state=state,
                emotion_vector=felt,
            )
        )
        for state in ("resolved", "in_progress", "blocked")
    )
    assert 0.0 < resolved < in_progress < blocked <= 3.0


# --- the relative potential, and what it does to the energy --------------------------------------------------


@pytest.mark.parametrize(
    ("states", "share"),
    [
        (["blocked"], 1.0),
        (["in_progress"], 2 / 3),
        (["resolved"], 0.2),
        (["blocked", "resolved"], 0.6),
        (["in_progress", "resolved"], 1.3 / 3),
        ([], 0.5),
    ],
)
def test_the_relative_potential_by_hand(states: list[str], share: float) -> None:
    assert relative_potential([a_relationship(resolution_state=state) for state in states]) == pytest.approx(share)


@pytest.mark.parametrize(
    "without", [{"energy": 0.0}, {"energy_transfer_coefficient": 0.0}, {"emotion_vector": {"joy": 0.0}}]
)
def test_links_without_any_energy_to_give_change_nothing(without: dict[str, object]) -> None:
    assert relative_potential([a_relationship(resolution_state="blocked", **without)]) == 0.5


def test_a_link_that_the_service_made_tells_of_work_only_where_its_ends_do() -> None:
    made: dict[str, object] = {"source": "ingestion", "resolution_state": "resolved"}
    named: dict[str, object] = {"formation_trigger": MADE_OF_NAMES, "resolution_state": "resolved"}
    assert relative_potential([a_relationship(**made), a_relationship(**named)]) == 0.5
    assert relative_potential([a_relationship(**made, unset=("resolution_state",))]) == pytest.approx(0.2)
    assert relative_potential([a_relationship(source="ingestion", resolution_state="blocked")]) == 1.0
    order = a_relationship(source="ingestion", resolution_state="blocked", relation_type="NEXT")
    assert relative_potential([order]) == 0.5


@given(links)
def test_the_relative_potential_lies_between_all_resolved_and_all_blocked(
    found: list[ConsciousnessRelationship],
) -> None:
    relative = relative_potential(found)
    assert 0.2 - 1e-9 <= relative <= 1.0
    blocked = [one.model_copy(update={"resolution_state": ResolutionState.BLOCKED}) for one in found]
    assert relative <= relative_potential(blocked) + 1e-9 or relative == 0.5


@given(units, units, units)
def test_feedback_wakes_above_a_half_calms_below_and_goes_no_further_than_003(
    now: float, ordinary: float, relative: float
) -> None:
    after, asked = feed_back(Energy(now, ordinary), relative), apply_energy_feedback(now, relative)
    assert min(now, asked) <= after <= max(now, asked)
    least, greatest = bounds(ordinary)
    if relative > 0.5 and now < greatest - 1e-6 and asked > now:
        assert after > now
    if relative < 0.5 and now > least + 1e-6 and asked < now:
        assert after < now


@given(units, st.lists(st.tuples(units, st.integers(0, 100 * 3_600_000_000)), max_size=60))
def test_no_series_of_streams_carries_the_energy_beyond_its_bounds(
    ordinary: float, streams: list[tuple[float, int]]
) -> None:
    energy, (least, greatest) = ordinary, bounds(ordinary)
    for relative, later in streams:
        energy = drift(feed_back(Energy(energy, ordinary), relative), ordinary, later)
        assert least - 1e-9 <= energy <= greatest + 1e-9


@pytest.mark.parametrize(
    ("hours", "energy"), [(-5, 0.9), (0, 0.9), (12, 0.7), (24, 0.6), (36, 0.55), (10**9, 0.5)]
)
def test_the_energy_returns_to_the_ordinary_one_by_hand(hours: int, energy: float) -> None:
    assert drift(0.9, 0.5, hours * 3_600_000_000) == pytest.approx(energy)
