"""`substrate identity`: who a citizen is, or was."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from rich.table import Table
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import option
from api.client import AsyncSubstrate
from api.mcp.answers import WithNotice
from api.mcp.arguments import Arguments, AsOfArgument, KnownAtArgument
from api.mcp.tool import ToolAnswer, times_of, tool
from orchestration.assembly.displayed_text import fence, one_line
from orchestration.features.identity.feature import introduce, read_identity, read_identity_diff
from orchestration.features.identity.values import AttachedRule, Between, Identity, IdentityDiff, WhoIs
from schemas.base import Frozen
from schemas.mind.state import Felt
from substrate.language.text import count_of

RULES, FEELINGS, FEELINGS_OF_A_TOOL = 5, 6, 4


class IdentityCommand(options.StoreCommand, name="identity"):
    """Show who a citizen is: its name, role and people, its values, and what most of its memories point to."""

    citizen_id: str = option("--citizen -c ID", "Whose identity.", ...)
    as_of_time: str | None = option("--as-of TIME", "The identity at this day or time.")
    known_at: str | None = options.KNOWN_AT
    from_time: str | None = option("--diff TIME", "What changed since this moment, until now or --as-of.")
    limit: int = option("--limit", "Entities, 1 to 100.", 10)
    as_json: bool = options.ANSWER_AS_JSON
    also_called = ("to_time", "--as-of")

    def run(self) -> None:
        citizen = self.citizen_id
        if self.from_time is None:
            self.show(self.answer(read_identity, self.request(WhoIs), of=citizen), _show)
            return
        between = self.request(Between, to_time=self.fields().get("as_of_time"))
        self.show(self.answer(read_identity_diff, citizen, between, of=citizen), _show_diff)


def _show_diff(diff: IdentityDiff, page: support.Sheet) -> None:
    """Print what changed, a line for each change."""
    page.fold(f"from {diff.from_time:%Y-%m-%d} to {diff.to_time:%Y-%m-%d}", "bold")
    for line in list(_changes(diff)) or ["nothing changed"]:
        page.fold(formatting.to_line(line))
    page.notes(diff.notes)


def _changes(diff: IdentityDiff) -> Iterator[str]:
    for what, change in (("name", diff.name), ("role", diff.role)):
        if change is not None:
            yield f"{what}: {change.before or 'none'} → {change.after or 'none'}"
    for sign, people in (("+", diff.people_come), ("-", diff.people_gone)):
        for person in people:
            yield f"{sign} person: {person.name}{f' ({person.relation})' if person.relation else ''}"
    for one in diff.relations:
        yield f"{one.name}: {one.before or 'no relation'} → {one.after or 'none'}"
    yield from (f"attachment: {one.name} {one.before} → {one.after}" for one in diff.attachments)
    for sign, values in (("+", diff.values_new), ("-", diff.values_ended)):
        yield from (f"{sign} rule: {one.rule}" for one in values)
    if diff.temperament:
        shifts = (f"{emotion} {shift:+.2f}" for emotion, shift in diff.temperament.items())
        yield f"temperament: {', '.join(shifts)}"


def _show(identity: Identity, page: support.Sheet) -> None:
    """Print who the citizen is, its entities as a table, its rules, its temperament, and the state."""
    own = identity.self_entity
    if own is not None:
        how = "declared" if own.declared else "found"
        page.fold(formatting.to_line(f"self: {own.name}, {how}, in {count_of(own.appearances, 'memory')}"))
    introduced = introduce(identity)
    if introduced is not None:
        page.fold(formatting.to_line(introduced))
    table = Table("entity", "memories", "felt", box=None)
    for entity in identity.entities:
        felt = ", ".join(f"{name} {times}" for name, times in entity.emotions.items())
        name, emotions = Text(formatting.to_line(entity.name)), Text(formatting.to_line(felt))
        table.add_row(name, str(entity.appearances), emotions)
    if identity.entities:
        page.print(table)
    _show_character(identity, page)
    if identity.state.updated_at is not None:
        page.fold(_format_state(identity.state))
    page.notes(identity.notes)


def _show_character(identity: Identity, page: support.Sheet) -> None:
    for value in identity.values[:RULES]:
        page.fold(formatting.to_line(f"rule: {value.rule} ({count_of(value.memories, 'memory')})"))
    if len(identity.values) > RULES:
        page.fold(f"rules: {len(identity.values) - RULES} more with --json", "dim")
    if identity.temperament is not None:
        felt = [f"{name} {share:.2f}" for name, share in identity.temperament.emotions.items()]
        of = count_of(identity.temperament.memories, "memory")
        page.fold(formatting.to_line(f"temperament: {', '.join(felt[:FEELINGS])} ({of})"))


def _format_state(state: Felt) -> str:
    felt = [f"{name} {share:.2f}" for name, share in state.emotion_vector.items()]
    drives = [f"{formatting.to_line(name)} {drive.satisfaction:.2f}" for name, drive in state.drives.items()]
    goal = [] if state.goal is None else [f"goal: {formatting.to_line(state.goal)}"]
    parts = [f"energy {state.energy:.2f}", *map(formatting.to_line, felt), *goal]
    return "state: " + ", ".join([*parts, *(["drives: " + ", ".join(drives)] if drives else [])])


class IdentityArguments(Arguments):
    as_of_time: AsOfArgument = None
    known_at: KnownAtArgument = None


class EntityValues(Frozen):
    """An entity, how many memories point to it, their emotions by name with counts, and the rules attached."""

    id: str
    name: str
    type: str
    appearances: int
    emotions: dict[str, int]
    rules: tuple[AttachedRule, ...]


class PersonValues(Frozen):
    """A person of the citizen, what it is to the citizen if told, and how many own memories mention it."""

    id: str
    name: str
    relation: str | None = None
    appearances: int


class IdentityValues(WithNotice):
    """Who a citizen is: the name and role that it told of itself, its people, and what its memories point to.

    Energy, emotions and goal are those of the same moment.
    """

    citizen_id: str
    as_of_time: datetime
    known_at: datetime
    name: str | None = None
    role: str | None = None
    people: tuple[PersonValues, ...] = ()
    entities: tuple[EntityValues, ...]
    energy: float
    emotions: dict[str, float]
    goal: str | None = None
    notes: tuple[str, ...]

    @classmethod
    def of(cls, identity: Identity) -> IdentityValues:
        entities, people = [], []
        for one in identity.entities:
            rest = one.model_dump(exclude={"node_id", "node_type"})
            entities.append(EntityValues(id=one.node_id, type=one.node_type, **rest))
        for each in identity.people:
            people.append(PersonValues(id=each.node_id, **each.model_dump(exclude={"node_id"})))
        return cls(
            name=None if identity.name is None else identity.name.value,
            role=None if identity.role is None else identity.role.value,
            people=tuple(people),
            entities=tuple(entities),
            energy=identity.state.energy,
            emotions=identity.state.emotion_vector,
            goal=identity.state.goal,
            **identity.model_dump(include={"citizen_id", "as_of_time", "known_at", "notes"}),
        )


@tool("Who a citizen is")
async def call_identity(client: AsyncSubstrate, given: IdentityArguments) -> ToolAnswer[IdentityValues]:
    """Show who a citizen is, or was: the entities that most of its memories point to, and its state."""
    citizen = await client.identity(citizen_id=given.citizen_id, **times_of(given))
    introduced = introduce(citizen)
    lines = [] if introduced is None else [one_line(introduced)]
    for value in citizen.values[:RULES]:
        lines.append(one_line(f"Rule: {value.rule}"))
    if citizen.temperament is not None:
        felt = [f"{name} {share:.2f}" for name, share in citizen.temperament.emotions.items()]
        lines.append(one_line(f"Feels: {', '.join(felt[:FEELINGS_OF_A_TOOL])}"))
    for entity in citizen.entities:
        appears = f"in {count_of(entity.appearances, 'memory')}"
        lines.append(one_line(f"- {entity.name} ({entity.node_type}): {appears}"))
    text = "\n".join(lines) or "No identity yet: nothing was remembered."
    return ToolAnswer(fence(text), IdentityValues.of(citizen))


TOOLS: Final = (call_identity,)
