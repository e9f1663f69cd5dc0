"""Each operation is a method of both clients, except what a browser, a monitor or a backup asks for."""

from __future__ import annotations

import pytest

from api.client import AsyncSubstrate, Substrate
from api.routes.operations import AFTER, BEFORE

WITHOUT = ["get_episode_progress", "export_citizen", "mirror_citizen", "export_collective", "get_metrics"]


@pytest.mark.parametrize("client", [AsyncSubstrate, Substrate])
def test_each_operation_is_a_method_of_both_clients(client: type) -> None:
    missing = [one.name for one in (*BEFORE, *AFTER) if not hasattr(client, one.call or one.name)]
    assert sorted(missing) == sorted(WITHOUT)
