"""Adds to a stream what a text tells of the citizen: its energy now, and the rules in force."""

from __future__ import annotations

from typing import Final

from orchestration.dependencies import Deps
from orchestration.features.rules.in_force import HeldRule, find_rules
from orchestration.features.rules.queries import read_rules
from orchestration.graph_queries.existing_graphs import View
from orchestration.mind.state import felt_state
from schemas.errors import Fault, StoreTimeout
from schemas.intention import StreamRequest
from schemas.memory import Level, collective_of, level_of
from schemas.stream import ConsciousnessStream
from schemas.stream_forms import all_memories
from schemas.stream_parts import StreamRule
from substrate.connection.errors import GraphMissing
from substrate.connection.together import together

MOST_RULES: Final = 8
"""So many rules come with a stream: those of its memories first, then the gravest, newer before older ones."""
_GRAVITY: Final = ("block", "warn", "note")


async def with_mind(
    stream: ConsciousnessStream, asked: StreamRequest, view: View, deps: Deps
) -> ConsciousnessStream:
    """The stream with the energy of the citizen and its rules, where a text or a section tells them.

    What is not read in time is left out.
    """
    if not tells_mind(asked):
        return stream
    parts = asked.parts or ()
    told = asked.form == "compact"
    energy, rules = await together(
        _energy(stream, view, deps) if "energy" in parts else _nothing(),
        _rules(stream, view) if told or "rules" in parts else _nothing(),
    )
    return stream.model_copy(update={"citizen_energy": energy, "rules": rules or ()})


def tells_mind(asked: StreamRequest) -> bool:
    """Whether the stream tells anything of the citizen itself."""
    return asked.form == "compact" or not {"energy", "rules"}.isdisjoint(asked.parts or ())


async def _nothing() -> None:
    return None


async def _energy(stream: ConsciousnessStream, view: View, deps: Deps) -> float | None:
    if stream.state is not None:
        return stream.state.energy
    try:
        target = view.targets.get(Level.N1)
        return (await felt_state(stream.citizen_id, deps, view.scope, view.now, target=target)).energy
    except (GraphMissing, StoreTimeout, Fault):
        return None


async def _rules(stream: ConsciousnessStream, view: View) -> tuple[StreamRule, ...]:
    target = view.targets.get(Level.N1)
    if target is None:
        return ()
    try:
        held = find_rules(await read_rules(target, view.scope, None), stream.citizen_id)
    except (GraphMissing, StoreTimeout, Fault):
        return ()
    shown = {(node.graph_key, node.node_id) for node in all_memories(stream)}

    def weight(rule: HeldRule) -> tuple[bool, int]:
        return not any((one.key, one.memory_id) in shown for one in rule.memories), _GRAVITY.index(rule.severity)

    chosen = [(rule, rule.memories[0]) for rule in sorted(held, key=weight)[:MOST_RULES]]
    return tuple(
        StreamRule(
            rule=rule.text,
            severity=rule.severity,
            memory_id=newest.memory_id,
            level=level_of(newest.key),
            collective=collective_of(newest.key),
        )
        for rule, newest in chosen
    )
