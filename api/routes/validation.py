"""Validation: check a link's metadata by 003 before it is written."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Body

from orchestration.validation import validate_consciousness_link
from schemas.memory import ValidationResult
from schemas.operation import ANY_KEY, Called, Operation, group


async def validate_link(link: Annotated[dict[str, Any], Body()]) -> ValidationResult:
    """Errors, warnings and completeness of a link's metadata; nothing is stored. Unknown fields are allowed."""
    return validate_consciousness_link(link)


OPERATIONS: Final = group(
    "validation",
    Operation("validate_link", "POST /v1/validation/link", "Check a link without storing it",
              ANY_KEY, validate_link, call=Called(by_hand=True)),
)  # fmt: skip
