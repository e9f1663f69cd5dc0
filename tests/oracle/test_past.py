"""The same question about the past gets the same answer, whatever was written in between."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from api.request_parsing.reading import LINKS, MEMORIES, MomentRequest, RecordAddress
from api.runtime.runtime import Runtime
from orchestration.features.association.flow import associate
from orchestration.features.association.values import TagWalk
from orchestration.resonance.ask import resonate
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level
from schemas.temporal import to_datetime
from schemas.wave_signal import Resonate
from substrate.store import rows
from tests.oracle.histories import NAMES, WORDS, a_step
from tests.oracle.life import LONG, Life
from tests.oracle.shown import seen_or_none

SCORES = {"relevance_score", "consciousness_adjusted_score", "score_terms", "retrieval_source"}
SCORES |= {"overtaken_by", "overtaken_at"}
"""What goes by how rare a word is in all that is stored, and what is inferred from that."""


def told(record: ConsciousnessNode | ConsciousnessRelationship) -> dict[str, Any]:
    return record.model_dump(mode="json", exclude=SCORES)


def unordered(records: Any) -> list[dict[str, Any]]:
    return sorted((told(record) for record in records), key=str)


async def streams(life: Life, valid: int, known: int, names: str) -> dict[str, Any]:
    """What retrieval says of a moment, and of all that was known until then."""
    moment: dict[str, Any] = {"as_of_time": to_datetime(valid), "known_at": to_datetime(known)}
    asked = {
        "point_in_time": (names, moment),
        "likeness": (WORDS[valid % len(WORDS)], moment),
        "evolution": (names, {"time_range_end": to_datetime(known)}),
    }
    answers = {}
    for mode, (text, times) in asked.items():
        fields = {"query_text": text, "citizen_id": life.citizen, "query_levels": ["N1"], **times}
        fields |= {"temporal_mode": "evolution" if mode == "evolution" else "point_in_time"}
        intention = RetrievalIntention.model_validate({**fields, "max_results_per_level": 100})
        stream = await retrieve_consciousness_context(intention, life.runtime.deps, life.now)
        level = stream.levels["n1_personal"]
        answers[mode] = [told(memory) for memory in level.vector_results]
        if mode != "likeness":
            answers[f"{mode} reached"] = unordered(level.graph_results)
            answers[f"{mode} links"] = unordered(level.relationships)
    return answers


async def other_ways(life: Life, valid: int, known: int) -> dict[str, dict[str, Any]]:
    """The memories that the other three ways of asking bring of a moment, by way, id and version."""
    moment = {"as_of_time": to_datetime(valid), "known_at": to_datetime(known)}
    whose = {"citizen_id": life.citizen, "query_levels": ["N1"], **moment}
    deps, now = life.runtime.deps, life.now
    waking = {"current_energy": 0.5, "current_emotions": {}, "query_mode": "find_what_i_was_doing"}
    woken = await retrieve_consciousness_context_from_state(
        StateBasedRetrieval.model_validate({**whose, **waking, "max_results_per_level": 100}), deps, now
    )
    echoes = await resonate(
        Resonate.model_validate({**whose, "nodes": list(NAMES), "max_results_per_level": 100}), deps, now
    )
    walked = await associate(TagWalk.model_validate({**whose, "query_text": " ".join(NAMES)}), deps, now)
    found = {
        "wake": [one for level in woken.levels.values() for one in level.graph_results],
        "resonate": [one.memory for level in echoes.levels.values() for one in level],
        "associate": [one.memory for one in (*walked.anchors, *walked.neighbours)],
    }
    return {f"{way} {one.node_id} {one.version}": told(one) for way, records in found.items() for one in records}


async def readings(life: Life, valid: int, known: int, links: list[str]) -> dict[str, Any]:
    """Every memory, and the links that were there when it was first asked."""
    asked = MomentRequest(citizen_id=life.citizen, as_of_time=to_datetime(valid), known_at=to_datetime(known))
    answers = {}
    for name in NAMES:
        row = await seen_or_none(
            MEMORIES.read_row(RecordAddress(Level.N1, name), asked, life.runtime.deps, life.now)
        )
        answers[name] = None if row is None else told(rows.node(row, Level.N1, known + 1))
    for link_id in links:
        row = await seen_or_none(
            LINKS.read_row(RecordAddress(Level.N1, link_id), asked, life.runtime.deps, life.now)
        )
        answers[link_id] = None if row is None else told(rows.link(row[2:], (row[0], row[1]), Level.N1, known + 1))
    return answers


@settings(max_examples=6, suppress_health_check=LONG)
@given(st.randoms(use_true_random=False))
async def test_the_same_past_question_gets_the_same_answer_whatever_is_written_in_between(
    runtime: Runtime, chance: Random
) -> None:
    life = Life(runtime)
    await life.begin()
    for _ in range(25):
        await life.live(a_step(chance))
    instants = life.oracle.instants()
    links = sorted({record.id for record in life.oracle.records if record.ends is not None})
    asked = []
    for _ in range(4):
        valid = chance.choice(instants)
        known = chance.choice([instant for instant in instants if instant <= life.oracle.clock])
        names = f"{chance.choice(NAMES)} and {chance.choice(NAMES)}"
        asked.append((valid, known, names))

    async def answers() -> list[dict[str, Any]]:
        return [{**await streams(life, *one), **await readings(life, one[0], one[1], links)} for one in asked]

    async def others() -> list[dict[str, Any]]:
        return [await other_ways(life, valid, known) for valid, known, _ in asked]

    before, beside = await answers(), await others()
    for _ in range(25):
        await life.live(a_step(chance))
    assert await answers() == before
    for then, again in zip(beside, await others(), strict=True):
        assert {key: again[key] for key in again.keys() & then.keys()} == {
            key: then[key] for key in again.keys() & then.keys()
        }
    await life.end()
