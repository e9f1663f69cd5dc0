"""Where generalisations stand in an answer: first, or behind the memories that they stand for. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidates, Key
from orchestration.ranking.consciousness_score import Score, levelled, stands_out
from schemas.intention import Prefer

PART: Final = "general"
"""The term of a score that says how much the preference added."""
_ABOVE_CONCRETE: Final = frozenset(("L1", "L2", "L3"))


def with_preference(activation: Activation, candidates: Candidates, prefer: Prefer | None) -> Activation:
    """The activation in the order that the question asks for; the same one where it asks for none."""
    general = [score for score in activation.order if is_general(candidates, score.key)]
    if prefer is None or not general:
        return activation
    if prefer == "general":
        order = levelled(generals_first(activation.order, {score.key for score in general}), PART)
    else:
        order = behind_members(activation.order, members_of(candidates, {score.key for score in general}))
    return replace(activation, order=tuple(order))


def is_general(candidates: Candidates, key: Key) -> bool:
    """Whether a memory says of its own that it stands for several (002: L1 to L3)."""
    return candidates.memories[key].get("abstraction") in _ABOVE_CONCRETE


def members_of(candidates: Candidates, general: Collection[Key]) -> dict[Key, frozenset[tuple[str, str]]]:
    """The members of each generalisation, as level and id, by the links between the candidates."""
    members: defaultdict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for link in candidates.links.values():
        if link.get("relation_type") == "GENERALISES":
            members[link.graph_key, link.source].add((link.graph_key, link.target))
    return {key: frozenset(members.get(key[:2], ())) for key in general}


def generals_first(order: Sequence[Score], general: Collection[Key]) -> list[Score]:
    """The generalisations that stand out as much as what is in focus, then all others, each in its order.

    What hardly fits the question is put before nothing.
    """
    greatest = max((score.activation for score in order), default=0.0)
    first = [score for score in order if score.key in general and stands_out(score, greatest)]
    taken = {score.key for score in first}
    return [*first, *(score for score in order if score.key not in taken)]


def behind_members(order: Sequence[Score], members: Mapping[Key, Collection[tuple[str, str]]]) -> list[Score]:
    """The order with each generalisation right behind the last of its members; one without any comes last."""
    places = {score.key[:2]: float(place) for place, score in enumerate(order) if score.key not in members}
    behind: dict[Key, float] = {}
    for place, score in enumerate(order):
        if score.key not in members:
            behind[score.key] = float(place)
            continue
        found = [places[member] for member in members[score.key] if member in places]
        behind[score.key] = max(found) + 0.5 if found else float(len(order))
    return sorted(order, key=lambda score: behind[score.key])
