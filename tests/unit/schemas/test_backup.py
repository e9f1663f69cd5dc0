"""The manifest of a backup as a file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.upkeep.backup import VERSION, HeldFile, HeldGraph, Manifest

MANIFEST = Manifest(
    taken_at=datetime(2026, 1, 1, tzinfo=UTC),
    engine={"falkordb": "4"},
    graphs={
        "citizen_ada": HeldGraph(
            schema_version=3, embedding_model="m", dimension=2, labels={"Tag": 1}, types={"LINK": 2}
        )
    },
    files={"engine.rdb": HeldFile(bytes=7, sha256="ab")},
)


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert Manifest.model_validate_json(MANIFEST.model_dump_json()) == MANIFEST
    assert MANIFEST.version == VERSION


@pytest.mark.parametrize(
    "change", [{"format": "another"}, {"files": {"engine.rdb": {"bytes": 7}}}, {"graphs": []}]
)
def test_a_file_of_another_shape_is_no_manifest(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Manifest.model_validate({**MANIFEST.model_dump(), **change})
