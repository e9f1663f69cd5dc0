from __future__ import annotations

import gc
import math
import os
from collections.abc import AsyncIterator, Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from schemas.errors import Fault
from schemas.settings import EmbeddingSettings
from substrate.inference.embeddings import Embedder, open_embedder
from substrate.inference.embeddings.local import LocalMiniLM
from substrate.inference.minilm import model_file
from substrate.inference.minilm import model_file as official
from substrate.inference.minilm.graph import WeightsFile, open_weights, quantised, quantised_rows
from substrate.inference.minilm.model_file import ModelFiles, file_name, installed, onnx_file

TEXTS = [
    "Melanie painted a lake at sunrise.",
    "?",
    "The quarterly revenue of the company fell by nine percent, and the board asked the chief executive why.",
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
async def local(cache: Path) -> AsyncIterator[Embedder]:
    embedder = open_embedder(EmbeddingSettings(embedding="local", cache=cache))
    yield embedder
    await embedder.aclose()


def forward(tensors: WeightsFile, ids: list[int]) -> NDArray[np.float64]:
    """The model written out in numpy, in double precision, after the paper and not after our graph."""

    def get(name: str) -> NDArray[np.float64]:
        return tensors[name].astype(np.float64)

    def dense(x: NDArray[np.float64], at: str) -> NDArray[np.float64]:
        return x @ get(f"{at}.weight").T + get(f"{at}.bias")

    def norm(x: NDArray[np.float64], at: str) -> NDArray[np.float64]:
        centred = x - x.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return centred / deviation * get(f"{at}.LayerNorm.weight") + get(f"{at}.LayerNorm.bias")

    def heads(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return x.reshape(len(ids), 12, 32).transpose(1, 0, 2)

    x = get("embeddings.word_embeddings.weight")[ids]
    x = x + get("embeddings.position_embeddings.weight")[: len(ids)]
    x = norm(x + get("embeddings.token_type_embeddings.weight")[0], "embeddings")
    for i in range(6):
        at = f"encoder.layer.{i}"
        query, key, value = (heads(dense(x, f"{at}.attention.self.{p}")) for p in ("query", "key", "value"))
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(32)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        attended = (shares @ value).transpose(1, 0, 2).reshape(len(ids), 384)
        x = norm(x + dense(attended, f"{at}.attention.output.dense"), f"{at}.attention.output")
        wide = dense(x, f"{at}.intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(x + dense(wide, f"{at}.output.dense"), f"{at}.output")
    mean = x.mean(0)
    unit: NDArray[np.float64] = mean / np.linalg.norm(mean)
    return unit


def cosine(left: list[float], right: list[float]) -> float:
    return math.sumprod(left, right) / (math.hypot(*left) * math.hypot(*right))


def test_the_graph_computes_what_the_paper_says(cache: Path) -> None:
    exact, fast, rows = (LocalMiniLM(cache, precision) for precision in ("fp32", "int8", "u8s8"))
    with open_weights(installed().weights) as tensors:
        for text in TEXTS:
            expected = forward(tensors, fast._tokenizer.encode(text).ids)
            assert np.abs(exact.get_text_embedding(text) - expected).max() < 1e-4
            assert cosine(fast.get_text_embedding(text), expected.tolist()) > 0.995
            assert cosine(rows.get_text_embedding(text), expected.tolist()) > 0.998


def test_quantised_weights_are_within_half_a_step() -> None:
    weight = np.random.default_rng(1).normal(size=(3, 128)).astype(np.float32)
    codes, scales = quantised(weight)
    restored = (codes.astype(np.float32) - 128) * scales[..., None]
    assert (np.abs(restored.reshape(3, 128) - weight).reshape(3, 2, 64) <= scales[..., None] * 0.501).all()


def test_two_neighbouring_codes_of_one_sign_stay_within_what_avx2_can_add() -> None:
    weight = np.random.default_rng(1).standard_t(3, size=(40, 384)).astype(np.float32)
    weight[0] = 1
    codes, scales = quantised_rows(weight)
    pairs = codes.astype(int).reshape(40, -1, 2)
    assert max(np.maximum(sign * pairs, 0).sum(-1).max() for sign in (1, -1)) * 255 < 2**15
    restored = codes * scales[:, None]
    assert np.linalg.norm(restored - weight) < 0.03 * np.linalg.norm(weight)


async def test_the_vector_of_a_text_does_not_depend_on_its_neighbours(local: Embedder) -> None:
    texts = [*TEXTS, "", "word " * 400, *(f"number {i}" for i in range(20))]
    together = await local.embed_texts(texts)
    assert await local.embed_texts(texts[::-1]) == together[::-1]
    assert [await local.embed_query(text) for text in texts] == together


async def test_text_after_the_256th_token_has_no_influence(local: Embedder) -> None:
    # 254 words and the two marks at the ends make 256 tokens.
    short, long, other = await local.embed_texts(["cat " * 254, "cat " * 254 + "dog " * 9999, "cat " * 253])
    assert short == long
    assert short != other


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _altered(data: bytes) -> bytes:
    return data[:1_000_000] + bytes([data[1_000_000] ^ 1]) + data[1_000_001:]


def _empty(_: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [_cut, _altered, _empty], ids=["cut", "one bit", "empty"])
def test_a_damaged_file_is_built_again(damage: Callable[[bytes], bytes], cache: Path) -> None:
    path = onnx_file(cache, "int8")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert onnx_file(cache, "int8") == path == cache / file_name("int8")
    assert path.read_bytes() == whole


def test_a_file_of_another_recipe_is_not_taken_for_ours(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = onnx_file(cache, "int8").read_bytes()
    (tmp_path / file_name("int8").replace("recipe", "recipe9")).write_bytes(ours)
    monkeypatch.setattr(model_file, "RECIPE", f"9{model_file.RECIPE}")
    remade = onnx_file(tmp_path, "int8")
    assert remade == tmp_path / file_name("int8")
    assert remade.read_bytes() != ours


def test_the_cached_file_is_an_onnx_file_that_names_its_origin(cache: Path) -> None:
    session = onnxruntime.InferenceSession(onnx_file(cache, "int8"), providers=["CPUExecutionProvider"])
    told = session.get_modelmeta().custom_metadata_map
    assert told["weights"] == official.WEIGHTS_SHA256
    assert told["recipe"] == file_name("int8")


def test_altered_weights_are_refused_and_nothing_is_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    altered = tmp_path / "model.safetensors"
    altered.write_bytes(b"not the weights")
    monkeypatch.setattr(model_file, "installed", lambda: ModelFiles(altered, altered))
    with pytest.raises(Fault, match="not the official file"):
        onnx_file(tmp_path / "cache", "int8")
    assert not (tmp_path / "cache").exists()


def test_an_altered_tokenizer_is_refused(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    altered = tmp_path / "tokenizer.json"
    altered.write_bytes(b"{}")
    monkeypatch.setattr(official, "installed", lambda: ModelFiles(altered, altered))
    with pytest.raises(Fault, match=r"tokenizer\.json .* not the official file"):
        LocalMiniLM(cache)


def test_a_missing_file_or_package_is_a_fault_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Fault, match="cannot be read") as error:
        official.check(tmp_path / "nothing", "")
    assert "Install" in error.value.remedy

    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(official, "distribution", missing)
    with pytest.raises(Fault, match="not installed"):
        installed()


def test_a_cache_that_cannot_be_written_is_a_fault_that_names_the_setting(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    with pytest.raises(Fault, match="cannot be stored") as error:
        onnx_file(blocked, "int8")
    assert "SUBSTRATE_CACHE" in error.value.remedy


def test_a_write_that_fails_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        model_file._write(tmp_path / "model.onnx", b"model")
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_the_runtime_cannot_load_is_a_fault(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"no model")
    monkeypatch.setattr("substrate.inference.embeddings.local.onnx_file", lambda *_: model)
    with pytest.raises(Fault, match="cannot load"):
        LocalMiniLM(cache)
