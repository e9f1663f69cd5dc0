"""Whether a turn tells anything: one that only asks, gives thanks or repeats what was given is no evidence. Pure.

"What is my bank account number?" asks; "Since I moved to Faro, which bus do I take?" asks and tells. The words of
each language stand in `[telling]` of its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Final

from orchestration.appraisal.context import asked_from
from orchestration.appraisal.languages import CODES, Language, language, language_of
from orchestration.appraisal.speech import Sentence, Token, sentences
from schemas.memory import Silence
from substrate.text import stems, word_language, word_languages

LEAST_TOLD: Final = 2
"""So many words that mean something, beside what is asked, tell something."""
MOST_NEW: Final = 0.2
"""A text that repeats what was given has at most this share of other words, and no other number or name."""
_WORD: Final = re.compile(r"[^\W_]")
_WIDE_MARKS: Final = str.maketrans("？！。", "?!.")
_SILENT: Final = ("polite", "skipped", "own_subjects", "own_objects", "own_possessives")


def read_silence(text: str, *, answers: bool = False, given: Sequence[str] = ()) -> Silence | None:
    """Why a turn tells nothing; None for one that tells something.

    `answers`: it is of the answering side, which says what it does not know, and may repeat the texts that it was
    `given`.
    """
    spoken_in = language_of(text)
    asks, spoken = False, False
    telling: list[Sentence] = []
    for sentence in sentences(text.translate(_WIDE_MARKS), spoken_in):
        if not _WORD.search(sentence.text):
            continue
        spoken = True
        start = _asked_from(sentence, spoken_in)
        asks = asks or start < len(sentence.tokens)
        if _tells(sentence, start, spoken_in, answers=answers):
            telling.append(sentence)
    if not spoken:
        return None if _WORD.search(text) else "Courtesy"
    if not telling:
        return "Question" if asks else "Courtesy"
    return "Echo" if answers and given and _repeats(telling, spoken_in, given) else None


def _asked_from(sentence: Sentence, language: Language) -> int:
    """The place from which a sentence asks; its length where it does not.

    Many leave out the mark: "what is my number" begins as a question does.
    """
    start, tokens, words = asked_from(sentence, language), sentence.tokens, language.words
    first = next((place for place, token in enumerate(tokens) if token.text not in words["polite"]), 0)
    follows = tokens[first + 1].text if first + 1 < len(tokens) else ""
    is_wh = tokens[first].text in words["wh"]
    turns = tokens[first].text in words["question_starts"] and follows in words["turned"]
    if (follows in words["after_wh"] if is_wh else turns) or _pattern("asking").match(_joined(tokens[first:])):
        return min(start, first)
    return start


def _tells(sentence: Sentence, asked: int, language: Language, *, answers: bool) -> bool:
    tokens, words = sentence.tokens, language.words
    if asked == len(tokens):
        said = _joined(tokens)
        if answers and _pattern("unknown").search(said):
            return False
        return bool(_meaning(_pattern("courtesy").sub(" ", said).split(), language))
    reason = next(
        (place for place in range(asked + 1, len(tokens)) if tokens[place].text in words["telling"]), None
    )
    beside = tokens[:asked] if reason is None else [*tokens[:asked], *tokens[reason:]]
    told = _joined(beside).split()
    return words["supposing"].isdisjoint(told[:3]) and len(_meaning(told, language)) >= LEAST_TOLD


def _meaning(said: Iterable[str], language: Language) -> list[str]:
    """The words that mean something by themselves."""
    silent = word_languages()[language.code].stop_words | language.function_words
    silent = silent.union(*(language.words[name] for name in _SILENT))
    return [word for word in said if word.isalnum() and word not in silent]


def _repeats(telling: Sequence[Sentence], language: Language, given: Sequence[str]) -> bool:
    """Whether the sentences have hardly any word that was not given, and no number or name."""
    code = word_language(" ".join(sentence.text for sentence in telling))
    known = frozenset[str]().union(*(stems(text, code) for text in given))
    said = new = 0
    for token in chain.from_iterable(sentence.tokens for sentence in telling):
        if not _meaning([token.text], language):
            continue
        said += 1
        if token.text in language.words["saying"] or stems(token.text, code) <= known:
            continue
        is_name = language.names_have_capitals and token.shape == "a" and token.start > 0
        if token.text.isdigit() or is_name:
            return False
        new += 1
    return new <= MOST_NEW * said


def _joined(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Any of the phrases of a list, as whole words, in any language: "Vielen Dank!" does not tell which it is."""
    escaped: list[str] = []
    for code in CODES:
        escaped += map(re.escape, " ".join(language(code).table["telling"][name].split()).split(", "))
    return re.compile(rf"\b(?:{'|'.join(escaped)})\b")
