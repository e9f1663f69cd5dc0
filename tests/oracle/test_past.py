"""The same question about the past gets the same answer, whatever was written in between."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from api.addresses import Asked, LinkPlace, Place, link_seen, record_seen
from api.runtime import Runtime
from orchestration.retrieval import retrieve_consciousness_context
from schemas.intention import RetrievalIntention
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level
from schemas.temporal import to_datetime
from substrate import rows
from tests.oracle.histories import NAMES, WORDS, a_step
from tests.oracle.life import LONG, Life
from tests.oracle.shown import seen_or_none

LATER = {"expired_at", "closed_reason", "invalidation_reason"}
"""What became of a record later is told with it; all else of it stands."""
SCORES = {"relevance_score", "consciousness_adjusted_score", "score_terms", "retrieval_source"}


def told(record: ConsciousnessNode | ConsciousnessRelationship) -> dict[str, Any]:
    return record.model_dump(mode="json", exclude=LATER | SCORES)


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


async def readings(life: Life, valid: int, known: int, links: list[str]) -> dict[str, Any]:
    """Every memory, and the links that were there when it was first asked."""
    asked = Asked(citizen_id=life.citizen, as_of_time=to_datetime(valid), known_at=to_datetime(known))
    answers = {}
    for name in NAMES:
        row = await seen_or_none(record_seen(Place(Level.N1, name), asked, life.runtime, life.now))
        answers[name] = None if row is None else told(rows.node(row, Level.N1))
    for link_id in links:
        row = await seen_or_none(link_seen(LinkPlace(Level.N1, link_id), asked, life.runtime, life.now))
        answers[link_id] = None if row is None else told(rows.link(row[2:], (row[0], row[1]), Level.N1))
    return answers


@settings(max_examples=6, deadline=None, suppress_health_check=LONG)
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

    before = await answers()
    for _ in range(25):
        await life.live(a_step(chance))
    assert await answers() == before
    await life.end()
