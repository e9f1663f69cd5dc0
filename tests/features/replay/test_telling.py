"""A replay in words."""

from __future__ import annotations

from datetime import UTC, datetime

from orchestration.features.replay.comparison import tell
from orchestration.features.replay.values import Replacement, Replay, ReplayedMemory
from schemas.memory import Level

THEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_each_memory_has_a_line_and_each_cause_a_sentence() -> None:
    memories = (
        ReplayedMemory(
            level=Level.N1, id="a", version=1, fate="same", name="Tea\nis green", place_then=1, place_now=1
        ),
        ReplayedMemory(level=Level.N1, id="gone", version=1, fate="erased"),
        ReplayedMemory(
            level=Level.N1,
            id="b",
            version=1,
            fate="closed",
            name="Boat",
            place_then=2,
            place_now=2,
            closed_at=THEN,
            reason="discovered_false",
            replaced_by=Replacement(version=2, name="Boat", description="The boat is red."),
        ),
        ReplayedMemory(level=Level.N1, id="c", version=1, fate="only_now", name="Cat", place_now=3),
    )
    replay = Replay(
        stream_id="ada~1",
        citizen_id="ada",
        way="retrieve",
        asked="What about\nthe boat?",
        asked_at=THEN,
        same=False,
        causes=("model",),
        memories=memories,
        hidden=2,
    )
    assert list(tell(replay)) == [
        "What about the boat?",
        "asked at 2026-01-02 03:04:05 UTC; asked again as of then and known then",
        "  1. Tea is green",
        "  -. gone: erased since",
        "  2. Boat · closed 2026-01-02 03:04 (discovered false) · now: The boat is red.",
        "  3. Cat · found only now",
        "  and 2 of graphs that this key may not read",
        "Not the same: 1 same, 1 erased, 1 closed, 1 only now.",
        "Because: another embedding model.",
    ]
    same = replay.model_copy(update={"same": True, "memories": memories[:2], "causes": (), "hidden": 0})
    assert (
        list(tell(same))[-1] == "The same memories in the same order, but for what was erased: 1 same, 1 erased."
    )
