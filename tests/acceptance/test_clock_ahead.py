"""A clock that was 400 days ahead once: said in receipts and by the doctor, and put right by an export."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.cli import program
from api.dependencies import get_runtime, read_clock
from api.runtime.runtime import Runtime, now, open_runtime
from schemas.settings import AuthSettings, EmbeddingSettings, Settings, StoreSettings
from schemas.temporal import to_datetime

DAY = 86_400_000_000
OF_ADA = {"citizen_id": "ada"}
BEGUN, HELD = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
LINK = {
    "relation_type": "NEAR",
    "energy": 0.5,
    "confidence": 0.5,
    "emotion_vector": {},
    "goal": "g",
    "mindstate": "m",
}


async def answers(http: httpx.AsyncClient, times: list[str]) -> list[list[Any]]:
    """What is known at each of the times of a memory, a link, and the state."""
    found = []
    for known_at in times:
        asked = {"as_of_time": HELD, "known_at": known_at}
        door = await http.get("/v1/memories/N1/door", params={**OF_ADA, **asked})
        link = await http.get("/v1/links/N1/door|NEAR|gate", params={**OF_ADA, **asked})
        state = (await http.get("/v1/citizens/ada/state", params=asked)).json()
        found.append([door.json().get("energy"), link.json().get("energy"), state["energy"], state["goal"]])
    return found


async def known_times(http: httpx.AsyncClient) -> list[str]:
    """When something became known of the memory, the link and the state, in that order each."""
    paths = ("memories/N1/door/history", "links/N1/door|NEAR|gate/history", "citizens/ada/state/history")
    params = [OF_ADA, OF_ADA, {}]
    pages = [(await http.get(f"/v1/{path}", params=each)).json() for path, each in zip(paths, params, strict=True)]
    return [record["created_at"] for page in pages for record in page["records"]]


async def through(data: Path, work: Callable[[httpx.AsyncClient, list[int]], Awaitable[Any]]) -> Any:
    """What `work` answers at an open service, whose clock is the one item of a list."""
    settings = Settings(
        store=StoreSettings(data=data), embedding=EmbeddingSettings(embedding="none"), auth=AuthSettings(open=True)
    )
    app, clock = create_app(settings), [now()]
    transport = httpx.ASGITransport(app)
    async with (
        open_runtime(settings) as runtime,
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as http,
    ):

        async def opened() -> Runtime:
            return runtime

        async def read() -> int:
            return clock[0]

        app.dependency_overrides |= {get_runtime: opened, read_clock: read}
        return await work(http, clock)


async def begin(http: httpx.AsyncClient) -> None:
    for name in ("door", "gate"):
        new = {**OF_ADA, "id": name, "name": name, "energy": 0.0, "valid_at": BEGUN}
        assert (await http.post("/v1/memories", json=new)).is_success
    ends = {"source_id": "door", "target_id": "gate", "valid_at": BEGUN}
    assert (await http.post("/v1/links", json={**OF_ADA, **LINK, **ends})).is_success


async def change(http: httpx.AsyncClient, step: int) -> list[str]:
    """Change a memory, its link and the state; the warnings of the memory's receipt."""
    energy = round(0.1 + step / 10, 1)
    changed = {**OF_ADA, "energy": energy}
    receipt = await http.post("/v1/memories/N1/door/correct", json=changed)
    assert (await http.post("/v1/links/N1/door|NEAR|gate/correct", json=changed)).is_success
    state = {"energy": energy, "goal": f"goal {step}", "valid_at": BEGUN}
    assert (await http.put("/v1/citizens/ada/state", json=state)).is_success
    assert receipt.is_success, receipt.text
    return [warning for warning in receipt.json()["warnings"] if "a clock was ahead" in warning]


async def live(http: httpx.AsyncClient, clock: list[int]) -> tuple[list[str], list[list[Any]], list[bool]]:
    true_now, told = clock[0], []
    await begin(http)
    for step, days_ahead in enumerate((0, 0, 400, 0, 0)):
        clock[0] = true_now + days_ahead * DAY + 10 * step
        told.append(bool(await change(http, step)))
    times = await known_times(http)
    return times, await answers(http, times), told


async def look(http: httpx.AsyncClient, _clock: list[int]) -> tuple[list[str], list[list[Any]], bool]:
    times = await known_times(http)
    found = await answers(http, times)
    return times, found, bool(await change(http, 9))


def order(times: list[str]) -> list[int]:
    return sorted(range(len(times)), key=times.__getitem__)


def test_what_was_written_by_a_clock_ahead_is_told_and_put_back_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    data, file = tmp_path / "data", tmp_path / "ada.jsonl"

    def command(*words: str) -> str:
        with pytest.raises(SystemExit):
            program.main(["--data", str(data), *words])
        said = capsys.readouterr()
        return " ".join((said.out + said.err).split())

    times, before, told = asyncio.run(through(data, live))
    assert told == [False, False, False, True, True]
    assert "a clock was ahead once" in command("doctor")
    command("export", "-c", "ada", str(file))
    command("erase", "-c", "ada", "--yes")
    assert "moved back to now" in command("import", str(file), "--restamp")
    assert "a clock was ahead" not in command("doctor")
    moved, after, told_again = asyncio.run(through(data, look))
    assert after == before
    assert order(moved) == order(times)
    present = to_datetime(now()).isoformat()
    assert [old == new for old, new in zip(times, moved, strict=True)] == [old < present for old in times]
    assert max(moved) < present
    assert not told_again
