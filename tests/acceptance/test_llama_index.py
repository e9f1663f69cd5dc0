"""LlamaIndex's retriever and memory on a citizen: either face, long texts, and what a prompt gets."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage

from api.adapters.llama_index import SubstrateMemoryBlock, SubstrateRetriever
from api.client import Substrate
from schemas.base import MAX_LONG_TEXT
from tests.acceptance.conftest import ADMIN_KEY


@pytest.fixture
def tea(client: Substrate, citizen: str) -> str:
    """A citizen who knows how Tom takes his tea."""
    client.remember(citizen_id=citizen, id="tea", name="Tea", description="Tom takes it black.")
    return citizen


async def test_a_query_that_is_too_long_is_asked_by_its_beginning(client: Substrate, tea: str) -> None:
    long = "How does Tom take his tea? " + "and so on " * 5000
    found = await SubstrateRetriever(client, tea, query_levels=["N1"]).aretrieve(long)
    assert [one.node.metadata["node_id"] for one in found] == ["tea"]
    assert (
        found[0].node.metadata["asked"] == f"only the first 20,000 of {len(long.strip()):,} characters were used"
    )
    assert "asked" not in SubstrateRetriever(client, tea, query_levels=["N1"]).retrieve("tea")[0].node.metadata


async def test_an_agents_turn_does_not_fail_for_what_cannot_be_asked_or_stored(
    client: Substrate, tea: str
) -> None:
    assert SubstrateRetriever(client, tea, query_levels=["N1"]).retrieve(" \x00 ") == []
    block = SubstrateMemoryBlock(client=client, citizen_id=tea)
    assert await block.aget([ChatMessage(role="user", content=" \n")]) == ""
    await block.aput(
        [ChatMessage(role="user", content="\x1b[31mred\x1b[0m"), ChatMessage(role="user", content="\x00 ")]
    )
    assert [turn.description for turn in _turns(client, tea)] == ["[31mred [0m"]


async def test_a_message_is_stored_whole_however_long_it_is(client: Substrate, citizen: str) -> None:
    words = [f"word{number}" for number in range(30_000)]
    block = SubstrateMemoryBlock(client=client, citizen_id=citizen)
    await block.aput(
        [ChatMessage(role="user", content=" ".join(words)), ChatMessage(role="assistant", content="Oh.")]
    )
    turns = [client.get(turn.node_id, citizen_id=citizen) for turn in _turns(client, citizen)]
    said = sorted((turn.description for turn in turns), key=_number)
    assert " ".join(said).split() == [*words, "Oh."]
    assert max(map(len, said)) <= MAX_LONG_TEXT
    text = await block.aget([ChatMessage(role="user", content=" ".join(words))])
    assert "the first" in text.splitlines()[-1]


def _number(text: str) -> int:
    return int(text.split()[0].removeprefix("word")) if text.startswith("word") else 10**6


def _turns(client: Substrate, citizen: str) -> list[Any]:
    return list(client.list_memories(citizen_id=citizen, node_type="Turn").memories)


async def test_a_memory_that_lies_beside_an_agent_holds_no_key_in_its_dump(
    client: Substrate, citizen: str
) -> None:
    block = SubstrateMemoryBlock(client=client, citizen_id=citizen, max_tokens=50)
    kept = block.model_dump(mode="json")
    assert (kept["citizen_id"], kept["max_tokens"], "client" in kept) == (citizen, 50, False)
    assert ADMIN_KEY not in block.model_dump_json() + repr(block) + str(block)


async def test_a_memory_block_contains_the_text_of_memories_and_not_only_their_names(
    client: Substrate, citizen: str
) -> None:
    block = SubstrateMemoryBlock(client=client, citizen_id=citizen)
    said = [
        ("user", "Tom takes his tea black."),
        ("assistant", "I will remember that."),
        ("user", "And no sugar."),
    ]
    await block.aput([ChatMessage(role=role, content=text) for role, text in said])
    client.remember(citizen_id=citizen, name="Tom", node_type="Person", description="A friend of the user.")
    text = await block.aget(
        [ChatMessage(role="user", content="How does the user in session 1 say Tom takes his tea?")]
    )
    lines = [line.partition("] ")[2] for line in text.splitlines() if line.startswith("- [")]
    assert sum("Tom takes his tea black." in line for line in lines) == 1
    assert any(line.startswith("Tom: A friend") for line in lines)
    assert [line for line in lines if line.startswith(("session", "user (", "assistant ("))] == []


async def test_messages_that_leave_the_buffer_of_an_agent_are_found_again(client: Substrate, citizen: str) -> None:
    block = SubstrateMemoryBlock(client=client, citizen_id=citizen)
    ejected = [ChatMessage(role="user", content="Tom takes his tea black, I told you so in the garden.")]
    for _ in range(2):
        await block.aput(ejected, from_short_term_memory=True, session_id="s")
    assert len(_turns(client, citizen)) == 1
    assert "tea black" in await block.aget([ChatMessage(role="user", content="Tea for Tom?")], session_id="s")
