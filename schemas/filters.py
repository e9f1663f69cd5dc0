"""What a question asks for besides its words: the filters of every way of asking, and of lists."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from schemas.base import AtMost, Identifier, Name, Request, ShortText
from schemas.memory import Source
from schemas.temporal import Moment


def _check_label(label: str) -> str:
    if label.strip() in ("", ","):
        raise ValueError("a tag or bucket to filter by is more than a space or a comma")
    return label


Label = Annotated[ShortText, AfterValidator(_check_label)]
"""A tag or a bucket, as written in the memory."""

Labels = Annotated[tuple[Label, ...], AtMost(16)]
Names = Annotated[tuple[Name, ...], AtMost(16)]


class Filters(Request):
    """Only memories of one of `node_types`, `speakers`, `episodes` and `sources`, with all `tags` and `buckets`.

    `valid_from` and `valid_to`: only what began to be true in `[valid_from, valid_to)`; a message began when it
    was said. A field that is left out does not filter. They apply to everything that a question finds: by
    likeness, by words, by name, over links, and past records.
    """

    node_types: Names = ()
    tags: Labels = ()
    buckets: Labels = ()
    speakers: Names = ()
    episodes: Annotated[tuple[Identifier, ...], AtMost(16)] = Field(
        default=(), description="Ids of conversations and files."
    )
    sources: Annotated[tuple[Source, ...], AtMost(16)] = ()
    valid_from: Moment | None = None
    valid_to: Moment | None = None

    @property
    def empty(self) -> bool:
        """True when every memory passes."""
        return not any(getattr(self, name) for name in Filters.model_fields)

    @model_validator(mode="after")
    def _range_has_a_length(self) -> Self:
        if self.valid_from is not None and self.valid_to is not None and self.valid_to <= self.valid_from:
            raise ValueError("valid_to must lie after valid_from")
        return self


class Filtered(Request):
    """`filters` narrow what is found, whatever the way of asking."""

    filters: Filters | None = None
