"""`substrate connect`: writes the memory into the files of a host, takes it out, or proves that it answers."""

from __future__ import annotations

import asyncio
import difflib
import json
import re
import shlex
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx
from platformdirs import user_config_path

from api import installed_version
from api.cli import support
from api.cli.hosts import table
from api.cli.hosts.host_files import (
    PROGRAMS,
    FileChange,
    apply,
    plan_json,
    plan_plugin,
    plan_toml,
    plan_yaml,
    read_json,
    read_toml,
    read_yaml,
)
from api.cli.program import Command, argument, option, run_until_stopped
from schemas.errors import Conflict, InvalidRequest, NotFound, Unavailable
from schemas.settings import ClientSettings

_CHECK_S, _TOKENS = 30, 800


class ConnectCommand(Command, name="connect"):
    """Connect claude-code, claude-desktop, codex, cursor, vscode, opencode, gemini-cli, hermes or openclaw."""

    host: str = argument("HOST", "The program in which the agent runs.")
    citizen: str | None = option("--citizen -c ID", "Whose memory.")
    also: list[str] = option("--also ID", "Whose memory the hooks recall too, under its name.", [])
    url: str | None = option(
        "--url",
        "Address of a running service. Default: SUBSTRATE_BASE_URL, else the engine of the data directory.",
    )
    entry_name: str = option("--name", "Name of the entry.", "substrate")
    remove: bool = option("--remove", "Take it out again.", False)
    dry_run: bool = option("--dry-run", "Show what would change, and change nothing.", False)
    check: bool = option("--check", "Call what is written there, and say what the model would get.", False)

    def run(self) -> None:
        if (host := table.HOSTS.get(self.host)) is None:
            raise InvalidRequest(
                f"HOST: {self.host!r} is none that is known", remedy=f"There are: {', '.join(table.HOSTS)}."
            )
        name, page, home = self.entry_name, support.output(), Path.home()
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
            raise InvalidRequest(f"--name: {name!r} is not letters, digits, `-` or `_`")
        file = (user_config_path(roaming=True) if host.base == "config" else home) / host.file
        if self.check:
            run_until_stopped(_Check(self.host, host, home, file, name).run())
            return
        for change in self._plan(host, file, home):
            if self.dry_run:
                _show(change)
            else:
                apply(change)
                page.say(f"{change.path}{' (unchanged)' if change.before == change.after else ''}")
        if host.then and not self.remove:
            page.fold(host.then)

    def _plan(self, host: table.Host, file: Path, home: Path) -> list[FileChange]:
        """What becomes of each file of the host; nothing is written before all of it is known."""
        entry, words = (None, None) if self.remove else self._called(host)
        edits = {file: [partial(table.set_slots, slots=host.slots, removes=self.remove)] if host.slots else []}
        if host.hooks:
            command = None if words is None else shlex.join(words)
            setting = partial(table.set_hooks, hooks=host.hooks, command=command)
            edits.setdefault(home / host.hooks.file, []).append(setting)
        changes = []
        for to, source in host.plugin.items():
            changes.append(plan_plugin(home / to, source, words))
        if host.form == "json":
            edits[file].append(partial(table.set_entry, under=host.under, name=self.entry_name, entry=entry))
        else:
            del edits[file]
        if host.form == "toml":
            changes.append(plan_toml(file, host.under, self.entry_name, entry))
        elif host.form == "yaml":
            changes += map(partial(plan_yaml, file, removes=self.remove), host.slots)
        for path, each in edits.items():
            changes.append(plan_json(path, table.in_turn(each), removes=self.remove))
        return changes

    def _called(self, host: table.Host) -> tuple[table.Document, list[str]]:
        """The entry of MCP, and the words that call the hook. Raises InvalidRequest without a citizen."""
        if not self.citizen:
            raise InvalidRequest("--citizen is missing", remedy="Say whose memory it is, as in `-c ada`.")
        url = self._url()
        where = url or str(support.read_settings(self.ctx).store.data.expanduser().absolute())
        words = [sys.executable, "-I", "-S", str(PROGRAMS / "hook.py"), where]
        words += [",".join((self.citizen, *self.also)), str(_TOKENS), *([] if url else _program())]
        return host.entry(_mcp(where, self.citizen)), words

    def _url(self) -> str | None:
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise InvalidRequest(f"--url: {self.url!r} is not an address", remedy="Give http://… or https://….")
        if self.url is None and self.ctx.find_root().obj is None:
            return support.read_group(ClientSettings).named
        return self.url


def _program() -> list[str]:
    """The command `substrate` of this installation."""
    beside = Path(sys.executable).with_name("substrate")
    # -P: a project in which the host runs may have a package `api` of its own.
    return [str(beside)] if beside.is_file() else [sys.executable, "-P", "-m", "api.cli"]


def _mcp(where: str, citizen: str) -> list[str]:
    """The command that serves the tools of MCP, for a service or a data directory."""
    remote = where.startswith(("http://", "https://"))
    place = ["mcp", "--url", where] if remote else ["--data", where, "mcp"]
    return [*_program(), *place, "--citizen", citizen]


def _show(change: FileChange) -> None:
    before, after = (change.before or "").splitlines(), (change.after or "").splitlines()
    for line in difflib.unified_diff(before, after, str(change.path), str(change.path), lineterm=""):
        support.output().say(line)


