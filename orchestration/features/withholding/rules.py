"""Which memories policies do not keep, and what a quarantine does to one: hide it, take back, or keep it. Pure.

Policies are independent of each other: what one of them does not keep is reached, whatever another one keeps. So a
policy may be added without reading the others, and a general one and a stricter one for a tag work together.

The records of an identity tell its changes: each has a moment and a writer. A change is tainted when it is what
the quarantine is about, or follows from that. The citizen's own change wins: what it says on top of a tainted
change stays. What others built on a tainted change goes with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop
from typing import Any, Final, Literal, NamedTuple

import orjson

from orchestration.appraisal.names import Kind
from orchestration.features.withholding.values import ASKS_FROM, PolicyRule
from orchestration.writing.changes import record_source
from schemas.memory import ResolutionState, Source
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant
from substrate import bitemporal
from substrate.bitemporal import Record, is_open

DAY_US: Final = 86_400_000_000
NAMES: Final = frozenset((*(kind.value for kind in Kind), "Self"))
"""Types of memories that a policy without a type is not about: texts mention them."""

type Place = tuple[Instant, str]
"""The order of memories by age: when, then the id, so that equal times have an order."""


class Row(NamedTuple):
    """What a policy asks of a memory. `written`: when its record became known; `happened`: when that began."""

    id: str
    name: str
    source: Source
    node_type: str
    tags: tuple[str, ...]
    state: ResolutionState | None
    written: Instant
    happened: Instant


def is_about(rule: PolicyRule, row: Row) -> bool:
    """True when the rule is about the memory, kept or not."""
    if rule.node_type is None and row.node_type in NAMES:
        return False
    fits_type = rule.node_type in (None, row.node_type)
    fits_tag = rule.tag is None or rule.tag.lstrip("#") in row.tags
    return fits_type and fits_tag and rule.source in (None, row.source)


def place(rule: PolicyRule, row: Row) -> Place:
    """Where the memory stands in the order of age."""
    return (row.written if rule.age == "written" else row.happened), row.id


class NewestCut:
    """Finds the place of the oldest of the N newest memories, in one pass."""

    def __init__(self, newest: int) -> None:
        self._newest = newest
        self._heap: list[Place] = []

    def add(self, at: Place) -> None:
        if len(self._heap) < self._newest:
            heappush(self._heap, at)
        else:
            heappushpop(self._heap, at)

    @property
    def place(self) -> Place | None:
        """The place of the N-th newest; None when there are fewer."""
        return self._heap[0] if len(self._heap) == self._newest else None


def is_kept(rule: PolicyRule, row: Row, now: Instant, cut: Place | None) -> bool:
    """True when the rule keeps a memory that it is about. `cut`: that of `NewestCut`."""
    at = place(rule, row)
    if rule.keep_days is not None and at[0] > now - round(rule.keep_days * DAY_US):
        return True
    if rule.keep_newest is not None and (cut is None or at >= cut):
        return True
    return rule.keep_until_resolved and row.state is not ResolutionState.RESOLVED


def reached_by(rule: PolicyRule, rows: Sequence[Row], now: Instant, cut: Place | None) -> list[Row]:
    """The memories among some that the rule does not keep."""
    return [row for row in rows if is_about(rule, row) and not is_kept(rule, row, now, cut)]


def asks(reached_count: int, total: int, confirmed: int) -> bool:
    """True when this many memories may not be reached without asking: more than the share, and than confirmed."""
    return reached_count > confirmed and reached_count > ASKS_FROM * total


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
    changes: list[Moment] = []
    for at in sorted(
        {record.known.start for record in records} | {r.known.end for r in records if not is_open(r)}
    ):
        closed = tuple(record for record in records if record.known.end == at)
        opened = tuple(record for record in records if record.known.start == at)
        writers = [(r.closed_source, r.closed_key, r.closed_by) for r in closed if r.closed_source is not None]
        writers += [(record_source(r), r.key_id, r.command_id) for r in (*opened, *closed)]
        source, key_id, command_id = writers[0]
        if not (command_id or "").startswith(PREFIX):
            changes.append(Moment(at, source or Source.CITIZEN, key_id, command_id, closed, opened))
    return changes


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
    return (
        CLEAN
        if _said_values(before) == _said_values(bitemporal.open_records(records))
        else Verdict("take_back", since)
    )


def _said_values(records: Sequence[Record]) -> list[tuple[Any, ...]]:
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
    beside: set[Instant] = set()
    for each in later:
        if any(0 <= at - each.at <= within for at in mentioned_at):
            beside.add(each.at)
    return beside
