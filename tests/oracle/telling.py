"""Commands told to the engine and to the oracle at once: all that they say of them is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from api.runtime.runtime import Runtime
from orchestration import insertion
from orchestration.identifiers import link_name
from orchestration.writing import atomic, erasure
from schemas.commands import ChangeCommand, Command, EraseMemory, WriteReceipt
from schemas.memory import Level
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader, rows
from tests.oracle import wholes
from tests.oracle.held import Refused, Told
from tests.oracle.histories import NAMES, Act, Forget, InOrder, Together
from tests.oracle.outlines import Outlines, outlined
from tests.oracle.shown import Shown, as_told, of_bond, of_held, of_node, seen_or_none, without_version
from tests.oracle.wholes import identity_of


@dataclass
class Telling(Outlines):
    """A citizen of its own, in an open store, to whom commands are told."""

    runtime: Runtime
    skipping: set[str] = field(default_factory=set)
    """What was changed by an atomic list some time."""
    erasures: int = 0

    @property
    def graph(self) -> str:
        return graph_name(Level.N1, self.citizen)

    async def begin(self) -> None:
        """Tell the first memories."""
        for command in self.first():
            await self.send(command)

    async def end(self) -> None:
        """Leave nothing behind."""
        await self.runtime.deps.connection.command("GRAPH.DELETE", self.graph)

    async def live(self, act: Act) -> None:
        """One command, some as a whole or in order, or an erasure, on both sides."""
        self.now += act.tick
        if isinstance(act, Forget):
            await self.forget(NAMES[act.who])
        elif isinstance(act, Together):
            if commands := self.whole(act):
                await self.send_together(commands)
        elif isinstance(act, InOrder):
            await self.send_in_order(self.all(act.steps))
        elif (command := self.one(act)) is not None:
            await self.send(command)

    async def forget(self, memory_id: str) -> None:
        """Erase a memory on both sides."""
        try:
            wholes.erase(self.oracle, memory_id)
            self.erasures, expected = self.erasures + 1, True
        except Refused:
            expected = False
        command = EraseMemory(citizen_id=self.citizen, id=memory_id)
        report = await seen_or_none(erasure.erase(command, self.runtime.deps, self.now, None))
        self.tally.commands["erase" if expected else "erase refused"] += 1
        self.compare(f"erasure of {memory_id}", report is not None, expected)

    async def send_together(self, commands: Sequence[Command]) -> None:
        """Some commands as a whole, at a moment after all before."""
        self.sent += commands
        receipts = await atomic.apply(commands, self.runtime.deps, self.now)
        first = next((told for told in map(as_told, receipts) if not told.duplicate), as_told(receipts[0]))
        at = self.oracle.moment(self.now, first, ahead=self.oracle.ahead(self.now))
        expected = wholes.together(self.oracle, commands, self.now, at)
        refused = any(one.status == "refused" for one in expected)
        self.tally.commands[f"atomic list{' refused' if refused else ''}"] += 1
        if not refused:
            self.skipping |= {identity_of(command) for command in commands}
        await self.agree(commands, receipts, expected)

    async def agree(
        self, commands: Sequence[Command], receipts: Sequence[WriteReceipt], expected: Sequence[Told]
    ) -> None:
        """Compare receipts. Versions within an atomic list may skip numbers, and so may the next after it."""
        loose = [identity_of(command) in self.skipping for command in commands]
        found, due = (
            [
                one._replace(version=None) if free and not one.duplicate else one
                for one, free in zip(told, loose, strict=True)
            ]
            for told in ([as_told(receipt) for receipt in receipts], expected)
        )
        self.compare(f"receipts of {outlined(*commands)} at {self.now}", found, due)
        for command, receipt, free in zip(commands, receipts, loose, strict=True):
            if free and receipt.status == "stored":
                await self.versions_of(command, receipt)

    async def versions_of(self, command: Command, receipt: WriteReceipt) -> None:
        """Take over the versions of an identity, whose order is the same."""
        identity = identity_of(command)
        due = sorted(self.oracle.records_of(identity), key=lambda one: one.version)
        found = sorted(await self.records(identity), key=lambda one: one[0])
        self.compare(
            f"records of {identity} after {outlined(command)}",
            [one[1] for one in found],
            [without_version(of_held(one)) for one in due],
        )
        for one, (version, _) in zip(due, found, strict=False):
            one.version = version
        kept = self.oracle.done.get(command.command_id or "")
        if kept is not None and receipt.version is not None:
            self.oracle.done[command.command_id or ""] = (kept[0], kept[1]._replace(version=receipt.version))

    async def records(self, identity: str) -> list[tuple[int, Shown]]:
        """All records of a memory or link that the engine keeps, each with its version."""
        connection = self.runtime.deps.connection
        if "|" in identity or identity.startswith("own_"):
            every = await reader.link_history(Graph(connection, self.graph), link_name(identity))
            links = [rows.link(row[2:], (row[0], row[1]), Level.N1) for row in every]
            return [(link.version, without_version(of_bond(link))) for link in links]
        nodes = [rows.node(row, Level.N1) for row in await reader.history(Graph(connection, self.graph), identity)]
        return [(node.version, without_version(of_node(node))) for node in nodes]

    async def send_in_order(self, commands: Sequence[Command]) -> None:
        """Some commands at once, each a microsecond after the one before."""
        self.sent += commands
        receipts = await insertion.apply(commands, self.runtime.deps, self.now)
        expected = self.expected(commands, [as_told(one) for one in receipts])
        self.tally.commands["plain list"] += 1
        await self.agree(commands, receipts, expected)
        self.now += len(commands)

    async def send(self, command: Command) -> None:
        self.sent.append(command)
        seen = self.stale(command)
        [receipt] = await insertion.apply([command], self.runtime.deps, self.now)
        kind = receipt.command
        self.tally.commands[kind if receipt.status == "stored" else f"{kind} refused"] += 1
        await self.agree([command], [receipt], self.expected([command], [as_told(receipt)]))
        if seen is not None and receipt.problem == "conflict":
            self.compare(f"version in the conflict of {outlined(command)}", receipt.current_version, seen)

    def stale(self, command: Command) -> int | None:
        """The version that a conflict names, where a command expects another."""
        if not isinstance(command, ChangeCommand) or command.command_id in self.oracle.done:
            return None
        if not self.oracle.records_of(command.id):
            return None
        seen = self.oracle.version_at(command, self.now)
        return None if command.expected_version in (None, seen) else seen
