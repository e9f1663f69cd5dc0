"""Export, import and backup from the command line and over HTTP."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from api.cli import program
from tests.acceptance.conftest import Service
from tests.unit.orchestration.ingestion.formats.test_foreign import FILES

TALK = '[{"role": "mira", "content": "I sang in the choir."}, {"role": "jon", "content": "Loudly?"}]'


class Substrate:
    """The command on data directories of its own."""

    def __init__(self, home: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.home, self.captured = home, captured

    def __call__(self, data: str, *words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as end:
            program.main(["--data", str(self.home / data), *words])
        said = self.captured.readouterr()
        assert end.value.code == code, said.err
        return said.err if code else said.out


@pytest.fixture
def substrate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Substrate:
    (tmp_path / "talk.json").write_text(TALK)
    return Substrate(tmp_path, capsys)


def test_a_citizen_moves_to_another_data_directory(substrate: Substrate) -> None:
    home = substrate.home
    substrate("one", "ingest", str(home / "talk.json"), "-f", "messages", "-c", "mira")
    substrate("one", "remember", "A thing of all", "--level", "N2", "--citizen", "mira")
    substrate("one", "export", "--citizen", "mira", str(home / "mira.jsonl"))
    substrate("one", "export", "--all", str(home / "all.jsonl"))
    assert "exists already" in substrate("one", "export", "-c", "mira", str(home / "mira.jsonl"), code=2)
    assert "Did you mean mira?" in substrate("one", "export", "-c", "mirra", code=4)

    assert "citizen_mira: " in substrate("two", "import", str(home / "mira.jsonl"))
    assert "erase this one first" in substrate("two", "import", str(home / "mira.jsonl"), code=5)
    assert "citizen_eve: " in substrate("two", "import", str(home / "mira.jsonl"), "-c", "eve")
    assert substrate("two", "export", "-c", "mira").encode() == (home / "mira.jsonl").read_bytes()
    assert "collective_n2" in substrate("three", "import", str(home / "all.jsonl"))
    assert substrate("three", "export", "--all").encode() == (home / "all.jsonl").read_bytes()


@pytest.mark.parametrize("form", FILES)
def test_another_memory_comes_in_once_however_often_it_is_given(substrate: Substrate, form: str) -> None:
    (substrate.home / "other").write_text(FILES[form])
    words = ("import", "--from", form, "-c", "ada", str(substrate.home / "other"))
    first = substrate("five", *words)
    assert "there already 0, refused 0" in first
    exported = substrate("five", "export", "-c", "ada")
    assert "stored 0" in substrate("five", *words)
    assert substrate("five", "export", "-c", "ada") == exported


def test_a_file_that_cannot_be_imported_is_refused_with_the_number_of_its_line(substrate: Substrate) -> None:
    (substrate.home / "cut.jsonl").write_bytes(b'{"embeddings":false,"kind":"substrate-export","version":1}\n{"ki')
    assert "line 2: it is not JSON" in substrate("four", "import", str(substrate.home / "cut.jsonl"), code=2)
    assert "cannot be read" in substrate("four", "import", str(substrate.home / "none.jsonl"), code=2)


def test_an_export_streams_over_http(service: Service, citizen: str) -> None:
    service.remember(citizen, id="m1", name="A harbour")
    service.remember(citizen, id="m2", name="A tram")
    service.relate(citizen, ("m1", "NEXT", "m2"))
    answer = service.http.get(f"/v1/citizens/{citizen}/export", params={"embeddings": "true"})
    lines = [orjson.loads(line) for line in answer.content.splitlines()]
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    kinds = ["substrate-export", "graph", "node", "node", "node", "memory", "memory", "link", "end"]
    assert [line["kind"] for line in lines] == kinds
    assert {line["label"] for line in lines if line["kind"] == "node"} == {"Receipt"}
    assert len(lines[5]["trace"]["vectors"]["embedding"]) == lines[1]["dimension"]
    with service.unchanged():
        assert service.http.get("/v1/citizens/nobody-here/export").status_code == 404


def test_a_backup_is_taken_from_a_running_service_and_restored_elsewhere(
    service: Service, citizen: str, substrate: Substrate
) -> None:
    home = substrate.home
    service.remember(citizen, id="m1", name="A harbour")
    said = substrate(str(service.data), "backup", str(home / "backup"))
    assert " memories, " in said
    assert "not empty" in substrate(str(service.data), "backup", str(home / "backup"), code=5)
    assert "not empty" in substrate(str(service.data), "restore", str(home / "backup"), code=5)
    assert "there is no backup" in substrate("five", "restore", str(home), code=2)
    assert not (home / "five").exists()

    substrate("five", "restore", str(home / "backup"))

    assert substrate("five", "export", "-c", citizen) == substrate(str(service.data), "export", "-c", citizen)
    assert "A harbour" in substrate("five", "history", "m1", "-c", citizen)
    assert service.remember(citizen, id="m2", name="A tram")["status"] == "stored"


def test_a_server_is_backed_up_with_its_own_tools(
    substrate: Substrate, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FALKORDB_URL", "redis://127.0.0.1:1")
    with pytest.raises(SystemExit) as end:
        program.main(["backup", str(substrate.home / "backup")])
    assert end.value.code == 2
    assert "redis-cli --rdb" in capsys.readouterr().err
