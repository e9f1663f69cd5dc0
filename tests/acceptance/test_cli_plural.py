"""`--plural` and `--rerank` as their users meet them: the command on the store of a service that runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.conftest import Service
from tests.acceptance.test_cli import Command
from tests.builders import ago

HERONS = {
    "heron heron lake": 1.0,
    "heron heron heron lake lake": 0.0,
    "a heron at the mill in May": 1.0,
    "heron heron lake again": 1.0,
    "the lake froze before the mill had ground all of the wheat": 1.0,
    "heron": 1.0,
}
"""What was seen, and how surely: what has most of the words is doubted, so that ranks and scores disagree."""


@pytest.fixture(scope="module")
def flooded(wordless: Service) -> Service:
    """`nora` saw one lantern long ago and 120 this week; `olga` saw herons."""
    shared = {"citizen_id": "nora", "resolution_state": "in_progress"}
    old = {"id": "old", "name": "The lantern at the pier", "valid_at": ago(200)}
    memories: list[dict[str, Any]] = [{**shared, **old}]
    memories += [
        {**shared, "id": f"new-{n}", "name": f"Lantern, lantern {n}", "valid_at": ago(n / 50)} for n in range(120)
    ]
    memories += [
        {**shared, "id": f"dove-{n}", "name": "An olive branch", "valid_at": ago(300 + n)} for n in range(3)
    ]
    memories += [
        {"citizen_id": "olga", "id": f"h{n}", "name": text, "confidence": sure}
        for n, (text, sure) in enumerate(HERONS.items())
    ]
    assert wordless.http.post("/v1/memories", json=memories).json()["refused"] == 0
    return wordless


@pytest.fixture
def substrate(flooded: Service, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    return Command(flooded.data, capsys)


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "lantern"),
        ("wake", "--goal", "lantern"),
        ("resonate", "lantern"),
        ("associate", "lantern", "--max-chars", "200"),
    ],
    ids=lambda words: words[0],
)
def test_an_old_match_behind_a_crowd_of_recent_ones_is_found_with_plural_alone(
    substrate: Command, words: tuple[str, ...]
) -> None:
    plain, plural = (substrate(*words, "-c", "nora", "--json", *more) for more in ((), ("--plural",)))
    assert (plain.code, plural.code) == (0, 0), plain.err + plural.err
    assert ['"node_id":"old"' in said.out for said in (plain, plural)] == [False, True]


def test_a_memory_found_by_plurality_alone_is_marked_so(substrate: Command) -> None:
    said = substrate("ask", "lantern", "-c", "nora", "--plural", "--explain").out
    _, branch, rest = said.partition("An olive branch")
    assert branch
    assert "found by plurality; score" in rest[:200]
    assert "plurality 0.0" in substrate("associate", "lantern", "-c", "nora", "--plural").out


def order(stream: dict[str, Any]) -> list[str]:
    tiers = stream["activation_tiers"]
    return [m["node_id"] for tier in ("focus", "peripheral", "background") for m in tiers[tier]]


@pytest.mark.parametrize("way", ["mmr", "rrf"])
def test_the_order_asked_for_is_the_one_that_rest_gives(flooded: Service, substrate: Command, way: str) -> None:
    words = ("ask", "heron lake", "-c", "olga", "--json")
    body = {"citizen_id": "olga", "query_text": "heron lake", "rerank": way}
    said = order(json.loads(substrate(*words, "--rerank", way).out))
    assert said == order(flooded.http.post("/v1/retrieve", json=body).json())
    assert said != order(json.loads(substrate(*words).out))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("best", "--rerank: Input should be 'mmr', 'rrf', 'llm' or 'custom'"),
        ("llm", "Set SUBSTRATE_LLM"),
        ("custom", "Set SUBSTRATE_RERANKER"),
    ],
)
def test_a_reranker_that_is_not_there_is_refused_in_one_line(substrate: Command, name: str, told: str) -> None:
    said = substrate("ask", "lantern", "-c", "nora", "--rerank", name)
    assert (said.code, said.out, len(said.err.splitlines())) == (2, "", 1)
    assert told in said.err
