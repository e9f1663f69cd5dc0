"""Wave retrieval: how channels are weighed, and how what resonates is ordered (000, 002). Pure.

The scoring itself is an expression in the database, `substrate.cypher.resonance`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from orchestration.algorithms import RELEVANCE_SHARE, jaccard, maximal_marginal_relevance
from orchestration.ranking.plurality import split_by_week
from schemas.memory import ConsciousnessNode, Level
from schemas.temporal import AFTER_ALL, Instant, to_instant
from schemas.wave_signal import CHANNELS, Channel, Resonance, Weights
from substrate.emotions import normal_emotions
from substrate.store import rows

UNSATISFIED: Final = 0.3
"""Below this satisfaction a drive takes part in the signal (002)."""
A_EMOTION: Final = 2
"""So many memories of one emotion come before any other of it (002, post-scoring)."""
JUST_SHOWN: Final = 0.2
DAY: Final = 86_400_000_000
_DIGITS: Final = 6
_FACTORS: Final = ("resonance", "total", "suppression", "boost")


class Echo(NamedTuple):
    """A memory that resonates, the emotion that it is counted under, and the memories around it."""

    resonance: Resonance
    emotion: str | None
    around: frozenset[str]


def suppression(shown_at: Instant, now: Instant) -> float:
    """The factor for what was shown at `shown_at`: 0.2 just then, rising to 1.0 after 24 hours (002)."""
    age = min(1.0, max(0, now - shown_at) / DAY)
    return JUST_SHOWN + (1.0 - JUST_SHOWN) * age


def effective_weights(
    weights: Weights, silent: frozenset[Channel], intensity: float, biases: Sequence[Mapping[Channel, float]]
) -> dict[Channel, float]:
    """What each channel weighs: 0 where the signal is `silent`, emotion × intensity, × each drive's bias (000)."""
    found: dict[Channel, float] = {}
    for channel in CHANNELS:
        weight = 0.0 if channel in silent else getattr(weights, channel)
        for bias in biases:
            weight *= bias.get(channel, 1.0)
        found[channel] = weight * intensity if channel == "emotion" else weight
    return found


def read_echo(row: Sequence[Any], level: Level, known_to: Instant = AFTER_ALL) -> Echo:
    """A row of `RESONATE_NOW` or `RESONATE_THEN`."""
    factors = {name: round(float(value), _DIGITS) for name, value in zip(_FACTORS, row, strict=False)}
    beyond = len(_FACTORS) + len(CHANNELS)
    scores = row[len(_FACTORS) : beyond]
    channels = {name: round(min(1.0, float(score)), _DIGITS) for name, score in zip(CHANNELS, scores, strict=True)}
    memory = rows.node(
        row[beyond + 1 :],
        level,
        known_to,
        retrieval_source="resonance",
        relevance_score=factors["resonance"],
    )
    resonance = Resonance(
        memory=memory,
        resonance=factors["resonance"],
        total=factors["total"],
        channels=channels,
        suppression=factors["suppression"],
        level_boost=factors["boost"],
    )
    return Echo(resonance, dominant_emotion(memory), frozenset((row[beyond] or "").split("|")) - {""})


def dominant_emotion(memory: ConsciousnessNode) -> str | None:
    """The strongest emotion of a memory in normal form, of equals the first by name; None when it has none."""
    felt = normal_emotions(memory.emotion_vector or {})
    return min(felt, key=lambda emotion: (-felt[emotion], emotion)) if any(felt.values()) else None


def shown(echoes: Sequence[Echo], limit: int, per_week: int | None = None) -> list[Resonance]:
    """The `limit` to show: at most two of an emotion while there are others, each part in order of MMR.

    `echoes` come strongest first. What has no emotion is not counted as one. With plurality at most `per_week` of
    one week come before the others of it.
    """
    weeks = (echoes,) if per_week is None else split_by_week(echoes, _valid_at, per_week)
    chosen: list[Echo] = []
    for part in (part for one in weeks for part in at_most_two(one)):
        for echo in diverse(part, chosen):
            if len(chosen) == limit:
                break
            chosen.append(echo)
    return [echo.resonance for echo in chosen]


def _valid_at(echo: Echo) -> Instant:
    return to_instant(echo.resonance.memory.valid_at)


def at_most_two(echoes: Sequence[Echo]) -> tuple[list[Echo], list[Echo]]:
    """The strongest two of each emotion with all that have none, and the others; both in the order given."""
    seen: Counter[str] = Counter()
    first: list[Echo] = []
    rest: list[Echo] = []
    for echo in echoes:
        if echo.emotion is not None:
            seen[echo.emotion] += 1
        (rest if echo.emotion is not None and seen[echo.emotion] > A_EMOTION else first).append(echo)
    return first, rest


def diverse(echoes: Sequence[Echo], before: Sequence[Echo] = ()) -> Iterator[Echo]:
    """The echoes by maximal marginal relevance: strong, and with few nodes of those chosen before (002)."""

    def similarity(place: int, others: Sequence[int]) -> list[float]:
        return [jaccard(echoes[other].around, echoes[place].around) for other in others]

    strengths = [RELEVANCE_SHARE * echo.resonance.resonance for echo in echoes]
    nearest = [max((jaccard(echo.around, other.around) for other in before), default=0.0) for echo in echoes]
    places = maximal_marginal_relevance(strengths, similarity, 1 - RELEVANCE_SHARE, nearest)
    return (echoes[place] for place in places)
