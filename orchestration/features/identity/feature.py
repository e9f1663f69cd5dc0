"""Reads who a citizen is from its memories, and what it says of itself; no profile is stored (000)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from orchestration.appraisal.names import name_language
from orchestration.appraisal.self_statements import read_relations, read_statements
from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.identity import learning
from orchestration.features.identity import queries as store
from orchestration.features.identity.learning import learning_moments
from orchestration.features.identity.values import (
    Between,
    Identity,
    IdentityDiff,
    IdentityEntity,
    IdentityPage,
    IdentityPerson,
    Told,
    WhoIs,
    compare_identities,
    count_again,
    summarise,
)
from orchestration.graph_queries.existing_graphs import open_view
from orchestration.mind.state import felt_state
from orchestration.question.reading import ASKING, ROLES
from schemas.base import CitizenId
from schemas.errors import InvalidRequest
from schemas.memory import Level, Source
from schemas.operation import Method, Operation, citizen_may, group
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


type _PageStart = tuple[store.EntityPosition, int, Scope]
"""The entity after which a page begins, how many entities earlier pages showed, and the first page's scope."""


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
        _read_page(request, page, deps, now), deps.features.read("calibration", request.citizen_id, deps, page[2])
    )
    return identity.model_copy(update={"calibration": calibration})


async def _read_page(request: WhoIs, page: _PageStart, deps: Deps, now: Instant) -> Identity:
    after, shown_before, scope = page
    view = await open_view(request.citizen_id, (Level.N1,), scope, deps, now=now)
    entities: tuple[IdentityEntity, ...] = ()
    own: dict[str, Any] = {}
    notes, next_cursor = (*request.notes, *(view.notes if view.targets else ())), None
    target = view.targets.get(Level.N1)
    if target is not None:
        known_at = min(scope.known.start, await reader.read_clock(target.graph, now))
        pool = max(MIN_COUNTED, 4 * (shown_before + request.limit))
        ranked = await store.read_entities(
            target, scope, after, roles=sorted(ROLES), limit=request.limit + 1, pool=pool
        )
        entities = tuple(ranked[: request.limit])
        if request.cursor is None:
            own = await read_self(request.citizen_id, target, scope, limit=request.limit)
        if len(ranked) > request.limit:
            last = entities[-1]
            position = store.EntityPosition(last.appearances, last.name, last.node_id)
            next_cursor = encode_cursor(*position, shown_before + len(entities), scope.valid.start, known_at)
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
        **own,
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
    pages = []
    for moment in (asked.from_time, asked.to_time):
        question = WhoIs(citizen_id=citizen_id, as_of_time=moment, known_at=asked.known_at, limit=MOST_COMPARED)
        pages.append(_read_page(question, _page_start(question, now), deps, now))
    before, after = await asyncio.gather(*pages)
    notes = [*asked.notes, *(f"at `from`: {note}" for note in before.notes)]
    notes += [f"at `to`: {note}" for note in after.notes]
    full = any(len(one.entities) == MOST_COMPARED or len(one.values) == MOST_COMPARED for one in (before, after))
    notes += [f"only the first {MOST_COMPARED} entities and rules of each moment are compared"] if full else []
    return compare_identities(before, after).model_copy(update={"notes": tuple(notes)})


def _page_start(request: WhoIs, now: Instant) -> _PageStart:
    if request.cursor is None:
        return store.EntityPosition(), 0, request.scope(now)
    appearances, name, node_id, shown, valid, known = decode_cursor(request.cursor, int, str, str, int, int, int)
    return store.EntityPosition(appearances, name, node_id), shown, Scope.at(valid, known)


RELATION_COUNTS: Final = 1.5
"""Somebody whom the citizen calls its sister or its boss counts like one who is mentioned this many times more."""
_BEFORE, _AFTER = 90, 70
"""How many characters before and after a name may say what the person is to the citizen."""


type _Said = tuple[str, str]
"""A statement of the citizen, and the id of the memory with it."""


async def read_self(citizen_id: str, target: GraphTarget, scope: Scope, *, limit: int) -> dict[str, Any]:
    """What the citizen says of itself at the moment, the memory that stands for it, its people (at most `limit`),
    values and temperament, as the fields of its identity. Raises as `Graph.read`.
    """
    stated = await store.read_statements(target, scope)
    name = latest_name(_statements(stated, "name", _speakers(citizen_id)))
    names = () if name is None else (name.value, name.value.split()[0])
    speakers = _speakers(citizen_id, *names)
    statements = _statements(stated, "role", speakers) or _statements(stated, "hint", speakers)
    voice: store.OwnVoice = {
        "own_sources": [Source.CITIZEN.value, Source.INGESTION.value],
        "own_speakers": speakers,
        "roles": sorted(ROLES),
        "possessives": [f"{word} " for word in Language.gather("names.my")],
    }
    selves = set(map(name_key, (citizen_id, *names)))
    rows, entity, values, periods = await asyncio.gather(
        store.read_people(target, scope, voice),
        store.read_self_entity(target, scope, sorted(selves)),
        store.read_values(target, scope, max(store.MAX_RULES, limit)),
        store.read_temperament(target, scope, voice),
    )
    people = rank_people(rows, selves)[:limit]
    role = None
    if statements:
        first, _ = statements[0]
        same = [memory_id for value, memory_id in statements if value.lower() == first.lower()]
        role = Told(value=first, memory_ids=tuple(dict.fromkeys(same)))
    told: dict[str, Any] = {"name": name, "role": role, "self_entity": entity}
    return {**told, "people": people, "values": values, "temperament": summarise(periods)}


