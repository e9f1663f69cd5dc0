"""The consciousness-aware score and the activation tiers (003, component 5). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import repeat
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

import orjson

from orchestration.ranking.candidates import Candidate, Key
from schemas.intention import Plurality
from schemas.memory import CONDITIONAL, IMPORTANT, REQUIRED, STORED_DEFAULTS, Level
from schemas.temporal import Instant, to_datetime
from substrate.emotions import cosine_similarities
from substrate.store.rows import NODE_PLACE

REALITY_PRESSURE: Final = 0.5
"""External urgency in [0, 1] where the request gives none (003)."""
FOCUS, PERIPHERAL, BACKGROUND = 5, 20, 50
"""The most memories of each tier (003, component 5)."""
STANDING_OUT: Final = 0.5
"""A memory in focus has at least this share of the greatest activation of the stream."""
SHARED: Final = 0.075
"""What a memory of a shared level loses against one's own in a question.

The same text scores differently in each graph, because its words are not equally rare there. Of 60 questions whose
answer stands word for word in N1, N2 and N3, each among 40 to 200 memories alike, one's own came first for 19
without it and for 49 with it; at 0.15 for all, but then a wrong one of one's own passed a right shared one in 22
instead of 3.
"""
_READ: Final = frozenset(("emotion_vector", "goal", "resolution_state"))
"""The metadata that is absent unless a writer gave it or the text tells it."""
_METADATA = (*REQUIRED, *IMPORTANT, *CONDITIONAL)
_PLACES = tuple(place for name, place in NODE_PLACE.items() if name in _METADATA)
_metadata = itemgetter(*_PLACES)
_UNSET: Final = NODE_PLACE["unset"]
_weighing = itemgetter(*(NODE_PLACE[name] for name in ("energy", "confidence", "emotion_vector", "unset")))


class Score(NamedTuple):
    """The consciousness score of one memory.

    `activation` is its relevance after spreading, in [0, 1]; `total` the sum of `terms`, about [−0.1, 2.1].
    """

    key: Key
    activation: float
    total: float
    terms: Mapping[str, float]


def priority(energy: float, pressure: float = REALITY_PRESSURE) -> float:
    """0.4 × energy + 0.6 × reality pressure, all in [0, 1]: external urgency counts more (003, component 5)."""
    return energy * 0.4 + pressure * 0.6


class _Weights(NamedTuple):
    """What the metadata of a memory bring to its score, with what was read from its text or without.

    `felt`: its emotions, as they are stored.
    """

    energy: float
    confidence: float
    incompleteness: float
    felt: str | None


@lru_cache(maxsize=256)
def _names(unset: str | None) -> frozenset[str]:
    return frozenset((unset or "").split(","))


@lru_cache(maxsize=256)
def _places_read(unset: str | None) -> tuple[int, ...]:
    """Where a row has the metadata that were read from the text."""
    return tuple(NODE_PLACE[name] for name in sorted(_READ & _names(unset)))


def completeness(memory: Candidate, *, inferred: bool = True) -> float:
    """The share of 003's 13 metadata fields that the memory has, in [0, 7/13] (003, component 6).

    A memory can have seven of them. The other six take the same off every score and change no order; dividing by
    seven would nearly double the weight that 003 gives to a missing field. Without `inferred`, what was read from
    the text counts as missing.
    """
    absent: int = _metadata(memory.row).count(None)
    if not inferred:
        row = memory.row
        for place in _places_read(row[_UNSET]):
            absent += row[place] is not None
    return (len(_PLACES) - absent) / len(_METADATA)


def consciousness_scores(
    memories: Iterable[Candidate],
    relevance: Iterable[float],
    emotions: Mapping[str, float],
    pressure: float = REALITY_PRESSURE,
    *,
    inferred: bool = True,
    shared: float = 0.0,
    whole: float = 1.0,
    mood: float | None = None,
) -> list[Score]:
    """relevance + 0.4 priority + 0.2 confidence + 0.5 resonance − 0.1 (1 − completeness) (003, component 5).

    `relevance`: after spreading, in [0, 1], in the order of `memories`. `emotions`: those of the
    question, in normal form; resonance is their cosine with those of the memory, in [0, 1]. `pressure` is in [0,
    1]. Without `inferred`, only what a writer gave counts: for a question, the words that tell the rest
    are scored already. `shared`: what a memory of a shared level loses. `whole`: by what `relevance` was
    divided; the other terms are, too, but for `shared`. A `mood` colours what answers: its resonance counts by
    relevance, and by this share.
    """
    weighed = [(memory.key, _weigh(memory, inferred=inferred)) for memory in memories]
    resonances: Iterable[float] = repeat(0.0)
    if emotions:
        felt = [orjson.loads(each.felt) if each.felt else None for _, each in weighed]
        resonances = cosine_similarities(felt, emotions).tolist()
    scores = []
    for (key, each), activation, resonance in zip(weighed, relevance, resonances, strict=False):
        terms = {
            "relevance": activation,
            "priority": 0.4 * priority(each.energy, pressure) / whole,
            "confidence": each.confidence / whole,
            "emotional_resonance": 0.5 * resonance * (1.0 if mood is None else mood * activation) / whole,
            "incompleteness": each.incompleteness / whole,
        }
        if shared and key[0] != Level.N1:
            terms["shared"] = -shared
        scores.append(Score(key, activation, sum(terms.values()), terms))
    return scores


def _weigh(memory: Candidate, *, inferred: bool) -> _Weights:
    name = "weighed_as_read" if inferred else "weighed_as_given"
    found: _Weights | None = memory.derived.get(name)
    if found is None:
        energy, confidence, stored, unset = _weighing(memory.row)
        read = frozenset[str]() if inferred else _names(unset)
        found = memory.derived[name] = _Weights(
            STORED_DEFAULTS["energy"] if "energy" in read else float(energy),
            0.2 * float(confidence),
            -0.1 * (1.0 - completeness(memory, inferred=inferred)),
            None if "emotion_vector" in read else stored,
        )
    return found


def in_rank_order(scores: Sequence[Score]) -> list[Score]:
    """Highest total first; equal ones by key, so that the same question has the same answer."""
    if len({score.total for score in scores}) < len(scores):
        return sorted(scores, key=lambda score: (-score.total, score.key))
    return sorted(scores, key=attrgetter("total"), reverse=True)


def greatest_activation(scores: Iterable[Score]) -> float:
    """The greatest activation of a stream, 0 for none."""
    return max((score.activation for score in scores), default=0.0)


def stands_out(score: Score, greatest: float) -> bool:
    """Whether a memory is active enough for the focus, `greatest` being the greatest activation of the stream."""
    return score.activation >= STANDING_OUT * greatest > 0.0


def tiers(
    scores: Sequence[Score],
    bare: Collection[Key] = frozenset(),
    *,
    nothing_fits: bool = False,
    whole: bool = False,
    instructions: Collection[Key] = frozenset(),
) -> tuple[list[Score], list[Score], list[Score]]:
    """Focus, peripheral, background: the next 5, 20 and 50 of the scores at most (003, component 5).

    Only what stands out is in focus, unless it is to be `whole`, as for a wish; with nothing relevant it is empty.
    The memories in `bare` have no text of their own, such as a speaker: they stand in the periphery at best. Where
    `nothing_fits` the question, only the standing `instructions` that shape the answer are in focus, and the
    nearest stand in the periphery.
    """
    speaking = [score for score in scores if score.key not in bare]
    if nothing_fits:
        speaking = [score for score in speaking if score.key in instructions]
    greatest = greatest_activation(speaking)
    focused = 0
    while focused < min(FOCUS, len(speaking)) and (
        stands_out(speaking[focused], greatest) or (whole and speaking[focused].activation > 0.0)
    ):
        focused += 1
    in_focus = {score.key for score in speaking[:focused]}
    rest = [score for score in scores if score.key not in in_focus]
    return speaking[:focused], rest[:PERIPHERAL], rest[PERIPHERAL : PERIPHERAL + BACKGROUND]


def levelled(order: Sequence[Score], term: str) -> list[Score]:
    """The scores with totals and activations that do not rise from one to the next.

    What was put above others has as much of everything as they have: it is no less of an answer. `term` of a score
    is what that added.
    """
    levels: list[Score] = []
    for score in reversed(order):
        below = levels[-1] if levels else score
        added = max(0.0, below.total - score.total)
        if added or below.activation > score.activation:
            terms = {**score.terms, term: added}
            score = Score(score.key, max(score.activation, below.activation), score.total + added, terms)
        levels.append(score)
    return levels[::-1]


DAY: Final = 86_400_000_000
"""Microseconds."""
HALF_LIFE_DAYS: Final = 30.0
"""After this many days a memory counts half (004), in a waking of scope `recent` so many more than its window."""
RECENCY_SHARE: Final = 0.2
"""The most that importance × recency adds to a score: as much as full confidence does."""
DRAWS: Final = 400
"""How many places are drawn for the random pool; most of them hold no memory of the scope."""

type Week = tuple[int, int]


def recency(days: float, half_life_days: float = HALF_LIFE_DAYS) -> float:
    """1 / (1 + days / half-life), in (0, 1]: ½ after one half-life, ⅓ after two (004, change 3).

    `days` is the age; a memory of the future counts as of today.
    """
    return 1.0 / (1.0 + max(0.0, days) / half_life_days)


def week(instant: Instant) -> Week:
    """ISO year and week, UTC."""
    year, number, _ = to_datetime(instant).isocalendar()
    return year, number


def seeded_numbers(seed: str, count: int = DRAWS) -> list[float]:
    """Random numbers in [0, 1), the same for the same seed."""
    return [
        int.from_bytes(blake2b(f"{seed}|{place}".encode(), digest_size=6).digest()) / 2**48
        for place in range(count)
    ]


def plurality_term(valid_at: Instant, importance: float | None, plurality: Plurality, moment: Instant) -> float:
    """0.2 × importance, at least the floor, × recency; in [0, 0.2] (004)."""
    age = recency((moment - valid_at) / DAY, plurality.half_life_days)
    return RECENCY_SHARE * max(plurality.importance_floor, importance or 0.0) * age


def spread_over_weeks(
    order: Sequence[Score], memories: Mapping[Key, Candidate], plurality: Plurality
) -> list[Score]:
    """The order with each tier spread over weeks: at most `per_week` of one week first, then others (004, change
    1).

    Only what stands out competes for the focus: spreading puts nothing there that is not about the question.
    """
    greatest = greatest_activation(order)
    outstanding = [score for score in order if stands_out(score, greatest)]
    chosen = _week_by_week(outstanding, memories, plurality.per_week)[:FOCUS]
    for size in (PERIPHERAL, BACKGROUND):
        rest = _without(order, chosen)
        chosen += _week_by_week(rest, memories, plurality.per_week)[:size]
    return chosen + _without(order, chosen)


def _without(order: Iterable[Score], chosen: Iterable[Score]) -> list[Score]:
    taken = {score.key for score in chosen}
    return [score for score in order if score.key not in taken]


def _week_by_week(order: Iterable[Score], memories: Mapping[Key, Candidate], per_week: int) -> list[Score]:
    first, rest = split_by_week(order, lambda score: int(memories[score.key].get("valid_at")), per_week)
    return first + rest


def split_by_week[T](
    items: Iterable[T], valid_at: Callable[[T], Instant], per_week: int
) -> tuple[list[T], list[T]]:
    """The first `per_week` items of each ISO week, and the others; both in the order given (004, change 1)."""
    seen: Counter[Week] = Counter()
    first: list[T] = []
    rest: list[T] = []
    for item in items:
        its_week = week(valid_at(item))
        seen[its_week] += 1
        (first if seen[its_week] <= per_week else rest).append(item)
    return first, rest
