"""The sessions and traces that agents leave: Claude Code, Codex, OpenCode, LangChain and others. Pure.

Each shape is a row of `SHAPES`: how it is recognised, and where its messages stand. One reader reads what a
message holds: words, and what was asked of tools and came from them. That is kept as said by `tool`, shortened.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from orchestration.ingestion.formats.conversations import ASSISTANT, USER, Chat, SaidMessage, parse_chats
from orchestration.ingestion.formats.messages import INJECTED
from orchestration.ingestion.formats.reader import (
    JSON,
    File,
    Format,
    Names,
    Parser,
    Reader,
    as_map,
    first_of,
    load_json,
    names_in,
)
from orchestration.ingestion.injected import Spoken, without_blocks

TOOL: Final = "tool"
MOST_OUTPUT: Final = 2_000
"""Characters that are kept of what a tool was given or gave back."""
MOST_PARTS: Final = 10_000
_ROLES: Final = {
    **dict.fromkeys(("user", "human"), USER),
    **dict.fromkeys(("assistant", "ai", "aimessagechunk", "gpt", "model"), ASSISTANT),
    **dict.fromkeys(("tool", "function", "observation"), TOOL),
    **dict.fromkeys(("system", "developer"), ""),
}
"""The speaker of each role; instructions to a model have none."""
_OF_HOST: Final = re.compile(
    r"\s*(?:<(?:command-|local-command-|bash-|task-notification|environment_context|user_instructions|turn_aborted|"
    r"permissions|skill|INSTRUCTIONS)|# AGENTS\.md instructions|\[Request interrupted by user)"
)
"""How messages begin that a host writes in the name of the user."""
_THOUGHTS: Final = ("thinking", "redacted_thinking", "reasoning")
_TOOLS: Final = re.compile(r"\A(?:tool|function)\Z|(?:tool_use|_call|-call|_result|-result|_output)\Z")
_RESULT: Final = re.compile(r"(?:_result|-result|_output)\Z")
_ADDED: Final = ("isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")
_TIMES: Final = ("timestamp", "time", "created_at", "create_time", "date")


class Told(NamedTuple):
    """A message of an export, as `{"role", "content"}`, and the conversation that it is of.

    `id` and `time` as the program gave them; without an id it is known by its words. `listing`: the list in which
    it stands; others may repeat it.
    """

    chat: str
    message: Any
    id: str = ""
    time: Any = None
    title: str = ""
    listing: str = ""


class Piece(NamedTuple):
    """A part of a message: words, or with `kind` the `call` or the `result` of a tool."""

    speaker: str
    text: str
    kind: str = ""
    tool: str = ""


type Tell = Callable[[Reader, Iterable[Mapping[str, Any]], str], Iterable[Told]]
"""Finds the messages in the objects of a file of this name."""


def read_chats(tell: Tell, reader: Reader, file: File) -> Iterator[Chat]:
    """The conversations of a file. `tell` finds the messages in it."""
    chats: dict[str, list[SaidMessage]] = {}
    titles: dict[str, str] = {}
    tools: dict[str, str] = {}
    known: defaultdict[str, set[str]] = defaultdict(set)
    met: Counter[tuple[str, str, str]] = Counter()
    for number, told in enumerate(tell(reader, read_entries(reader, file), file.stem), start=1):
        titles[told.chat] = titles.get(told.chat) or told.title
        said = chats.setdefault(told.chat, [])
        with reader.item():
            place = f"message {number}"
            time = None if told.time is None else reader.moment(told.time, f"{place}, time")
            for part, piece in enumerate(read_pieces(reader, as_map(told.message), tools, place)):
                spoken = without_blocks(piece.text) if piece.speaker == USER else Spoken(piece.text)
                text = reader.text(spoken.text, f"{place}, text").strip()
                digest = blake2b(f"{piece.speaker}\n{text}".encode(), digest_size=8).hexdigest()
                met[told.chat, told.listing, digest] += 1
                own = f"{told.id}:{part}" if part else told.id
                own = own if told.id else f"{digest}-{met[told.chat, told.listing, digest]}"
                facts = {"tool": piece.tool[:200], "kind": piece.kind, INJECTED: list(spoken.blocks)}
                message = SaidMessage(own, piece.speaker, text, time, extra=reader.facts(place, **facts))
                said += [message] if text and own not in known[told.chat] else []
                known[told.chat].add(own)
                reader.left_out["messages without text"] += not text
    for chat, messages in chats.items():
        yield Chat(reader.name(chat, "id"), reader.text(titles[chat], "title"), messages)


def read_entries(reader: Reader, file: File) -> Iterator[Mapping[str, Any]]:
    """The objects of the file: its lines, the items of its list, or itself.

    A last line that is not whole is still being written: it is told, and read the next time.
    """
    lines = file.text.strip().split("\n")
    if len(lines) == 1 or not all(line.startswith("{") for line in lines[:2]):
        value = reader.document(file, depths=(1, 2, 3))
        value = next((as_map(value)[name] for name in ("data", "runs") if name in as_map(value)), value)
        yield from map(as_map, value if isinstance(value, list) else [value])
        return
    for number, line in enumerate(lines, start=1):
        try:
            yield as_map(load_json(line)) if line.strip() else {}
        except (ValueError, RecursionError):
            with reader.item():
                if number < len(lines) or file.text.endswith("\n"):
                    reader.fail(f"line {number}", "is not JSON")
                reader.left_out["a last line that is not whole yet"] += 1


def read_pieces(reader: Reader, message: Mapping[str, Any], tools: dict[str, str], place: str) -> Iterator[Piece]:
    """The words of a message, then what it asks of tools and what these gave. `tools`: their names by call."""
    role = first_of(message, ("role", "from"))
    speaker = _ROLES.get(str(role).lower(), role)
    if not speaker and role:
        reader.left_out["instructions to the model"] += 1
        return
    content = first_of(message, ("content", "value", "text")) or ""
    held = content if isinstance(content, list) else [content]
    held = [{**message, "type": "tool_result", "content": content}] if speaker == TOOL else held[:MOST_PARTS]
    parts: list[Mapping[str, Any]] = [{"text": part} if isinstance(part, str) else as_map(part) for part in held]
    asked = [part for part in parts if _TOOLS.search(str(part.get("type")))]
    words = [words_of(reader, part) for part in parts if part not in asked]
    text = "\n".join(filter(None, words)).strip()
    asked += map(as_map, message.get("tool_calls") or ())
    if text and speaker == USER and _OF_HOST.match(text):
        reader.left_out["what the host added"] += 1
    elif text or not asked:
        yield Piece(reader.name(speaker, f"{place}, role"), text)
    for part in asked:
        yield from read_tool(reader, part, tools)


def words_of(reader: Reader, part: Mapping[str, Any]) -> str:
    """The words of a part; none of a thought, an image, or what the program added."""
    text = part.get("text")
    if isinstance(text, str) and part.get("type") not in _THOUGHTS and not part.get("synthetic"):
        return text
    reader.left_out["thoughts, images and marks"] += 1
    return ""


def read_tool(reader: Reader, part: Mapping[str, Any], tools: dict[str, str]) -> Iterator[Piece]:
    """What was asked of a tool, what it gave, or both."""
    function, state, kind = as_map(part.get("function")), as_map(part.get("state")), str(part.get("type"))
    call = str(first_of(part, ("tool_use_id", "tool_call_id", "call_id", "callID", "toolCallId", "id")))
    named = first_of(part, ("name", "tool", "toolName")) or function.get("name") or tools.get(call) or kind
    name = tools[call] = str(named)
    if not _RESULT.search(kind):
        given = [first_of(one, ("input", "arguments", "args", "action")) for one in (part, function, state)]
        yield Piece(TOOL, shorten(reader, f"{name}: {plain_text(next(filter(None, given), ''))}"), "call", name)
    gave = [first_of(one, ("content", "output", "error")) for one in (part, state)]
    if kind == TOOL or _RESULT.search(kind):
        yield Piece(TOOL, shorten(reader, plain_text(next(filter(None, gave), ""))), "result", name)


def plain_text(value: Any) -> str:
    """The text of a value: its own, that of its parts, or its JSON."""
    texts = (
        [part["text"] for part in value if isinstance(as_map(part).get("text"), str)]
        if isinstance(value, list)
        else []
    )
    return "\n".join(texts) or (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def shorten(reader: Reader, text: str) -> str:
    """The beginning and the end of a text that is longer than `MOST_OUTPUT`, with what is missing."""
    if len(text) <= MOST_OUTPUT:
        return text
    reader.counts[f"texts of tools were shortened to {MOST_OUTPUT:,} characters"] += 1
    end = MOST_OUTPUT // 4
    return f"{text[: MOST_OUTPUT - end]}\n… {len(text) - MOST_OUTPUT:,} characters …\n{text[-end:]}"


# --- where the messages of each program stand -------------------------------------------------------------------


def tell_claude_code(reader: Reader, entries: Iterable[Mapping[str, Any]], file: str) -> Iterator[Told]:
    """Each line is an entry; those of other agents, and those that the program adds, are left out."""
    for entry in entries:
        if entry.get("type") not in ("user", "assistant") or not entry.get("uuid"):
            reader.left_out["notes of the program"] += 1
        elif entry.get("isSidechain"):
            reader.left_out["messages between agents"] += 1
        elif any(map(entry.get, _ADDED)):
            reader.left_out["what the host added"] += 1
        else:
            folder = re.split(r"[\\/]", str(entry.get("cwd") or ""))[-1]
            message = {"role": entry["type"], **as_map(entry.get("message"))}
            session = str(entry.get("sessionId") or file)
            yield Told(session, message, str(entry["uuid"]), entry.get("timestamp"), folder)


def tell_codex(reader: Reader, entries: Iterable[Mapping[str, Any]], file: str) -> Iterator[Told]:
    """A rollout: a line of its session, then items of the model's answers; events say the same again."""
    session = file
    for number, entry in enumerate(entries, start=1):
        item = as_map(entry.get("payload", entry))
        if entry.get("type") == "session_meta" or "instructions" in item:
            session = str(item.get("id") or session)
        elif entry.get("type") in ("event_msg", "turn_context", "compacted") or not item.get("type"):
            reader.left_out["notes of the program"] += 1
        else:
            message = item if item["type"] == "message" else {"role": ASSISTANT, "content": [item]}
            yield Told(session, message, f"line {number}", entry.get("timestamp"))


