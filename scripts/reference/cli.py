"""The command line: every command with its arguments and options."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from api.cli import program
from scripts.reference import markdown

ABOUT = """\
`substrate [--data DIR] COMMAND`. The commands work on the store itself, whether a service uses it or not, and
need no key. Put global options first. Every command has `--help`."""
EXIT_CODES = (
    (0, "success"),
    (program.EXIT_FAULT, "a fault of the store or the engine"),
    (program.EXIT_USAGE, "the command is wrong or cannot be applied"),
    (program.EXIT_NOT_FOUND, "no such memory, citizen or file"),
    (program.EXIT_CONFLICT, "the command conflicts with what is stored"),
    (program.EXIT_UNAVAILABLE, "the engine or the service cannot be reached; try again"),
    (program.EXIT_DEFECT, "a defect of the program; please report it"),
    (program.EXIT_INTERRUPTED, "interrupted"),
)


def page() -> str:
    commands = [
        part for name in program.COMMANDS for part in _commands(f"substrate {name}", program.load_command(name))
    ]
    codes = markdown.table(("code", "meaning"), ((f"`{code}`", meaning) for code, meaning in EXIT_CODES))
    return markdown.page("Command line", ABOUT, *commands, "## Exit codes", codes)


def _commands(name: str, command: Any) -> Iterator[str]:
    """The section of a command, or of each command in a group."""
    for below, subcommand in getattr(command, "commands", {}).items():
        yield from _commands(f"{name} {below}", subcommand)
    if not hasattr(command, "commands"):
        words = [p.metavar or p.name.upper() for p in command.params if p.param_type_name == "argument"]
        usage = " ".join((name, *words))
        yield f"## {name}\n\n{markdown.paragraphs(inspect.cleandoc(command.help))}\n\n`{usage}`"
        yield markdown.table(("option", "default", "meaning"), map(_parameter, command.params))


def _parameter(parameter: Any) -> tuple[str, str, str]:
    value = parameter.metavar or parameter.name.upper()
    if parameter.param_type_name == "option":
        flag = parameter.type_descriptor.annotation is bool
        value = ", ".join(parameter.opts) + ("" if flag else f" {parameter.metavar or 'X'}")
    shown = "" if parameter.default in (None, False) else f"`{parameter.default}`"
    return f"`{value}`", "required" if parameter.required else shown, parameter.help or ""
