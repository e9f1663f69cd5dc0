"""Services that share a store are replaced one after the other while it is asked and written to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from benchmarks.serving import Served

REPLICAS = 2
CITIZEN = "ada"
CLIENTS = 3
LEAVING_S = 3.0
"""So long a service that gets no more requests goes on, for those that are under way to it."""


async def replace(answering: list[Served], data: Path) -> None:
    """As a rolling update does: a new service is ready first, then a former one gets no more requests and ends."""
    new = Served(data)
    await new.start()
    answering.append(new)
    former = answering.pop(0)
    await asyncio.sleep(LEAVING_S)
    await former.stop()


async def send(service: Served, path: str, **fields: str) -> None:
    """Send one request through a service, which must succeed."""
    async with service.client() as http:
        answer = await http.post(path, json={"citizen_id": CITIZEN, **fields})
    assert not answer.is_error, answer.text


async def test_no_request_fails_and_nothing_is_lost_while_services_are_replaced_in_turn(tmp_path: Path) -> None:
    answering = [Served(tmp_path) for _ in range(REPLICAS)]
    for service in answering:
        await service.start()
    started = list(answering)
    written: list[str] = []
    going = True

    async def client(number: int) -> None:
        turn = 0
        while going:
            name = f"client-{number}-{turn}"
            said = f"The harbour has a light, {name}"
            await send(answering[turn % len(answering)], "/v1/memories", id=name, name=name, description=said)
            written.append(name)
            await send(answering[turn % len(answering)], "/v1/retrieve", query_text=f"Which light, {name}?")
            turn += 1

    clients = [asyncio.create_task(client(number)) for number in range(CLIENTS)]
    try:
        for _ in range(REPLICAS):
            await replace(answering, tmp_path)
        going = False
        await asyncio.gather(*clients)
        assert not set(answering) & set(started)
        assert len(written) >= CLIENTS
        assert await stored(answering[-1], written) == set(written)
    finally:
        going = False
        await asyncio.gather(*clients, return_exceptions=True)
        for service in answering:
            await service.stop()


async def stored(service: Served, names: Sequence[str]) -> set[str]:
    """Those memories that a service finds by their ids."""
    found = set()
    async with service.client() as http:
        for name in names:
            answer = await http.get(f"/v1/memories/N1/{name}", params={"citizen_id": CITIZEN})
            if answer.status_code == 200:
                found.add(name)
    return found
