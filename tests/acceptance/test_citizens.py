"""The list of citizens: in pages, and only those that a key may read."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from api.client import Substrate
from tests.acceptance.conftest import Service, problem_in


@pytest.fixture
def family(service: Service) -> list[str]:
    """Three citizens of whom something is stored, in the order of their ids."""
    stem = f"f{uuid4().hex[:8]}"
    names = [f"{stem}.{name}" for name in ("ada", "bo", "cy")]
    for name in names:
        service.remember(name, name="Tea")
    return names


def listed(service: Service, key: str, **page: Any) -> dict[str, Any]:
    with service.client(key) as http:
        answer = http.get("/v1/citizens", params=page)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_citizens_are_listed_in_pages(service: Service, client: Substrate, family: list[str]) -> None:
    pages = [client.list_citizens(limit=1)]
    while pages[-1].next is not None:
        pages.append(client.list_citizens(limit=1, cursor=pages[-1].next))
    names = [name for page in pages for name in page.citizens]
    assert names == sorted(set(names))
    assert set(family) <= set(names)
    assert tuple(names) == client.list_citizens(limit=500).citizens
    client.erase_citizen(citizen_id=family[0])
    assert family[0] not in client.list_citizens(limit=500).citizens


def test_a_key_sees_only_the_citizens_that_it_may_read(service: Service, family: list[str]) -> None:
    ada, bo, cy = family
    nobody = f"{ada}x"
    key = service.key(f"citizen:{ada}:read", f"citizen:{bo}:write", f"citizen:{cy}:*", f"citizen:{nobody}:*")
    assert listed(service, key) == {"citizens": [ada, cy], "next": None}
    assert listed(service, key, limit=1)["citizens"] == [ada]
    assert listed(service, service.key("upkeep", "N2:*")) == {"citizens": [], "next": None}
    assert set(family) <= set(listed(service, service.key("citizen:*:read"), limit=500)["citizens"])


@pytest.mark.parametrize("page", [{"limit": 0}, {"limit": 501}, {"cursor": "none"}, {"name": "ada"}])
def test_a_bad_page_is_refused(service: Service, page: dict[str, Any]) -> None:
    assert problem_in(service.http.get("/v1/citizens", params=page), 422)["detail"]
