"""The chats that answers are measured on are whole, and their faults are told."""

from __future__ import annotations

import pytest

from benchmarks.chat import HELD_BACK, Chat, find_faults, load_chats, load_plain


@pytest.mark.parametrize(
    "chat", [*load_chats(), *load_plain(), *load_chats(directory=HELD_BACK)], ids=lambda chat: chat.id
)
def test_every_chat_is_in_order_and_names_its_own_messages(chat: Chat) -> None:
    assert find_faults(chat) == []


def test_a_chat_that_does_not_exist_is_told() -> None:
    with pytest.raises(FileNotFoundError):
        load_chats(["nobody"])


def test_values_out_of_order_are_a_fault() -> None:
    chat = load_chats()[0]
    change = chat.changes[0]
    turned = change.model_copy(update={"values": tuple(reversed(change.values)), "past": ()})

    assert find_faults(chat.model_copy(update={"changes": (turned,)})) == [
        f"the values {turned.values} are no messages in order of time"
    ]
