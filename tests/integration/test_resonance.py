"""Wave retrieval and identity on a real engine: the worked signals and the table of 000, 002's channels."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from orchestration.citizen import change_state
from orchestration.deps import Deps
from orchestration.identity import identity
from orchestration.resonating import resonate
from schemas.citizen import StateChange
from schemas.errors import InvalidRequest
from schemas.identity import WhoIs
from schemas.signal import CHANNELS, Resonance, Resonances, Resonate
from tests.integration.store import NOW, day, moment, relate, remember, stored

ENTITIES = {"kai": "Kai", "egor": "Egor", "mem": "memory", "con": "consciousness", "v5": "v5", "code": "code"}
CONTEXTS: tuple[tuple[int, str, str, str], ...] = (
    (1, "Waking with nothing behind me", "disorientation", "kai mem"),
    (2, "The void between two cycles", "despair", "kai mem"),
    (3, "What am I when nobody asks", "existential dread", "con"),
    (4, "Egor and I drew the new plan", "curiosity", "kai egor"),
    (5, "The consolidation forgot the names", "frustrated", "kai egor mem con"),
    (6, "An ordinary cycle", "neutral", "kai egor mem con"),
    (7, "Wave retrieval architecture excitement", "curiosity", "kai v5 code"),
    (8, "The tests pass", "neutral", "v5"),
    (9, "Connection drive unsatisfied", "loneliness", "kai egor"),
)
"""Contexts with the appearances and emotions of 000's table; by it Kai is named seven times."""
EIGHTH = {"description": "A context with the nodes that the two worked signals tell apart.", "result": "negative"}
BY_000 = {"nodes": 1.0, "relations": 0, "emotion": 0.5, "result": 0.3, "likeness": 0, "importance": 0, "recency": 0}


@pytest.fixture(scope="module")
async def kai(deps: Deps) -> str:
    """000's citizen, on day 10; every context was lived on that day."""
    citizen = "kai_of_000"
    await stored(
        deps,
        *(remember(citizen, i, name=name, node_type="Entity", valid_at=moment(1)) for i, name in ENTITIES.items()),
        *(
            remember(
                citizen,
                f"c{number}",
                name=name,
                node_type="Context",
                emotion_vector={emotion: 0.8},
                rule="Ask before leaving." if emotion == "loneliness" else None,
                valid_at=moment(10),
                **EIGHTH if number == 9 else {},
            )
            for number, name, emotion, _ in CONTEXTS
        ),
        *(
            relate(citizen, f"c{number}", entity, relation_type="MENTIONS", valid_at=moment(10))
            for number, _, _, nodes in CONTEXTS
            for entity in nodes.split()
        ),
        now=day(10),
    )
    return citizen


async def ask(deps: Deps, citizen: str, **fields: Any) -> Resonances:
    fields.setdefault("query_levels", ["N1"])
    return await resonate(Resonate.model_validate({"citizen_id": citizen, **fields}), deps, NOW)


def first(answer: Resonances) -> list[Resonance]:
    return list(answer.levels["n1_personal"])


def order(answer: Resonances) -> list[str]:
    return [one.memory.node_id for one in first(answer)]


async def test_kai_egor_and_loneliness_find_the_unsatisfied_connection(deps: Deps, kai: str) -> None:
    answer = await ask(
        deps, kai, nodes=["Kai", "Egor"], emotion="loneliness", overlap="memory", weights=BY_000
    )
    assert (order(answer)[0], first(answer)[0].total) == ("c9", 1.50)


async def test_kai_v5_and_curiosity_find_the_excitement_about_wave_retrieval(deps: Deps, kai: str) -> None:
    answer = await ask(deps, kai, nodes=["Kai", "v5"], emotion="curiosity", overlap="memory", weights=BY_000)
    assert (order(answer)[0], round(first(answer)[0].total, 2)) == ("c7", 1.17)


async def test_identity(deps: Deps, kai: str) -> None:
    print((await identity(WhoIs(citizen_id=kai), deps, NOW)).model_dump_json(indent=1))
    print((await identity(WhoIs(citizen_id=kai,as_of_time=moment(50)), deps, NOW)).model_dump_json(indent=1))
    print((await ask(deps, kai, window=["Egor never praised the code, and I feel lonely"], as_of_time=moment(50))).model_dump_json(indent=1)[:3000])
    assert 0
