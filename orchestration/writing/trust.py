"""Who may change what: the rule of trust between sources. Pure.

A record says where it came from. What a citizen or a system said is not overwritten by a tool, by ingestion or by
upkeep; each of those may change only what weighs no more than itself. In its own N1 nothing outweighs the citizen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schemas.memory import Level, Source

MAY_CHANGE: Final[Mapping[Source, frozenset[Source]]] = {
    Source.SYSTEM: frozenset(Source),
    Source.CITIZEN: frozenset((Source.CITIZEN, Source.TOOL, Source.INGESTION, Source.UPKEEP)),
    Source.TOOL: frozenset((Source.TOOL, Source.INGESTION, Source.UPKEEP)),
    Source.INGESTION: frozenset((Source.INGESTION, Source.UPKEEP)),
    Source.UPKEEP: frozenset((Source.UPKEEP,)),
}
"""By source of a command, the sources whose records it may supersede, correct, resolve, retract or undo."""


def may_change(by: Source, record_of: Source, level: Level) -> bool:
    """Whether a command of source `by` may change a record of source `record_of` in a graph of this level."""
    own = level is Level.N1 and by is Source.CITIZEN
    return own or record_of in MAY_CHANGE[by]


def outweighs(one: Source, other: Source) -> bool:
    """Whether one source weighs more than the other."""
    return one not in MAY_CHANGE[other]


def lower(one: Source, other: Source) -> Source:
    """The one that weighs less."""
    return other if outweighs(one, other) else one


def fault(by: Source, record_of: Source, level: Level) -> str:
    """What is wrong when it may not, and who may."""
    able = ", ".join(source.value for source in Source if may_change(source, record_of, level))
    return f"a record of source {record_of} is not changed by {by}: only by {able}"
