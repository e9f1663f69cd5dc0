"""An open store in a process that goes on after it: what opening changed is as it was before."""

from __future__ import annotations

import gc
from pathlib import Path

from api.runtime.runtime import open_runtime
from schemas.settings import EmbeddingSettings, Settings, StoreSettings


async def test_a_closed_store_leaves_the_collector_as_it_was(tmp_path: Path) -> None:
    before = gc.get_threshold()
    settings = Settings(store=StoreSettings(data=tmp_path), embedding=EmbeddingSettings(embedding="none"))
    async with open_runtime(settings):
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0, "what a closed store leaves could never be collected"
