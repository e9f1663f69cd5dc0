"""The hosts: each is a row with the files that are written, their form, and the events of its hooks. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from itertools import filterfalse
from typing import Any, Final, Literal, NamedTuple

type Document = dict[str, Any]

EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
NAME: Final = "substrate"
_PLACE: Final = '["SUBSTRATE_HOOK"]'
"""Where a plugin of a host has the words that call the hook."""
_PROGRAM: Final = re.compile(r"(^|[/\\])(substrate|substrate\.exe|api\.cli)$")
_HOOK: Final = re.compile(r"(?:clients|cli)[/\\]hosts[/\\]hook\.py\b")


class McpEntry(NamedTuple):
    """How an entry of MCP is written: its `type`, its command in one list or not, and what else it has."""

    type: str = ""
    in_one_list: bool = False
    more: Mapping[str, Any] = {}

    def __call__(self, command: Sequence[str]) -> Document:
        """The entry that calls the command."""
        called = list(command)
        named: Document = {"command": called} if self.in_one_list else {"command": called[0], "args": called[1:]}
        return ({"type": self.type} if self.type else {}) | named | dict(self.more)


class Hooks(NamedTuple):
    """The file of the hooks, and what calls one: within a group, or by itself; how long, in the host's unit."""

    file: str
    events: Sequence[str]
    timeout: int = 10
    grouped: bool = True
    call: Mapping[str, Any] = {"type": "command"}
    version: int | None = None


class Host(NamedTuple):
    """A row: `file` has the servers of MCP `under` this name, each as `entry` makes it of a command.

    `base`: the file is in the home directory, or in the `config` directory of the platform. `plugin`: the files
    that the host loads, by their place in the home directory and among ours. `slots`: what is set in `file` for
    them, by dotted names. `then`: what is left to do by hand.
    """

    file: str
    under: str = "mcpServers"
    entry: McpEntry = McpEntry()
    base: Literal["home", "config"] = "home"
    form: Literal["json", "toml", "yaml"] = "json"
    hooks: Hooks | None = None
    plugin: Mapping[str, str] = {}
    slots: Mapping[str, Any] = {}
    then: str = ""


HOSTS: Final[Mapping[str, Host]] = {
    "claude-code": Host(".claude.json", entry=McpEntry("stdio"), hooks=Hooks(".claude/settings.json", EVENTS)),
    "claude-desktop": Host("Claude/claude_desktop_config.json", base="config"),
    "codex": Host(
        ".codex/config.toml",
        "mcp_servers",
        form="toml",
        hooks=Hooks(".codex/hooks.json", EVENTS[:4]),
        then="Codex runs a hook once you trust it: type /hooks there.",
    ),
    "cursor": Host(
        ".cursor/mcp.json",
        hooks=Hooks(
            ".cursor/hooks.json",
            ("sessionStart", "beforeSubmitPrompt", "afterAgentResponse"),
            grouped=False,
            call={},
            version=1,
        ),
    ),
    "vscode": Host(
        "Code/User/mcp.json",
        "servers",
        McpEntry("stdio"),
        base="config",
        hooks=Hooks(".copilot/hooks/substrate.json", ("SessionStart",), grouped=False),
    ),
    "opencode": Host(
        ".config/opencode/opencode.json",
        "mcp",
        McpEntry("local", in_one_list=True, more={"enabled": True}),
        plugin={".config/opencode/plugins/substrate.js": "opencode/substrate.js"},
    ),
    "gemini-cli": Host(
        ".gemini/settings.json",
        hooks=Hooks(".gemini/settings.json", ("SessionStart", "BeforeAgent", "AfterAgent"), 10_000),
    ),
    "hermes": Host(
        ".hermes/config.yaml",
        form="yaml",
        plugin={
            ".hermes/plugins/substrate/__init__.py": "hermes/__init__.py",
            ".hermes/plugins/substrate/plugin.yaml": "hermes/plugin.yaml",
        },
        slots={"memory.provider": NAME},
    ),
    "openclaw": Host(
        ".openclaw/openclaw.json",
        "mcp.servers",
        plugin={
            ".openclaw/extensions/substrate/index.js": "openclaw/index.js",
            ".openclaw/extensions/substrate/openclaw.plugin.json": "openclaw/openclaw.plugin.json",
            ".openclaw/extensions/substrate/package.json": "openclaw/package.json",
        },
        slots={
            "plugins.slots.memory": NAME,
            "plugins.entries.substrate": {"enabled": True, "hooks": {"allowConversationAccess": True}},
        },
    ),
}
"""The hosts by their names. The form of each is that of the version that `docs/hosts.md` names."""
FREE: Final = ("", "none", "memory-core", "builtin", NAME)
"""What may hold a slot that we take: nothing, what the host has by itself, or we."""


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


