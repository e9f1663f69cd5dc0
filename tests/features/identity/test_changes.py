"""What changed in a citizen is the difference of two identities, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from orchestration.features.identity.changes import compare_identities, summarise
from orchestration.features.identity.values import (
    Identity,
    IdentityEntity,
    IdentityPerson,
    SelfEntity,
    TemperamentPeriod,
    Told,
    Value,
)
from schemas.mind.state import CitizenState

AT = datetime(2026, 1, 1, tzinfo=UTC)


def who(**fields: Any) -> Identity:
    return Identity(citizen_id="kai", as_of_time=AT, known_at=AT, state=CitizenState(citizen_id="kai"), **fields)


def entity(name: str, appearances: int, node_id: str = "") -> IdentityEntity:
    return IdentityEntity(node_id=node_id or name, name=name, node_type="Person", appearances=appearances)


def person(name: str, relation: str | None = None) -> IdentityPerson:
    return IdentityPerson(node_id=name, name=name, relation=relation, appearances=1)


def rule(text: str) -> Value:
    return Value(rule=text, memories=1, since=AT, memory_id="m")


def felt(memories: int, **emotions: int) -> TemperamentPeriod:
    return TemperamentPeriod(start=AT, end=AT, memories=memories, emotions=emotions)


def test_nothing_changed_between_a_moment_and_itself() -> None:
    same = who(name=Told(value="Kai", memory_ids=("m",)), people=(person("Egor"),), values=(rule("Write."),),
               entities=(entity("Egor", 4),), temperament=summarise([felt(2, joy=1)]))  # fmt: skip
    diff = compare_identities(same, same)
    assert diff.model_dump(exclude_defaults=True).keys() == {"citizen_id", "from_time", "to_time"}


def test_a_change_names_what_was_before_and_after() -> None:
    before = who(
        role=Told(value="baker", memory_ids=()), people=(person("Egor"), person("Anna")), values=(rule("A"),)
    )
    after = who(role=Told(value="nurse", memory_ids=()), people=(person("Anna", "sister"), person("Tom")),
                values=(rule("B"),))  # fmt: skip
    diff = compare_identities(before, after)
    assert diff.role is not None
    assert (diff.name, diff.role.before, diff.role.after) == (None, "baker", "nurse")
    assert [one.name for one in diff.people_come] == ["Tom"]
    assert [one.name for one in diff.people_gone] == ["Egor"]
    assert [(one.name, one.before, one.after) for one in diff.relations] == [("Anna", None, "sister")]
    assert ([one.rule for one in diff.values_new], [one.rule for one in diff.values_ended]) == (["B"], ["A"])


def test_attachments_are_counted_by_name_and_the_citizen_is_none() -> None:
    own = SelfEntity(node_id="k", name="Kai Lund", node_type="Person", appearances=9, declared=True)
    before = who(entities=(entity("Luca", 3), entity("Egor", 2)))
    after = who(
        self_entity=own,
        entities=(entity("Kai Lund", 9), entity("Luca", 5), entity("Luca", 4, "luca-2"), entity("Kai", 3)),
    )
    shifts = compare_identities(before, after).attachments
    assert [(one.name, one.before, one.after) for one in shifts] == [("Luca", 3, 9), ("Egor", 2, 0)]


def test_temperament_is_shares_of_what_felt_and_shifts_where_both_felt() -> None:
    calm, sad = summarise([felt(2, calm=2), felt(2, calm=1, joy=1)]), summarise([felt(4, sadness=3, joy=1)])
    assert calm is not None
    assert (calm.memories, calm.emotions) == (4, {"calm": 0.75, "joy": 0.25})
    assert compare_identities(who(temperament=calm), who(temperament=sad)).temperament == {
        "calm": -0.75, "sadness": 0.75,
    }  # fmt: skip
    assert compare_identities(who(), who(temperament=sad)).temperament == {}
    assert summarise([]) is None
