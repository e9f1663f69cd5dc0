"""What all values have that the clients take and give; `models` has the values."""

from __future__ import annotations

from typing import Any, cast

from pydantic import BaseModel, ConfigDict
from typing_extensions import Self


class AnswerPart(BaseModel):
    """A part of an answer. What a newer service says besides is kept."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    @classmethod
    def unchecked(cls, values: dict[str, Any]) -> Self:
        """Construct without validation; defaults fill the rest."""
        return cast("Self", cls.model_construct(**values))


class RequestPart(AnswerPart):
    """A part of a request. The service checks it, and says which field is wrong."""
