"""Upkeep over a real engine: each kind of finding, its repair, and reads that go on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.identifiers import link_name
from orchestration.upkeep.repair import run_repair
from orchestration.upkeep.sweep import sweep
from schemas.commands import Correct, Retract, Supersede
from schemas.memory import Level, Source
from schemas.temporal import to_instant
from schemas.upkeep.findings import ApplyCommand, Finding, Kind, RepairRequest, SweepReport, SweepRequest
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.store import reader, upkeep
from substrate.store.rows import link_record
from tests.integration.store import NOW, ask, carried, day, found, history, ids, links, moment, relate, remember
from tests.integration.store import stored as store

SET: dict[str, Any] = {"energy": 0.6, "confidence": 0.9, "emotion_vector": {"joy": 0.4}}
WHOLE: dict[str, Any] = {
    "formation_trigger": "a talk",
    "felt_quality": "light",
    "emotion_description": "glad",
}
ESSAY = "a deep loneliness mixed with frustration that came over me as the evening went on"


async def raw(deps: Deps, citizen: str, text: str, **values: Any) -> None:
    """What no door would write."""
    graph = graph_name(Level.N1, citizen)
    await deps.connection.write(graph, Query("raw", text), parameters(values))


async def report(deps: Deps, citizen: str, listed: int = 100) -> SweepReport:
    request = SweepRequest(citizen_id=citizen, levels=(Level.N1,), findings_per_kind=listed)
    return (await sweep(request, deps)).reports[0]


def of_kind(swept: SweepReport, kind: Kind) -> list[Finding]:
    assert swept.findings_by_kind.get(kind, 0) == sum(one.kind == kind for one in swept.findings)
    return [one for one in swept.findings if one.kind == kind]


async def life(deps: Deps, citizen: str) -> None:
    """Two memories and a link, with nothing wrong about them."""
    await store(
        deps,
        remember(citizen, "tea", description="Ada drinks green tea in the morning", **SET, felt_quality="warm"),
        remember(citizen, "luca", node_type="Person", description="", **SET, felt_quality="near"),
        relate(citizen, "tea", "luca", **WHOLE),
    )


async def mended(deps: Deps, citizen: str, kind: Kind) -> SweepReport:
    """Run the one repair of a kind, sent as it would be over the wire, and sweep again."""
    [one] = of_kind(await report(deps, citizen), kind)
    assert one.repair is not None
    sent = RepairRequest.model_validate_json(RepairRequest(task=one.repair).model_dump_json())
    outcome = await run_repair(sent.task, deps, NOW + 1)
    assert outcome.status == "done", outcome
    swept = await report(deps, citizen)
    assert of_kind(swept, kind) == []
    again = await run_repair(sent.task, deps, NOW + 2)
    assert again.status in ("done", "gone")
    assert (await report(deps, citizen)).findings_by_kind == swept.findings_by_kind
    return swept


async def test_history_is_no_finding(deps: Deps, fresh_citizen: str) -> None:
    await life(deps, fresh_citizen)
    seen = {"citizen_id": fresh_citizen, "id": "tea"}
    for number in range(3):
        await store(deps, Correct(**seen, description=f"Ada drinks tea, corrected {number}"), now=NOW + number + 1)
    for number in range(3):
        then = moment(101 + number)
        await store(
            deps, Supersede(**seen, description=f"From then on {number}", effective_at=then), now=day(110 + number)
        )
    swept = await report(deps, fresh_citizen)
    assert swept.findings == ()
    assert swept.counts.past_versions == 9


async def test_a_link_without_what_003_has_a_default_for_is_filled_in(deps: Deps, fresh_citizen: str) -> None:
    await life(deps, fresh_citizen)
    await raw(deps, fresh_citizen, "MATCH ()-[e:LINK]->() SET e.resolution_state = 'unknown'")
    [one] = of_kind(await report(deps, fresh_citizen), "link_invalid")
    assert "resolution_state" in one.message
    assert one.severity == "error"
    swept = await mended(deps, fresh_citizen, "link_invalid")
    assert swept.findings == ()
    assert swept.counts.past_links == 1
    [link] = await links(deps, fresh_citizen)
    assert link.resolution_state == "in_progress"
    assert link.felt_quality == "light"


@pytest.mark.parametrize(
    "broken", ["e.goal = null", "e.energy = 1.5", "e.confidence = '0.5'", "e.emotion_vector = 'none'"]
)
async def test_a_link_that_no_default_can_save_can_be_withdrawn(
    deps: Deps, fresh_citizen: str, broken: str
) -> None:
    await life(deps, fresh_citizen)
    await raw(deps, fresh_citizen, f"MATCH ()-[e:LINK]->() SET {broken}")
    before = await report(deps, fresh_citizen)
    assert before.report.memories_with_errors == 2
    assert set(before.report.incomplete_memory_ids) == {"tea", "luca"}
    assert before.report.quality_grade == "poor"
    swept = await mended(deps, fresh_citizen, "link_invalid")
    assert (swept.scanned_links, swept.counts.past_links) == (0, 1)


async def test_a_link_to_a_retracted_memory_ends(deps: Deps, fresh_citizen: str) -> None:
    await life(deps, fresh_citizen)
    await store(deps, Retract(citizen_id=fresh_citizen, id="luca"), now=NOW + 1)
    swept = await mended(deps, fresh_citizen, "closed_end")
    assert (swept.scanned_links, swept.counts.past_links) == (0, 1)


async def test_a_link_holds_until_its_memory_ended(deps: Deps, fresh_citizen: str) -> None:
    await store(
        deps,
        remember(fresh_citizen, "tea", description="Ada drinks tea", valid_at=moment(1), **SET),
        remember(fresh_citizen, "luca", node_type="Person", valid_at=moment(1), **SET),
        relate(fresh_citizen, "tea", "luca", valid_at=moment(2), **WHOLE),
    )
    gone = Retract(citizen_id=fresh_citizen, id="luca", effective_at=moment(50), reason="reality_changed")
    await store(deps, gone)
    await mended(deps, fresh_citizen, "closed_end")
    [link] = await links(deps, fresh_citizen)
    assert (link.valid_at, link.invalid_at) == (moment(2), moment(50))


async def test_two_records_at_one_moment_are_found_and_the_older_is_closed(deps: Deps, fresh_citizen: str) -> None:
    await life(deps, fresh_citizen)
    await raw(
        deps,
        fresh_citizen,
        "MATCH (n:ConsciousnessNode {id: 'tea'}) CREATE (n)-[:HAD]->(p:PastVersion) SET p = properties(n) "
        "SET n.version = 2, n.created_at = n.created_at + 5",
    )
    swept = await mended(deps, fresh_citizen, "overlap")
    assert swept.findings == ()
    records = await history(deps, fresh_citizen, "tea")
    assert [record.expired_at is None for record in records] == [False, True]


async def test_two_records_of_one_link_are_found_and_the_older_is_withdrawn(
    deps: Deps, fresh_citizen: str
) -> None:
    await life(deps, fresh_citizen)
    await raw(
        deps,
        fresh_citizen,
        "MATCH (a)-[e:LINK]->(b) CREATE (a)-[k:LINK]->(b) SET k = properties(e) "
        "SET k.created_at = e.created_at + 5, k.goal = 'newer'",
    )
    await mended(deps, fresh_citizen, "overlap")
    assert [link.goal for link in await links(deps, fresh_citizen)] == ["newer"]


async def test_a_duplicate_is_retracted_and_short_turns_are_none(deps: Deps, fresh_citizen: str) -> None:
    said = {"description": "Ada drinks green tea in the  MORNING", "felt_quality": "warm", **SET}
    turn = {"node_type": "Turn", "speaker": "Ada", "description": "Yes, of course.", **SET}
    await life(deps, fresh_citizen)
    await store(
        deps,
        remember(fresh_citizen, "tea2", **{**said, "name": "tea"}, restate=True),
        remember(fresh_citizen, "t1", **{**turn, "name": "turn"}),
        remember(fresh_citizen, "t2", **{**turn, "name": "turn"}),
        now=NOW + 1,
    )
    [one] = of_kind(await report(deps, fresh_citizen), "duplicate")
    assert one.id == "tea2"
    await mended(deps, fresh_citizen, "duplicate")
    kept = await carried(deps, fresh_citizen, "tea")
    assert kept is not None
    assert kept.expired_at is None


async def test_a_placeholder_for_a_description_is_removed(deps: Deps, fresh_citizen: str) -> None:
    await life(deps, fresh_citizen)
    await store(deps, remember(fresh_citizen, "plan", name="Plan of the week", description="None", **SET))
    await mended(deps, fresh_citizen, "junk")
    plan = await carried(deps, fresh_citizen, "plan")
    assert plan is not None
    assert (plan.name, plan.description) == ("Plan of the week", "")


async def test_essays_become_emotions_and_nothing_is_lost(deps: Deps, fresh_citizen: str) -> None:
    await life(deps, fresh_citizen)
    felt = {**SET, "emotion_vector": {ESSAY: 0.8, "joy": 0.2}, "felt_quality": "heavy"}
    await store(deps, remember(fresh_citizen, "evening", description="An evening at home", **felt))
    swept = await mended(deps, fresh_citizen, "essay_emotion")
    assert swept.findings == ()
    evening = await carried(deps, fresh_citizen, "evening")
    assert evening is not None
    assert evening.emotion_vector == {"joy": 0.2, "loneliness": 0.8, "frustration": 0.8}
    assert evening.felt_quality == f"heavy; {ESSAY}"


async def test_missing_metadata_is_reported_until_it_is_set(deps: Deps, fresh_citizen: str) -> None:
    await store(deps, remember(fresh_citizen, "tea", description="Ada drinks tea", energy=0.5))
    [one] = of_kind(await report(deps, fresh_citizen), "unset_default")
    assert one.message.startswith("confidence, emotion_vector:")
    assert (one.severity, one.repair) == ("info", None)
    felt = {"confidence": 0.9, "emotion_vector": {"joy": 0.1}}
    await store(deps, Correct(citizen_id=fresh_citizen, id="tea", **felt), now=NOW + 1)
    assert (await report(deps, fresh_citizen)).findings == ()


@pytest.mark.parametrize("broken", ["DETACH DELETE t", "SET t.embedding = null", "SET t.embedding = [1.0, 2.0]"])
async def test_a_missing_embedding_is_computed_again(deps: Deps, fresh_citizen: str, broken: str) -> None:
    await life(deps, fresh_citizen)
    await raw(deps, fresh_citizen, f"MATCH (:ConsciousnessNode {{id: 'tea'}})-[:HAS_TRACE]->(t:Trace) {broken}")
    swept = await mended(deps, fresh_citizen, "embedding_missing")
    assert swept.findings == ()
    assert swept.counts.traces == 2
    seen = ids(found(await ask(deps, fresh_citizen, "something to drink at breakfast")))
    assert "tea" in seen


async def test_embeddings_of_another_model_are_stale_and_no_repair_is_offered(
    deps: Deps, fresh_citizen: str
) -> None:
    await life(deps, fresh_citizen)
    await store(deps, remember(fresh_citizen, "junk", name="None", **SET))
    await raw(deps, fresh_citizen, "MATCH (m:SubstrateMeta) SET m.embedding_model = 'another'")
    swept = await report(deps, fresh_citizen)
    assert of_kind(swept, "embedding_stale")[0].severity == "error"
    assert [one.repair for one in swept.findings] == [None, None]


@pytest.mark.parametrize(
    ("broken", "mendable"),
    [
        ("n.energy = null", True),
        ("n.energy = 7.0", True),
        ("n.confidence = '0.5'", True),
        ("n.energy = 'high'", False),
        ("n.valid_at = null", False),
        ("n.created_at = 'yesterday'", False),
        ("n.name = null", False),
        ("n.emotion_vector = 'joyful'", False),
    ],
)
async def test_a_memory_that_no_question_can_find_is_an_error(
    deps: Deps, fresh_citizen: str, broken: str, mendable: bool
) -> None:
    await life(deps, fresh_citizen)
    await raw(deps, fresh_citizen, f"MATCH (n:ConsciousnessNode {{id: 'tea'}}) SET {broken}")
    [one] = of_kind(await report(deps, fresh_citizen), "memory_invalid")
    assert (one.id, one.severity, one.repair is not None) == ("tea", "error", mendable)
    if mendable:
        assert (await mended(deps, fresh_citizen, "memory_invalid")).findings == ()


async def test_a_repair_of_what_has_changed_since_changes_nothing(deps: Deps, fresh_citizen: str) -> None:
    await store(deps, remember(fresh_citizen, "junk", name="None", **SET))
    [one] = of_kind(await report(deps, fresh_citizen), "junk")
    assert one.repair is not None
    now_said = Correct(citizen_id=fresh_citizen, id="junk", name="Nonetheless", description="It says something")
    await store(deps, now_said, now=NOW + 1)
    outcome = await run_repair(one.repair, deps, NOW + 2)
    assert (outcome.status, outcome.problem) == ("refused", "conflict")
    kept = await carried(deps, fresh_citizen, "junk")
    assert kept is not None
    assert kept.expired_at is None


async def test_all_is_counted_and_little_is_listed(deps: Deps, fresh_citizen: str) -> None:
    await store(deps, *(remember(fresh_citizen, f"m{n}", description=f"Memory number {n}") for n in range(120)))
    swept = await report(deps, fresh_citizen, listed=7)
    assert swept.findings_by_kind == {"unset_default": 120}
    assert len(swept.findings) == 7


async def test_pages_and_hubs_miss_nothing(deps: Deps, fresh_citizen: str) -> None:
    count = 2 * upkeep.MEMORIES_A_PAGE + 30
    await store(deps, remember(fresh_citizen, "hub", description="The hub of it", **SET))
    await store(deps, *(remember(fresh_citizen, f"m{n}", description=f"Memory {n}", **SET) for n in range(count)))
    await store(deps, *(relate(fresh_citizen, "hub", f"m{n}", **WHOLE) for n in range(count)))
    await store(deps, *(relate(fresh_citizen, f"m{n}", "hub", **WHOLE) for n in range(count)))
    await raw(deps, fresh_citizen, "MATCH (n:ConsciousnessNode) WHERE n.id IN ['m3', 'm5'] DETACH DELETE n")
    swept = await report(deps, fresh_citizen)
    assert (swept.scanned_nodes, swept.scanned_links) == (count - 1, 2 * (count - 2))
    assert swept.findings == ()


async def test_reads_and_writes_go_on_during_a_sweep(deps: Deps, fresh_citizen: str) -> None:
    await store(
        deps, *(remember(fresh_citizen, f"m{n}", description=f"Number {n} of many", **SET) for n in range(600))
    )
    sweeping = asyncio.create_task(report(deps, fresh_citizen))
    answered = 0
    while not sweeping.done():
        stream = await ask(deps, fresh_citizen, "number 7 of many")
        assert not stream.degraded
        await store(deps, remember(fresh_citizen, f"n{answered}", description=f"While it ran {answered}", **SET))
        answered += 1
    swept = await sweeping
    assert answered >= 2
    assert swept.scanned_nodes >= 600
    assert swept.findings == ()


async def test_a_repair_takes_its_moment_from_the_clock_of_the_graph_and_leaves_a_receipt(
    deps: Deps, fresh_citizen: str
) -> None:
    await life(deps, fresh_citizen)
    await store(
        deps, remember(fresh_citizen, "late", description="The clock is ahead", **SET), now=NOW + 1_000_000
    )
    [link] = await links(deps, fresh_citizen)
    await raw(deps, fresh_citizen, "MATCH ()-[e:LINK]->() REMOVE e.energy_transfer_coefficient")
    await mended(deps, fresh_citizen, "link_invalid")
    [after] = await links(deps, fresh_citizen)
    assert to_instant(after.created_at) == NOW + 1_000_001
    graph = graph_name(Level.N1, fresh_citizen)
    rows = await reader.link_history(deps.graph(graph), link_name(link.link_id))
    closed_by = link_record(rows[0], Level.N1).closed_by or ""
    [kept] = (await reader.receipts(deps.graph(graph), [closed_by])).values()
    assert (kept.command, kept.id, kept.created_at) == ("revise-link", link.link_id, NOW + 1_000_001)


@pytest.mark.parametrize("source", ["system", "citizen", "upkeep"])
async def test_a_repair_is_no_matter_of_trust_and_the_record_stays_the_word_of_its_source(
    deps: Deps, fresh_citizen: str, source: str
) -> None:
    await store(deps, remember(fresh_citizen, "tea", description="Ada drinks tea", source=source, **SET))
    command = Correct(citizen_id=fresh_citizen, id="tea", energy=0.2)
    assert (await run_repair(ApplyCommand(command=command), deps, NOW + 1)).status == "done"
    kept = await carried(deps, fresh_citizen, "tea")
    assert kept is not None
    assert (kept.energy, kept.source) == (0.2, source)
    named = command.model_copy(update={"source": Source.UPKEEP, "energy": 0.4})
    outcome = await run_repair(ApplyCommand(command=named), deps, NOW + 2)
    assert outcome.problem == (None if source == "upkeep" else "not-trusted")
