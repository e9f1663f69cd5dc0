"""`substrate connect`: writes the memory into the files of a host, takes it out, or proves that it answers."""

from __future__ import annotations

import asyncio
import difflib
import json
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

from platformdirs import user_config_path

from api.cli import support
from api.cli.hosts import hook, table
from api.cli.hosts.host_files import FileChange, apply, plan_json, plan_toml, read_json, read_toml
from api.cli.program import Command, argument, option, run_until_stopped
from schemas.errors import Conflict, InvalidRequest, NotFound, Unavailable
from schemas.settings import ClientSettings

_CHECK_S = 30


class ConnectCommand(Command, name="connect"):
    """Connect a host: claude-code, claude-desktop, codex, cursor, vscode, opencode, gemini-cli (docs/hosts.md)."""

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
            run_until_stopped(_check(host, home, _written_entry(host, file, name)))
            return
        changes = self._plan(host, file, home / host.hooks)
        for change in changes:
            if self.dry_run:
                _show(change)
            else:
                apply(change)
                page.say(f"{change.path}{' (unchanged)' if change.before == change.after else ''}")
        if host.hooks and not self.remove and self._url() is None:
            page.fold("No hooks: they call a running service. Name it with --url, as `substrate serve` prints it.")

    def _plan(self, host: table.Host, file: Path, hooks: Path) -> list[FileChange]:
        """What becomes of each file of the host; nothing is written before all of it is known."""
        command: list[str] | None = None
        url = self._url()
        if not self.remove:
            if not self.citizen:
                raise InvalidRequest("--citizen is missing", remedy="Say whose memory it is, as in `-c ada`.")
            beside = Path(sys.executable).with_name("substrate")
            # -P: a project in which the host runs may have a package `api` of its own.
            command = [str(beside)] if beside.is_file() else [sys.executable, "-P", "-m", "api.cli"]
            if url is None:
                data = support.read_settings(self.ctx).store.data.expanduser().absolute()
                command += ["--data", str(data), "mcp", "--citizen", self.citizen]
            else:
                command += ["mcp", "--url", url, "--citizen", self.citizen]
        entry = None if command is None else host.entry(command)
        if host.form == "toml":
            return [plan_toml(file, host.under, self.entry_name, entry)]
        edit = partial(table.set_entry, under=host.under, name=self.entry_name, entry=entry)
        changes = [plan_json(file, edit, removes=self.remove)]
        if host.hooks and (self.remove or url is not None):
            words = [
                sys.executable,
                "-I",
                "-S",
                str(Path(hook.__file__)),
                url or "",
                ",".join((self.citizen or "", *self.also)),
            ]
            called = None if self.remove else shlex.join(words)
            edit = partial(table.set_hooks, events=host.events, command=called)
            changes.append(plan_json(hooks, edit, removes=self.remove))
        return changes

    def _url(self) -> str | None:
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise InvalidRequest(f"--url: {self.url!r} is not an address", remedy="Give http://… or https://….")
        if self.url is None and self.ctx.find_root().obj is None:
            return support.read_group(ClientSettings).named
        return self.url


def _show(change: FileChange) -> None:
    before, after = (change.before or "").splitlines(), (change.after or "").splitlines()
    for line in difflib.unified_diff(before, after, str(change.path), str(change.path), lineterm=""):
        support.output().say(line)


def _written_entry(host: table.Host, file: Path, name: str) -> table.Document:
    """The entry as it stands in the file. Raises NotFound where there is none that calls a program."""
    document = read_toml(file) if host.form == "toml" else read_json(file)
    entry: table.Document = document.get(host.under, {}).get(name, {})
    if not table.words_of(entry):
        raise NotFound(f"{file} has no entry {name}", remedy="Write it first: the same command without --check.")
    return entry


async def _check(host: table.Host, home: Path, entry: table.Document) -> None:
    """Call the entry of MCP, then the hook with what that recalled. Raises Unavailable or Conflict."""
    from mcp.client.client import Client  # noqa: PLC0415  (no other command needs it)
    from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415

    page, command = support.output(), table.words_of(entry)
    named = entry.get("env") or entry.get("environment") or {}
    program = StdioServerParameters(command=command[0], args=command[1:], env=named)
    try:
        async with asyncio.timeout(_CHECK_S), Client(stdio_client(program)) as client:
            tools = (await client.list_tools()).tools
            answer = await client.call_tool("recall", {"query": "What happened last?"})
    except Exception as fault:
        raise Unavailable(f"the entry does not answer: {fault}", remedy=shlex.join(command)) from fault
    found = (answer.structured_content or {}).get("memories", [])
    if answer.is_error or not found:
        page.fold(f"MCP: {len(tools)} tools; nothing is remembered yet, so nothing was recalled.")
        return
    page.say(f"MCP: {len(tools)} tools; recall gives {len(found)} memories, marked as data")
    words = table.hook_of(read_json(home / host.hooks), "UserPromptSubmit") if host.hooks else []
    if not words:
        page.say("hooks: none are written")
        return
    prompt = found[0]["text"] or found[0]["name"]
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "check", "prompt": prompt, "cwd": str(home)}
    done = await asyncio.to_thread(
        subprocess.run,
        words,
        input=json.dumps(event),
        capture_output=True,
        text=True,
        timeout=_CHECK_S,
        check=False,
    )
    try:
        context = json.loads(done.stdout)["hookSpecificOutput"]
        kept = context["hookEventName"] == "UserPromptSubmit" and hook.NOTICE in context["additionalContext"]
    except (ValueError, KeyError, TypeError):
        kept = False
    if done.returncode or not kept:
        raise Conflict(
            "the hook gave no context for the words of a stored memory",
            remedy="Is the service up, and SUBSTRATE_API_KEY set where the host runs?",
        )
    page.say(f"hook: {len(context['additionalContext'])} characters reach the model, marked as data")
