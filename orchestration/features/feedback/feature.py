"""What feedback adds to the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from orchestration.feature import Feature
from orchestration.features.feedback.kept import lesson_of, read_learned, record_of
from orchestration.features.feedback.operations import OPERATIONS
from orchestration.features.feedback.queries import feedback_of, take_back_naming
from substrate.store.kept import Kept, as_created


def _check(properties: Mapping[str, Any]) -> None:
    feedback = feedback_of(properties)
    record_of(feedback)
    lesson_of(feedback)


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
