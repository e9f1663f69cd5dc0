"""What people export goes in by the command line, by REST and by Python, and is told in the same words."""

from __future__ import annotations

import io
import zipfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from api.client import AsyncSubstrate
from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.acceptance.test_cli import Command
from tests.unit.orchestration.ingestion.formats.exports import EXPORTS, export

CHATGPT = export("chatgpt_conversations.json")


@pytest.fixture(name="substrate")
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command, in this process, on a store of its own, without a model."""
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    return Command(tmp_path / "data", capsys)


def archive(name: str, raw: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr(name, raw)
        made.writestr("user.json", b"{}")
    return target.getvalue()


def test_the_command_line_tells_the_format_and_stores_an_export_once(substrate: Command, tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(archive("conversations.json", CHATGPT))
    first = substrate("ingest", str(tmp_path / "export.zip"), "-c", "mira")
    assert (first.code, "format: chatgpt" in first.err) == (0, True)
    assert "mira: 7 turns, 3 sessions, 2 persons, 16 links" in first.out
    again = substrate("ingest", str(tmp_path / "export.zip"), "-c", "mira")
    assert "stored 0, there already" in again.out
    asked = substrate("ask", "-c", "mira", "Where are we moving in May?", "--json")
    assert "We are moving to Porto in May." in asked.out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--timezone", "Mars/Olympus"), "there is no time zone 'Mars/Olympus'"),
        (("--timezone", "/etc/passwd"), "there is no time zone"),
        (("-f", "claude"), "has no chat_messages (and 2 more); claude expects"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(substrate: Command, words: tuple[str, ...], reason: str) -> None:
    said = substrate("ingest", str(EXPORTS / "chatgpt_conversations.json"), "-c", "mira", *words)
    assert said.code == 2
    assert reason in " ".join(said.err.split())


def sent(citizen: str, name: str, raw: bytes, **options: Any) -> dict[str, Any]:
    return {"citizen_id": citizen, "name": name, "content": b64encode(raw).decode(), **options}


def test_rest_takes_a_file_or_an_archive_and_tells_its_format(wordless: Service, citizen: str) -> None:
    answer = wordless.http.post(
        "/v1/files", json=sent(citizen, "export.zip", archive("conversations.json", CHATGPT))
    )
    assert answer.status_code == 200, answer.text
    report = answer.json()
    assert (report["formats"], report["turns"], report["refused"]) == (["chatgpt"], 7, 0)
    assert any("messages of other branches (3)" in note for note in report["notes"])
    again = wordless.http.post("/v1/files", json=sent(citizen, "conversations.json", CHATGPT)).json()
    assert (again["stored"], again["refused"]) == (0, 0)


@pytest.mark.parametrize(
    ("name", "raw", "options", "reason"),
    [
        ("a.jsonl", b'{"command": "retract", "id": "x"}', {}, "the format 'commands' is not taken here"),
        ("a.json", b"{}", {"format": "mem0"}, "the format 'mem0' is not taken here"),
        ("a.json", b"{}", {}, "its format cannot be told"),
        ("a.json", b"[]", {"timezone": "../x"}, "there is no time zone"),
        ("a.zip", b"PK\x03\x04rest", {}, "is a damaged or cut archive"),
        ("a.txt", b"", {}, "its format cannot be told"),
    ],
)
def test_rest_refuses_what_it_does_not_take(
    wordless: Service, citizen: str, name: str, raw: bytes, options: dict[str, Any], reason: str
) -> None:
    answer = wordless.http.post("/v1/files", json=sent(citizen, name, raw, **options))
    assert (answer.status_code, reason in answer.json()["detail"]) == (422, True), answer.text


def test_content_that_is_no_base64_is_told(wordless: Service, citizen: str) -> None:
    body = {"citizen_id": citizen, "name": "a.txt", "content": "not base64!"}
    answer = wordless.http.post("/v1/files", json=body)
    assert (answer.status_code, "content" in answer.text) == (422, True)


async def test_python_takes_a_file(wordless: Service, citizen: str) -> None:
    async with AsyncSubstrate(wordless.url, ADMIN_KEY) as memory:
        report = await memory.ingest_file(citizen, EXPORTS / "telegram_chat.json", timezone="Europe/Berlin")
        assert (report.formats, report.turns) == (("telegram",), 4)
        assert (await memory.ingest_file(citizen, EXPORTS / "telegram_chat.json")).stored == 0
