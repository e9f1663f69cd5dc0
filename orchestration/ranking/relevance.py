"""How much a candidate is about the words of a question: BM25 over the candidates. Pure."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from orchestration.algorithms import inverse_document_frequency, okapi_bm25
from orchestration.question.lexicon import Lexicon
from orchestration.ranking.candidates import Candidate, Candidates, Key, ShownPassage
from orchestration.ranking.texts import MemoryText, ReadText, flatten
from schemas.bounded_cache import cached_within
from schemas.memory import GraphKey
from substrate.language.languages import DEFAULT_LANGUAGE, AskedLanguage
from substrate.language.text import LEAST_BEGINNING, is_unspaced, spaced_text, stem, stop_words
from substrate.store.lexicon import DOCUMENT_CAP
from substrate.store.passages import FoundPassage

PASSAGE_LIKENESS: Final = 0.5
"""The share of likeness in the choice; the rest is words. As in the base relevance of memories."""


def lexical_text(memory: Candidate) -> str:
    """The text that is compared by words: the description of a turn; name and description of any other memory."""
    description = memory.get("description") or ""
    return description if memory.get("speaker") else f"{memory.get('name')} {description}"


def word_relevance(
    memories: Sequence[Candidate],
    told: Sequence[MemoryText],
    lexicons: Mapping[GraphKey, Lexicon],
    names: Collection[str],
) -> tuple[list[float], float]:
    """BM25 of each memory for the words of the question, at least 0; `names` count as no words of it. And how much
    of the question the best of them covers, in [0, 1]: a share of the inverse document frequencies of its words.
    A word that no memory holds is as rare as can be. All is covered where nothing is left to be asked."""
    texts = [each.lexical for each in told]
    flatten(texts)
    lengths = [float(len(text.text)) for text in texts]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    scores = [0.0] * len(texts)
    asked: dict[str, float] = {}
    covered = 0.0
    for graph, lexicon in lexicons.items():
        frequencies = lexicon.frequencies or {}
        counted = {word: holding for word, holding in frequencies.items() if word not in names}
        weights = word_weights(counted, lexicon.memories, lexicon.language)
        for word, holding in counted.items():
            rarity = inverse_document_frequency(holding, lexicon.memories)
            asked[word] = max(rarity, asked.get(word, 0.0))
        places = [place for place, memory in enumerate(memories) if memory.key[0] == graph] if weights else []
        counts = count_each(list(map(texts.__getitem__, places)), weights, lexicon.language)
        for nth, held in counts.items():
            place = places[nth]
            # The length of a passage is what a long text was cut to: it says nothing of how much was said.
            length = mean if memories[place].shown else lengths[place]
            scores[place] = okapi_bm25(held, weights, length, mean)
            covered = max(covered, sum(map(weights.__getitem__, held)))
    return scores, min(1.0, covered / sum(asked.values())) if asked else 1.0


def bm25_scores(texts: Mapping[Key, str], weights: Mapping[GraphKey, Mapping[str, float]]) -> dict[Key, float]:
    """Okapi BM25 of each text, at least 0; 0 for a text without a stem of the question.

    `weights`: in each level the inverse document frequency of each stem of the question. BM25 uses only the ratio
    of a length to the mean: lengths in words, or the mean of the whole graph, would cost a pass over every text.
    """
    mean = float(sum(map(len, texts.values()))) / len(texts) if texts else 0.0
    scores = dict.fromkeys(texts, 0.0)
    for level, level_weights in weights.items():
        keys = [key for key in texts if key[0] == level]
        for place, counts in count_stems([texts[key] for key in keys], level_weights).items():
            key = keys[place]
            scores[key] = okapi_bm25(counts, level_weights, float(len(texts[key])), mean)
    return scores


def count_stems(
    texts: Sequence[str], stems: Collection[str], language: str = DEFAULT_LANGUAGE
) -> dict[int, Mapping[str, int]]:
    """How often each text holds each of the stems, by the place of the text; texts that hold none are left out.

    In a language of compounds, a word that begins with one of the stems holds it. A text is cut only where a
    word begins like one of the stems: stemming every word takes several times longer.
    """
    return count_each(list(map(ReadText, texts)), stems, language)


def count_each(
    texts: Sequence[ReadText], stems: Collection[str], language: str = DEFAULT_LANGUAGE
) -> dict[int, Mapping[str, int]]:
    """The same of texts of which what was read is kept.

    Most texts of a large graph are found by one question alone: the first question looks for its own stems, in
    all of its texts together, and all stems are counted for the second one, and kept.
    """
    counts: dict[int, Mapping[str, int]] = {}
    new: list[int] = []
    begins = AskedLanguage.of(language).words.begins
    for place, text in enumerate(texts):
        if text.was_searched and text.is_spaced and not begins:
            counted = text.counts(language)
            if not counted.keys().isdisjoint(stems):
                counts[place] = {root: counted[root] for root in stems if root in counted}
        elif not text.was_searched and text.text.isascii():
            text.was_searched = True
            new.append(place)
        else:
            text.was_searched = True
            held = _count_beginnings(spaced_text(text.text), _shared_beginnings(frozenset(stems)), stems, language)
            if held:
                counts[place] = held
    if new:
        for nth, found in _count_together([texts[place].flat for place in new], stems, language).items():
            counts[new[nth]] = found
    return counts


def count_held(text: ReadText, stems: Collection[str], language: str = DEFAULT_LANGUAGE) -> Mapping[str, int]:
    """The same of one text."""
    return count_each([text], stems, language).get(0, {})


def _count_together(flat: Sequence[str], stems: Collection[str], language: str) -> dict[int, dict[str, int]]:
    """By place, what `_count_beginnings` counts in each text; a text begins and ends with a blank."""
    joined, ends = "".join(flat), list(accumulate(map(len, flat)))
    counts: defaultdict[int, dict[str, int]] = defaultdict(dict)
    silent = stop_words(language)
    roots: dict[str, str | None] = {}
    for beginning in _shared_beginnings(frozenset(stems)):
        start = joined.find(beginning)
        while start >= 0:
            end = joined.index(" ", start + 1)
            word = joined[start + 1 : end]
            if word not in roots:
                roots[word] = None if word in silent else _held_stem(word, stems, language)
            if root := roots[word]:
                held = counts[bisect_right(ends, start)]
                held[root] = held.get(root, 0) + 1
            start = joined.find(beginning, end)
    return counts


def _count_beginnings(text: str, beginnings: Sequence[str], stems: Collection[str], language: str) -> Counter[str]:
    silent = stop_words(language)
    held: list[str] = []
    for beginning in beginnings:
        for rest in text.split(beginning)[1:]:
            word = beginning[1:] + rest.partition(" ")[0]
            if word not in silent and (root := _held_stem(word, stems, language)):
                held.append(root)
    return Counter(held)


def _held_stem(word: str, stems: Collection[str], language: str) -> str | None:
    root = stem(word, language)
    if root in stems:
        return root
    if word[:1] in stems and is_unspaced(word):
        return word[0]
    if not AskedLanguage.of(language).words.begins:
        return None
    fitting = (one for one in stems if len(one) >= LEAST_BEGINNING and word.startswith(one))
    return max(fitting, key=len, default=None)


@cached_within(1 << 20)
def _shared_beginnings(stems: frozenset[str]) -> tuple[str, ...]:
    """The fewest beginnings that every word with one of these stems has (`dying` and `die` share one letter), each
    after a blank."""
    shared: list[str] = []
    for beginning in sorted({root[: max(1, min(4, len(root) - 2))] for root in stems}):
        if not shared or not beginning.startswith(shared[-1]):
            shared.append(beginning)
    return tuple(f" {beginning}" for beginning in shared)


def word_weights(
    frequencies: Mapping[str, int], memories: int, language: str = DEFAULT_LANGUAGE
) -> dict[str, float]:
    """The inverse document frequency of each stem of the question in a graph of this many memories.

    `frequencies`: how many memories hold each word. Of two words with one stem the more frequent counts; a word
    that no memory holds has no weight.
    """
    weights: dict[str, float] = {}
    for word, holding in frequencies.items():
        if holding > 0:
            root = stem(word, language)
            # Where the count stopped at the cap: the geometric mean of the least and the most that may hold it.
            held = holding if holding < DOCUMENT_CAP else max(holding, math.isqrt(DOCUMENT_CAP * memories))
            weight = inverse_document_frequency(held, memories)
            weights[root] = min(weight, weights.get(root, weight))
    return weights


# --- the passage that stands for a long text --------------------------------------------------------------


class _FoundPassage(NamedTuple):
    memory: Candidate
    passage: FoundPassage


def show_best_passages(candidates: Candidates, lexicons: Mapping[GraphKey, Lexicon]) -> None:
    """Let the best passage of each long text of which passages were found stand for the text.

    The memory is then ranked as if that passage were its text.
    """
    found = {
        (key[0], f"{key[1]}\n{key[2]}", place): _FoundPassage(memory, passage)
        for key, memory in candidates.memories.items()
        for place, passage in enumerate(memory.passages)
    }
    if not found:
        return
    words = _word_scores(found, lexicons)
    likeness = _likeness_scores(found)
    best: dict[int, Key] = {}
    for key, (memory, _) in found.items():
        leader = best.get(id(memory))
        score = PASSAGE_LIKENESS * likeness[key] + (1.0 - PASSAGE_LIKENESS) * words[key]
        if (
            leader is None
            or score > PASSAGE_LIKENESS * likeness[leader] + (1.0 - PASSAGE_LIKENESS) * words[leader]
        ):
            best[id(memory)] = key
    for key in best.values():
        memory, passage = found[key]
        length = memory.shown.length if memory.shown else passage.end
        memory.show(ShownPassage(passage.start, passage.end, length), passage.text)


def _word_scores(found: Mapping[Key, _FoundPassage], lexicons: Mapping[GraphKey, Lexicon]) -> dict[Key, float]:
    """BM25 of each passage as a share of the best, in [0, 1]."""
    weights = {
        level: word_weights(lexicon.frequencies or {}, lexicon.memories) for level, lexicon in lexicons.items()
    }
    scores = bm25_scores({key: passage.text for key, (_, passage) in found.items()}, weights)
    best = max(scores.values(), default=0.0) or 1.0
    return {key: score / best for key, score in scores.items()}


def _likeness_scores(found: Mapping[Key, _FoundPassage]) -> dict[Key, float]:
    """Likeness stretched to [0, 1] between the least and the greatest of the passages."""
    values = [passage.likeness for _, passage in found.values()]
    low, high = min(values), max(values)
    width = (high - low) or 1.0
    return {key: (passage.likeness - low) / width for key, (_, passage) in found.items()}
