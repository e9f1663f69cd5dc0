"""What time leaves of the energy of a memory or link, by the state of its work."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.mind.energy import DAY, NO_DECAY, Decay, effective_energy
from schemas.memory import HALF_LIVES, HalfLives, ResolutionState
from schemas.temporal import to_instant
from tests.builders import a_relationship

units = st.floats(0.0, 1.0)
ages = st.integers(-(10**17), 10**17)
states = st.none() | st.sampled_from(ResolutionState)
lives = st.builds(HalfLives, *[st.floats(1e-9, 36_500.0)] * 4)


@pytest.mark.parametrize(
    ("state", "energies"),
    # 0.8 × 2^(−days / half-life), after 0, 30, 90, 180 and 360 days
    [
        ("blocked", (0.8, 0.7551, 0.6727, 0.5657, 0.4)),
        ("in_progress", (0.8, 0.7127, 0.5657, 0.4, 0.2)),
        (None, (0.8, 0.6350, 0.4, 0.2, 0.05)),
        ("resolved", (0.8, 0.4, 0.1, 0.0125, 0.0002)),
    ],
)
def test_the_table_by_hand(state: str | None, energies: tuple[float, ...]) -> None:
    left = [effective_energy(0.8, state, days * DAY, HALF_LIVES) for days in (0, 30, 90, 180, 360)]
    assert left == pytest.approx(energies, abs=5e-5)


@given(units, states, ages, lives)
def test_energy_only_fades_and_never_below_nothing(
    energy: float, state: ResolutionState | None, age: int, half_lives: HalfLives
) -> None:
    assert 0.0 <= effective_energy(energy, state, age, half_lives) <= energy


@given(units, states, ages, ages)
def test_the_older_the_less(energy: float, state: ResolutionState | None, one: int, other: int) -> None:
    younger, older = sorted((one, other))
    left = [effective_energy(energy, state, age, HALF_LIVES) for age in (younger, older)]
    assert left == sorted(left, reverse=True)


@given(units, st.integers(0, 10**16))
def test_blocked_work_fades_slowest_and_resolved_work_fastest(energy: float, age: int) -> None:
    order = ("blocked", "in_progress", None, "resolved")
    left = [effective_energy(energy, state, age, HALF_LIVES) for state in order]
    assert left == sorted(left, reverse=True)


@given(units, states, st.integers(0, 400), st.integers(0, 400))
def test_what_is_left_after_two_stretches_is_what_the_second_leaves_of_the_first(
    energy: float, state: ResolutionState | None, first: int, second: int
) -> None:
    at_once = effective_energy(energy, state, (first + second) * DAY, HALF_LIVES)
    between = effective_energy(energy, state, first * DAY, HALF_LIVES)
    assert effective_energy(between, state, second * DAY, HALF_LIVES) == pytest.approx(at_once)


@given(units, states, st.integers(-(10**17), 0))
def test_what_is_still_to_come_or_of_a_clock_ahead_has_all_its_energy(
    energy: float, state: ResolutionState | None, age: int
) -> None:
    assert effective_energy(energy, state, age, HALF_LIVES) == energy


def test_a_record_shows_what_the_moment_asked_about_has_left_of_it() -> None:
    changed = datetime(2026, 1, 1, tzinfo=UTC)
    link = a_relationship(energy=0.8, resolution_state="resolved", valid_at=changed)
    after = Decay(HALF_LIVES, to_instant(changed) + 30 * DAY)
    assert [one.effective_energy for one in after.show([link])] == [0.4]
    assert (NO_DECAY.show([link]), after.show([])) == ((link,), ())
