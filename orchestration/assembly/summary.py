"""The stream in a few numbers (003, component 4). Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from schemas.memory import ConsciousnessNode, Level
from schemas.stream import ConsciousnessSummary
from substrate.emotions import normal_emotions

THEMES = 5


def summarise(nodes: Sequence[ConsciousnessNode], now: datetime) -> ConsciousnessSummary:
    """Averages, themes, span and counts over the distinct memories of a stream; zeros for an empty one."""
    if not nodes:
        return ConsciousnessSummary()
    themes: defaultdict[str, float] = defaultdict(float)
    for node in nodes:
        for emotion, intensity in normal_emotions(node.emotion_vector or {}).items():
            themes[emotion] += intensity
    per_level = Counter(node.level for node in nodes)
    active = sum(_is_active(node, now) for node in nodes)
    strongest = sorted(themes.items(), key=lambda item: (-item[1], item[0]))
    return ConsciousnessSummary(
        dominant_energy=round(sum(node.energy for node in nodes) / len(nodes), 6),
        emotional_themes=tuple(name for name, weight in strongest[:THEMES] if weight > 0),
        confidence_average=round(sum(node.confidence for node in nodes) / len(nodes), 6),
        earliest_memory=min(node.valid_at for node in nodes),
        latest_memory=max(node.valid_at for node in nodes),
        n1_result_count=per_level[Level.N1],
        n2_result_count=per_level[Level.N2],
        n3_result_count=per_level[Level.N3],
        total_results=len(nodes),
        active_vs_historical_ratio=round(active / len(nodes), 6),
    )


def _is_active(node: ConsciousnessNode, now: datetime) -> bool:
    return (node.invalid_at is None or node.invalid_at > now) and (
        node.expired_at is None or node.expired_at > now
    )
