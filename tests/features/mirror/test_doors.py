"""A memory as files: over REST, by the Python client and on the command line; and what a person edits in them."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from api.client import Substrate
from schemas.errors import NotFound
from tests.acceptance.conftest import Service, problem_in
from tests.acceptance.test_cli import Command

HAND: Any = {"encoding": "utf-8"}


@pytest.fixture(name="substrate")
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command, in this process, on a store of its own, without a model."""
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    return Command(tmp_path / "data", capsys)


def remember(substrate: Command, citizen: str, memory_id: str, text: str, *words: str) -> None:
    said = substrate("remember", "-c", citizen, "--id", memory_id, text, *words)
    assert said.code == 0, said.err


def page(directory: Path, words: str) -> Path:
    [found] = [file for file in directory.rglob("@*/*/*.md") if words in file.read_text(**HAND)]
    return found


def test_a_tar_of_files_streams_over_http_to_those_who_may_read(
    wordless: Service, citizen: str, tmp_path: Path
) -> None:
    memories = [{"citizen_id": citizen, "name": f"n {place}", "description": "a cove"} for place in range(101)]
    assert wordless.http.post("/v1/memories", json=memories).status_code == 200
    path = f"/v1/citizens/{citizen}/mirror"
    with wordless.client(wordless.key(f"citizen:{citizen}:read")) as reader:
        answer = reader.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-tar")
    assert f'filename="{citizen}.tar"' in answer.headers["content-disposition"]
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        names = archive.getnames()
    assert sum("@general/#untagged/citizen_" in name for name in names) == 2
    assert f"{citizen}/README.md" in names
    with wordless.client(wordless.key("citizen:somebody:read")) as other:
        problem_in(other.get(path), 404)
    with wordless.client(None) as nobody:
        problem_in(nobody.get(path), 401)
    with Substrate(wordless.url, wordless.key("admin")) as client:
        assert client.save_mirror(citizen, tmp_path / "ada.tar") == len(answer.content)
        with pytest.raises(FileExistsError):
            client.save_mirror(citizen, tmp_path / "ada.tar")
        with pytest.raises(NotFound):
            client.save_mirror("nobody-here", tmp_path / "none.tar")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ada.tar"]


def test_what_a_person_edits_in_an_editor_is_shown_applied_and_answered(
    substrate: Command, tmp_path: Path
) -> None:
    remember(substrate, "ada", "boat", "The boat lies in the cove.", "--tag", "sea")
    remember(substrate, "ada", "gull", "The gull is tame.", "--tag", "birds")
    remember(substrate, "bo", "hut", "The hut is cold.")
    target = tmp_path / "mirror"
    assert "ada: 2 memories in 3 files" in substrate("mirror", str(target)).out
    assert sorted(folder.name for folder in target.iterdir() if folder.name[0] != ".") == ["ada", "bo"]
    boat, gull = page(target, "[boat]"), page(target, "[gull]")
    boat.write_text(
        boat.read_text(**HAND).replace("in the cove", "on the slip").replace("[sea]", "[land]"), **HAND
    )
    gull.unlink()
    assert "somebody edited" in substrate("mirror", str(target)).err
    shown = substrate("mirror", "--apply", str(target))
    assert shown.code == 0
    assert "+ name: The boat lies on the slip." in shown.out
    assert '+ tags: ["land"]' in shown.out
    assert "retract gull" in shown.out
    assert "in the cove" in substrate("ask", "-c", "ada", "Where does the boat lie?").out
    applied = substrate("mirror", "--apply", "--yes", str(target))
    assert (applied.code, "ada: 2 applied" in applied.out) == (0, True)
    answer = substrate("ask", "-c", "ada", "Where does the boat lie?").out
    assert ("on the slip" in answer, "in the cove" in answer) == (True, False)
    assert "The gull" not in substrate("ask", "-c", "ada", "Is the gull tame?").out
    assert "#land" in str(page(target, "[boat]"))
    assert substrate("mirror", "--apply", str(target)).out.split("\n")[0] == "ada: 0 edits, 0 refused"


