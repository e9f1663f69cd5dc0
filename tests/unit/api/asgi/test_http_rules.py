"""Rules of HTTP: HEAD has no body, a refused encoding is not used, a compressed body has a tag of its own."""

from __future__ import annotations

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.asgi.http_rules import HttpRulesMiddleware

TAG = '"1"'


async def answer(request: Request) -> Response:
    if request.headers.get("if-none-match") == TAG:
        return Response(status_code=304, headers={"ETag": TAG})
    return Response("x" * 5000, headers={"ETag": TAG, "Method": request.method})


APP = Starlette(
    routes=[Route("/", answer)],
    middleware=[Middleware(HttpRulesMiddleware), Middleware(GZipMiddleware, minimum_size=100)],
)


async def sent(method: str = "GET", **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(APP), base_url="http://x") as client:
        return await client.request(method, "/", headers=headers)


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [
        ("gzip", True), ("GZIP;q=0.1", True), ("*", True), ("br, *", True), ("deflate, gzip;q=1.0", True),
        ("", False), ("identity", False), ("gzip;q=0", False), ("gzip; q = 0.000", False), ("gzip;q=0, *", False),
        ("*;q=0", False),
    ],
)  # fmt: skip
async def test_a_body_is_compressed_only_if_gzip_is_accepted(accepted: str, compressed: bool) -> None:
    response = await sent(**{"Accept-Encoding": accepted})
    assert (response.headers.get("content-encoding") == "gzip") is compressed
    assert response.headers["etag"] == ('"1-gzip"' if compressed else TAG)


async def test_the_tag_of_a_compressed_body_is_recognised() -> None:
    response = await sent(**{"If-None-Match": '"1-gzip"'})
    assert (response.status_code, response.headers["etag"]) == (304, '"1-gzip"')


async def test_head_is_a_get_without_its_body() -> None:
    response = await sent("HEAD", **{"Accept-Encoding": "identity"})
    assert (response.content, response.headers["method"], response.headers["content-length"]) == (
        b"",
        "GET",
        "5000",
    )
