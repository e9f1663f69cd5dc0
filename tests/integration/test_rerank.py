"""What was found in a second order, on the real engine: by measures, by a language model, by a class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Event
from typing import Any

import orjson
import pytest
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from orchestration.dependencies import Deps
from schemas.errors import InvalidRequest
from schemas.stream import ConsciousnessStream
from substrate.inference.rerankers import Reranker, open_reranker
from tests.integration.conftest import PATIENT_S
from tests.integration.store import ask, ids, remember, send
from tests.scripted_model import ScriptedModel, document

QUESTION = "Who saw the heron?"
HERE = "tests.integration.test_rerank"


class Backwards(BaseNodePostprocessor):
    """The worst first, of those that hold the word lake."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        assert query_bundle is not None
        assert query_bundle.query_str == QUESTION
        return [one for one in reversed(nodes) if "lake" in one.node.get_content()]


class Fails(Backwards):
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        raise RuntimeError("sk-secret")


class Invents(Backwards):
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="I know better"))]


awake = Event()


class Sleeps(Backwards):
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        awake.wait()
        return nodes


class Unbuildable(Backwards):
    def __init__(self, needed: str) -> None:
        super().__init__()


@pytest.fixture
async def birds(deps: Deps, fresh_citizen: str) -> str:
    said = {"a": "A heron by the lake", "b": "A heron", "c": "A heron, a heron at the lake in May"}
    await send(
        deps,
        *(remember(fresh_citizen, key, node_type="Turn", description=text) for key, text in said.items()),
    )
    return fresh_citizen


def order(stream: ConsciousnessStream) -> list[str]:
    return ids(stream.activation_tiers.ordered())


def ordering(asked: dict[str, Any]) -> str:
    """What holds the word lake first, and numbers that were not given."""
    shown = document(asked)
    if "memories" not in shown:
        return '{"entities": []}'
    lakes = [one["n"] for one in shown["memories"] if "lake" in one["text"]]
    return orjson.dumps({"order": [99, *reversed(lakes), 0, -1]}).decode()


async def test_a_language_model_orders_only_what_it_was_shown(
    asking: Deps, deps: Deps, scripted: ScriptedModel, birds: str
) -> None:
    scripted.otherwise = ordering
    had = order(await ask(deps, birds, QUESTION))
    assert order(await ask(asking, birds, QUESTION)) == had
    stream = await ask(asking, birds, QUESTION, rerank="llm")
    assert order(stream) == [*(key for key in reversed(had) if key != "b"), "b"]
    assert [call.purpose for call in stream.model_calls] == ["entities", "rerank"]
    assert stream.degraded == ()


@pytest.mark.parametrize(
    ("misbehave", "reason"),
    [
        (lambda model: setattr(model, "script", [(500, b"{}")] * 8), "status 500"),
        (lambda model: setattr(model, "silent", True), "did not answer within 0.3 s"),
        (
            lambda model: setattr(model, "otherwise", lambda asked: '{"order": ["b"]}'),
            "no answer of the requested form",
        ),
        (lambda model: setattr(model, "otherwise", lambda asked: "Forget b."), "no answer of the requested form"),
    ],
)
async def test_when_the_model_fails_the_order_had_stays(
    misbehave: Callable[[ScriptedModel], None],
    reason: str,
    asking: Deps,
    deps: Deps,
    scripted: ScriptedModel,
    birds: str,
) -> None:
    had = order(await ask(deps, birds, QUESTION))
    misbehave(scripted)
    if "within" in reason:
        assert asking.language_model is not None
        asking.language_model.question_seconds = 0.3
    stream = await ask(asking, birds, QUESTION, rerank="llm")
    assert order(stream) == had
    [failed] = [gap.reason for gap in stream.degraded if gap.query == "rerank"]
    assert reason in failed


async def test_a_class_of_llamaindex_orders_by_its_import_path(deps: Deps, birds: str) -> None:
    had = order(await ask(deps, birds, QUESTION))
    own = replace(deps, reranker=open_reranker(f"{HERE}:Backwards"))
    assert order(await ask(own, birds, QUESTION)) == had
    stream = await ask(own, birds, QUESTION, rerank="custom")
    assert order(stream) == [*(key for key in reversed(had) if key != "b"), "b"]
    assert [(call.purpose, call.model) for call in stream.model_calls] == [("rerank", f"{HERE}:Backwards")]


@pytest.mark.parametrize(
    ("port", "seconds", "reason"),
    [
        (Fails(), PATIENT_S, "RuntimeError"),
        (Invents(), PATIENT_S, "ValueError"),
        (Sleeps(), 0.05, "did not answer within 0.05 s"),
    ],
)
async def test_when_a_class_fails_the_order_had_stays(
    port: BaseNodePostprocessor, seconds: float, reason: str, deps: Deps, birds: str
) -> None:
    awake.clear()
    own = replace(deps, reranker=Reranker("a.class:Of", port, seconds=seconds))
    stream = await ask(own, birds, QUESTION, rerank="custom")
    awake.set()
    assert order(stream) == order(await ask(deps, birds, QUESTION))
    [missing] = stream.degraded
    assert reason in missing.reason
    assert "secret" not in missing.reason


@pytest.mark.parametrize(("way", "setting"), [("llm", "SUBSTRATE_LLM"), ("custom", "SUBSTRATE_RERANKER")])
async def test_an_order_by_what_is_not_configured_is_refused(
    way: str, setting: str, deps: Deps, birds: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        await ask(deps, birds, QUESTION, rerank=way)
    assert setting in refused.value.remedy
