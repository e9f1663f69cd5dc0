"""Tags for memories ingested without any: key phrases, existing tags first (001, lazy tax). Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from substrate.text import STOP_WORDS, stem, words

MAX_TAGS: Final = 4
"""At most so many tags for one memory."""
GENERIC_SHARE: Final = 0.1
"""A phrase in more than this share of the memories is generic: it says little about any one of them."""
ALWAYS_SPECIFIC: Final = 5
"""A phrase in at most so many memories is never generic, however small the graph."""
MIN_LENGTH: Final = 4
MAX_LENGTH: Final = 40
"""Length of a tag in characters. The engine crashes on a unique value of more than 4,096 bytes."""
MAX_SUBJECTS: Final = 3
"""A list of texts is named by at most so many phrases."""
_SMALL_TALK: Final = frozenset(
    """
    again always answer answers anything back bit come couldn definitely doing everything feel feeling fine
    first getting glad going good great hasn haven hear hello hope instance keep kind know last like little
    long look looking lots love made make many maybe minutes morning much need never next nice night okay
    people pretty really right said short shouldn sorry something soon sound sounds start still sure take talk
    thank thanks that thing things think third thought time today tomorrow tonight totally trying want wanted
    week went wonderful work working would wouldn yeah years yesterday""".split()
)
"""Words of many conversations that do not tell what one is about."""
_NAME: Final = re.compile(r"\b[A-ZÀ-ÖØ-Þ]\w+(?: [A-ZÀ-ÖØ-Þ]\w+){1,3}")

type Phrases = Mapping[str, str]
"""The phrases of a text in normal form, by their stems: all forms of a phrase share a key."""


def extract_phrases(text: str) -> Phrases:
    """The phrases of a text that may be tags: names of several words, and single words."""
    names = map(_without_stop_words, _NAME.findall(text))
    single_words = (word for word in words(text) if word.isalpha() and word not in STOP_WORDS)
    phrases = [*(name for name in names if " " in name), *single_words]
    return {_stemmed(phrase): phrase for phrase in reversed(phrases) if MIN_LENGTH <= len(phrase) <= MAX_LENGTH}


def subject_words(texts: Sequence[str]) -> tuple[str, ...]:
    """What texts are about: at most `MAX_SUBJECTS` phrases, those in most texts, then names, then long ones."""
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for text in texts:
        phrases = extract_phrases(text)
        counts.update(phrases.keys())
        forms = {**phrases, **forms}
    telling = [stems for stems in counts if _tells(forms[stems])]
    best = sorted(telling, key=lambda stems: (-counts[stems], " " not in stems, -len(stems), stems))
    chosen: list[str] = []
    for stems in best:
        if len(chosen) < MAX_SUBJECTS and not any(f" {stems} " in f" {other} " for other in chosen):
            chosen.append(stems)
    return tuple(forms[stems] for stems in chosen)


def _tells(phrase: str) -> bool:
    """False for words of any conversation, and for most forms of verbs and adverbs."""
    return phrase not in _SMALL_TALK and (" " in phrase or not phrase.endswith(("ing", "ed", "ly")))


def _without_stop_words(text: str) -> str:
    return " ".join(word for word in words(text) if word not in STOP_WORDS)


def _stemmed(phrase: str) -> str:
    return " ".join(map(stem, phrase.split(" ")))


def possible_tags(phrases_by_text: Sequence[Phrases]) -> list[str]:
    """Every tag that these texts may get: each phrase as it is written, and as stems."""
    tags: set[str] = set()
    for phrases in phrases_by_text:
        tags.update(phrases.keys(), phrases.values())
    return sorted(tags)


def choose_tags(
    phrases_by_text: Sequence[Phrases], tag_counts: Mapping[str, int], memory_count: int
) -> list[tuple[str, ...]]:
    """The tags of each text, at most `MAX_TAGS`.

    `tag_counts`: how many memories have each existing tag. `memory_count`: the number of memories in the graph.
    Order: existing tags, then phrases that several of the texts share, then names, then other words; within each
    kind the rarest first, then the longest. Generic phrases are left out.
    """
    text_counts = Counter(stems for phrases in phrases_by_text for stems in phrases)
    forms: defaultdict[str, set[str]] = defaultdict(set)
    for phrases in phrases_by_text:
        for stems, phrase in phrases.items():
            forms[stems].add(phrase)
    tags = {stems: _tag_form(stems, phrase_forms, tag_counts) for stems, phrase_forms in forms.items()}
    stored_counts = {stems: tag_counts.get(tag, 0) for stems, tag in tags.items()}
    limit = max(ALWAYS_SPECIFIC, GENERIC_SHARE * (memory_count + len(phrases_by_text)))

    def rank(stems: str) -> tuple[bool, bool, bool, int, int, str]:
        count = stored_counts[stems] + text_counts[stems]
        return (not stored_counts[stems], text_counts[stems] == 1, " " not in stems, count, -len(stems), stems)

    specific = {stems for stems in tags if stored_counts[stems] + text_counts[stems] <= limit}
    chosen = [sorted(phrases.keys() & specific, key=rank)[:MAX_TAGS] for phrases in phrases_by_text]
    return [tuple(map(tags.__getitem__, best)) for best in chosen]


def _tag_form(stems: str, phrase_forms: set[str], tag_counts: Mapping[str, int]) -> str:
    """How the tag is written: like the most common existing tag, else in the shortest form of the texts."""
    forms = (*phrase_forms, stems) if stems in tag_counts else phrase_forms
    return min(forms, key=lambda form: (-tag_counts.get(form, 0), len(form), form))
