"""Which seven contexts a cycle has in its working memory, and which rules are active in it (002). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from itertools import islice
from typing import Final

from orchestration.features.rules.in_force import HeldRule
from orchestration.features.situation.values import ActiveRule, Context
from orchestration.resonance.ranking import Echo, diversify, dominant_emotion, split_by_emotion
from schemas.memory import Level
from schemas.wave_signal import WORKING_MEMORY, Resonance
from substrate.emotions import normal_emotions
from substrate.language.text import stems, word_language

SHARED: Final = 0.9
"""The factor on the resonance of a shared memory: of two that fit as well the citizen's own comes first."""
LEAST_FITTING: Final = 1 / 3
"""From this likeness on, or this share of its words, a rule fits what there is to answer to."""


def choose_contexts(resonances: Iterable[Resonance], left_out: Set[str] = frozenset()) -> list[Context]:
    """At most seven memories of all levels: never more than two of an emotion, ordered by MMR (002, post-scoring).

    Memories without a text are names, not contexts; those of `left_out`, by id, are shown elsewhere.
    """
    texts = []
    for one in resonances:
        if one.memory.description and one.memory.node_id not in left_out:
            factor = 1.0 if one.memory.level == Level.N1 else SHARED
            texts.append(one.model_copy(update={"resonance": round(one.resonance * factor, 6)}))
    strongest = sorted(texts, key=lambda one: (-one.resonance, one.memory.level, one.memory.node_id))
    first, _ = split_by_emotion(list(map(_echo, strongest)))
    return [_context(echo.resonance) for echo in islice(diversify(first), WORKING_MEMORY)]


def fitting_rules(rules: Iterable[HeldRule], said: str) -> list[HeldRule]:
    """At most seven of the rules: those that fit what was said in meaning or in words, the nearest first."""
    language = word_language(said)
    words = stems(said, language)
    fits = []
    for rule in rules:
        own = stems(rule.text, language)
        nearness = max(rule.alike, len(own & words) / max(1, len(own)))
        if nearness >= LEAST_FITTING:
            fits.append((-nearness, rule.key, rule))
    return [rule for *_, rule in sorted(fits, key=lambda each: each[:2])[:WORKING_MEMORY]]


def active_rules(contexts: Iterable[Context], fitting: Iterable[HeldRule] = ()) -> tuple[ActiveRule, ...]:
    """The rules of the contexts in their order, then the `fitting` ones: each once, with the memories of it."""
    ids: dict[str, list[str]] = {}
    for context in contexts:
        rule = (context.rule or "").strip()
        if rule:
            ids.setdefault(rule, []).append(context.memory_id)
    for held in fitting:
        of_held = ids.setdefault(held.text.strip(), [])
        of_held += [memory.memory_id for memory in held.memories if memory.memory_id not in of_held]
    return tuple(ActiveRule(rule=rule, memory_ids=tuple(of_rule)) for rule, of_rule in ids.items())


def _echo(resonance: Resonance) -> Echo:
    memory = resonance.memory
    around = frozenset(node.node_id for node in resonance.nodes)
    return Echo(resonance, dominant_emotion(memory), around)


def _context(resonance: Resonance) -> Context:
    memory = resonance.memory
    emotion = dominant_emotion(memory)
    felt: Mapping[str, float] = normal_emotions(memory.emotion_vector or {})
    return Context(
        memory_id=memory.node_id,
        level=memory.level,
        collective=memory.collective,
        name=memory.name,
        description=memory.description,
        speaker=memory.speaker,
        valid_at=memory.valid_at,
        nodes=resonance.nodes,
        edges=resonance.edges,
        emotion=emotion,
        intensity=felt.get(emotion) if memory.intensity is None and emotion is not None else memory.intensity,
        result=memory.result,
        rule=memory.rule,
        abstraction=memory.abstraction,
        score=resonance.resonance,
    )
