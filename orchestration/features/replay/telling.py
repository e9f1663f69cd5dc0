"""A replay in words, one line for each memory. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from orchestration.assembly.displayed_text import one_line
from orchestration.features.replay.values import Cause, Replay, ReplayedMemory

CAUSES: Final[dict[Cause, str]] = {
    "weights": "other weights: of the channels, or feedback that was taken back",
    "model": "another embedding model",
    "erased": "something was erased since that weighed on the rest",
    "degraded": "part of the answer was missing, then or now",
    "reranker": "a model ordered the answer",
    "written_meanwhile": "something was written while it was asked",
    "imported": "something was imported since, with an earlier date",
    "unknown": "not explained",
}


def tell(replay: Replay) -> Iterator[str]:
    """What was asked and when, what has become of each memory, and what it comes to."""
    yield one_line(replay.asked)
    yield f"asked at {replay.asked_at:%Y-%m-%d %H:%M:%S} UTC; asked again as of then and known then"
    for memory in replay.memories:
        yield f"  {one_line(_tell_memory(memory))}"
    if replay.hidden:
        yield f"  and {replay.hidden} of graphs that this key may not read"
    fates = Counter(memory.fate for memory in replay.memories)
    counts = ", ".join(f"{count} {fate.replace('_', ' ')}" for fate, count in fates.items())
    whole = "The same memories in the same order" if replay.same else "Not the same"
    yield f"{whole}{', but for what was erased' if replay.same and fates['erased'] else ''}: {counts or 'none'}."
    yield from (f"Because: {CAUSES[cause]}." for cause in replay.causes)


def _tell_memory(memory: ReplayedMemory) -> str:
    if memory.fate == "erased":
        return f"-. {memory.id}: erased since"
    parts = [f"{memory.place_then or memory.place_now}. {memory.name or memory.id}"]
    if memory.closed_at is not None:
        why = (memory.reason or "no reason given").replace("_", " ")
        parts.append(f"closed {memory.closed_at:%Y-%m-%d %H:%M} ({why})")
    if memory.replaced_by is not None:
        parts.append(f"now: {memory.replaced_by.description or memory.replaced_by.name}")
    if memory.fate in ("only_then", "only_now"):
        parts.append(f"found {memory.fate.replace('_', ' ')}")
    return " · ".join(parts)
