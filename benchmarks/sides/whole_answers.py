"""The code of one checkout makes a fixed store, answers fixed questions of it, and asks noted streams again.

    python whole_answers.py CHECKOUT DATA fill NOTED STREAMS
    python whole_answers.py CHECKOUT DATA ask NOTED ANSWERS

`fill` tells random lives with so many streams, a chat, and three levels whose memories have many links; NOTED gets
the ids of the streams. `ask` writes ANSWERS, a line for each answer: what was asked, and the answer without ids
and durations that chance or the clock of the machine gives. The clock stands, so all else is the same each time.
Settings are those of the environment. `benchmarks.replay --base` runs it for two checkouts.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

BEGUN: Final = 1_750_000_000_000_000
ASKED: Final = BEGUN + 400 * 86_400_000_000
PAST: Final = "2025-09-01T12:00:00Z"
BY_CHANCE: Final = re.compile(r"_ms$|^milliseconds$|^stream_id$|^token_counts$")
"""Names of fields that differ each time: durations, what counts their digits, and ids that chance gives."""
STREAMS_OF_ONE: Final = 40
LINKED: Final = 200
"""The memories of each level of the linked graphs, which have ten times as many links."""
CHAT: Final = "ferry_and_greenhouse.json"
CHAT_CITIZEN: Final = "dale"
MESSAGES_AT_ONCE: Final = 20
LIVES: Final = ("life0", "life1")

FORMS: Final[Sequence[dict[str, Any]]] = (
    {},
    {"explain": True},
    {"form": "references"},
    {"form": "compact"},
    {"form": "compact", "max_tokens": 300},
    {"max_tokens": 2000},
    {"form": "references", "max_tokens": 500, "explain": True},
    {"max_results_per_level": 5},
    {"filters": {"node_types": ["Turn"]}},
    {"filters": {"speakers": ["user"], "valid_from": "2025-02-01T00:00:00Z"}},
    {"as_of_time": PAST},
    {"known_at": PAST},
    {"as_of_time": PAST, "known_at": "now"},
    {"temporal_mode": "evolution"},
    {"temporal_mode": "full_history", "time_range_start": PAST},
    {"plurality": {}},
    {"prefer": "general"},
    {"prefer": "concrete", "rerank": "mmr"},
    {"rerank": "rrf", "explain": True},
    {"min_energy": 0.4, "min_confidence": 0.2},
    {"required_emotions": ["joy", "fear"], "emotions_match": "any"},
    {"current_goal": "mend the boat", "current_emotions": {"joy": 0.8}, "current_energy": 0.9},
    {"query_levels": ["N1"], "time_zone": "Asia/Tokyo"},
    {"parts": ["activation_tiers"], "require_valid": True},
)
"""What a question may ask for beside its words."""
WAKINGS: Final[Sequence[dict[str, Any]]] = (
    {"current_goal": "mend the boat", "current_energy": 0.6, "explain": True},
    {"current_emotions": {"joy": 0.6}, "form": "compact"},
    {"current_emotions": {"fear": 0.7, "calm": 0.3}, "include_only_unresolved": False, "form": "references"},
    {"current_emotions": {}, "temporal_scope": "all_time", "plurality": {}},
    {"as_of_time": PAST, "current_goal": "understand"},
)
MODES: Final = (
    "find_related_unresolved",
    "find_similar_state",
    "find_what_i_was_doing",
    "find_resolution_patterns",
)
RESONANCES: Final[Sequence[dict[str, Any]]] = (
    {"nodes": ["boat", "Egor"]},
    {"emotion": "joy", "focus": "garden"},
    {"focus": "the ferry", "overlap": "memory", "rerank": "mmr"},
    {"nodes": ["Maria"], "emotion": "fear", "as_of_time": PAST},
)


@contextmanager
def service() -> Iterator[Any]:
    """The service of the checkout in this process; its clock tells `at[0]`, the first of the pair."""
    from starlette.testclient import TestClient  # noqa: PLC0415  the path of the checkout is known now

    from api.app import create_app  # noqa: PLC0415
    from schemas.settings import Settings  # noqa: PLC0415
    from substrate.connection.pool import Connection  # noqa: PLC0415

    at = [BEGUN]

    async def now(_: Any) -> int:
        return at[0]

    connections: Any = Connection
    connections.now = now
    settings = Settings()
    key = settings.auth.admin_key
    assert key is not None
    with TestClient(create_app(settings), headers={"Authorization": f"Bearer {key.get_secret_value()}"}) as client:
        yield at, client


async def live(streams: int) -> list[str]:
    """Tell lives that note so many streams in all, and the linked graphs; returns the ids of the streams."""
    from api.runtime.runtime import open_runtime  # noqa: PLC0415
    from benchmarks.replay import live as live_one  # noqa: PLC0415
    from benchmarks.replay_lives import Life  # noqa: PLC0415
    from benchmarks.sides.word_vectors import WordVectors  # noqa: PLC0415
    from benchmarks.synthetic import World, build  # noqa: PLC0415
    from orchestration.mind.stream_notes import store_notes  # noqa: PLC0415
    from schemas.settings import Settings  # noqa: PLC0415

    class Told(World):
        """Its vectors are those of its texts: what is like by chance alone is found by chance."""

        def vectors(self, count: int, seed: int, dimension: int) -> Any:
            """The vectors of the texts of the level for which this seed stands."""
            del dimension
            texts = self.texts(count, self.seed + 10 * (seed - self.seed))
            return np.array([WordVectors().get_text_embedding(text) for text in texts])

    noted: list[str] = []
    async with open_runtime(Settings()) as runtime:
        for number in range(max(len(LIVES), -(-streams // STREAMS_OF_ONE))):
            life = Life(f"life{number}", runtime.deps, Random(number), BEGUN, erases=number % 2 == 1)
            await live_one(life, 60, min(STREAMS_OF_ONE, streams - len(noted)))
            noted += [stream.stream_id for stream in life.asked]
        await build(Told(nodes=LINKED, links=10 * LINKED, hubs=True, citizen="linked"), runtime.deps, BEGUN)
        await store_notes(runtime.deps)
    return noted


def chat(client: Any, at: list[int]) -> None:
    """Let the citizen of the chat hear it."""
    messages = json.loads((Path(__file__).parents[1] / "chats" / CHAT).read_bytes())["messages"]
    for first in range(0, len(messages), MESSAGES_AT_ONCE):
        heard = [
            {"speaker": each["role"], "text": each["text"], "message_id": each["id"], "time": each["time"]}
            for each in messages[first : first + MESSAGES_AT_ONCE]
        ]
        at[0] += 1_000_000
        body = {"citizen_id": CHAT_CITIZEN, "messages": heard}
        client.post("/v1/episodes/ferry/turns", json=body).raise_for_status()


def questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every path with the body that is sent to it."""
    from benchmarks.synthetic import World  # noqa: PLC0415

    linked = World(nodes=LINKED, links=0).questions(3)
    of_lives = [
        "What happened to the boat last week?",
        "Where is the garden and the violin?",
        "In which order did we speak of the lamp?",
    ]
    of_chat = ["What happened on the ferry?", "How should I be answered?", "When does the first sailing leave?"]
    for citizen, texts in (*((life, of_lives) for life in LIVES), (CHAT_CITIZEN, of_chat), ("linked", linked)):
        same = {"citizen_id": citizen, "generated_at": PAST}
        for number, (text, form) in enumerate(product(texts, FORMS)):
            yield "/v1/retrieve", {**same, "query_text": text, "intention_id": f"q{number}", **form}
        for number, (mode, waking) in enumerate(product(MODES, WAKINGS)):
            yield "/v1/wake", {**same, "query_mode": mode, "state_id": f"s{number}", **waking}
        for resonance in RESONANCES:
            yield "/v1/resonate", {"citizen_id": citizen, **resonance}
        for text in texts:
            for more in ({}, {"max_chars": 1000, "plurality": {}}):
                yield "/v1/associate", {"citizen_id": citizen, "query_text": text, **more}
            situation = {"stimuli": [text], "focus": "the boat", "max_tokens": 1000}
            yield f"/v1/citizens/{citizen}/situation", situation


