"""The conversations of a chat program's export: each becomes an episode that later exports continue. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from orchestration.ingestion.episodes import FIRST_TITLE, Episode, Message, Session, Turn
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Reader, fault, read_document, read_readable
from orchestration.ingestion.written_times import type_name
from schemas.errors import InvalidRequest

MAX_TITLE: Final = 200
USER: Final = "user"
ASSISTANT: Final = "assistant"


class Said(NamedTuple):
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
    said: Sequence[Said]


def parse_chats(files: FileSet, form: Format, read: Callable[[Reader, File], Iterable[Chat]]) -> ParsedFiles:
    """Build an episode of each conversation that `read` finds in the files.

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
            elif chat.id in chats:
                more = chats[chat.id]._replace(said=[*chats[chat.id].said, *chat.said])
                chats[chat.id] = _in_order(_without_repeats(reader, more))
            else:
                chats[chat.id] = _without_repeats(reader, chat)

    found = read_readable(files, form, collect)
    if not chats or files.citizen_id is None:
        if not found.faults:
            raise fault(form, files.files[-1].name, "", "holds no message with a text")
        more = f" (and {len(found.faults) - 1:,} more)" if len(found.faults) > 1 else ""
        detail = f"{found.faults[0]}{more}; {form.name} expects {form.shape}"
        raise InvalidRequest(detail, remedy="Nothing was stored.")
    episodes = [_episode(f"{form.name}:{chat.id}", chat, files.citizen_id) for chat in chats.values()]
    return replace(found, items=tuple(episodes))


def _without_repeats(reader: Reader, chat: Chat) -> Chat:
    """Return the conversation with each message once, by its id."""
    said = {one.id: one for one in reversed(chat.said)}
    reader.left_out["messages that stand here twice"] += len(chat.said) - len(said)
    return chat._replace(said=list(reversed(said.values()))) if len(said) < len(chat.said) else chat


def _in_order(chat: Chat) -> Chat:
    """Return a conversation of several parts in the order of its times, if all its messages have one."""
    times = {one.id: one.time for one in chat.said if one.time is not None}
    if len(times) < len(chat.said):
        return chat
    return chat._replace(said=sorted(chat.said, key=lambda one: times[one.id]))


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

    `depths`: those of `read_document`. Raises InvalidRequest for a file of another shape.
    """
    value = read_document(reader, file, depths)
    conversations = [value] if isinstance(value, dict) else value
    if not isinstance(conversations, list):
        reader.fail("", f"is {type_name(value)}, not a list")
    for number, conversation in enumerate(conversations, start=1):
        with reader.item():
            yield read_one(reader, conversation, f"conversation {number}")


def titled(place: str, title: Any) -> str:
    """The place of a conversation, with its title."""
    return f"{place} ({str(title)[:60]})" if title else place


def read_messages[M](
    reader: Reader, messages: Iterable[M], place: str, read_one: Callable[[Reader, M, str], Iterable[Said]]
) -> list[Said]:
    """The messages of a conversation that can be read; `read_one` gives none for what nobody said."""
    said: list[Said] = []
    for number, message in enumerate(messages, start=1):
        with reader.item():
            said += read_one(reader, message, f"{place}, message {number}")
    return said