def tell_opencode(_: Reader, entries: Iterable[Mapping[str, Any]], file: str) -> Iterator[Told]:
    """A session as `opencode export` writes it."""
    for session in entries:
        info = as_map(session.get("info"))
        for message in session.get("messages") or ():
            own = as_map(message["info"])
            told = {"role": own.get("role"), "content": message.get("parts")}
            time, title = as_map(own.get("time")).get("created"), str(info.get("title") or "")
            yield Told(str(info.get("id") or file), told, str(own.get("id") or ""), time, title)


def tell_lists(_: Reader, entries: Iterable[Mapping[str, Any]], file: str) -> Iterator[Told]:
    """Conversations, each with its list of messages. One without an id is known by its first message."""
    met: Counter[str] = Counter()
    for chat in entries:
        messages = [*map(as_map, first_of(chat, ("messages", "conversations")) or ())]
        first = blake2b(repr(messages[:1]).encode(), digest_size=8).hexdigest()
        met[first] += 1
        own = str(first_of(chat, ("conversation_id", "thread_id", "session_id", "id")) or f"{first}-{met[first]}")
        title, begun = str(first_of(chat, ("title", "name")) or ""), first_of(chat, _TIMES)
        for message in messages:
            yield Told(own, message, str(message.get("id") or ""), first_of(message, _TIMES) or begun, title)
            begun = begun if message.get("role") == "system" else None


