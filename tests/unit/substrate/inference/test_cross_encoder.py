"""A local cross-encoder, on a model made for the test: what it orders, and what is refused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from schemas.errors import InvalidRequest, Unavailable
from substrate.inference.cross_encoder import MAX_TOKENS, CrossEncoder
from substrate.inference.rerankers import SECONDS, Reranker, open_reranker
from tests.tiny_cross_encoder import make

WORDS = "who saw the heron by lake in may"
QUESTION = "Who saw the heron?"
TEXTS = ["a swan", "A heron by the lake", "a duck", "The heron", "the heron saw me"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("models") / "tiny", WORDS)


@pytest.fixture(scope="module")
def encoder(model: Path) -> CrossEncoder:
    return CrossEncoder(model, SECONDS)


async def test_texts_are_ordered_by_score_and_equal_ones_keep_their_order(model: Path) -> None:
    reranker = open_reranker(f"onnx:{model}")
    assert reranker is not None
    assert await reranker.rank(QUESTION, TEXTS) == [4, 1, 3, 0, 2]
    assert await reranker.rank(QUESTION, []) == []


def test_what_answers_show_is_not_where_the_model_lies(model: Path) -> None:
    reranker = open_reranker(f"onnx:{model}")
    assert reranker is not None
    assert reranker.name == "onnx:tiny"


@pytest.mark.parametrize("question", ["", QUESTION, "heron " * 2000])
@pytest.mark.parametrize("text", ["", "🪶", "heron " * 5000])
def test_any_pair_has_a_score(question: str, text: str, encoder: CrossEncoder) -> None:
    assert encoder.score(question, text) >= 0


def test_of_a_long_pair_so_many_tokens_count(encoder: CrossEncoder) -> None:
    whole = encoder.score("heron", "heron " * 5000)
    assert whole == MAX_TOKENS - len(("[CLS]", "heron", "[SEP]", "[SEP]"))


def test_a_lower_limit_of_the_tokenizer_holds(tmp_path: Path) -> None:
    directory = make(tmp_path / "short", WORDS)
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.enable_truncation(16)
    tokenizer.save(str(directory / "tokenizer.json"))
    assert CrossEncoder(directory, SECONDS).score("heron", "heron " * 100) == 16 - 4


async def test_a_score_that_is_no_number_fails_with_this_reason(model: Path) -> None:
    reranker = open_reranker(f"onnx:{model}")
    assert reranker is not None
    with pytest.raises(Unavailable, match=r"onnx:tiny failed: the model gave a score that is no number"):
        await reranker.rank(QUESTION, ["a heron", "nonsense"])


async def test_a_late_model_ends_its_work_and_says_so(model: Path) -> None:
    reranker = Reranker("onnx:tiny", CrossEncoder(model, seconds=0.0), seconds=60.0)
    async with asyncio.timeout(30):
        with pytest.raises(Unavailable, match="did not answer within"):
            await reranker.rank("slowly", TEXTS)


def test_a_model_with_two_numbers_for_a_pair_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="2 numbers for a pair"):
        CrossEncoder(make(tmp_path, WORDS, outputs=2), SECONDS)


def test_a_model_that_asks_for_more_than_tokens_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="pixel_values"):
        CrossEncoder(make(tmp_path, WORDS, more_inputs=("pixel_values",)), SECONDS)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("content", [None, b"", b'{"version": 1}'])
def test_files_that_are_missing_or_no_models_are_refused_by_name(
    name: str, content: bytes | None, tmp_path: Path
) -> None:
    file = make(tmp_path, WORDS) / name
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidRequest, match=name) as refused:
        open_reranker(f"onnx:{tmp_path}")
    assert "SUBSTRATE_RERANKER" in refused.value.remedy


@pytest.mark.parametrize("setting", ["onnx:", "onnx:/no/such/directory", "onnx:~nobody-here/models"])
def test_a_directory_that_does_not_exist_is_refused(setting: str) -> None:
    with pytest.raises(InvalidRequest):
        open_reranker(setting)
