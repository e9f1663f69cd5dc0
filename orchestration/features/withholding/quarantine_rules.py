"""What a quarantine does to one memory or link: hide it, take back what was done to it, or keep it. Pure.

The records of an identity tell its changes: each has a moment and a writer. A change is tainted when it is what
the quarantine is about, or follows from that. The citizen's own change wins: what it says on top of a tainted
change stays. What others built on a tainted change goes with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import orjson

from orchestration.writing.changes import record_source
from schemas.memory import Source
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant
from substrate import bitemporal
from substrate.bitemporal import Record, is_open

PREFIX: Final = "quarantine-"
"""Prefix of the ids of the commands of quarantines; they are nobody's own change."""
OWN: Final = frozenset((Source.CITIZEN, Source.SYSTEM))


@dataclass(frozen=True, slots=True)
class Suspect:
    """What a quarantine is about; None where it does not matter. Times are transaction times, closed-open."""

    source: Source | None = None
    episode_id: str | None = None
    key_id: str | None = None
    speaker: str | None = None
    tag: str | None = None
    since: Instant = BEGINNING_OF_TIME
    until: Instant = END_OF_TIME


class Moment(NamedTuple):
    """A change of an identity: when, by whom, and what it closed and opened."""

    at: Instant
    source: Source
    key_id: str | None
    command_id: str | None
    closed: tuple[Record, ...]
    opened: tuple[Record, ...]


class Verdict(NamedTuple):
    """`hide`: every record from `start` on is retracted. `take_back`: every change since `start` is undone."""

    fate: Literal["clean", "kept", "hide", "take_back"]
    start: Instant = 0


CLEAN: Final = Verdict("clean")


def moments(records: Sequence[Record]) -> list[Moment]:
    """The changes of an identity, oldest first, without those of quarantines and their releases."""
    times = {record.known.start for record in records} | {r.known.end for r in records if not is_open(r)}
    changes = (_moment(records, at) for at in sorted(times))
    return [change for change in changes if not (change.command_id or "").startswith(PREFIX)]


def _moment(records: Sequence[Record], at: Instant) -> Moment:
    closed = tuple(record for record in records if record.known.end == at)
    opened = tuple(record for record in records if record.known.start == at)
    writers = [(r.closed_source, r.closed_key, r.closed_by) for r in closed if r.closed_source is not None]
    writers += [(record_source(r), r.key_id, r.command_id) for r in (*opened, *closed)]
    source, key_id, command_id = writers[0]
    return Moment(at, source or Source.CITIZEN, key_id, command_id, closed, opened)


def is_tainted(moment: Moment, suspect: Suspect) -> bool:
    """True when the change is what the quarantine is about.

    A quarantine of an episode, a speaker or a tag is about what was first written so, not about later changes.
    """
    if not suspect.since <= moment.at < suspect.until:
        return False
    if suspect.source is not None and moment.source is not suspect.source:
        return False
    if suspect.key_id is not None and moment.key_id != suspect.key_id:
        return False
    if (suspect.episode_id, suspect.speaker, suspect.tag) == (None, None, None):
        return True
    return not moment.closed and any(_fits(record.content, suspect) for record in moment.opened)


def _fits(content: Mapping[str, Any], suspect: Suspect) -> bool:
    if suspect.episode_id is not None and content.get("episode_id") != suspect.episode_id:
        return False
    if suspect.speaker is not None and (content.get("speaker") or "").casefold() != suspect.speaker.casefold():
        return False
    return suspect.tag is None or suspect.tag.lstrip("#") in orjson.loads(content.get("tags") or "[]")


def judge(
    records: Sequence[Record], suspect: Suspect, also: Collection[Instant] = (), *, derived: bool = False
) -> Verdict:
    """What a quarantine does to one identity. `also`: moments of changes that follow from what is hidden.

    `derived`: the identity was made of what is hidden, so that its first change is tainted, whoever made it.
    """
    changes = moments(records)
    tainted = [is_tainted(each, suspect) or each.at in also for each in changes]
    if derived and changes:
        tainted[0] = True
    own = [i for i, each in enumerate(changes) if each.source in OWN and not tainted[i]]
    after = own[-1] + 1 if own else 0
    first = next((i for i in range(after, len(changes)) if tainted[i]), None)
    if first is None:
        stays = any(tainted[:after]) and bool(bitemporal.open_records(records))
        return Verdict("kept") if stays else CLEAN
    since = changes[first].at
    before = bitemporal.known_before(records, since)
    if not before:
        return end_of_link(records)
    return CLEAN if _said(before) == _said(bitemporal.open_records(records)) else Verdict("take_back", since)


def _said(records: Sequence[Record]) -> list[tuple[Any, ...]]:
    return [(record.valid, record.content) for record in records]


def end_of_link(records: Sequence[Record]) -> Verdict:
    """What a quarantine does to a link of a memory that it hides: the link ends with it, whoever made it."""
    holds = bitemporal.open_records(records)
    return Verdict("hide", holds[0].valid.start) if holds else CLEAN


def changed_beside(records: Sequence[Record], mentioned_at: Collection[Instant], within: int) -> set[Instant]:
    """The changes of a name that were made with the links from hidden texts: at most `within` µs before one.

    A text that tells an alias or an earlier time changes the memory of the name, just before it is linked.
    """
    later = [each for each in moments(records)[1:] if each.source not in OWN]
    return {each.at for each in later if _is_beside(each.at, mentioned_at, within)}


def _is_beside(changed_at: Instant, mentioned_at: Collection[Instant], within: int) -> bool:
    return any(0 <= at - changed_at <= within for at in mentioned_at)
