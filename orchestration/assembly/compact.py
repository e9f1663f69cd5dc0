"""A stream as a text made for a prompt: when, who, what, why it is here (`form=compact`). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from orchestration.assembly.displayed_text import one_line as _one_line
from orchestration.assembly.displayed_text import whose
from orchestration.traversal.paths import STATE_NAMES, relation_words, short_name
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level
from schemas.stream import ConsciousnessStream
from schemas.stream_parts import TemporalDissonance
from schemas.temporal import long_date

NOTHING: Final = "No memories were found."
MOST_EMOTIONS: Final = 3
REASONS: Final = {"reality_changed": "the world changed", "discovered_false": "found to be false"}
_day = lru_cache(maxsize=4096)(long_date)
_OF_LEVEL: Final = {Level.N1: "", Level.N2: "collective", Level.N3: "ecosystem"}


def compact(stream: ConsciousnessStream, changes: Sequence[TemporalDissonance] = (), *, ids: bool = False) -> str:
    """The memories by tier, one line each, the links among those in focus, and the beliefs that changed.

    Each line is `- [day it became true] who or name: text (why it is here; whose word; state; feeling)`, with
    `ids` also the id of the memory, for those who may change it. Line breaks within a text become spaces, so that
    one line is one memory, and what nobody sees is left out; nothing else is altered or cut. What is missing from
    the stream is said at the end. The same stream gives the same text.
    """
    tiers = stream.activation_tiers
    blocks = [
        _block("In focus", (_memory(node, stream.entities, ids=ids) for node in tiers.focus)),
        _block("Peripheral", (_memory(node, stream.entities, ids=ids) for node in tiers.peripheral)),
        _block("In the background", (_memory(node, stream.entities, ids=ids) for node in tiers.background)),
        _block("Links in focus", _links(stream)),
        _block("Beliefs that changed", map(_change, changes)),
        _block("Missing", _missing(stream)),
    ]
    if not tiers.ordered():
        blocks.insert(0, NOTHING)
    return "\n\n".join(block for block in blocks if block)


def _block(heading: str, lines: Iterable[str]) -> str:
    said = [f"- {_one_line(line)}" for line in lines]
    return "\n".join((f"# {heading}", *said)) if said else ""


def _memory(node: ConsciousnessNode, entities: Sequence[str], *, ids: bool) -> str:
    name, text = _one_line(node.speaker or node.name), _one_line(node.description)
    beside = [_why(node, entities), _OF_LEVEL[node.level], whose(node)]
    if node.resolution_state is not None:
        beside.append(STATE_NAMES[node.resolution_state].lower())
    beside += [_feeling(node.emotion_vector), *_ended(node), f"id {node.node_id}" if ids else ""]
    noted = "; ".join(part for part in beside if part)
    return f"[{_day(node.valid_at)}] {name}{': ' if text else ''}{text} ({noted})"


def _why(node: ConsciousnessNode, entities: Sequence[str]) -> str:
    if node.name in entities and not node.speaker:
        return "named"
    return "found by likeness" if node.retrieval_source.endswith("vector") else "found over links"


def _feeling(felt: Mapping[str, float] | None) -> str:
    if not felt:
        return ""
    strongest = sorted(felt.items(), key=lambda item: (-item[1], item[0]))[:MOST_EMOTIONS]
    return ", ".join(f"{_one_line(name)} {much:.2g}" for name, much in strongest if much > 0)


def _ended(node: ConsciousnessNode) -> list[str]:
    """How a record ended on either axis: a reader must not take the past for the present."""
    ended = []
    if node.invalid_at is not None:
        ended.append(f"true until {_day(node.invalid_at)}")
    if node.expired_at is not None:
        ended.append(f"believed until {_day(node.expired_at)}")
    if ended and node.invalidation_reason is not None:
        ended.append(REASONS[node.invalidation_reason])
    return ended


def _links(stream: ConsciousnessStream) -> Iterable[str]:
    focus = {(node.level, node.node_id): node for node in reversed(stream.activation_tiers.focus)}
    for level in stream.levels.values():
        for link in level.relationships:
            source, target = (link.level, link.source_id), (link.level, link.target_id)
            if source in focus and target in focus:
                yield _link(link, focus[source], focus[target])


def _link(link: ConsciousnessRelationship, source: ConsciousnessNode, target: ConsciousnessNode) -> str:
    beside = (
        STATE_NAMES[link.resolution_state].lower(),
        f"goal: {_one_line(link.goal)}",
        _feeling(link.emotion_vector),
    )
    noted = "; ".join(part for part in beside if part)
    return f"{short_name(source)} → {relation_words(link.relation_type)} → {short_name(target)} ({noted})"


def _change(change: TemporalDissonance) -> str:
    pattern = change.correction_pattern_id
    beside = (
        REASONS[change.dissonance_type],
        _one_line(change.correction_trigger) if pattern else "",
        f"believed since {_day(change.belief_held_from)}",
        _feeling(change.discovery_emotions),
    )
    was, now = _one_line(change.original_belief), _one_line(change.corrected_belief)
    noted = "; ".join(part for part in beside if part)
    return f"[{_day(change.corrected_at)}] {_one_line(change.node_name)}: was “{was}”, now “{now}” ({noted})"


def _missing(stream: ConsciousnessStream) -> Iterable[str]:
    for gap in stream.degraded:
        yield f"{gap.query}: {_one_line(gap.reason)}"
    if stream.omitted:
        yield f"{stream.omitted} {'memory' if stream.omitted == 1 else 'memories'} did not fit"
