"""Entity tags of memories: what was read, so that it is not sent twice and not changed unseen (RFC 9110, 13.1).

A tag is strong: version, digest of whose memory it is, digest of the answer. A revision under `If-Match` goes to
the store as its `expected_version`, so that a command sent again is still recognised.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Annotated, Any, Final

from fastapi import Header, Response

from api.problems import invalid
from schemas.errors import PreconditionFailed
from schemas.memory import ConsciousnessNode, Level

IfNoneMatch = Annotated[str | None, Header(description="Tags that are had already: then 304, without a body.")]
IfMatch = Annotated[str | None, Header(description="The tag that was read: then 412 when it has changed since.")]

NOT_MODIFIED: Final[dict[int | str, dict[str, Any]]] = {304: {"description": "It is as `If-None-Match` says"}}
REREAD: Final = "Read it again and decide anew."
_TAG: Final = re.compile(r'"(\d{1,15})-([0-9a-f]{8})-[0-9a-f]{16}"')


def tagged(memory: ConsciousnessNode, citizen_id: str | None, if_none_match: str | None) -> Response:
    """The memory as an answer with its tag, or 304 when the caller has it."""
    body = memory.model_dump_json().encode()
    owner = _owner(memory.level, citizen_id, memory.node_id)
    tag = f'"{memory.version}-{owner}-{blake2b(body, digest_size=8).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if if_none_match is not None and _among(tag, if_none_match):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


def expecting(raw: Any, if_match: str | None) -> Any:
    """The raw revision with the version that `If-Match` names.

    Raises PreconditionFailed for a tag that is not of this memory, InvalidRequest for what is said twice.
    """
    if if_match is None or if_match.strip() == "*" or not isinstance(raw, Mapping):
        return raw
    if raw.get("expected_version") is not None:
        raise invalid(["expected_version: is said by If-Match; leave one of them out"])
    tag = _TAG.fullmatch(if_match.strip())
    level = raw.get("level", Level.N1)
    if tag is None or tag[2] != _owner(level, raw.get("citizen_id"), raw.get("id")):
        raise PreconditionFailed("If-Match names no tag of this memory", remedy=REREAD)
    return {**raw, "expected_version": int(tag[1])}


def unguarded(if_match: str | None, what: str) -> None:
    """Raises InvalidRequest where `If-Match` comes with what no version guards."""
    if if_match is not None:
        raise invalid([f"If-Match guards a change of what was read, not {what}; leave it out"])


def _owner(level: object, citizen_id: object, memory_id: object) -> str:
    """What is shared is nobody's: who reads it makes no other tag."""
    names = (level, citizen_id if level == Level.N1 else None, memory_id)
    return blake2b("\x00".join(str(name) for name in names).encode(), digest_size=4).hexdigest()


def _among(tag: str, if_none_match: str) -> bool:
    """The weak comparison, as RFC 9110 asks for here."""
    said = [one.strip().removeprefix("W/") for one in if_none_match.split(",")]
    return tag in said or "*" in said
