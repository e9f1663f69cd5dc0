"""Whether a turn tells anything: one that only asks, gives thanks or repeats what was given is no evidence. Pure.

"What is my bank account number?" asks; "Since I moved to Faro, which bus do I take?" asks and tells. The words of
each language stand in `[telling]` of its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from orchestration.appraisal.context import asked_from
from orchestration.appraisal.languages import Language, language, language_of
from orchestration.appraisal.speech import Sentence, Token, sentences
from schemas.memory import Silence
from substrate.text import stems, word_language, word_languages

LEAST_TOLD: Final = 2
"""So many words that mean something, beside what is asked, tell something."""
MOST_NEW: Final = 0.2
"""A text that repeats what was given has at most this share of other words, and no other number or name."""
_WIDE_MARKS: Final = str.maketrans("？！。", "?!.")
_SILENT: Final = ("polite", "skipped", "own_subjects", "own_objects", "own_possessives")


def read_silence(text: str, *, answers: bool = False, given: Sequence[str] = ()) -> Silence | None:
    """Why a turn tells nothing; None for one that tells something.

    `answers`: it is of the answering side, which says what it does not know, and may repeat the texts that it was
    `given`.
    """
    spoken_in, read = language_of(text), text.translate(_WIDE_MARKS)
    spoken = [each for each in sentences(read, spoken_in) if any(token.text.isalnum() for token in each.tokens)]
    if not spoken:
        return None if any(map(str.isalnum, text)) else "Courtesy"
    asked = [_asked_from(sentence, spoken_in) for sentence in spoken]
    telling = [
        sentence
        for sentence, start in zip(spoken, asked, strict=True)
        if _tells(sentence, start, spoken_in, answers=answers)
    ]
    if not telling:
        asks = any(start < len(each.tokens) for each, start in zip(spoken, asked, strict=True))
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
    if (follows in words["after_wh"] if is_wh else turns) or _pattern(language.code, "asking").match(
        _joined(tokens[first:])
    ):
        return min(start, first)
    return start


def _tells(sentence: Sentence, asked: int, language: Language, *, answers: bool) -> bool:
    tokens, words = sentence.tokens, language.words
    if asked == len(tokens):
        said = _joined(tokens)
        if answers and _pattern(language.code, "unknown").search(said):
            return False
        return bool(_meaning(_pattern(language.code, "courtesy").sub(" ", said).split(), language))
    told = [token.text for token in tokens[:asked]]
    reasons = (place for place, token in enumerate(tokens) if token.text in words["telling"] and place > asked)
    told += [token.text for token in tokens[next(reasons, len(tokens)) :]]
    return words["supposing"].isdisjoint(told[:3]) and len(_meaning(told, language)) >= LEAST_TOLD


def _meaning(said: Iterable[str], language: Language) -> list[str]:
    """The words that mean something by themselves."""
    silent = word_languages()[language.code].stop_words | language.function_words
    others = [language.words[name] for name in _SILENT]
    return [
        word for word in said if word.isalnum() and word not in silent and not any(word in each for each in others)
    ]


def _repeats(telling: Sequence[Sentence], language: Language, given: Sequence[str]) -> bool:
    """Whether the sentences have hardly any word that was not given, and no number or name."""
    code = word_language(" ".join(sentence.text for sentence in telling))
    known = frozenset[str]().union(*(stems(text, code) for text in given))
    saying = language.words["saying"]
    said = [token for sentence in telling for token in sentence.tokens if _meaning([token.text], language)]
    new = [token for token in said if token.text not in saying and not stems(token.text, code) <= known]
    names = language.names_have_capitals
    if any(token.text.isdigit() or (names and token.shape == "a" and token.start > 0) for token in new):
        return False
    return len(new) <= MOST_NEW * len(said)


def _joined(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens)


@cache
def _pattern(code: str, name: str) -> re.Pattern[str]:
    """Any of the phrases of a list, as whole words."""
    phrases = language(code).table["telling"][name].split(",")
    return re.compile(rf"\b(?:{'|'.join(re.escape(' '.join(phrase.split())) for phrase in phrases)})\b")
