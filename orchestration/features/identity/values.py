"""Who a citizen is, and what changed in it between two moments, from its identity at each (000)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, ClassVar, Final

from pydantic import Field

from orchestration.mind.dissonance import count_recurring
from schemas.base import CitizenId, Frozen, Request
from schemas.field_names import ALIASES, Names
from schemas.intention import AsOf
from schemas.mind.state import CalibrationScore, CitizenState
from schemas.paging import Cursor, Paged
from schemas.stream import RecurringCorrection, TemporalDissonance
from schemas.temporal import AskedMoment, KnownMoment
from substrate.language.text import name_key


class IdentityPage(AsOf):
    """A page of the entities of an identity at a moment; `limit` counts entities."""

    limit: Annotated[int, Field(ge=1, le=100)] = 10
    cursor: Cursor = None


class Between(Request):
    """Two moments, `from` and `to` (default: now). Each sets both time axes, `known_at` the transaction axis.

    They are also called `from_time` and `to_time`.
    """

    other_names: ClassVar[Names] = {**ALIASES, "from": ("from_time",), "to": ("to_time",)}

    from_time: AskedMoment
    to_time: AskedMoment | None = None
    known_at: KnownMoment | None = None


class WhoIs(IdentityPage):
    """A question about the identity of a citizen."""

    citizen_id: CitizenId


class AttachedRule(Frozen):
    """A rule, and how many memories of the entity have it."""

    rule: str
    memories: int


class IdentityEntity(Frozen):
    """An entity, and how many memories point to it (`appearances`). `emotions`: how many have each."""

    node_id: str
    name: str
    node_type: str
    appearances: int
    emotions: dict[str, int] = Field(default_factory=dict)
    rules: tuple[AttachedRule, ...] = ()


class Told(Frozen):
    """What a citizen said of itself, in its own words, and the memories that say it."""

    value: str
    memory_ids: tuple[str, ...]


class IdentityPerson(Frozen):
    """A person that the citizen's own memories mention. `relation`: what it is to the citizen: "sister"."""

    node_id: str
    name: str
    relation: str | None = None
    appearances: int


class SelfEntity(Frozen):
    """The memory that stands for the citizen, and how many memories point to it (`appearances`).

    `declared`: the citizen wrote it under the id `self`. Else it was found: by its own name, or by what its texts
    say of "I".
    """

    node_id: str
    name: str
    node_type: str
    appearances: int
    declared: bool


class Value(Frozen):
    """A rule that memories of the citizen have: how many, since when, and the latest of them."""

    rule: str
    memories: int
    since: datetime
    memory_id: str


class TemperamentPeriod(Frozen):
    """How many of the citizen's own memories of a period felt anything (`memories`), and each feeling."""

    start: datetime
    end: datetime
    memories: int
    emotions: dict[str, int]


class Temperament(Frozen):
    """What the citizen's own memories felt: the share of each feeling in all of them, 0 to 1, and by period.

    `memories`: how many felt anything. `periods`: twelve of 30 days, the last of which ends with the newest memory
    that felt; those in which nothing was felt are left out.
    """

    memories: int
    emotions: dict[str, float]
    periods: tuple[TemperamentPeriod, ...]


class Identity(Frozen):
    """Who a citizen is at a moment: what it says of itself, its people, and what its memories point to (000).

    `name` and `role` are the latest that it told of itself; `self_entity` stands for it. `people`: those it
    mentions most, first. `values`: the rules of its memories. `temperament`: what it felt, over time. `entities`:
    the most connected entities, most first; the emotions of the first are the personality, its rules the values.
    All but `entities` and `state` come with the first page. `state` is that of the same moment, `next` the cursor
    of the next page.
    `calibration`: how right its kept predictions were, where some were answered.
    """

    citizen_id: str
    as_of_time: datetime
    known_at: datetime
    name: Told | None = None
    role: Told | None = None
    self_entity: SelfEntity | None = None
    people: tuple[IdentityPerson, ...] = ()
    values: tuple[Value, ...] = ()
    temperament: Temperament | None = None
    entities: tuple[IdentityEntity, ...] = ()
    state: CitizenState
    calibration: CalibrationScore | None = None
    next: str | None = None
    notes: tuple[str, ...] = ()


class TextChange(Frozen):
    """What something was at the first moment and at the second; None where there was nothing."""

    before: str | None = None
    after: str | None = None


class RelationChange(Frozen):
    """A person who is something else to the citizen than before."""

    name: str
    before: str | None = None
    after: str | None = None


class AttachmentShift(Frozen):
    """How many memories pointed to an entity at each moment."""

    node_id: str
    name: str
    before: int
    after: int


class IdentityDiff(Frozen):
    """What changed in a citizen between two moments; what did not is left out.

    `people_come` and `people_gone` are among its people at one of the moments alone. `attachments`: the entities
    to which more or fewer memories point, the largest change first. `values_new` and `values_ended`: rules that
    memories have at one of the moments alone. `temperament`: how much the share of each feeling rose or fell, −1
    to 1, where memories of both moments felt anything.
    """

    citizen_id: str
    from_time: datetime
    to_time: datetime
    name: TextChange | None = None
    role: TextChange | None = None
    people_come: tuple[IdentityPerson, ...] = ()
    people_gone: tuple[IdentityPerson, ...] = ()
    relations: tuple[RelationChange, ...] = ()
    attachments: tuple[AttachmentShift, ...] = ()
    values_new: tuple[Value, ...] = ()
    values_ended: tuple[Value, ...] = ()
    temperament: dict[str, float] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class LearningPage(Paged):
    """A page of the learning moments, as known at `known_at`."""

    known_at: KnownMoment | None = None


class LearningMoments(Frozen):
    """The beliefs of a citizen that changed, oldest first.

    `recurring` counts each correction pattern among them, `next` is the cursor of the next page.
    """

    citizen_id: CitizenId
    dissonances: tuple[TemporalDissonance, ...] = ()
    recurring: tuple[RecurringCorrection, ...] = ()
    next: str | None = None


def count_again(learned: LearningMoments) -> LearningMoments:
    """With each correction pattern counted over all its changes, as when several pages were joined."""
    return learned.model_copy(update={"recurring": tuple(count_recurring(learned.dissonances))})


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
    temperament: dict[str, float] = {}
    if before.temperament is not None and after.temperament is not None:
        earlier_shares, shares = before.temperament.emotions, after.temperament.emotions
        shifts = {one: shares.get(one, 0.0) - earlier_shares.get(one, 0.0) for one in {*earlier_shares, *shares}}
        for one, shift in sorted(shifts.items(), key=lambda item: (-abs(round(item[1], 4)), item[0])):
            if abs(round(shift, 4)) >= SMALLEST_SHIFT:
                temperament[one] = round(shift, 4)
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
        temperament=temperament,
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
