"""Emotions: names in normal form, maps, vectors. Pure.

A map `{name: intensity}` is what is stored and scored; the vector over a fixed vocabulary plus hashed places
for unknown words only finds candidates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any, Final
from zlib import crc32

import numpy as np

VOCABULARY = (
    "joy", "sadness", "anger", "fear", "surprise", "disgust", "trust", "anticipation",
    "curiosity", "excitement", "frustration", "drive", "uncertainty", "caution", "pride", "shame",
    "guilt", "gratitude", "relief", "hope", "despair", "loneliness", "love", "calm",
    "confusion", "determination", "boredom", "envy", "awe", "nostalgia", "tenderness", "tension",
)  # fmt: skip
HASHED_PLACES = 16
DIMENSION = len(VOCABULARY) + HASHED_PLACES
APART = 0.002 / math.sqrt(DIMENSION)
"""How far a record's vector is moved in each place at most, for a vector of length 1."""

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
"""Valence. Surprise, caution and nostalgia have neither, and resemble only themselves."""

EMOTION_WORDS = {**{name: name for name in (*VOCABULARY, *NEGATIVE) if " " not in name}, **_VARIANTS}
"""Every single word that names an emotion, with the emotion in normal form."""

_NOTHING: Final[Mapping[str, float]] = {}
_PLACES = {name: place for place, name in enumerate(VOCABULARY)}


@lru_cache(maxsize=4096)
def normal_emotion(name: str) -> str:
    """The noun of an emotion in lower case: `Excited` and `excitement` are one."""
    key = " ".join(name.strip().lower().replace("_", " ").split())
    return _VARIANTS.get(key, key)


def kindred(emotion: str) -> frozenset[str]:
    """The emotions of the same valence as one in normal form, without itself (002, emotion match)."""
    for side in (POSITIVE, NEGATIVE):
        if emotion in side:
            return side - {emotion}
    return frozenset()


def normal_emotions(emotions: Mapping[str, float]) -> dict[str, float]:
    """The map with names in normal form; of two names for one emotion the stronger counts."""
    normal = {normal_emotion(name): intensity for name, intensity in emotions.items()}
    if len(normal) < len(emotions):
        for name, intensity in emotions.items():
            key = normal_emotion(name)
            normal[key] = max(intensity, normal[key])
    return normal


def emotion_vector(emotions: Mapping[str, float] | None) -> list[float] | None:
    """The map as a vector of `DIMENSION` numbers; None when it says nothing (a zero vector has no direction)."""
    if not emotions:
        return None
    vector = [0.0] * DIMENSION
    for name, intensity in normal_emotions(emotions).items():
        place = _PLACES.get(name)
        if place is None:
            place = len(VOCABULARY) + crc32(name.encode()) % HASHED_PLACES
        vector[place] += intensity
    return vector if any(vector) else None


def emotion_trace(emotions: Mapping[str, float] | None, of: str) -> list[float] | None:
    """The direction of `emotion_vector` as a record is indexed by it, moved a little in a way of its own.

    `of` names the record. Many records feel exactly the same, and an HNSW index loses its way among equal vectors:
    of 25,000 records it found none of the 120 nearest, and all of them when no two were equal. It is moved
    by 0.002 of its length at most: no cosine changes by more, and that to the same feeling by less than 0.00001.
    """
    vector = emotion_vector(emotions)
    if vector is None:
        return None
    length = math.hypot(*vector)
    moves = blake2b(of.encode(), digest_size=DIMENSION).digest()
    return [round(x / length + APART * (move / 127.5 - 1.0), 7) for x, move in zip(vector, moves, strict=True)]


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
    felt: Sequence[Mapping[str, float] | None], to: Mapping[str, float]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """`cosine_similarity` of many maps, named as they come, to one in normal form."""
    maps = [one or _NOTHING for one in felt]
    given = list(chain.from_iterable(maps))
    names = list(map(normal_emotion, given))
    if names != given:
        maps = list(map(normal_emotions, maps))
        names = list(chain.from_iterable(maps))
    of = np.repeat(np.arange(len(maps)), [len(one) for one in maps])
    much = np.fromiter(chain.from_iterable(one.values() for one in maps), np.float64, len(names))
    wanted = np.fromiter((to.get(name, 0.0) for name in names), np.float64, len(names))
    dot = np.bincount(of, much * wanted, len(maps))
    lengths = np.sqrt(np.bincount(of, much * much, len(maps))) * math.hypot(*to.values())
    return np.minimum(1.0, np.divide(dot, lengths, out=np.zeros(len(maps)), where=lengths > 0.0))
