"""A load waits for the engine, a request is told at once, and what may have been done is not sent again."""

from __future__ import annotations

import pytest

from schemas.errors import Fault, StoreTimeout, Unavailable
from substrate.connection import errors
from substrate.connection.errors import (
    NO_ANSWER,
    NOT_DONE,
    ConnectionLost,
    EngineBusy,
    patience_s,
    patient,
    patiently,
)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "FIRST_PAUSE_S", 0.0)


class Engine:
    """Raises these errors, one each time it is asked, and then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.asked = 0

    async def send(self) -> str:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


async def test_a_request_is_told_at_once() -> None:
    engine = Engine(StoreTimeout("late"))
    with pytest.raises(StoreTimeout):
        await patiently(engine.send, NOT_DONE)
    assert engine.asked == 1


async def test_a_load_waits_until_the_engine_is_free() -> None:
    engine = Engine(StoreTimeout("late"), EngineBusy("loading"), StoreTimeout("late"))
    with patient(60.0):
        assert await patiently(engine.send, NOT_DONE) == "done"
    assert engine.asked == 4
    assert patience_s() == 0.0


@pytest.mark.parametrize("error", [Fault("refused"), Unavailable("the disk is full"), ConnectionLost("no answer")])
async def test_a_write_is_not_sent_again_after_any_other_error(error: Exception) -> None:
    engine = Engine(error)
    with patient(60.0), pytest.raises(type(error)):
        await patiently(engine.send, NOT_DONE)
    assert engine.asked == 1


async def test_a_read_is_sent_again_after_a_lost_connection() -> None:
    engine = Engine(ConnectionLost("no answer"))
    with patient(60.0):
        assert await patiently(engine.send, NO_ANSWER) == "done"


async def test_patience_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "FIRST_PAUSE_S", 2.0)
    engine = Engine(StoreTimeout("late"))
    with patient(1.0), pytest.raises(StoreTimeout):
        await patiently(engine.send, NOT_DONE)
    assert engine.asked == 1
