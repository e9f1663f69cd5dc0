"""A stream as text for a prompt: when, who, what, and why it is shown (`form=compact`). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from orchestration.assembly.displayed_text import attribution, one_line
from orchestration.traversal.paths import STATE_NAMES, relation_words, short_name
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level
from schemas.stream import ConsciousnessStream
from schemas.stream_parts import TemporalDissonance
from schemas.temporal import long_date
from schemas.upkeep.offers import Offer

NO_MEMORIES: Final = "No memories were found."
NONE_FITS: Final = "No memory is as short as the tokens allowed."
NOTHING_FITS: Final = "Nothing fits the question. The nearest"
"""The heading of the periphery where nothing fits the question."""
MAX_EMOTIONS: Final = 3
REASONS: Final = {"reality_changed": "the world changed", "discovered_false": "found to be false"}
LEVEL_WORDS: Final = {Level.N1: "", Level.N2: "collective", Level.N3: "ecosystem"}

_day = lru_cache(maxsize=4096)(long_date)


def without_repeats(stream: ConsciousnessStream) -> ConsciousnessStream:
    """The stream with each memory in its tier alone, and each link in its level alone.

    Left out are the lists of each level, which hold the same memories again, and the nodes and edges of the
    traversal graph; its counts and paths stay.
    """
    levels = {
        name: level.model_copy(update={"vector_results": (), "graph_results": ()})
        for name, level in stream.levels.items()
    }
    graph = stream.traversal_graph.model_copy(update={"nodes": (), "edges": ()})
    return stream.model_copy(update={"levels": levels, "traversal_graph": graph})


def compact(stream: ConsciousnessStream, changes: Sequence[TemporalDissonance] = (), *, ids: bool = False) -> str:
    """The memories by tier, one line each; the links among those in focus; the beliefs that changed; the offers.

    Each line is `- [day it became true] speaker or name: text (why it is shown; whose word; state; emotions)`;
    with `ids` also the id of the memory, for a reader who may change it. Of a long text the passage that answers
    is shown, with its place. Line breaks within a text become spaces, so that one line is one memory, and
    invisible characters are left out; nothing else is altered or cut. The last block says what is missing from the
    stream. The same stream gives the same text.
    """
    tiers = stream.activation_tiers
    blocks = [
        _block("In focus", (_memory_line(node, stream.entities, ids=ids) for node in tiers.focus)),
        _block(
            NOTHING_FITS if stream.nothing_fits else "Peripheral",
            (_memory_line(node, stream.entities, ids=ids) for node in tiers.peripheral),
        ),
        _block("In the background", (_memory_line(node, stream.entities, ids=ids) for node in tiers.background)),
        _block("Links in focus", _link_lines(stream)),
        _block("Beliefs that changed", map(_change_line, changes)),
        _block("Could be done", (_offer_line(offer, ids=ids) for offer in stream.offers)),
        _block("Missing", _missing_lines(stream)),
    ]
    if not tiers.ordered():
        blocks.insert(0, NONE_FITS if stream.omitted else NO_MEMORIES)
    return "\n\n".join(block for block in blocks if block)


def _block(heading: str, lines: Iterable[str]) -> str:
    items = [f"- {one_line(line)}" for line in lines]
    return "\n".join((f"# {heading}", *items)) if items else ""


def _memory_line(node: ConsciousnessNode, entities: Sequence[str], *, ids: bool) -> str:
    name, text = one_line(node.speaker or node.name), one_line(node.description)
    remarks = [_reason_shown(node, entities), _place(node), LEVEL_WORDS[node.level], attribution(node)]
    if node.resolution_state is not None:
        remarks.append(STATE_NAMES[node.resolution_state].lower())
    remarks += [_emotions(node.emotion_vector), *_ends(node), f"id {node.node_id}" if ids else ""]
    return f"[{_day(node.valid_at)}] {name}{': ' if text else ''}{text} ({_joined(remarks)})"


def _place(node: ConsciousnessNode) -> str:
    """Which part of a long text is shown."""
    passage = node.passage
    return f"characters {passage.start}–{passage.end} of {passage.length}" if passage else ""


def _joined(remarks: Iterable[str]) -> str:
    return "; ".join(remark for remark in remarks if remark)


def _reason_shown(node: ConsciousnessNode, entities: Sequence[str]) -> str:
    if node.name in entities and not node.speaker:
        return "named"
    return "found by likeness" if node.retrieval_source.endswith("vector") else "found over links"


def _emotions(vector: Mapping[str, float] | None) -> str:
    strongest = sorted((vector or {}).items(), key=lambda item: (-item[1], item[0]))[:MAX_EMOTIONS]
    return ", ".join(f"{one_line(name)} {intensity:.2g}" for name, intensity in strongest if intensity > 0)


def _ends(node: ConsciousnessNode) -> list[str]:
    """The end of a record on either time axis: a reader must not take the past for the present."""
    ends = []
    if node.invalid_at is not None:
        ends.append(f"true until {_day(node.invalid_at)}")
    if node.expired_at is not None:
        ends.append(f"believed until {_day(node.expired_at)}")
    if node.overtaken_at is not None and node.overtaken_by is not None:
        ends.append(f"held until {_day(node.overtaken_at)}, it seems")
    if node.duplicates:
        ends.append(f"said {len(node.duplicates) + 1} times")
    if ends and node.invalidation_reason is not None:
        ends.append(REASONS[node.invalidation_reason])
    return ends


def _link_lines(stream: ConsciousnessStream) -> Iterable[str]:
    focus = {(node.level, node.node_id): node for node in reversed(stream.activation_tiers.focus)}
    for level in stream.levels.values():
        for link in level.relationships:
            source, target = (link.level, link.source_id), (link.level, link.target_id)
            if source in focus and target in focus:
                yield _link_line(link, focus[source], focus[target])


def _link_line(link: ConsciousnessRelationship, source: ConsciousnessNode, target: ConsciousnessNode) -> str:
    state = STATE_NAMES[link.resolution_state].lower()
    remarks = _joined((state, f"goal: {one_line(link.goal)}", _emotions(link.emotion_vector)))
    return f"{short_name(source)} → {relation_words(link.relation_type)} → {short_name(target)} ({remarks})"


def _offer_line(offer: Offer, *, ids: bool) -> str:
    named = f"{offer.kind} {one_line(offer.name)}: {one_line(offer.reason)}"
    return f"{named} (offer {offer.id})" if ids else named


def _change_line(change: TemporalDissonance) -> str:
    pattern = change.correction_pattern_id
    remarks = (
        REASONS[change.dissonance_type],
        one_line(change.correction_trigger) if pattern else "",
        f"believed since {_day(change.belief_held_from)}",
        _emotions(change.discovery_emotions),
    )
    was, now = one_line(change.original_belief), one_line(change.corrected_belief)
    name = one_line(change.node_name)
    return f"[{_day(change.corrected_at)}] {name}: was “{was}”, now “{now}” ({_joined(remarks)})"


def _missing_lines(stream: ConsciousnessStream) -> Iterable[str]:
    for gap in stream.degraded:
        yield f"{gap.query}: {one_line(gap.reason)}"
    if stream.omitted:
        yield f"{stream.omitted} {'memory' if stream.omitted == 1 else 'memories'} did not fit"
