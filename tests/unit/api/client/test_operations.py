"""Each operation is a method of both clients, except what a browser, a monitor or a backup asks for."""

from __future__ import annotations

import pytest

from api.client import AsyncSubstrate, Substrate
from api.routes.operations import OPERATIONS
from scripts.client import CALLS, method_name, texts

WITHOUT = ["get_episode_progress", "export_citizen", "mirror_citizen", "export_collective", "get_metrics"]


@pytest.mark.parametrize("client", [AsyncSubstrate, Substrate])
def test_each_operation_is_a_method_of_both_clients(client: type) -> None:
    missing = [one.name for one in OPERATIONS if not hasattr(client, method_name(one))]
    assert sorted(missing) == sorted(WITHOUT)


def test_without_an_operation_its_calls_and_its_fields_are_not_written() -> None:
    fewer = [one for one in OPERATIONS if not one.path.startswith("/v1/upkeep")]
    written = texts(fewer)[CALLS]
    assert "QuarantineRequestFields" not in written
    assert "async def retrieve(" in written
