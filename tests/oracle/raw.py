"""Records as an export says them, and the memories to which others point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.oracle.held import LINK, MEMORY, Held
from tests.oracle.shown import Shown

KEPT = tuple(name for name in MEMORY if name != "tags")
"""Tags lie beside a record."""


def exported(line: dict[str, Any]) -> Shown:
    """A record as a line of an export says it."""
    kept = line["properties"]
    of_links = line["kind"] == "link"
    content = [kept.get(name) for name in (LINK if of_links else KEPT)]
    times = [kept[name] for name in ("valid_at", "invalid_at", "created_at", "expired_at")]
    ends = (line["source_id"], line["target_id"]) if of_links else None
    reasons = (kept.get("invalidation_reason"), kept.get("closed_reason"))
    return (kept.get("id", line.get("of")), ends, kept.get("version") or 1, *content, *times, *reasons)


def raw(record: Held) -> Shown:
    """The same of the oracle's."""
    content = [record.content[name] for name in (KEPT if record.ends is None else LINK)]
    times = (record.valid_at, record.invalid_at, record.created_at, record.expired_at)
    return (record.id, record.ends, record.version, *content, *times, record.ended, record.closed)


def pointed_to(records: Sequence[Held]) -> list[tuple[str, str, int]]:
    """How many other memories point to each, where the link and both memories are among the records seen."""
    seen = {one.id: one for one in records if one.ends is None}
    ends = {one.ends for one in records if one.ends is not None}
    counted = [
        (len({source for source, target in ends if target == name and source != name and source in seen}), one)
        for name, one in seen.items()
    ]
    most = sorted((-count, one.content["name"], one.id) for count, one in counted if count)
    return [(identity, name, -count) for count, name, identity in most]
