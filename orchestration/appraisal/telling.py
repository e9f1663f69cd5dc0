"""Whether a turn tells anything: one that only asks, gives thanks or repeats what was given is no evidence. Pure.

"What is my bank account number?" asks; "Since I moved to Faro, which bus do I take?" asks and tells. The words of
each language stand in `[telling]` of its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, takewhile
from typing import Final

from orchestration.appraisal.speech import Sentence, own_text, sentences
from orchestration.appraisal.standing_rules import is_standing_instruction
from schemas.memory import Silence
from substrate.language.languages import DEFAULT_LANGUAGE, Language
from substrate.language.text import stems, stop_words, word_language, words

LEAST_TOLD: Final = 2
"""A text tells something with this many words that mean something, beside what is asked."""
MOST_NEW: Final = 0.2
"""A text that repeats what was given has at most this share of other words, and no other number or name."""
MOST_ASKED: Final = 10
"""A question without its mark has at most this many words."""
MOST_PASTED: Final = 8
"""What asks about more words that are quoted or pasted tells them."""
_WORD: Final = re.compile(r"[^\W_]")
_NUMBER: Final = re.compile(r"\d")
_WIDE_MARKS: Final = str.maketrans("？！。", "?!.")
_SILENT: Final = ("polite", "skipped", "own_subjects", "own_objects", "own_possessives")


def read_silence(text: str, *, answers: bool = False, given: Sequence[str] = ()) -> Silence | None:
    """Why a turn tells nothing; None for one that tells something, and wherever that is not sure.

    `answers`: it is of the answering side, which says what it does not know, and may repeat the texts that it was
    `given`.
    """
    code = word_language(text)
    known = {each.code: each for each in Language.all()}
    spoken_in = known.get(code, known[DEFAULT_LANGUAGE])
    asks, spoken = False, False
    telling: list[Sentence] = []
    for sentence in sentences(_abbreviation().sub(r"\1", text.translate(_WIDE_MARKS)), spoken_in):
        if not _WORD.search(sentence.text):
            continue
        spoken = True
        start = _asked_from(sentence)
        asks = asks or start < len(sentence.tokens)
        if _tells(sentence, start, answers=answers) and not (asks and _says_how(sentence)):
            telling.append(sentence)
    if not spoken:
        return None if _WORD.search(text) else "Courtesy"
    if not telling:
        pasted = len(text.split()) - len(own_text(text, spoken_in).split())
        return None if pasted > MOST_PASTED else "Question" if asks else "Courtesy"
    return "Echo" if answers and given and _repeats(telling, spoken_in, given) else None


def _asked_from(sentence: Sentence) -> int:
    """The place from which a sentence asks; its length where it does not.

    Many leave out the mark: "what is my number" begins as a question does. "The code is 8812?" has the mark, and
    tells.
    """
    texts, words = sentence.texts, sentence.words
    first = next((place for place, text in enumerate(texts) if text not in words["polite"]), 0)
    rest = texts[first:]
    if _pattern("asking").match(" ".join(rest)):
        return first
    if "?" in sentence.ending:
        opening, second = (*rest, "", "")[:2]
        joined = opening in words["telling"] | words["supposing"]
        is_turned = second in words["own_subjects"] | words["others"] and not joined
        if opening in words["question_starts"] or is_turned or not words["wh"].isdisjoint((opening, second)):
            return first
        start = sentence.asked_from()
        return start if start or len(rest) == 1 or not words["wh"].isdisjoint(rest) else len(texts)
    if len(rest) < 2 or len(rest) > MOST_ASKED or "," in rest:
        return len(texts)
    if rest[0] in words["wh"]:
        is_clause = rest[1] in words["own_subjects"] | words["not_after_wh"] or {*rest[2:3]} & words["second_wh"]
        return len(texts) if is_clause else first
    return first if rest[0] in words["question_starts"] and rest[1] in words["turned"] else len(texts)


def _tells(sentence: Sentence, asked: int, *, answers: bool) -> bool:
    """Whether a sentence tells something: beside what it asks from `asked` on, or of its own."""
    words, said = sentence.words, sentence.texts
    if asked == len(said):
        # More than courtesy in one of the clauses, or that something is not known.
        for clause in _break().split(" ".join(said)):
            if answers and _pattern("unknown").search(clause):
                continue
            if _meaning(_pattern("courtesy").sub(" ", clause).split(), sentence.language):
                return True
        return False
    before = _pattern("courtesy").sub(" ", " ".join(said[:asked])).split()
    told = [word for word in _meaning(before, sentence.language) if word not in words["saying"]]
    is_reason = not (words["telling"] | words["own_subjects"]).isdisjoint(before)
    if words["supposing"].isdisjoint(before[:3]) and len(told) >= (1 if is_reason else LEAST_TOLD):
        return True
    return _tells_beside(said[asked:], sentence.language)


def _says_how(sentence: Sentence) -> bool:
    """Whether a sentence beside a question only says how to answer it: "Mention only five items."."""
    words, said = sentence.words, sentence.texts
    is_bid = next((word for word in said if word not in words["polite"]), "") in words["answering"]
    return is_bid and words["own_subjects"].isdisjoint(said) and not is_standing_instruction(sentence.text)


def _tells_beside(asking: Sequence[str], language: Language) -> bool:
    """Whether a question tells something too: a reason ("now that I live in Faro"), what is known or to be noted
    ("did you know that Lena is pregnant"), or a clause beside it ("Jonas, who is allergic to nuts").

    What says of which thing one asks tells nothing: "the man who sold us the house", "on 3 May".
    """
    words = language.telling.words
    for place, word in enumerate(asking):
        clause = [*takewhile(lambda each: each != ",", asking[place + 1 :])]
        before, opening = frozenset(asking[max(0, place - 2) : place]), frozenset(clause[:2])
        own, number = words["own_subjects"] & opening, _NUMBER.search(" ".join(clause))
        # "Which plans did I mention that …", "what did I say I use": what was said is asked for, not told.
        auxiliary = (words["question_starts"] - words["wh"]).intersection(asking[max(0, place - 3) : place])
        of_what = bool(auxiliary) and not words["wh"].isdisjoint(asking[:place])
        locates = word in words["located"] and not words["once"].isdisjoint(asking[:place])
        if word == ",":
            first = next((each for each in clause if each not in words["joins"]), "")
            asks = first in words["wh"] | words["question_starts"] | words["supposing"] | words["relatives"]
            is_sentence = number or not (words["own_subjects"] | words["copulas"]).isdisjoint(clause)
            asks = asks or not words["answering"].isdisjoint(clause)
            is_told = first in words["told_of"] | words["beside"] or (is_sentence and not asks)
        elif word in words["told_of"]:
            is_told = bool(words["saying"] & before) and not of_what
        elif word in words["noting"] and words["turned"] & before:
            is_told = bool(number or words["to"] & opening)
        elif word in words["saying"]:
            is_told = bool(own) and not (words["wh"] & opening or of_what)
        else:
            is_told = word in words["reasons"] or (word in words["opens_told"] and bool(own))
        if place and is_told and not locates and len(_meaning(clause, language)) >= LEAST_TOLD:
            return True
    return False


def _meaning(said: Iterable[str], language: Language) -> list[str]:
    """The words that mean something by themselves."""
    silent = stop_words(language.code) | language.telling.function_words
    silent = silent.union(*(language.telling.words[name] for name in _SILENT))
    return [word for word in said if _WORD.search(word) and word not in silent]


def _repeats(telling: Sequence[Sentence], language: Language, given: Sequence[str]) -> bool:
    """Whether the sentences have hardly any word that was not given, no number or name, and deny nothing."""
    code = word_language(" ".join(sentence.text for sentence in telling))
    known = frozenset[str]().union(*(stems(text, code) for text in given))
    words_given = frozenset[str]().union(*map(words, given))
    said = new = 0
    for token in chain.from_iterable(sentence.tokens for sentence in telling):
        if token.text in language.telling.words["limiting"] and token.text not in words_given:
            return False
        if not _meaning([token.text], language):
            continue
        said += 1
        if token.text in language.telling.words["saying"] or stems(token.text, code) <= known:
            continue
        is_name = language.names.have_capitals and token.shape == "a" and token.start > 0
        if token.text.isdigit() or is_name:
            return False
        new += 1
    return new <= MOST_NEW * said


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Any of the phrases of a list, as whole words, in any language: "Vielen Dank!" does not tell which it is."""
    return re.compile(rf"\b(?:{_any(name)})\b")


@cache
def _abbreviation() -> re.Pattern[str]:
    return re.compile(rf"\b({_any('abbreviations')})\.(?=\s)")


@cache
def _break() -> re.Pattern[str]:
    return re.compile(rf"[,;:–—]|\b(?:{_any('breaks')})\b")


def _any(name: str) -> str:
    """The alternatives of a list of what tells nothing, the longest first."""
    return "|".join(sorted(Language.gather(f"telling.silence.{name}"), key=len, reverse=True))
