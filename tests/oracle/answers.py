"""What the oracle answers: the nearest of a moment, and what two hops reach in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.oracle.held import Held, Window
from tests.oracle.likeness import distance, unit
from tests.oracle.store import Oracle

STARTS, FAR, FIRST_HOP, SECOND_STARTS, SECOND_HOP, NAMED, HITS = 10, 3, 4, 3, 3, 64, 16
"""How far a stream looks around (`six_queries.Reach`)."""
UNBOUND = 10_000


@dataclass(frozen=True)
class Reach:
    """How many are followed from where."""

    starts: int = STARTS
    far: int = FAR
    first_hop: int = FIRST_HOP
    second_starts: int = SECOND_STARTS
    second_hop: int = SECOND_HOP


EVERYWHERE = Reach(UNBOUND, UNBOUND, UNBOUND, UNBOUND, UNBOUND)

type Key = tuple[str, int]


def key(record: Held) -> Key:
    return record.id, record.version


def embedded(record: Held) -> str:
    """The text by which a memory is likened."""
    return f"{record.content['name']}. {record.content['description']}"


def words_of(record: Held) -> set[str]:
    """The words by which a memory is found."""
    return set(f"{record.content['name']} {record.content['description']} {record.content['goal'] or ''}".split())


@dataclass
class View:
    """A graph as one question sees it."""

    oracle: Oracle
    window: Window
    min_energy: float = 0.0

    def __post_init__(self) -> None:
        self.memories = self.oracle.memories(self.window, self.min_energy)
        self.links = self.oracle.links(self.window, self.min_energy)

    def nearest(self, text: str) -> list[tuple[float, Held]]:
        """All memories by likeness to the text, nearest first."""
        sought = unit(text)
        found = [(distance(sought, unit(embedded(record))), record) for record in self.memories]
        return sorted(found, key=lambda pair: (round(pair[0], 6), key(pair[1])))

    def named(self, names: Iterable[str]) -> list[Held]:
        """The memories that carry one of the names."""
        sought = set(names)
        return sorted((record for record in self.memories if record.content["name"] in sought), key=key)

    def holding(self, word: str) -> list[Held]:
        """The memories that hold the word."""
        return [record for record in self.memories if word in words_of(record)]

    def strongest(self, identity: str, limit: int, but: str | None = None) -> list[tuple[Held, str]]:
        """The strongest links of a memory, each with its other end."""
        there = [
            (link, end)
            for link in self.links
            if link.ends is not None and identity in link.ends
            for end in [link.ends[0] if link.ends[1] == identity else link.ends[1]]
            if end != but
        ]
        return sorted(there, key=lambda pair: strength(pair[0]))[:limit]

    def around(self, starts: Sequence[str], limit: int) -> Found:
        """What one hop reaches."""
        found = Found()
        for start in dict.fromkeys(starts):
            for link, end in self.strongest(start, limit):
                found.add(link, end)
        return found

    def walked(self, records: Sequence[Held], reach: Reach) -> Found:
        """What two hops reach from the starts, in their order."""
        return self.beyond([record.id for record in records], reach).with_all(Found(records))

    def beyond(self, starts: Sequence[str], reach: Reach) -> Found:
        """The same without the starts themselves."""
        found = self.around(starts[: reach.starts], reach.first_hop)
        for start in dict.fromkeys(starts[: reach.far]):
            for between in dict.fromkeys(end for _, end in self.strongest(start, reach.second_starts)):
                for link, end in self.strongest(between, reach.second_hop, but=start):
                    found.add(link, end)
        return found


def strength(link: Held) -> tuple[float, int, str, int]:
    """The strongest first, the newest of equals."""
    content: Mapping[str, float] = link.content
    return -content["energy"] * content["confidence"], -link.valid_at, link.id, -link.created_at


class Found:
    """Records of memories from which it started, memories that were reached, and by which link records."""

    def __init__(self, starts: Iterable[Held] = ()) -> None:
        self.starts = {key(record) for record in starts}
        self.ends: set[str] = set()
        self.links: set[Key] = set()

    def add(self, link: Held, end: str) -> None:
        self.ends.add(end)
        self.links.add(key(link))

    def with_all(self, other: Found) -> Found:
        """This and the other."""
        both = Found()
        both.starts = self.starts | other.starts
        both.ends = self.ends | other.ends
        both.links = self.links | other.links
        return both

    def memories(self, view: View) -> list[Held]:
        """The records found: what it started from, and all that is seen of what was reached."""
        return [record for record in view.memories if record.id in self.ends or key(record) in self.starts]

    def relations(self, view: View) -> list[Held]:
        """The links found."""
        return [link for link in view.links if key(link) in self.links]
