"""Perspectives take turns, and none shows what another shows."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.shape.feature import share_out
from schemas.memory import ConsciousnessNode, Level
from schemas.wave_signal import Resonance

AT = datetime(2026, 1, 1, tzinfo=UTC)


def found(name: str) -> Resonance:
    memory = ConsciousnessNode(
        node_id=name, node_type="Memory", name=name, description="", valid_at=AT, created_at=AT, energy=0.5,
        confidence=0.5, level=Level.N1,
    )  # fmt: skip
    return Resonance(memory=memory, resonance=0.5, total=0.5, channels={}, suppression=1.0, level_boost=1.0)


def names(shares: list[tuple[Resonance, ...]]) -> list[str]:
    return ["".join(one.memory.node_id for one in share) for share in shares]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=3, max_size=3), st.integers(1, 4))
def test_no_memory_is_shown_twice_and_no_share_is_too_large(drawn: list[list[str]], each: int) -> None:
    shares = share_out([list(map(found, way)) for way in drawn], each)
    shown = "".join(names(shares))
    assert len(shown) == len(set(shown))
    assert all(len(share) <= each for share in shares)
    assert set(shown) <= {name for way in drawn for name in way}
