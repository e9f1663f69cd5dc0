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
    UpkeepSettings,
)
from scripts.reference import markdown

GROUPS: tuple[tuple[str, type[BaseSettings]], ...] = (
    ("Store", StoreSettings),
    ("Embedding", EmbeddingSettings),
    ("Language model", LanguageModelSettings),
    ("Server", ServerSettings),
    ("Upkeep", UpkeepSettings),
    ("Access", AuthSettings),
    ("Clients", ClientSettings),
)
ABOUT = """\
A command reads settings from the environment when it starts. Where a row has several names, the first one that
is set is used; an empty value counts as not set. An invalid value is refused at the start, with the name of its
variable."""


def page() -> str:
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
    """The environment variables that set the field, in the order in which they are read."""
    alias = field.validation_alias
    return tuple(map(str, alias.choices)) if isinstance(alias, AliasChoices) else (f"SUBSTRATE_{name.upper()}",)


def default_of(field: FieldInfo) -> str:
    """The default as code; empty for a directory, which differs on each machine."""
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Path):
        return ""
    return "" if value is None or value == () else markdown.code(value)
