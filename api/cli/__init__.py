"""The command line: one module per noun, and `program` that finds the right one and reports what failed."""

from __future__ import annotations

from api.cli.program import main

__all__ = ["main"]
