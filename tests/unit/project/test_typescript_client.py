"""The table of the TypeScript client is what `scripts/typescript_client.py` writes from the operations."""

from __future__ import annotations

import json

from api import installed_version
from scripts.typescript_client import CLIENT, TABLE, table


def test_the_table_is_that_of_the_operations() -> None:
    assert TABLE.read_text("utf-8") == table(), "run `python -m scripts.typescript_client`"


def test_it_needs_nothing_at_run_time_and_has_the_version_of_the_service() -> None:
    package = json.loads((CLIENT / "package.json").read_text("utf-8"))
    assert "dependencies" not in package
    assert package["version"] == installed_version()
