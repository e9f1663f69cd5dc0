"""The help of every command says what is written in the code: markup takes nothing from it and adds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rich.text import Text

from api.cli.program import COMMANDS, load_command


def helps(command: Any) -> Iterator[str]:
    """The texts of a command, of its options, and of the commands below it."""
    yield command.help or ""
    for parameter in command.params:
        yield from (getattr(parameter, "help", None) or "", parameter.metavar or "")
    for below in getattr(command, "commands", {}).values():
        yield from helps(below)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_help_text_is_read_as_markup_or_as_the_name_of_an_emoji(name: str) -> None:
    texts = [COMMANDS[name], *helps(load_command(name))]
    assert [text for text in texts if Text.from_markup(text).plain != text] == []
