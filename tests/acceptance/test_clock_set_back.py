"""A clock that is set back, over HTTP: transaction times keep the order of the commands."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from api.app import create_app
from api.dependencies import get_runtime, read_clock
from api.runtime.runtime import Runtime, open_runtime
from schemas.settings import AuthSettings, EmbeddingSettings, Settings, StoreSettings

DAY = 86_400_000_000
NOON = 1_780_000_000_000_000
OF_ADA = {"citizen_id": "ada"}


async def test_transaction_time_goes_on_when_the_clock_of_the_service_goes_back(tmp_path: Path) -> None:
    settings = Settings(
        store=StoreSettings(data=tmp_path),
        embedding=EmbeddingSettings(embedding="none"),
        auth=AuthSettings(open=True),
    )
    app = create_app(settings)
    clock = [NOON]

    async def read() -> int:
        return clock[0]

    async with (
        open_runtime(settings) as runtime,
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http,
    ):

        async def opened() -> Runtime:
            return runtime

        app.dependency_overrides |= {get_runtime: opened, read_clock: read}

        async def told(path: str, **fields: Any) -> str:
            answer = await http.post(path, json={**OF_ADA, **fields})
            assert answer.is_success, answer.text
            return str(answer.json()["created_at"])

        known = [await told("/v1/memories", id="door", name="Door", valid_at="2026-01-01T00:00:00Z")]
        for back, energy in ((1, 0.1), (30, 0.2), (2, 0.3)):
            clock[0] = NOON - back * DAY
            known.append(await told("/v1/memories/N1/door/correct", energy=energy))
        moments = [datetime.fromisoformat(moment) for moment in known]
        assert moments == sorted(set(moments))
        records = (await http.get("/v1/memories/N1/door/history", params=OF_ADA)).json()["records"]
        assert [record["created_at"] for record in records] == known
        assert [record["expired_at"] for record in records] == [*known[1:], None]
        assert (await http.get("/v1/memories/N1/door", params=OF_ADA)).json()["energy"] == 0.3
        (resonant,) = (await http.post("/v1/resonate", json={**OF_ADA, "focus": "door"})).json()["levels"][
            "n1_personal"
        ]
        walked = (await http.post("/v1/associate", json={**OF_ADA, "query_text": "door"})).json()["anchors"]
        assert [one["memory"]["energy"] for one in (resonant, *walked)] == [0.3, 0.3]
