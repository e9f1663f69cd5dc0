"""Processes of their own that supersede one memory at once: one winner a round, and a whole history."""

from __future__ import annotations

from pathlib import Path

from benchmarks.contention import FLAWS, contend


async def test_one_of_several_processes_wins_each_round_and_the_history_is_complete(tmp_path: Path) -> None:
    figures = await contend(tmp_path, processes=3, rounds=8)
    assert (figures["winners"], figures["conflicts"]) == (8, 16)
    assert [figures[flaw] for flaw in FLAWS] == [0] * len(FLAWS)
    assert figures["records"] == 1 + 2 * 8
