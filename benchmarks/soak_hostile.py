"""What is sent to do harm in `benchmarks.soak`, and the mix of that with the work of agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from benchmarks.soak_client import Sent
from benchmarks.soak_work import (
    WORK,
    Body,
    Chance,
    Make,
    export,
    get,
    list_records,
    read_citizen,
    remember,
    retrieve,
    wake,
)

OVERSIZE_BYTES: Final = 42_000_000


def strange_question(chance: Chance) -> Sent:
    """A question that nobody asked before, long and in any script."""
    text = " ".join(chance.scrap(80) for _ in range(chance.random.choice((1, 10, 200))))
    return Body("/v1/retrieve", {"citizen_id": chance.citizen(), "query_text": text}).sent()


def question_of_nobody(chance: Chance) -> Sent:
    """A question of a citizen who does not exist."""
    return Body("/v1/retrieve", {"citizen_id": chance.nobody(), "query_text": chance.text(6)}).sent()


def read_of_nobody(chance: Chance) -> Sent:
    """Something of a citizen who does not exist."""
    who = chance.nobody()
    paths = (f"/v1/memories/N1/m-1?citizen_id={who}", f"/v1/citizens/{who}/state", f"/v1/links?citizen_id={who}")
    return get(chance.random.choice(paths))


def unknown_id(chance: Chance) -> Sent:
    """An id of any length and script, which nothing has."""
    name = quote(chance.scrap(chance.random.choice((20, 200, 2000))), safe="")
    what = chance.random.choice(("memories/N1", "links/N1", "receipts", "streams", "episodes"))
    return get(f"/v1/{what}/{name}", citizen_id=chance.citizen())


def unknown_path(chance: Chance) -> Sent:
    """A path that leads nowhere, by any method."""
    parts = (quote(chance.scrap(40), safe="") for _ in range(chance.random.randint(1, 6)))
    method = chance.random.choice(("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "BREW"))
    return Sent(method, f"/{chance.random.choice(('', 'v1/'))}{'/'.join(parts)}")


def unknown_query(chance: Chance) -> Sent:
    """Parameters that no route knows."""
    query = {chance.scrap(30): chance.scrap(200) for _ in range(chance.random.randint(1, 20))}
    return get(f"/v1/citizens/{chance.citizen()}/state", **query)


def unknown_fields(chance: Chance) -> Sent:
    """A body with fields that no model knows, near to those that it knows."""
    path = chance.random.choice(("/v1/memories", "/v1/retrieve", "/v1/wake", "/v1/links", "/v1/resonate"))
    value = {chance.scrap(30): chance.scrap(50) for _ in range(chance.random.randint(1, 30))}
    near = {f"{chance.random.choice(('nam', 'descripton', 'qery_text'))}{chance.random.getrandbits(8)}": 1}
    return Body(path, {"citizen_id": chance.citizen(), **value, **near}).sent()


def wrong_values(chance: Chance) -> Sent:
    """Values of the wrong type and out of all bounds."""
    wrong: Sequence[Any] = (
        None,
        -1,
        1e308,
        "",
        "x" * 5000,
        [[]],
        {"a": {}},
        chance.scrap(3000),
        True,
        "2026-99-99",
    )
    fields = ("name", "energy", "valid_at", "emotion_vector", "level", "citizen_id", "query_text", "tags", "id")
    value = {name: chance.random.choice(wrong) for name in chance.random.sample(fields, 4)}
    return Body(chance.random.choice(("/v1/memories", "/v1/retrieve", "/v1/commands")), value).sent()


def no_json(chance: Chance) -> Sent:
    """A body that is no JSON, or nests too deep."""
    depth = chance.random.choice((50, 5000))
    bodies = (
        b"[" * depth + b"]" * depth,
        b'{"a":' * depth,
        chance.scrap(500).encode(),
        b"\xff\xfe" * 50,
        b'{"name": NaN}',
    )
    return Sent(
        "POST", chance.random.choice(("/v1/memories", "/v1/retrieve", "/mcp")), chance.random.choice(bodies)
    )


def large_fault(chance: Chance) -> Sent:
    """A large body in which every value is wrong."""
    value = [{"citizen_id": chance.citizen(), chance.scrap(9): [number] * 40} for number in range(1000)]
    return Body("/v1/memories", value).sent()


def oversize(chance: Chance) -> Sent:
    """A body that is announced too large."""
    return Sent("POST", "/v1/memories", b"{", {"Content-Length": str(chance.random.randrange(10**8, 10**15))})


def oversize_sent(_chance: Chance) -> Sent:
    """A body that is too large, sent whole and without a length."""
    return Sent("POST", "/v1/memories", bytes(OVERSIZE_BYTES), manner="chunked")


def slow_body(chance: Chance) -> Sent:
    """A good question, sent slowly."""
    return retrieve(chance)._replace(manner="slow")


def dropped(chance: Chance) -> Sent:
    """A request whose client leaves before the answer, or in the middle of its body."""
    made = chance.random.choice((retrieve, wake, remember, list_records, export, read_citizen))(chance)
    return made._replace(manner="half" if made.body and chance.random.random() < 0.5 else "dropped")


def wrong_key(chance: Chance) -> Sent:
    """A key that nobody has."""
    key = chance.random.choice(
        (f"sk-{chance.random.getrandbits(80):x}-{chance.random.getrandbits(160):x}", "x" * 3000)
    )
    return Sent("GET", "/v1/keys", headers={"Authorization": f"Bearer {key}"})


def strange_head(chance: Chance) -> Sent:
    """Headers of any content, or a head that is no HTTP at all."""
    fields = {f"X-{chance.random.getrandbits(40):x}": "y" * chance.random.choice((10, 4000)) for _ in range(12)}
    ids = {
        "X-Request-Id": f"{chance.random.getrandbits(90):x}",
        "Idempotency-Key": f"{chance.random.getrandbits(90):x}",
    }
    if chance.random.random() < 0.8:
        return Sent("GET", "/v1/memories/N1/m-1?citizen_id=c1", headers={**fields, **ids})
    return Sent("GET", "/", bytes(chance.random.choices(range(1, 256), k=300)) + b"\r\n\r\n", manner="raw")


HOSTILE: Final[dict[Make, float]] = {
    strange_question: 0.2, question_of_nobody: 0.5, read_of_nobody: 7, unknown_id: 9, unknown_path: 10,
    unknown_query: 5, unknown_fields: 5, wrong_values: 6, no_json: 3, large_fault: 0.02, oversize: 0.5,
    oversize_sent: 0.01, slow_body: 0.1, dropped: 0.6, wrong_key: 2, strange_head: 1,
}  # fmt: skip
"""What is sent to do harm, and how often of a hundred requests."""


class Drawn(NamedTuple):
    """A request and its kind."""

    kind: str
    sent: Sent


@dataclass
class Mix:
    """Draws requests for one client, of all kinds or of these."""

    chance: Chance
    kinds: Sequence[str] = ()

    def __post_init__(self) -> None:
        every = {**WORK, **HOSTILE}
        weights = {make: weight for make, weight in every.items() if not self.kinds or make.__name__ in self.kinds}
        self._makes = tuple(weights)
        self._sums = list(accumulate(weights.values()))

    def draw(self) -> Drawn:
        """The next request."""
        make = self.chance.random.choices(self._makes, cum_weights=self._sums)[0]
        return Drawn(make.__name__, make(self.chance))
