"""The operations on feedback: tell it, list it, take it back."""

from __future__ import annotations

from typing import Final

from orchestration.features.feedback import flow, kept
from schemas.operation import Called, Operation, citizen_may, group

OPERATIONS: Final = group(
    "citizens",
    Operation("tell_feedback", "POST /v1/citizens/{citizen_id}/feedback", "Say which memories answered a question",
              citizen_may("write", "citizen:ID:write; LEVEL:read for N2 and N3; collective:ID:read", narrows=True),
              flow.tell, status=201, notes=True,
              call=Called(says="Say which memories answered a question (`used`), which did not (`wrong`), and "
                               "what is `not_changed`.", new_id="feedback_id")),
    Operation("list_feedback", "GET /v1/citizens/{citizen_id}/feedback", "List the feedback of a citizen",
              citizen_may("read"), kept.list_feedback,
              call=Called(says="One page of what the citizen told, and the factors now; `cursor` is the `next` "
                               "of the page before.")),
    Operation("take_back_feedback", "DELETE /v1/citizens/{citizen_id}/feedback/{feedback_id:path}",
              "Take one feedback back", citizen_may("write"), kept.take_back_one,
              call=Called(says="Take one feedback back, or without an id all: from now on it is as if it had "
                               "never been told.", once=True)),
    Operation("take_back_all_feedback", "DELETE /v1/citizens/{citizen_id}/feedback",
              "Take all feedback of a citizen back", citizen_may("write"), kept.take_back_all,
              call=Called("take_back_feedback")),
)  # fmt: skip
