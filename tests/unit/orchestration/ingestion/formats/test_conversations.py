"""What all exports of conversations have in common."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from orchestration.ingestion.formats.conversations import Chat, Said, parse_chats
from orchestration.ingestion.formats.files import make_file
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Reader
from schemas.errors import InvalidRequest
from tests.unit.orchestration.ingestion.formats.exports import counted, episodes, export, read_all, turns

FORM = Format("lines", "lines of id, speaker and text")


def read_lines(reader: Reader, file: File) -> Iterator[Chat]:
    for line in file.text.split("\n"):
        with reader.item():
            if line == "bad":
                reader.fail("a line", "is bad")
            yield Chat(line, f"about {line}", [Said("1", "user", line)] if line != "silent" else [])


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


def test_the_id_of_a_message_is_kept_so_that_a_later_export_adds_only_what_is_new() -> None:
    (episode,) = episodes(parsed("tea"))
    assert [(message.id, message.turn.extra["id"]) for message in episode.messages] == [("1", "1")]


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


def test_the_parts_of_a_large_export_are_read_together() -> None:
    whole = json.loads(export("chatgpt_conversations.json"))
    files = [
        make_file(f"conversations-{number:03}.json", json.dumps([conversation]).encode())
        for number, conversation in enumerate(whole)
    ]
    assert len(turns(read_all(files))) == 7


def test_an_assumed_encoding_is_said() -> None:
    raw = (
        export("chatgpt_conversations.json")
        .decode()
        .replace("blue jar", "blue crêpe pan")
        .encode("latin-1", "ignore")
    )
    found = read_all([make_file("conversations.json", raw)])
    assert "read as Windows-1252, because it is not UTF-8" in counted(found)
    assert "blue crêpe pan" in turns(found)[0].text
