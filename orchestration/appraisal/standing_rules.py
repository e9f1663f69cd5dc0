"""How a text says how its writer wants things done from now on: a rule, a preference, the end of a rule. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Final

from orchestration.appraisal.speech import Sentence, SpeechHit, sentences
from substrate.language.text import language_of, stem, words

MOST_RULE_CHARACTERS: Final = 400
INSTRUCTION_WITHIN: Final = 1200
"""At most this many characters of a text are searched for a standing instruction when memories are ranked."""
SHORT: Final = 5
"""A sentence of so few tokens that names a manner and says "always" is a rule without a verb; one of so few that
says "another rule" leads over to it."""
LONG: Final = 40
"""A sentence of more tokens tells a story or a task: nobody says a rule so."""


def is_standing_instruction(text: str) -> bool:
    """Whether a text says how its writer wants things done from now on, or what the writer prefers."""
    read = text[:INSTRUCTION_WITHIN]
    language = language_of(read)
    told = list(sentences(read, language))
    is_preferred = any(_is_a(hit, "preferences") for sentence in told for hit in sentence.hits)
    return is_preferred or find_rule(told) is not None


def is_revocation(text: str) -> bool:
    """Whether a text says that a rule no longer holds: "you can drop the three lines thing"."""
    read = text[:INSTRUCTION_WITHIN]
    told = sentences(read, language_of(read))
    return any(_is_a(hit, "revoked") for sentence in told for hit in sentence.hits)


def is_conditional(text: str) -> bool:
    """Whether a rule is for some requests only: "when I send you a paragraph", "for letters"."""
    conditions = language_of(text).telling.words["rule_conditions"]
    return any(word in conditions for word in text.lower().split())


def matter_of(text: str) -> frozenset[str]:
    """The stems of what a rule is about, without the words that every rule may have."""
    common = language_of(text).telling.words["rule_common"]
    return frozenset(stem(word) for word in words(text) if word not in common)


def read_rule(text: str, read: Sequence[Sentence]) -> str | None:
    """The words of the first sentence that bids the listener to do something from now on."""
    sentence = find_rule(read)
    if sentence is None:
        return None
    start, end = sentence.tokens[0].start, sentence.tokens[-1].end
    return " ".join(text[start:end].split())[:MOST_RULE_CHARACTERS]


def find_rule(read: Sequence[Sentence]) -> Sentence | None:
    """The first sentence that bids the listener to do something from now on.

    Either one phrase says so ("in every answer"), or a sentence bids, and something near it says that this is to
    last: a word such as `always`, a condition such as "when you write", or an announcement such as "another rule".
    """
    signals = [_signals(sentence) for sentence in read]
    for place, sentence in enumerate(read):
        if len(sentence.tokens) > LONG or _asks(sentence):
            continue
        if any(_bids(sentence, hit) for hit in sentence.hits if hit.entry.kind == "rules"):
            return sentence
        if _is_bid(sentence, signals[place]) and _lasts(place, read, signals):
            return sentence
        if "named" in signals[place] and "?" not in sentence.ending:
            is_lead = len(sentence.tokens) <= SHORT and place + 1 < len(read)
            return read[place + 1] if is_lead else sentence
    return None


def _asks(sentence: Sentence) -> bool:
    """Whether a sentence asks for help once: "do you have tips"; "can you" may bid as well."""
    bids = {hit.start for hit in sentence.hits if hit.entry.kind == "rules"}
    return any(hit.entry.kind == "questions" and hit.start not in bids for hit in sentence.hits)


def _is_bid(sentence: Sentence, signals: frozenset[str]) -> bool:
    """Whether a sentence tells the listener how to speak or what to do: "keep it short", "sentences, always"."""
    if "bids" in signals:
        speaks = {"lasting", "conditions"} <= signals or "manner" in signals
        return speaks or not sentence.words["listener"].isdisjoint(sentence.texts)
    return "manner" in signals and "lasting" in signals and len(sentence.tokens) <= SHORT


def _lasts(place: int, read: Sequence[Sentence], signals: Sequence[frozenset[str]]) -> bool:
    """Whether the bid at a place is for good: said in it, announced before it, or said of it after it."""
    if signals[place] & {"lasting", "conditions"} or any(
        near & {"announced", "named"} for near in signals[max(0, place - 2) : place + 1]
    ):
        return True
    points = read[place].words["points_back"]
    after = range(place + 1, min(len(read), place + 4))
    return any(
        "lasting" in signals[later] and (len(read[later].tokens) <= 2 or not points.isdisjoint(read[later].texts))
        for later in after
    )


def _is_a(hit: SpeechHit, *names: str) -> bool:
    """Whether a phrase stands under one of these names of `rules` in the file."""
    return hit.entry.kind == "rules" and hit.entry.value in names


def _places(sentence: Sentence, *names: str) -> frozenset[int]:
    """The places of the tokens of phrases under these names."""
    named = [range(hit.start, hit.end) for hit in sentence.hits if _is_a(hit, *names)]
    return frozenset(chain.from_iterable(named))


def _signals(sentence: Sentence) -> frozenset[str]:
    """What the phrases of a sentence are, by the names of `rules` in the file; an imperative is one of `bids`."""
    found: set[str] = set()
    wished = _places(sentence, "bids")
    once = _places(sentence, "once")
    lasts = any(_is_a(hit, "lasting") and hit.start not in once for hit in sentence.hits)
    for hit in sentence.hits:
        kind, value = hit.entry.kind, hit.entry.value
        if kind != "rules" or sentence.is_reported(hit):
            continue
        if hit.start in once and not lasts:
            continue
        if value == "verbs":
            found |= {"bids"} if _opens(sentence, hit) else set()
        elif value == "manner" or not _own_before(sentence, hit, wished):
            found.add(value)
    return frozenset(found)


def _opens(sentence: Sentence, hit: SpeechHit) -> bool:
    """Whether a verb is an imperative: it opens its clause, or follows a condition, and has no subject.

    The verb of a condition ("if you say so") is none, nor that of a question ("tell me, what is your plan?").
    """
    words, texts = sentence.words, sentence.texts
    if hit.start in _places(sentence, "conditions"):
        return False
    if "?" in sentence.ending and not any(_is_a(each, "lasting", "conditions") for each in sentence.hits):
        return False
    start = sentence.clause_start(hit.start)
    leads = words["polite"] | words["bid_leads"]
    covered = _places(sentence, "lasting", "announced", "named", "conditions")
    place = hit.start - 1
    while place >= start and (place in covered or texts[place] in leads):
        place -= 1
    if place < start:
        return True
    if place < hit.start - 1 and texts[place + 1] in words["joins"]:
        # "They are old and always remind me of that day" goes on about another.
        return texts[start] not in words["others"] - words["addressed"]
    if not any(_is_a(each, "conditions") and start <= each.start < hit.start for each in sentence.hits):
        return False
    return texts[hit.start - 1] not in words["no_bid_after"]


def _bids(sentence: Sentence, hit: SpeechHit) -> bool:
    """Whether a phrase alone is a rule and speaks to the listener: not "I will do so in every answer"."""
    words, texts = sentence.words, sentence.texts
    if hit.entry.value == "anywhere":
        after = texts[hit.end] if hit.end < len(texts) else ""
        return after not in words["own_subjects"] and not _own_before(sentence, hit)
    if hit.entry.value != "start":
        return False
    before = texts[sentence.clause_start(hit.start) : hit.start]
    after = next((text for text in texts[hit.end :] if text != ","), "")
    listens = not words["listener"].isdisjoint(sentence.texts) or any(
        _is_a(each, "asked") for each in sentence.hits
    )
    return listens and _may_bid(after, words) and words["polite"].issuperset(before)


def _may_bid(word: str, words: Mapping[str, frozenset[str]]) -> bool:
    """Whether the word after `always` may be an imperative: not `misses`, `being`, `happy`."""
    inflected = word.endswith(tuple(words["inflected"])) and not word.endswith("ss")
    return word.isalpha() and word not in words["rule_not"] and not inflected


def _own_before(sentence: Sentence, hit: SpeechHit, wished: Collection[int] = frozenset()) -> bool:
    """Whether the speaker is the subject of the clause: "I will do it differently from now on".

    `wished`: the places of phrases such as "I want you to", whose subject is not meant.
    """
    places = range(sentence.clause_start(hit.start), hit.start)
    said = {sentence.texts[place] for place in places if place not in wished}
    return not said.isdisjoint(sentence.words["own_subjects"]) and said.isdisjoint(sentence.words["addressed"])
