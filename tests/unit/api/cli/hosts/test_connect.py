"""`substrate connect` against the files of hosts: written, written again, taken out, refused."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from api.cli.hosts import table
from tests.acceptance.test_cli import Command, Said

URL = "http://127.0.0.1:8000"
FORMER = '{\n    "theme": "dark",  "mcpServers": {"other": {"command": "x"}}, "servers": {}}'
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
        home.write(host, 'model = "o3"  # mine\n[tui]\nx = 1' if host == "codex" else FORMER)
    before = home.files()
    shown = home.connect(host, "--dry-run")
    assert shown.code == 0
    assert "substrate" in shown.out
    assert home.files() == before
    assert home.connect(host).code == 0
    once = home.files()
    written = once[FILES[host]].decode()
    document = tomllib.loads(written) if host == "codex" else json.loads(written)
    words = table.words_of(document[table.HOSTS[host].under]["substrate"])
    assert Path(words[0]).is_absolute()
    assert words[-4:] == ["--url", URL, "--citizen", "ada"]
    assert "unchanged" in home.connect(host).out
    assert home.files() == once
    assert home.connect(host, "--remove").code == 0
    if host == "codex" and there:
        assert home.files()[FILES[host]].decode().rstrip("\n") == before[FILES[host]].decode()
    else:
        assert home.files() == before


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


def test_without_a_service_the_data_directory_is_named_and_there_are_no_hooks(home: Home) -> None:
    said = home.command("connect", "claude-code", "-c", "ada")
    assert "No hooks" in said.out
    entry = json.loads((home.path / ".claude.json").read_text())["mcpServers"]["substrate"]
    assert entry["args"][-5:] == ["--data", str(home.command.data), "mcp", "--citizen", "ada"]
    assert not (home.path / ".claude/settings.json").exists()
    assert home.command("connect", "claude-code").code == 2
    assert home.command("connect", "emacs").code == 2
    assert home.connect("cursor", "--name", "a.b").code == 2
    assert home.connect("cursor", "--check").code == 4