def ask(noted: Sequence[str], answers: Path) -> None:
    """Ask everything, then the noted streams again; each question a second after the one before."""
    asked = [*questions(), *((f"/v1/streams/{stream}/replay", {}) for stream in noted)]
    with service() as (at, client), answers.open("w") as file:
        at[0] = ASKED
        for path, body in asked:
            at[0] += 1_000_000
            answer = client.post(path, json=body)
            whole = {"path": path, "body": body, "status": answer.status_code, "answer": lasting(answer.json())}
            file.write(json.dumps(whole, sort_keys=True) + "\n")


def lasting(value: Any) -> Any:
    """The value without the fields that differ each time."""
    if isinstance(value, dict):
        return {name: lasting(part) for name, part in value.items() if not BY_CHANCE.search(name)}
    return [lasting(part) for part in value] if isinstance(value, list) else value


def main() -> None:
    """Fill or ask."""
    sys.path.insert(0, sys.argv[1])
    what, noted = sys.argv[3], Path(sys.argv[4])
    if what == "ask":
        ask(noted.read_text().split(), Path(sys.argv[5]))
        return
    noted.write_text("\n".join(asyncio.run(live(int(sys.argv[5])))))
    with service() as (at, client):
        chat(client, at)


if __name__ == "__main__":
    main()
