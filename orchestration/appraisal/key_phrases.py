"""Key phrases: the names and words of a text that tell what it is about. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from substrate.language.languages import DEFAULT_LANGUAGE, AskedLanguage
from substrate.language.text import stem, stop_words, words

MIN_LENGTH: Final = 4
MAX_LENGTH: Final = 40
"""Length of a tag in characters. The engine crashes on a unique value of more than 4,096 bytes."""
MAX_SUBJECTS: Final = 3
"""A list of texts is named by at most this many phrases."""
_NAME: Final = re.compile(r"\b[A-ZÀ-ÖØ-Þ]\w+(?: [A-ZÀ-ÖØ-Þ]\w+){1,3}")

_TAG: Final = re.compile(r"(?:^|(?<=\s))#([^\W\d][\w/-]*|\d+[^\W\d][\w/-]*)")

type Phrases = Mapping[str, str]
"""The phrases of a text in normal form, by their stems: all forms of a phrase share a key."""


def extract_phrases(text: str) -> Phrases:
    """The phrases of a text that may be tags: names of several words, and single words."""
    silent = stop_words()
    phrases: list[str] = []
    for name in _NAME.findall(text):
        telling = [word for word in words(name) if word not in silent]
        if len(telling) > 1:
            phrases.append(" ".join(telling))
    phrases += (word for word in words(text) if word.isalpha() and word not in silent)
    return {phrase_key(phrase): phrase for phrase in reversed(phrases) if MIN_LENGTH <= len(phrase) <= MAX_LENGTH}


def written_tags(text: str) -> list[str]:
    """The `#tags` that somebody wrote into a text, each once."""
    return list(dict.fromkeys(tag.rstrip("/-") for tag in _TAG.findall(text)))


def subject_words(texts: Sequence[str]) -> tuple[str, ...]:
    """What texts are about: at most `MAX_SUBJECTS` phrases, those in most texts, then names, then long ones."""
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for text in texts:
        phrases = extract_phrases(text)
        counts.update(phrases.keys())
        forms = {**phrases, **forms}
    telling = [stems for stems in counts if tells(forms[stems])]
    best = sorted(telling, key=lambda stems: (-counts[stems], " " not in stems, -len(stems), stems))
    chosen: list[str] = []
    for stems in best:
        if len(chosen) < MAX_SUBJECTS and not any(f" {stems} " in f" {other} " for other in chosen):
            chosen.append(stems)
    return tuple(forms[stems] for stems in chosen)


def tells(phrase: str) -> bool:
    """False for words of any conversation, and for most forms of verbs and adverbs."""
    small_talk = AskedLanguage.of(DEFAULT_LANGUAGE).words.small_talk
    return phrase not in small_talk and (" " in phrase or not phrase.endswith(("ing", "ed", "ly")))


def phrase_key(phrase: str) -> str:
    """The stems of a phrase in normal form, the same for all its forms."""
    return " ".join(map(stem, phrase.split(" ")))


def tag_key(tag: str) -> str:
    """The stems of a tag's words; a tag without words, such as an emoji, is its own key."""
    return phrase_key(" ".join(words(tag))) or tag.strip()
