"""The cases of change are whole, lie among unrelated messages, and are laid alike in every run."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from benchmarks.change_cases import (
    CHANGES,
    FILLER,
    NOT,
    SETS,
    THREE,
    TWO,
    Laid,
    lay_all,
    read_cases,
    read_filler,
)
from benchmarks.change_lives import label_pairs, load_set, read_labels, read_wishes
from benchmarks.life import USER, load_lives


def lay(name: str) -> list[Laid]:
    return list(lay_all(read_cases(name), read_filler()))


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_its_cases_in_every_order(name: str) -> None:
    counts = Counter(laid.kind for laid in lay(name))
    assert counts == {CHANGES: 100, TWO: 200, THREE: 90, NOT: 20}
    assert len({laid.id for laid in lay(name)}) == sum(counts.values())


@pytest.mark.parametrize("name", SETS)
def test_a_case_is_laid_alike_in_every_run_and_in_order_of_time(name: str) -> None:
    assert lay(name) == lay(name)
    for laid in lay(name):
        assert all(later.time > earlier.time for earlier, later in pairwise(laid.messages)), laid.id
        assert len(laid.conversations) == 1 or laid.span == "across", laid.id


@pytest.mark.parametrize("name", SETS)
def test_what_a_question_expects_was_told_and_the_rest_is_filler(name: str) -> None:
    filler = {*read_filler().en, *read_filler().de}
    for laid in lay(name):
        ids = {message.id for message in laid.messages}
        assert {each for ask in laid.asks for each in ask.expected} <= set(laid.told) <= ids, laid.id
        others = [each for each in laid.messages if each.role == USER and each.id not in laid.told]
        assert all(each.text in filler for each in others), laid.id
        assert FILLER[0] <= len(others) <= FILLER[1], laid.id


def test_the_sets_share_no_statement() -> None:
    told = [
        {message.text for laid in lay(name) for message in laid.messages if message.id in laid.told}
        for name in SETS
    ]
    assert told[0].isdisjoint(told[1])


@pytest.mark.parametrize("name", SETS)
def test_wishes_are_about_messages_of_their_lives(name: str) -> None:
    lives = {life.id: {message.id for message in life.messages} for life in load_lives()}
    wishes, never_told = read_wishes(name)
    assert len(wishes) == len(never_told) == 20
    assert all(set(wish.about) <= lives[wish.life] and wish.about for wish in wishes)
    assert {each.life for each in never_told} <= lives.keys()


@pytest.mark.parametrize("name", SETS)
def test_labels_name_messages_of_their_chats_in_order_of_time(name: str) -> None:
    for folder, chat in load_set(name):
        places = {message.id: place for place, message in enumerate(chat.messages)}
        own = [each for each in read_labels() if (each.folder, each.chat) == (folder, chat.id)]
        steps, right = label_pairs(chat, own)
        assert steps <= right
        assert all(places[earlier] < places[later] for earlier, later in right), chat.id


def test_every_label_belongs_to_a_chat_of_a_set() -> None:
    chats = {(folder, chat.id) for name in SETS for folder, chat in load_set(name)}
    assert {(label.folder, label.chat) for label in read_labels()} <= chats
