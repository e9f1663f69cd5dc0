"""The command line: one module per command, found by `program`, which also reports errors."""

from __future__ import annotations

from api.cli.program import main

__all__ = ["main"]
