"""The service that the tests of the adapters use; SUBSTRATE_BASE_URL and SUBSTRATE_API_KEY name it."""

from __future__ import annotations

import os
from uuid import uuid4

import pytest

if "SUBSTRATE_BASE_URL" not in os.environ:  # noqa: TID251
    pytest.skip("SUBSTRATE_BASE_URL names no service", allow_module_level=True)


@pytest.fixture
def citizen() -> str:
    """A citizen whom nobody else has used."""
    return f"c{uuid4().hex[:12]}"
