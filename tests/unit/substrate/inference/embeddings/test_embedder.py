from __future__ import annotations

import asyncio
import math
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding

from schemas.errors import Fault, InvalidRequest, Unavailable
from schemas.settings import EmbeddingSettings
from substrate.inference import embeddings as embedder_module
from substrate.inference.embeddings import (
    DECIMALS,
    QUERIES_BYTES,
    Embedder,
    EmbedderAhead,
    ModelInfo,
    open_embedder,
)


class Scripted(BaseEmbedding):
    """A model whose vector is what `answer` makes of a text; it counts what it is asked."""

    asked: int = 0

    def answer(self, text: str) -> list[float]:
        return [float(len(text)), 1.0, 2.0]

    def _get_text_embedding(self, text: str) -> list[float]:
        self.asked += 1
        return self.answer(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class Answering(Scripted):
    """A model that answers one and the same thing to every text."""

    fixed: Any

    def answer(self, text: str) -> Any:
        return self.fixed


class Named(Scripted):
    def __init__(self) -> None:
        super().__init__(model_name="three-numbers")


class Failing(Scripted):
    def answer(self, text: str) -> list[float]:
        raise ConnectionError("refused for key sk-secret")


class Unbuildable(Scripted):
    def __init__(self) -> None:
        raise RuntimeError("no licence")


class Slow(Scripted):
    async def _aget_query_embedding(self, query: str) -> list[float]:
        await asyncio.Event().wait()
        return self.answer(query)


def embedder_of(port: BaseEmbedding, dimension: int | None = None, networked: bool = False) -> Embedder:
    return Embedder(port, ModelInfo("the test", "scripted", dimension, networked))


def settings(choice: str | None, tmp_path: Path) -> EmbeddingSettings:
    return EmbeddingSettings(embedding=choice, cache=tmp_path)


def cosine(left: list[float], right: list[float]) -> float:
    return math.sumprod(left, right) / (math.hypot(*left) * math.hypot(*right))


async def test_vectors_have_unit_length_and_keep_the_direction_of_the_model() -> None:
    embedder = embedder_of(Answering(fixed=[30.0, 0.0, 40.0]))
    assert await embedder.embed_query("a") == [0.6, 0.0, 0.8]
    assert await embedder.embed_texts(["b"]) == [[0.6, 0.0, 0.8]]


@pytest.mark.parametrize("dimension", [384, 1536])
@pytest.mark.parametrize("decimals", [4, DECIMALS])
async def test_rounding_does_not_turn_a_vector(dimension: int, decimals: int) -> None:
    exact = [math.sin(i * i) for i in range(dimension)]
    length = math.hypot(*exact)
    assert cosine(exact, [round(number / length, decimals) for number in exact]) > 0.99999
    assert cosine(exact, await embedder_of(Answering(fixed=exact)).embed_query("a")) > 0.99999


async def test_the_memory_of_queries_is_bounded_and_keeps_the_latest() -> None:
    port = Scripted()
    embedder = embedder_of(port)
    await embedder.embed_query("used again")
    for i in range(QUERIES_BYTES // 100_000):
        await embedder.embed_query(f"{i} {'x' * 100_000}")
        await embedder.embed_query("used again")
    asked = port.asked
    await embedder.embed_query("used again")
    assert port.asked == asked
    await embedder.embed_query(f"0 {'x' * 100_000}")
    assert port.asked == asked + 1


@pytest.mark.parametrize(
    "garbage",
    [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], [math.inf, math.nan]],
    ids=["empty", "zero", "nan", "infinite", "both"],
)
async def test_a_vector_without_a_direction_is_refused(garbage: list[float]) -> None:
    embedder = embedder_of(Answering(fixed=garbage))
    with pytest.raises(Fault, match="finite length"):
        await embedder.embed_query("a")
    with pytest.raises(Fault, match="finite length"):
        await embedder.embed_texts(["a"])


@pytest.mark.parametrize("garbage", [None, ["one"], [None], [[1.0]], ["1.5"]])
async def test_an_answer_that_is_no_vector_is_refused(garbage: object) -> None:
    embedder = embedder_of(Answering(fixed=garbage))
    with pytest.raises((Fault, Unavailable)):
        await embedder.embed_query("a")
    with pytest.raises((Fault, Unavailable)):
        await embedder.embed_texts(["a"])


async def test_a_vector_of_another_dimension_is_refused() -> None:
    with pytest.raises(Fault, match="3 numbers where 4 are expected"):
        await embedder_of(Scripted(), dimension=4).embed_query("a")


@pytest.mark.parametrize("networked", [False, True])
async def test_a_failing_model_is_unavailable_and_its_own_words_are_not_repeated(networked: bool) -> None:
    embedder = embedder_of(Failing(), networked=networked)
    with pytest.raises(Unavailable, match=r"the test failed \(ConnectionError\)") as error:
        await embedder.embed_query("a")
    assert "secret" not in error.value.detail + error.value.remedy
    with pytest.raises(Unavailable):
        await embedder.embed_texts(["a"])


async def test_a_model_that_does_not_answer_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder_module, "DEADLINE_SECONDS", 0.01)
    with pytest.raises(Unavailable, match="in time"):
        await embedder_of(Slow(), networked=True).embed_query("a")


