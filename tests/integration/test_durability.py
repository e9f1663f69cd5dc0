"""Writers over HTTP while engine and service are killed, connections cut, a disk filled: what was said is true."""

from __future__ import annotations

import pytest

from benchmarks.durability import FLAWS, MODES, run
from benchmarks.judging import Kept, chain_flaws
from schemas.temporal import END_OF_TIME


@pytest.mark.parametrize("mode", MODES)
async def test_every_acknowledged_write_is_there_once_and_none_by_half(mode: str) -> None:
    figures = await run(mode, 1)
    if "skipped" in figures:
        pytest.skip(f"{mode}: {figures['skipped']}")
    assert {flaw: figures[flaw] for flaw in FLAWS} == dict.fromkeys(FLAWS, 0), figures["examples"]
    assert figures["acknowledged"] > 0


def kept(version: int, valid: tuple[int, int], known: tuple[int, int]) -> Kept:
    return Kept("m", version, "name", "command", *valid, *known, 1)


def test_the_judge_sees_a_gap_an_overlap_and_a_missing_version() -> None:
    first = kept(1, (0, END_OF_TIME), (0, 10))
    until = kept(2, (0, 5), (10, END_OF_TIME))
    latest = kept(3, (5, END_OF_TIME), (10, END_OF_TIME))
    assert chain_flaws([first, until, latest]) == []
    assert chain_flaws([first, until]) != []
    assert chain_flaws([first, until._replace(invalid_at=4), latest]) != []
    assert chain_flaws([first, until._replace(invalid_at=6), latest]) != []
    assert chain_flaws([first, until, latest._replace(version=4)]) != []