def tell_langchain(_: Reader, entries: Iterable[Mapping[str, Any]], file: str) -> Iterator[Told]:
    """A list of messages, the whole file one conversation."""
    for entry in entries:
        for message in entry.get("messages") or [entry]:
            plain = plain_message(as_map(message))
            yield Told(file, plain, str(plain.get("id") or ""))


def plain_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message of LangChain as `{"role", "content"}`: one of `messages_to_dict`, of `dumps`, or a plain one."""
    fields, path = as_map(first_of(message, ("kwargs", "data")) or message), message.get("id")
    kind = path[-1].removesuffix("Message") if isinstance(path, list) and path else message.get("type")
    return {**fields, "role": first_of(fields, ("role", "type")) or kind}


def tell_langsmith(_: Reader, entries: Iterable[Mapping[str, Any]], file: str) -> Iterator[Told]:
    """Each run repeats what was said before; a root without messages has its question and its answer."""
    for number, run in enumerate(sorted(entries, key=lambda run: str(run.get("start_time")))):
        metadata = as_map(as_map(run.get("extra")).get("metadata"))
        chat = first_of(metadata, ("thread_id", "session_id", "conversation_id")) or run.get("trace_id") or file
        for role, side, time in ((USER, "inputs", "start_time"), (ASSISTANT, "outputs", "end_time")):
            found = first_of(
                as_map(run.get(side)), ("messages", "generations", "output", "input", "question", "answer")
            )
            while isinstance(found, list) and len(found) == 1 and isinstance(found[0], list):
                found = found[0]
            if isinstance(found, str):
                found = [] if run.get("parent_run_id") else [{"role": role, "content": found}]
            for one in found if isinstance(found, list) else [found or {}]:
                message = plain_message(as_map(as_map(one).get("message") or one))
                if message.get("content") is not None:
                    yield Told(str(chat), message, "", run.get(time), str(run.get("name")), f"{number} {side}")


def tell_traces(reader: Reader, entries: Iterable[Mapping[str, Any]], file: str) -> Iterator[Told]:
    """A trace of the OpenAI Agents SDK: what models got and gave, and the functions that were called."""
    spans = sorted(entries, key=lambda span: str(span.get("started_at")))
    traces = {span.get("id"): span for span in spans if span.get("object") == "trace"}
    for span in spans:
        data, trace = as_map(span.get("span_data")), as_map(traces.get(span.get("trace_id")))
        chat, title = (
            str(trace.get("group_id") or span.get("trace_id") or file),
            str(trace.get("workflow_name") or ""),
        )
        if data.get("type") == "function":
            told = {"role": ASSISTANT, "content": [{**data, "type": TOOL}]}
            yield Told(chat, told, str(span.get("id")), span.get("started_at"), title)
        elif data.get("type") == "generation":
            for side, time in (("input", "started_at"), ("output", "ended_at")):
                for message in data.get(side) or ():  # the span of the function has what was asked of it
                    plain = {**message, "tool_calls": None}
                    if message.get("role") != TOOL and message.get("content"):
                        yield Told(chat, plain, "", span.get(time), title, f"{span.get('id')} {side}")
        else:
            reader.left_out["spans without words"] += "trace_id" in span


def holds_lists(file: File) -> bool:
    """True for lines or a list of conversations; a single one with `messages` is of that format."""
    start = file.text.lstrip()
    first, _, rest = start.partition("\n")
    names = names_in(start) if start[:1] in ("[", "{") else Names()
    is_lines = first[:1] == rest.lstrip("\r\n")[:1] == "{"
    speaks = names.has("role", "content") or names.has("from", "value")
    among = names.near("messages", depth=1 if is_lines else 2) and (is_lines or start[:1] == "[")
    return speaks and (among or names.near("conversations"))


def make_row(name: str, shape: str, tell: Tell, prefix: str | None = None, **known: Any) -> tuple[Format, Parser]:
    """A row: the format, and how its messages are found. `prefix`: of the ids of its episodes."""
    form = Format(name, shape, JSON, **known)
    return form, lambda files: parse_chats(files, form, partial(read_chats, tell), prefix)


SHAPES: Final[Sequence[tuple[Format, Parser]]] = (
    make_row(
        "claude-code", 'lines of {"type", "uuid", "sessionId", "message": {"role", "content"}}', tell_claude_code,
        "session-",  # as the hook names them, so that what it heard is not stored again
        holds=lambda names: names.near("parentUuid", "leafUuid", "isSnapshotUpdate", "isSidechain", depth=1),
    ),
    make_row(
        "codex", 'lines of {"timestamp", "type", "payload": {"type", "role", "content"}}', tell_codex,
        holds=lambda names: names.near("payload", "record_type", depth=1) and names.has("timestamp", "type"),
    ),
    make_row(
        "opencode", '{"info": {"id", "title"}, "messages": [{"info": {"id", "role"}, "parts"}]}', tell_opencode,
        holds=lambda names: names.near("info") and names.has("messages", "parts"),
    ),
    make_row(
        "langsmith", 'runs with {"run_type", "inputs", "outputs", "start_time"}', tell_langsmith,
        holds=lambda names: names.near("run_type", depth=3),
    ),
    make_row(
        "langchain", 'a list of {"type", "data": {"content"}} or {"kwargs": {"content"}}', tell_langchain,
        holds=lambda names: names.has("content", "additional_kwargs"), rank=1,
    ),
    make_row(
        "openai-agents", 'traces and spans with {"object", "trace_id", "span_data": {"type"}}', tell_traces,
        holds=lambda names: names.near("span_data", depth=3),
    ),
    make_row(
        "conversations", 'a list or lines of {"messages": [{"role", "content"}]}', tell_lists,
        looks=holds_lists, rank=3,
    ),
)  # fmt: skip
