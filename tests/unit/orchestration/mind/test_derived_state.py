"""A state that nobody set, derived from memories: tables worked by hand, and laws."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.mind.derived_state import DAY, derive_state, is_own
from substrate.store.feelings import FeltMemory

NOW = 400 * DAY
UNIT = st.floats(0, 1)


def felt(memory_id: str, days: float = 0, **fields: Any) -> FeltMemory:
    unset = frozenset(fields.pop("unset", ()))
    whole = {"emotions": {}, "energy": 0.5, "goal": None, "work": None, "speaker": "user", **fields}
    return FeltMemory(memory_id, int(NOW - days * DAY), unset=unset, **whole)


def test_feelings_and_energy_are_means_in_which_the_newer_counts_more() -> None:
    now, before = felt("now", emotions={"joy": 0.9}, energy=0.9), felt("before", 2, emotions={"fear": 0.6})
    state = derive_state([before, now])
    # weights 1 and ½
    assert state.emotions == {"joy": pytest.approx(0.6), "fear": pytest.approx(0.2)}
    assert state.energy == pytest.approx((0.9 + 0.25) / 1.5, abs=1e-4)
    assert [(one.name, one.memory_ids) for one in state.sources] == [
        ("joy", ("now",)), ("fear", ("before",)), ("energy", ("now", "before"))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("speaker", "own"),
    [("user", True), ("Human", True), (None, True), ("Caroline", True), ("assistant", False), ("tool", False)],
)
def test_only_the_words_of_people_are_felt(speaker: str | None, own: bool) -> None:
    assert is_own(speaker) is own
    assert bool(derive_state([felt("m", emotions={"joy": 1.0}, speaker=speaker)]).emotions) is own


@given(st.lists(st.tuples(st.floats(0, 400), UNIT, UNIT, st.sampled_from(["joy", "fear", "hope"])), max_size=8))
def test_a_derived_state_stays_in_its_ranges_and_names_memories_that_exist(
    said: list[tuple[float, float, float, str]],
) -> None:
    memories = [
        felt(f"m{place}", days, energy=energy, emotions={name: amount}, goal=name)
        for place, (days, energy, amount, name) in enumerate(said)
    ]
    state = derive_state(memories)
    assert state == derive_state(reversed(memories))
    assert state.energy is None or 0.0 <= state.energy <= 1.0
    assert all(0.0 < amount <= 1.0 for amount in state.emotions.values())
    named = {memory_id for source in state.sources for memory_id in source.memory_ids}
    assert named <= {memory.memory_id for memory in memories}
