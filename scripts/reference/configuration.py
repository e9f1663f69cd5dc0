"""The settings: every name of the environment that is read, with its default."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from schemas.settings import (
    AuthSettings,
    ClientSettings,
    EmbeddingSettings,
    LanguageModelSettings,
    ServerSettings,
    StoreSettings,
)
from scripts.reference import markdown

GROUPS: tuple[tuple[str, type[BaseSettings]], ...] = (
    ("Store", StoreSettings),
    ("Embedding", EmbeddingSettings),
    ("Language model", LanguageModelSettings),
    ("Server", ServerSettings),
    ("Who may come in", AuthSettings),
    ("Clients", ClientSettings),
)
ABOUT = """\
Settings are read from the environment when a command starts. Where several names are given the first that is set
counts; an empty one counts as not set. A value that does not fit is refused at the start, by name."""


def page() -> str:
    """The page: a table for each group."""
    parts = [part for title, group in GROUPS for part in _group(title, group)]
    return markdown.page("Configuration", ABOUT, *parts)


def _group(title: str, group: type[BaseSettings]) -> Iterator[str]:
    yield f"## {title}"
    yield markdown.paragraphs(group.__doc__)
    rows = (
        (_named(names_of(name, field)), default_of(field), field.description or "")
        for name, field in group.model_fields.items()
    )
    yield markdown.table(("variable", "default", "meaning"), rows)


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(map(markdown.code, names))


def names_of(name: str, field: FieldInfo) -> tuple[str, ...]:
    """The names of the environment that set the field, in the order in which they are looked for."""
    alias = field.validation_alias
    return tuple(map(str, alias.choices)) if isinstance(alias, AliasChoices) else (f"SUBSTRATE_{name.upper()}",)


def default_of(field: FieldInfo) -> str:
    """What counts when nothing is set; a directory of the platform is not shown, each machine has another."""
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Path):
        return ""
    return "" if value is None or value == () else markdown.code(value)