def test_a_stale_file_is_a_conflict_and_names_what_is_in_the_way(substrate: Command, tmp_path: Path) -> None:
    remember(substrate, "ada", "boat", "The boat lies in the cove.")
    target = tmp_path / "mirror"
    substrate("mirror", str(target), "-c", "ada")
    boat = page(target, "[boat]")
    boat.write_text(boat.read_text(**HAND).replace("cove", "bay"), **HAND)
    assert substrate("correct", "boat", "-c", "ada", "--text", "The boat lies on the slip.").code == 0
    said = substrate("mirror", "--apply", "--yes", str(target))
    assert said.code == 5
    assert "boat has version 2 now, and the file was written of 1" in said.out
    assert "on the slip" in substrate("ask", "-c", "ada", "Where does the boat lie?").out
    assert "bay" in boat.read_text(**HAND)
    assert substrate("mirror", "--discard", str(target)).code == 0
    assert "on the slip" in page(target, "[boat]").read_text(**HAND)


def test_the_setting_keeps_a_mirror_after_a_command_and_erases_from_it(
    substrate: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBSTRATE_MIRROR", str(tmp_path / "kept"))
    remember(substrate, "ada", "boat", "The boat lies in the cove.")
    assert "in the cove" in page(tmp_path / "kept", "[boat]").read_text(**HAND)
    assert substrate("erase", "-c", "ada", "--memory", "boat", "--yes").code == 0
    assert [
        file for file in (tmp_path / "kept").rglob("*") if file.is_file() and b"cove" in file.read_bytes()
    ] == []


def test_a_directory_that_is_not_ours_is_refused_in_one_line(substrate: Command, tmp_path: Path) -> None:
    remember(substrate, "ada", "boat", "The boat lies in the cove.")
    (tmp_path / "letter").write_text("dear")
    said = substrate("mirror", str(tmp_path))
    assert (said.code, said.err.count("\n"), "it is no mirror" in said.err) == (2, 1, True)
    assert (tmp_path / "letter").read_text() == "dear"


def test_the_command_line_feeds_shared_graphs_mirrors_them_and_takes_edits_back(
    substrate: Command, tmp_path: Path
) -> None:
    shared = ("-c", "ada", "--collective", "atlas")
    note, chat, target = tmp_path / "pump.md", tmp_path / "chat.jsonl", tmp_path / "mirror"
    note.write_text("# Pump\n\nThe pump needs two people.\n", **HAND)
    chat.write_text('{"role": "user", "content": "Hello."}\n', **HAND)
    for words in (
        ("ingest", str(note), *shared),
        ("ingest", str(chat), "--level", "N3"),
        ("hear", "launch", "Kai", "The pump is in.", *shared),
        ("remember", "The valve is old.", "--level", "N2", "-c", "ada"),
    ):
        assert substrate(*words).code == 0, words
    assert "stored 0" in substrate("ingest", str(note), *shared).out
    assert substrate("mirror", str(target)).code == 0
    assert {path.name for path in target.iterdir() if path.is_dir()} == {"_n2", "_n2.atlas", "_n3"}
    assert "author: ada" in page(target / "_n2", "The valve is old.").read_text(**HAND)
    turn = page(target / "_n2.atlas", "The pump is in.").read_text(**HAND)
    assert ("speaker: Kai" in turn, "author: ada" in turn, 'graph: "N2:atlas"' in turn) == (True, True, True)
    edited = page(target / "_n2.atlas", "needs two people")
    edited.write_text(edited.read_text(**HAND).replace("two people", "three people"), **HAND)
    applied = substrate("mirror", "--apply", str(target), "--yes", "--collective", "atlas")
    assert (applied.code, "collective atlas: 1 applied" in applied.out) == (0, True), applied.err
    assert "three people" in page(target / "_n2.atlas", "three people").read_text(**HAND)
    erased = substrate("erase", "--episode", "launch", "--collective", "atlas", "--yes")
    assert erased.code == 0, erased.err
    assert substrate("mirror", str(target)).code == 0
    assert not list((target / "_n2.atlas").rglob("launch*"))
    wrong = substrate("ingest", str(note), "--level", "N3", "--collective", "atlas")
    assert (wrong.code, "--collective is on --level N2" in wrong.err) == (2, True), wrong.err
