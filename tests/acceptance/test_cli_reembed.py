"""`substrate reembed` as its users meet it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from api.cli import program
from api.cli import reembed as command
from orchestration.upkeep.reembedding import reembed_store

SMALL = "tests.integration.small_embedder:Small"


def run(capsys: pytest.CaptureFixture[str], data: Path, *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        program.main(["--data", str(data), *words])
    assert isinstance(end.value.code, int)
    return end.value.code, " ".join("".join(capsys.readouterr()).split())


def test_a_store_is_refused_with_the_remedy_and_the_remedy_is_true(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "reembed_store", partial(reembed_store, grace=0.0))
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    assert run(capsys, tmp_path, "remember", "The lighthouse choir", "-c", "ada")[0] == 0
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", SMALL)
    code, said = run(capsys, tmp_path, "ask", "choir", "-c", "ada")
    assert code != 0
    assert "Run `substrate reembed`" in said
    code, said = run(capsys, tmp_path, "reembed")
    assert (code, "1 graph, 1 record in" in said, "now small, 64 dimensions" in said) == (0, True, True), said
    code, said = run(capsys, tmp_path, "ask", "choir", "-c", "ada")
    assert (code, "lighthouse choir" in said) == (0, True), said
    assert "have these vectors already" in run(capsys, tmp_path, "reembed")[1]
