"""A named query text."""

from __future__ import annotations

from typing import NamedTuple


class Query(NamedTuple):
    """A fixed query text under the name by which errors and timings call it."""

    name: str
    text: str
