"""The generated facts that change: the same for a seed, of every manner, without a fault in ids and times."""

from __future__ import annotations

from benchmarks.changed_facts import FACTS_IN_A_CHAT, generate_chats
from benchmarks.chat import find_faults


def test_a_seed_gives_the_same_chats_and_another_seed_gives_others() -> None:
    assert generate_chats(12, 3) == generate_chats(12, 3)
    assert generate_chats(12, 3) != generate_chats(12, 4)


def test_the_chats_have_no_faults_and_all_facts_of_every_manner() -> None:
    chats = generate_chats(FACTS_IN_A_CHAT + 6, 5)
    assert [fault for chat in chats for fault in find_faults(chat)] == []
    changes = [change for chat in chats for change in chat.changes]
    assert len(changes) == FACTS_IN_A_CHAT + 6
    assert {change.manner for change in changes} == {"plain", "passing", "return", "twice"}
