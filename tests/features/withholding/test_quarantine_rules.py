"""What a quarantine does to one memory follows from who changed it, in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestration.features.withholding.rules import Suspect, judge
from schemas.memory import Source
from schemas.temporal import END_OF_TIME, Period
from substrate.bitemporal import Record

TOOL = Suspect(source=Source.TOOL)


def record(version: int, source: Source, known: tuple[int, int], **fields: str) -> Record:
    content = {"source": source.value, "description": str(version), **fields}
    closed_by = f"c{known[1]}" if known[1] < END_OF_TIME else None
    made = Record("m", version, Period(0), Period(*known), content)
    return replace(made, command_id=f"c{known[0]}", closed_by=closed_by)


def chain(*sources: Source, **fields: str) -> list[Record]:
    """One record after another, each written by a source at 10, 20, 30 …, over the same valid time."""
    ends = [10 * number + 10 for number in range(1, len(sources))] + [END_OF_TIME]
    records = [
        record(number, source, (10 * number, end), **fields)
        for number, (source, end) in enumerate(zip(sources, ends, strict=True), start=1)
    ]
    closers = (*sources[1:], None)
    return [replace(each, closed_source=by) for each, by in zip(records, closers, strict=True)]


C, T, N, U = Source.CITIZEN, Source.TOOL, Source.INGESTION, Source.UPKEEP


@pytest.mark.parametrize(
    ("sources", "fate", "start"),
    [
        ([C], "clean", 0),
        ([T], "hide", 0),
        ([T, U], "hide", 0),
        ([T, C], "kept", 0),
        ([T, C, T], "take_back", 30),
        ([N, T], "take_back", 20),
        ([N, T, N], "take_back", 20),
        ([N, T, T], "take_back", 20),
        ([C, T, C], "kept", 0),
    ],
)
def test_the_last_own_change_stays_and_what_came_from_there_since_goes(
    sources: list[Source], fate: str, start: int
) -> None:
    assert judge(chain(*sources), TOOL) == (fate, start)
