"""The command line where somebody laid traps: files in its way, names that are markup, a wrong clock."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api.cli import program

ROOT = Path(__file__).parents[2]
AHEAD_S = 10 * 86_400
WRONG_CLOCK = f"""
import time
told, told_ns = time.time, time.time_ns
time.time = lambda: told() + {AHEAD_S}
time.time_ns = lambda: told_ns() + {AHEAD_S} * 10**9
import datetime as days
class Ahead(days.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + days.timedelta(seconds={AHEAD_S})
days.datetime = Ahead
import sys
from api.cli.program import (main)
main(sys.argv[1:])
"""


@pytest.fixture(autouse=True)
def _wordless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here is about likeness."""
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def run(data: Path, *words: str, code: int = 0, own: str | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, which must end with this code."""
    start = ["-m", "api.cli"] if own is None else ["-c", own]
    done = subprocess.run(
        [sys.executable, *start, "--data", str(data), *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def remember(data: Path, name: str, *words: str, own: str | None = None) -> dict[str, Any]:
    done = run(data, "remember", name, "--citizen", "ada", *words, "--json", own=own)
    return dict(json.loads(done.stdout))


def test_a_backup_leaves_other_files_of_its_folder_unchanged(data: Path, tmp_path: Path) -> None:
    remember(data, "Tea")
    beside = tmp_path / "copy.part"
    beside.mkdir()
    (beside / "mine.txt").write_text("mine")
    run(data, "backup", str(tmp_path / "copy"))
    assert (beside / "mine.txt").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"data", "copy", "copy.part"}
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o700


def test_a_backup_that_cannot_be_written_leaves_nothing_and_what_was_there(data: Path, tmp_path: Path) -> None:
    remember(data, "Tea")
    (tmp_path / "file").write_text("mine")
    run(data, "backup", str(tmp_path / "file" / "copy"), code=2)
    assert {path.name for path in tmp_path.iterdir()} == {"data", "file"}


@pytest.mark.parametrize("name", ["out.jsonl.part", "out.jsonl"])
def test_an_export_writes_through_no_link_that_lies_in_its_way(data: Path, tmp_path: Path, name: str) -> None:
    remember(data, "Tea")
    precious = tmp_path / "precious"
    if name.endswith(".part"):
        precious.write_text("mine")
    (tmp_path / name).symlink_to(precious)
    done = run(data, "export", str(tmp_path / "out.jsonl"), "--citizen", "ada", code=0 if precious.exists() else 2)
    assert not precious.exists() or precious.read_text() == "mine"
    assert (tmp_path / name).is_symlink(), done.stderr
    if name.endswith(".part"):
        assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o600
        assert "Tea" in (tmp_path / "out.jsonl").read_text()


MARKUP = "[red]x[/nope] :smile: [/]"


def test_a_name_that_is_markup_is_shown_as_it_is_and_its_key_too(data: Path) -> None:
    made = run(data, "keys", "create", MARKUP, "--scope", "admin")
    assert made.stdout.startswith("sk-")
    assert MARKUP in made.stderr
    assert MARKUP in run(data, "keys", "list").stdout
    assert MARKUP in run(data, "keys", "revoke", made.stdout.split("-")[1]).stdout


@pytest.mark.parametrize(
    "words",
    [("ask", "x"), ("associate", "x"), ("history", "m"), ("wake",), ("identity",), ("resonate", "x")],
    ids=lambda words: words[0],
)
def test_a_stored_text_is_printed_unchanged(data: Path, words: tuple[str, ...]) -> None:
    remember(data, MARKUP, "--id", "m", "--description", MARKUP)
    done = run(data, *words, "--citizen", "ada")
    assert "smile" in done.stdout or words[0] not in ("ask", "associate", "history")
    assert "😄" not in done.stdout


def test_a_write_with_a_clock_ten_days_ahead_moves_no_later_time(data: Path) -> None:
    began = datetime.now(UTC) - timedelta(seconds=1)
    wrong = remember(data, "Told by a wrong clock", own=WRONG_CLOCK)
    right = remember(data, "Told by a right clock")
    moments = [datetime.fromisoformat(one[name]) for one in (wrong, right) for name in ("created_at", "valid_at")]
    assert all(began < moment < datetime.now(UTC) + timedelta(seconds=1) for moment in moments), moments


def test_a_data_directory_open_to_other_users_is_closed_with_a_warning(data: Path) -> None:
    data.mkdir()
    data.chmod(0o777)
    said = run(data, "keys", "list").stderr
    assert data.stat().st_mode & 0o777 == 0o700
    assert f"{data} was open to other users" in said
    assert "was open" not in run(data, "keys", "list").stderr
    data.chmod(0o755)
    assert "was open" in run(data, "keys", "list").stderr
    assert data.stat().st_mode & 0o777 == 0o700


def test_a_directory_of_other_things_that_others_may_write_to_is_refused_as_it_is(data: Path) -> None:
    data.mkdir()
    (data / "letter.txt").write_text("mine")
    data.chmod(0o777)
    said = run(data, "keys", "list", code=1).stderr
    assert "others may write" in said
    assert data.stat().st_mode & 0o777 == 0o777
    assert [path.name for path in data.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FALKORDB_URL", "redis://localhost:port"),
        ("FALKORDB_URL", "redis://localhost:70000"),
        ("SUBSTRATE_URL", "redis://[::1"),
        ("SUBSTRATE_URL", "http://localhost:6379"),
        ("FALKORDB_URI", "localhost:6379"),
        ("SUBSTRATE_RATE_LIMIT_URL", "redis://localhost:port"),
        ("SUBSTRATE_RATE_LIMIT_URL", "nonsense"),
        ("SUBSTRATE_JWKS_URL", "https://localhost:port/keys"),
        ("SUBSTRATE_JWKS_URL", "https://"),
        ("SUBSTRATE_OTLP_ENDPOINT", "http://localhost:port"),
    ],
)
def test_an_address_that_is_none_is_a_fault_of_the_setting_and_no_defect(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("SUBSTRATE_JWT_ISSUER", "https://issuer.example")
    monkeypatch.setenv("SUBSTRATE_JWT_AUDIENCE", "substrate")
    with pytest.raises(SystemExit) as end:
        program.main(["--data", str(data), "doctor"])
    said = capsys.readouterr().err
    assert (end.value.code, "defect" in said, value in said) == (2, False, False), said
    assert said.startswith("error: SUBSTRATE_")
    assert f"{name}" in said
    assert "it is not an address" in said
