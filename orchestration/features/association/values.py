"""The Tag-Walker: direct hits of a question, and memories that share their tags (001)."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from schemas.base import CitizenId, Frozen, Whole
from schemas.collectives import AsksGraphs
from schemas.intention import ALL_LEVELS, Filtered, Levels, Plural, QueryText
from schemas.memory import Collective, ConsciousnessNode, InGraph, Level
from schemas.temporal import AskedMoment, KnownMoment

MAX_CHARS = 1_000_000
"""More than the candidates of all levels usually have."""


class TagWalk(Plural, Filtered, AsksGraphs):
    """A question, and how many characters the answer may fill: 70 % of them direct hits (001).

    A memory counts the characters of its text and of its speaker, or else its name. `as_of_time` sets both time
    axes, `known_at` the transaction axis alone.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"citizen_id": "kai", "query_text": "release of the compiler"}]}
    )

    citizen_id: CitizenId
    query_text: QueryText
    max_chars: Annotated[Whole, Field(ge=1, le=MAX_CHARS)] = 8000
    as_of_time: AskedMoment | None = None
    known_at: KnownMoment | None = None
    query_levels: Levels = ALL_LEVELS


class Bridge(InGraph, Frozen):
    """A tag (`#tag`), a bucket (`@bucket`) or a made tag (`~tag`) of the direct hits that the walk follows.

    `memories`: how many have it, given or made. `weight`, in [0, 1]: the mean relevance of these memories, damped
    by how common the tag is.
    """

    name: str
    level: Level
    collective: Collective = None
    memories: int
    weight: float


class Associated(Frozen):
    """A memory that was found, and why.

    `words` is its BM25 score, doubled when `boosted`: a word of the question is in a tag, a bucket or the name of
    the speaker. `score` is `words` divided by that of the best hit, plus `support` by the hits around it, plus
    `plurality` (importance times recency) if it was requested. `bridges` are the tags shared with hits; `made`
    those of them that upkeep made for this memory; `around` the hits that link to it, nearest first.
    """

    memory: ConsciousnessNode
    score: float
    words: float = 0.0
    boosted: bool = False
    support: float = 0.0
    plurality: float = 0.0
    bridges: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    around: tuple[str, ...] = ()


class Associations(Frozen):
    """The answer of a walk: direct hits, their tags, and memories that share the tags but not the words.

    Both lists are ordered by score, and the scores are comparable; with plurality at most `per_week` memories of
    one week come first. `omitted` counts memories that did not fit.
    """

    citizen_id: str
    keywords: tuple[str, ...]
    anchors: tuple[Associated, ...] = ()
    tags: tuple[Bridge, ...] = ()
    neighbours: tuple[Associated, ...] = ()
    anchor_chars: int = 0
    neighbour_chars: int = 0
    omitted: int = 0
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
