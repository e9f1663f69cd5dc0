"""The quality report of 003 for a whole graph, with a few bytes per memory. Pure.

It rates each memory as `orchestration.validation.metadata_report` does: by what was given of its links, else of
its own metadata.
Memories are identified by their internal ids, which are small numbers.
"""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np

from orchestration.validation import Given, grade
from schemas.validation import MetadataValidationReport, ValidationResult

_PRESENT, _FAULTY, _WARNED = 1, 2, 4


class MetadataQuality:
    """Collects the quality of each memory's metadata, and at most `listed` ids of faulty memories."""

    def __init__(self, listed: int) -> None:
        self.important_missing: Counter[str] = Counter()
        self.inferred: Counter[str] = Counter()
        self._listed = listed
        self._faulty: dict[str, None] = {}
        self._flags = bytearray()
        self._own = array("d")
        self._sums = array("d")
        self._links = array("i")

    def add_memory(self, internal_id: int, memory_id: str, own: ValidationResult, given: Given) -> None:
        """Add a memory with the validation of its own metadata, and what was given of it."""
        self._make_room(internal_id)
        self._own[internal_id] = given.share
        self.inferred.update(given.inferred)
        self._rate(internal_id, memory_id, own)
        self._flags[internal_id] |= _PRESENT

    def add_link(self, ends: dict[int, str], result: ValidationResult, given: Given) -> None:
        """Add a link with its validation and what was given; `ends` has the id of each end by its internal id."""
        self.inferred.update(given.inferred)
        for warning in result.warnings:
            self.important_missing[warning.partition(": ")[2].partition(".")[0]] += 1
        for internal_id, memory_id in ends.items():
            self._make_room(internal_id)
            self._sums[internal_id] += given.share
            self._links[internal_id] += given.share > 0
            self._rate(internal_id, memory_id, result)

    def _rate(self, internal_id: int, memory_id: str, result: ValidationResult) -> None:
        if not result.valid:
            self._flags[internal_id] |= _FAULTY
            if len(self._faulty) < self._listed:
                self._faulty[memory_id] = None
        if result.warnings:
            self._flags[internal_id] |= _WARNED

    def _make_room(self, internal_id: int) -> None:
        missing = internal_id + 1 - len(self._flags)
        if missing > 0:
            more = max(missing, len(self._flags))
            self._flags.extend(bytes(more))
            for numbers in (self._own, self._sums, self._links):
                numbers.frombytes(bytes(more * numbers.itemsize))

    def report(self) -> MetadataValidationReport:
        """Return the report; without memories it has zeros and the grade of zero completeness."""
        flags = np.frombuffer(self._flags, dtype=np.uint8)
        present = (flags & _PRESENT) > 0
        total = int(present.sum())
        if not total:
            return MetadataValidationReport()
        links = np.frombuffer(self._links, dtype=np.int32)[present]
        sums, own = np.frombuffer(self._sums)[present], np.frombuffer(self._own)[present]
        shares = np.where(links > 0, sums / np.maximum(links, 1), own)
        graded = shares[shares > 0]
        average = min(1.0, float(graded.mean())) if len(graded) else 0.0
        faulty = int(((flags[present] & _FAULTY) > 0).sum())
        return MetadataValidationReport(
            total_memories=total,
            fully_valid_memories=total - faulty,
            memories_with_warnings=int(((flags[present] & _WARNED) > 0).sum()),
            memories_with_errors=faulty,
            average_completeness=average,
            incomplete_memory_ids=tuple(self._faulty),
            quality_grade=grade(average, faulty / total),
            graded_memories=len(graded),
            inferred_fields=dict(self.inferred),
        )
