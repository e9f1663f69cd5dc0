"""What a text says as a signal: emotion, result, relations (002, known problems 4 to 6). Pure.

By lexicon and by what the graph holds, not by a list of keywords for one life.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from schemas.wave_signal import Relation
from substrate.emotions import EMOTION_WORDS
from substrate.text import STOP_WORDS, name_key, stem, words

REACH_OF_NO: Final = 3
"""A word is negated by a negation at most so many words before it."""
MAX_RELATIONS: Final = 16

_NO: Final = frozenset(
    """no not never none without hardly barely nor neither nothing cannot don doesn didn isn aren wasn weren won
    wouldn couldn shouldn hasn haven hadn cant dont doesnt didnt isnt wasnt""".split()
)
_GOOD: Final = """success succeed solve resolve fix achieve accomplish win accept improve finish complete pass
    praise thank repair recover heal learn grow progress breakthrough approve deliver reconcile satisfy
    work""".split()
_BAD: Final = """fail failure error break broken broke lose lost reject block crash pain hurt wrong refuse
    criticize damage stuck abandon unsatisfied ignore defeat bug suffer deadlock worse insult""".split()
_RESULT_BY_STEM: Final = {stem(word): side for side, known in ((1, _GOOD), (-1, _BAD)) for word in known}
_EMOTION_BY_STEM: Final = {stem(word): emotion for word, emotion in EMOTION_WORDS.items()}


class Place(NamedTuple):
    """A name and where it stands in the words of a text, `[start, end)`."""

    start: int
    end: int
    name: str


def _affirmed(said: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    for place, word in enumerate(said):
        before = said[max(0, place - REACH_OF_NO) : place]
        yield place, word, not any(word in _NO for word in before)


def emotion_in(text: str) -> str | None:
    """The emotion that the text names most often, of equals the last; a negated one is not felt."""
    felt: Counter[str] = Counter()
    last: dict[str, int] = {}
    for place, word, affirmed in _affirmed(words(text)):
        emotion = EMOTION_WORDS.get(word) or _EMOTION_BY_STEM.get(stem(word))
        if emotion is not None and affirmed:
            felt[emotion] += 1
            last[emotion] = place
    return max(felt, key=lambda emotion: (felt[emotion], last[emotion]), default=None)


def result_in(text: str) -> str | None:
    """`positive`, `negative`, or `complex` when the text says both; a negation turns a word around."""
    sides = {
        side if affirmed else -side
        for _, word, affirmed in _affirmed(words(text))
        if (side := _RESULT_BY_STEM.get(stem(word))) is not None
    }
    if len(sides) > 1:
        return "complex"
    return {1: "positive", -1: "negative"}[sides.pop()] if sides else None


def telling(text: str, names: Sequence[str]) -> list[str]:
    """The distinct words of a text that could say a relation: neither stop words nor parts of names."""
    named = {word for name in names for word in name_key(name).split()}
    return [w for w in dict.fromkeys(words(text)) if w not in STOP_WORDS and w not in named and not w.isdigit()]


def same_stem(word: str, relation_type: str) -> bool:
    """Whether a word is a form of the relation: `criticizing` and CRITICIZED."""
    return stem(word) in {stem(part) for part in words(relation_type.replace("_", " ")) if part not in STOP_WORDS}


def relations_in(
    text: str, names: Sequence[str], types: Sequence[str], alike: Callable[[str, str], bool] = same_stem
) -> tuple[Relation, ...]:
    """The relations of `types` that the text says, each between the names that stand nearest around the word.

    `by` after the word turns it around: `praised by Kai`. `types` are relation types that exist in the graph.
    """
    said = words(text)
    places = _places(said, names)
    meant = {word: next((kind for kind in types if alike(word, kind)), None) for word in telling(text, names)}
    found: dict[Relation, None] = {}
    for place, word, affirmed in _affirmed(said):
        kind = meant.get(word)
        if kind is None or not affirmed:
            continue
        before = max((p for p in places if p.end <= place), key=lambda p: p.end, default=None)
        after = min((p for p in places if p.start > place), key=lambda p: p.start, default=None)
        ends = (before.name if before else None, after.name if after else None)
        source, target = ends[::-1] if said[place + 1 : place + 2] == ["by"] else ends
        found[Relation(relation_type=kind, source=source, target=target)] = None
    return tuple(found)[:MAX_RELATIONS]


def _places(said: Sequence[str], names: Sequence[str]) -> list[Place]:
    found = []
    for name in names:
        sought = name_key(name).split()
        size = len(sought)
        found += [
            Place(start, start + size, name)
            for start in range(len(said) - size + 1)
            if size and said[start : start + size] == sought
        ]
    return found


def by_likeness(vectors: Mapping[str, Sequence[float]], floor: float) -> Callable[[str, str], bool]:
    """Whether a word is a form of a relation, or at least `floor` alike in meaning by unit vectors of both."""

    def alike(word: str, relation_type: str) -> bool:
        if same_stem(word, relation_type):
            return True
        left, right = vectors.get(word), vectors.get(spoken(relation_type))
        return left is not None and right is not None and sum(map(float.__mul__, left, right)) >= floor

    return alike


def spoken(relation_type: str) -> str:
    """A relation type as one says it."""
    return relation_type.replace("_", " ").lower()