def at(document: Document, path: str) -> Any:
    """What stands at the dotted path; an empty object where nothing does. Raises ValueError for another shape."""
    for name in path.split("."):
        document = document.get(name, {})
        if not isinstance(document, dict):
            break
    return document


def put(document: Document, path: str, value: Any) -> None:
    """Set what stands at the dotted path; None takes it out, and what is empty then above it."""
    name, _, rest = path.partition(".")
    if rest:
        inner = document.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ValueError(f"`{name}` is not an object")
        put(inner, rest, value)
        value = inner or None
    if value is None:
        document.pop(name, None)
    else:
        document[name] = value


def set_entry(document: Document, under: str, name: str, entry: Document | None) -> None:
    """Set the entry of this name, or take it out; what a user added to it stays.

    Raises ValueError where one of that name is somebody else's, or the file has another shape.
    """
    servers = at(document, under)
    if not isinstance(servers, dict):
        raise ValueError(f"`{under}` is not an object")
    if name in servers and not is_ours(servers[name]):
        raise ValueError(f"`{under}.{name}` is there and is not ours")
    if entry is not None:
        put(document, under, {**servers, name: {**servers.get(name, {}), **entry}})
    elif name in servers:
        put(document, f"{under}.{name}", None)


def set_slots(document: Document, slots: Mapping[str, Any], *, removes: bool) -> None:
    """Take the slots of the host, or leave them. Raises ValueError where another holds one."""
    for path, value in slots.items():
        now = at(document, path)
        if isinstance(value, dict):
            put(document, path, None if removes else (now if isinstance(now, dict) else {}) | value)
        elif removes:
            put(document, path, None if now in (*FREE, {}) else now)
        elif now and now not in FREE:
            raise ValueError(f"`{path}` is {now!r}: the host has one memory, and it is another's")
        else:
            put(document, path, value)
    allowed = at(document, "plugins.allow")
    if isinstance(allowed, list) and removes == (NAME in allowed):
        put(document, "plugins.allow", [*filterfalse(NAME.__eq__, allowed), *([] if removes else [NAME])])


def set_hooks(document: Document, hooks: Hooks, command: str | None) -> None:
    """Have our command called at the events, or at none. The hooks of others stay in their places.

    Raises ValueError where the file has another shape.
    """
    calls = document.get("hooks", {})
    if not isinstance(calls, dict):
        raise ValueError("`hooks` is not an object")
    for event in hooks.events:
        call = {**hooks.call, "command": command, "timeout": hooks.timeout}
        listed = calls.get(event, [])
        if not isinstance(listed, list):
            raise ValueError(f"`hooks.{event}` is not a list")
        kept = list(filterfalse(_our_call, listed))
        if command is not None:
            ours = list(map(bool, map(_our_call, listed)))
            kept.insert(
                ours.index(True) if True in ours else len(kept), {"hooks": [call]} if hooks.grouped else call
            )
        if kept:
            calls[event] = kept
        else:
            calls.pop(event, None)
    put(document, "hooks", calls or None)
    if hooks.version is not None and calls:
        document.setdefault("version", hooks.version)


def in_turn(edits: Sequence[Callable[[Document], None]]) -> Callable[[Document], None]:
    """One edit that makes all of them."""

    def edit(document: Document) -> None:
        for one in edits:
            one(document)

    return edit


def context_of(printed: str, event: str) -> str:
    """What reaches the model of what a hook printed at this event; nothing where it is of another form."""
    try:
        said = json.loads(printed)
        if event == "sessionStart":
            return str(said["additional_context"])
        said = said["hookSpecificOutput"]
        return str(said["additionalContext"]) if said["hookEventName"] == event else ""
    except (ValueError, KeyError, TypeError):
        return ""


def hook_of(document: Document, event: str) -> list[str]:
    """Our command at this event, in its words; empty where there is none."""
    return shlex.split(next(filter(None, map(_our_call, at(document, f"hooks.{event}") or [])), ""))


def hook_in(plugin: str) -> list[str]:
    """The command that a plugin of ours calls, in its words; empty where it calls none."""
    found = re.search(r"HOOK\b[^\n=]*= (\[.*\]);?$", plugin, re.MULTILINE)
    return list(map(str, json.loads(found[1]))) if found else []


def with_hook(plugin: str, words: Sequence[str]) -> str:
    """The plugin with the command that it calls."""
    return plugin.replace(_PLACE, json.dumps(list(words), ensure_ascii=False))


def _our_call(call: Any) -> str:
    """The command of a call, or of a group with one alone, if it is ours."""
    inner = call.get("hooks", [call]) if isinstance(call, dict) else None
    first = inner[0] if isinstance(inner, list) and len(inner) == 1 else None
    command = str(first.get("command")) if isinstance(first, dict) else ""
    return command if _HOOK.search(command) else ""
