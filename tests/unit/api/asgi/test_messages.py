"""Origins, addresses and public paths: which requests are local, public, or from another origin."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from api.asgi.messages import check_origin, is_loopback, is_public, rate_limit_address
from schemas.errors import ForeignOrigin


def headers(host: str, *origins: str) -> Iterable[tuple[bytes, bytes]]:
    return [(b"host", host.encode()), *((b"origin", origin.encode()) for origin in origins)]


def refusal(headers: Iterable[tuple[bytes, bytes]]) -> type[ForeignOrigin] | None:
    """The error of a request with these headers, where pages of one other origin may call."""
    try:
        check_origin(headers, {"https://pages.example"})
    except ForeignOrigin:
        return ForeignOrigin
    return None


@pytest.mark.parametrize(
    ("host", "origins"),
    [
        ("memory.example", []),
        ("memory.example", ["https://memory.example"]),
        ("memory.example:443", ["https://memory.example"]),
        ("memory.example", ["http://memory.example:80"]),
        ("Memory.example", ["HTTP://memory.EXAMPLE"]),
        ("memory.example", ["https://pages.example"]),
    ],
)
def test_programs_our_own_pages_and_allowed_origins_may_call(host: str, origins: list[str]) -> None:
    assert refusal(headers(host, *origins)) is None


@pytest.mark.parametrize(
    ("host", "origins"),
    [
        ("memory.example", ["https://evil.example"]),
        ("memory.example", ["https://memory.example:444"]),
        ("memory.example", ["file://memory.example"]),
        ("memory.example", ["null"]),
        ("memory.example", [""]),
        ("memory.example", ["https://memory.example", "https://memory.example"]),
    ],
)
def test_any_other_origin_is_refused_unless_all_are_allowed(host: str, origins: list[str]) -> None:
    assert refusal(headers(host, *origins)) is ForeignOrigin
    check_origin(headers(host, *origins), {"*"})


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("no address", "no address"),
        (None, ""),
    ],
)
def test_a_customer_of_a_provider_counts_as_one_client(address: str | None, counted: str) -> None:
    assert rate_limit_address(address) == counted


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True), ("127.9.9.9", True), ("[::1]", True), ("::1", True), ("localhost", True),
        ("0.0.0.0", False), ("192.168.0.1", False), ("localhost.evil.example", False), ("", False),
    ],
)  # fmt: skip
def test_only_addresses_of_this_machine_are_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("path", "public"),
    [
        ("/", True),
        ("/docs", True),
        ("/static/x.js", True),
        ("/v1/memories", False),
        ("/metrics", False),
        ("", False),
    ],
)
def test_only_pages_health_and_the_document_are_public(path: str, public: bool) -> None:
    assert is_public(path) is public
