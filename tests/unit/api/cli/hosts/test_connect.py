"""`substrate connect` against the files of hosts: written, written again, taken out, refused."""

from __future__ import annotations

import errno
import json
import os
import tomllib
from functools import partial
from pathlib import Path

import pytest
import yaml

from api.cli.hosts import host_files, table
from schemas.errors import Conflict
from tests.acceptance.test_cli import Command, Said

URL = "http://127.0.0.1:8000"
FORMER = '{\n    "theme": "dark",  "mcpServers": {"other": {"command": "x"}}, "servers": {}}'
FORMER_OF = {
    "codex": 'model = "o3"  # mine\n[tui]\nx = 1',
    "hermes": "# mine\nmodel: {default: x}\nmemory:  # of Hermes\n  limit: 3\n  provider: ''\nlast: 1\n",
    "openclaw": '{"plugins": {"allow": ["a"], "slots": {"memory": "memory-core"}}, "theme": "dark"}',
}
FILES = {name: (".config/" if host.base == "config" else "") + host.file for name, host in table.HOSTS.items()}


class Home:
    """A home directory, and the command in it."""

    def __init__(self, path: Path, command: Command) -> None:
        self.path, self.command = path, command

    def connect(self, host: str, *words: str) -> Said:
        return self.command("connect", host, "-c", "ada", "--url", URL, *words)

    def write(self, host: str, text: str) -> Path:
        file = self.path / FILES[host]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    def files(self) -> dict[str, bytes]:
        return {
            str(file.relative_to(self.path)): file.read_bytes() for file in self.path.rglob("*") if file.is_file()
        }


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Home:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home", Command(tmp_path / "data", capsys))


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("host", table.HOSTS)
def test_what_is_written_twice_and_removed_leaves_no_difference(home: Home, host: str, there: bool) -> None:
    if there:
        home.write(host, FORMER_OF.get(host, FORMER))
        for beside in filter(None, (table.HOSTS[host].hooks,)):
            (home.path / beside.file).parent.mkdir(parents=True, exist_ok=True)
            theirs = {"hooks": {beside.events[0]: [{"command": "lint"}]}, "mcpServers": {}}
            (home.path / beside.file).write_text(json.dumps(theirs, indent=3), "utf-8")
    before = home.files()
    shown = home.connect(host, "--dry-run")
    assert shown.code == 0
    assert "substrate" in shown.out
    assert home.files() == before
    assert home.connect(host).code == 0
    once = home.files()
    assert_called(table.HOSTS[host], once)
    assert "unchanged" in home.connect(host).out
    assert home.files() == once
    assert (
        home.connect(host, "--url", "http://127.0.0.1:9").code == 0
    )  # what we wrote is not what was there before
    assert home.connect(host, "--remove").code == 0
    if host == "codex" and there:
        assert home.files()[FILES[host]].decode().rstrip("\n") == before[FILES[host]].decode()
    else:
        assert home.files() == before


def assert_called(host: table.Host, files: dict[str, bytes]) -> None:
    """What is written calls the tools, and the hook at each event, with absolute commands."""
    called = [table.hook_in(text.decode()) for path, text in files.items() if path in host.plugin]
    hooks = host.hooks
    if hooks is not None:
        document = json.loads(files[hooks.file])
        called += [table.hook_of(document, event) for event in hooks.events]
        assert document.get("version") == hooks.version
    for words in filter(None, called):
        assert Path(words[0]).is_absolute()
        assert Path(words[3]).is_file()
        assert words[4:] == [URL, "ada", "800"]
    assert any(called) == bool(hooks or host.plugin)
    file = next(text for path, text in files.items() if path.endswith(host.file)).decode()
    reads = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
    document = reads[host.form](file)
    for slot, value in host.slots.items():
        assert table.at(document, slot) == value
    if host.form != "yaml":
        words = table.words_of(table.at(document, f"{host.under}.substrate"))
        assert Path(words[0]).is_absolute()
        assert words[-4:] == ["--url", URL, "--citizen", "ada"]


