"""All operations, in the order of the documents."""

from __future__ import annotations

from typing import Final

from orchestration.features.withholding import operations as withholding
from schemas.operation import collect

OPERATIONS: Final = collect(withholding.QUARANTINES, withholding.POLICIES)
