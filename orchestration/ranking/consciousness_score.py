"""The consciousness-aware score and the tiers (003, component 5; completeness from component 6). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import NamedTuple

import orjson

from orchestration.ranking.candidates import Candidate, Key
from schemas.validation import CONDITIONAL, IMPORTANT, REQUIRED
from substrate.cypher.fragments import NODE_COLUMNS
from substrate.emotions import cosine_similarities
from substrate.store.search import NODE_START

REALITY_PRESSURE = 0.5
"""External urgency when nobody says otherwise (003)."""
FOCUS, PERIPHERAL, BACKGROUND = 5, 20, 50
STANDING_OUT = 0.5
"""What is in focus has at least this share of the greatest activation of the stream."""
_METADATA = (*REQUIRED, *IMPORTANT, *CONDITIONAL)
_PLACES = tuple(NODE_START + place for place, name in enumerate(NODE_COLUMNS) if name in _METADATA)
_metadata = itemgetter(*_PLACES)


class Score(NamedTuple):
    """The score of one memory, `total`, with each of its terms, as 003 adds them up."""

    key: Key
    activation: float
    total: float
    terms: Mapping[str, float]


def priority(energy: float, pressure: float = REALITY_PRESSURE) -> float:
    """energy × 0.4 + reality pressure × 0.6: what presses from outside counts more (003, component 5)."""
    return energy * 0.4 + pressure * 0.6


def completeness(memory: Candidate) -> float:
    """Share of the 13 metadata fields of 003 component 6 that the memory carries, in [0, 7/13].

    The report judges a memory by the seven that it can carry. The other six take the same off every score and
    change no order; dividing by seven would let a missing field weigh nearly twice what 003 gives it.
    """
    absent: int = _metadata(memory.row).count(None)
    return (len(_PLACES) - absent) / len(_METADATA)


def consciousness_scores(
    memories: Iterable[Candidate],
    activations: Iterable[float],
    emotions: Mapping[str, float],
    pressure: float = REALITY_PRESSURE,
) -> list[Score]:
    """003's formula: relevance + 0.4 priority + 0.2 confidence + 0.5 resonance − 0.1 (1 − completeness).

    `activations` in [0, 1] are relevance after spreading; `emotions` are those of the question, normalised.
    """
    known = list(memories)
    felt = [memory.get("emotion_vector") for memory in known] if emotions else []
    resonances = cosine_similarities([text and orjson.loads(text) for text in felt], emotions).tolist()
    scores = []
    for memory, activation, resonance in zip(known, activations, resonances or repeat(0.0), strict=False):
        terms = {
            "relevance": activation,
            "priority": 0.4 * priority(float(memory.get("energy")), pressure),
            "confidence": 0.2 * float(memory.get("confidence")),
            "emotional_resonance": 0.5 * resonance,
            "incompleteness": -0.1 * (1.0 - completeness(memory)),
        }
        scores.append(Score(memory.key, activation, sum(terms.values()), terms))
    return scores


def ranked(scores: Sequence[Score]) -> list[Score]:
    """Highest score first; equal ones in the order of their keys, so that the same question has one answer."""
    return sorted(scores, key=lambda score: (-score.total, score.key))


def tiers(order: Sequence[Score]) -> tuple[list[Score], list[Score], list[Score]]:
    """Focus, peripheral, background: 5, 20 and 50 at most.

    In focus is only what stands out: an empty mind should not be told that it is focused (DESIGN §8).
    """
    greatest = max((score.activation for score in order), default=0.0)
    focused = 0
    while focused < min(FOCUS, len(order)) and order[focused].activation >= STANDING_OUT * greatest > 0.0:
        focused += 1
    rest = order[focused:]
    return list(order[:focused]), list(rest[:PERIPHERAL]), list(rest[PERIPHERAL : PERIPHERAL + BACKGROUND])
