"""The conversations of chat programs: each becomes an episode that later exports continue. Pure.

`chatgpt` and `claude`: the conversations.json of their exports. `telegram`: the result.json of Telegram Desktop,
of one chat or of the whole account. WhatsApp, mails and tables give their conversations to `parse_chats` too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple

from orchestration.ingestion.episodes import FIRST_TITLE, Episode, Message, Session, Turn
from orchestration.ingestion.formats.reader import (
    NOTHING_SAID,
    File,
    FileSet,
    Format,
    Names,
    ParsedFiles,
    Reader,
    fault,
    read_readable,
)
from orchestration.ingestion.written_times import type_name
from schemas.errors import InvalidRequest

MAX_TITLE: Final = 200
USER: Final = "user"
ASSISTANT: Final = "assistant"


class SaidMessage(NamedTuple):
    """What a program says of a message: its own id of it, the speaker, the text, and further facts to keep."""

    id: str
    speaker: str
    text: str
    time: datetime | None = None
    edited_at: datetime | None = None
    extra: Mapping[str, Any] = {}


class Chat(NamedTuple):
    """A conversation of an export. `id` is the program's own, so that a later export continues it."""

    id: str
    title: str
    said: Sequence[SaidMessage]


def parse_chats(
    files: FileSet, form: Format, read: Callable[[Reader, File], Iterable[Chat]], prefix: str | None = None
) -> ParsedFiles:
    """Build an episode of each conversation that `read` finds in the files. `prefix`: of its id, else the format.

    A conversation or a message that cannot be read is a fault, and the others are kept. Raises InvalidRequest when
    nothing can be read at all, and without a citizen.
    """
    chats: dict[str, Chat] = {}

    def collect(reader: Reader, file: File) -> None:
        if file.encoding is not None:
            reader.counts[f"read as {file.encoding}, because it is not UTF-8"] += 1
        reader.check_text(file)
        for chat in read(reader, file):
            if not chat.said:
                reader.left_out["conversations without a message of their own"] += 1
                continue
            before = chats.get(chat.id)
            whole = chat if before is None else before._replace(said=[*before.said, *chat.said])
            said = {one.id: one for one in reversed(whole.said)}  # each message once
            reader.left_out["messages that stand here twice"] += len(whole.said) - len(said)
            in_order = list(reversed(said.values()))
            times = {one.id: one.time for one in in_order if one.time is not None}
            if before is not None and len(times) == len(in_order):
                in_order.sort(key=lambda one: times[one.id])
            chats[chat.id] = whole._replace(said=in_order)

    found = read_readable(files, form, collect)
    if not chats or files.citizen_id is None:
        if not found.faults:
            raise fault(form, files.files[-1].name, "", NOTHING_SAID)
        more = f" (and {len(found.faults) - 1:,} more)" if len(found.faults) > 1 else ""
        detail = f"{found.faults[0]}{more}; {form.name} expects {form.shape}"
        raise InvalidRequest(detail, remedy="Nothing was stored.")
    prefix = f"{form.name}:" if prefix is None else prefix
    episodes = [_episode(f"{prefix}{chat.id}", chat, files.citizen_id) for chat in chats.values()]
    return replace(found, items=tuple(episodes))


def _episode(name: str, chat: Chat, citizen_id: str) -> Episode:
    messages: list[Message] = []
    turns: list[Turn] = []
    for number, one in enumerate(chat.said, start=1):
        turn = Turn("", one.speaker, one.text, one.time, {"id": one.id, **one.extra})
        messages.append(Message(turn, id=one.id, edited_at=one.edited_at))
        turns.append(replace(turn, key=f"D1:{number}"))
    title = " ".join(chat.title.split())[:MAX_TITLE] or FIRST_TITLE
    session = Session("session_1", title, turns[0].time, tuple(turns))
    return Episode(name, citizen_id, (session,), messages=tuple(messages), title=title)


