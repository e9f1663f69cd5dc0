"""Commands in the engine's log: what is written is read back, and what is cut or spoilt is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.engine.checksums import Unreadable, commands, readable_bytes

word_lists = st.lists(st.binary(max_size=40), min_size=1, max_size=4)
PING, MULTI, EXEC = ([name] for name in (b"PING", b"MULTI", b"EXEC"))


def encode(words: list[bytes]) -> bytes:
    """A command as the engine writes it."""
    parts = [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
    return b"*%d\r\n%s" % (len(words), b"".join(parts))


@given(st.lists(word_lists, max_size=6))
def test_commands_that_are_written_are_read_back(written: list[list[bytes]]) -> None:
    read = list(commands(b"".join(map(encode, written))))
    assert [command.name for command in read] == [words[0].upper() for words in written]
    assert [command.key for command in read] == [words[1] if len(words) > 1 else b"" for words in written]


@given(st.lists(word_lists, min_size=1, max_size=4), st.data())
def test_a_log_that_is_cut_anywhere_is_readable_up_to_its_last_complete_command(
    written: list[list[bytes]], data: st.DataObject
) -> None:
    log = b"".join(map(encode, written))
    cut = data.draw(st.integers(0, len(log)))
    ends = [command.end for command in commands(log)]
    plain = not any(words[0].upper() == b"MULTI" for words in written)
    assert [command.end for command in commands(log[:cut])] == [end for end in ends if end <= cut]
    if plain:
        assert readable_bytes(log[:cut]) == max((end for end in ends if end <= cut), default=0)


def test_comments_between_commands_are_skipped() -> None:
    [command] = commands(b"#TS:1\r\n" + encode(PING))
    assert (command.name, command.end) == (b"PING", 7 + len(encode(PING)))


def test_a_transaction_counts_as_one_command() -> None:
    before, transaction = encode(PING), b"".join(map(encode, (MULTI, PING, PING, EXEC)))
    assert readable_bytes(before + transaction) == len(before + transaction)
    assert readable_bytes(before + transaction[:-1]) == len(before)


@pytest.mark.parametrize(
    "garbage", [b"\0" * 40, b"*x\r\n" + b" " * 40, b"*0\r\n" + b" " * 40, b"*1\r\n+OK\r\n" + b" " * 40]
)
def test_bytes_that_are_no_command_are_found_with_their_position(garbage: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        readable_bytes(encode(PING) + garbage)
    assert caught.value.readable_bytes == len(encode(PING))
