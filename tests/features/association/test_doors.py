"""The Tag-Walker through both doors: 001's phases on notes like its own, bad input in clear words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Service
from tests.acceptance.test_cli import Command

NOTES: list[dict[str, Any]] = [
    {"id": "decided", "name": "Driver decision", "description": "The cozo driver leaks memory, we replace it.",
     "tags": ["storage"], "buckets": ["core"]},
    {"id": "leak", "name": "Leak", "description": "Heap grows by one page per query of the cozo driver.",
     "tags": ["storage", "inbox"]},
    {"id": "tagged", "name": "Benchmarks", "description": "Ten runs with the old driver.",
     "tags": ["cozo driver"], "buckets": ["core"]},
    {"id": "hidden", "name": "Pages", "description": "Mmap is off on laptops with little memory space.",
     "tags": ["storage"]},
    {"id": "bucketed", "name": "Roadmap", "description": "First the mirror, then the dreamer.",
     "buckets": ["core"]},
    {"id": "generic", "name": "Milk", "description": "Buy oat milk.", "tags": ["inbox"]},
    *({"id": f"inbox-{place}", "name": f"Errand {place}", "description": "Something small.", "tags": ["inbox"]}
      for place in range(8)),
    {"id": "alien", "name": "Tulips", "description": "They want sun.", "tags": ["garden"]},
]  # fmt: skip
QUERY = "What about the cozo driver?"


@pytest.fixture(scope="module")
def notes(service: Service) -> str:
    for note in NOTES:
        service.remember("notes.walker", valid_at="2026-01-19T00:00:00Z", **note)
    return "notes.walker"


def walked(service: Service, citizen: str, **fields: Any) -> dict[str, Any]:
    body = {"citizen_id": citizen, "query_text": QUERY, **fields}
    answer = service.http.post("/v1/associate", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [one["memory"]["node_id"] for one in found]


def test_direct_hits_come_first_and_a_word_in_a_tag_counts_twice(service: Service, notes: str) -> None:
    said = walked(service, notes)
    assert said["keywords"] == ["cozo", "driver"]
    assert set(ids(said["anchors"])) == {"decided", "leak", "tagged"}
    boosted = {one["memory"]["node_id"]: one["boosted"] for one in said["anchors"]}
    assert boosted == {"tagged": True, "decided": False, "leak": False}
    assert said["anchors"][0]["memory"]["node_id"] == "tagged"


def test_the_walk_brings_what_shares_the_tags_and_has_none_of_the_words(service: Service, notes: str) -> None:
    said = walked(service, notes)
    assert [tag["name"] for tag in said["tags"]] == ["#cozo driver", "@core", "#storage", "#inbox"]
    inbox = said["tags"][-1]
    assert (inbox["memories"], inbox["weight"] < min(tag["weight"] for tag in said["tags"][:-1])) == (10, True)
    hidden = ids(said["neighbours"])
    assert set(hidden[:2]) == {"bucketed", "hidden"}
    assert "alien" not in hidden
    by_id = {one["memory"]["node_id"]: one for one in said["neighbours"]}
    assert by_id["hidden"]["bridges"] == ["#storage"]
    assert {one["words"] for one in said["neighbours"]} == {0.0}
    assert not set(hidden) & set(ids(said["anchors"]))


@pytest.mark.parametrize("max_chars", [1, 40, 150, 400, 1_000_000])
def test_seventy_of_a_hundred_characters_go_to_direct_hits(service: Service, notes: str, max_chars: int) -> None:
    said = walked(service, notes, max_chars=max_chars)
    for part, share in (("anchors", max_chars * 7 // 10), ("neighbours", max_chars - max_chars * 7 // 10)):
        told = sum(len(f"{one['memory']['name']}: {one['memory']['description']}") for one in said[part])
        assert told == said[f"{part[:-1]}_chars"] <= share
    everything = len(walked(service, notes)["anchors"] + walked(service, notes)["neighbours"])
    assert len(said["anchors"]) + len(said["neighbours"]) + said["omitted"] == everything
    assert (max_chars == 1) is any("fits into 1 characters" in note for note in said["notes"])


def test_the_same_request_gets_the_same_bytes(service: Service, notes: str) -> None:
    body = {"citizen_id": notes, "query_text": QUERY}
    assert len({service.http.post("/v1/associate", json=body).content for _ in range(4)}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "mind-protocol.org",
        ".org",
        '"cozo" AND (NOT',
        "cozo | * %% -driver",
        "@name:{x} $ => ~",
        "🙂 cozo",
        "a\\b/c#d",
    ],
)
def test_whatever_stands_in_a_question_the_parser_below_never_sees_it(
    service: Service, notes: str, text: str
) -> None:
    said = walked(service, notes, query_text=text)
    assert said["degraded"] == []
    assert bool(said["anchors"]) is ("cozo" in text)


@pytest.mark.parametrize("text", ["the of and with", "?! …"])
def test_a_question_without_searchable_words_gets_a_note(service: Service, notes: str, text: str) -> None:
    said = walked(service, notes, query_text=text)
    assert (said["anchors"], said["neighbours"], said["keywords"]) == ([], [], [])
    assert ["only stop words and punctuation" in note for note in said["notes"]] == [True]


def test_an_unknown_citizen_and_unknown_words_are_no_errors(service: Service, notes: str, citizen: str) -> None:
    with service.unchanged():
        assert "is not known here" in " ".join(walked(service, citizen)["notes"])
    assert walked(service, notes, query_text="xylophone")["notes"] == ["no memory has a word of the question"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"max_chars": 0}, "max_chars: Input should be greater than or equal to 1"),
        ({"max_chars": 10**9}, "max_chars: Input should be less than or equal to 1000000"),
        ({"query_text": " \n"}, "the query is empty"),
        ({"query_levels": []}, "query_levels"),
        ({"known_at": "3000-01-01T00:00:00Z"}, "times must lie between"),
        ({"anchors": 3}, "anchors: Extra inputs are not permitted"),
    ],
)
def test_a_walk_that_cannot_be_made_is_refused_in_words(service: Service, fields: Any, said: str) -> None:
    body = {"citizen_id": "nobody", "query_text": QUERY, **fields}
    answer = service.http.post("/v1/associate", json=body)
    assert answer.status_code == 422, answer.text
    assert said in " ".join(answer.json()["faults"])


def test_tags_may_hold_slashes_quotes_and_line_breaks(service: Service, citizen: str) -> None:
    strange = ['a/b "c"\n\\d', "e|f, g", "Ünï 🙂"]
    service.remember(citizen, id="one", name="Kettle", tags=strange)
    service.remember(citizen, id="two", name="Teapot", tags=strange)
    said = walked(service, citizen, query_text="kettle")
    assert [ids(said["anchors"]), ids(said["neighbours"])] == [["one"], ["two"]]
    assert sorted(said["neighbours"][0]["bridges"]) == sorted(f"#{tag}" for tag in strange)


@pytest.mark.parametrize("tags", [[], ["all"]])
def test_a_graph_where_all_or_none_have_a_tag_is_walked_as_well(
    service: Service, citizen: str, tags: list[str]
) -> None:
    for place in range(6):
        name = "Kettle" if place == 0 else f"Pan {place}"
        service.remember(citizen, id=f"m{place}", name=name, tags=tags)
    said = walked(service, citizen, query_text="kettle")
    assert ids(said["anchors"]) == ["m0"]
    assert ids(said["neighbours"]) == ([f"m{place}" for place in range(1, 6)] if tags else [])


def test_a_walk_asks_for_the_past_as_it_was(service: Service, citizen: str) -> None:
    service.remember(citizen, id="kettle", name="Kettle", tags=["tea"], valid_at="2026-01-01T00:00:00Z")
    service.remember(citizen, id="cup", name="Cup", tags=["tea"], valid_at="2026-01-01T00:00:00Z")
    change = {"citizen_id": citizen, "tags": ["junk"], "effective_at": "2026-03-01T00:00:00Z"}
    assert service.http.post("/v1/memories/N1/cup/supersede", json=change).status_code == 200
    assert ids(walked(service, citizen, query_text="kettle")["neighbours"]) == []
    then = {"as_of_time": "2026-02-01T00:00:00Z", "known_at": "2100-01-01T00:00:00Z"}
    (cup,) = walked(service, citizen, query_text="kettle", **then)["neighbours"]
    assert (cup["memory"]["node_id"], cup["bridges"]) == ("cup", ["#tea"])


def test_the_command_shows_both_phases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    substrate = Command(tmp_path / "data", capsys)
    life = tmp_path / "life.jsonl"
    life.write_text(
        '{"command": "remember", "id": "leak", "name": "A [leak]", "tags": ["storage"]}\n'
        '{"command": "remember", "id": "pages", "name": "Pages", "tags": ["storage"]}\n',
        "utf-8",
    )
    assert substrate("ingest", str(life), "-f", "commands", "-c", "kai").code == 0
    found = substrate("associate", "the leak", "-c", "kai")
    assert (found.code, "A [leak]" in found.out, "Pages" in found.out) == (0, True, True), found.err
    assert "#storage (2)" in found.out
    assert '"neighbours":' in substrate("associate", "leak", "-c", "kai", "--json").out
    assert substrate("associate", "leak", "-c", "kay").code == 4
    empty = substrate("associate", "leak", "-c", "kai", "--max-chars", "0")
    assert (empty.code, "--max-chars: Input should be greater" in empty.err) == (2, True)