def read_conversations(
    reader: Reader, file: File, depths: Collection[int], read_one: Callable[[Reader, Any, str], Chat]
) -> Iterator[Chat]:
    """Each conversation of a JSON file that holds one or a list of them; the fault of one keeps no other out.

    `depths`: those of `Reader.document`. Raises InvalidRequest for a file of another shape.
    """
    value = reader.document(file, depths)
    conversations = [value] if isinstance(value, dict) else value
    if not isinstance(conversations, list):
        reader.fail("", f"is {type_name(value)}, not a list")
    return read_each(reader, conversations, "conversation", read_one)


def read_each(
    reader: Reader, chats: Iterable[Any], noun: str, read_one: Callable[[Reader, Any, str], Chat]
) -> Iterator[Chat]:
    """Each of the chats that can be read."""
    for number, chat in enumerate(chats, start=1):
        with reader.item():
            yield read_one(reader, chat, f"{noun} {number}")


def _titled(place: str, title: Any) -> str:
    return f"{place} ({str(title)[:60]})" if title else place


def read_messages[M](
    reader: Reader, messages: Iterable[M], place: str, read_one: Callable[[Reader, M, str], Iterable[SaidMessage]]
) -> list[SaidMessage]:
    """The messages of a conversation that can be read; `read_one` gives none for what nobody said."""
    said: list[SaidMessage] = []
    for number, message in enumerate(messages, start=1):
        with reader.item():
            said += read_one(reader, message, f"{place}, message {number}".lstrip(", "))
    return said


CHATGPT: Final = Format(
    "chatgpt",
    'a list of {"title", "create_time", "mapping": {id: {message, parent}}, "current_node"}',
    holds=lambda names: names.near("mapping") and names.has("message", "parent"),
)
_CITATION: Final = re.compile("\ue200[^\ue201]*\ue201|【[^】]*†[^】]*】")
"""Marks of sources, which ChatGPT shows as links."""
_CONTEXT: Final = frozenset(("user_editable_context", "model_editable_context", "app_pairing_content"))
_THOUGHTS: Final = frozenset(("thoughts", "reasoning_recap"))


def _chatgpt_chat(reader: Reader, entry: Any, place: str) -> Chat:
    if not isinstance(entry, dict) or not isinstance(entry.get("mapping"), dict):
        reader.fail(place, "has no mapping of messages")
    title = entry.get("title") or ""
    place = _titled(place, title)
    own_id = entry.get("conversation_id") or entry.get("id")
    if not isinstance(own_id, str):
        reader.fail(place, "has no id")
    mapping: Mapping[str, Any] = entry["mapping"]
    path = kept_path(mapping, entry.get("current_node"))
    for key in mapping.keys() - set(path):
        message = mapping[key].get("message") if isinstance(mapping[key], dict) else None
        if isinstance(message, dict) and _reason_to_leave_out(message) is None:
            reader.left_out["messages of other branches"] += 1
    said: list[SaidMessage] = []
    for key in path:
        with reader.item():
            said += _chatgpt_message(reader, key, mapping[key], place)
    if said and said[0].time is None:
        said[0] = said[0]._replace(time=reader.moment_of(entry, "create_time", place))
    return Chat(reader.name(own_id, f"{place}, id"), reader.text(title, f"{place}, title"), said)


def kept_path(mapping: Mapping[str, Any], current: Any) -> tuple[str, ...]:
    """Return the ids of the nodes from the root to `current`, or to the newest leaf when that is no node."""
    at = current if isinstance(current, str) and current in mapping else _newest_leaf(mapping)
    path: dict[str, None] = {}
    while isinstance(at, str) and at in mapping and at not in path:
        path[at] = None
        node = mapping[at]
        at = node.get("parent") if isinstance(node, dict) else None
    return tuple(reversed(path))


def _newest_leaf(mapping: Mapping[str, Any]) -> str | None:
    """The node without children whose message is the newest; of equal ones the last."""
    parents: set[str] = set()
    created: dict[str, float] = {}
    for key, node in mapping.items():
        message = None
        if isinstance(node, dict):
            parents.add(str(node.get("parent")))
            message = node.get("message")
        time = message.get("create_time") if isinstance(message, dict) else None
        created[key] = time if isinstance(time, int | float) else 0.0
    leaves = [key for key in mapping if key not in parents]
    return max(reversed(leaves), key=lambda key: created[key], default=None)


