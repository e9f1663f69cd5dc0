"""Reads emotions and outcomes: what a text names, and what its speaker feels (002, problems 4 and 5). Pure.

Intensities are in [0.1, 1]: 0.6 for a plain word, more for a strong one, with `very`, capitals or an exclamation
mark, when said twice; less for a mild one and with `a bit`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from orchestration.appraisal import phrases
from orchestration.appraisal.phrases import FEELINGS
from orchestration.appraisal.speech import NEGATION_REACH, Owner, Sentence, SpeechHit, sentences
from substrate.emotions import POSITIVE
from substrate.language.languages import Language
from substrate.language.text import language_of

PLAIN: Final = 0.6
STRONGER: Final = 0.2
"""What a strong word adds, and what a mild one takes."""
BY_DEGREE: Final = {2: 0.3, 1: 0.15, 0: 0.0, -1: -0.25}
EMPHASIS: Final = 0.1
"""What an exclamation mark, capitals, stretched letters and a repetition add each."""
LEAST: Final = 0.1
REPLY: Final = 240
"""What came of an act is told in the first this many characters of a reply, if at all."""


def read_emotions(text: str) -> dict[str, float]:
    """The emotions that a text names without a negation, of whomever, with their intensities.

    The most frequent comes first; of equally frequent ones the one named last. For questions and signals.
    """
    language = language_of(text)
    counts: Counter[str] = Counter()
    last: dict[str, int] = {}
    felt: dict[str, float] = {}
    for number, sentence in enumerate(sentences(text, language, phrases.feelings(language.code))):
        for hit in sentence.hits:
            emotion = hit.entry.value
            if hit.entry.kind not in FEELINGS or sentence.is_negated(hit):
                continue
            counts[emotion] += 1
            last[emotion] = number * 1000 + hit.start
            felt[emotion] = max(felt.get(emotion, 0.0), intensity(sentence, hit))
    order = sorted(counts, key=lambda emotion: (-counts[emotion], -last[emotion]))
    return {emotion: felt[emotion] for emotion in order}


def own_emotions(read: Sequence[Sentence]) -> dict[str, float]:
    """The emotions that the speaker tells as felt, with their intensities; the strongest first."""
    felt: dict[str, float] = {}
    ironic = any(hit.entry.kind == "irony" for sentence in read for hit in sentence.hits)  # "oh great, another"
    for sentence in read:
        for hit in sentence.told():
            if hit.entry.kind not in FEELINGS or (ironic and hit.entry.value in POSITIVE):
                continue
            if _is_felt(sentence, hit):
                strength = intensity(sentence, hit)
                again = EMPHASIS if hit.entry.value in felt else 0.0
                felt[hit.entry.value] = min(1.0, max(felt.get(hit.entry.value, 0.0), strength) + again)
    return {emotion: round(felt[emotion], 2) for emotion in sorted(felt, key=lambda each: -felt[each])}


def _is_felt(sentence: Sentence, hit: SpeechHit) -> bool:
    """Whether a phrase for an emotion tells what the speaker feels: not denied, supposed or of somebody else."""
    if not sentence.is_told(hit):
        return False
    kind = hit.entry.kind
    owner = sentence.owner_of(hit)
    if kind in ("told", "evoking"):
        return owner is not Owner.OTHER
    if kind == "nouns":
        return owner is not Owner.OTHER and _is_had(sentence, hit)
    # A word such as `gutted` may begin its clause, apart from degree words: the speaker left out "I am".
    words = sentence.words
    may_precede = words["skipped"] | words["copulas"] | words["negations"] | words["polite"]
    before = sentence.texts[sentence.clause_start(hit.start) : hit.start]
    return owner is Owner.OWN or (owner is Owner.NOBODY and may_precede.issuperset(before))


def _is_had(sentence: Sentence, hit: SpeechHit) -> bool:
    """Whether a noun such as `anger` follows "I feel", "my" or "with"."""
    leads = sentence.words["noun_leads"] | sentence.words["own_possessives"]
    for place in range(hit.start - 1, sentence.clause_start(hit.start) - 1, -1):
        word = sentence.texts[place]
        if word in leads:
            return True
        if word not in sentence.words["skipped"]:
            return False
    return False


def intensity(sentence: Sentence, hit: SpeechHit) -> float:
    """How strongly the emotion of a phrase is told, in [0.1, 1]."""
    degree = sentence.degree(hit)
    capitals = any(token.shape == "A" for token in sentence.tokens[hit.start : hit.end])
    emphasis = sum((capitals, "!" in sentence.ending, sentence.elongated))
    told = PLAIN + STRONGER * hit.entry.strength + BY_DEGREE[degree] + EMPHASIS * emphasis
    return round(max(LEAST, min(1.0, told)), 2)


def read_result(text: str) -> str | None:
    """`positive`, `negative`, `complex` for both, None for neither (002); a negation reverses a word."""
    language = language_of(text)
    return result_of(outcomes(sentences(text, language), language))


def outcomes(read: Iterable[Sentence], language: Language) -> set[int]:
    """The signs of the outcomes that sentences name: 1 for a good one, −1 for a bad one."""
    # Words for an outcome, not for a sentiment. VADER's 7,500 words of sentiment find a result in 298 of 300 turns
    # of a conversation (these words: in 103) and `complex` in 20 of 30 windows (these: in 2).
    signs: set[int] = set()
    negations, known = language.telling.words["negations"], _signs(language.code)
    for sentence in read:
        for place, word in enumerate(sentence.texts):
            sign = known.get(language.stem(word), 0)
            if sign:
                before = sentence.texts[max(0, place - NEGATION_REACH) : place]
                signs.add(sign if negations.isdisjoint(before) else -sign)
    return signs


@cache
def _signs(code: str) -> Mapping[str, int]:
    """By the stem of a word for an outcome 1 for a good one, −1 for a bad one."""
    language = Language.of(code)
    results, signs = language.telling.results, dict[str, int]()
    for name, sign in (("good", 1), ("bad", -1)):
        signs |= dict.fromkeys(map(language.stem, results[name]), sign)
    return signs


def result_of(signs: set[int]) -> str | None:
    if len(signs) > 1:
        return "complex"
    return {1: "positive", -1: "negative"}[next(iter(signs))] if signs else None


def read_reply(text: str) -> str | None:
    """What came of an act, by the beginning of the next turn of the other side; None where it does not say.

    Thanks are positive, as long as nothing else is told: "thanks, but it is still broken" is negative.
    """
    language = language_of(text)
    told: set[str] = set()
    for sentence in sentences(text[:REPLY], language, phrases.replies(language.code)):
        for hit in sentence.told():
            if sentence.is_supposed(hit):
                continue
            value = hit.entry.value
            if value == "praise":  # "great, thanks" praises, "a great idea came up" tells something else
                ends = hit.end == len(sentence.tokens) or sentence.begins_clause(hit.end + 1)
                value = "good" if ends and sentence.begins_clause(hit.start) else "idle"
            if sentence.is_negated(hit):
                value = "bad" if value == "good" else "idle"
            told.add(value)
    signs = {sign for value, sign in (("good", 1), ("bad", -1)) if value in told}
    return result_of(signs) or ("positive" if "thanks" in told else None)


AROUSAL: Final[Mapping[str, float]] = {
    **dict.fromkeys(("anger", "fear", "excitement", "surprise", "despair"), 1.0),
    **dict.fromkeys(("joy", "frustration", "determination", "drive", "tension", "love", "awe", "disgust"), 0.8),
    **dict.fromkeys(("pride", "anticipation", "hope", "curiosity", "shame", "guilt", "envy"), 0.5),
    **dict.fromkeys(("sadness", "loneliness", "boredom", "nostalgia"), -0.3),
    **dict.fromkeys(("calm", "relief", "tenderness", "trust", "gratitude"), -0.1),
}
"""How far an emotion moves the energy, in [−1, 1]: the arousal of Russell's circumplex (1980), in steps."""
