"""Contexts like those of 000's empirical test: its five entities as often as there, with the same emotions."""

from __future__ import annotations

from orchestration.dependencies import Deps
from tests.integration.store import day, moment, relate, remember, stored

ENTITIES = {
    "kai": "Kai", "egor": "Egor", "mem": "memory", "con": "consciousness", "v5": "v5", "code": "code",
    "glass": "a window", "sea": "the sea",
}  # fmt: skip
CONTEXTS: tuple[tuple[int, str, str, str], ...] = (
    (1, "Waking with nothing behind me", "disorientation", "kai mem"),
    (2, "The void between two cycles", "despair", "kai mem"),
    (3, "What am I when nobody asks", "existential dread", "con"),
    (4, "A new plan was drawn", "curiosity", "kai egor"),
    (5, "The consolidation forgot the names", "frustrated", "kai egor mem con"),
    (6, "An ordinary cycle", "neutral", "kai egor mem con"),
    (7, "Wave retrieval architecture excitement", "curiosity", "kai v5 code"),
    (8, "The tests pass", "neutral", "v5"),
    (9, "Connection drive unsatisfied", "loneliness", "kai egor"),
    (10, "Light on the floor", "neutral", "glass"),
    (11, "A picture without people", "neutral", "sea"),
)
TABLE = {
    "Kai": (7, {"curiosity", "despair", "disorientation", "frustration", "loneliness", "neutral"}),
    "Egor": (4, {"curiosity", "frustration", "loneliness", "neutral"}),
    "memory": (4, {"despair", "disorientation", "frustration", "neutral"}),
    "consciousness": (3, {"existential dread", "frustration", "neutral"}),
    "v5": (2, {"curiosity", "neutral"}),
}
"""000's identity table; `frustrated` is stored as the noun."""
RULE = "Ask before leaving."


async def told(deps: Deps, citizen: str) -> str:
    """The citizen, with a context lived on each day from the first on, and known at once."""
    entities = [remember(citizen, i, name=n, node_type="Entity", valid_at=moment(0)) for i, n in ENTITIES.items()]
    await stored(deps, *entities, now=day(0))
    for number, name, emotion, nodes in CONTEXTS:
        felt = {
            "emotion_vector": {emotion: 0.8},
            "rule": RULE if emotion in ("loneliness", "despair") else None,
            "result": "negative" if emotion == "loneliness" else None,
        }
        context = remember(citizen, f"c{number}", name=name, node_type="Context", valid_at=moment(number), **felt)
        links = [
            relate(citizen, f"c{number}", entity, relation_type="MENTIONS", valid_at=moment(number))
            for entity in nodes.split()
        ]
        await stored(deps, context, *links, now=day(number))
    return citizen
