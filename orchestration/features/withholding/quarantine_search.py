"""Finds everything that a quarantine reaches: what came from there, and what follows from it. Reads only."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Final, NamedTuple

from orchestration.features.withholding import quarantine_rules as rules
from orchestration.features.withholding import queries as store
from orchestration.features.withholding.quarantine_rules import OWN, Suspect, Verdict
from orchestration.features.withholding.values import ThingKind, Why
from orchestration.identifiers import link_name
from orchestration.writing.mentions import KINDS
from schemas.temporal import BEGINNING_OF_TIME, Instant
from substrate import bitemporal
from substrate.bitemporal import Record
from substrate.graphs.graph import Graph
from substrate.store import transactions
from substrate.store.changesets import RecordSelection

READ_AT_ONCE: Final = 50
BESIDE_US: Final = 2000
"""The memories and links that are made of the names in some texts get times a microsecond apart, 600 texts at most
at once."""


class Decision(NamedTuple):
    """What happens to a memory or link. `version`: the record that was judged; None where nothing of it holds."""

    kind: ThingKind
    id: str
    verdict: Verdict
    why: Why
    version: int | None = None

    @property
    def changes(self) -> bool:
        return self.verdict.fate in ("hide", "take_back")


@dataclass(slots=True)
class Search:
    """A search of one graph. `decided`: by kind and id; what is clean is left out."""

    graph: Graph
    suspect: Suspect
    now: Instant
    decided: dict[tuple[ThingKind, str], Decision] = field(default_factory=dict)
    _links: dict[str, None] = field(default_factory=dict)
    _ways: Counter[str] = field(default_factory=Counter)
    _also: defaultdict[str, set[Instant]] = field(default_factory=lambda: defaultdict(set))

    async def run(self) -> list[Decision]:
        """All decisions, memories first. Raises as `Graph.read`."""
        is_about_links = self.suspect.speaker is None and self.suspect.tag is None
        net: dict[str, str | int] = {
            "source": "" if self.suspect.source is None else self.suspect.source.value,
            "key": self.suspect.key_id or "",
            "episode": self.suspect.episode_id or "",
            "since": self.suspect.since,
            "until": self.suspect.until,
        }
        async for page in store.read_suspects(self.graph, net, links=is_about_links):
            await self._judge(page.memories, "came_from_there")
            self._links.update(dict.fromkeys(page.links))
        followed: set[str] = set()
        while new := [each for each in self.hidden() if each not in followed]:
            followed.update(new)
            await self._follow(new)
        await self._judge_links()
        return sorted(self.decided.values(), key=lambda each: each.kind == "link")

    def hidden(self) -> list[str]:
        """The ids of the memories that are hidden."""
        return [key[1] for key, each in self.decided.items() if key[0] == "memory" and each.verdict.fate == "hide"]

    async def _follow(self, ids: Sequence[str]) -> None:
        """Judge what follows from memories that are hidden."""
        await self._judge(await store.read_general(self.graph, ids), "generalisation", derived=True)
        bare = await store.read_bare_names(self.graph, ids, KINDS, [source.value for source in OWN])
        for name in bare:
            self._ways[name.id] += name.ways
        only_here = [name.id for name in bare if self._ways[name.id] >= name.links]
        await self._judge(only_here, "name", derived=True)
        for memory_id, at in await store.read_resolved(self.graph, ids):
            self._also[memory_id].add(at)
            await self._judge([memory_id], "resolution")
        mentioned = await store.read_mentioned(self.graph, ids)
        for memory_id, records in (await read_memories(self.graph, mentioned)).items():
            beside = rules.changed_beside(records, mentioned[memory_id], BESIDE_US)
            self._also[memory_id] |= beside
            if beside:
                await self._judge([memory_id], "name_change")

    async def _judge(self, ids: Iterable[str], why: Why, *, derived: bool = False) -> None:
        open_ids = [each for each in ids if self._is_undecided(each)]
        for memory_id, records in (await read_memories(self.graph, open_ids)).items():
            also = self._also[memory_id]
            verdict = rules.judge(records, self.suspect, also, derived=derived)
            self._decide("memory", memory_id, verdict, records, why=why)

    def _is_undecided(self, memory_id: str) -> bool:
        """What is hidden stays hidden; what is to be taken back may have to be hidden instead."""
        decided = self.decided.get(("memory", memory_id))
        return decided is None or decided.verdict.fate in ("take_back", "clean")

    def _decide(
        self, kind: ThingKind, record_id: str, verdict: Verdict, records: Sequence[Record], *, why: Why
    ) -> None:
        if verdict.fate == "clean":
            return
        holds = bitemporal.open_records(records)
        moment = verdict.start if verdict.fate == "hide" else self.now
        version = bitemporal.held_at(holds, moment).version if holds else None
        self.decided[kind, record_id] = Decision(kind, record_id, verdict, why, version)

    async def _judge_links(self) -> None:
        ending = set(await store.read_links_at(self.graph, self.hidden()))
        for link_id, records in (await read_links(self.graph, [*ending, *self._links.keys() - ending])).items():
            verdict = rules.end_of_link(records) if link_id in ending else rules.judge(records, self.suspect)
            is_suspect = link_id in self._links or link_id not in ending
            why: Why = "came_from_there" if is_suspect else "link_of_hidden"
            self._decide("link", link_id, verdict, records, why=why)


async def read_memories(graph: Graph, ids: Iterable[str]) -> dict[str, Sequence[Record]]:
    """All records of some memories, by id. Raises as `Graph.read`."""
    every = RecordSelection(BEGINNING_OF_TIME, every=True)
    found: dict[str, Sequence[Record]] = {}
    for group in batched(dict.fromkeys(ids), READ_AT_ONCE):
        stored = await transactions.read_memories(graph, dict.fromkeys(group, every))
        found |= {memory_id: each.records for memory_id, each in stored.items()}
    return found


async def read_links(graph: Graph, ids: Iterable[str]) -> Mapping[str, Sequence[Record]]:
    """All records of some links, by id. Raises as `Graph.read`."""
    found: dict[str, Sequence[Record]] = {}
    for group in batched(dict.fromkeys(ids), READ_AT_ONCE):
        stored = await transactions.read_links(graph, list(map(link_name, group)))
        found |= {link_id: each.records for link_id, each in stored.items()}
    return found
