"""Second orders of the best that was found, by measures that need no model. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestration.algorithms import RELEVANCE_SHARE, jaccard
from orchestration.assembly.budget import reciprocal_ranks
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidates, Key
from orchestration.ranking.consciousness_score import Score
from orchestration.ranking.relevance import lexical_text
from substrate.text import stems


def permuted[T](items: Sequence[T], places: Iterable[int]) -> list[T]:
    """The items at `places` first, then the rest in the order had; a place twice, or out of range, counts not."""
    there = range(len(items))
    return [items[place] for place in dict.fromkeys((*(place for place in places if place in there), *there))]


def diverse(scores: Sequence[Score], found: Candidates) -> list[int]:
    """Places by maximal marginal relevance (Carbonell and Goldstein, 1998), likeness being that of stems.

    Each next one has the greatest 0.7 × total, as a share of the best, − 0.3 × the Jaccard coefficient of its
    stems and those of the nearest one chosen before.
    """
    words = [stems(lexical_text(found.memories[score.key])) for score in scores]
    best = max((score.total for score in scores), default=0.0) or 1.0
    near, rest, chosen = [0.0] * len(scores), list(range(len(scores))), list[int]()
    while rest:
        worth = {n: RELEVANCE_SHARE * scores[n].total / best - (1 - RELEVANCE_SHARE) * near[n] for n in rest}
        place = max(rest, key=worth.__getitem__)
        rest.remove(place)
        chosen.append(place)
        for other in rest:
            near[other] = max(near[other], jaccard(words[other], words[place]))
    return chosen


def by_ranks(scores: Sequence[Score], activation: Activation) -> list[int]:
    """Places by reciprocal rank fusion of the channels (Cormack, Clarke and Büttcher, 2009): ranks, no weights.

    A memory takes part in the channels from which it has something; of equals the first stays first.
    """
    keys = [score.key for score in scores]
    channels = {name for key in keys for name in activation.parts.get(key, ())}
    fused = reciprocal_ranks(_ranking(keys, activation, name) for name in sorted(channels))
    return sorted(range(len(keys)), key=lambda place: -fused.get(keys[place], 0.0))


def _ranking(keys: Sequence[Key], activation: Activation, channel: str) -> list[Key]:
    values = {key: activation.parts.get(key, {}).get(channel, 0.0) for key in keys}
    return sorted((key for key in keys if values[key] > 0.0), key=lambda key: -values[key])
