"""ETags of memories (RFC 9110): 304 to a client that has the memory, 412 to one that saw another version.

A tag contains the version, a digest of the owner and a digest of the record; under the same tag nothing differs
but `effective_energy`, which time changes. `If-Match` becomes the `expected_version` of a command, so that a
command sent again is still recognised.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Annotated, Any, Final

from fastapi import Header, Response

from api.problems import invalid_request
from orchestration.mind.energy import Decay
from schemas.errors import PreconditionFailed
from schemas.memory import ConsciousnessNode, Level

IfNoneMatch = Annotated[
    str | None, Header(description="Tags that you already have: 304 without a body if one matches.")
]
IfMatch = Annotated[str | None, Header(description="The tag that you read: 412 if the memory has changed since.")]

NOT_MODIFIED: Final[dict[int | str, dict[str, Any]]] = {
    304: {"description": "Unchanged: `If-None-Match` has its tag"}
}
_TAG: Final = re.compile(r'"(\d{1,15})-([0-9a-f]{8})-[0-9a-f]{16}"')


def etag_response(
    memory: ConsciousnessNode, decay: Decay, citizen_id: str | None, if_none_match: str | None
) -> Response:
    """The memory as `decay` shows it, with its tag; 304 when `if_none_match` names that tag."""
    body = memory.model_dump_json().encode()
    owner = _owner_digest(memory.graph_key, citizen_id, memory.node_id)
    tag = f'"{memory.version}-{owner}-{blake2b(body, digest_size=8).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    # Weak comparison, as RFC 9110 requires for `If-None-Match`.
    known = [part.strip().removeprefix("W/") for part in (if_none_match or "").split(",")]
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    [shown] = decay.show([memory])
    return Response(shown.model_dump_json(), headers=headers, media_type="application/json")


def expect_version(raw: Any, if_match: str | None) -> Any:
    """Copy the version in `If-Match` into the `expected_version` of the raw revision.

    Raises PreconditionFailed for a tag of another memory, InvalidRequest when `expected_version` is given too.
    """
    if if_match is None or if_match.strip() == "*" or not isinstance(raw, Mapping):
        return raw
    if raw.get("expected_version") is not None:
        raise invalid_request(["expected_version: is in If-Match already; leave one of them out"])
    tag = _TAG.fullmatch(if_match.strip())
    collective = raw.get("collective")
    graph = raw.get("level", Level.N1) if collective is None else f"{Level.N2}:{collective}"
    if tag is None or tag[2] != _owner_digest(graph, raw.get("citizen_id"), raw.get("id")):
        raise PreconditionFailed("If-Match names no tag of this memory", remedy="Read it again, then decide.")
    return {**raw, "expected_version": int(tag[1])}


def refuse_if_match(if_match: str | None, action: str) -> None:
    """Raises InvalidRequest when `If-Match` is sent with an action that has no version to compare."""
    if if_match is not None:
        raise invalid_request([f"If-Match is for changes of a stored record, not for {action}; leave it out"])


def _owner_digest(graph: object, citizen_id: object, memory_id: object) -> str:
    """A digest of the memory's address. On shared levels it is the same for every citizen who reads."""
    names = (graph, citizen_id if graph == Level.N1 else None, memory_id)
    return blake2b("\x00".join(map(str, names)).encode(), digest_size=4).hexdigest()
