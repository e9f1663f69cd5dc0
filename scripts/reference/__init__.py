"""The reference pages of the documentation, made from the program itself when the site is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from scripts.reference import cli, configuration, python, rest, tools, values

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "rest.md": rest.page,
    "values.md": values.page,
    "python.md": python.page,
    "cli.md": cli.page,
    "tools.md": tools.page,
    "configuration.md": configuration.page,
}
"""The pages of `docs/reference/`, each with the function that returns its Markdown."""
