"""A local cross-encoder through the doors: in the settings, in answers, when it fails, and before `doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.cli import program
from tests.acceptance.conftest import Service
from tests.tiny_cross_encoder import make

WORDS = "who saw the heron by lake in may"
SAID = {
    "often": "A heron, a heron, a heron",
    "once": "At dawn a heron came in",
    "most": "The heron by the lake saw who the heron saw",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("models") / "tiny", WORDS)


@pytest.fixture(scope="module")
def birds(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SUBSTRATE_RERANKER", f"onnx:{model}")
        service = Service(tmp_path_factory.mktemp("store"), "none")
    for key, text in SAID.items():
        service.remember("ada", id=key, node_type="Turn", name=key, description=text)
    yield service
    service.stop()


def ask(service: Service, text: str, **fields: Any) -> dict[str, Any]:
    answer = service.http.post("/v1/retrieve", json={"citizen_id": "ada", "query_text": text, **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def order(stream: dict[str, Any]) -> list[str]:
    return [memory["node_id"] for tier in stream["activation_tiers"].values() for memory in tier]


def test_the_best_are_in_the_order_of_its_scores(birds: Service) -> None:
    stream = ask(birds, "Who saw the heron?", rerank="custom")
    assert order(stream)[:2] == ["most", "often"]
    assert stream["degraded"] == []
    [call] = stream["model_calls"]
    assert (call["purpose"], call["model"], call.get("failure")) == ("rerank", "onnx:tiny", None)
    again = ask(birds, "Who saw the heron?", rerank="custom")
    assert order(again) == order(stream)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Who saw the heron, nonsense?", "a score that is no number"),
        ("Who saw the heron slowly?", "did not answer within 2 s"),
    ],
)
def test_when_it_fails_or_is_late_the_order_stays_and_the_stream_says_so(
    text: str, reason: str, birds: Service
) -> None:
    had, stream = ask(birds, text), ask(birds, text, rerank="custom")
    assert order(stream) == order(had)
    [gap] = stream["degraded"]
    assert gap["query"] == "rerank"
    assert reason in gap["reason"]
    assert "/" not in gap["reason"]


def test_what_is_no_cross_encoder_stops_the_start_and_the_doctor_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBSTRATE_RERANKER", f"onnx:{tmp_path / 'missing'}")
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    for words in (["doctor"], ["ask", "-c", "ada", "Who saw the heron?"]):
        with pytest.raises(SystemExit) as end:
            program.main(["--data", str(tmp_path / "data"), *words])
        captured = capsys.readouterr()
        said = " ".join((captured.out + captured.err).split())
        assert "tokenizer.json cannot be read" in said
        assert "onnx:DIRECTORY" in said
        assert end.value.code


def test_the_doctor_measures_a_reranker_on_as_many_texts_as_a_question_has(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBSTRATE_RERANKER", f"onnx:{model}")
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    with pytest.raises(SystemExit):
        program.main(["--data", str(tmp_path / "data"), "doctor"])
    assert "onnx:tiny, 30 long texts in" in " ".join(capsys.readouterr().out.split())