def _speakers(citizen_id: str, *names: str) -> list[str]:
    """The speakers whose words are the citizen's own, in lower case."""
    return sorted({*ASKING, citizen_id.lower(), *map(str.lower, names)})


def _statements(stated: Sequence[store.StatementRow], kind: str, speakers: Sequence[str]) -> list[_Said]:
    """What the citizen said of itself, the latest first; not what others, tools or notes say."""
    said: list[_Said] = []
    for text in stated:
        by_itself = text.speaker is None and text.source == Source.CITIZEN
        if by_itself or (text.speaker is not None and text.speaker.lower() in speakers):
            told = reversed(read_statements(text.text))
            said += [(statement.value, text.memory_id) for statement in told if statement.kind == kind]
    return said


def latest_name(said: Sequence[_Said]) -> Told | None:
    """The name said last; a longer one that begins with it is the same name."""
    if not said:
        return None
    begun = f"{name_key(said[0][0])} "
    same = [one for one in said if begun.startswith(f"{name_key(one[0])} "[: len(begun)])]
    full, _ = max(same, key=lambda one: len(one[0]), default=said[0])
    return Told(value=full, memory_ids=tuple(dict.fromkeys(memory_id for _, memory_id in same)))


def rank_people(rows: Sequence[store.PersonRow], selves: set[str]) -> tuple[IdentityPerson, ...]:
    """The people, those that matter most first: by how often they are mentioned, and whether they are related."""
    given = {name_key(row.name) for row in rows if not row.made}
    made = {name_key(row.name): row for row in rows if row.made}
    people: list[IdentityPerson] = []
    for row in rows:
        key = name_key(row.name)
        if key in selves or (row.made and (key in given or made[key] is not row)):
            continue
        if not row.made and key in made:  # one that was made of a name joins the one whom the citizen stored
            count = row.appearances + made[key].appearances
            row = row._replace(appearances=count, texts=[*row.texts, *made[key].texts])
        person: dict[str, Any] = {"node_id": row.node_id, "name": row.name, "appearances": row.appearances}
        people.append(IdentityPerson(**person, relation=_relation(row)))

    def rank(one: IdentityPerson) -> tuple[float, str, str]:
        return -one.appearances - RELATION_COUNTS * bool(one.relation), one.name, one.node_id

    return tuple(sorted(people, key=rank))


def _relation(row: store.PersonRow) -> str | None:
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
        role = "" if identity.role is None else identity.role.value
        if role.startswith(tuple(language.names.runs for language in Language.all())):
            role = f"who {role}"
        elif role and not role[:1].isupper():  # a German one, which has a capital, stays as it is
            role = f"{'an' if role[:1] in 'aeiou' else 'a'} {role}"
        parts.append(f"You are {', '.join(filter(None, (name, role)))}.")
    if identity.people:
        people = (f"{p.name} ({p.relation})" if p.relation else p.name for p in identity.people)
        parts.append(f"People: {', '.join(people)}.")
    return " ".join(parts) or None


OPERATIONS: Final = group(
    "citizens",
    Operation("get_identity", "GET /v1/citizens/{citizen_id}/identity", "Read who a citizen is",
              citizen_may("read"), who,
              call=Method("identity", "Who the citizen is, or was: the entities that most of its memories point "
                          "to.", takes=WhoIs)),
    Operation("list_dissonances", "GET /v1/citizens/{citizen_id}/dissonances", "List beliefs that changed",
              citizen_may("read"), learning.learning_page, notes=True,
              call=Method("dissonances", "Every belief that changed, and how often each correction pattern "
                          "recurs.\n\nWith `limit` or `cursor` only one page; with `known_at` as it was known "
                          "then.", pages="dissonances", reads=count_again)),
    Operation("compare_identity", "GET /v1/citizens/{citizen_id}/identity/diff", "Read what changed in a citizen",
              citizen_may("read"), read_identity_diff,
              call=Method("identity_diff", "What changed in the citizen between `from_time` and `to_time`, which "
                          "is now if it is left out.")),
)  # fmt: skip
FEATURE: Final = Feature("identity", operations=OPERATIONS, sections={"learning": learning_moments})
