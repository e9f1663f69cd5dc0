"""How a phrase stands in its sentence: whose it is, negated, supposed or asked, and to which degree. Pure."""

from __future__ import annotations

from enum import Enum
from typing import Final

from orchestration.appraisal.speech import Hit, Sentence
from substrate.language.languages import Language

NEGATION_REACH: Final = 3
"""A word is negated when one of this many words before it in its clause is a negation."""
UNFINISHED_REACH: Final = 5


class Owner(Enum):
    """Who a phrase tells about: the speaker, somebody else, something that is no person, or nobody named."""

    OWN = "own"
    OTHER = "other"
    THING = "thing"
    NOBODY = "nobody"


def is_negated(sentence: Sentence, hit: Hit, language: Language) -> bool:
    start = max(sentence.clause_start(hit.start), hit.start - NEGATION_REACH)
    negations, undone = language.telling.words["negations"], language.telling.words["negation_undone"]
    for place in range(start, hit.start):
        if sentence.tokens[place].text in negations and sentence.tokens[place + 1].text not in undone:
            return True
    after = sentence.tokens[hit.end : hit.end + NEGATION_REACH]
    return any(token.text in language.telling.words["negations_after"] for token in after)


def is_told(sentence: Sentence, hit: Hit, language: Language) -> bool:
    """Whether the speaker tells a phrase of now: not denied, supposed, reported from others or long over."""
    return is_told_of_others(sentence, hit, language) and not is_reported(sentence, hit, language)


def is_told_of_others(sentence: Sentence, hit: Hit, language: Language) -> bool:
    """The same for what others did, who may have said so themselves: "they say they will not pay"."""
    ways = (is_negated, is_supposed, is_over)
    return not any(way(sentence, hit, language) for way in ways)


def is_reported(sentence: Sentence, hit: Hit, language: Language) -> bool:
    """True for what somebody else says: "according to Omar it is fixed"; not for "I think it is fixed"."""
    words, tokens = language.telling.words, sentence.tokens
    for place in range(hit.start):
        own = place > 0 and tokens[place - 1].text in words["own_subjects"]
        if tokens[place].text in words["reporting"] and not own:
            return True
    return False


def is_over(sentence: Sentence, hit: Hit, language: Language) -> bool:
    """True for what was once: "I used to be afraid", "we were stuck, but that is long gone"."""
    marks = [other.start for other in sentence.hits if other.entry.kind == "past"]
    return any(mark > hit.start or mark >= sentence.clause_start(hit.start) for mark in marks)


def opens_clause(sentence: Sentence, hit: Hit, language: Language) -> bool:
    """Whether only degree words and the like come before a phrase in its clause: the speaker left out the "I"."""
    words = language.telling.words
    may_precede = words["skipped"] | words["polite"] | words["joins"]
    before = sentence.tokens[sentence.clause_start(hit.start) : hit.start]
    return all(token.text in may_precede for token in before)


def is_supposed(sentence: Sentence, hit: Hit, language: Language) -> bool:
    """True in a clause that says what would, could or should be; "and I" begins another, unless it goes on to
    suppose: "it sounds muddy and I am fed up", but not "if it rains and I am fed up".
    """
    words, start = language.telling.words, sentence.clause_start(hit.start)
    if _any_before(sentence, hit, words["hypothetical"] & (words["supposing"] | words["doubts"]), start):
        return True
    for place in range(start, hit.start - 1):
        joined = sentence.tokens[place].text in words["joins"]
        if joined and sentence.tokens[place + 1].text in words["own_subjects"] | words["things"]:
            start = place + 1
    return _any_before(sentence, hit, words["hypothetical"], start)


def is_unfinished(sentence: Sentence, hit: Hit, language: Language) -> bool:
    """True for a result that is still to come: "until it is done", "to be fixed", "not solved yet"."""
    start = max(sentence.clause_start(hit.start), hit.start - UNFINISHED_REACH)
    after = sentence.tokens[hit.end : hit.end + 2]
    words = language.telling.words
    is_ahead = any(token.text in words["not_yet"] for token in after)
    return is_ahead or _any_before(sentence, hit, words["unfinished"], start)


def _any_before(sentence: Sentence, hit: Hit, words: frozenset[str], start: int) -> bool:
    return any(sentence.tokens[place].text in words for place in range(start, hit.start))


def asked_from(sentence: Sentence, language: Language) -> int:
    """The place from which the sentence asks or bids; its length when it does not.

    In "I am stuck, can you help?" only the second clause is a question.
    """
    leads = [hit.start for hit in sentence.hits if hit.entry.kind == "questions"]
    if "?" in sentence.ending:
        leads.append(_first_question(sentence, language))
    return min(leads, default=len(sentence.tokens))


def _first_question(sentence: Sentence, language: Language) -> int:
    """The place of the first clause that begins as a question; the last clause of several when none does."""
    starts, joins = language.telling.words["question_starts"], language.telling.words["joins"]
    last = 0
    for place, token in enumerate(sentence.tokens):
        begins = sentence.begins_clause(place)
        if token.text in starts and (begins or sentence.tokens[place - 1].text in joins):
            return place
        if begins:
            last = place
    return last


def owner_of(sentence: Sentence, hit: Hit, language: Language) -> Owner:
    """Who the phrase tells about, by the words before it in its clause, the nearest first."""
    words, tokens = language.telling.words, sentence.tokens
    start = sentence.clause_start(hit.start)
    own = words["own_subjects"] | words["own_objects"] | words["own_possessives"] | words["own_copulas"]
    if any(token.text in own for token in tokens[hit.start : hit.end]):
        return Owner.OWN
    linked = tokens[hit.start].text in words["copulas"]
    for place in range(hit.start - 1, start - 1, -1):
        word, is_capital = tokens[place].text, tokens[place].shape == "a"
        if word in own - words["own_possessives"]:
            return Owner.OWN
        is_name = language.names.have_capitals and is_capital and place > 0
        if is_name or word in words["others"] or word in words["people"]:
            return Owner.OTHER
        if word in words["copulas"]:
            linked = True
        elif linked and word not in words["skipped"]:
            return _owner_of_subject(sentence, place, start, language)
    return Owner.NOBODY


def _owner_of_subject(sentence: Sentence, place: int, start: int, language: Language) -> Owner:
    """Who the noun before a verb such as `was` is. A capitalised word alone counts as a name."""
    words = language.telling.words
    for earlier in range(place, max(start, place - 3) - 1, -1):
        word = sentence.tokens[earlier].text
        if word in words["own_subjects"]:
            return Owner.OWN
        if word in words["others"] or word in words["people"]:
            return Owner.OTHER
    token = sentence.tokens[place]
    is_name = place == start and token.shape == "a" and token.text not in language.telling.function_words
    return Owner.OTHER if is_name and token.text not in words["things"] else Owner.THING


def degree(sentence: Sentence, hit: Hit, language: Language) -> int:
    """2 for `extremely`, 1 for `very`, −1 for `a bit`, else 0: the strongest of the words before a phrase."""
    steps, degrees = {"top": 2, "high": 1, "low": -1}, language.telling.degrees
    found: list[int] = []
    for token in sentence.tokens[max(sentence.clause_start(hit.start), hit.start - 3) : hit.start]:
        found += (step for name, step in steps.items() if token.text in degrees[name])
    return max(found, key=abs, default=0)
