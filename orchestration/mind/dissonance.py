"""Learning moments: beliefs that changed, found in the records of a history (003, component 2). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from schemas.memory import ConsciousnessNode, InvalidationReason, Level
from schemas.stream_parts import RecurringCorrection, TemporalDissonance
from schemas.temporal import TemporalMode

HISTORICAL: Final = (TemporalMode.EVOLUTION, TemporalMode.FULL_HISTORY)
"""Only these modes show more than one version of a belief."""
DISCOVERY_ENERGY: Final = 0.5
"""Energy of a discovery of which nobody said how much it moved (003, component 2)."""
UNKNOWN_TRIGGER: Final = "Unknown correction trigger"


def detect_temporal_dissonances(
    nodes: Iterable[ConsciousnessNode], mode: TemporalMode
) -> list[TemporalDissonance]:
    """Each change of belief among the records, once, oldest first; none in the other modes (003, component 2).

    Records are of one belief when level and id are the same. A dissonance is a closed record and the record
    with a different belief that took its place. A record may be given more than once.
    """
    return [change for _, change in closed_beliefs(nodes)] if mode in HISTORICAL else []


def closed_beliefs(nodes: Iterable[ConsciousnessNode]) -> list[tuple[ConsciousnessNode, TemporalDissonance]]:
    """The same for any mode, each beside the record that was closed."""
    found = [change for records in _by_identity(nodes) for change in _changes(records)]
    return sorted(found, key=lambda one: _when(one[1]))


def _when(change: TemporalDissonance) -> tuple[datetime, Level, str, datetime]:
    return change.corrected_at, change.level, change.node_id, change.belief_held_from


def recurring(dissonances: Iterable[TemporalDissonance]) -> list[RecurringCorrection]:
    """Per correction pattern how many beliefs it corrected, most often first, equal ones by id.

    003, component 2: repeated dissonances reveal systematic errors. Changes without a pattern are left out.
    """
    corrected: defaultdict[str, list[str]] = defaultdict(list)
    for dissonance in dissonances:
        if dissonance.correction_pattern_id:
            corrected[dissonance.correction_pattern_id].append(dissonance.node_id)
    found = [
        RecurringCorrection(correction_pattern_id=pattern, count=len(ids), node_ids=tuple(dict.fromkeys(ids)))
        for pattern, ids in corrected.items()
    ]
    return sorted(found, key=lambda one: (-one.count, one.correction_pattern_id))


def _by_identity(nodes: Iterable[ConsciousnessNode]) -> list[list[ConsciousnessNode]]:
    groups: defaultdict[tuple[Level, str], dict[tuple[datetime, int], ConsciousnessNode]] = defaultdict(dict)
    for node in nodes:
        groups[node.level, node.node_id][node.created_at, node.version] = node
    return [[records[key] for key in sorted(records)] for records in groups.values() if len(records) > 1]


def _changes(records: Sequence[ConsciousnessNode]) -> Iterable[tuple[ConsciousnessNode, TemporalDissonance]]:
    """The dissonances of one identity, its records in the order in which they were opened."""
    ended: defaultdict[datetime | None, list[ConsciousnessNode]] = defaultdict(list)
    for record in records:
        ended[record.expired_at].append(record)
    for place, closed in enumerate(records):
        if closed.expired_at is not None:
            successor = _successor(closed, closed.expired_at, records[place + 1 :])
            if successor is not None:
                yield closed, _dissonance((closed, _held_from(closed, ended)), closed.expired_at, successor)


def _held_from(
    closed: ConsciousnessNode, ended: Mapping[datetime | None, Sequence[ConsciousnessNode]]
) -> datetime:
    """Since when the belief of a record was held: a change of anything else continues it.

    Of several records that say the same, each over a stretch of its own, the belief is as old as the oldest.
    `ended` has all records of the identity by their end.
    """
    begun = closed.created_at
    while before := [one for one in ended.get(begun, ()) if one.created_at < begun and _same_belief(one, closed)]:
        begun = min(one.created_at for one in before)
    return begun


def _successor(
    closed: ConsciousnessNode, end: datetime, later: Sequence[ConsciousnessNode]
) -> ConsciousnessNode | None:
    """The record with another belief that took the place of the closed one, None when there is none.

    One command closes and opens at the same instant, so those opened then are asked. A supersede opens two:
    the old content up to the change, which continues the belief, and the new content. Records from elsewhere
    may leave a gap; then the next version is asked, and no later one: those between were not found, and a
    pair that never followed one another would be made up.
    """
    opened = [record for record in later if record.created_at == end]
    if not opened:
        following = [record for record in later if record.created_at > closed.created_at]
        if following and following[0].version <= closed.version + 1:
            opened = [record for record in following if record.created_at == following[0].created_at]
    changed = [record for record in opened if not _same_belief(closed, record)]
    return changed[-1] if changed else None


def _same_belief(one: ConsciousnessNode, other: ConsciousnessNode) -> bool:
    """Whether name and description say the same; how lines are broken says nothing."""
    return one.description.split() == other.description.split() and one.name.split() == other.name.split()


def _dissonance(
    held: tuple[ConsciousnessNode, datetime], end: datetime, successor: ConsciousnessNode
) -> TemporalDissonance:
    """003's fields to the letter; `held_seconds` is belief_held_until − belief_held_from.

    `held`: the closed record, and since when its belief was held. The beliefs are the descriptions, or the names
    where only these changed.
    """
    closed, begun = held
    renamed = closed.description.split() == successor.description.split()
    pattern, energy = successor.correction_pattern_id, successor.discovery_energy
    return TemporalDissonance(
        node_id=closed.node_id,
        level=closed.level,
        node_name=closed.name,
        original_belief=closed.name if renamed else closed.description,
        corrected_belief=successor.name if renamed else successor.description,
        dissonance_type=closed.closed_reason or closed.invalidation_reason or _reason_by_time(closed, successor),
        correction_trigger=f"Corrected by {pattern}" if pattern else UNKNOWN_TRIGGER,
        correction_pattern_id=pattern,
        discovery_energy=DISCOVERY_ENERGY if energy is None else energy,
        discovery_emotions=successor.emotion_vector,
        belief_held_from=begun,
        belief_held_until=end,
        corrected_at=successor.created_at,
        held_seconds=(end - begun).total_seconds(),
    )


def _reason_by_time(closed: ConsciousnessNode, successor: ConsciousnessNode) -> InvalidationReason:
    """The reason of a record that carries none, as an import may: new content over the same valid time means
    that the old was false, from a later time on that the world changed (DESIGN §4)."""
    return "reality_changed" if successor.valid_at > closed.valid_at else "discovered_false"