class _Check(NamedTuple):
    """Whether what is written in the files of a host reaches its model, by the contract of the host."""

    called: str
    host: table.Host
    home: Path
    file: Path
    name: str

    @property
    def document(self) -> table.Document:
        """The settings of the host."""
        return {"json": read_json, "toml": read_toml, "yaml": read_yaml}[self.host.form](self.file)

    async def run(self) -> None:
        """Call the entry of MCP, then the hook with what that recalled. Raises what is wrong."""
        from mcp.client.client import Client  # noqa: PLC0415  (no other command needs it)
        from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415

        page, hook = support.output(), self._hook()
        entry = table.at(self.document, f"{self.host.under}.{self.name}")
        if self.host.form == "yaml" and hook:  # it has no entry: what its hook asks is asked
            key = support.read_group(ClientSettings).api_key
            env = {} if key is None else {"env": {"SUBSTRATE_API_KEY": key.get_secret_value()}}
            entry = self.host.entry(_mcp(hook[4], hook[5].split(",")[0])) | env
        if not (command := table.words_of(entry)):
            raise NotFound(
                f"{self.file} has no entry {self.name}", remedy="Write it first: the same command without --check."
            )
        named = entry.get("env") or entry.get("environment") or {}
        await self._compare_versions(command, named.get("SUBSTRATE_API_KEY"))
        program = StdioServerParameters(command=command[0], args=command[1:], env=named)
        try:
            async with asyncio.timeout(_CHECK_S), Client(stdio_client(program)) as client:
                tools = (await client.list_tools()).tools
                answer = await client.call_tool("recall", {"query": "What happened last?"})
        except Exception as fault:
            raise Unavailable(f"the entry does not answer: {fault}", remedy=shlex.join(command)) from fault
        found = (answer.structured_content or {}).get("memories", [])
        told = str((answer.structured_content or {}).get("detail", answer.content))
        if answer.is_error and "nothing was remembered" not in told:
            raise Conflict(f"the entry's recall is refused: {told}", remedy="Set SUBSTRATE_API_KEY in its `env`.")
        if not found:
            page.fold(f"MCP: {len(tools)} tools; nothing is remembered yet, so nothing was recalled.")
            return
        page.say(f"MCP: {len(tools)} tools; recall gives {len(found)} memories, marked as data")
        if hook:
            await self._check_hook(hook, found[0]["text"] or found[0]["name"])
        else:
            page.say("hooks: the host has none; its model calls the tools")

    def _hook(self) -> list[str]:
        """The words that call the hook, as they are written; empty where the host has none.

        Raises Conflict where a file is of another version, a slot is another's, or the host does not run it.
        """
        for to, source in self.host.plugin.items():
            written = (self.home / to).read_text("utf-8") if (self.home / to).is_file() else ""
            hook = table.hook_in(written)
            if plan_plugin(self.home / to, source, hook).after != written:
                raise Conflict(
                    f"{self.home / to} is missing or of another version",
                    remedy=f"substrate connect {self.called} …",
                )
            if hook:
                words = hook
        for slot, value in self.host.slots.items():
            held = table.at(self.document, slot)
            if isinstance(value, str) and held != value:
                raise Conflict(f"{self.file}: `{slot}` is {held!r}", remedy=f"substrate connect {self.called} …")
        if self.host.hooks is None:
            return words if self.host.plugin else []
        file = self.home / self.host.hooks.file
        trusted = table.at(self.document, "hooks").get("state", {}) if self.called == "codex" else None
        if trusted is not None and not any(key.startswith(f"{file}:user_prompt_submit") for key in trusted):
            raise Conflict("Codex does not run the hook: it is not trusted yet", remedy=self.host.then)
        return table.hook_of(read_json(file), self._asks())

    def _asks(self) -> str:
        """The event at which the host lets something be recalled: a prompt if it can be, else the start."""
        events = self.host.hooks.events if self.host.hooks else ("UserPromptSubmit",)
        return next((event for event in events if event in ("UserPromptSubmit", "BeforeAgent")), events[0])

    async def _check_hook(self, words: list[str], prompt: str) -> None:
        """Call the hook with the event of the host, again while a service starts for it. Raises Conflict."""
        name, page, until = self._asks(), support.output(), time.monotonic() + _CHECK_S
        event = {"hook_event_name": name, "session_id": "check", "prompt": prompt, "cwd": str(self.home)}
        context = ""
        while not context and time.monotonic() < until:
            call = partial(subprocess.run, words, input=json.dumps(event), capture_output=True, text=True)
            printed = (await asyncio.to_thread(call, timeout=_CHECK_S, check=False)).stdout
            context = table.context_of(printed, name)
            if context or words[4].startswith("http"):
                break
            await asyncio.sleep(1)
        if not context and name in ("SessionStart", "sessionStart"):
            page.fold(
                "hook: silent, for nothing is on the citizen's mind; the host lets none recall before a prompt."
            )
        elif "not instructions" not in context or "<memories>" not in context:
            raise Conflict(
                "the hook gave no context for the words of a stored memory",
                remedy="Is the service up, and SUBSTRATE_API_KEY set where the host runs?",
            )
        else:
            page.say(f"hook: {len(context)} characters reach the model at {name}, marked as data")

    async def _compare_versions(self, command: list[str], key: str | None) -> None:
        """Say where the service is of another version than this command. Raises Unavailable where none is."""
        if "--url" not in command:
            return
        url = command[command.index("--url") + 1]
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            async with httpx.AsyncClient(timeout=_CHECK_S) as client:
                answer = await client.get(f"{url.rstrip('/')}/openapi.json", headers=headers)
                version = answer.json()["info"]["version"] if answer.is_success else None
        except (httpx.HTTPError, ValueError, KeyError) as fault:
            raise Unavailable(
                f"{url} is no service of Substrate: {fault}", remedy="Start it, or name another."
            ) from fault
        if version not in (None, installed_version()):
            support.output().fold(
                f"The service is version {version}, and this command {installed_version()}: one may not know what "
                "the other does. Install the same."
            )
