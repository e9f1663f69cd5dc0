"""Settings as the command line meets them: what is wrong is said by the name in the environment; `--data` wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.cli import program


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SUBSTRATE_PORT", "70000", "SUBSTRATE_PORT: Input should be less than or equal to 65535"),
        ("FALKORDB_PORT", "x", "FALKORDB_PORT: Input should be a valid integer"),
        ("SUBSTRATE_LLM_QUESTION_SECONDS", "9", "SUBSTRATE_LLM_QUESTION_SECONDS: Input should be less than"),
        ("SUBSTRATE_LLM_INPUT_PRICE", "1", "SUBSTRATE_LLM_INPUT_PRICE and SUBSTRATE_LLM_OUTPUT_PRICE belong"),
        ("SUBSTRATE_JWKS_URL", "https://a.org", "SUBSTRATE_JWKS_URL needs SUBSTRATE_JWT_ISSUER"),
        ("SUBSTRATE_CORS_ORIGINS", "https://a.org", "Lists are written as JSON"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", "SUBSTRATE_OTLP_ENDPOINT: it is not an address"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as end:
        program.main(["doctor"])
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert words in " ".join(said.split())


def test_a_directory_that_is_named_is_used_whatever_server_is_configured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("FALKORDB_HOST", "127.0.0.1")
    monkeypatch.setenv("FALKORDB_PORT", "1")
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    with pytest.raises(SystemExit) as end:
        program.main(["--data", str(tmp_path), "doctor"])
    assert end.value.code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("remember", "x", "-c", "ada"),
        ("ask", "x", "-c", "ada"),
        ("keys", "create", "agent", "--scope", "citizen:ada:*"),
        ("hear", "chat", "Ada", "Hello.", "-c", "ada"),
        ("ingest", __file__, "-c", "ada", "-f", "text"),
        ("erase", "-c", "ada", "--yes"),
        ("restore", __file__),
        ("doctor",),
    ],
)
def test_a_command_that_opens_a_store_is_refused_where_a_service_is_named(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("SUBSTRATE_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SUBSTRATE_DATA", str(tmp_path / "data"))
    with pytest.raises(SystemExit) as end:
        program.main(list(words))
    said = " ".join(capsys.readouterr().err.split())
    assert end.value.code == 2
    assert f"http://127.0.0.1:9, and `substrate {words[0]}" in said
    assert "--data DIR" in said
    assert "unset SUBSTRATE_BASE_URL" in said
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("words", [("mcp",), ("citizens",)])
def test_an_address_that_is_none_is_named(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBSTRATE_BASE_URL", "foo")
    with pytest.raises(SystemExit) as end:
        program.main(list(words))
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("error: SUBSTRATE_BASE_URL: ")


def test_a_directory_that_is_named_is_used_although_a_service_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("SUBSTRATE_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    with pytest.raises(SystemExit) as end:
        program.main(["--data", str(tmp_path / "data"), "remember", "x", "-c", "ada"])
    assert end.value.code == 0, capsys.readouterr().err
