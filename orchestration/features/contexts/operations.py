"""The operations on contexts: write one in one call, read the notes that agents left with theirs."""

from __future__ import annotations

from typing import Final

from orchestration.features.contexts import flow
from schemas.operation import Called, Operation, citizen_may, group

OPERATIONS: Final = group(
    "mind",
    Operation("write_context", "POST /v1/contexts", "Write a context in one call",
              citizen_may("write", source="source"), flow.write_context, status=201,
              call=Called(says="Write an episode with its nodes, edges, feeling, result and rule, as a whole or "
                               "not at all.")),
    Operation("list_agent_log", "GET /v1/citizens/{citizen_id}/agent-log", "List the notes of agents",
              citizen_may("read"), flow.read_agent_log,
              call=Called("agent_log", "The notes that agents left with contexts, the newest first; `context_id` "
                          "for those of one.")),
)  # fmt: skip