async def test_a_lone_surrogate_does_not_stop_a_text() -> None:
    assert len(await embedder_of(Scripted()).embed_query("half a smile: \ud83d")) == 3


class Meeting(Scripted):
    """Answers a list of texts only when another list, or a query, is being answered at the same time."""

    both: Any

    def answer(self, text: str) -> list[float]:
        self.both.wait(timeout=30)
        return super().answer(text)


async def test_several_threads_embed_one_list_in_order_and_a_query_has_its_own() -> None:
    model = Meeting(both=Barrier(3), embed_batch_size=1)
    embedder = Embedder(model, ModelInfo("the test", "scripted", 3, threads=2))
    lists = asyncio.create_task(embedder.embed_texts(["a", "bbb"]))
    await embedder.embed_query("cc")
    model.both = Barrier(1)
    assert await lists == [await embedder.embed_query(text) for text in ("a", "bbb")]
    await embedder.aclose()


async def test_any_llama_index_class_serves_by_its_import_path(tmp_path: Path) -> None:
    embedder = open_embedder(settings(f"{__name__}:Named", tmp_path))
    assert embedder.model == "three-numbers"
    assert len(await embedder.embed_query("a")) == 3
    assert open_embedder(settings(f"{__name__}:Scripted", tmp_path)).model == f"{__name__}:Scripted"


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("word2vec", "no embedding model"),
        (":Class", "no embedding model"),
        ("module:", "no embedding model"),
        ("no.such.package:Class", "cannot be imported"),
        (".relative:Class", "cannot be imported"),
        ("collections:NoSuchClass", "cannot be imported"),
        ("collections:OrderedDict", "not a LlamaIndex embedding class"),
        ("math:pi", "not a LlamaIndex embedding class"),
        ("openai", "needs a key"),
        ("openai:text-embedding-3-large", "needs a key"),
    ],
)
def test_a_choice_that_cannot_be_met_is_an_invalid_request_with_a_remedy(
    choice: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidRequest, match=words) as error:
        open_embedder(settings(choice, tmp_path))
    assert "SUBSTRATE_EMBEDDING" in error.value.remedy


async def test_none_is_no_model_and_every_vector_is_empty() -> None:
    embedder = await open_embedder(EmbeddingSettings(embedding="none")).ready()
    assert (embedder.model, embedder.dimension) == ("none", 0)
    assert (await embedder.embed_query("a"), await embedder.embed_texts(["a", "b"])) == ([], [[], []])
    await embedder.aclose()


async def test_an_embedder_ahead_begins_at_once_and_embeds_only_what_else_it_is_asked_for() -> None:
    port = Scripted()
    embedder = embedder_of(port)
    ahead = EmbedderAhead(embedder, ["one", "three"])
    expected = await embedder.embed_texts(["three", "seventeen"])
    asked = port.asked
    assert await ahead.embed_texts(["three", "seventeen"]) == expected
    assert port.asked - asked <= 3


async def test_what_fails_ahead_is_told_when_it_is_asked_for() -> None:
    ahead = EmbedderAhead(embedder_of(Failing()), ["one"])
    with pytest.raises(Unavailable):
        await ahead.embed_texts(["one"])
