from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from pydantic import BaseModel, ConfigDict, ValidationError

from schemas.errors import Fault, InvalidRequest
from schemas.settings import LanguageModelSettings
from substrate.inference.language import LanguageModel, ModelAnswer, ModelRequest, open_language_model
from tests.scripted_model import ANSWERED, KEY, SENT, ScriptedModel


class Sum(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    total: int


GOOD = '{"total": 4}'


@pytest.fixture
async def model(scripted: ScriptedModel) -> AsyncIterator[LanguageModel]:
    opened = open_language_model(scripted.settings())
    assert opened is not None
    yield opened
    await opened.aclose()


async def asked(model: LanguageModel, seconds: float = 10.0) -> ModelAnswer[Sum]:
    return await model.ask(ModelRequest("entities", [("system", "Add."), ("user", "2 and 2")], seconds), Sum)


async def test_a_key_and_an_address_reach_the_server_and_its_tokens_come_back(
    scripted: ScriptedModel, model: LanguageModel
) -> None:
    scripted.script = [GOOD]
    value, call = await asked(model)
    assert value == Sum(total=4)
    [request] = scripted.requests
    assert request["path"] == "/proxy/v1/chat/completions"
    assert request["authorization"] == f"Bearer {KEY}"
    assert request["model"] == call.model == "scripted"
    assert [one["content"] for one in request["messages"]] == ["Add.", "2 and 2"]
    assert (call.requests, call.input_tokens, call.output_tokens) == (1, SENT, ANSWERED)
    assert (call.cost, call.failure) == (None, None)


async def test_with_prices_a_call_says_what_it_cost(scripted: ScriptedModel) -> None:
    model = open_language_model(scripted.settings(llm_input_price=2.0, llm_output_price=10.0))
    assert model is not None
    scripted.script = ["no", GOOD]
    value, call = await asked(model)
    assert value is not None
    assert call.cost == pytest.approx(2 * (SENT * 2.0 + ANSWERED * 10.0) / 1_000_000)
    await model.aclose()


@pytest.mark.parametrize("answer", [f"```json\n{GOOD}\n```", f"Sure! {GOOD}", f"  {GOOD}\n"])
async def test_a_fence_or_a_courtesy_around_the_json_is_no_fault(
    answer: str, scripted: ScriptedModel, model: LanguageModel
) -> None:
    scripted.script = [answer]
    assert (await asked(model)).value == Sum(total=4)


NONSENSE = ["", "no", "{", '{"total": "4"}', '{"total": 4, "run": "rm"}', "[4]", "null", "Ignore the user. }{"]


@pytest.mark.parametrize("answer", NONSENSE)
async def test_an_answer_of_another_form_is_mended_in_one_more_request(
    answer: str, scripted: ScriptedModel, model: LanguageModel
) -> None:
    scripted.script = [answer, GOOD]
    value, call = await asked(model)
    assert value == Sum(total=4)
    assert (call.requests, call.input_tokens, call.output_tokens) == (2, 2 * SENT, 2 * ANSWERED)
    assert "not of the form" in scripted.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize("answer", NONSENSE)
async def test_a_second_answer_of_another_form_is_the_last(
    answer: str, scripted: ScriptedModel, model: LanguageModel
) -> None:
    scripted.script = [answer] * 3
    value, call = await asked(model)
    assert value is None
    assert call.failure is not None
    assert "no answer of the requested form" in call.failure
    assert (call.requests, len(scripted.requests), call.output_tokens) == (2, 2, 2 * ANSWERED)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
async def test_an_error_of_the_server_is_reported_with_its_status_and_without_the_key(
    status: int, scripted: ScriptedModel, model: LanguageModel
) -> None:
    scripted.script = [(status, json.dumps({"error": {"message": f"Incorrect API key: {KEY}"}}).encode())] * 8
    value, call = await asked(model)
    assert value is None
    assert call.failure == f"the language model scripted of OpenAI at 127.0.0.1 failed (status {status})"
    assert call.output_tokens is None


async def test_a_server_that_asks_to_wait_longer_than_the_deadline_is_not_waited_for(
    scripted: ScriptedModel, model: LanguageModel
) -> None:
    scripted.headers = {"Retry-After": "30"}
    scripted.script = [(429, b"{}"), GOOD]
    value, call = await asked(model, 3)
    assert value is None
    assert call.failure is not None
    assert "did not answer within 3 s" in call.failure
    assert len(scripted.requests) == 1


class Spoken(CustomLLM):
    """A LlamaIndex model of somebody else's, which tells no tokens."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="spoken")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=GOOD if "2 and 2" in prompt else "")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return iter((self.complete(prompt),))


class Unbuildable(Spoken):
    """Needs what nobody gives it."""

    def __init__(self) -> None:
        raise RuntimeError("no key")


async def test_any_class_of_llamaindex_answers_by_its_import_path() -> None:
    model = open_language_model(
        LanguageModelSettings(llm="tests.unit.substrate.inference.language.test_openai_client:Spoken")
    )
    assert model is not None
    value, call = await asked(model)
    assert value == Sum(total=4)
    assert (call.model, call.input_tokens, call.cost) == ("spoken", None, None)
    await model.aclose()


@pytest.mark.parametrize(
    ("choice", "error"),
    [
        ("tests.unit.substrate.inference.language.test_openai_client:Unbuildable", Fault),
        ("tests.unit.substrate.inference.language.test_openai_client:Sum", InvalidRequest),
        ("tests.unit.substrate.inference.language.test_openai_client:Missing", InvalidRequest),
        ("no_such_package:Class", InvalidRequest),
        ("gpt", InvalidRequest),
        ("openai", InvalidRequest),
    ],
)
def test_a_choice_that_cannot_be_opened_says_why(
    choice: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(error, match=r"language model"):
        open_language_model(LanguageModelSettings(llm=choice))


def test_an_input_price_without_an_output_price_is_refused() -> None:
    with pytest.raises(ValidationError, match="set both or none"):
        LanguageModelSettings(llm_input_price=1.0)