def test_what_others_wrote_since_stays_and_so_does_what_was_added_to_the_entry(home: Home) -> None:
    file = home.write("cursor", FORMER)
    home.connect("cursor")
    document = json.loads(file.read_text())
    document["mcpServers"]["substrate"]["env"] = {"SUBSTRATE_API_KEY": "k"}
    file.write_text(json.dumps({**document, "later": "ü"}), "utf-8")
    home.connect("cursor")
    assert json.loads(file.read_text())["mcpServers"]["substrate"]["env"] == {"SUBSTRATE_API_KEY": "k"}
    home.connect("cursor", "--remove")
    assert json.loads(file.read_text()) == {**json.loads(FORMER), "later": "ü"}


def test_what_a_user_wrote_within_the_block_of_codex_stays_or_is_refused(home: Home) -> None:
    home.connect("codex")
    file = home.path / FILES["codex"]
    end = "# end of substrate connect"
    file.write_text(file.read_text().replace(end, f'env = {{SUBSTRATE_API_KEY = "k"}}\n{end}'), "utf-8")
    once = file.read_text()
    assert home.connect("codex").code == 0
    assert file.read_text() == once
    assert home.connect("codex", "--url", "http://127.0.0.1:9").code == 0
    entry = tomllib.loads(file.read_text())["mcp_servers"]["substrate"]
    assert entry["env"] == {"SUBSTRATE_API_KEY": "k"}
    assert "http://127.0.0.1:9" in entry["args"]
    theirs = file.read_text().replace(end, f'[mcp_servers.other]\ncommand = "x"\n{end}')
    file.write_text(theirs, "utf-8")
    assert "within our block" in home.connect("codex", "--remove").err
    assert file.read_text() == theirs
    file.write_text(theirs.replace('[mcp_servers.other]\ncommand = "x"\n', ""), "utf-8")
    assert home.connect("codex", "--remove").code == 0
    assert not file.exists()


def test_half_a_character_in_a_file_stays_as_it_was(home: Home) -> None:
    text = '{"history": ["cut \\ud83d"]}'
    file = home.write("claude-code", text)
    assert home.connect("claude-code").code == 0
    assert json.loads(file.read_text())["history"] == json.loads(text)["history"]
    assert home.connect("claude-code", "--remove").code == 0
    assert file.read_text() == text


def test_a_file_that_another_changed_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}", "utf-8")
    first, second = (host_files.plan_json(file, partial(table.put, path=name, value=1)) for name in "ab")
    host_files.apply(first)
    with pytest.raises(Conflict, match="changed meanwhile"):
        host_files.apply(second)
    assert json.loads(file.read_text()) == {"a": 1}


def test_a_hook_of_another_with_the_name_of_ours_stays(home: Home) -> None:
    settings = home.path / ".claude/settings.json"
    settings.parent.mkdir()
    theirs = {"hooks": [{"type": "command", "command": "python3 /home/me/hosts/hook.py"}]}
    settings.write_text(json.dumps({"hooks": {"Stop": [theirs]}}), "utf-8")
    home.connect("claude-code")
    home.connect("claude-code", "--remove")
    assert json.loads(settings.read_text()) == {"hooks": {"Stop": [theirs]}}


def test_hooks_of_others_keep_their_places(home: Home) -> None:
    settings = home.path / ".claude/settings.json"
    settings.parent.mkdir()
    theirs = {"hooks": [{"type": "command", "command": "lint"}]}
    settings.write_text(json.dumps({"hooks": {"Stop": [theirs]}, "env": {}}), "utf-8")
    home.connect("claude-code")
    hooks = json.loads(settings.read_text())["hooks"]
    assert hooks["Stop"][0] == theirs
    assert set(hooks) == set(table.EVENTS)
    settings.write_text(json.dumps({"hooks": {**hooks, "Stop": [*hooks["Stop"], theirs]}, "env": {}}), "utf-8")
    home.connect("claude-code")
    assert [group == theirs for group in json.loads(settings.read_text())["hooks"]["Stop"]] == [True, False, True]
    home.connect("claude-code", "--remove")
    assert json.loads(settings.read_text()) == {"hooks": {"Stop": [theirs, theirs]}, "env": {}}


