"""003's quality report over a whole graph, in a few bytes a memory. Pure.

The unit is the memory, judged as `orchestration.validation.memory_verdicts` judges those of a stream: by what it
carries itself and by the links attached to it. Memories are known by their internal ids, which are small numbers.
"""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np

from orchestration.validation import grade
from schemas.validation import MetadataValidationReport, ValidationResult

_HERE, _FAULTY, _WARNED = 1, 2, 4


class Quality:
    """What is known so far of each memory's metadata. `listed` bounds the ids of faulty ones."""

    def __init__(self, listed: int) -> None:
        self.important_missing: Counter[str] = Counter()
        self._listed = listed
        self._faulty: dict[str, None] = {}
        self._flags = bytearray()
        self._own = array("d")
        self._sums = array("d")
        self._links = array("i")

    def memory(self, place: int, identity: str, own: ValidationResult) -> None:
        """A memory, with the validation of what it carries itself."""
        self._reach(place)
        self._own[place] = own.metadata_completeness
        self._judge(place, identity, own)
        self._flags[place] |= _HERE

    def link(self, ends: dict[int, str], result: ValidationResult) -> None:
        """A link, with its validation; `ends`: the id of each end by its internal id."""
        for warning in result.warnings:
            self.important_missing[warning.partition(": ")[2].partition(".")[0]] += 1
        for place, identity in ends.items():
            self._reach(place)
            self._sums[place] += result.metadata_completeness
            self._links[place] += 1
            self._judge(place, identity, result)

    def _judge(self, place: int, identity: str, result: ValidationResult) -> None:
        if not result.valid:
            self._flags[place] |= _FAULTY
            if len(self._faulty) < self._listed:
                self._faulty[identity] = None
        if result.warnings:
            self._flags[place] |= _WARNED

    def _reach(self, place: int) -> None:
        missing = place + 1 - len(self._flags)
        if missing > 0:
            more = max(missing, len(self._flags))
            self._flags.extend(bytes(more))
            for numbers in (self._own, self._sums, self._links):
                numbers.frombytes(bytes(more * numbers.itemsize))

    def report(self) -> MetadataValidationReport:
        """The report; of no memories: zeros, and the grade of zero completeness."""
        flags = np.frombuffer(self._flags, dtype=np.uint8)
        here = (flags & _HERE) > 0
        total = int(here.sum())
        if not total:
            return MetadataValidationReport()
        links = np.frombuffer(self._links, dtype=np.int32)[here]
        sums, own = np.frombuffer(self._sums)[here], np.frombuffer(self._own)[here]
        completeness = np.where(links > 0, sums / np.maximum(links, 1), own)
        average = min(1.0, float(completeness.mean()))
        faulty = int(((flags[here] & _FAULTY) > 0).sum())
        return MetadataValidationReport(
            total_memories=total,
            fully_valid_memories=total - faulty,
            memories_with_warnings=int(((flags[here] & _WARNED) > 0).sum()),
            memories_with_errors=faulty,
            average_completeness=average,
            incomplete_memory_ids=tuple(self._faulty),
            quality_grade=grade(average, faulty / total),
        )
