"""A question and a waking find no less than plain cosine does, by set: cues without shared words, lists, chats."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.baselines import COSINE
from benchmarks.chat import load_chats, load_plain
from benchmarks.datasets import Conversation
from benchmarks.keys import load_keys
from benchmarks.loop_plan import as_conversation
from benchmarks.meaning import CUES, LISTS, RETRIEVE, WAKE, load_talks, measure
from benchmarks.scoring import Report

PEOPLE, KEYS, LIFE, CHAT = "people", "keys", "parcels_and_pipelines", "night_editor"


def answerable(conversation: Conversation) -> Conversation:
    return replace(conversation, questions=tuple(each for each in conversation.questions if each.evidence))


@pytest.fixture(scope="module")
async def reports() -> dict[str, dict[str, Report]]:
    """The halves of the cues, lists and keys that rules may be written by, and two whole chats."""
    chats = {chat.id: as_conversation(chat) for chat in (*load_plain(), *load_chats())}
    return await measure(
        {
            PEOPLE: [load_talks(sealed=False)],
            KEYS: [told.conversation for told in load_keys(sealed=False)[:2]],
            LIFE: [answerable(chats[LIFE])],
            CHAT: [answerable(chats[CHAT])],
        }
    )


@pytest.mark.parametrize("name", [PEOPLE, KEYS, LIFE, CHAT])
@pytest.mark.parametrize("way", [RETRIEVE, WAKE])
async def test_each_way_of_asking_finds_what_cosine_finds_or_more(
    reports: dict[str, dict[str, Report]], way: str, name: str
) -> None:
    found, plain = reports[name][way].overall, reports[name][COSINE].overall
    assert plain.recall[10] > 0.0
    assert found.recall[10] >= plain.recall[10]


@pytest.mark.parametrize("kind", [CUES, LISTS])
@pytest.mark.parametrize("way", [RETRIEVE, WAKE])
async def test_cues_and_lists_alone_find_what_cosine_finds_or_more(
    reports: dict[str, dict[str, Report]], way: str, kind: str
) -> None:
    found, plain = reports[PEOPLE][way].by_category[kind], reports[PEOPLE][COSINE].by_category[kind]
    assert found.recall[10] >= plain.recall[10]