@pytest.mark.parametrize(
    ("host", "text", "reason"),
    [
        ("cursor", '{"a": 1', "is no JSON"),
        ("gemini-cli", '{\n  // mine\n  "a": "http://x"\n}', "has comments"),
        ("gemini-cli", '{"a": [1,],}', "a comma before a bracket"),
        ("cursor", '{"a": 1, "a": 2}', "a name twice"),
        ("cursor", "[]", "no object"),
        ("cursor", '{"mcpServers": []}', "is not an object"),
        ("cursor", '{"mcpServers": {"substrate": {"command": "npx", "args": ["y"]}}}', "not ours"),
        ("opencode", '{"mcp": {"substrate": {"type": "remote", "url": "https://x"}}}', "not ours"),
        ("codex", "a = ", "no TOML"),
        ("codex", '[mcp_servers.substrate]\ncommand = "npx"\n', "not ours"),
        ("codex", "mcp_servers = {}\n", "no TOML that takes it"),
        ("codex", "mcp_servers = 3\n", "is no table"),
        ("cursor", '{"a": 1e999}', "Out of range"),
        ("hermes", "memory: {provider: mem0}\n", "is 'mem0'"),
        ("hermes", "memory: {}\n", "no one line"),
        ("hermes", "memory:\n\t- x", "no YAML"),
        ("hermes", "- x", "no mapping"),
        ("openclaw", '{"plugins": {"slots": {"memory": "memory-lancedb"}}}', "is 'memory-lancedb'"),
        ("openclaw", "{plugins: {}}", "no JSON"),
        ("openclaw", '{"mcp": []}', "not an object"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_refused_and_stays(
    home: Home, host: str, text: str, reason: str
) -> None:
    home.write(host, text)
    before = home.files()
    said = home.connect(host)
    assert said.code == 5
    assert reason in said.err
    assert home.files() == before


def test_a_refused_second_file_leaves_the_first_untouched(home: Home) -> None:
    (home.path / ".claude").mkdir()
    (home.path / ".claude/settings.json").write_text("{", "utf-8")
    before = home.files()
    assert home.connect("claude-code").code == 5
    assert home.files() == before


def test_a_link_is_written_through_and_a_read_only_file_is_refused(home: Home) -> None:
    real = home.path / "dotfiles.json"
    real.write_text("{}", "utf-8")
    real.chmod(0o640)
    link = home.path / FILES["cursor"]
    link.parent.mkdir()
    link.symlink_to(real)
    assert home.connect("cursor").code == 0
    assert link.is_symlink()
    assert "substrate" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    real.chmod(0o440)
    before = home.files()
    said = home.connect("cursor", "--remove")
    assert said.code == 5
    assert "read-only" in said.err
    assert home.files() == before


def test_without_a_service_the_data_directory_is_named_and_the_hook_starts_one(home: Home) -> None:
    assert home.command("connect", "claude-code", "-c", "ada", "--also", "team").code == 0
    entry = json.loads((home.path / ".claude.json").read_text())["mcpServers"]["substrate"]
    assert entry["args"][-5:] == ["--data", str(home.command.data), "mcp", "--citizen", "ada"]
    words = table.hook_of(json.loads((home.path / ".claude/settings.json").read_text()), "Stop")
    assert words[4:7] == [str(home.command.data), "ada,team", "800"]
    assert Path(words[7]).is_absolute()
    assert home.command("connect", "claude-code").code == 2
    assert home.command("connect", "emacs").code == 2
    assert home.connect("cursor", "--name", "a.b").code == 2
    assert home.connect("cursor", "--check").code == 4


def test_a_plugin_of_another_is_not_replaced_and_one_of_an_older_version_is(home: Home) -> None:
    plugin = home.path / ".config/opencode/plugins/substrate.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("// of somebody\n", "utf-8")
    before = home.files()
    assert "not ours" in home.connect("opencode").err
    assert home.files() == before
    plugin.write_text("// substrate, older\n", "utf-8")
    assert home.connect("opencode").code == 0
    assert "older" not in plugin.read_text()
    assert home.connect("opencode", "--remove").code == 0
    assert home.files() == {}


def test_a_memory_that_was_chosen_since_keeps_its_slot(home: Home) -> None:
    for host, text, other in (
        ("hermes", "memory:\n  provider: mem0\n", "mem0"),
        ("openclaw", '{"plugins": {"slots": {"memory": "memory-lancedb"}}}', "memory-lancedb"),
    ):
        home.connect(host)
        home.write(host, text)
        assert home.connect(host, "--remove").code == 0
        assert other in home.files()[FILES[host]].decode()


def test_a_full_disk_leaves_every_file_as_it_was(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write("cursor", FORMER)
    before = home.files()

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    said = home.connect("cursor")
    assert said.code == 5
    assert "No space left" in said.err
    assert home.files() == before
