"""What a word search answers first stands first here at least as often, on each set; what changed does too."""

from __future__ import annotations

import pytest

from benchmarks.change_cases import KINDS, lay_all, read_cases, read_filler
from benchmarks.change_pairs import Outcome, measure

EVERY = {"changes": 8, "two_things": 16, "three_in_a_row": 9}
"""Of each kind one of so many cases as laid is asked."""


@pytest.fixture(scope="module")
async def outcomes() -> list[Outcome]:
    """A part of the cases that rules may be written by, each laid among unrelated messages and asked."""
    laid = list(lay_all(read_cases("tune"), read_filler()))
    chosen = []
    for kind in KINDS:
        of_kind = [each for each in laid if each.kind == kind]
        chosen += of_kind[:: EVERY.get(kind, len(of_kind))]
    return await measure(chosen)


@pytest.mark.parametrize("kind", EVERY)
async def test_ours_is_first_at_least_as_often_as_plain_bm25(outcomes: list[Outcome], kind: str) -> None:
    own = [each for each in outcomes if each.laid.kind == kind]
    assert len(own) >= 10
    assert sum(each.ours for each in own) >= sum(each.bm25 for each in own)


@pytest.mark.parametrize(("kind", "least"), [("two_things", 0.9), ("three_in_a_row", 0.9), ("changes", 0.7)])
async def test_the_right_one_is_first(outcomes: list[Outcome], kind: str, least: float) -> None:
    own = [each.ours for each in outcomes if each.laid.kind == kind]
    assert sum(own) >= least * len(own)


async def test_two_things_never_overtake_each_other(outcomes: list[Outcome]) -> None:
    assert [each.ask.question for each in outcomes if each.laid.kind == "two_things" and each.overtaken] == []
