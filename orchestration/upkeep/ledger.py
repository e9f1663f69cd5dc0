"""What a sweep has found so far, in bounded memory: all counted, the first of each kind listed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from orchestration.upkeep.findings import SEVERITIES, SEVERITY
from schemas.upkeep import Finding, Kind


class Ledger:
    """Counts and lists. `mendable` is false where no repair can run, so that none is offered."""

    def __init__(self, listed: int, *, mendable: bool = True) -> None:
        self.listed = listed
        self.mendable = mendable
        self._counts: Counter[Kind] = Counter()
        self._findings: dict[Kind, list[Finding]] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        """Count the findings, and list them while there is room."""
        for one in findings:
            self._counts[one.kind] += 1
            listed = self._findings.setdefault(one.kind, [])
            if len(listed) < self.listed:
                listed.append(one if self.mendable else one.model_copy(update={"repair": None}))

    def by_kind(self) -> dict[Kind, int]:
        """How many there are of each kind, the gravest kinds first."""
        kinds = sorted(self._counts, key=lambda kind: (SEVERITIES.index(SEVERITY[kind]), kind))
        return {kind: self._counts[kind] for kind in kinds}

    def findings(self) -> tuple[Finding, ...]:
        """What is listed, in the same order."""
        return tuple(one for kind in self.by_kind() for one in self._findings[kind])
