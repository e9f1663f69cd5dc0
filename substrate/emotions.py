"""Emotions: names in normal form, maps and vectors. Pure.

A map `{name: intensity}` is stored and scored. The vector, over a fixed vocabulary plus hashed dimensions for
other words, only finds candidates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, Final
from zlib import crc32

import numpy as np

from schemas.bounded_cache import cached_within

VOCABULARY = (
    "joy", "sadness", "anger", "fear", "surprise", "disgust", "trust", "anticipation",
    "curiosity", "excitement", "frustration", "drive", "uncertainty", "caution", "pride", "shame",
    "guilt", "gratitude", "relief", "hope", "despair", "loneliness", "love", "calm",
    "confusion", "determination", "boredom", "envy", "awe", "nostalgia", "tenderness", "tension",
)  # fmt: skip
HASHED_DIMENSIONS = 16
DIMENSION = len(VOCABULARY) + HASHED_DIMENSIONS
APART = 0.002 / math.sqrt(DIMENSION)
"""The most that `emotion_trace` adds to each component of a unit vector."""

_VARIANTS = {
    "adaptation": "adaptation", "afraid": "fear", "alone": "loneliness", "angry": "anger", "anxiety": "fear",
    "anxious": "fear", "ashamed": "shame", "bored": "boredom", "calmness": "calm", "cautious": "caution",
    "confused": "confusion", "content": "calm", "contentment": "calm", "curious": "curiosity",
    "desperate": "despair", "determined": "determination", "disgusted": "disgust", "driven": "drive",
    "envious": "envy", "excited": "excitement", "exciting": "excitement", "fearful": "fear",
    "frustrated": "frustration", "frustrating": "frustration", "furious": "anger", "grateful": "gratitude",
    "guilty": "guilt", "happiness": "joy", "happy": "joy", "hopeful": "hope", "joyful": "joy",
    "lonely": "loneliness", "loving": "love", "nostalgic": "nostalgia", "proud": "pride",
    "relieved": "relief", "sad": "sadness", "scared": "fear", "serene": "calm", "serenity": "calm",
    "surprised": "surprise", "tender": "tenderness", "tense": "tension", "thankful": "gratitude",
    "trusting": "trust", "unsure": "uncertainty", "uncertain": "uncertainty", "worried": "fear",
    "worry": "fear",
}  # fmt: skip

POSITIVE = frozenset(
    ("joy", "trust", "anticipation", "curiosity", "excitement", "drive", "pride", "gratitude", "relief", "hope",
     "love", "calm", "determination", "awe", "tenderness")
)  # fmt: skip
NEGATIVE = frozenset(
    ("sadness", "anger", "fear", "disgust", "frustration", "uncertainty", "shame", "guilt", "despair",
     "loneliness", "confusion", "boredom", "envy", "tension", "hurt", "pain", "dread", "existential dread",
     "disorientation", "grief", "regret", "resentment", "disappointment")
)  # fmt: skip
"""Valence. Surprise, caution and nostalgia have none, so no other emotion is kindred to them."""

EMOTION_WORDS = {**{name: name for name in (*VOCABULARY, *NEGATIVE) if " " not in name}, **_VARIANTS}
"""Every single word for an emotion -> the emotion in normal form."""

_NO_EMOTIONS: Final[Mapping[str, float]] = {}
_INDEX = {name: index for index, name in enumerate(VOCABULARY)}


@cached_within(1 << 20)
def normal_emotion(name: str) -> str:
    """Return the noun of an emotion in lower case: `excitement` for `Excited`. Unknown words only change case."""
    key = " ".join(name.strip().lower().replace("_", " ").split())
    return _VARIANTS.get(key, key)


def kindred(emotion: str) -> frozenset[str]:
    """Return the other emotions of the same valence; empty for an emotion without one (002, emotion match)."""
    for emotions in (POSITIVE, NEGATIVE):
        if emotion in emotions:
            return emotions - {emotion}
    return frozenset()


def normal_emotions(emotions: Mapping[str, float]) -> dict[str, float]:
    """Return the map with names in normal form; of several names for one emotion the highest intensity counts."""
    normal = {normal_emotion(name): intensity for name, intensity in emotions.items()}
    if len(normal) < len(emotions):
        for name, intensity in emotions.items():
            key = normal_emotion(name)
            normal[key] = max(intensity, normal[key])
    return normal


def emotion_vector(emotions: Mapping[str, float] | None) -> list[float] | None:
    """Return the map as a vector with `DIMENSION` numbers; None for a zero vector, which has no direction."""
    if not emotions:
        return None
    vector = [0.0] * DIMENSION
    for name, intensity in normal_emotions(emotions).items():
        index = _INDEX.get(name)
        if index is None:
            index = len(VOCABULARY) + crc32(name.encode()) % HASHED_DIMENSIONS
        vector[index] += intensity
    return vector if any(vector) else None


def emotion_trace(emotions: Mapping[str, float] | None, seed: str) -> list[float] | None:
    """Return the unit vector by which a record is indexed: `emotion_vector` plus a small offset from `seed`.

    `seed` identifies the record. An HNSW index fails among equal vectors, and many records have the same emotions:
    of 25,000 records it found none of the 120 nearest, and all of them once no two were equal. The offset has a
    length of at most 0.002: no cosine changes by more than that, and the cosine between records of the same
    emotions by less than 0.00001.
    """
    vector = emotion_vector(emotions)
    if vector is None:
        return None
    length = math.hypot(*vector)
    offsets = blake2b(seed.encode(), digest_size=DIMENSION).digest()
    return [round(x / length + APART * (o / 127.5 - 1.0), 7) for x, o in zip(vector, offsets, strict=True)]


def cosine_similarity(left: Mapping[str, float] | None, right: Mapping[str, float] | None) -> float:
    """Cosine of two emotion maps in [0, 1]; 0 when either is empty (003, component 5b)."""
    if not left or not right:
        return 0.0
    dot = 0.0
    for name, intensity in left.items():
        if name in right:
            dot += intensity * right[name]
    return min(1.0, dot / (math.hypot(*left.values()) * math.hypot(*right.values()))) if dot > 0.0 else 0.0


def cosine_similarities(
    emotion_maps: Sequence[Mapping[str, float] | None], emotions: Mapping[str, float]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """`cosine_similarity` of each map, its names in any form, to the map `emotions`, its names in normal form."""
    maps = [each or _NO_EMOTIONS for each in emotion_maps]
    raw_names = list(chain.from_iterable(maps))
    names = list(map(normal_emotion, raw_names))
    if names != raw_names:
        maps = list(map(normal_emotions, maps))
        names = list(chain.from_iterable(maps))
    owners = np.repeat(np.arange(len(maps)), list(map(len, maps)))
    intensities = np.fromiter(chain.from_iterable(each.values() for each in maps), np.float64, len(names))
    others = np.fromiter((emotions.get(name, 0.0) for name in names), np.float64, len(names))
    dot = np.bincount(owners, intensities * others, len(maps))
    lengths = np.sqrt(np.bincount(owners, intensities * intensities, len(maps))) * math.hypot(*emotions.values())
    return np.minimum(1.0, np.divide(dot, lengths, out=np.zeros(len(maps)), where=lengths > 0.0))
