"""Names in new texts become memories on a real engine, and a citizen says who it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.features.identity.feature import introduce, read_identity
from orchestration.features.identity.values import Identity, WhoIs
from orchestration.features.tagging import queries as made_tags
from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.ingestion.formats.reader import ParsedFiles
from orchestration.ingestion.pipeline import ingest
from orchestration.insertion import apply, apply_atomically
from schemas.commands import Correct, Remember, Retract, Supersede
from schemas.memory import Level
from schemas.temporal import to_instant
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.store import lexicon
from tests.integration.store import NOW, ask, day, ids, moment, noted, remember, stored

MENTIONS = Query(
    "mentions_of",
    "MATCH (m)-[e:LINK]->(n) WHERE e.relation_type = 'MENTIONS' AND e.invalid_at > $now AND e.expired_at > $now "
    "RETURN m.id, n.id, e.unset ORDER BY m.id, n.id",
)


@pytest.fixture
def naming(deps: Deps) -> Deps:
    return replace(deps, names=True)


async def mentioned(deps: Deps, citizen: str) -> dict[str, list[str]]:
    """What each memory mentions."""
    graph = deps.graph(graph_name(Level.N1, citizen))
    mentions: dict[str, list[str]] = {}
    for memory_id, target_id, _ in await graph.read(MENTIONS, now=NOW):
        mentions.setdefault(memory_id, []).append(target_id)
    return mentions


async def who(deps: Deps, citizen: str, **fields: Any) -> Identity:
    return await read_identity(WhoIs.model_validate({"citizen_id": citizen, **fields}), deps, NOW)


def note(citizen: str, memory_id: str, text: str, **fields: Any) -> Remember:
    return remember(citizen, memory_id, description=text, **fields)


def chat(citizen: str, name: str, *turns: tuple[str, str]) -> Episode:
    told = tuple(
        Turn(f"D1:{place}", speaker, text, moment(place)) for place, (speaker, text) in enumerate(turns, start=1)
    )
    return Episode(name, citizen, (Session("session_1", "session 1", told[0].time, told),))


async def test_a_name_is_made_once_and_linked_with_each_text(naming: Deps, fresh_citizen: str) -> None:
    texts = [note(fresh_citizen, "a", "my sister Anna rang"), note(fresh_citizen, "b", "Anna came by")]
    await stored(naming, texts[0], now=day(1))
    await stored(naming, texts[1], now=day(2))
    assert await mentioned(naming, fresh_citizen) == {"a": ["person:anna"], "b": ["person:anna"]}
    again = await stored(naming, texts[0], now=day(3))
    assert again[0].duplicate
    assert await mentioned(naming, fresh_citizen) == {"a": ["person:anna"], "b": ["person:anna"]}


async def test_the_second_use_of_an_unknown_name_links_the_first_too(naming: Deps, fresh_citizen: str) -> None:
    await stored(naming, note(fresh_citizen, "a", "today I met Femke"), now=day(1))
    assert await mentioned(naming, fresh_citizen) == {}
    await stored(naming, note(fresh_citizen, "b", "and again I met Femke"), now=day(2))
    assert await mentioned(naming, fresh_citizen) == {"a": ["person:femke"], "b": ["person:femke"]}


async def test_only_what_a_human_wrote_counts_as_an_earlier_use(naming: Deps, fresh_citizen: str) -> None:
    await stored(naming, note(fresh_citizen, "a", "my friend Femke Quist rang"), now=day(1))
    await stored(naming, note(fresh_citizen, "tool", "today I met Xanthe", source="tool"), now=day(2))
    texts = [note(fresh_citizen, "b", "today I met Quist"), note(fresh_citizen, "c", "today I met Xanthe")]
    await stored(naming, *texts, now=day(3))
    assert await mentioned(naming, fresh_citizen) == {"a": ["person:femke_quist"]}


async def test_a_changed_text_mentions_what_it_says_now(naming: Deps, fresh_citizen: str) -> None:
    citizen = fresh_citizen
    await stored(naming, note(citizen, "a", "my sister Anna rang"), now=day(1))
    await stored(naming, Supersede(citizen_id=citizen, id="a", description="my brother Ben rang"), now=day(5))
    assert await mentioned(naming, citizen) == {"a": ["person:ben"]}
    assert [person.name for person in (await who(naming, citizen)).people] == ["Ben"]
    before = await who(naming, citizen, as_of_time=moment(3))
    assert [(person.name, person.relation) for person in before.people] == [("Anna", "sister")]


async def test_a_retracted_name_is_not_made_again(naming: Deps, fresh_citizen: str) -> None:
    await stored(naming, note(fresh_citizen, "a", "my sister Anna rang"), now=day(1))
    await stored(naming, Retract(citizen_id=fresh_citizen, id="person:anna"), now=day(2))
    await stored(naming, note(fresh_citizen, "b", "my sister Anna left"), now=day(3))
    assert (await who(naming, fresh_citizen)).people == ()


async def test_the_declared_self_is_read_as_of_a_moment(naming: Deps, fresh_citizen: str) -> None:
    citizen = fresh_citizen
    await stored(naming, note(citizen, "a", "I'm Maya, a nurse", valid_at=moment(1)), now=day(1))
    await stored(naming, note(citizen, "b", "from today on I work as a baker", valid_at=moment(20)), now=day(20))
    now, then = await who(naming, citizen), await who(naming, citizen, as_of_time=moment(10))
    assert now.role is not None
    assert (now.role.value, now.role.memory_ids) == ("baker", ("b",))
    assert then.role is None or then.role.value == "nurse"
    assert introduce(now) == "You are Maya, a baker."
    await stored(naming, Correct(citizen_id=citizen, id="b", description="I work as a cook"), now=day(30))
    assert (await who(naming, citizen)).role == now.role.model_copy(update={"value": "cook"})
    believed = await who(naming, citizen, as_of_time=moment(25))
    assert believed.role == now.role


async def test_a_chat_is_named_whole_and_again_changes_nothing(naming: Deps, fresh_citizen: str) -> None:
    told = chat(
        fresh_citizen,
        "chat",
        ("user", "hi, I'm Imelda"),
        ("assistant", "Hello Imelda, I am Claudius and my sister is Vera"),
        ("user", "my son Dexter skipped maths, Dex shrugs"),
        ("user", "dexter again"),
    )
    await ingest(ParsedFiles((told,)), naming, day(50))
    first = await mentioned(naming, fresh_citizen)
    assert first["chat:D1:3"] == first["chat:D1:4"] == ["person:dexter"]
    assert "chat:D1:2" not in first
    citizen = await who(naming, fresh_citizen)
    assert introduce(citizen) == "You are Imelda. People: Dexter (son)."
    assert not {"user", "assistant"} & {entity.name for entity in citizen.entities}
    report = await ingest(ParsedFiles((told,)), naming, day(51))
    assert (report.stored, report.refused) == (0, 0)
    assert await mentioned(naming, fresh_citizen) == first


async def test_what_an_ingested_chat_says_of_i_stands_for_the_citizen(naming: Deps, fresh_citizen: str) -> None:
    told = chat(fresh_citizen, "chat", ("user", "hi, I'm Gord Halloran, joiner"), ("assistant", "Hello Gord"))
    await ingest(ParsedFiles((told,)), naming, day(50))
    entity = (await who(naming, fresh_citizen)).self_entity
    assert entity is not None
    assert (entity.node_id, entity.declared, entity.appearances) == ("self", False, 1)


async def test_a_made_name_stands_behind_every_text(naming: Deps, fresh_citizen: str) -> None:
    await stored(naming, note(fresh_citizen, "a", "my sister Anna bought the boat"), now=day(1))
    stream = await ask(naming, fresh_citizen, "What did Anna buy?")
    tiers = stream.activation_tiers
    assert ids(tiers.focus + tiers.peripheral + tiers.background)[0] == "a"


async def test_an_earlier_text_begins_the_name_earlier(naming: Deps, fresh_citizen: str) -> None:
    await stored(naming, note(fresh_citizen, "b", "my sister Anna left", valid_at=moment(20)), now=day(30))
    await stored(naming, note(fresh_citizen, "a", "Anna came", valid_at=moment(10)), now=day(31))
    citizen = await who(naming, fresh_citizen, as_of_time=moment(12), known_at=moment(40))
    assert [person.name for person in citizen.people] == ["Anna"]


async def test_an_atomic_list_is_named_too(naming: Deps, fresh_citizen: str) -> None:
    texts = [note(fresh_citizen, "a", "my sister Anna rang"), note(fresh_citizen, "b", "Anna left")]
    await apply_atomically(texts, naming, to_instant(moment(1)))
    assert await mentioned(naming, fresh_citizen) == {"a": ["person:anna"], "b": ["person:anna"]}


async def test_the_search_for_a_word_or_name_answers_nothing_of_the_one_before(
    deps: Deps, fresh_citizen: str
) -> None:
    many = [remember(fresh_citizen, f"a{n}", name=f"Anna the {n}th", description="boat") for n in range(260)]
    for first in range(0, len(many), 50):
        await stored(deps, *many[first : first + 50])
    await stored(deps, remember(fresh_citizen, "z", name="Zoe", description="quay"))
    graph = deps.graph(graph_name(Level.N1, fresh_citizen))
    for past in (False, True):
        rows = await lexicon.look_up(
            graph,
            words=["boat", "quay", "zebra"],
            phrases=[],
            name_queries=["@entity_names:anna", "@entity_names:zoe"],
            past=past,
        )
        assert rows.records == {"boat": lexicon.DOCUMENT_CAP, "quay": 1, "zebra": 0}
        assert [name.name for name in rows.names if "Anna" not in name.name] == ["Zoe"]
        assert len(rows.names) == lexicon.NAMES_PER_WORD + 1
    assert await made_tags.count_words(graph, ["boat", "quay"]) == {"boat": made_tags.MOST_COUNTED, "quay": 1}


async def test_a_text_and_its_links_with_known_names_are_written_at_once_where_the_text_is_as_sent(
    naming: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stored(naming, note(fresh_citizen, "first", "My sister Femke lives in Utrecht."))
    sent = noted(naming, monkeypatch)
    [new] = await stored(naming, note(fresh_citizen, "second", "Femke called today."))
    assert (new.status, sent.count("remember_linked"), sent.count("relate")) == ("stored", 1, 0)
    linked = await mentioned(naming, fresh_citizen)
    assert linked["second"] == ["person:femke"]
    [again] = await stored(naming, note(fresh_citizen, "second", "Femke called today."))
    [other] = await apply([note(fresh_citizen, "second", "Femke and Femke met in Utrecht.")], naming, NOW)
    assert (again.duplicate, other.status) == (True, "refused")
    assert await mentioned(naming, fresh_citizen) == linked
