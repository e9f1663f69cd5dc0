"""`telegram`: the result.json of Telegram Desktop, of one chat or of the whole account. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from orchestration.ingestion.formats.conversations import Chat, Said, parse_chats, read_messages, titled
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Names, Reader, read_document
from orchestration.ingestion.written_times import type_name


def _is_telegram(names: Names) -> bool:
    has_own = names.has("from_id") or names.has("text_entities") or names.has("date_unixtime")
    return names.near("messages", "chats") and names.has("date", "text") and has_own


FORM: Final = Format(
    "telegram",
    '{"name", "id", "messages": [{"id", "type", "date", "from", "text"}]}, or {"chats": {"list": [...]}}',
    holds=_is_telegram,
)
_DEPTHS: Final = (2, 3, 5)
"""A message of one chat, a chat of an account, a message of such a chat."""
_KEPT: Final = ("reply_to_message_id", "forwarded_from", "saved_from", "file_name", "place_name")


def parse(files: FileSet) -> ParsedFiles:
    """Parse each chat to one episode. Notices of the program, and media without words, are counted in the notes.

    Raises InvalidRequest for a file in another format, and when no chat can be read.
    """
    return parse_chats(files, FORM, _read)


def _read(reader: Reader, file: File) -> Iterator[Chat]:
    value = read_document(reader, file, _DEPTHS)
    if not isinstance(value, dict):
        reader.fail("", f"is {type_name(value)}, not an object")
    chats = [value] if "messages" in value else []
    for name in ("chats", "left_chats") if not chats else ():
        part = value.get(name)
        chats += part["list"] if isinstance(part, dict) and isinstance(part.get("list"), list) else []
    if not chats:
        reader.fail("", "has neither messages nor chats")
    for number, chat in enumerate(chats, start=1):
        with reader.item():
            yield _chat(reader, chat, f"chat {number}")


def _chat(reader: Reader, chat: Any, place: str) -> Chat:
    if not isinstance(chat, dict) or not isinstance(chat.get("messages"), list):
        reader.fail(place, "has no messages")
    title = chat.get("name") or ("Saved messages" if chat.get("type") == "saved_messages" else "")
    place = titled(place, title)
    said = read_messages(reader, chat["messages"], place, _message)
    if not isinstance(chat.get("id"), int | str):
        reader.fail(place, "has no id")
    return Chat(str(chat["id"]), reader.text(title, f"{place}, name"), said)


def _message(reader: Reader, message: Any, place: str) -> Iterator[Said]:
    if not isinstance(message, dict) or not isinstance(message.get("id"), int | str):
        reader.fail(place, "is no message with an id")
    if message.get("type") != "message":
        reader.left_out["notices of the program"] += 1
        return
    parts = message["text"] if isinstance(message.get("text"), list) else [message.get("text")]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]  # such as links and code
    text = reader.text("".join(text for text in texts if isinstance(text, str)), f"{place}, text").strip()
    if not text:
        reader.left_out["media without words"] += 1
        return
    speaker = message.get("from") or f"Deleted account {message.get('from_id') or ''}".strip()
    kept = {name: message[name] for name in _KEPT if message.get(name) is not None}
    yield Said(
        id=str(message["id"]),
        speaker=reader.name(speaker, f"{place}, from"),
        text=text,
        time=_time(reader, message, "date", place),
        edited_at=_time(reader, message, "edited", place),
        extra=reader.extra(kept, place),
    )


def _time(reader: Reader, message: Mapping[str, Any], name: str, place: str) -> datetime | None:
    """Return a time. Older exports have it in the local time of the computer alone, newer ones in seconds too."""
    seconds = message.get(f"{name}_unixtime")
    if isinstance(seconds, str) and seconds.isdecimal():
        return reader.moment(int(seconds), f"{place}, {name}_unixtime")
    return reader.moment_of(message, name, place)