def _chatgpt_message(reader: Reader, key: str, node: Any, place: str) -> Iterator[SaidMessage]:
    """Yield a message of the path, unless it is one that the person never saw or said."""
    message = node.get("message") if isinstance(node, dict) else None
    if not isinstance(message, dict):
        if isinstance(node, dict) and node.get("parent") is not None:
            reader.left_out["deleted messages"] += 1
        return
    reason = _reason_to_leave_out(message)
    if reason is not None:
        reader.left_out[reason] += 1
        return
    place = f"{place}, message {key[:40]}"
    text = _chatgpt_text(reader, message["content"], place)
    if not text:
        reader.left_out["messages without text"] += 1
        return
    speaker = USER if message["author"]["role"] == "user" else ASSISTANT
    time = reader.moment_of(message, "create_time", place)
    facts: dict[str, Any] = {}
    if isinstance(metadata := message.get("metadata"), dict):
        attached = metadata.get("attachments")
        files = attached if isinstance(attached, list) else []
        names = [file["name"] for file in files if isinstance(file, dict) and "name" in file]
        facts = reader.facts(place, model=metadata.get("model_slug"), attachments=names)
    yield SaidMessage(str(message.get("id") or key), speaker, text, time, extra=facts)


def _reason_to_leave_out(message: Mapping[str, Any]) -> str | None:
    """Say what kind of message this is, if it is none that a person reads or writes."""
    author, content, metadata = map(message.get, ("author", "content", "metadata"))
    role = author.get("role") if isinstance(author, dict) else None
    if role == "system":
        return "system messages"
    if role not in (USER, ASSISTANT) or not isinstance(content, dict):
        return "messages of tools"
    marks = metadata if isinstance(metadata, dict) else {}
    if marks.get("is_visually_hidden_from_conversation") or message.get("weight") == 0:
        return "hidden messages"
    kind = str(content.get("content_type"))
    if kind in _CONTEXT:
        return "hidden messages"
    if kind in _THOUGHTS:
        return "thoughts of the model"
    return "messages to tools" if message.get("recipient") not in (None, "all") else None


def _chatgpt_text(reader: Reader, content: Mapping[str, Any], place: str) -> str:
    """Return the texts of the parts; images and sounds have none, a spoken part has its transcription."""
    parts = content.get("parts")
    if not isinstance(parts, list):
        parts = [content.get("text") or ""]
    texts: list[str] = []
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            texts.append(text)
        elif part is not None:
            reader.left_out["images and sounds"] += 1
    return reader.text(_CITATION.sub("", "\n".join(texts)), f"{place}, text").strip()


parse_chatgpt: Final = partial(
    parse_chats, form=CHATGPT, read=partial(read_conversations, depths=(1,), read_one=_chatgpt_chat)
)


