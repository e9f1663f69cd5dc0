"""Reads what a citizen says of itself, and who its people are, at a moment (000). Nothing of it is stored."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from orchestration.appraisal.names import name_language
from orchestration.appraisal.self_statements import read_relations, read_statements
from orchestration.features.identity.changes import summarise
from orchestration.features.identity.queries import (
    MAX_RULES,
    OwnVoice,
    PersonRow,
    Stated,
    read_people,
    read_self_entity,
    read_temperament,
    read_values,
)
from orchestration.features.identity.queries import read_statements as read_stated
from orchestration.features.identity.values import Identity, IdentityPerson, SelfEntity, Temperament, Told, Value
from orchestration.question.reading import ASKING, ROLES
from schemas.memory import Source
from schemas.temporal import Scope
from substrate.graphs.graph import GraphTarget
from substrate.language.languages import Language
from substrate.language.text import name_key

RELATION_COUNTS: Final = 1.5
"""Somebody whom the citizen calls its sister or its boss counts like one who is mentioned this many times more."""
_BEFORE, _AFTER = 90, 70
"""How many characters before and after a name may say what the person is to the citizen."""


class DeclaredSelf(NamedTuple):
    """What a citizen says of itself, the memory that stands for it, its people, values and temperament."""

    name: Told | None = None
    role: Told | None = None
    self_entity: SelfEntity | None = None
    people: tuple[IdentityPerson, ...] = ()
    values: tuple[Value, ...] = ()
    temperament: Temperament | None = None


class _Said(NamedTuple):
    """A statement of the citizen, and the memory with it."""

    value: str
    memory_id: str


async def read_self(citizen_id: str, target: GraphTarget, scope: Scope, *, limit: int) -> DeclaredSelf:
    """What the citizen is at the moment, with at most `limit` of its people. Raises as `Graph.read`."""
    stated = await read_stated(target, scope)
    name = latest_name(_statements(stated, "name", _speakers(citizen_id)))
    names = () if name is None else (name.value, name.value.split()[0])
    speakers = _speakers(citizen_id, *names)
    statements = _statements(stated, "role", speakers) or _statements(stated, "hint", speakers)
    voice = OwnVoice(
        (Source.CITIZEN.value, Source.INGESTION.value),
        speakers,
        tuple(sorted(ROLES)),
        tuple(f"{word} " for word in Language.gather("names.my")),
    )
    selves = set(map(name_key, (citizen_id, *names)))
    rows, entity, values, periods = await asyncio.gather(
        read_people(target, scope, voice),
        read_self_entity(target, scope, sorted(selves)),
        read_values(target, scope, max(MAX_RULES, limit)),
        read_temperament(target, scope, voice),
    )
    people = rank_people(rows, selves)[:limit]
    role = None
    if statements:
        same = [one.memory_id for one in statements if one.value.lower() == statements[0].value.lower()]
        role = Told(value=statements[0].value, memory_ids=tuple(dict.fromkeys(same)))
    return DeclaredSelf(name, role, entity, people, values, summarise(periods))


def _speakers(citizen_id: str, *names: str) -> tuple[str, ...]:
    """The speakers whose words are the citizen's own, in lower case."""
    return tuple(sorted({*ASKING, citizen_id.lower(), *(name.lower() for name in names)}))


def _statements(stated: Sequence[Stated], kind: str, speakers: Sequence[str]) -> list[_Said]:
    """What the citizen said of itself, the latest first; not what others, tools or notes say."""
    own = (
        text
        for text in stated
        if (text.speaker is None and text.source == Source.CITIZEN)
        or (text.speaker is not None and text.speaker.lower() in speakers)
    )
    said = ((text.memory_id, statement) for text in own for statement in reversed(read_statements(text.text)))
    return [_Said(statement.value, memory_id) for memory_id, statement in said if statement.kind == kind]


def latest_name(said: Sequence[_Said]) -> Told | None:
    """The name said last; a longer one that begins with it is the same name."""
    if not said:
        return None
    key = name_key(said[0].value)
    begun = f"{key} "
    same = [one for one in said if begun.startswith(f"{name_key(one.value)} "[: len(begun)])]
    full = max(same, key=lambda one: len(one.value), default=said[0])
    return Told(value=full.value, memory_ids=tuple(dict.fromkeys(one.memory_id for one in same)))


def rank_people(rows: Sequence[PersonRow], selves: set[str]) -> tuple[IdentityPerson, ...]:
    """The people, those that matter most first: by how often they are mentioned, and whether they are related."""
    people = [
        IdentityPerson(node_id=row.node_id, name=row.name, relation=_relation(row), appearances=row.appearances)
        for row in _one_each(rows)
        if name_key(row.name) not in selves
    ]
    return tuple(
        sorted(
            people,
            key=lambda one: (-one.appearances - RELATION_COUNTS * bool(one.relation), one.name, one.node_id),
        )
    )


def _one_each(rows: Sequence[PersonRow]) -> list[PersonRow]:
    """The people; one that was made of a name joins the one whom the citizen itself stored under that name."""
    given = {name_key(row.name): row for row in rows if not row.made}
    made = {name_key(row.name): row for row in rows if row.made}
    joined = [_join(row, made.get(name_key(row.name))) for row in rows if not row.made]
    return joined + [row for key, row in made.items() if key not in given]


def _join(row: PersonRow, made: PersonRow | None) -> PersonRow:
    if made is None:
        return row
    return row._replace(appearances=row.appearances + made.appearances, texts=[*row.texts, *made.texts])


def _relation(row: PersonRow) -> str | None:
    """What the citizen calls a person most often."""
    forms = set(map(name_key, (row.name, *row.aliases)))
    said: Counter[str] = Counter()
    for text in row.texts:
        language = name_language(text)
        for name in (row.name, *row.aliases):
            start = text.find(name)
            if start >= 0:
                around = text[max(0, start - _BEFORE) : start + len(name) + _AFTER]
                relations = read_relations(around, language)
                said.update(relation for key, relation in relations.items() if key in forms)
                break
    return said.most_common(1)[0][0] if said else None


def introduce(identity: Identity) -> str | None:
    """Who the citizen is, in one line: "You are Maya, a baker. People: Anna (sister), Tom."; None when unknown."""
    parts = []
    if identity.name is not None or identity.role is not None:
        name = "" if identity.name is None else identity.name.value
        role = "" if identity.role is None else _with_article(identity.role.value)
        parts.append(f"You are {', '.join(filter(None, (name, role)))}.")
    if identity.people:
        people = (f"{p.name} ({p.relation})" if p.relation else p.name for p in identity.people)
        parts.append(f"People: {', '.join(people)}.")
    return " ".join(parts) or None


def _with_article(role: str) -> str:
    """The role as it stands after "you are"; a German one, which has a capital, stays as it is."""
    if role.startswith(tuple(language.names.runs for language in Language.all())):
        return f"who {role}"
    if role[:1].isupper():
        return role
    return f"{'an' if role[:1] in 'aeiou' else 'a'} {role}"
