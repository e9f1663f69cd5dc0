"""How keys are listed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from api.cli.keys import _cells
from schemas.keys import KeyInfo
from schemas.memory import Source

MAY = datetime(2026, 5, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ({}, "no end"),
        ({"expires_at": MAY}, "2026-05-08 00:00"),
        ({"revoked_at": MAY}, "revoked 2026-05-08 00:00"),
    ],
)
def test_only_a_revoked_key_is_shown_as_revoked(ends: dict[str, datetime], shown: str) -> None:
    key = KeyInfo(
        id="k1", name="me", scopes=("citizen:ada:read",), highest_source=Source.CITIZEN, created_at=MAY, **ends
    )
    assert _cells(key)[5] == shown
