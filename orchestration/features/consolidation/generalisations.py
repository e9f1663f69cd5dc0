"""What a generalisation says of its members, and the commands that make it or let it grow. Pure.

Without a language model its words are those of the medoid, the names that its members share, how they mostly felt,
and how often each result came out. Nothing of it is in a member's name: its source is upkeep.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from statistics import fmean
from typing import Any, Final, NamedTuple

from orchestration.features.consolidation.clusters import NEXT, Cluster
from schemas.base import without_nulls
from schemas.commands import Command, Correct, Relate, Remember, Supersede
from schemas.memory import GENERALISATION, ConsciousnessNode, GraphKey, Source, graph_fields
from schemas.temporal import Instant, to_instant
from substrate.emotions import normal_emotions
from substrate.language.text import count_of

GENERALISES: Final = "GENERALISES"
"""The type of the links from a generalisation to its members."""
MENTIONS: Final = "MENTIONS"
MOST_MENTIONED: Final = 5
"""This many of the shared nodes are linked, and this many of their names shown."""
MOST_TEXT: Final = 400
"""Characters of the medoid's words that are quoted."""
MOST_EMOTIONS: Final = 6
MEMBER_SET: Final = "member_set"
MEMBER_COUNT: Final = "members"
STANDS_FOR: Final = "stands_for"
"""Keys of `extra`: a hash of the ids of the members, how many they are, and how many memories they stand for."""
GOAL: Final = "generalise"
_OWN_SOURCES: Final = frozenset((Source.CITIZEN, Source.SYSTEM))


class Told(NamedTuple):
    """The words of a generalisation. `by`: the language model that wrote them, which may have found a `rule`."""

    text: str
    rule: str | None = None
    by: str | None = None


class Place(NamedTuple):
    """The graph of a generalisation."""

    key: GraphKey
    citizen_id: str | None

    def fields(self) -> dict[str, Any]:
        return {**graph_fields(self.key), "citizen_id": self.citizen_id, "source": Source.UPKEEP}


class Standing(NamedTuple):
    """A generalisation as it stands. `ended`: it held until an instant that is past."""

    id: str
    version: int
    members: frozenset[str]
    ended: bool = False


def member_set(members: Iterable[str]) -> str:
    """A hash of the ids of some memories, whatever their order."""
    return blake2b("\n".join(sorted(members)).encode(), digest_size=10).hexdigest()


def generalisation_id(cluster: Cluster) -> str:
    """The id of the generalisation of a cluster, which depends on its members alone."""
    return f"generalisation:{NEXT[cluster.abstraction]}:{member_set(cluster.members)}"


def words_of(members: Sequence[ConsciousnessNode], medoid: ConsciousnessNode, names: Sequence[str]) -> Told:
    """The words of a generalisation without a language model."""
    text = " ".join(_own_words(medoid).split())
    quoted = text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT].rsplit(' ', 1)[0]} …"
    spoken = f"{medoid.speaker}: {quoted}" if medoid.speaker else quoted
    about = f" of {_listed(names[:MOST_MENTIONED])}" if names else ""
    emotion = dominant_emotion(members)
    felt = f", mostly {emotion}" if emotion else ""
    results = Counter(member.result for member in members if member.result)
    counts = ", ".join(f"{count} {result}" for result, count in sorted(results.items()))
    return Told(
        f"{spoken} ({count_of(_stands_for(members), 'memory')}{about}{felt}{f'; {counts}' if counts else ''})"
    )


def _own_words(memory: ConsciousnessNode) -> str:
    """The words of a memory; of a generalisation without what it counts."""
    text = memory.description or memory.name
    counted = memory.node_type == GENERALISATION and text.endswith(")")
    return text.rpartition(" (")[0] or text if counted else text


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _stands_for(members: Sequence[ConsciousnessNode]) -> int:
    """How many memories the members are, counting those that they generalise themselves."""
    counts = (member.extra.get(STANDS_FOR) for member in members if member.node_type == GENERALISATION)
    generalised = [count for count in counts if isinstance(count, int)]
    return len(members) - len(generalised) + sum(generalised)


def dominant_emotion(members: Iterable[ConsciousnessNode]) -> str | None:
    """The strongest of the emotions of all members together; the first by name of equal ones."""
    totals = _mean_emotions(members)
    return min(totals, key=lambda emotion: (-totals[emotion], emotion)) if totals else None


