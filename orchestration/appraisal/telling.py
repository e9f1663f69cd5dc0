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
from substrate.text import stems, word_language, word_languages, words

LEAST_TOLD: Final = 2
"""So many words that mean something, beside what is asked, tell something."""
MOST_NEW: Final = 0.2
"""A text that repeats what was given has at most this share of other words, and no other number or name."""
MOST_ASKED: Final = 10
"""A question without its mark is no longer than so many words."""
_CLAUSE: Final = re.compile(r"[,;:–—]|\b(?:but|so|however|aber|also|jedoch)\b")
_WORD: Final = re.compile(r"[^\W_]")
_WIDE_MARKS: Final = str.maketrans("？！。", "?!.")
_SILENT: Final = ("polite", "skipped", "own_subjects", "own_objects", "own_possessives")


def read_silence(text: str, *, answers: bool = False, given: Sequence[str] = ()) -> Silence | None:
    """Why a turn tells nothing; None for one that tells something, and wherever that is not sure.

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

    Many leave out the mark: "what is my number" begins as a question does. "The code is 8812?" has the mark, and
    tells.
    """
    tokens, words = sentence.tokens, language.words
    first = next((place for place, token in enumerate(tokens) if token.text not in words["polite"]), 0)
    rest = [token.text for token in tokens[first:]]
    if _pattern("asking").match(" ".join(rest)):
        return first
    if "?" in sentence.ending:
        opens = words["question_starts"] | words["wh"]
        return asked_from(sentence, language) if len(rest) == 1 or not opens.isdisjoint(rest) else len(tokens)
    if len(rest) < 2 or len(rest) > MOST_ASKED or "," in rest:
        return len(tokens)
    if rest[0] in words["wh"]:
        is_clause = rest[1] in words["own_subjects"] | words["not_after_wh"] or rest[2:3] == ["why"]
        return len(tokens) if is_clause else first
    return first if rest[0] in words["question_starts"] and rest[1] in words["turned"] else len(tokens)


def _tells(sentence: Sentence, asked: int, language: Language, *, answers: bool) -> bool:
    """Whether a sentence tells something: beside what it asks from `asked` on, or of its own."""
    tokens, words = sentence.tokens, language.words
    if asked == len(tokens):
        return _says(_joined(tokens), language, answers=answers)
    before = _pattern("courtesy").sub(" ", _joined(tokens[:asked])).split()
    told = [word for word in _meaning(before, language) if word not in words["saying"]]
    is_reason = not (words["telling"] | words["own_subjects"]).isdisjoint(before)
    if words["supposing"].isdisjoint(before[:3]) and len(told) >= (1 if is_reason else LEAST_TOLD):
        return True
    asking = tokens[asked:]
    if any(char.isdigit() for token in asking for char in token.text):
        return True
    for place, token in enumerate(asking):
        if place and (token.text in words["opens_told"] or token.text == ","):
            return len(_meaning(_joined(asking[place + 1 :]).split(), language)) >= LEAST_TOLD
    return False


def _says(said: str, language: Language, *, answers: bool) -> bool:
    """Whether one of the clauses of a statement says more than courtesy, or that something is not known."""
    for clause in _CLAUSE.split(said):
        if answers and _pattern("unknown").search(clause):
            continue
        if _meaning(_pattern("courtesy").sub(" ", clause).split(), language):
            return True
    return False


def _meaning(said: Iterable[str], language: Language) -> list[str]:
    """The words that mean something by themselves."""
    silent = word_languages()[language.code].stop_words | language.function_words
    silent = silent.union(*(language.words[name] for name in _SILENT))
    return [word for word in said if _WORD.search(word) and word not in silent]


def _repeats(telling: Sequence[Sentence], language: Language, given: Sequence[str]) -> bool:
    """Whether the sentences have hardly any word that was not given, no number or name, and deny nothing."""
    code = word_language(" ".join(sentence.text for sentence in telling))
    known = frozenset[str]().union(*(stems(text, code) for text in given))
    words_given = frozenset[str]().union(*(words(text) for text in given))
    said = new = 0
    for token in chain.from_iterable(sentence.tokens for sentence in telling):
        if token.text in language.words["limiting"] and token.text not in words_given:
            return False
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
    phrases: list[str] = []
    for code in CODES:
        phrases += " ".join(language(code).table["telling"][name].split()).split(", ")
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b")
