"""What is sent again is what was sent, but for its own ids and times."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
from hypothesis import given
from hypothesis import strategies as st

from orchestration.assembly.sent_form import OWN, as_sent
from schemas.stream import ConsciousnessStream

NAMES = st.sampled_from([*OWN, "levels", "notes", "text", "form", "a", "b"])
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


def stream(**fields: object) -> ConsciousnessStream:
    own = {"intention_id": "i2", "citizen_id": "ada", "temporal_mode": "current", "stream_id": "ada~2"}
    moment = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
    times = {
        "retrieved_at": moment,
        "retrieval_latency_ms": 1.25,
        "stage_ms": {"open": 0.5, "kept": 0.125},
        "behind_ms": 2.5,
    }
    return ConsciousnessStream.model_validate({**own, **times, **fields})


@given(st.dictionaries(NAMES, VALUES, max_size=9))
def test_the_fields_of_the_new_answer_stand_in_the_places_of_the_old_ones(sent: dict[str, object]) -> None:
    own = {"stream_id": "ada~2", "intention_id": "i2", "retrieved_at": "2026-05-01T12:30:00Z",
           "retrieval_latency_ms": 1.25, "stage_ms": {"open": 0.5, "kept": 0.125}, "behind_ms": 2.5}  # fmt: skip
    expected = {name: own.get(name, value) for name, value in sent.items()}
    assert as_sent(orjson.dumps(sent)).again(stream()) == orjson.dumps(expected)


def test_its_size_is_that_of_what_is_kept() -> None:
    body = orjson.dumps({"stream_id": "ada~1", "levels": {"x": "y" * 1000}, "stage_ms": {}, "form": "full"})
    assert 1000 < as_sent(body).size < len(body)