def _mean_emotions(members: Iterable[ConsciousnessNode]) -> dict[str, float]:
    """The mean of each emotion over the members that feel something, the strongest few."""
    felt = [normal_emotions(member.emotion_vector) for member in members if member.emotion_vector]
    totals: defaultdict[str, float] = defaultdict(float)
    for emotions in felt:
        for emotion, intensity in emotions.items():
            totals[emotion] += intensity / len(felt)
    strongest = sorted(totals, key=lambda emotion: (-totals[emotion], emotion))[:MOST_EMOTIONS]
    return {emotion: round(min(1.0, totals[emotion]), 6) for emotion in strongest if totals[emotion] > 0}


def agreed(values: Collection[str | None]) -> str | None:
    """The value of which no member has another, where at least half have it; else None."""
    given = [value for value in values if value]
    return given[0] if given and len(set(given)) == 1 and 2 * len(given) >= len(values) else None


class Content(NamedTuple):
    """What a generalisation holds, and over which valid time; `end` is None while a member holds."""

    fields: Mapping[str, Any]
    start: datetime
    end: datetime | None


def aggregate(cluster: Cluster, members: Sequence[ConsciousnessNode], told: Told, names: Sequence[str]) -> Content:
    """Energy, confidence and emotions are means; `result` and `rule` are those in which the members agree."""
    ends = [member.invalid_at for member in members]
    own = all(member.source in _OWN_SOURCES for member in members)  # what a tool or a file said sets no rule
    fields = {
        "name": " · ".join(names[:MOST_MENTIONED]) or " ".join(told.text.split()[:8]),
        "description": told.text,
        "energy": round(fmean(member.energy for member in members), 6),
        "confidence": round(fmean(member.confidence for member in members), 6),
        "emotion_vector": _mean_emotions(members),
        "tags": tuple(node[1:] for node in cluster.nodes if node.startswith("#")),
        "result": agreed([member.result for member in members]),
        "rule": (agreed([member.rule for member in members]) or told.rule) if own else None,
        "extra": {
            MEMBER_COUNT: len(members),
            STANDS_FOR: _stands_for(members),
            MEMBER_SET: member_set(cluster.members),
            **({"model": told.by} if told.by else {}),
        },
    }
    end = None if None in ends else max(end for end in ends if end is not None)
    return Content(fields, min(member.valid_at for member in members), end)


def new_commands(cluster: Cluster, content: Content, place: Place) -> list[Command]:
    """The commands that store a new generalisation with its links."""
    whole = generalisation_id(cluster)
    made = Remember(
        **place.fields(),
        **without_nulls(content.fields),
        id=whole,
        command_id=whole,
        node_type=GENERALISATION,
        abstraction=NEXT[cluster.abstraction],
        valid_at=content.start,
        invalid_at=content.end,
    )
    mentioned = [node for node in cluster.nodes if not node.startswith("#")][:MOST_MENTIONED]
    links = [(GENERALISES, member) for member in cluster.members] + [(MENTIONS, node) for node in mentioned]
    return [made, *(_link(_End(whole, kind, target), content, place) for kind, target in links)]


def grown_commands(
    cluster: Cluster, content: Content, standing: Standing, place: Place, *, now: Instant
) -> list[Command]:
    """The commands that give a generalisation the members of a cluster: its new links, then its new words."""
    joined = [member for member in cluster.members if member not in standing.members]
    links = [_link(_End(standing.id, GENERALISES, member), content, place) for member in joined]
    named = {
        "id": standing.id,
        "command_id": f"{standing.id}:{member_set(cluster.members)}",
        "expected_version": standing.version,
    }
    if standing.ended or to_instant(content.start) > now:
        times = {} if content.end is None else {"invalid_at": content.end}
        return [*links, Correct(**place.fields(), **content.fields, **named, **{"invalid_at": None, **times})]
    return [*links, Supersede(**place.fields(), **content.fields, **named)]


class _End(NamedTuple):
    """A link of a generalisation: its type and the memory at its other end."""

    generalisation: str
    kind: str
    target: str


def _link(end: _End, content: Content, place: Place) -> Relate:
    felt = {name: content.fields[name] for name in ("energy", "confidence", "emotion_vector")}
    return Relate(
        **place.fields(),
        **felt,
        command_id=f"{end.generalisation}:{end.kind}:{member_set([end.target])}",
        source_id=end.generalisation,
        target_id=end.target,
        relation_type=end.kind,
        goal=GOAL,
        mindstate="upkeep",
        valid_at=content.start,
        invalid_at=content.end,
    )
