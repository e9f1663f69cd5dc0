"""Validation: check a link's metadata by 003 before it is written."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body

from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import ANY_KEY, requires
from orchestration.validation import validate_consciousness_link
from schemas.validation import ValidationResult

router = APIRouter(prefix="/v1/validation", tags=["validation"], route_class=StrictRoute)


@router.post("/link", operation_id="validate_link")
@requires(ANY_KEY)
async def validate_link(link: Annotated[dict[str, Any], Body()]) -> ValidationResult:
    """Errors, warnings and completeness of a link's metadata; nothing is stored. Unknown fields are allowed."""
    return validate_consciousness_link(link)
