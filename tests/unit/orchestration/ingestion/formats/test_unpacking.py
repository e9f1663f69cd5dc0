"""Archives as programs give them: the conversations are found, and a damaged one is refused."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from orchestration.ingestion.formats import parse, parse_readable
from orchestration.ingestion.formats.files import read_files, unpack, wanted
from schemas.errors import InvalidRequest
from tests.unit.orchestration.ingestion.formats.exports import export, lines


def archive(**files: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for name, raw in files.items():
            made.writestr(name, raw)
    return target.getvalue()


CHATGPT = archive(
    **{
        "user.json": b"{}",
        "chat.html": b"<html><body>everything again</body></html>",
        "conversations.json": export("chatgpt_conversations.json"),
        "file-1-jar.jpg": b"\xff\xd8\xff",
        "__MACOSX/._conversations.json": b"\0",
    }
)


def test_the_zip_of_an_export_is_read_as_it_was_downloaded(tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(CHATGPT)
    parsed = parse(None, read_files(tmp_path / "export.zip", None, "mira"))
    assert (parsed.formats, len(lines(parsed))) == (("chatgpt",), 7)


def test_a_folder_of_archives_and_an_unpacked_export_are_read(tmp_path: Path) -> None:
    chat = export("WhatsApp Chat - Book circle/_chat.txt")
    for name in ("WhatsApp Chat - Sem.zip", "WhatsApp Chat - Noor.zip"):
        (tmp_path / name).write_bytes(archive(**{"_chat.txt": chat, "photo.jpg": b"\xff"}))
    parsed = parse(None, read_files(tmp_path, None, "mira"))
    assert [item.id for item in parsed.items] == ["whatsapp:Noor", "whatsapp:Sem"]


def test_what_stands_beside_is_named_and_hidden_files_are_not(tmp_path: Path) -> None:
    (tmp_path / "chats.zip").write_bytes(archive(**{"_chat.txt": export("WhatsApp Chat - Book circle/_chat.txt")}))
    for name in ("photo.jpg", "plan.qif", ".hidden"):
        (tmp_path / name).write_bytes(b"\xff")
    (tmp_path / "Claude").mkdir()
    (tmp_path / "Claude" / "conversations.json").write_bytes(export("claude_conversations.json"))
    (tmp_path / "Claude" / "users.json").write_text("[]", "utf-8")
    notes = parse_readable(None, read_files(tmp_path, None, "mira")).parsed.notes
    told = [note for note in notes if "no known format" in note]
    assert [note.partition("such as ")[2] for note in told] == ["Claude/users.json, photo.jpg, plan.qif (3)"]


def test_the_conversations_of_an_export_are_wanted_alone_in_all_their_parts() -> None:
    names = ["x/conversations-001.json", "x/conversations-000.json", "x/user.json", "x/y/chat.html", "z/a.md"]
    assert wanted(names) == ["x/conversations-000.json", "x/conversations-001.json", "z/a.md"]
    assert wanted(["b.md", ".obsidian/a.md", "a.md", "a.png"]) == ["a.md", "b.md"]
    assert wanted(["result.json", "other.json"], (".json",)) == ["other.json", "result.json"]


@pytest.mark.parametrize("kept", [4, 100, len(CHATGPT) // 2, len(CHATGPT) - 30])
def test_an_archive_that_is_cut_is_refused(kept: int) -> None:
    with pytest.raises(InvalidRequest, match="is a damaged or cut archive"):
        unpack("export.zip", CHATGPT[:kept])


def test_an_archive_whose_content_is_damaged_is_refused() -> None:
    at = CHATGPT.index(b"conversations.json") + 60
    damaged = CHATGPT[:at] + bytes(byte ^ 0x55 for byte in CHATGPT[at : at + 40]) + CHATGPT[at + 40 :]
    with pytest.raises(InvalidRequest, match="is a damaged or cut archive"):
        unpack("export.zip", damaged)
