"""A store of plain values that lists of commands are simulated on, and strategies for such commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from orchestration.writing import simulation
from orchestration.writing.changes import WriteTimes
from orchestration.writing.command_rows import NamedCommand
from orchestration.writing.simulation import Outcome, PlannedWrite, Simulation, StoredParts
from orchestration.writing.version_chain import VersionChain
from schemas.commands import ANY_COMMAND, Command, WriteReceipt
from schemas.temporal import Instant, Period, to_instant
from substrate import bitemporal
from substrate.bitemporal import Record
from substrate.store.changesets import StoredRecords
from substrate.store.rows import StoredReceipt

LINK: dict[str, Any] = {
    "energy": 0.7,
    "confidence": 0.9,
    "emotion_vector": {"joy": 0.5},
    "goal": "go",
    "mindstate": "calm",
}
type Belief = tuple[Period, Mapping[str, Any]]


def moment(day: float) -> datetime:
    """Noon of a day of the year 2026, counted from 1."""
    return datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(days=day - 1)


NOW = to_instant(moment(100))


def command(kind: str, **fields: Any) -> Any:
    return ANY_COMMAND.validate_python({"command": kind, "citizen_id": "ada", **fields})


def remember(memory_id: str | None = None, **fields: Any) -> Any:
    return command(
        "remember", **{"id": memory_id, "name": memory_id or "A memory", "valid_at": moment(1), **fields}
    )


def relate(source: str, target: str, **fields: Any) -> Any:
    ends = {"source_id": source, "target_id": target, "relation_type": "NEXT"}
    return command("relate", **{**ends, "valid_at": moment(1), **LINK, **fields})


class MemoryStore:
    """What the graph of a citizen holds, without the graph."""

    def __init__(self) -> None:
        self.memories: dict[str, StoredRecords] = {}
        self.links: dict[str, StoredRecords] = {}
        self.receipts: dict[str, StoredReceipt] = {}
        self._made_ids = 0

    def name(self, one: Command) -> NamedCommand:
        self._made_ids += 1
        return NamedCommand(one, one.command_id or f"made {self._made_ids}")

    def simulation(self, now: Instant = NOW, repeated: Mapping[str, Record] | None = None) -> Simulation:
        parts = StoredParts(self.memories, self.links, self.receipts, repeated or {})
        return Simulation(parts, WriteTimes(now, max(now, parts.last_change + 1)))

    def apply(self, *commands: Command, now: Instant = NOW) -> list[Outcome]:
        """Simulate the commands as one list; keep what they leave when none is refused."""
        simulated = self.simulation(now)
        outcomes = [simulated.simulate(self.name(one)) for one in commands]
        if any(is_refused(outcome) for outcome in outcomes) or simulation.find_dangling_link(simulated.chains):
            return outcomes
        for chain in simulated.chains:
            if chain.is_changed:
                (self.memories if chain.link_name is None else self.links)[chain.id] = stored_records(chain)
        for outcome in outcomes:
            if isinstance(outcome, PlannedWrite):
                fields: dict[str, Any] = {name: outcome.receipt_row.get(name) for name in StoredReceipt._fields}
                self.receipts.setdefault(fields["command_id"], StoredReceipt(**fields))
        return outcomes

    def beliefs(self) -> dict[str, list[Belief]]:
        """What is known now of each memory and link that is not retracted: contents over their valid times."""
        known = {}
        for identity, stored in {**self.memories, **self.links}.items():
            open_records = bitemporal.open_records(stored.records)
            if open_records:
                known[identity] = [(record.valid, record.content) for record in open_records]
        return known

    def snapshot(self) -> tuple[dict[str, StoredRecords], dict[str, StoredRecords], dict[str, StoredReceipt]]:
        return dict(self.memories), dict(self.links), dict(self.receipts)


def is_refused(outcome: Outcome) -> bool:
    return isinstance(outcome, WriteReceipt) and outcome.status == "refused"


def stored_records(chain: VersionChain) -> StoredRecords:
    """The chain as it is read again once it is written."""
    state, carried = chain.states[-1], chain.carried
    is_open_link = chain.link_name is not None and carried is not None and bitemporal.is_open(carried)
    return StoredRecords(
        records=tuple(state.records.values()),
        fingerprints={version: chain.fingerprints.get(version) for version in state.records},
        carried=state.carried if chain.link_name is None or is_open_link else None,
        last_version=state.last_version,
        touched=max(record.last_known for record in state.records.values()) if chain.link_name is None else 0,
        ends=chain.ends,
    )


def overlaps(open_records: Sequence[Record]) -> list[tuple[int, int]]:
    """The versions of neighbouring records that hold at one instant."""
    pairs = pairwise(sorted(open_records, key=lambda record: record.valid.start))
    return [(one.version, other.version) for one, other in pairs if one.valid.overlaps(other.valid)]


_KINDS = (
    "remember", "supersede", "correct", "resolve", "retract", "undo",
    "relate", "supersede_link", "correct_link", "resolve_link", "unrelate", "undo_link",
)  # fmt: skip
_DAYS = st.integers(1, 120).map(moment)
_MEMORIES = st.sampled_from(("a", "b"))
_LINKS = st.sampled_from(("a|NEXT|b", "own"))


@st.composite
def _stretches(draw: st.DrawFn) -> dict[str, datetime]:
    first = draw(st.integers(1, 110))
    return {"valid_from": moment(first), "valid_to": moment(first + draw(st.integers(1, 40)))}


@st.composite
def commands_of_any_kind(draw: st.DrawFn) -> Any:
    """A command on one of two memories or two links; some cannot be applied."""
    kind = draw(st.sampled_from(_KINDS))
    if kind == "remember":
        return remember(draw(_MEMORIES), description=draw(st.sampled_from("xyz")), valid_at=draw(_DAYS))
    if kind == "relate":
        own = draw(st.sampled_from(({}, {"id": "own"})))
        return relate("a", "b", valid_at=draw(_DAYS), **own)
    is_link = kind.endswith("link") or kind == "unrelate"
    fields: dict[str, Any] = {"id": draw(_LINKS if is_link else _MEMORIES)}
    if "supersede" in kind or "correct" in kind:
        fields["energy"] = draw(st.integers(0, 10)) / 10
        if not is_link and draw(st.booleans()):
            fields["description"] = draw(st.sampled_from("xyz"))
    if "undo" not in kind:
        moments = st.none() if "correct" in kind else st.builds(lambda day: {"effective_at": day}, _DAYS)
        fields |= draw(st.one_of(st.none(), moments, _stretches())) or {}
    return command(kind, **fields)


def lists_of_commands(most: int = 8) -> st.SearchStrategy[list[Any]]:
    """Lists that begin with both memories, so that most commands have something to act on."""
    begin = st.just([remember("a"), remember("b")])
    return st.builds(lambda first, more: [*first, *more], begin, st.lists(commands_of_any_kind(), max_size=most))
