"""`substrate identity`: who a citizen is, or was."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli import formatting, options, support
from api.client import AsyncSubstrate
from api.mcp.answers import Noticed
from api.mcp.arguments import (
    Arguments,
    AsOfArgument,
    CitizenArgument,
    KnownAtArgument,
)
from api.mcp.tool import ToolAnswer, times_of, tool
from orchestration.assembly.displayed_text import fence, one_line
from orchestration.features.identity.flow import introduce, read_identity, read_identity_diff
from orchestration.features.identity.values import AttachedRule, Between, Identity, IdentityDiff, WhoIs
from schemas.base import (
    Frozen,
)
from schemas.mind.state import Felt
from substrate.language.text import count_of

OPTIONS: Final = {
    "citizen_id": "--citizen", "as_of_time": "--as-of", "known_at": "--known-at", "limit": "--limit",
}  # fmt: skip
DIFF_OPTIONS: Final = {"from_time": "--diff", "to_time": "--as-of", "known_at": "--known-at"}
RULES, FEELINGS = 5, 6

app = typer.Typer(add_completion=False)


@app.command()
def identity(
    ctx: typer.Context,
    *,
    citizen: Annotated[str, typer.Option("--citizen", "-c", metavar="ID", help="Whose identity.")],
    as_of: Annotated[str | None, typer.Option(metavar="TIME", help="The identity at this day or time.")] = None,
    known_at: options.KnownAt = None,
    diff: Annotated[
        str | None, typer.Option(metavar="TIME", help="What changed since this moment, until now or --as-of.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Entities, 1 to 100.")] = 10,
    as_json: options.AnswerAsJson = False,
) -> None:
    """Show who a citizen is: its name, role and people, its values, and what most of its memories point to."""
    if diff is not None:
        moments = {
            "from_time": support.parse_time_option("--diff", diff),
            "to_time": support.parse_time_option("--as-of", as_of),
            "known_at": support.parse_known_at(known_at),
        }
        between = support.validate(Between, support.drop_unset(moments), DIFF_OPTIONS)
        changed = support.in_store(
            support.read_settings(ctx), lambda deps, now: read_identity_diff(citizen, between, deps, now), citizen
        )
        support.print_answer(changed, show_diff, as_json=as_json)
        return
    fields = {
        "citizen_id": citizen,
        "as_of_time": support.parse_time_option("--as-of", as_of),
        "known_at": support.parse_known_at(known_at),
        "limit": limit,
    }
    request = support.validate(WhoIs, support.drop_unset(fields), OPTIONS)
    answer = support.in_store(
        support.read_settings(ctx), lambda deps, now: read_identity(request, deps, now), citizen
    )
    support.print_answer(answer, show, as_json=as_json)


def show_diff(diff: IdentityDiff, console: Console) -> None:
    """Print what changed, a line for each change."""
    console.print(Text(f"from {diff.from_time:%Y-%m-%d} to {diff.to_time:%Y-%m-%d}", style="bold"))
    lines = list(_changes(diff))
    for line in lines:
        console.print(Text(formatting.to_line(line)))
    if not lines:
        console.print("nothing changed")
    for note in diff.notes:
        console.print(Text(f"note: {formatting.to_line(note)}", style="dim"))


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


def show(identity: Identity, console: Console) -> None:
    """Print who the citizen is, its entities as a table, its rules, its temperament, and the state."""
    own = identity.self_entity
    if own is not None:
        how = "declared" if own.declared else "found"
        line = f"self: {own.name}, {how}, in {count_of(own.appearances, 'memory')}"
        console.print(Text(formatting.to_line(line)))
    introduced = introduce(identity)
    if introduced is not None:
        console.print(Text(formatting.to_line(introduced)))
    table = Table("entity", "memories", "felt", box=None)
    for entity in identity.entities:
        felt = ", ".join(f"{name} {times}" for name, times in entity.emotions.items())
        table.add_row(
            Text(formatting.to_line(entity.name)), str(entity.appearances), Text(formatting.to_line(felt))
        )
    if identity.entities:
        console.print(table)
    _show_character(identity, console)
    if identity.state.updated_at is not None:
        console.print(Text(_format_state(identity.state)))
    for note in identity.notes:
        console.print(Text(f"note: {formatting.to_line(note)}", style="dim"))


def _show_character(identity: Identity, console: Console) -> None:
    for value in identity.values[:RULES]:
        console.print(Text(formatting.to_line(f"rule: {value.rule} ({count_of(value.memories, 'memory')})")))
    if len(identity.values) > RULES:
        console.print(Text(f"rules: {len(identity.values) - RULES} more with --json", style="dim"))
    if identity.temperament is not None:
        felt = [f"{name} {share:.2f}" for name, share in identity.temperament.emotions.items()]
        of = count_of(identity.temperament.memories, "memory")
        console.print(Text(formatting.to_line(f"temperament: {', '.join(felt[:FEELINGS])} ({of})")))


def _format_state(state: Felt) -> str:
    felt = [f"{name} {share:.2f}" for name, share in state.emotion_vector.items()]
    drives = [f"{formatting.to_line(name)} {drive.satisfaction:.2f}" for name, drive in state.drives.items()]
    goal = [] if state.goal is None else [f"goal: {formatting.to_line(state.goal)}"]
    parts = [f"energy {state.energy:.2f}", *map(formatting.to_line, felt), *goal]
    return "state: " + ", ".join([*parts, *(["drives: " + ", ".join(drives)] if drives else [])])


RULES_SHOWN, FEELINGS_SHOWN = 5, 4


class IdentityArguments(Arguments):
    citizen_id: CitizenArgument
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


class IdentityValues(Noticed):
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
        entities = tuple(
            EntityValues(
                id=entity.node_id, type=entity.node_type, **entity.model_dump(exclude={"node_id", "node_type"})
            )
            for entity in identity.entities
        )
        people = tuple(
            PersonValues(id=person.node_id, **person.model_dump(exclude={"node_id"})) for person in identity.people
        )
        return cls(
            name=None if identity.name is None else identity.name.value,
            role=None if identity.role is None else identity.role.value,
            people=people,
            entities=entities,
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
    for value in citizen.values[:RULES_SHOWN]:
        lines.append(one_line(f"Rule: {value.rule}"))
    if citizen.temperament is not None:
        felt = [f"{name} {share:.2f}" for name, share in citizen.temperament.emotions.items()]
        lines.append(one_line(f"Feels: {', '.join(felt[:FEELINGS_SHOWN])}"))
    lines += [
        one_line(f"- {entity.name} ({entity.node_type}): in {count_of(entity.appearances, 'memory')}")
        for entity in citizen.entities
    ]
    return ToolAnswer(
        fence("\n".join(lines) or "No identity yet: nothing was remembered."), IdentityValues.of(citizen)
    )


TOOLS: Final = (call_identity,)
