"""The command line: every command with its arguments and options."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from api.cli import program
from scripts.reference import markdown

ABOUT = """\
`substrate [--data DIR] COMMAND`. It works on the store itself, whether a service runs on it or not, and needs no
key. Global options come first. Every command has `--help`."""
ENDS = (
    (0, "all went well"),
    (program.EXIT_FAULT, "a fault of the store or the engine"),
    (program.EXIT_USAGE, "the command cannot be carried out as it stands"),
    (program.EXIT_NOT_FOUND, "there is no such memory, citizen or file of them"),
    (program.EXIT_CONFLICT, "it clashes with what is stored"),
    (program.EXIT_UNAVAILABLE, "the engine or the service cannot be reached; try again"),
    (program.EXIT_DEFECT, "a defect; please report it"),
    (program.EXIT_INTERRUPTED, "interrupted"),
)


def page() -> str:
    """The page: commands by name, then what the exit codes mean."""
    commands = [
        part for name in program.COMMANDS for part in _commands(f"substrate {name}", program.load_command(name))
    ]
    codes = markdown.table(("code", "meaning"), ((f"`{code}`", meaning) for code, meaning in ENDS))
    return markdown.page("Command line", ABOUT, *commands, "## Exit codes", codes)


def _commands(name: str, command: Any) -> Iterator[str]:
    """The command, or those of a group; a group is named by its commands alone."""
    for below, one in getattr(command, "commands", {}).items():
        yield from _commands(f"{name} {below}", one)
    if not hasattr(command, "commands"):
        words = [p.metavar or p.name.upper() for p in command.params if p.param_type_name == "argument"]
        usage = " ".join((name, *words))
        yield f"## {name}\n\n{markdown.paragraphs(inspect.cleandoc(command.help))}\n\n`{usage}`"
        yield markdown.table(("option", "default", "meaning"), map(_parameter, command.params))


def _parameter(said: Any) -> tuple[str, str, str]:
    value = said.metavar or said.name.upper()
    if said.param_type_name == "option":
        flag = said.type_descriptor.annotation is bool
        value = ", ".join(said.opts) + ("" if flag else f" {said.metavar or 'X'}")
    shown = "" if said.default in (None, False) else f"`{said.default}`"
    return f"`{value}`", "required" if said.required else shown, said.help or ""
