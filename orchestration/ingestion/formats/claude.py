"""`claude`: the conversations.json of a claude.ai export. Pure.

Where messages name the message before them, kept is the path that ends with the newest one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from orchestration.ingestion.formats.conversations import (
    ASSISTANT,
    USER,
    Chat,
    Said,
    parse_chats,
    read_conversations,
    read_messages,
    titled,
)
from orchestration.ingestion.formats.parsed import FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Reader

FORM: Final = Format(
    "claude",
    'a list of {"uuid", "name", "chat_messages": [{"uuid", "sender", "text" or "content", "created_at"}]}',
    holds=lambda names: names.near("chat_messages"),
)
_SPEAKERS: Final = {"human": USER, "user": USER, "assistant": ASSISTANT}
_UNSAID: Final = {
    "thinking": "thoughts of the model",
    "tool_use": "uses of tools",
    "tool_result": "results of tools",
}


def parse(files: FileSet) -> ParsedFiles:
    """Parse each conversation to one episode. What was left out is counted in the notes.

    Raises InvalidRequest for a file in another format, and when no conversation can be read.
    """
    return parse_chats(files, FORM, lambda reader, file: read_conversations(reader, file, (1, 3), _conversation))


def _conversation(reader: Reader, entry: Any, place: str) -> Chat:
    if not isinstance(entry, dict) or not isinstance(entry.get("chat_messages"), list):
        reader.fail(place, "has no chat_messages")
    title = entry.get("name") or ""
    place = titled(place, title)
    kept = _newest_path([one for one in entry["chat_messages"] if isinstance(one, dict)])
    left_out = len(entry["chat_messages"]) - len(kept)
    if left_out:
        reader.left_out["messages of other branches"] += left_out
    said = read_messages(reader, kept, place, _message)
    return Chat(reader.name(entry.get("uuid"), f"{place}, uuid"), reader.text(title, f"{place}, name"), said)


def _newest_path(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the messages from the first to the last one, by the message that each names as the one before it.

    A message that names none follows the one before it in the list; one that names an unknown one is the first.
    """
    places = {str(message.get("uuid")): place for place, message in enumerate(messages)}
    path: dict[int, Mapping[str, Any]] = {}
    at: int | None = len(messages) - 1
    while at is not None and at >= 0 and at not in path:
        path[at] = messages[at]
        parent = messages[at].get("parent_message_uuid")
        at = at - 1 if parent is None else places.get(str(parent))
    return list(reversed(path.values()))


def _message(reader: Reader, message: Mapping[str, Any], place: str) -> Iterator[Said]:
    speaker = _SPEAKERS.get(str(message.get("sender")))
    if speaker is None:
        reader.fail(place, f"its sender {str(message.get('sender'))[:60]!r} is neither human nor assistant")
    text = _text(reader, message, place)
    if not text:
        reader.left_out["messages without text"] += 1
        return
    lists = (message.get("attachments"), message.get("files"))
    attached = chain.from_iterable(one for one in lists if isinstance(one, list))
    files = [file for file in attached if isinstance(file, dict)]
    names = list(dict.fromkeys(file["file_name"] for file in files if file.get("file_name")))
    if any(file.get("extracted_content") for file in files):
        reader.left_out["texts of attached files"] += 1
    yield Said(
        id=reader.name(message.get("uuid"), f"{place}, uuid"),
        speaker=speaker,
        text=text,
        time=reader.moment_of(message, "created_at", place),
        extra=reader.facts(place, attachments=names),
    )


def _text(reader: Reader, message: Mapping[str, Any], place: str) -> str:
    """Return the texts of the parts, else `text`, in which older exports hold all of them."""
    texts: list[str] = []
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, dict) and str(part.get("type")) in _UNSAID:
            reader.left_out[_UNSAID[str(part["type"])]] += 1
    text = "\n\n".join(filter(None, texts)) or ("" if content else message.get("text") or "")
    return reader.text(text, f"{place}, text").strip()
