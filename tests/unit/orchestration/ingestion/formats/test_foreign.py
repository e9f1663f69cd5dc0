"""What other memories give out: commands, the same whenever it is read, or a fault with its place."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from orchestration.ingestion.formats.command_files import relation_type
from orchestration.ingestion.formats.reader import short_name
from schemas.commands import Command, Relate, Remember, Retract, Supersede, Unrelate
from tests.unit.orchestration.ingestion.formats.test_formats import read, refusal, said

GRAPH: dict[str, Any] = {
    "nodes": [
        {"uuid": "n1", "name": "Ada", "summary": "A sailor.", "labels": ["Entity", "Person"], "group_id": "g"},
        {"uuid": "n2", "name": "Porto", "name_embedding": [0.1]},
    ],
    "edges": [
        {
            "uuid": "e1", "name": "lives in", "fact": "Ada lives in Porto.", "source_node_uuid": "n1",
            "target_node_uuid": "n2", "valid_at": "2024-01-01T00:00:00Z", "invalid_at": "2025-01-01T00:00:00Z",
            "created_at": "2024-02-01T00:00:00Z", "expired_at": "2025-02-01T00:00:00Z", "episodes": ["p1", "gone"],
        },
        {
            "uuid": "e2", "name": "KNOWS", "fact": "Ada knows Porto.", "source_node_uuid": "n1",
            "target_node_uuid": "n2", "expired_at": "2025-02-01T00:00:00Z",
        },
    ],
    "episodes": [{"uuid": "p1", "name": "chat", "content": "I moved.", "valid_at": "2024-01-02T00:00:00Z"}],
}  # fmt: skip
MEM0: dict[str, Any] = {
    "results": [
        {
            "id": "m1", "memory": "Likes tea", "user_id": "ada", "created_at": "2024-01-01T00:00:00-08:00",
            "categories": ["food"], "metadata": {"k": 1},
            "history": [
                {"event": "UPDATE", "new_memory": "Likes tea", "created_at": "2024-03-01T00:00:00Z"},
                {"event": "ADD", "new_memory": "Likes coffee", "created_at": "2024-01-01T08:00:00Z"},
            ],
        },
        {"id": "m2", "memory": "Sails", "user_id": "grace"},
    ]
}  # fmt: skip
MCP = "\n".join(
    json.dumps(line)
    for line in (
        {"type": "relation", "from": "Ada", "to": "Porto", "relationType": "lives in"},
        {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Sails.", "Sails."]},
        {"type": "entity", "name": "Porto", "entityType": "city", "observations": []},
    )
)
FILES = {"graphiti": json.dumps(GRAPH), "mem0": json.dumps(MEM0), "mcp-memory": MCP}


def links(commands: list[Command]) -> set[tuple[str, str, str]]:
    return {(one.source_id, one.relation_type, one.target_id) for one in commands if isinstance(one, Relate)}


def memories(commands: list[Command]) -> dict[str, Remember]:
    return {one.id or "": one for one in commands if isinstance(one, Remember)}


def test_a_graph_of_graphiti_keeps_its_ids_its_facts_and_when_they_held() -> None:
    commands = said(read("graphiti", FILES["graphiti"]))
    held = memories(commands)
    assert {key: one.node_type for key, one in held.items()} == {
        "n1": "Person", "n2": "Entity", "p1": "Episode", "e1": "Fact", "e2": "Fact",
    }  # fmt: skip
    assert (held["n1"].description, held["n2"].extra) == ("A sailor.", {})
    assert (held["e1"].valid_at, held["e1"].invalid_at) == (
        datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    assert held["e1"].extra["created_at"] == "2024-02-01T00:00:00Z"
    assert links(commands) == {
        ("n1", "LIVES_IN", "n2"), ("n1", "KNOWS", "n2"), ("e1", "ABOUT", "n1"), ("e1", "ABOUT", "n2"),
        ("e2", "ABOUT", "n1"), ("e2", "ABOUT", "n2"), ("e1", "STATED_IN", "p1"),
    }  # fmt: skip


def test_an_edge_that_graphiti_expired_without_an_end_is_retracted() -> None:
    commands = said(read("graphiti", FILES["graphiti"]))
    assert [one.id for one in commands if isinstance(one, Retract)] == ["e2"]
    assert [one.id for one in commands if isinstance(one, Unrelate)] == ["e2:link"]


def test_a_history_of_mem0_becomes_commands_in_the_order_of_its_times() -> None:
    commands = said(read("mem0", FILES["mem0"], None))
    first, second, other = commands
    assert isinstance(first, Remember)
    assert isinstance(second, Supersede)
    assert (first.citizen_id, first.description, first.tags) == ("ada", "Likes coffee", ("food",))
    assert first.valid_at == datetime(2024, 1, 1, 8, tzinfo=UTC)
    assert first.extra == {"metadata": {"k": 1}}
    assert (second.description, second.effective_at) == ("Likes tea", datetime(2024, 3, 1, tzinfo=UTC))
    assert other.citizen_id == "grace"


def test_a_named_citizen_gets_all_memories_of_mem0() -> None:
    assert {one.citizen_id for one in said(read("mem0", FILES["mem0"], "luca"))} == {"luca"}


def test_the_lines_of_the_mcp_server_may_relate_what_comes_later_and_say_things_twice() -> None:
    commands = said(read("mcp-memory", MCP))
    held = memories(commands)
    assert sorted((one.node_type, one.name) for one in held.values()) == [
        ("Observation", "Sails."), ("city", "Porto"), ("person", "Ada"),
    ]  # fmt: skip
    names = {(held[a].name, kind, held[b].name) for a, kind, b in links(commands)}
    assert names == {("Ada", "LIVES_IN", "Porto"), ("Sails.", "ABOUT", "Ada")}


@pytest.mark.parametrize(
    ("name", "relation"),
    [
        ("works at", "WORKS_AT"),
        ("-loves-", "LOVES"),
        ("é", "RELATES_TO"),
        ("7 days", "RELATES_TO"),
        ("", "RELATES_TO"),
        ("a" * 99, "A" * 64),
    ],
)
def test_a_relation_gets_a_name_of_our_alphabet(name: str, relation: str) -> None:
    assert relation_type(name) == relation


def test_a_long_text_makes_a_name_of_120_characters() -> None:
    assert short_name(" a\nb ") == "a b"
    assert (len(short_name("x" * 120)), short_name("x" * 121)) == (120, "x" * 119 + "…")


@pytest.mark.parametrize("form", FILES)
def test_a_file_read_again_gives_the_same_commands_with_the_same_distinct_ids(form: str) -> None:
    first, again = (said(read(form, FILES[form])) for _ in range(2))
    assert first == again
    assert len({one.command_id for one in first}) == len(first)


@pytest.mark.parametrize(
    ("form", "text", "words"),
    [
        ("graphiti", "[]", "is a list, not an object"),
        ("graphiti", "{}", "has no memory or link"),
        ("graphiti", '{"nodes": 3}', "nodes"),
        ("graphiti", '{"nodes": [3]}', "nodes 1: is a number"),
        ("graphiti", '{"nodes": [{"uuid": "a"}]}', "nodes 1, name"),
        ("graphiti", json.dumps({"edges": GRAPH["edges"]}), "edges 1: its end n1 is no node"),
        ("graphiti", '{"episodes": [{"uuid": "a", "name": 7, "content": "b"}]}', "episodes 1, name: is a number"),
        ("mem0", '[{"id": "a", "memory": "b", "user_id": "no one"}]', "entry 1: its user_id"),
        ("mem0", '[{"id": "a", "user_id": "b"}]', "entry 1, memory"),
        ("mem0", '[{"id": "a", "memory": "b", "user_id": "c", "created_at": "soon"}]', "created_at"),
        ("mem0", '[{"id": "a", "memory": "b", "user_id": "c", "history": [{"event": "X"}]}]', "history 1"),
        ("mcp-memory", '{"type": "thing"}', "line 1: is neither"),
        ("mcp-memory", '{"type": "relation", "from": "a", "to": "b", "relationType": "c"}', "'a', which is no"),
        ("mcp-memory", '{"type": "entity", "name": "a", "observations": "b"}', "observations: is a text"),
    ],
)
def test_a_file_of_another_format_is_refused_with_its_place(form: str, text: str, words: str) -> None:
    citizen = None if form == "mem0" else "ada"
    assert words in refusal(form, text, citizen)


@pytest.mark.parametrize("form", ["graphiti", "mcp-memory"])
def test_a_file_without_owners_needs_a_citizen(form: str) -> None:
    assert "name a citizen" in refusal(form, FILES[form], None)
