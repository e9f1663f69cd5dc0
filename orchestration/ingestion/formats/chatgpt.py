"""`chatgpt`: the conversations.json of a ChatGPT export. Pure.

A conversation is a tree: an edited question and an answer that was asked for again begin a branch. Kept is the
path from `current_node` to the root, which is what the person sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from orchestration.ingestion.formats.conversations import (
    ASSISTANT,
    USER,
    Chat,
    Said,
    parse_chats,
    read_conversations,
    titled,
)
from orchestration.ingestion.formats.parsed import FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Reader

FORM: Final = Format(
    "chatgpt",
    'a list of {"title", "create_time", "mapping": {id: {message, parent}}, "current_node"}',
    holds=lambda names: names.near("mapping") and names.has("message", "parent"),
)
_CITATION: Final = re.compile("\ue200[^\ue201]*\ue201|【[^】]*†[^】]*】")
"""Marks of sources, which ChatGPT shows as links."""
_CONTEXT: Final = frozenset(("user_editable_context", "model_editable_context", "app_pairing_content"))
_THOUGHTS: Final = frozenset(("thoughts", "reasoning_recap"))


def parse(files: FileSet) -> ParsedFiles:
    """Parse each conversation to one episode. What was left out is counted in the notes.

    Raises InvalidRequest for a file in another format, and when no conversation can be read.
    """
    return parse_chats(files, FORM, lambda reader, file: read_conversations(reader, file, (1,), _conversation))


def _conversation(reader: Reader, entry: Any, place: str) -> Chat:
    if not isinstance(entry, dict) or not isinstance(entry.get("mapping"), dict):
        reader.fail(place, "has no mapping of messages")
    title = entry.get("title") or ""
    place = titled(place, title)
    own_id = entry.get("conversation_id") or entry.get("id")
    if not isinstance(own_id, str):
        reader.fail(place, "has no id")
    mapping: Mapping[str, Any] = entry["mapping"]
    path = kept_path(mapping, entry.get("current_node"))
    for key in mapping.keys() - set(path):
        message = mapping[key].get("message") if isinstance(mapping[key], dict) else None
        if isinstance(message, dict) and _reason_to_leave_out(message) is None:
            reader.left_out["messages of other branches"] += 1
    said: list[Said] = []
    for key in path:
        with reader.item():
            said += _message(reader, key, mapping[key], place)
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


def _message(reader: Reader, key: str, node: Any, place: str) -> Iterator[Said]:
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
    text = _text(reader, message["content"], place)
    if not text:
        reader.left_out["messages without text"] += 1
        return
    yield Said(
        id=str(message.get("id") or key),
        speaker=USER if message["author"]["role"] == "user" else ASSISTANT,
        text=text,
        time=reader.moment_of(message, "create_time", place),
        extra=_extra(reader, message, place),
    )


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


def _text(reader: Reader, content: Mapping[str, Any], place: str) -> str:
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


def _extra(reader: Reader, message: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the model that answered and the names of attached files."""
    metadata = message.get("metadata")
    if not isinstance(metadata, dict):
        return {}
    attached = metadata.get("attachments")
    files = attached if isinstance(attached, list) else []
    names = [file["name"] for file in files if isinstance(file, dict) and "name" in file]
    return reader.facts(place, model=metadata.get("model_slug"), attachments=names)
