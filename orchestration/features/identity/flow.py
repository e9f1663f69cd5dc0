"""Reads who a citizen is from its memories, and what it says of itself; no profile is stored (000)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from orchestration.appraisal.names import name_language
from orchestration.appraisal.self_statements import read_relations, read_statements
from orchestration.dependencies import Deps
from orchestration.features.identity.changes import compare_identities, summarise
from orchestration.features.identity.queries import (
    MAX_RULES,
    EntityPosition,
    OwnVoice,
    PersonRow,
    Stated,
    read_entities,
    read_people,
    read_self_entity,
    read_temperament,
    read_values,
)
from orchestration.features.identity.queries import read_statements as read_stated
from orchestration.features.identity.values import (
    Between,
    Identity,
    IdentityDiff,
    IdentityEntity,
    IdentityPage,
    IdentityPerson,
    SelfEntity,
    Temperament,
    Told,
    Value,
    WhoIs,
)
from orchestration.graph_queries.existing_graphs import open_view
from orchestration.mind.state import felt_state
from orchestration.question.reading import ASKING, ROLES
from schemas.base import CitizenId
from schemas.errors import InvalidRequest
from schemas.memory import Level, Source
from schemas.paging import decode_cursor, encode_cursor
from schemas.temporal import Instant, Scope, to_datetime
from substrate.graphs.graph import GraphTarget
from substrate.language.languages import Language
from substrate.language.text import name_key
from substrate.store import reader

MIN_COUNTED: Final = 64
"""At least this many of the most linked memories are examined: some of their links may have ended."""

MOST_COMPARED: Final = 100
"""This many entities and people of each moment are compared."""


class _IdentityPage(NamedTuple):
    """The entity after which a page begins, how many entities earlier pages showed, and the first page's scope."""

    after: EntityPosition
    shown: int
    scope: Scope


async def who(citizen_id: CitizenId, query: IdentityPage, deps: Deps, now: Instant) -> Identity:
    """The most connected entities of a citizen's memories, their emotions, and the rules attached (000)."""
    whose = WhoIs(citizen_id=citizen_id, **query.model_dump())
    for note in query.notes:  # times in the dump have a zone, so that validating it makes no notes
        whose = whose.with_note(note)
    return await read_identity(whose, deps, now)


async def read_identity(request: WhoIs, deps: Deps, now: Instant) -> Identity:
    """The identity of a citizen at a moment: the entities that most memories point to, and its state.

    Without such entities the answer has a note. Raises InvalidRequest for an invalid cursor.
    """
    page = _page_start(request, now)
    if request.cursor is not None:
        return await _read_page(request, page, deps, now)
    identity, calibration = await asyncio.gather(
        _read_page(request, page, deps, now),
        deps.features.read("calibration", request.citizen_id, deps, page.scope),
    )
    return identity.model_copy(update={"calibration": calibration})


async def _read_page(request: WhoIs, page: _IdentityPage, deps: Deps, now: Instant) -> Identity:
    scope = page.scope
    view = await open_view(request.citizen_id, (Level.N1,), scope, deps, now=now)
    entities: tuple[IdentityEntity, ...] = ()
    own = DeclaredSelf()
    notes, next_cursor = (*request.notes, *(view.notes if view.targets else ())), None
    target = view.targets.get(Level.N1)
    if target is not None:
        known_at = min(scope.known.start, await reader.read_clock(target.graph, now))
        pool = max(MIN_COUNTED, 4 * (page.shown + request.limit))
        ranked = await read_entities(
            target, scope, page.after, roles=sorted(ROLES), limit=request.limit + 1, pool=pool
        )
        entities = tuple(ranked[: request.limit])
        if request.cursor is None:
            own = await read_self(request.citizen_id, target, scope, limit=request.limit)
        if len(ranked) > request.limit:
            last = entities[-1]
            position = EntityPosition(last.appearances, last.name, last.node_id)
            next_cursor = encode_cursor(*position, page.shown + len(entities), scope.valid.start, known_at)
    if not entities and request.cursor is None:
        notes = (*notes, f"citizen {request.citizen_id} had no memory that pointed to another at that moment")
    state = await felt_state(request.citizen_id, deps, scope, now, target=target)
    if state.updated_at is None:
        shown = "one derived from its memories" if state.derived else "the default state"
        notes = (*notes, f"citizen {request.citizen_id} had no state at that moment: {shown} is shown")
    return Identity(
        citizen_id=request.citizen_id,
        as_of_time=to_datetime(scope.valid.start),
        known_at=to_datetime(now if scope.is_present else scope.known.start),
        name=own.name,
        role=own.role,
        self_entity=own.self_entity,
        people=own.people,
        values=own.values,
        temperament=own.temperament,
        entities=entities,
        state=state,
        next=next_cursor,
        notes=notes,
    )


async def read_identity_diff(citizen_id: CitizenId, asked: Between, deps: Deps, now: Instant) -> IdentityDiff:
    """What changed in a citizen between `from` and `to`: name, role, people, attachments, values, temperament.

    Raises InvalidRequest when the first is after the second.
    """
    end = to_datetime(now) if asked.to_time is None else asked.to_time
    if asked.from_time > end:
        raise InvalidRequest(
            f"`from` ({asked.from_time:%Y-%m-%d %H:%M}) is after `to` ({end:%Y-%m-%d %H:%M})",
            remedy="Send the earlier moment as `from`.",
        )
    moments = (asked.from_time, asked.to_time)
    questions = [
        WhoIs(citizen_id=citizen_id, as_of_time=moment, known_at=asked.known_at, limit=MOST_COMPARED)
        for moment in moments
    ]
    before, after = await asyncio.gather(
        *(_read_page(question, _page_start(question, now), deps, now) for question in questions)
    )
    notes = [*asked.notes, *(f"at `from`: {note}" for note in before.notes)]
    notes += [f"at `to`: {note}" for note in after.notes]
    full = any(len(one.entities) == MOST_COMPARED or len(one.values) == MOST_COMPARED for one in (before, after))
    notes += [f"only the first {MOST_COMPARED} entities and rules of each moment are compared"] if full else []
    return compare_identities(before, after).model_copy(update={"notes": tuple(notes)})


def _page_start(request: WhoIs, now: Instant) -> _IdentityPage:
    if request.cursor is None:
        scope = request.scope(now)
        return _IdentityPage(EntityPosition(), 0, scope)
    appearances, name, node_id, shown, valid, known = decode_cursor(request.cursor, int, str, str, int, int, int)
    return _IdentityPage(EntityPosition(appearances, name, node_id), shown, Scope.at(valid, known))


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
