"""The Tag-Walker: a question in, direct hits and what shares their tags out (001)."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from schemas.base import VISIBLE_TEXT_PATTERN, CitizenId, Frozen, Text, Whole
from schemas.intention import ALL_LEVELS, Levels, Plural, check_not_blank
from schemas.memory import ConsciousnessNode, Level
from schemas.temporal import Moment

MAX_CHARS = 1_000_000
"""More than all candidates of all levels hold as a rule; a bound so that no request asks for a library."""


class TagWalk(Plural):
    """What to look for, and how many characters the answer may fill: 70 % of them direct hits (001).

    A memory costs who said it or its name, and its text. `as_of_time` asks for what held then, `known_at` as it
    was known at another moment.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"citizen_id": "kai", "query_text": "release of the compiler"}]}
    )

    citizen_id: CitizenId
    query_text: Annotated[
        Text,
        Field(max_length=20_000, json_schema_extra={"pattern": VISIBLE_TEXT_PATTERN}),
        AfterValidator(check_not_blank),
    ]
    max_chars: Annotated[Whole, Field(ge=1, le=MAX_CHARS)] = 8000
    as_of_time: Moment | None = None
    known_at: Moment | None = None
    query_levels: Levels = ALL_LEVELS


class Bridge(Frozen):
    """A tag (`#tag`) or bucket (`@bucket`) of the direct hits, over which the walk goes.

    `memories` have it. `weight`, in [0, 1]: the relevance of the best hit that has it, damped by how common it is.
    """

    name: str
    level: Level
    memories: int
    weight: float


class Associated(Frozen):
    """A memory found, and why.

    `words` is its BM25, twice as much when `boosted`: a word of the question stands in a tag, a bucket or the
    speaker's name. `score` is `words` as a share of the best hit's, plus `support` by the hits around it,
    plus `plurality`, importance times recency, where that was asked for.
    `bridges` are the tags shared with hits; `around` the hits from which links lead to it, nearest first.
    """

    memory: ConsciousnessNode
    score: float
    words: float = 0.0
    boosted: bool = False
    support: float = 0.0
    plurality: float = 0.0
    bridges: tuple[str, ...] = ()
    around: tuple[str, ...] = ()


class Associations(Frozen):
    """What came of a walk: direct hits, the tags harvested from them, and what has these but not the words.

    Both lists stand in the order of their scores, which are comparable; with plurality at most so many of one week
    come first. `omitted` were found and did not fit.
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
