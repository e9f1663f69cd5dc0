"""What replay adds to the core."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from orchestration.feature import Feature
from orchestration.features.replay import flow
from orchestration.mind.stream_note import citizen_of
from schemas.errors import NotFound
from schemas.operation import May, Method, Need, Operation, RequestParts, citizen_may, group


def _stream_needs(asked: RequestParts) -> Iterable[Need]:
    """Raises NotFound for an id that no stream has."""
    citizen_id = citizen_of(asked.path["stream_id"])
    if citizen_id is None:
        raise NotFound(f"no stream {asked.path['stream_id']} is noted")
    yield Need("read", citizen_id)


READS: Final = May("citizen:ID:read, of the citizen whose stream it is", _stream_needs, of_path=True)
OPERATIONS: Final = group(
    "streams",
    Operation("get_stream", "GET /v1/streams/{stream_id}", "Read what a stream showed",
              READS, flow.read_stream,
              call=Method("stream", "What a stream was asked and showed. Raises NotFound for one that is not "
                          "noted.")),
    Operation("list_streams", "GET /v1/citizens/{citizen_id}/streams", "List the streams of a citizen",
              citizen_may("read"), flow.list_streams,
              call=Method("streams", "A page of the streams of a citizen, the newest first.")),
    Operation("replay_stream", "POST /v1/streams/{stream_id}/replay", "Ask again as of then",
              READS, flow.replay,
              call=Method("replay", "Ask the same again, as of then and known then. Raises NotFound for a stream "
                          "that is not noted.")),
)  # fmt: skip
FEATURE: Final = Feature("replay", operations=OPERATIONS)
