"""The three tiers of link metadata, and the results of a validation (003, component 6)."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from schemas.base import Frozen, Unit

REQUIRED: Final = (
    "energy",
    "confidence",
    "emotion_vector",
    "goal",
    "mindstate",
    "energy_transfer_coefficient",
    "resolution_state",
)
IMPORTANT: Final = ("formation_trigger", "felt_quality", "emotion_description")
CONDITIONAL: Final = ("body_sensation", "spatial_context", "sensory_details")


class ValidationResult(Frozen):
    """Errors and warnings on metadata, and its completeness in [0, 1]."""

    valid: bool
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    metadata_completeness: Unit


Grade = Literal["excellent", "good", "acceptable", "poor"]


class MetadataValidationReport(Frozen):
    """Metadata quality over the memories (and links) of a stream (003, component 6).

    What was given is graded: `average_completeness` and `quality_grade` are of the `graded_memories`, of which a
    writer gave metadata, in the memory or in one of its links; without any the grade is poor, and `nothing_given`.
    `inferred_fields`: how many memories and links have each field as the service filled it.
    """

    total_memories: int = 0
    fully_valid_memories: int = 0
    memories_with_warnings: int = 0
    memories_with_errors: int = 0
    average_completeness: Unit = 0.0
    incomplete_memory_ids: tuple[str, ...] = ()
    quality_grade: Grade = "poor"
    graded_memories: int = 0
    inferred_fields: dict[str, int] = Field(default_factory=dict)

    @property
    def nothing_given(self) -> bool:
        """Whether there are memories, and all that they have was inferred."""
        return bool(self.total_memories) and not self.graded_memories and not self.memories_with_errors
