"""Records and receipts in one form, as the engine tells them and as the oracle holds them."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from schemas.commands import WriteReceipt
from schemas.errors import NotFound
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship
from schemas.temporal import END_OF_TIME, to_instant
from tests.oracle.held import LINK, MEMORY, Held, Told

type Shown = tuple[Any, ...]


async def seen_or_none(reading: Awaitable[Any]) -> Any:
    """What is read, None when there is nothing at that moment."""
    try:
        return await reading
    except NotFound:
        return None


def as_told(receipt: WriteReceipt) -> Told:
    """A receipt as the oracle writes it."""
    if receipt.status == "refused":
        return Told("refused", receipt.problem)
    assert receipt.valid_at is not None
    assert receipt.created_at is not None
    return Told(
        receipt.status,
        None,
        receipt.version,
        to_instant(receipt.valid_at),
        END_OF_TIME if receipt.invalid_at is None else to_instant(receipt.invalid_at),
        to_instant(receipt.created_at),
        receipt.duplicate,
        any("not now" in warning for warning in receipt.warnings),
    )


def _ends(one: ConsciousnessNode | ConsciousnessRelationship) -> tuple[int, ...]:
    times = (one.valid_at, one.invalid_at, one.created_at, one.expired_at)
    return tuple(END_OF_TIME if at is None else to_instant(at) for at in times)


def of_node(node: ConsciousnessNode) -> Shown:
    content = tuple(getattr(node, name) for name in MEMORY)
    return (node.node_id, node.version, *content, *_ends(node), node.invalidation_reason, node.closed_reason)


def of_memory(record: Held) -> Shown:
    return (record.id, record.version, *(record.content[name] for name in MEMORY), *_times(record))


def of_bond(link: ConsciousnessRelationship) -> Shown:
    content = tuple(getattr(link, name) for name in LINK)
    ends = (link.source_id, link.target_id)
    return (link.link_id, ends, link.version, *content, *_ends(link), link.invalidation_reason, link.closed_reason)


def of_link(record: Held) -> Shown:
    content = (record.content[name] for name in LINK)
    return (record.id, record.ends, record.version, *content, *_times(record))


def _times(record: Held) -> tuple[Any, ...]:
    times = (record.valid_at, record.invalid_at, record.created_at, record.expired_at)
    why = "discovered_false" if record.closed == "undone" else record.closed
    return (*times, record.ended or why, record.closed)


def of_held(record: Held) -> Shown:
    """A record of either kind."""
    return of_memory(record) if record.ends is None else of_link(record)


def without_version(shown: Shown) -> Shown:
    """The same without its number: the first number but the ends of a link."""
    place = next(place for place, one in enumerate(shown) if type(one) is int)
    return (*shown[:place], *shown[place + 1 :])