CLAUDE: Final = Format(
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


def _claude_chat(reader: Reader, entry: Any, place: str) -> Chat:
    if not isinstance(entry, dict) or not isinstance(entry.get("chat_messages"), list):
        reader.fail(place, "has no chat_messages")
    title = entry.get("name") or ""
    place = _titled(place, title)
    kept = _newest_path([one for one in entry["chat_messages"] if isinstance(one, dict)])
    left_out = len(entry["chat_messages"]) - len(kept)
    if left_out:
        reader.left_out["messages of other branches"] += left_out
    said = read_messages(reader, kept, place, _claude_message)
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


def _claude_message(reader: Reader, message: Mapping[str, Any], place: str) -> Iterator[SaidMessage]:
    speaker = _SPEAKERS.get(str(message.get("sender")))
    if speaker is None:
        reader.fail(place, f"its sender {str(message.get('sender'))[:60]!r} is neither human nor assistant")
    texts: list[str] = []
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, dict) and str(part.get("type")) in _UNSAID:
            reader.left_out[_UNSAID[str(part["type"])]] += 1
    whole = "" if content else message.get("text") or ""  # where older exports hold all texts
    text = reader.text("\n\n".join(filter(None, texts)) or whole, f"{place}, text").strip()
    if not text:
        reader.left_out["messages without text"] += 1
        return
    lists = (message.get("attachments"), message.get("files"))
    attached = chain.from_iterable(one for one in lists if isinstance(one, list))
    files = [file for file in attached if isinstance(file, dict)]
    names = list(dict.fromkeys(file["file_name"] for file in files if file.get("file_name")))
    if any(file.get("extracted_content") for file in files):
        reader.left_out["texts of attached files"] += 1
    yield SaidMessage(
        id=reader.name(message.get("uuid"), f"{place}, uuid"),
        speaker=speaker,
        text=text,
        time=reader.moment_of(message, "created_at", place),
        extra=reader.facts(place, attachments=names),
    )


parse_claude: Final = partial(
    parse_chats, form=CLAUDE, read=partial(read_conversations, depths=(1, 3), read_one=_claude_chat)
)


def _is_telegram(names: Names) -> bool:
    has_own = names.has("from_id") or names.has("text_entities") or names.has("date_unixtime")
    return names.near("messages", "chats") and names.has("date", "text") and has_own


TELEGRAM: Final = Format(
    "telegram",
    '{"name", "id", "messages": [{"id", "type", "date", "from", "text"}]}, or {"chats": {"list": [...]}}',
    holds=_is_telegram,
)
_TELEGRAM_KEPT: Final = ("reply_to_message_id", "forwarded_from", "saved_from", "file_name", "place_name")


def _read_telegram(reader: Reader, file: File) -> Iterator[Chat]:
    # A message of one chat, a chat of an account, a message of such a chat.
    value = reader.document(file, depths=(2, 3, 5))
    if not isinstance(value, dict):
        reader.fail("", f"is {type_name(value)}, not an object")
    chats = [value] if "messages" in value else []
    for name in ("chats", "left_chats") if not chats else ():
        part = value.get(name)
        chats += part["list"] if isinstance(part, dict) and isinstance(part.get("list"), list) else []
    if not chats:
        reader.fail("", "has neither messages nor chats")
    return read_each(reader, chats, "chat", _telegram_chat)


def _telegram_chat(reader: Reader, chat: Any, place: str) -> Chat:
    if not isinstance(chat, dict) or not isinstance(chat.get("messages"), list):
        reader.fail(place, "has no messages")
    title = chat.get("name") or ("Saved messages" if chat.get("type") == "saved_messages" else "")
    place = _titled(place, title)
    said = read_messages(reader, chat["messages"], place, _telegram_message)
    if not isinstance(chat.get("id"), int | str):
        reader.fail(place, "has no id")
    return Chat(str(chat["id"]), reader.text(title, f"{place}, name"), said)


def _telegram_message(reader: Reader, message: Any, place: str) -> Iterator[SaidMessage]:
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
    kept = {name: message[name] for name in _TELEGRAM_KEPT if message.get(name) is not None}
    yield SaidMessage(
        id=str(message["id"]),
        speaker=reader.name(speaker, f"{place}, from"),
        text=text,
        time=_telegram_time(reader, message, "date", place),
        edited_at=_telegram_time(reader, message, "edited", place),
        extra=reader.extra(kept, place),
    )


def _telegram_time(reader: Reader, message: Mapping[str, Any], name: str, place: str) -> datetime | None:
    """Return a time. Older exports have it in the local time of the computer alone, newer ones in seconds too."""
    seconds = message.get(f"{name}_unixtime")
    if isinstance(seconds, str) and seconds.isdecimal():
        return reader.moment(int(seconds), f"{place}, {name}_unixtime")
    return reader.moment_of(message, name, place)


parse_telegram: Final = partial(parse_chats, form=TELEGRAM, read=_read_telegram)
