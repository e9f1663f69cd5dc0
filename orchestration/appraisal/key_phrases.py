"""Tags for what was ingested without any: key phrases, first those that are tags already (001, lazy tax). Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from substrate.text import STOP_WORDS, stem, words

MOST: Final = 4
"""Tags of one memory at most."""
GENERIC: Final = 0.1
"""A phrase that this share of the memories has says little about any one of them."""
ALWAYS_SPECIFIC: Final = 5
"""What so few memories have is never generic."""
SHORTEST: Final = 4
LONGEST: Final = 40
"""Letters of what may be a tag; the engine crashes on a unique value of more than 4,096 bytes."""
_NAME: Final = re.compile(r"\b[A-ZÀ-ÖØ-Þ]\w+(?: [A-ZÀ-ÖØ-Þ]\w+){1,3}")

type Phrases = Mapping[str, str]
"""What a text says, in normal form, by what all forms of it have in common: its stems."""


def phrases(text: str) -> Phrases:
    """The phrases of a text that may be tags: names of several words, and words."""
    names = (" ".join(word for word in words(run) if word not in STOP_WORDS) for run in _NAME.findall(text))
    single = (word for word in words(text) if word.isalpha() and word not in STOP_WORDS)
    found = [*(name for name in names if " " in name), *single]
    return {_root(phrase): phrase for phrase in reversed(found) if SHORTEST <= len(phrase) <= LONGEST}


def _root(phrase: str) -> str:
    return " ".join(map(stem, phrase.split(" ")))


def to_look_up(said: Sequence[Phrases]) -> list[str]:
    """The tags that these texts may have: each phrase as it is said, and as its stems."""
    return sorted({form for one in said for pair in one.items() for form in pair})


def chosen(said: Sequence[Phrases], known: Mapping[str, int], size: int) -> list[tuple[str, ...]]:
    """The tags of each text, at most `MOST`, from what each says.

    `known` are tags of the graph with how many memories have each, `size` is how many memories it holds. Tags
    that exist come first, then what several of the texts say, then names, then the longest words; of each kind
    the rarest first. What is generic is left out.
    """
    together = Counter(root for one in said for root in one)
    forms: defaultdict[str, set[str]] = defaultdict(set)
    for one in said:
        for root, phrase in one.items():
            forms[root].add(phrase)
    names = {root: _form(root, among, known) for root, among in forms.items()}
    held = {root: known.get(name, 0) for root, name in names.items()}
    limit = max(ALWAYS_SPECIFIC, GENERIC * (size + len(said)))

    def rank(root: str) -> tuple[bool, bool, bool, int, int, str]:
        count = held[root] + together[root]
        return (not held[root], together[root] == 1, " " not in root, count, -len(root), root)

    specific = {root for root in names if held[root] + together[root] <= limit}
    return [tuple(names[root] for root in sorted(one.keys() & specific, key=rank)[:MOST]) for one in said]


def _form(root: str, among: set[str], known: Mapping[str, int]) -> str:
    """How the tag is written: as the commonest tag that exists, else as the shortest form said."""
    forms = (*among, root) if root in known else among
    return min(forms, key=lambda form: (-known.get(form, 0), len(form), form))
