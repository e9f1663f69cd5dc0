"""What plain words tell that one did to another becomes a typed link, on a real engine (000, 002)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestration.dependencies import Deps
from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.ingestion.formats.reader import ParsedFiles
from orchestration.ingestion.hearing import NewMessages, hear_messages
from orchestration.ingestion.pipeline import ingest
from orchestration.ingestion.storing import Job
from orchestration.resonance.ask import resonate
from orchestration.writing.erasure import erase_memories
from schemas.commands import Correct, Remember, Retract, Supersede
from schemas.memory import Level
from schemas.wave_signal import Resonate
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from tests.integration.store import LINKS, NOW, day, moment, relate, remember, stored

DEEDS = Query(
    "deeds_of",
    "MATCH (a)-[e:LINK]->(b) WHERE e.formation_trigger = 'told in the text' AND e.invalid_at > $now "
    "AND e.expired_at > $now RETURN a.id, e.relation_type, b.id, e.episode_id ORDER BY e.id",
)


MARKS = Query("marks_of", "MATCH ()-[e:LINK]->() WHERE e.relation_type = 'PRAISED' RETURN e.confidence, e.unset")


@pytest.fixture
def naming(deps: Deps) -> Deps:
    return replace(deps, names=True)


async def deeds(deps: Deps, citizen: str) -> list[str]:
    """The deeds that hold, each with the memory that tells it."""
    graph = deps.graph(graph_name(Level.N1, citizen))
    return ["|".join(row) for row in await graph.read(DEEDS, now=NOW)]


def note(citizen: str, memory_id: str, text: str) -> Remember:
    return remember(citizen, memory_id, description=text, valid_at=moment(1))


CRITICISM, PRAISE = "person:ingrid|CRITICIZED|person:tom", "person:ingrid|PRAISED|person:tom"


async def test_a_signal_finds_the_turn_that_criticised_and_not_its_praise(
    naming: Deps, fresh_citizen: str
) -> None:
    await stored(
        naming,
        note(fresh_citizen, "praise", "Ingrid praised Tom for the report in front of everyone."),
        note(fresh_citizen, "blame", "Ingrid criticised Tom for the report in front of everyone."),
        note(fresh_citizen, "both", "Ingrid and Tom talked about the report with everyone."),
        now=day(2),
    )
    assert await deeds(naming, fresh_citizen) == [f"{CRITICISM}|blame", f"{PRAISE}|praise"]
    for said, told in (("Ingrid|CRITICIZED|", "blame"), ("Ingrid|PRAISED|Tom", "praise")):
        asked = {"citizen_id": fresh_citizen, "relations": [said], "query_levels": ["N1"]}
        answer = await resonate(Resonate.model_validate(asked), naming, NOW + 1000)
        found = {one.memory.node_id: one.channels["relations"] for one in answer.levels["n1_personal"]}
        assert [memory_id for memory_id, share in found.items() if share and ":" not in memory_id] == [told]


async def test_a_deed_is_marked_as_inferred(naming: Deps, fresh_citizen: str) -> None:
    await stored(naming, note(fresh_citizen, "a", "Tom told me that Ingrid praised Lena."), now=day(2))
    graph = naming.graph(graph_name(Level.N1, fresh_citizen))
    [[confidence, unset]] = await graph.read(MARKS)
    assert float(confidence) == 0.5, "what somebody else told is less sure"
    assert {"confidence", "goal", "mindstate"} <= set(unset.split(","))


@pytest.mark.parametrize(
    "text",
    [
        "Ingrid did not criticise Tom.",
        "If Ingrid criticised Tom, he would leave.",
        "Did Ingrid criticise Tom?",
        "Ingrid criticised Tom! Just kidding.",
        "Wenn Ingrid Tom kritisiert, geht er.",
    ],
)
async def test_what_is_not_told_as_done_makes_no_deed(naming: Deps, fresh_citizen: str, text: str) -> None:
    await stored(naming, note(fresh_citizen, "a", text), now=day(2))
    assert await deeds(naming, fresh_citizen) == []


@pytest.mark.parametrize(
    "text",
    ["Tom was criticised by Ingrid.", "Lena said that Ingrid criticised Tom.", "Tom wurde von Ingrid kritisiert."],
)
async def test_the_one_who_did_it_is_found_in_every_form(naming: Deps, fresh_citizen: str, text: str) -> None:
    await stored(naming, note(fresh_citizen, "a", text), now=day(2))
    assert await deeds(naming, fresh_citizen) == [f"{CRITICISM}|a"]


async def test_i_is_the_citizen_or_the_speaker(naming: Deps, fresh_citizen: str) -> None:
    said = (
        ("user", "I asked Tom for the keys."),
        ("Melanie", "Ingrid praised me today."),
        ("assistant", "I praised Ingrid."),
    )
    turns = tuple(Turn(f"D1:{n}", speaker, text, moment(n)) for n, (speaker, text) in enumerate(said, 1))
    episode = Episode("chat", fresh_citizen, (Session("session_1", "session 1", moment(1), turns),))
    await ingest(ParsedFiles((episode,)), naming, day(50))
    told = ["self|ASKED|person:tom|chat:D1:1", "person:ingrid|PRAISED|person:melanie|chat:D1:2"]
    assert await deeds(naming, fresh_citizen) == told
    report = await ingest(ParsedFiles((episode,)), naming, day(51))
    assert (report.stored, report.refused) == (0, 0)
    assert await deeds(naming, fresh_citizen) == told


async def test_a_type_of_the_graph_is_read_too(naming: Deps, fresh_citizen: str) -> None:
    await stored(naming, note(fresh_citizen, "a", "Ingrid met Tom and Lena."), now=day(2))
    await stored(naming, relate(fresh_citizen, "person:ingrid", "person:tom", relation_type="MENTORS"), now=day(3))
    await stored(naming, note(fresh_citizen, "b", "These days Ingrid mentors Lena."), now=day(4))
    assert await deeds(naming, fresh_citizen) == ["person:ingrid|MENTORS|person:lena|b"]


async def test_a_deed_goes_with_the_words_that_told_it(naming: Deps, fresh_citizen: str) -> None:
    citizen = fresh_citizen
    for memory_id in ("a", "b", "c", "d"):
        await stored(naming, note(citizen, memory_id, "Ingrid praised Tom."), now=day(2))
    await stored(naming, Correct(citizen_id=citizen, id="a", description="Ingrid criticised Tom."), now=day(3))
    await stored(naming, Supersede(citizen_id=citizen, id="b", description="Tom left."), now=day(3))
    await stored(naming, Retract(citizen_id=citizen, id="c"), now=day(3))
    assert await deeds(naming, citizen) == [f"{CRITICISM}|a", f"{PRAISE}|d"]
    graph = naming.graph(graph_name(Level.N1, citizen))
    await erase_memories(["a", "b", "c"], graph, naming, NOW)
    assert await deeds(naming, citizen) == [f"{PRAISE}|d"]
    assert not [row for row in await graph.read(LINKS) if {"a", "b", "c"} & set(map(str, row))]


async def test_an_edited_message_tells_its_new_deed_and_the_old_one_ends(naming: Deps, fresh_citizen: str) -> None:
    sent = {"id": "m1", "speaker": "Ada", "text": "Ingrid praised Tom for the report in front of everyone."}
    edited = {**sent, "text": "Ingrid criticised Tom for the report.", "edited_at": "2026-04-11T12:00:00Z"}
    for number, message in enumerate((sent, edited)):
        job = Job(naming, NOW - 100 + number)
        report = await hear_messages(NewMessages(fresh_citizen, "talk", [message]), job)
        assert report.refused == 0
    assert [deed.rpartition("|")[0] for deed in await deeds(naming, fresh_citizen)] == [CRITICISM]
