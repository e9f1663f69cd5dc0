"""Hides what came from a distrusted source, then releases it as a whole or lets it stay hidden for good.

A quarantine is ordinary commands with ids of its own: retractions, and undos of what was changed. So every way of
asking obeys at once, and the present before it can be asked for with `known_at`. The receipts of the commands tell
what is to be released.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched
from typing import Any, Final, NamedTuple
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.features.withholding import queries as store
from orchestration.features.withholding import rules
from orchestration.features.withholding.queries import StoredQuarantine
from orchestration.features.withholding.values import (
    MOST_THINGS,
    Quarantine,
    QuarantineChange,
    QuarantinedThing,
    QuarantineRequest,
    QuarantinesAnswer,
    ThingKind,
    Why,
)
from orchestration.identifiers import link_name
from orchestration.mind.state import restore_state
from orchestration.writing import atomic
from orchestration.writing.mentions import KINDS
from schemas.base import Identifier
from schemas.collectives import GraphRequest
from schemas.commands import CHANGES, ChangeCommand, Writer, WriteReceipt, subject_of
from schemas.errors import Conflict, NotFound, StoreTimeout
from schemas.memory import Level, Source, graph_fields
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant, to_datetime, to_instant
from substrate import bitemporal
from substrate.bitemporal import Record
from substrate.graphs.graph import Graph
from substrate.store import reader, transactions
from substrate.store.changesets import RecordSelection
from substrate.store.reader import read_clock
from substrate.store.rows import StoredReceipt

COMMANDS_AT_ONCE: Final = 25
"""Each may move a record with two indexed vectors, and the engine ends a statement after a second."""
MOST_PASSES: Final = 4
"""What was written meanwhile is hidden too: the search is done again until it finds nothing, at most so often."""
NOBODY: Final = Writer()


class _Order(NamedTuple):
    """A graph, and who orders what is done there."""

    graph: Graph
    deps: Deps
    request: GraphRequest
    by: Source
    writer: Writer


@dataclass(slots=True)
class _Tally:
    """What became of the things of a quarantine, by kind and id."""

    things: dict[tuple[str, str], QuarantinedThing] = field(default_factory=dict)

    def add(self, decision: Decision, *, refused: bool = False) -> None:
        fate = "refused" if refused else _FATES[decision.verdict.fate]
        key = (decision.kind, decision.id)
        self.things[key] = QuarantinedThing(kind=decision.kind, id=decision.id, fate=fate, why=decision.why)

    def has_refused(self, decision: Decision) -> bool:
        thing = self.things.get((decision.kind, decision.id))
        return thing is not None and thing.fate == "refused"

    def hidden_memories(self) -> list[str]:
        return [each.id for each in self.things.values() if each.kind == "memory" and each.fate == "hidden"]

    def counts(self) -> dict[str, int]:
        things = self.things.values()
        hidden = [each for each in things if each.fate == "hidden"]
        fates = Counter(each.fate for each in things)
        return {
            "memories": sum(each.kind == "memory" for each in hidden),
            "links": sum(each.kind == "link" for each in hidden),
            **{fate: fates[fate] for fate in ("taken_back", "kept", "refused")},
        }


_FATES: Final[Mapping[str, Any]] = {"hide": "hidden", "take_back": "taken_back", "kept": "kept"}


async def quarantine(request: QuarantineRequest, deps: Deps, now: Instant, writer: Writer = NOBODY) -> Quarantine:
    """Hide what was written by a source, in an episode, with a key or since a time, and what follows from it.

    It answers when all of it is hidden. With `dry_run` nothing is changed, and the answer lists what would be.

    Raises NotFound when the graph does not exist, Unavailable when the engine does not answer. What is written
    meanwhile is hidden too. If it is interrupted, the same request hides the rest, and what was hidden can be
    released.
    """
    order = await _order(request, deps, writer)
    before = await read_clock(order.graph, now)
    shown = Quarantine(
        **graph_fields(request.graph_key),
        citizen_id=request.citizen_id,
        status="dry_run" if request.dry_run else "nothing",
        request=request,
        begun_at=to_datetime(now),
        known_before=to_datetime(before),
    )
    tally, names = _Tally(), ("source", "episode_id", "key_id", "speaker", "tag")
    since = BEGINNING_OF_TIME if request.since is None else to_instant(request.since)
    until = END_OF_TIME if request.until is None else to_instant(request.until)
    suspect = rules.Suspect(**{name: getattr(request, name) for name in names}, since=since, until=until)
    kept = StoredQuarantine(f"{rules.PREFIX}{uuid4().hex}", max(now, before + 1), 0, {})
    state = await _take_back_state(order, suspect, kept.id, now)
    shown = shown.model_copy(update={"state": state})
    if request.dry_run:
        for decision in await Search(order.graph, suspect, now).run():
            tally.add(decision)
        return shown.model_copy(update={**tally.counts(), "things": await _things(order.graph, tally)})
    shown = shown.model_copy(update={"id": kept.id})
    kept = await _hide_all(order, suspect, kept._replace(data=_data(shown, "hiding")), tally, now=now)
    shown = shown.model_copy(update={**tally.counts(), "things": await _things(order.graph, tally)})
    if not kept.used and not state:
        return shown.model_copy(update={"id": None})
    held = await store.hold_feedback(order.graph, kept.id, tally.hidden_memories(), now)
    ended = to_datetime(await read_clock(order.graph, now))
    shown = shown.model_copy(update={"status": "hidden", "feedback": held, "ended_at": ended})
    await store.write_quarantine(order.graph, kept._replace(data=_data(shown, "hidden")))
    return shown


async def _hide_all(
    order: _Order, suspect: rules.Suspect, kept: StoredQuarantine, tally: _Tally, *, now: Instant
) -> StoredQuarantine:
    """Hide until a search finds nothing new. The quarantine is stored before each list of commands."""
    for _ in range(MOST_PASSES):
        found = await Search(order.graph, suspect, now).run()
        for decision in found:
            if decision.verdict.fate == "kept":
                tally.add(decision)
        changes = [decision for decision in found if decision.changes and not tally.has_refused(decision)]
        if not changes:
            break
        for group in batched(changes, COMMANDS_AT_ONCE):
            first = kept.used
            kept = kept._replace(used=first + len(group))
            await store.write_quarantine(order.graph, kept)
            numbered = enumerate(group, start=first)
            commands = [_command(decision, f"{kept.id}-{number}", order) for number, decision in numbered]
            for decision, receipt in zip(group, await _apply(commands, order.deps, now), strict=True):
                if receipt.status == "stored" or receipt.problem == "not-trusted":
                    tally.add(decision, refused=receipt.status == "refused")
    return kept


async def _take_back_state(order: _Order, suspect: rules.Suspect, mark: str, now: Instant) -> tuple[str, ...]:
    """The fields of the state that the quarantine is about, which say from now on what they said before."""
    request = order.request

    def earlier(by: Mapping[str, Any]) -> int | None:
        if by.get("source") is None:
            return None
        at, source = to_instant(datetime.fromisoformat(by["at"])), Source(by["source"])
        is_meant = rules.is_tainted(rules.Moment(at, source, by["key_id"], None, (), ()), suspect)
        return int(by["over"]) if is_meant else None

    if request.level is not Level.N1 or request.citizen_id is None:
        return ()
    dry_run = isinstance(request, QuarantineRequest) and request.dry_run
    return await restore_state(request.citizen_id, earlier, order.deps, now, mark=mark, dry_run=dry_run)


async def release(
    quarantine_id: Identifier, request: QuarantineChange, deps: Deps, now: Instant, *, writer: Writer = NOBODY
) -> Quarantine:
    """Bring back everything that it hid, but what was changed since. Released again, nothing happens.

    Raises NotFound for an unknown graph or quarantine, Conflict for one that was made final.
    """
    order = await _order(request, deps, writer)
    kept, shown = await _find(order, quarantine_id)
    if shown.status == "retracted":
        fault = f"{quarantine_id} was made final: what it hid stays retracted"
        raise Conflict(fault, remedy="Undo the retraction of a memory by itself.")
    if shown.status == "released":
        return shown
    await store.write_quarantine(order.graph, kept._replace(data=_data(shown, "releasing")))
    done = refused = 0
    for numbers in batched(range(kept.used), COMMANDS_AT_ONCE):
        receipts = await reader.receipts(order.graph, [f"{kept.id}-{number}" for number in numbers])
        # Erased memories have no receipts.
        answers = await _apply([_undo(each, order) for each in receipts.values() if each.id], deps, now)
        done += sum(answer.status == "stored" for answer in answers)
        refused += sum(answer.status == "refused" for answer in answers)
    await store.release_feedback(order.graph, kept.id, now)
    if request.citizen_id is not None and shown.state:
        await restore_state(
            request.citizen_id, lambda by: by["held"] if by.get("quarantine") == kept.id else None, deps, now
        )
    status = "hidden" if refused and not done else "released"
    ended = to_datetime(await read_clock(order.graph, now))
    shown = shown.model_copy(update={"status": status, "not_released": refused, "ended_at": ended})
    await store.write_quarantine(order.graph, kept._replace(data=_data(shown, status)))
    return shown


async def retract(quarantine_id: Identifier, request: QuarantineChange, deps: Deps, now: Instant) -> Quarantine:
    """Make it final: what it hid stays retracted, and the feedback that it put aside is removed.

    Raises NotFound for an unknown graph or quarantine, Conflict for one that was released.
    """
    order = await _order(request, deps, NOBODY)
    kept, shown = await _find(order, quarantine_id)
    if shown.status in ("released", "releasing"):
        fault = f"{quarantine_id} was released: there is nothing to retract"
        raise Conflict(fault, remedy="Quarantine the source again.")
    await store.drop_feedback(order.graph, kept.id)
    shown = shown.model_copy(update={"status": "retracted", "ended_at": to_datetime(now)})
    await store.write_quarantine(order.graph, kept._replace(data=_data(shown, "retracted")))
    return shown


async def read_quarantine(quarantine_id: Identifier, request: GraphRequest, deps: Deps) -> Quarantine:
    """A quarantine with the first things that it hid.

    Raises NotFound for an unknown graph or quarantine.
    """
    return (await _find(await _order(request, deps, NOBODY), quarantine_id))[1]


async def list_quarantines(request: GraphRequest, deps: Deps) -> QuarantinesAnswer:
    """The quarantines of a graph, the newest first."""
    graph = await deps.graph_if_any(request.graph_key, request.citizen_id)
    stored = [] if graph is None else await store.read_quarantines(graph)
    shown = (Quarantine(**each.data).model_copy(update={"things": ()}) for each in stored)
    return QuarantinesAnswer(quarantines=tuple(shown))


async def _order(request: GraphRequest, deps: Deps, writer: Writer) -> _Order:
    graph = await deps.existing_graph(request.graph_key, request.citizen_id)
    by = request.by if isinstance(request, QuarantineChange) else Source.CITIZEN
    return _Order(graph, deps, request, by, writer)


async def _find(order: _Order, quarantine_id: str) -> tuple[StoredQuarantine, Quarantine]:
    for kept in await store.read_quarantines(order.graph):
        if kept.id == quarantine_id:
            return kept, Quarantine(**kept.data)
    raise NotFound(f"there is no quarantine {quarantine_id} here")


def _data(shown: Quarantine, status: str) -> dict[str, Any]:
    return shown.model_copy(update={"status": status}).model_dump(mode="json", exclude_unset=True)


def _command(decision: Decision, command_id: str, order: _Order) -> ChangeCommand:
    """The command that hides a thing or takes back what was done to it; refused if it was changed meanwhile."""
    fields = _fields(decision.id, command_id, order)
    fields["expected_version"] = decision.version
    if decision.verdict.fate == "hide":
        fields["effective_at"] = to_datetime(decision.verdict.start)
        command = CHANGES["retract", decision.kind](**fields)
        return command.as_quarantining().with_writer(order.writer)
    command = CHANGES["undo", decision.kind](**fields)
    return command.as_quarantining(decision.verdict.start).with_writer(order.writer)


def _fields(record_id: str, command_id: str, order: _Order) -> dict[str, Any]:
    request = order.request
    scope = {**graph_fields(request.graph_key), "citizen_id": request.citizen_id, "source": order.by}
    return {**scope, "id": record_id, "command_id": command_id}


def _undo(applied: StoredReceipt, order: _Order) -> ChangeCommand:
    """The command that reverts one of a quarantine, unless something changed since."""
    number = applied.command_id.removeprefix(rules.PREFIX)
    fields = _fields(str(applied.id), f"{rules.PREFIX}release-{number}", order)
    fields["undoes"] = applied.command_id
    command = CHANGES["undo", subject_of(applied.command)](**fields)
    return command.as_quarantining().with_writer(order.writer)


async def _apply(commands: Sequence[ChangeCommand], deps: Deps, now: Instant) -> list[WriteReceipt]:
    """Apply commands on different records together: the refused ones alone are left out."""
    receipts: dict[str, WriteReceipt] = {}
    left = list(commands)
    while left:
        answers = await _apply_list(left, deps, now)
        receipts |= {answer.command_id: answer for answer in answers}
        refused = {answer.command_id for answer in answers if answer.problem not in (None, "not-applied")}
        left = [command for command in left if command.command_id not in refused] if refused else []
    return [receipts[str(command.command_id)] for command in commands]


async def _apply_list(commands: Sequence[ChangeCommand], deps: Deps, now: Instant) -> list[WriteReceipt]:
    """Apply a list as a whole; one that takes the engine too long changed nothing and is halved."""
    try:
        return await atomic.apply(commands, deps, now)
    except StoreTimeout:
        if len(commands) == 1:
            raise
    half = len(commands) // 2
    return [*await _apply_list(commands[:half], deps, now), *await _apply_list(commands[half:], deps, now)]


async def _things(graph: Graph, tally: _Tally) -> tuple[QuarantinedThing, ...]:
    first = sorted(tally.things.values(), key=lambda each: each.kind == "link")[:MOST_THINGS]
    names = await reader.read_names(graph, [each.id for each in first if each.kind == "memory"])
    return tuple(each.model_copy(update={"name": names.get(each.id, [""])[0]}) for each in first)


READ_AT_ONCE: Final = 50
BESIDE_US: Final = 2000
"""The memories and links that are made of the names in some texts get times a microsecond apart, 600 texts at most
at once."""


class Decision(NamedTuple):
    """What happens to a memory or link. `version`: the record that was judged; None where nothing of it holds."""

    kind: ThingKind
    id: str
    verdict: rules.Verdict
    why: Why
    version: int | None = None

    @property
    def changes(self) -> bool:
        return self.verdict.fate in ("hide", "take_back")


@dataclass(slots=True)
class Search:
    """A search of one graph. `decided`: by kind and id; what is clean is left out."""

    graph: Graph
    suspect: rules.Suspect
    now: Instant
    decided: dict[tuple[ThingKind, str], Decision] = field(default_factory=dict)
    _links: dict[str, None] = field(default_factory=dict)
    _ways: Counter[str] = field(default_factory=Counter)
    _also: defaultdict[str, set[Instant]] = field(default_factory=lambda: defaultdict(set))

    async def run(self) -> list[Decision]:
        """All decisions, memories first. Raises as `Graph.read`."""
        is_about_links = self.suspect.speaker is None and self.suspect.tag is None
        suspect, source = self.suspect, "" if self.suspect.source is None else self.suspect.source.value
        net: dict[str, str | int] = {
            "source": source,
            "key": suspect.key_id or "",
            "episode": suspect.episode_id or "",
        }
        net |= {"since": suspect.since, "until": suspect.until}
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
        await self._judge(await store.read_general(self.graph, ids), "generalisation", derived=True)
        bare = await store.read_bare_names(self.graph, ids, KINDS, [source.value for source in rules.OWN])
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
        open_ids: list[str] = []  # what is hidden stays so; what is to be taken back may have to be hidden instead
        for memory_id in ids:
            decided = self.decided.get(("memory", memory_id))
            if decided is None or decided.verdict.fate in ("take_back", "clean"):
                open_ids.append(memory_id)
        for memory_id, records in (await read_memories(self.graph, open_ids)).items():
            also = self._also[memory_id]
            verdict = rules.judge(records, self.suspect, also, derived=derived)
            self._decide("memory", memory_id, verdict, records, why=why)

    def _decide(
        self, kind: ThingKind, record_id: str, verdict: rules.Verdict, records: Sequence[Record], *, why: Why
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
