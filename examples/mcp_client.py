"""Substrate over the Model Context Protocol; needs a service: `substrate serve`, and SUBSTRATE_API_KEY."""

import asyncio

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from schemas.settings import ClientSettings


async def main(service: ClientSettings) -> None:
    """Remember something, and recall it."""
    key = service.api_key.get_secret_value() if service.api_key else None
    headers = {"Authorization": f"Bearer {key}"} if key else {}  # `substrate serve --open` needs none
    async with httpx2.AsyncClient(headers=headers, base_url=service.base_url) as http:
        (await http.get("/v1/citizens")).raise_for_status()  # so that a missing key is told in one line
        async with Client(streamable_http_client(f"{service.base_url}/mcp", http_client=http)) as memory:
            await memory.call_tool("remember", {"citizen_id": "mcp", "name": "Tom drinks his tea with milk"})
            answer = await memory.call_tool("recall", {"citizen_id": "mcp", "query": "Tom's tea"})
            print(answer.content[0].text)


try:
    asyncio.run(main(ClientSettings()))
except httpx2.HTTPError as error:
    raise SystemExit(f"{error}\nStart `substrate serve`, and put its key into SUBSTRATE_API_KEY.") from None
