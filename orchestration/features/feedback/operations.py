"""The operations on feedback: tell it, list it, take it back."""

from __future__ import annotations

from typing import Final

from orchestration.features.feedback import flow, kept
from schemas.operation import Operation, citizen_may, group

OPERATIONS: Final = group(
    "citizens",
    Operation("tell_feedback", "POST /v1/citizens/{citizen_id}/feedback", "Say which memories answered a question",
              citizen_may("write", "citizen:ID:write; LEVEL:read for N2 and N3; collective:ID:read", narrows=True),
              flow.tell, status=201, notes=True),
    Operation("list_feedback", "GET /v1/citizens/{citizen_id}/feedback", "List the feedback of a citizen",
              citizen_may("read"), kept.list_feedback),
    Operation("take_back_feedback", "DELETE /v1/citizens/{citizen_id}/feedback/{feedback_id:path}",
              "Take one feedback back", citizen_may("write"), kept.take_back_one),
    Operation("take_back_all_feedback", "DELETE /v1/citizens/{citizen_id}/feedback",
              "Take all feedback of a citizen back", citizen_may("write"), kept.take_back_all,
              call="take_back_feedback"),
)  # fmt: skip
