"""Which of the hits of a question tell of one thing at different times, and in which order that puts them. Pure.

"I live in Berlin" and, half a year later, "the boxes are in Lisbon now" are a change: for a question about the
present the later one comes first, for one about the past the earlier one. `changes` says how likely a later hit
tells how it is now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Final, NamedTuple

from orchestration.question.reading import ANSWERING, Question
from orchestration.question.tense import Tense
from orchestration.ranking.candidates import Candidates, Key
from orchestration.ranking.changes import (
    LEAST_CHANGE,
    LEAST_SHARE,
    LIKELY,
    MOST_READ,
    SAID,
    SAID_BESIDE,
    Change,
    ComparedHit,
    Whose,
    find_changes,
)
from orchestration.ranking.consciousness_score import Score, levelled
from orchestration.ranking.texts import MemoryText, told_by
from schemas.memory import GraphKey
from schemas.temporal import END_OF_TIME
from substrate.language.text import stems, word_language

PART: Final = "currency"
"""The term of a score that says what it gained for being true now."""
FOCUS: Final = 5
"""Within this many of the best hits the order is by time, where they tell of one thing."""
FOCUS_OF_PAST: Final = 3
"""The same in a question about the past: what was asked for stands there already, more often than not."""
REORDERED_PAST: Final = 0.6
"""In a question about the past a change this likely, as a share of the likeliest, is one by which hits change
places."""
RAISED: Final = 0.3
"""The same for a later hit that is brought into the focus from below."""


class Comparison(NamedTuple):
    """The best hits that speak for themselves, best first, and the changes among them, by their places.

    `giving`: the places of those that give a thing of the kind asked for, other than by the answering side.
    `of_now`: the question asks what is so, now or formerly.
    """

    keys: Sequence[Key] = ()
    changes: Sequence[Change] = ()
    giving: Collection[int] = ()
    of_now: bool = True

    def held_before(self) -> dict[Key, Key]:
        """By each hit that tells what no longer holds, the later one that most likely tells what does instead.

        Only a question about what is so, now or formerly, says what of it no longer holds. Of the hit that answers
        it best less is asked for: what only stands beside it may be of something else.
        """
        held: dict[Key, Key] = {}
        for change in sorted(self.changes, key=lambda each: each.probability):
            answers_best = change.earlier <= (change.later == 0)
            if self.of_now and change.probability >= (SAID if answers_best else SAID_BESIDE):
                held[self.keys[change.earlier]] = self.keys[change.later]
        return held

    def without(self, pairs: Collection[tuple[str, str]]) -> Comparison:
        """The same without changes from one memory to another, by ids, that the citizen says are none."""
        if not pairs:
            return self
        keys = self.keys
        changes = [each for each in self.changes if (keys[each.earlier][1], keys[each.later][1]) not in pairs]
        return self._replace(changes=changes)


NO_COMPARISON: Final = Comparison()


def compare_hits(order: Sequence[Score], candidates: Candidates, question: Question) -> Comparison:
    """The changes among the best of the candidates, which come best first."""
    memories = candidates.memories
    known_to = min(candidates.known_to, END_OF_TIME)
    language = word_language(question.text)
    kind, asked = question.answer_kind, stems(question.text)
    attribute = frozenset[str]().union(*(words for _, words in question.alike))
    keys: list[Key] = []
    hits: list[ComparedHit] = []
    giving: set[int] = set()
    for score in order:
        memory = memories[score.key]
        told = told_by(memory)
        if not told.speaks(known_to):
            continue
        text, said = told.text, told.text.stems(language)
        if kind is not None and told.by not in ANSWERING and text.gives(kind, asked):
            giving.add(len(hits))
        keys.append(score.key)
        hits.append(
            ComparedHit(
                told.began,
                _voice(score.key, told),
                score.total,
                memory.likeness,
                text,
                text.voice,
                said,
                language,
                memory.shown is not None,
                not said.isdisjoint(attribute),
            )
        )
        if len(hits) >= MOST_READ:
            break
    of_now = question.tense is not Tense.EVENT and not question.wishes
    return Comparison(keys, find_changes(hits, stems(question.text, language)), giving, of_now=of_now)


def fold_duplicates(
    order: Sequence[Score], candidates: Candidates
) -> tuple[list[Score], dict[Key, tuple[str, ...]]]:
    """The order without hits that say only what a better one of the same voice says, and the ids of those by it.

    Words that differ by case or punctuation are the same. So little a text as "thanks a lot" may be said twice;
    and two memories that are felt otherwise, or linked with each other, are two.
    """
    known_to = min(candidates.known_to, END_OF_TIME)
    memories = candidates.memories
    kept: list[Score] = []
    first: dict[tuple[Hashable, Whose], Key] = {}
    others: defaultdict[Key, list[str]] = defaultdict(list)
    linked: frozenset[tuple[GraphKey, str, str]] | None = None
    for score in order:
        key = score.key
        told = told_by(memories[key])
        said = told.said if told.speaks(known_to) else None
        best = key if said is None else first.setdefault((said, _voice(key, told)), key)
        if best is key or best[1] == key[1]:
            kept.append(score)
            continue
        if linked is None:
            linked = frozenset((link.graph_key, link.source, link.target) for link in candidates.links.values())
        if (key[0], best[1], key[1]) in linked or (key[0], key[1], best[1]) in linked:
            kept.append(score)
        else:
            others[best].append(key[1])
    return kept, {key: tuple(ids) for key, ids in others.items()}


def _voice(key: Key, told: MemoryText) -> Whose:
    """Whose words a memory is: level and speaker, or author; the answering side is one voice on all levels."""
    return told.by if told.by in ANSWERING else (key[0], told.by)


def order_by_currency(comparison: Comparison, tense: Tense | None, *, raising: bool) -> list[int]:
    """The places of the hits, which come best first, in the order that a question of this tense asks for.

    Present, and where something is to be done: within the focus a later hit stands above the earlier one whose
    subject it tells of; with `raising`, one from below takes the place of the hit in focus that has least to do
    with a change, unless the last one there gives what is asked for. Formerly: the earlier one stands above the
    later one. The hits of a question about an event keep their order: that happened once.
    """
    # "Book me a seat" asks for nothing that holds now; only what surely changed counts there.
    changes = [each for each in comparison.changes if tense or each.probability >= LIKELY]
    places = list(range(len(comparison.keys)))
    if tense is Tense.EVENT or not changes:
        return places
    likeliest = max(LEAST_CHANGE, max(change.probability for change in changes))
    shares = {(change.earlier, change.later): change.probability / likeliest for change in changes}
    if tense is Tense.FORMER:
        later_ones = {(later, earlier): share for (earlier, later), share in shares.items()}
        return _with_head(places, _rearranged(places[:FOCUS_OF_PAST], later_ones, REORDERED_PAST))
    raising = raising and FOCUS - 1 not in comparison.giving
    head = _raised(places[:FOCUS], shares) if raising else places[:FOCUS]
    return _with_head(places, _rearranged(head, shares, LEAST_SHARE))


def order_scores(scores: Sequence[Score], comparison: Comparison, question: Question) -> Sequence[Score]:
    """The scores, best first, as `order_by_currency` places those that were compared; the others stay in place.

    A question that is broad, or seeks the latest or the earliest, has its own order; one in the present tense that
    names a time asks for what was then.
    """
    of_then = bool(question.periods) and question.tense is Tense.PRESENT
    if question.broad or question.seeking or of_then:
        return scores
    compared = set(comparison.keys)
    places = [place for place, score in enumerate(scores) if score.key in compared]
    order = list(scores)
    for place, other in zip(
        places, order_by_currency(comparison, question.tense, raising=question.own), strict=True
    ):
        order[place] = scores[places[other]]
    return levelled(order, PART)


def _with_head(places: Sequence[int], head: Sequence[int]) -> list[int]:
    chosen = set(head)
    return [*head, *(place for place in places if place not in chosen)]


def _raised(head: Sequence[int], shares: Mapping[tuple[int, int], float]) -> list[int]:
    """The focus with the later hit from below that most likely tells how it is now, if one is likely enough."""
    tie: defaultdict[int, float] = defaultdict(float)
    from_below: defaultdict[int, float] = defaultdict(float)
    for (earlier, later), share in shares.items():
        tie[earlier], tie[later] = max(tie[earlier], share), max(tie[later], share)
        if earlier in head and later not in head:
            from_below[later] = max(from_below[later], share)
    best = min(from_below, key=lambda place: (-from_below[place], place), default=None)
    if best is None or from_below[best] < RAISED or len(head) < FOCUS:
        return list(head)
    loosest = min(head[1:], key=lambda place: (round(tie[place], 3), -place))
    return [*(place for place in head if place != loosest), best]


def _rearranged(head: Sequence[int], shares: Mapping[tuple[int, int], float], least: float) -> list[int]:
    """The second of each pair of places directly above the first, the likeliest pair first.

    What stands above a place comes along with it: of three homes the last one stays above the second.
    """
    order = list(head)
    likely = [pair for pair, share in shares.items() if share >= least and {*pair} <= {*head}]
    likely.sort(key=lambda pair: (-shares[pair], pair), reverse=True)
    waiting = list(likely)
    most = len(likely) * len(order)  # changes run forward in time; pairs in a circle would have no end
    while waiting and (most := most - 1) >= 0:
        below, above = waiting.pop()
        if order.index(above) > order.index(below):
            order.remove(above)
            order.insert(order.index(below), above)
            waiting += [pair for pair in likely if pair[0] == above]
    return order
