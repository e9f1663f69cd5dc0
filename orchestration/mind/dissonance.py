"""Finds changed beliefs in the past and present records of memories (003, component 2). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, NamedTuple

from orchestration.identifiers import identifier
from schemas.memory import ConsciousnessNode, GraphKey, graph_fields
from schemas.stream import RecurringCorrection, TemporalDissonance
from schemas.temporal import Instant, Period, TemporalMode
from substrate.bitemporal import UNDONE
from substrate.store.rows import QUARANTINED

HISTORICAL: Final = (TemporalMode.EVOLUTION, TemporalMode.FULL_HISTORY)
"""Only these modes show more than one version of a belief."""
DISCOVERY_ENERGY: Final = 0.5
"""Energy of a discovery whose record has no `discovery_energy` (003, component 2)."""
UNKNOWN_TRIGGER: Final = "Unknown correction trigger"
LATER_WORDS: Final = "Later words of the same voice"
"""The trigger of a change that nobody recorded."""


class BeliefChange(NamedTuple):
    """A changed belief: the closed record, and the dissonance between it and a record that replaced it.

    `replaced_by`: that record; both hold over some stretch of valid time. A quarantine may have hidden it since;
    then the change counts only where the new belief was released.
    """

    closed: ConsciousnessNode
    dissonance: TemporalDissonance
    replaced_by: ConsciousnessNode

    @property
    def is_quarantined(self) -> bool:
        return self.replaced_by.closed_reason == QUARANTINED


def detect_temporal_dissonances(
    nodes: Iterable[ConsciousnessNode], mode: TemporalMode
) -> list[TemporalDissonance]:
    """Each change of belief, once, oldest first; empty when `mode` is not historical (003, component 2).

    Records with the same level and id are versions of one belief. A dissonance is a closed record together with
    the record that replaced it over a stretch of valid time and has a different belief. `nodes` may contain a
    record more than once.
    """
    if mode not in HISTORICAL:
        return []
    return one_of_each(change.dissonance for change in find_belief_changes(nodes) if not change.is_quarantined)


def infer_dissonances(
    pairs: Iterable[tuple[ConsciousnessNode, ConsciousnessNode]], mode: TemporalMode
) -> list[TemporalDissonance]:
    """A change of reality for each pair of a memory and the later one that seems to tell what holds instead.

    Oldest first, marked as inferred; empty when `mode` is not historical. The times are those for which the
    memories hold, because both were believed all the while.
    """
    if mode not in HISTORICAL:
        return []
    inferred: list[TemporalDissonance] = []
    for earlier, later in pairs:
        change = TemporalDissonance(
            node_id=earlier.node_id,
            **graph_fields(earlier.graph_key),
            node_name=earlier.name,
            original_belief=earlier.description,
            corrected_belief=later.description,
            dissonance_type="reality_changed",
            correction_trigger=LATER_WORDS,
            discovery_energy=DISCOVERY_ENERGY,
            discovery_emotions=later.emotion_vector,
            belief_held_from=earlier.valid_at,
            belief_held_until=later.valid_at,
            corrected_at=later.valid_at,
            held_seconds=(later.valid_at - earlier.valid_at).total_seconds(),
            inferred=True,
            corrected_by=later.node_id,
        )
        inferred.append(change)
    return sorted(inferred, key=lambda each: (each.corrected_at, each.node_id))


def find_belief_changes(nodes: Iterable[ConsciousnessNode]) -> list[BeliefChange]:
    """Each record that another one with a different belief replaced, once for each such record."""
    groups: defaultdict[tuple[GraphKey, str], dict[tuple[datetime, int], ConsciousnessNode]] = defaultdict(dict)
    for node in nodes:
        groups[node.graph_key, node.node_id][node.created_at, node.version] = node
    changes: list[BeliefChange] = []
    for records in groups.values():
        if len(records) > 1:
            changes += _changes([records[key] for key in sorted(records)])
    return changes


def one_of_each(dissonances: Iterable[TemporalDissonance]) -> list[TemporalDissonance]:
    """The changes, oldest first; one that a command made on several stretches of valid time is one change.

    Of such a change the belief that was held for longest stays.
    """
    longest: dict[tuple[object, ...], TemporalDissonance] = {}
    # By the change alone, so that every page has the same order.
    order = attrgetter(
        "corrected_at", "graph_key", "node_id", "belief_held_from", "original_belief", "corrected_belief"
    )
    for each in sorted(dissonances, key=order):
        beliefs = (each.node_name, each.original_belief, each.corrected_belief)
        words = tuple(" ".join(belief.split()) for belief in beliefs)
        change = (each.graph_key, each.node_id, each.belief_held_until, each.dissonance_type)
        longest.setdefault((*change, *words), each)
    return list(longest.values())


def count_recurring(dissonances: Iterable[TemporalDissonance]) -> list[RecurringCorrection]:
    """How many beliefs each correction pattern corrected: the highest count first, equal counts by id.

    Repeated dissonances show systematic errors (003, component 2). Changes without a pattern, and those of the
    world, are left out.
    """
    corrected: defaultdict[str, list[str]] = defaultdict(list)
    for dissonance in dissonances:
        if dissonance.correction_pattern_id and dissonance.dissonance_type == "discovered_false":
            corrected[dissonance.correction_pattern_id].append(dissonance.node_id)
    recurring = [
        RecurringCorrection(correction_pattern_id=pattern, count=len(ids), node_ids=tuple(dict.fromkeys(ids)))
        for pattern, ids in corrected.items()
    ]
    return sorted(recurring, key=lambda correction: (-correction.count, correction.correction_pattern_id))


def discovery_fields(
    reason: str | None, emotions: Mapping[str, float] | None, energy: float | None
) -> dict[str, Any]:
    """The fields of a correction whose learning moment shows this reason, and this energy in [0, 1].

    The reason becomes the pattern: equal reasons are counted together. Without an energy it is that of the
    strongest emotion.
    """
    if energy is None and emotions:
        energy = max(emotions.values())
    pattern = {} if reason is None else {"correction_pattern_id": identifier(" ".join(reason.split()))}
    return pattern if energy is None else {**pattern, "discovery_energy": energy}


def unbroken_start(start: Instant, earlier: Sequence[Period]) -> Instant:
    """The start of the `earlier` periods that reach `start` without a gap; `start` itself when none ends there."""
    starts: dict[Instant, Instant] = {}
    for period in earlier:
        starts[period.end] = min(period.start, starts.get(period.end, period.start))
    while start in starts:
        start = starts[start]
    return start


def _changes(records: Sequence[ConsciousnessNode]) -> Iterator[BeliefChange]:
    """The changes of belief of one memory. `records` come oldest first.

    One command closes and opens records at the same instant. Of these, two are the sides of a change where both
    hold over some stretch of valid time. What was undone or quarantined was withdrawn: nothing new is believed.
    """
    opened: defaultdict[datetime, list[ConsciousnessNode]] = defaultdict(list)
    by_end: defaultdict[datetime | None, list[ConsciousnessNode]] = defaultdict(list)
    for record in records:
        opened[record.created_at].append(record)
        by_end[record.expired_at].append(record)
    for index, closed in enumerate(records):
        if closed.expired_at is None or closed.closed_reason in (QUARANTINED, UNDONE):
            continue
        for other in opened.get(closed.expired_at) or _after_gap(closed, records[index + 1 :]):
            ends = [each.invalid_at for each in (closed, other) if each.invalid_at is not None]
            begin = max(closed.valid_at, other.valid_at)
            if all(begin < end for end in ends) and not _same_belief(closed, other):
                yield BeliefChange(closed, _dissonance(closed, other, _held_from(closed, by_end)), other)


def _held_from(
    closed: ConsciousnessNode, by_end: Mapping[datetime | None, Sequence[ConsciousnessNode]]
) -> datetime:
    """When the belief of a record began: a record that changed only other fields continues the belief.

    If several earlier records with the same belief end at one moment, the oldest counts. `by_end`: all records of
    the memory by `expired_at`.
    """
    start = closed.created_at
    while earlier := [
        record for record in by_end.get(start, ()) if record.created_at < start and _same_belief(record, closed)
    ]:
        start = min(record.created_at for record in earlier)
    return start


def _after_gap(closed: ConsciousnessNode, later: Sequence[ConsciousnessNode]) -> list[ConsciousnessNode]:
    """What replaced a record whose closing has no reason: imported records may leave a gap.

    Only the next version is compared, because records before a later one may be missing.
    """
    following = [record for record in later if record.created_at > closed.created_at]
    if closed.closed_reason is not None or not following or following[0].version > closed.version + 1:
        return []
    return [record for record in following if record.created_at == following[0].created_at]


def _same_belief(node: ConsciousnessNode, other: ConsciousnessNode) -> bool:
    """True when name and description are equal apart from white space."""
    return node.description.split() == other.description.split() and node.name.split() == other.name.split()


def _dissonance(
    closed: ConsciousnessNode, successor: ConsciousnessNode, held_from: datetime
) -> TemporalDissonance:
    """The fields of 003, component 2; `held_seconds` is belief_held_until − belief_held_from.

    The beliefs are the descriptions; when only the name changed, they are the names.
    """
    assert closed.expired_at is not None
    renamed = closed.description.split() == successor.description.split()
    pattern, energy = successor.correction_pattern_id, successor.discovery_energy
    # Of a record without a reason, which may come from an import (DESIGN §4): new content over the same valid time
    # means that the old content was false; new content from a later valid time on, that the world changed.
    by_time = "reality_changed" if successor.valid_at > closed.valid_at else "discovered_false"
    return TemporalDissonance(
        node_id=closed.node_id,
        **graph_fields(closed.graph_key),
        node_name=closed.name,
        original_belief=closed.name if renamed else closed.description,
        corrected_belief=successor.name if renamed else successor.description,
        dissonance_type=closed.closed_reason or closed.invalidation_reason or by_time,
        correction_trigger=f"Corrected by {pattern}" if pattern else UNKNOWN_TRIGGER,
        correction_pattern_id=pattern,
        discovery_energy=DISCOVERY_ENERGY if energy is None else energy,
        discovery_emotions=successor.emotion_vector,
        belief_held_from=held_from,
        belief_held_until=closed.expired_at,
        corrected_at=successor.created_at,
        held_seconds=(closed.expired_at - held_from).total_seconds(),
    )
