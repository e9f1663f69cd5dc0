"""Readiness while graphs are being made."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from api.routes import health
from api.runtime.runtime import Runtime
from orchestration.dependencies import Deps
from schemas.errors import Unavailable
from substrate.graphs.registry import Graphs
from tests.integration.store import remember, stored


@pytest.mark.parametrize(("looks", "ready"), [(1, True), (100, False)])
async def test_a_graph_that_is_just_being_made_leaves_the_service_ready(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch, *, looks: int, ready: bool
) -> None:
    await stored(deps, remember(fresh_citizen, "first"))
    left = looks

    async def unready(self: Graphs, name: str) -> list[str]:
        nonlocal left
        left -= fresh_citizen in name
        return ["Trace"] if fresh_citizen in name and left >= 0 else []

    monkeypatch.setattr(Graphs, "unready", unready)
    monkeypatch.setattr(health, "NEW_GRAPH_S", 0.0)
    runtime = cast("Runtime", cast("Any", SimpleNamespace(deps=deps, engine=None)))
    if ready:
        assert (await health._readiness(runtime)).graphs
    else:
        with pytest.raises(Unavailable, match="indexes are still being built"):
            await health._readiness(runtime)
