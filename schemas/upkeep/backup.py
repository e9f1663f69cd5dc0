"""The manifest of a backup."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from schemas.base import Frozen

VERSION: Final = 1


class HeldGraph(Frozen):
    """One graph: its schema version and embedding model, and the number of nodes per label and links per type."""

    schema_version: int
    embedding_model: str
    dimension: int
    labels: dict[str, int]
    types: dict[str, int]


class HeldFile(Frozen):
    """One file: its size, and its SHA-256 in hexadecimal."""

    bytes: int
    sha256: str


class Manifest(Frozen):
    """The file `manifest.json` of a backup; `files` lists all other files."""

    format: Literal["substrate-backup"] = "substrate-backup"
    version: int = VERSION
    taken_at: datetime
    engine: dict[str, str]
    graphs: dict[str, HeldGraph]
    files: dict[str, HeldFile]
