"""The hosts: each is a row with the file that is written, its form, and the events of its hooks. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from itertools import filterfalse
from typing import Any, Final, Literal, NamedTuple

type Document = dict[str, Any]

EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
_PROGRAM: Final = re.compile(r"(^|[/\\])(substrate|substrate\.exe|api\.cli)$")
_HOOK: Final = re.compile(r"hosts[/\\]hook\.py\b")


def _plain(command: Sequence[str]) -> Document:
    return {"command": command[0], "args": list(command[1:])}


def _typed(command: Sequence[str]) -> Document:
    return {"type": "stdio", **_plain(command)}


def _one_list(command: Sequence[str]) -> Document:
    return {"type": "local", "command": list(command), "enabled": True}


class Host(NamedTuple):
    """A row: `file` has the servers of MCP `under` this name, each as `entry` makes it of a command.

    `base`: the file is in the home directory, or in the `config` directory of the platform. `hooks` is the file of
    the `events`, where the host has such.
    """

    file: str
    under: str = "mcpServers"
    entry: Callable[[Sequence[str]], Document] = _plain
    base: Literal["home", "config"] = "home"
    form: Literal["json", "toml"] = "json"
    hooks: str = ""
    events: tuple[str, ...] = ()


HOSTS: Final[Mapping[str, Host]] = {
    "claude-code": Host(".claude.json", entry=_typed, hooks=".claude/settings.json", events=EVENTS),
    "claude-desktop": Host("Claude/claude_desktop_config.json", base="config"),
    "codex": Host(".codex/config.toml", "mcp_servers", form="toml"),
    "cursor": Host(".cursor/mcp.json"),
    "vscode": Host("Code/User/mcp.json", "servers", _typed, base="config"),
    "opencode": Host(".config/opencode/opencode.json", "mcp", _one_list),
    "gemini-cli": Host(".gemini/settings.json"),
}


def words_of(entry: Any) -> list[str]:
    """The command of an entry with its arguments; nothing where it has none."""
    if not isinstance(entry, dict):
        return []
    command = entry.get("command") or []
    return list(map(str, ([command] if isinstance(command, str) else command) + entry.get("args", [])))


def is_ours(entry: Any) -> bool:
    """Whether an entry calls `substrate mcp`."""
    words = words_of(entry)
    return "mcp" in words and any(map(_PROGRAM.search, words))


def set_entry(document: Document, under: str, name: str, entry: Document | None) -> None:
    """Set the entry of this name, or take it out; what a user added to it stays.

    Raises ValueError where one of that name is somebody else's, or the file has another shape.
    """
    servers = document.get(under, {})
    if not isinstance(servers, dict):
        raise ValueError(f"`{under}` is not an object")
    if name in servers and not is_ours(servers[name]):
        raise ValueError(f"`{under}.{name}` is there and is not ours")
    if entry is not None:
        document[under] = {**servers, name: {**servers.get(name, {}), **entry}}
    elif name in servers:
        del servers[name]
        if not servers:
            del document[under]


def set_hooks(document: Document, events: Sequence[str], command: str | None) -> None:
    """Have our command called at these events, or at none. The hooks of others stay in their places.

    Raises ValueError where the file has another shape.
    """
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("`hooks` is not an object")
    for event in events:
        group = {"hooks": [{"type": "command", "command": command, "timeout": 10}]}
        groups = hooks.get(event, [])
        if not isinstance(groups, list):
            raise ValueError(f"`hooks.{event}` is not a list")
        kept = list(filterfalse(_is_our_group, groups))
        if command is not None:
            ours = list(map(_is_our_group, groups))
            kept.insert(ours.index(True) if True in ours else len(kept), group)
        if kept:
            hooks[event] = kept
        else:
            hooks.pop(event, None)
    if hooks:
        document["hooks"] = hooks
    else:
        document.pop("hooks", None)


def hook_of(document: Document, event: str) -> list[str]:
    """Our command at this event, in its words; empty where there is none."""
    for group in document.get("hooks", {}).get(event, []):
        if _is_our_group(group):
            return shlex.split(group["hooks"][0]["command"])
    return []


def _is_our_group(group: Any) -> bool:
    calls = group.get("hooks") if isinstance(group, dict) else None
    first = calls[0] if isinstance(calls, list) and len(calls) == 1 else None
    return isinstance(first, dict) and _HOOK.search(str(first.get("command"))) is not None
