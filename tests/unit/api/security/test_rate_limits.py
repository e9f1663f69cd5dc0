"""Rate limits: what one request costs, and that a key has no more than its limit."""

from __future__ import annotations

import pytest

from api.security.rate_limits import EXPORT_COST, QUESTION_COST, RateLimits, request_cost
from schemas.errors import RateLimited
from schemas.settings import AuthSettings


@pytest.mark.parametrize(
    ("method", "path", "cost"),
    [
        ("POST", "/v1/retrieve", QUESTION_COST),
        ("GET", "/v1/retrieve", 1),
        ("GET", "/v1/citizens/ada/export", EXPORT_COST),
        ("GET", "/v1/citizens/ada/identity", QUESTION_COST),
        ("GET", "/v1/citizens/ada/state", 1),
        ("POST", "/v1/citizens/ada/feedback", QUESTION_COST),
        ("GET", "/v1/citizens/ada/feedback", 1),
        ("DELETE", "/v1/citizens/export", 1),
        ("POST", "/v1/memories", 1),
    ],
)
def test_a_search_of_a_whole_memory_costs_more(method: str, path: str, cost: int) -> None:
    assert request_cost(method, path) == cost


async def test_a_key_may_send_as_much_as_its_limit_and_no_other_key_notices() -> None:
    limits = RateLimits(AuthSettings(rate_limit="3/minute"))
    remaining = [(await limits.count("k"))["RateLimit"].split(";")[1] for _ in range(3)]
    assert remaining == ["r=2", "r=1", "r=0"]
    with pytest.raises(RateLimited) as refused:
        await limits.count("k")
    assert refused.value.retry_after is not None
    assert 1 <= refused.value.retry_after <= 60
    await limits.count("another")


async def test_a_request_never_costs_more_than_the_whole_limit() -> None:
    limits = RateLimits(AuthSettings(rate_limit="3/minute"))
    assert ";r=0;" in (await limits.count("k", 40))["RateLimit"]


async def test_wrong_keys_are_counted_apart_from_valid_ones() -> None:
    limits = RateLimits(AuthSettings(rate_limit="3/minute", wrong_key_limit="1/minute"))
    await limits.count_wrong("192.0.2.7")
    with pytest.raises(RateLimited):
        await limits.count_wrong("192.0.2.7")
    await limits.count_wrong("192.0.2.8")
    await limits.count("192.0.2.7")
