"""The job `tags`: made tags beside the memories, what the Tag-Walker does with them, and how they go."""

from __future__ import annotations

from orchestration.dependencies import Deps
from orchestration.features.association.flow import associate
from orchestration.features.association.values import Associations, TagWalk
from orchestration.features.tagging.feature import TagsJob
from orchestration.transfer.exporter import export
from orchestration.upkeep.job import JobContext
from orchestration.upkeep.ordered_runs import undo_run
from orchestration.upkeep.runner import Watch, run_job
from orchestration.writing.erasure import erase
from schemas.commands import EraseMemory, Retract, Supersede
from schemas.memory import Level
from substrate.cypher.query import Query
from substrate.graphs.names import GraphOf, graph_name
from substrate.store.runs import RunRecord
from tests.integration.store import NOW, carried, moment, remember, stored

LATER = NOW + 1000
EDGES = Query(
    "edges", "MATCH (n)-[g:MADE_TAG]->(t:Tag) RETURN n.id, coalesce(t.shown, t.name) ORDER BY n.id, t.name"
)
TAGS = Query("tags", "MATCH (t:Tag) RETURN t.name ORDER BY t.name")
TALK = {
    "glaze": "The pottery class fired my blue bowl, the glaze cracked in the kiln.",
    "kiln": "A new kiln for the pottery studio arrived, hot enough for any glaze.",
    "bowl": "I shaped a bowl and a mug of clay at the pottery wheel.",
    "tax": "The accountant wants the tax forms before Friday.",
    "refund": "My tax refund came, the accountant was right.",
    "dog": "Rex the dog ran after a squirrel in the park.",
    "park": "We walked the dog through the park in the rain.",
}


async def told(deps: Deps, citizen: str, **texts: str) -> None:
    talk = texts or TALK
    await stored(
        deps,
        *(
            remember(citizen, name, description=text, speaker="Ada", node_type="Turn")
            for name, text in talk.items()
        ),
    )


async def tag(deps: Deps, citizen: str) -> RunRecord:
    record = await run_job(TagsJob(), GraphOf(Level.N1, citizen), deps, Watch(1))
    assert record is not None
    assert record.status == "done"
    return record


async def edges(deps: Deps, citizen: str) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in await deps.graph(graph_name(Level.N1, citizen)).read(EDGES)]


async def tag_nodes(deps: Deps, citizen: str) -> list[str]:
    return [row[0] for row in await deps.graph(graph_name(Level.N1, citizen)).read(TAGS)]


async def walk(deps: Deps, citizen: str, text: str, **fields: object) -> Associations:
    return await associate(
        TagWalk.model_validate({"citizen_id": citizen, "query_text": text, **fields}), deps, LATER
    )


async def exported(deps: Deps, citizen: str) -> list[bytes]:
    """The lines of an export without its head and its end, which name moments."""
    whole = b"".join(await export([GraphOf(Level.N1, citizen)], deps, embeddings=False))
    return whole.splitlines()[1:-1]


async def test_a_run_tags_what_is_untagged_beside_the_records_and_its_undo_takes_the_tags_away(
    deps: Deps, fresh_citizen: str
) -> None:
    await told(deps, fresh_citizen)
    await stored(deps, remember(fresh_citizen, "mine", description="A pottery kiln of clay", tags=["studio"]))
    before = await walk(deps, fresh_citizen, "squirrel")
    run = await tag(deps, fresh_citizen)
    made = await edges(deps, fresh_citizen)
    assert run.changed == len(made) > 0
    assert {("kiln", "~pottery"), ("bowl", "~pottery"), ("tax", "~accountant"), ("park", "~park")} <= set(made)
    assert "mine" not in {memory_id for memory_id, _ in made}
    memory = await carried(deps, fresh_citizen, "kiln")
    assert memory is not None
    assert (memory.version, memory.tags) == (1, ())
    found = await walk(deps, fresh_citizen, "squirrel")
    assert [one.memory.node_id for one in before.neighbours] == []
    [neighbour] = found.neighbours
    assert neighbour.memory.node_id == "park"
    assert {"~park", "~dog"} >= set(neighbour.made) == set(neighbour.bridges) != set()
    again = await tag(deps, fresh_citizen)
    assert (again.changed, await edges(deps, fresh_citizen)) == (0, made)
    context = JobContext(deps, Level.N1, fresh_citizen, run.id, NOW)
    undone = await undo_run(TagsJob(), run, context, Watch(1))
    assert (undone.undone, await edges(deps, fresh_citizen)) == (len(made), [])
    assert await tag_nodes(deps, fresh_citizen) == ["#studio"]


