"""The beliefs that changed, as plain lists: what was believed of each instant before a command, and after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemas.stream import TemporalDissonance
from schemas.temporal import END_OF_TIME, to_instant
from tests.oracle.held import Held
from tests.oracle.stretches import holding

type Moment = tuple[int, str, str, str, str, int]
"""When a belief changed, of which memory, the old one, the new one, why, and since when the old one was held."""


def moments(records: Sequence[Held]) -> list[Moment]:
    """Each belief that a command put in place of another one at an instant at which both hold, once."""
    found: dict[tuple[int, str, str, str, str], int] = {}
    memories = [one for one in records if one.ends is None]
    for who, at in {(one.id, one.expired_at) for one in memories if one.expired_at != END_OF_TIME}:
        own = [one for one in memories if one.id == who]
        before = [one for one in own if one.expired_at == at and one.closed != "undone"]
        after = [one for one in own if one.created_at == at]
        for instant in sorted({one.valid_at for one in (*before, *after)}):
            old, new = holding(before, instant), holding(after, instant)
            if old is not None and new is not None and says(old) != says(new):
                moment = (at, who, says(old), says(new), str(old.closed))
                since = held_since(old, own)
                found[moment] = min(since, found.get(moment, since))
    return sorted((*moment, since) for moment, since in found.items())


def held_since(record: Held, own: Sequence[Held]) -> int:
    """When the belief of a record began: others that say the same and ended as it began were before it."""
    since = record.created_at
    while earlier := [one.created_at for one in own if one.expired_at == since and says(one) == says(record)]:
        since = min(earlier)
    return since


def says(record: Held) -> str:
    return str(record.content["description"])


def told_moments(told: Iterable[TemporalDissonance]) -> list[Moment]:
    """The same as the engine tells them, without what it inferred."""
    return sorted(
        (
            to_instant(one.corrected_at), one.node_id, one.original_belief, one.corrected_belief,
            one.dissonance_type, to_instant(one.belief_held_from),
        )
        for one in told
        if not one.inferred
    )  # fmt: skip
