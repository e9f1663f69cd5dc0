"""A file or a backup that cannot be taken in: the command line says what is wrong, and nothing changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest

from api.cli import program

COMMANDS = (
    {"command": "remember", "id": "door", "name": "Door", "description": "green", "valid_at": "2026-01-01"},
    {"command": "supersede", "id": "door", "description": "red", "effective_at": "2026-02-01"},
    {"command": "correct", "id": "door", "description": "crimson"},
)


class Said:
    """How a command ended, and what it said."""

    def __init__(self, captured: pytest.CaptureFixture[str]) -> None:
        self._captured = captured

    def __call__(self, data: Path, *words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as end:
            program.main(["--data", str(data), *words])
        assert isinstance(end.value.code, int)
        return end.value.code, " ".join("".join(self._captured.readouterr()).split())


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    return Said(capsys)


@pytest.fixture
def home(tmp_path: Path, said: Said) -> Path:
    """A data directory in which a citizen changed her mind twice."""
    (tmp_path / "door.jsonl").write_text("\n".join(map(json.dumps, COMMANDS)))
    code, words = said(tmp_path / "data", "ingest", str(tmp_path / "door.jsonl"), "-f", "commands", "-c", "ada")
    assert code == 0, words
    return tmp_path


def changed(lines: list[bytes], kind: str, **fields: Any) -> list[bytes]:
    """The lines with other properties of the first of a kind, and a checksum that fits."""
    place = next(n for n, line in enumerate(lines) if orjson.loads(line)["kind"] == kind)
    line = orjson.loads(lines[place])
    line["properties"] |= fields
    lines[place] = orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS)
    end = {**orjson.loads(lines[-1]), "sha256": sha256(b"".join(lines[:-1])).hexdigest()}
    return [*lines[:-1], orjson.dumps(end, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS)]


def circled(lines: list[bytes]) -> list[bytes]:
    """The first record begins to be believed after the one that replaced it."""
    latest = next(orjson.loads(line) for line in lines if orjson.loads(line)["kind"] == "memory")
    after = latest["properties"]["created_at"] + 1_000_000
    return changed(lines, "record", created_at=after, expired_at=after + 1)


DAMAGES: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "cut in the middle": (lambda lines: [*lines[:3], lines[3][:40]], "line 4: it is not JSON"),
    "cut between lines": (lambda lines: lines[:-1], "ends in the middle"),
    "edited": (lambda lines: [line.replace(b"crimson", b"scarlet") for line in lines], "checksum"),
    "from a newer version": (
        lambda lines: [lines[0].replace(b'"version":1', b'"version":2'), *lines[1:]],
        "version 2",
    ),
    "with a circle of corrections": (circled, "circle"),
}


def test_a_damaged_file_is_reported_and_leaves_the_store_unchanged(home: Path, said: Said) -> None:
    exported, damaged = home / "ada.jsonl", home / "damaged.jsonl"
    assert said(home / "data", "export", "-c", "ada", str(exported))[0] == 0
    lines = exported.read_bytes().splitlines(keepends=True)
    assert said(home / "data", "import", str(exported), "-c", "eve")[0] == 0
    before = said(home / "data", "export", "--all")
    for named, (damage, words) in DAMAGES.items():
        damaged.write_bytes(b"".join(damage(list(lines))))
        code, told = said(home / "data", "import", str(damaged), "-c", "zoe")
        assert (code, words in told) == (2, True), (named, told)
    assert said(home / "data", "export", "--all") == before


def test_a_backup_of_another_embedder_is_refused_with_a_remedy_and_nothing_is_restored(
    home: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said(home / "data", "backup", str(home / "backup"))[0] == 0
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "tests.integration.small_embedder:Small")
    code, told = said(home / "restored", "restore", str(home / "backup"))
    assert code != 0
    assert "SUBSTRATE_EMBEDDING" in told
    assert not (home / "restored").exists() or not list((home / "restored").iterdir())
    monkeypatch.delenv("SUBSTRATE_EMBEDDING")
    assert said(home / "restored", "restore", str(home / "backup"))[0] == 0
    assert said(home / "restored", "export", "-c", "ada") == said(home / "data", "export", "-c", "ada")
