"""Appraises the commands that will be written, by the way that the settings choose."""

from __future__ import annotations

from collections.abc import Sequence

from orchestration.appraisal.appraise import NOTHING, Appraisal
from orchestration.dependencies import Deps
from orchestration.writing import appraised_rows
from schemas.commands import Command


async def appraise_commands(commands: Sequence[Command], deps: Deps) -> list[Appraisal]:
    """What the text of each command says; nothing with `off`, and for a command without a text of its own."""
    if deps.appraisal == "off":
        return [NOTHING] * len(commands)
    return [appraised_rows.appraise_command(command) for command in commands]
