"""What a comparison makes of its measurements: ratios of ours to each other side, and what a peer printed."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

import pytest

from benchmarks.comparison import OURS, Record, format_table, in_turns, read_bases, read_peer, summarize
from benchmarks.loading import EPISODE_TURNS, conversations
from benchmarks.sides.side import Cost, Side
from benchmarks.sides.stores import copies_of, longest
from tests.docs_pages import ROOT


def sides(*names: str) -> list[Side]:
    return [Side(name, Path(), Path(), "none") for name in names]


@pytest.mark.parametrize("printed", ["25.5\n", "warming up\n25.5\n\n", '{"p50": 25.5, "p95": 40}\n'])
def test_a_peer_prints_milliseconds_or_json_with_its_p50(printed: str) -> None:
    assert read_peer(printed) == 25.5


@pytest.mark.parametrize("printed", ["", "fast", '{"p95": 1}', "[1]"])
def test_a_peer_that_prints_anything_else_is_refused(printed: str) -> None:
    with pytest.raises(ValueError, match="the peer printed"):
        read_peer(printed)


def test_ratios_are_of_ours_to_each_other_side() -> None:
    record = Record()
    ours, today = sides(OURS, "today")
    for clock in (8.0, 10.0, 12.0):
        record.note("warm", ours, Cost(clock, 3.0, 2.0))
        record.note("warm", today, Cost(2 * clock, 12.0, 8.0))
        record.note("cold", ours, Cost(2 * clock, 3.0, 2.0))
        record.note("cold", today, Cost(4 * clock, 12.0, 8.0))
    record.rates["warm"] = {OURS: [90.0, 100.0, 110.0], "today": [40.0]}
    record.bare["today"] = [8.0]
    record.peers["echo 25"] = [24.0, 25.0, 26.0]
    figures = summarize(record, [OURS, "today"])
    assert figures["phases"]["warm"]["ratios"] == {
        "today": {"p50_ms": 0.5, "p95_ms": 0.5, "cpu_ms": 0.25, "per_second": 2.5}
    }
    assert figures["warm_to_bare_queries"] == {"today": 1.25}
    assert figures["warm_to_peers"] == {"echo 25": 0.4}
    assert figures["cold_to_warm_of"] == {"today": 1.0}
    assert "per_second 2.5" in format_table("locomo", figures)


def test_every_side_is_first_in_its_turn() -> None:
    three = sides("a", "b", "c")
    assert [in_turns(three, number)[0].name for number in range(4)] == ["a", "b", "c", "a"]


def test_a_base_is_a_checkout_that_may_have_a_name() -> None:
    refuse = ArgumentParser(exit_on_error=False).error
    assert read_bases([str(ROOT), f"today={ROOT}"], refuse) == [(ROOT.name, ROOT), ("today", ROOT)]
    with pytest.raises(SystemExit):
        read_bases([str(ROOT / "docs")], refuse)


def test_the_longest_conversation_is_stored_for_each_citizen_and_its_beginning_for_one_more() -> None:
    short = {"sample_id": "s", "qa": [], "conversation": {"session_1": [1]}}
    long = {"sample_id": "l", "qa": [], "conversation": {f"session_{n}": [n] for n in range(1, 5)}}
    assert longest([short, long]) is long
    *copies, other = copies_of(long, 2)
    assert [len(copy["conversation"]) for copy in copies] == [4, 4]
    assert list(other["conversation"]) == ["session_1", "session_2"]


def test_a_load_has_as_many_turns_as_asked_and_no_text_twice() -> None:
    turns = [turn for episode in conversations(2 * EPISODE_TURNS + 1) for turn in episode.sessions[0].turns]
    assert len({turn.key for turn in turns}) == len({turn.text for turn in turns}) == 2 * EPISODE_TURNS + 1
