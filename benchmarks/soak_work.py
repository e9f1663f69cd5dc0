"""What agents and administrators send in `benchmarks.soak`, drawn by chance from a fixed seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import orjson

from benchmarks.soak_client import Sent
from benchmarks.synthetic import LETTERS

EMOTIONS: Final = ("joy", "fear", "calm", "curiosity", "frustration", "drive")
RELATIONS: Final = ("LEADS_TO", "ABOUT", "JUSTIFIES", "ENABLES", "BLOCKED_BY")
MODES: Final = ("emotion_driven", "goal_driven", "energy_driven", "unresolved_tensions")
MEMORIES: Final = 12
"""Of each citizen so many are there from the start."""
TELLERS: Final = 4
"""So many citizens, the first, have told `MORE` memories each."""
MORE: Final = 300
VOCABULARY: Final = 4000
_SCRIPTS: Final = (
    (0x61, 0x7A),
    (0x430, 0x44F),
    (0x4E00, 0x9FA5),
    (0x3041, 0x3096),
    (0x1F600, 0x1F64F),
    (0x21, 0x7E),
)


class Body(NamedTuple):
    """A POST of JSON."""

    path: str
    value: Any

    def sent(self) -> Sent:
        """The request."""
        return Sent("POST", self.path, orjson.dumps(self.value))


@cache
def words() -> Sequence[str]:
    """The vocabulary of the run."""
    random = Random(7)
    return tuple("".join(random.choices(LETTERS, k=random.randint(3, 9))) for _ in range(VOCABULARY))


@dataclass
class Chance:
    """What one client draws its requests from. `number` is of the client: no two remember under the same id."""

    number: int
    citizens: int
    seed: int = 20

    def __post_init__(self) -> None:
        self.random = Random(self.seed * 1000 + self.number)
        self._words = words()
        self._told = 0

    def next_number(self) -> str:
        """A number that no other request of the run has."""
        self._told += 1
        return f"{self.number}-{self._told}"

    def text(self, length: int = 18) -> str:
        """A text of common and rare words."""
        places = (int(len(self._words) * self.random.random() ** 3) for _ in range(length))
        return " ".join(self._words[place] for place in places).capitalize() + "."

    def scrap(self, most: int = 60) -> str:
        """Up to so many characters of any script."""
        first, last = self.random.choice(_SCRIPTS)
        return "".join(chr(self.random.randint(first, last)) for _ in range(self.random.randint(1, most)))

    def citizen(self) -> str:
        """One of the citizens; those who told more come more often."""
        most = TELLERS if self.random.random() < 0.3 else self.citizens
        return citizen_name(self.random.randrange(most))

    def nobody(self) -> str:
        """A citizen of whom nothing is stored."""
        return f"nobody-{self.random.getrandbits(60):x}"

    def memory(self) -> str:
        """The id of a memory that every citizen has."""
        return f"m-{self.random.randrange(MEMORIES)}"

    def emotions(self) -> dict[str, float]:
        """One or two emotions."""
        names = self.random.sample(EMOTIONS, self.random.randint(1, 2))
        return {name: round(self.random.random(), 2) for name in names}


def citizen_name(number: int) -> str:
    """The name of a citizen of the run."""
    return f"c{number}"


def first_memories(number: int, chance: Chance) -> Iterator[Sent]:
    """What a citizen tells before the run, in two requests: memories, and links between them."""
    citizen = citizen_name(number)
    many = MEMORIES + (MORE if number < TELLERS else 0)
    yield Body("/v1/memories", [_memory(chance, citizen, f"m-{place}") for place in range(many)]).sent()
    yield Body("/v1/links", [_link(citizen, place, chance) for place in range(MEMORIES)]).sent()


def _memory(chance: Chance, citizen: str, memory_id: str) -> dict[str, Any]:
    fields = {"goal": f"goal {chance.random.randrange(20)}", "emotion_vector": chance.emotions()}
    return {"citizen_id": citizen, "id": memory_id, "name": chance.text(3), "description": chance.text(), **fields}


def _link(citizen: str, place: int, chance: Chance) -> dict[str, Any]:
    ends = {"source_id": f"m-{place}", "target_id": f"m-{(place + 1) % MEMORIES}"}
    return {
        "citizen_id": citizen,
        **ends,
        "relation_type": RELATIONS[place % 5],
        **_felt(chance),
        "id": f"l-{place}",
    }


def _felt(chance: Chance) -> dict[str, Any]:
    return {
        "energy": 0.5,
        "confidence": 0.8,
        "emotion_vector": chance.emotions(),
        "goal": "go on",
        "mindstate": "calm",
    }


def _ask(chance: Chance, **fields: Any) -> Sent:
    text = f"What about {chance.text(5)}"
    return Body("/v1/retrieve", {"citizen_id": chance.citizen(), "query_text": text, **fields}).sent()


def retrieve(chance: Chance) -> Sent:
    """A question in one of its forms."""
    forms: Sequence[dict[str, Any]] = (
        {},
        {},
        {"form": "compact"},
        {"explain": True, "max_results_per_level": 5},
        {"max_tokens": 2000},
        {"plurality": {}},
        {"filters": {"node_types": ["Turn", chance.scrap(12).strip() or "x"]}},
        {"current_goal": "go on", "current_emotions": chance.emotions(), "apply_feedback": True},
    )
    return _ask(chance, **chance.random.choice(forms))


def as_of(chance: Chance) -> Sent:
    """A question about another time."""
    then = f"202{chance.random.randrange(10)}-0{chance.random.randint(1, 9)}-11T00:00:00Z"
    ranged = {"time_range_start": "2020-01-01T00:00:00Z", "time_range_end": "2030-01-01T00:00:00Z"}
    forms: Sequence[dict[str, Any]] = (
        {"as_of_time": then},
        {"as_of_time": then, "known_at": "2025-01-01T00:00:00Z"},
        {"temporal_mode": "evolution", **ranged},
        {"temporal_mode": "full_history"},
    )
    return _ask(chance, **chance.random.choice(forms))


def wake(chance: Chance) -> Sent:
    """A waking in one of its modes."""
    state = {"current_energy": 0.6, "current_emotions": chance.emotions(), "current_goal": "go on"}
    return Body("/v1/wake", {"citizen_id": chance.citizen(), **state}).sent()


def resonate(chance: Chance) -> Sent:
    """A signal."""
    signal = {"nodes": [chance.text(1)], "emotion": chance.random.choice(EMOTIONS), "query_text": chance.text(8)}
    return Body("/v1/resonate", {"citizen_id": chance.citizen(), **signal}).sent()


def associate(chance: Chance) -> Sent:
    """A walk over tags."""
    return Body("/v1/associate", {"citizen_id": chance.citizen(), "query_text": chance.text(5)}).sent()


def remember(chance: Chance) -> Sent:
    """A new memory; some feel what nobody ever felt, or are of a kind of their own."""
    value = _memory(chance, chance.citizen(), f"r-{chance.next_number()}")
    if chance.random.random() < 0.2:
        value |= {"node_type": f"Kind {chance.scrap(10).strip()}", "emotion_vector": {chance.text(2): 0.5}}
    return Body("/v1/memories", value).sent()


def long_memory(chance: Chance) -> Sent:
    """A memory with a long text."""
    value = _memory(chance, chance.citizen(), f"r-{chance.next_number()}")
    return Body("/v1/memories", {**value, "description": chance.text(chance.random.choice((400, 4000)))}).sent()


def supersede(chance: Chance) -> Sent:
    """A change of a memory."""
    what = chance.random.choice(("supersede", "correct"))
    value = {"citizen_id": chance.citizen(), "description": chance.text()}
    return Body(f"/v1/memories/N1/{chance.memory()}/{what}", value).sent()


def relate(chance: Chance) -> Sent:
    """A new link."""
    link = _link(chance.citizen(), chance.random.randrange(MEMORIES), chance)
    return Body("/v1/links", {**link, "id": f"k-{chance.next_number()}"}).sent()


def correct_link(chance: Chance) -> Sent:
    """A correction of a link."""
    value = {"citizen_id": chance.citizen(), "energy": round(chance.random.random(), 2)}
    return Body(f"/v1/links/N1/l-{chance.random.randrange(MEMORIES)}/correct", value).sent()


def hear(chance: Chance) -> Sent:
    """One message of a conversation."""
    messages = [{"speaker": "Ada", "text": chance.text(), "id": chance.next_number()}]
    episode = f"talk-{chance.random.randrange(200)}"
    return Body(f"/v1/episodes/{episode}/turns", {"citizen_id": chance.citizen(), "messages": messages}).sent()


def tell_feedback(chance: Chance) -> Sent:
    """What helped and what did not."""
    value = {"query_text": chance.text(6), "used": [chance.memory()]}
    return Body(f"/v1/citizens/{chance.citizen()}/feedback", value).sent()


def set_state(chance: Chance) -> Sent:
    """A state that a citizen sets."""
    value = {"energy": round(chance.random.random(), 2), "emotion_vector": chance.emotions()}
    return Sent("PUT", f"/v1/citizens/{chance.citizen()}/state", orjson.dumps(value))


def new_citizen(chance: Chance) -> Sent:
    """The first memory of a new citizen, or the erasure of one."""
    name = f"guest-{chance.number}-{chance.random.randrange(10)}"
    if chance.random.random() < 0.5:
        return Sent("DELETE", f"/v1/citizens/{name}")
    return Body("/v1/memories", {"citizen_id": name, "name": chance.text(4)}).sent()


def get(path: str, **query: object) -> Sent:
    """A GET with these parameters."""
    return Sent("GET", f"{path}?{urlencode(query)}" if query else path)


def read_memory(chance: Chance) -> Sent:
    """A memory, or its history."""
    whole = chance.random.choice(("", "", "/history"))
    return get(f"/v1/memories/N1/{chance.memory()}{whole}", citizen_id=chance.citizen())


def read_link(chance: Chance) -> Sent:
    """A link, or its history."""
    whole = chance.random.choice(("", "/history"))
    return get(f"/v1/links/N1/l-{chance.random.randrange(MEMORIES)}{whole}", citizen_id=chance.citizen())


def list_records(chance: Chance) -> Sent:
    """A page of memories or links."""
    path = chance.random.choice(("/v1/memories", "/v1/links"))
    return get(path, citizen_id=chance.citizen(), limit=chance.random.choice((1, 10, 50)))


def read_citizen(chance: Chance) -> Sent:
    """The state of a citizen, its history, energy, feedback, rules or streams."""
    parts = ("state", "state", "state/history", "energy", "feedback", "streams", "rules")
    return get(f"/v1/citizens/{chance.citizen()}/{chance.random.choice(parts)}")


def look(chance: Chance) -> Sent:
    """What monitoring and administrators ask."""
    paths = ("/health/live", "/health/ready", "/v1/citizens?limit=10", "/v1/keys", "/openapi.json", "/")
    return get(chance.random.choice(paths))


def scrape(_chance: Chance) -> Sent:
    """The metrics."""
    return get("/metrics")


def export(chance: Chance) -> Sent:
    """All of a citizen, or of nobody."""
    return get(f"/v1/citizens/{chance.random.choice((chance.citizen(), chance.nobody()))}/export")


def tools(chance: Chance) -> Sent:
    """A call of a tool over MCP."""
    call: dict[str, Any] = {
        "name": "recall",
        "arguments": {"citizen_id": chance.citizen(), "query": chance.text(5)},
    }
    method, params = chance.random.choice((("tools/list", {}), ("tools/call", call)))
    value = {"jsonrpc": "2.0", "id": chance.next_number(), "method": method, "params": params}
    return Sent("POST", "/mcp", orjson.dumps(value), {"Accept": "application/json, text/event-stream"})


type Make = Callable[[Chance], Sent]
WORK: Final[dict[Make, float]] = {
    retrieve: 2, as_of: 0.4, wake: 0.4, resonate: 0.3, associate: 0.5, tools: 0.2, remember: 6, long_memory: 0.05,
    supersede: 3, relate: 2, correct_link: 1, hear: 0.3, tell_feedback: 0.2, set_state: 1, new_citizen: 0.1,
    read_memory: 14, read_link: 6, list_records: 4, read_citizen: 6, look: 4, scrape: 0.01, export: 0.05,
}  # fmt: skip
"""What agents and their administrators send, and how often of a hundred requests."""
