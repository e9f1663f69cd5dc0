"""What feedback adds to the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from orchestration.feature import Feature
from orchestration.features.feedback import flow
from orchestration.features.feedback.flow import lesson_of, read_learned, record_of
from orchestration.features.feedback.queries import feedback_of, take_back_naming
from schemas.operation import Called, Operation, citizen_may, group
from substrate.store.kept import Kept, as_created


def _check(properties: Mapping[str, Any]) -> None:
    feedback = feedback_of(properties)
    record_of(feedback)
    lesson_of(feedback)


OPERATIONS: Final = group(
    "citizens",
    Operation("tell_feedback", "POST /v1/citizens/{citizen_id}/feedback", "Say which memories answered a question",
              citizen_may("write", "citizen:ID:write; LEVEL:read for N2 and N3; collective:ID:read", narrows=True),
              flow.tell, status=201, notes=True,
              call=Called(says="Say which memories answered a question (`used`), which did not (`wrong`), and "
                               "what is `not_changed`.", new_id="feedback_id")),
    Operation("list_feedback", "GET /v1/citizens/{citizen_id}/feedback", "List the feedback of a citizen",
              citizen_may("read"), flow.list_feedback,
              call=Called(says="One page of what the citizen told, and the factors now; `cursor` is the `next` "
                               "of the page before.")),
    Operation("take_back_feedback", "DELETE /v1/citizens/{citizen_id}/feedback/{feedback_id:path}",
              "Take one feedback back", citizen_may("write"), flow.take_back_one,
              call=Called(says="Take one feedback back, or without an id all: from now on it is as if it had "
                               "never been told.", once=True)),
    Operation("take_back_all_feedback", "DELETE /v1/citizens/{citizen_id}/feedback",
              "Take all feedback of a citizen back", citizen_may("write"), flow.take_back_all,
              call=Called("take_back_feedback")),
)  # fmt: skip
FEATURE: Final = Feature(
    "feedback",
    operations=OPERATIONS,
    kept=(
        Kept(
            "Feedback",
            "feedback",
            take_back_naming,
            is_carried=True,
            check=_check,
            as_known=as_created,
            stamp="feedback_at",
        ),
    ),
    sections={"learned": read_learned},
)
