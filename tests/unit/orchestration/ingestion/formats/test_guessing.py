"""The format of a file is told by what it holds."""

from __future__ import annotations

import json

import pytest

from orchestration.ingestion.formats import FORMATS, guess
from orchestration.ingestion.formats.files import make_file
from orchestration.ingestion.formats.reader import Name, names_in
from schemas.errors import InvalidRequest
from tests.unit.orchestration.ingestion.formats.exports import EXPORTS, lines, read_all

MESSAGES = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}]
GUESSED = {
    "chatgpt_conversations.json": "chatgpt",
    "claude_conversations.json": "claude",
    "telegram_chat.json": "telegram",
    "telegram_account.json": "telegram",
    "WhatsApp Chat with Luca.txt": "whatsapp",
    "WhatsApp Chat - Book circle/_chat.txt": "whatsapp",
    "thread.mbox": "email",
    "forwarded.eml": "email",
    "page.html": "html",
    "berths.pdf": "pdf",
    "agents/claude_code.jsonl": "claude-code",
    "agents/codex_rollout.jsonl": "codex",
    "agents/opencode_session.json": "opencode",
    "agents/langchain_messages.json": "langchain",
    "agents/langchain_dump.json": "langchain",
    "agents/langsmith_runs.jsonl": "langsmith",
    "agents/openai_agents_traces.json": "openai-agents",
    "teams/discord_exporter.json": "discord",
    "office/calendar.ics": "ics",
    "office/cabin.canvas": "canvas",
    "office/memories.json": "claude-memories",
    "agents/sharegpt.json": "conversations",
}


@pytest.mark.parametrize(("name", "form"), GUESSED.items())
def test_an_export_is_known_whole_and_cut_and_under_any_name(name: str, form: str) -> None:
    raw = (EXPORTS / name).read_bytes()
    assert guess(make_file(name, raw)) == form
    assert guess(make_file("download", raw)) == form
    assert guess(make_file("download", raw[: len(raw) * 2 // 3])) == form


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("chat.json", json.dumps(MESSAGES), "messages"),
        ("chat.jsonl", "\n".join(map(json.dumps, MESSAGES)), "messages"),
        ("chat.json", json.dumps({"messages": MESSAGES}), "messages"),
        ("a.jsonl", '{"command": "remember", "name": "x"}', "commands"),
        ("a.json", '[{"sample_id": "1", "conversation": {"speaker_a": "A", "session_1": []}}]', "locomo"),
        ("a.json", '{"nodes": [], "edges": [], "episodes": []}', "graphiti"),
        ("a.json", '{"results": [{"id": "1", "memory": "x", "user_id": "u"}]}', "mem0"),
        ("a.jsonl", '{"type": "entity", "name": "x", "entityType": "person", "observations": []}', "mcp-memory"),
        ("a.md", "# Note\n\ntext", "markdown"),
        ("a.csv", "a,b\n1,2", "csv"),
        ("a.tsv", "a\tb\n1\t2", "csv"),
        ("a.txt", "Dear diary: hello\n\nFrom: nobody", "text"),
        ("a.txt", "[todo] call Mira, 25/12", "text"),
        ("a.txt", "{not JSON", "text"),
        ("a.json", '{"x": 1}', None),
        ("a.bin", "\x00\x01", None),
        ("a.json", "", None),
    ],
)
def test_other_files_are_told_by_their_content_then_by_their_name(name: str, text: str, form: str | None) -> None:
    assert guess(make_file(name, text.encode())) == form
    assert form is None or form in FORMATS


def test_names_are_found_with_their_depth_and_texts_are_no_names() -> None:
    assert set(names_in('[{"a": {"b": "c: {", "d\\"": []}}]')) == {Name(2, "a"), Name(3, "b"), Name(3, 'd\\"')}


def test_files_of_several_formats_are_read_together_and_an_unknown_one_is_told() -> None:
    files = [
        make_file("chat.json", json.dumps(MESSAGES).encode()),
        make_file("numbers.json", b'{"x": 1}'),
        make_file("WhatsApp Chat with Luca.txt", b"25/12/24, 10:00 - Mira: hello"),
    ]
    parsed = read_all(files)
    assert parsed.formats == ("messages", "whatsapp")
    assert lines(parsed) == ["user: Hello.", "assistant: Hi.", "Mira: hello"]
    assert parsed.faults == ("numbers.json: its format cannot be told",)
    with pytest.raises(InvalidRequest, match=r"numbers\.json: its format cannot be told"):
        read_all(files[1:2])
