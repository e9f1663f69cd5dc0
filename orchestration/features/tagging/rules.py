"""Which tags a memory gets: phrases of its own text, and what several of the memories most like it share. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from orchestration.algorithms import inverse_document_frequency
from orchestration.appraisal.key_phrases import extract_phrases, tag_key, tells
from orchestration.features.tagging.queries import MOST_COUNTED
from substrate.language.text import search_form, words
from substrate.store.derived import MADE, MadeTag

MOST_TAGS: Final = 8
"""At most this many made tags for one memory."""
NEIGHBOURS: Final = 8
"""This many of the memories most like it have a say."""
LEAST_LIKENESS: Final = 0.3
"""A memory with a lower cosine similarity has no say."""
LEAST_NEIGHBOURS: Final = 2
"""A tag that the text itself does not have needs this many neighbours with it: one alone may be chance."""
LEAST_MEMORIES: Final = 2
"""A phrase of a single memory leads nowhere."""
GENERIC_SHARE: Final = 0.05
"""A phrase in more than this share of the memories is no tag: it leads everywhere."""
ALWAYS_SPECIFIC: Final = 5
"""A phrase in at most this many memories is specific in a small graph too, unless more than half have it."""
GIVEN_FACTOR: Final = 2.0
"""A tag that somebody gave counts this many times as a phrase of a text: existing tags come first (001)."""
_WORDS_ASKED: Final = 3
"""Of a long given tag only the first words are counted."""


class TextWithTags(NamedTuple):
    """A text, and the tags that its writer gave."""

    text: str
    tags: Sequence[str] = ()


class Neighbour(NamedTuple):
    """A memory near another. `likeness`: cosine similarity, -1 to 1."""

    likeness: float
    memory: TextWithTags


@dataclass
class Candidate:
    """A possible tag: the forms of its words in the texts, those that somebody gave as tags, and its support."""

    forms: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    own: bool = False
    neighbours: int = 0
    support: float = 0.0

    @property
    def form(self) -> str:
        """The shortest form, of equal ones the first by the alphabet."""
        return min(self.given or self.forms, key=lambda form: (len(form), form))


def find_candidates(text: str, near: Iterable[Neighbour]) -> dict[str, Candidate]:
    """The possible tags of a text without tags, by the stems of their words.

    `near`: the memories most like it; those that are not like enough have no say.
    """
    heard = sorted((one for one in near if one.likeness > LEAST_LIKENESS), key=lambda one: -one.likeness)
    candidates: defaultdict[str, Candidate] = defaultdict(Candidate)
    for key, phrase in extract_phrases(text).items():
        candidates[key].forms.add(phrase)
        candidates[key].own = True
        candidates[key].support = 1.0
    for likeness, memory in heard[:NEIGHBOURS]:
        phrases, given = extract_phrases(memory.text), {tag_key(tag): tag.strip() for tag in memory.tags}
        for key in phrases.keys() | given.keys():
            candidate = candidates[key]
            candidate.neighbours += 1
            candidate.support += likeness * (GIVEN_FACTOR if key in given else 1.0)
            candidate.given.update({given[key]} if key in given else ())
            candidate.forms.update({phrases[key]} if key in phrases else ())
    return {
        key: one
        for key, one in candidates.items()
        if (one.own or one.neighbours >= LEAST_NEIGHBOURS) and (one.given or tells(one.form))
    }


def words_to_count(candidates: Mapping[str, Candidate], language: str) -> dict[str, str]:
    """By key the full-text query that counts the memories with a possible tag; tags without words have none."""
    queries: dict[str, str] = {}
    for key, one in candidates.items():
        if asked := words(one.form)[:_WORDS_ASKED]:
            queries[key] = " ".join(search_form(word, language) for word in asked)
    return queries


class Statistics(NamedTuple):
    """What is known of a graph: how many memories hold each possible tag, and how many memories there are."""

    counts: Mapping[str, int]
    memories: int

    @property
    def most(self) -> int:
        """How many memories may have a phrase that is still specific."""
        specific = max(ALWAYS_SPECIFIC, int(GENERIC_SHARE * self.memories))
        return min(specific, self.memories // 2, MOST_COUNTED - 1)


def choose_tags(candidates: Mapping[str, Candidate], known: Statistics) -> list[str]:
    """The keys of the best possible tags: neither hubs nor single uses, at most `MOST_TAGS`, best first.

    score = support × inverse document frequency. Support: 1 for the memory itself, and the likeness of each
    neighbour that has the phrase. Equal ones: the longer, then by the alphabet.
    """
    scores = {}
    for key, candidate in candidates.items():
        count = max(known.counts.get(key, 0), candidate.neighbours + candidate.own)
        if LEAST_MEMORIES <= count <= known.most:
            scores[key] = candidate.support * inverse_document_frequency(count, known.memories)
    return sorted(scores, key=lambda key: (-scores[key], -len(key), key))[:MOST_TAGS]


def possible_given(keys: Collection[str], candidates: Mapping[str, Candidate]) -> set[str]:
    """The names `#tag` under which a graph may already have the tags of these keys, if somebody gave them."""
    forms = {key: {*candidates[key].forms, *candidates[key].given} for key in keys}
    return {f"#{form}" for key in keys for form in forms[key]}


def name_tag(key: str, candidate: Candidate, given: Mapping[str, int]) -> MadeTag:
    """The made tag of a key: the given tag that the most memories have, else one of its own by the stems."""
    forms = (f"#{form}" for form in {*candidate.forms, *candidate.given})
    known = sorted((name for name in forms if name in given), key=lambda name: (-given[name], len(name), name))
    return MadeTag(known[0], known[0]) if known else MadeTag(f"{MADE}{key}", f"{MADE}{candidate.form}")
