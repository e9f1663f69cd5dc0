"""What an answer says of memories and links of which it cannot show everything. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemas.memory import ConsciousnessNode, ConsciousnessRelationship

MOST_TOLD: Final = 100
REMEDY: Final = "`substrate validate --fix unreadable` mends it"


def left_out(shown: Iterable[ConsciousnessNode | ConsciousnessRelationship]) -> tuple[str, ...]:
    """One line for each record, once, of which a field was left out; behind the first hundred how many more."""
    lines = dict.fromkeys(_line(one) for one in shown if one.unreadable)
    told = tuple(lines)[:MOST_TOLD]
    return told if len(told) == len(lines) else (*told, f"and {len(lines) - len(told)} more")


def _line(one: ConsciousnessNode | ConsciousnessRelationship) -> str:
    what = f"memory {one.node_id}" if isinstance(one, ConsciousnessNode) else f"link {one.link_id}"
    fields = ", ".join(one.unreadable)
    return f"{what} of {one.level}, version {one.version}: {fields} cannot be shown and was left out; {REMEDY}"
