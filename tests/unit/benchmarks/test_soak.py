"""The soak: its requests are the same in each run, and its slope is that of the last half."""

from __future__ import annotations

from itertools import islice

import orjson
import pytest

from benchmarks.soak import Sample, Tally, kind_rows, slope
from benchmarks.soak_client import NO_ANSWER, Sent
from benchmarks.soak_hostile import HOSTILE, Mix
from benchmarks.soak_work import WORK, Chance, Make, first_memories


def drawn(number: int, count: int) -> list[tuple[str, Sent]]:
    mix = Mix(Chance(number, citizens=5))
    return [mix.draw() for _ in range(count)]


@pytest.mark.parametrize("make", [*WORK, *HOSTILE], ids=lambda make: str(make.__name__))
def test_every_kind_makes_requests_that_can_be_sent(make: Make) -> None:
    for sent in (make(Chance(1, citizens=5)) for _ in range(2)):
        assert " " not in sent.target
        assert sent.target.isascii()


def test_a_client_draws_the_same_requests_in_each_run_and_another_one_others() -> None:
    assert drawn(1, 50) == drawn(1, 50)
    assert drawn(1, 50) != drawn(2, 50)


def test_two_clients_never_remember_under_the_same_id() -> None:
    told = [orjson.loads(sent.body)["id"] for n in (1, 2) for kind, sent in drawn(n, 300) if kind == "remember"]
    assert len(told) == len(set(told)) > 10


def test_only_the_kinds_named_are_drawn() -> None:
    mix = Mix(Chance(1, citizens=5), ["wake", "look"])
    assert {mix.draw().kind for _ in range(50)} == {"wake", "look"}


def test_links_of_the_first_memories_join_what_was_told() -> None:
    memories, links = (orjson.loads(sent.body) for sent in islice(first_memories(7, Chance(99, citizens=9)), 2))
    told = {memory["id"] for memory in memories}
    assert all({link["source_id"], link["target_id"]} <= told for link in links)


def test_the_slope_is_that_of_the_last_half_per_thousand_requests() -> None:
    samples = [Sample(1000 * n, 90_000 + (900 * n if n < 5 else 7 * n), 5000, 0.0, 0.0) for n in range(10)]
    assert slope(samples, "service_kb") == pytest.approx(7.0)
    assert slope(samples, "engine_kb") == pytest.approx(0.0)


def test_a_missing_answer_and_a_5xx_are_errors_and_one_that_is_not_awaited_is_none() -> None:
    tally = Tally(unanswered=3, took=[1.0])
    tally.statuses.update({200: 5, 404: 2, 503: 1, NO_ANSWER: 1})
    assert tally.errors == 2
    rows = list(kind_rows({"wake": tally}))
    assert rows[1] == ["wake", "12", "5", "2", "3", "2", "1.0"]
    assert rows[1][1:] == rows[-1][1:]
