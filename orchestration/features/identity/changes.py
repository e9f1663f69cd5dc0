"""What changed in a citizen between two moments, from its identity at each (000). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from orchestration.features.identity.values import (
    AttachmentShift,
    Identity,
    IdentityDiff,
    IdentityEntity,
    IdentityPerson,
    RelationChange,
    Temperament,
    TemperamentPeriod,
    TextChange,
    Told,
    Value,
)
from substrate.language.text import name_key

MOST_SHIFTS: Final = 20
"""At most this many attachments are named."""
SMALLEST_SHIFT: Final = 0.05
"""A smaller change of the share of a feeling is none."""


def summarise(periods: Sequence[TemperamentPeriod]) -> Temperament | None:
    """The share of each feeling in all periods; None where nothing was felt."""
    felt = sum(period.memories for period in periods)
    if not felt:
        return None
    counts: Counter[str] = Counter()
    for period in periods:
        counts.update(period.emotions)
    ordered = sorted(counts, key=lambda emotion: (-counts[emotion], emotion))
    shares = {emotion: round(counts[emotion] / felt, 4) for emotion in ordered}
    return Temperament(memories=felt, emotions=shares, periods=tuple(periods))


def compare_identities(before: Identity, after: Identity) -> IdentityDiff:
    """What the citizen is at the second moment and was not at the first, and the other way round."""
    then, later = _by_name(before.people), _by_name(after.people)
    relations: list[RelationChange] = []
    for key, person in later.items():
        earlier = then.get(key)
        if earlier is not None and earlier.relation != person.relation:
            relations.append(RelationChange(name=person.name, before=earlier.relation, after=person.relation))
    return IdentityDiff(
        citizen_id=after.citizen_id,
        from_time=before.as_of_time,
        to_time=after.as_of_time,
        name=_changed(before.name, after.name),
        role=_changed(before.role, after.role),
        people_come=tuple(person for key, person in later.items() if key not in then),
        people_gone=tuple(person for key, person in then.items() if key not in later),
        relations=tuple(relations),
        attachments=tuple(_shifts(before, after)),
        values_new=_only_in(after.values, before.values),
        values_ended=_only_in(before.values, after.values),
        temperament=_temperament(before.temperament, after.temperament),
    )


def _by_name(people: Iterable[IdentityPerson]) -> dict[str, IdentityPerson]:
    return {name_key(person.name): person for person in people}


def _changed(before: Told | None, after: Told | None) -> TextChange | None:
    one, other = (None if told is None else told.value for told in (before, after))
    return None if one == other else TextChange(before=one, after=other)


def _shifts(before: Identity, after: Identity) -> list[AttachmentShift]:
    """The entities by name, for one name may be that of several memories; the citizen itself is none."""
    own = {before.citizen_id, *(one.self_entity.name for one in (before, after) if one.self_entity is not None)}
    selves = set(map(name_key, own))
    then, later = _mentions(before.entities), _mentions(after.entities)
    first = {name_key(entity.name): entity for entity in (*reversed(before.entities), *reversed(after.entities))}
    shifts = [
        AttachmentShift(node_id=entity.node_id, name=entity.name, before=then[key], after=later[key])
        for key, entity in first.items()
        if then[key] != later[key] and key not in selves
    ]
    return sorted(shifts, key=lambda shift: (-abs(shift.after - shift.before), shift.name))[:MOST_SHIFTS]


def _mentions(entities: Iterable[IdentityEntity]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for entity in entities:
        counts[name_key(entity.name)] += entity.appearances
    return counts


def _only_in(values: Sequence[Value], others: Sequence[Value]) -> tuple[Value, ...]:
    known = {value.rule for value in others}
    return tuple(value for value in values if value.rule not in known)


def _temperament(before: Temperament | None, after: Temperament | None) -> dict[str, float]:
    if before is None or after is None:
        return {}
    emotions = sorted({*before.emotions, *after.emotions})
    shifts = {one: round(after.emotions.get(one, 0.0) - before.emotions.get(one, 0.0), 4) for one in emotions}
    large = (one for one in emotions if abs(shifts[one]) >= SMALLEST_SHIFT)
    return {one: shifts[one] for one in sorted(large, key=lambda one: -abs(shifts[one]))}
