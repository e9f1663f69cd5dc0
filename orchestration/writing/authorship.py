"""Who may change, end or erase a shared record: its author, or a steward. Pure.

A record of N2 and N3 keeps its author, whoever changes it. One without an author is everybody's. Others contest it
(`orchestration.features.sharing.flow`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from schemas.commands import Writer
from schemas.memory import Level


def may_change_as(writer: Writer, author: str | None, level: Level) -> bool:
    """True when the writer may change a record of this author in a graph of this level."""
    return level is Level.N1 or writer.steward or author is None or author == writer.author


def may_erase_as(writer: Writer, authors: Iterable[str | None], level: Level) -> bool:
    """True when the writer may erase a memory whose records, past ones too, have these authors.

    What has no author is erased by a steward alone: nobody could bring it back.
    """
    return level is Level.N1 or writer.steward or {*authors} == {writer.author} != {None}


def author_fault(record_id: str, author: str | None, writer: Writer) -> str:
    """The error text when the writer may not change a record of this author."""
    whose = f"was written by {author}" if author else "has no author"
    return (
        f"{record_id} {whose}, and only its author or a steward changes it; this is {writer.author or 'neither'}"
    )


def kept_author(content: Mapping[str, Any], writer: Writer) -> str | None:
    """The author of a record after a change: the one it has, else the writer."""
    return content.get("author") or writer.author
