"""`python -m api.cli` is the command `substrate`."""

from __future__ import annotations

from api.cli.program import main

main()
