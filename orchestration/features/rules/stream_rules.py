"""The rules in force that come with a stream."""

from __future__ import annotations

from typing import Final

from orchestration.features.rules.in_force import HeldRule, find_rules
from orchestration.features.rules.queries import read_rules
from orchestration.graph_queries.existing_graphs import View
from schemas.errors import Fault, StoreTimeout
from schemas.memory import Level, collective_of, level_of
from schemas.stream import ConsciousnessStream
from schemas.stream_forms import all_memories
from schemas.stream_parts import StreamRule
from substrate.connection.errors import GraphMissing

MOST_RULES: Final = 8
"""At most 8 rules come with a stream: those of its memories first, then the gravest, newer before older ones."""
_GRAVITY: Final = ("block", "warn", "note")


async def rules_of_stream(stream: ConsciousnessStream, view: View) -> tuple[StreamRule, ...]:
    """The rules in force that come with a stream; none where they are not read in time."""
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
