"""The calls of the clients are what `scripts/client.py` writes from the operations."""

from __future__ import annotations

from api.routes.operations import OPERATIONS
from scripts.client import texts


def test_the_calls_of_the_clients_are_those_of_the_operations() -> None:
    for written, text in texts(OPERATIONS).items():
        assert written.read_text("utf-8") == text, "run `python -m scripts.client`"
