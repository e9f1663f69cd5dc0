"""The chats of teams: each channel becomes an episode that later exports continue. Pure.

`slack`: an export of a workspace. `discord`: the package that Discord sends, which has the messages of its owner
alone, and a channel as DiscordChatExporter writes it to JSON.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from orchestration.ingestion.formats.conversations import USER, Chat, SaidMessage, parse_chats, read_messages
from orchestration.ingestion.formats.reader import (
    File,
    FileSet,
    Format,
    ParsedFiles,
    Reader,
    as_map,
    first_of,
    load_json,
)

_LISTS: Final = re.compile(r"(?:\A|/)(?:(?:channels|groups|dms|mpims)|\d{4}-\d\d-\d\d)\.json\Z")
SLACK: Final = Format(
    "slack",
    'a folder for each channel, with lists of {"type", "user", "text", "ts"}, beside users.json',
    (".json",),
    holds=lambda names: (
        (names.near("ts") and names.near("type", "user"))
        or (names.near("profile") and names.near("team_id"))
        or (names.near("members") and names.near("purpose", "created"))
    ),
    looks=lambda file: file.text.strip() == "[]" and _LISTS.search(file.name) is not None,
)
_SAID: Final = (None, "bot_message", "me_message", "thread_broadcast", "file_share", "file_comment")
"""The subtypes of messages that somebody said; others tell what the program did."""
_MARK: Final = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


def parse_slack(files: FileSet) -> ParsedFiles:
    """Parse each channel to one episode. Raises InvalidRequest when nothing can be read at all."""
    people: dict[str, str] = {}
    titles: dict[str, str] = {}
    for file in files.files:
        for entry in objects_in(file):
            profile = as_map(entry.get("profile"))
            name = profile.get("real_name") or entry.get("real_name") or entry.get("name")
            if profile and name:
                people[str(entry.get("id"))] = str(name)
            elif isinstance(entry.get("members"), list) and not entry.get("name"):
                titles[str(entry.get("id"))] = ", ".join(
                    people.get(str(one), str(one)) for one in entry["members"]
                )

    def read(reader: Reader, file: File) -> Iterator[Chat]:
        entries = reader.document(file, depths=(1,))
        messages = [entry for entry in entries if "ts" in as_map(entry)] if isinstance(entries, list) else []
        folder = file.name.rpartition("/")[0].rpartition("/")[2].removesuffix(".zip") or files.name
        if messages:
            said = read_messages(reader, messages, "", partial(read_slack, people))
            yield Chat(folder, titles.get(folder, folder), said)

    return parse_chats(files, SLACK, read)


def objects_in(file: File) -> Iterable[Mapping[str, Any]]:
    """The objects of a list; none for a file that holds something else."""
    try:
        value = load_json(file.text)
    except (ValueError, RecursionError):
        return ()
    return map(as_map, value) if isinstance(value, list) else ()


def read_slack(
    people: Mapping[str, str], reader: Reader, entry: Mapping[str, Any], place: str
) -> Iterator[SaidMessage]:
    """A message, unless it is a notice or has no words."""
    if entry.get("subtype") not in _SAID:
        reader.left_out["notices of the program"] += 1
        return
    raw = reader.text(entry.get("text") or "", f"{place}, text")
    text = html.unescape(_MARK.sub(partial(read_mark, people), raw)).strip()
    if not text:
        reader.left_out["media without words"] += 1
        return
    own, user = as_map(entry.get("user_profile")), str(entry.get("user"))
    name = (
        people.get(user) or first_of(own, ("real_name", "name")) or first_of(entry, ("username", "user", "bot_id"))
    )
    edited = as_map(entry.get("edited")).get("ts")
    files = [as_map(file).get("name") for file in entry.get("files") or ()]
    thread = entry.get("thread_ts")
    yield SaidMessage(
        id=str(entry["ts"]),
        speaker=reader.name(name, f"{place}, user"),
        text=text,
        time=reader.moment(float(entry["ts"]), f"{place}, ts"),
        edited_at=None if edited is None else reader.moment(float(edited), f"{place}, edited"),
        extra=reader.facts(place, thread=thread if thread != entry["ts"] else None, attachments=files),
    )


def read_mark(people: Mapping[str, str], mark: re.Match[str]) -> str:
    """What a mark stands for: a person, a channel, a link, or everybody."""
    kind, target, label = mark.groups()
    if kind:
        return f"{'#' if kind == '#' else '@'}{label or people.get(target, target)}"
    return f"{label} ({target})" if label else target


_PACKAGE: Final = re.compile(
    r"(?:\A|/)(?:messages/(?:index\.json|c\d+/messages\.(?:json|csv))|account/user\.json)\Z", re.I
)
_CHANNEL: Final = re.compile(r"/c(\d+)/[^/]*\Z")
DISCORD: Final = Format(
    "discord",
    "the package of Discord, or a channel of DiscordChatExporter as JSON",
    (".json", ".csv"),
    holds=lambda names: (
        names.near("Contents") or (names.near("channel", depth=1) and names.has("messages", "author", "content"))
    ),
    looks=lambda file: _PACKAGE.search(file.name) is not None or file.start.startswith("ID,Timestamp,Contents"),
)
_DISCORD_SAID: Final = ("Default", "Reply", "ThreadStarterMessage", "ChatInputCommand", None)


def parse_discord(files: FileSet) -> ParsedFiles:
    """Parse each channel to one episode. Raises InvalidRequest when nothing can be read at all."""
    named: dict[str, Any] = {}
    owner: Any = USER
    for file in files.files:
        if file.name.lower().endswith(("messages/index.json", "account/user.json")):
            for entry in objects_in(File("", f"[{file.text}]")):
                owner = first_of(entry, ("global_name", "username")) or owner
                named |= entry

    def read(reader: Reader, file: File) -> Iterator[Chat]:
        if file.name.lower().endswith(("index.json", "user.json")):
            return
        is_table = file.start.startswith("ID,")
        value: Any = list(csv.DictReader(io.StringIO(file.text))) if is_table else reader.document(file, (1, 2))
        channel, server = as_map(as_map(value).get("channel")), as_map(as_map(value).get("guild"))
        found = _CHANNEL.search(file.name)
        key = str(channel.get("id") or (found[1] if found else file.stem))
        name, place = channel.get("name"), server.get("name")
        title = f"{name} in {place}" if name and place else str(name or named.get(key) or key)
        entries = as_map(value).get("messages") if channel else value
        said = read_messages(reader, entries or (), "", partial(read_discord, owner))
        yield Chat(key, title, sorted(said, key=lambda one: int(one.id) if one.id.isdecimal() else 0))

    return parse_chats(files, DISCORD, read)


def read_discord(owner: Any, reader: Reader, entry: Any, place: str) -> Iterator[SaidMessage]:
    """A message of a package or of the exporter, unless it is a notice or has no words."""
    entry = as_map(entry)
    if entry.get("type") not in _DISCORD_SAID:
        reader.left_out["notices of the program"] += 1
        return
    text = reader.text(first_of(entry, ("content", "Contents")) or "", f"{place}, text").strip()
    if not text:
        reader.left_out["media without words"] += 1
        return
    author, stamp = as_map(entry.get("author")), str(first_of(entry, ("timestamp", "Timestamp")))
    attached = entry.get("attachments")
    files = [as_map(file).get("fileName") for file in attached] if isinstance(attached, list) else []
    yield SaidMessage(
        id=str(first_of(entry, ("id", "ID"))),
        speaker=reader.name(first_of(author, ("nickname", "name")) or owner, f"{place}, author"),
        text=text,
        time=reader.moment(stamp if "+" in stamp or "Z" in stamp else f"{stamp}+00:00", f"{place}, timestamp"),
        edited_at=reader.moment_of(entry, "timestampEdited", place),
        extra=reader.facts(place, attachments=files),
    )
