"""What all exports of conversations have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestration.ingestion.formats.conversations import Chat, SaidMessage, parse_chats
from orchestration.ingestion.formats.reader import File, FileSet, Format, ParsedFiles, Reader
from schemas.errors import InvalidRequest
from tests.unit.orchestration.ingestion.formats.exports import counted, episodes

FORM = Format("lines", "lines of id, speaker and text")


def read_lines(reader: Reader, file: File) -> Iterator[Chat]:
    for line in file.text.split("\n"):
        with reader.item():
            if line == "bad":
                reader.fail("a line", "is bad")
            yield Chat(line, f"about {line}", [SaidMessage("1", "user", line)] if line != "silent" else [])


def parsed(*texts: str, citizen: str | None = "mira") -> ParsedFiles:
    files = tuple(File(f"part {number}", text) for number, text in enumerate(texts, start=1))
    return parse_chats(FileSet("x", files, citizen), FORM, read_lines)


def test_conversations_of_all_files_become_episodes_once_each() -> None:
    found = parsed("tea\nbad\nsilent", "tea\nboats")
    assert [(one.id, one.title) for one in episodes(found)] == [
        ("lines:tea", "about tea"),
        ("lines:boats", "about boats"),
    ]
    assert found.faults == ("part 1, a line: is bad",)
    assert counted(found) == {
        "conversations without a message of their own": 1,
        "messages that stand here twice": 1,
    }


@pytest.mark.parametrize(
    ("texts", "citizen", "reason"),
    [
        (["bad\nbad"], "mira", r"part 1, a line: is bad \(and 1 more\); lines expects"),
        (["silent"], "mira", "holds no message with a text"),
        ([" "], "mira", "part 1: is empty; lines expects"),
        (["tea"], None, "has no owner: name a citizen"),
    ],
)
def test_files_of_which_nothing_can_be_read_are_refused(
    texts: list[str], citizen: str | None, reason: str
) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        parsed(*texts, citizen=citizen)