async def test_a_page_kept_twice_changes_nothing(deps: Deps, fresh_citizen: str) -> None:
    await told(deps, fresh_citizen)
    context = JobContext(deps, Level.N1, fresh_citizen, "run", LATER)
    page = await TagsJob().plan(context, None)
    assert await edges(deps, fresh_citizen) == []
    assert set() < {line.split(": + ~")[0] for line in page.shown} < set(TALK)
    first, second = await TagsJob().keep(context, page), await TagsJob().keep(context, page)
    assert first > second == 0
    assert (await TagsJob().plan(context, None)).beside == ()


async def test_made_tags_are_in_no_filter_and_no_export(deps: Deps, fresh_citizen: str) -> None:
    await told(deps, fresh_citizen)
    before = await exported(deps, fresh_citizen)
    await tag(deps, fresh_citizen)
    filtered = await walk(deps, fresh_citizen, "pottery", filters={"tags": ["pottery"]})
    assert filtered.anchors == ()
    assert "no memory has the tag 'pottery'" in filtered.notes
    assert await exported(deps, fresh_citizen) == before


async def test_a_tag_that_the_writer_gives_later_ends_the_made_ones_and_a_retracted_memory_has_none(
    deps: Deps, fresh_citizen: str
) -> None:
    await told(deps, fresh_citizen)
    await tag(deps, fresh_citizen)
    changes = (
        Supersede(citizen_id=fresh_citizen, id="kiln", tags=("Pottery",)),
        Supersede(citizen_id=fresh_citizen, id="glaze", tags=("Pottery",)),
        Retract(citizen_id=fresh_citizen, id="tax"),
    )
    await stored(deps, *changes, now=LATER)
    await tag(deps, fresh_citizen)
    made = await edges(deps, fresh_citizen)
    assert {memory_id for memory_id, _ in made}.isdisjoint({"kiln", "glaze", "tax"})
    assert ("bowl", "#Pottery") in made
    assert "~pottery" not in {shown for _, shown in made}


async def test_erasing_a_memory_takes_the_tags_with_its_words_from_others_too(
    deps: Deps, fresh_citizen: str
) -> None:
    await told(deps, fresh_citizen)
    await stored(deps, remember(fresh_citizen, "own", description="Clay for the pottery wheel", tags=["Hidden"]))
    await stored(deps, remember(fresh_citizen, "two", description="The pottery wheel and clay", tags=["hidden"]))
    await tag(deps, fresh_citizen)
    assert any("idden" in shown for _, shown in await edges(deps, fresh_citizen))
    for name in ("own", "two", "refund"):
        await erase(EraseMemory(citizen_id=fresh_citizen, id=name), deps, LATER, None)
    names = await tag_nodes(deps, fresh_citizen)
    assert not [name for name in names if "idden" in name or "account" in name or "refund" in name]
    await tag(deps, fresh_citizen)
    assert not [name for name in await tag_nodes(deps, fresh_citizen) if "idden" in name or "account" in name]


async def test_the_past_is_walked_over_given_tags_alone(deps: Deps, fresh_citizen: str) -> None:
    await told(deps, fresh_citizen)
    await tag(deps, fresh_citizen)
    past = await walk(deps, fresh_citizen, "squirrel", as_of_time=moment(101))
    assert not any(one.made for one in (*past.anchors, *past.neighbours))
    assert not any(bridge.name.startswith("~") for bridge in past.tags)


ODD = ("a/b.c", "two\nlines", "\U0001f389", "y" * 300, "Work", "work")


async def test_given_tags_of_any_spelling_are_made_tags_of_others_as_they_are(
    deps: Deps, fresh_citizen: str
) -> None:
    await told(deps, fresh_citizen)
    for number in range(3):
        text = f"Clay on the pottery wheel, bowl number {number}"
        await stored(deps, remember(fresh_citizen, f"odd{number}", description=text, tags=list(ODD)))
    await tag(deps, fresh_citizen)
    shown = {shown for memory_id, shown in await edges(deps, fresh_citizen) if memory_id == "bowl"}
    assert {f"#{one}" for one in ODD[:4]} <= shown
    assert len(shown & {"#Work", "#work"}) == 1
