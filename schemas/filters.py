"""What a question is narrowed to: types, tags and buckets that a memory must have to be found at all."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from schemas.base import Name, Request, ShortText
from schemas.bounds import AtMost


def _told_apart(label: str) -> str:
    if label.strip() in ("", ","):
        raise ValueError("a tag or bucket to filter by is more than a space or a comma")
    return label


Label = Annotated[ShortText, AfterValidator(_told_apart)]
"""A tag or a bucket, as it was given to the memory."""

Labels = Annotated[tuple[Label, ...], AtMost(16)]


class Filters(Request):
    """Only memories of one of `node_types`, with every one of `tags` and of `buckets`; what is empty asks nothing.

    Everything that a question finds keeps to them: by likeness, by words, by name, over links, and the records
    that come along.
    """

    node_types: Annotated[tuple[Name, ...], AtMost(16)] = ()
    tags: Labels = ()
    buckets: Labels = ()
