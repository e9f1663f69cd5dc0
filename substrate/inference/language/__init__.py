"""Language models behind one port: LlamaIndex's `LLM`. None is used unless one is configured.

`open_language_model` opens the model; `LanguageModel` is what the rest of Substrate uses. The libraries behind a
model are imported when that model is opened, not with this package.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ValidationError

from schemas.errors import Fault, InvalidRequest, SubstrateError, Unavailable
from schemas.language_model import ModelCall
from substrate.inference.providers import ClassPath, describe_failure, import_with

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.core.llms import LLM

    from schemas.settings import LanguageModelSettings

MAX_ANSWER: Final = 100_000
"""Characters of an answer that are read."""
MAX_QUOTED: Final = 4_000
"""Characters of an unusable answer that the second request quotes."""
MAX_FAULTS: Final = 5
MILLION: Final = 1_000_000
_INPUT_COUNTS: Final = ("prompt_tokens", "input_tokens")
_OUTPUT_COUNTS: Final = ("completion_tokens", "output_tokens")

type Role = Literal["system", "user", "assistant"]
type Message = tuple[Role, str]
type Send = Callable[[Sequence[Message]], Awaitable[ChatResponse]]


class TokenPrices(NamedTuple):
    """Prices of a million tokens, in the currency of the setting."""

    input: float
    output: float


class ModelRequest(NamedTuple):
    """A request for a value; `seconds` is the deadline for the whole request, a second try included."""

    purpose: Literal["entities", "facts", "rerank", "appraisal", "revaluation", "generalisation"]
    messages: Sequence[Message]
    seconds: float


class ModelAnswer[T: BaseModel](NamedTuple):
    """The value; None when no usable answer came in time (`call.failure` has the reason)."""

    value: T | None
    call: ModelCall


class _Usage:
    """Requests and tokens of one call; a count is None while no response reported it."""

    def __init__(self) -> None:
        self.requests = 0
        self.input_tokens: int | None = None
        self.output_tokens: int | None = None

    def add(self, response: ChatResponse) -> None:
        counts = _token_counts(response)
        self.input_tokens = _add(self.input_tokens, _first_count(counts, _INPUT_COUNTS))
        self.output_tokens = _add(self.output_tokens, _first_count(counts, _OUTPUT_COUNTS))

    def cost(self, prices: TokenPrices | None) -> float | None:
        if prices is None or self.input_tokens is None or self.output_tokens is None:
            return None
        return (self.input_tokens * prices.input + self.output_tokens * prices.output) / MILLION


def _add(total: int | None, count: int | None) -> int | None:
    return total if count is None else (total or 0) + count


def _first_count(counts: Mapping[str, Any], names: Sequence[str]) -> int | None:
    return next((counts[name] for name in names if isinstance(counts.get(name), int)), None)


class LanguageModel:
    """Asks a LlamaIndex `LLM` for values of pydantic classes, within a deadline, and counts the tokens. `prices`
    and `question_seconds` are settings; `provider` names the server in messages, without secrets."""

    def __init__(
        self, model: str, provider: str, send: Send, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self.model = model
        self.provider = provider
        self.prices: TokenPrices | None = None
        self.question_seconds = 2.0
        self._send = send
        self._close = close

    async def ask[T: BaseModel](self, request: ModelRequest, form: type[T]) -> ModelAnswer[T]:
        """Request a value of the class `form`, a second time when the first answer does not validate. Failures of
        the model or its provider are not raised but reported in the answer: the caller then works without a
        model."""
        begun = time.perf_counter()
        usage = _Usage()
        value, failure = None, None
        try:
            async with asyncio.timeout(request.seconds):
                value = await self._request_value(request.messages, form, usage)
        except TimeoutError:
            failure = f"{self._full_name()} did not answer within {request.seconds:g} s"
        except SubstrateError as error:
            failure = error.detail
        call = ModelCall(
            purpose=request.purpose,
            model=self.model,
            milliseconds=round((time.perf_counter() - begun) * 1000, 3),
            requests=usage.requests,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost=usage.cost(self.prices),
            failure=failure,
        )
        return ModelAnswer(value, call)

    async def aclose(self) -> None:
        """Release the connections. Can be called twice."""
        close, self._close = self._close, None
        if close is not None:
            await close()

    async def _request_value[T: BaseModel](self, messages: Sequence[Message], form: type[T], usage: _Usage) -> T:
        answer = await self._request_text(messages, usage)
        try:
            return parse_answer(answer, form)
        except ValidationError as error:
            second = [*messages, ("assistant", answer[:MAX_QUOTED]), ("user", describe_faults(error))]
        answer = await self._request_text(second, usage)
        try:
            return parse_answer(answer, form)
        except ValidationError as error:
            raise Fault(f"{self._full_name()} gave no answer of the requested form, in two tries") from error

    async def _request_text(self, messages: Sequence[Message], usage: _Usage) -> str:
        usage.requests += 1
        try:
            response = await self._send(messages)
            usage.add(response)
            return (response.message.content or "")[:MAX_ANSWER]
        except Exception as exc:
            raise Unavailable(f"{self._full_name()} {describe_failure(exc)}") from exc

    def _full_name(self) -> str:
        return f"the language model {self.model} of {self.provider}"


def to_chat(messages: Sequence[Message]) -> list[ChatMessage]:
    """Convert the messages to LlamaIndex's class; its library is imported here, when a model is first used."""
    chat_message = import_module("llama_index.core.base.llms.types").ChatMessage
    return [chat_message(role=role, content=text) for role, text in messages]


def parse_answer[T: BaseModel](answer: str, form: type[T]) -> T:
    """Parse the JSON object in an answer; other text may surround it. Raises ValidationError."""
    return form.model_validate_json(answer[answer.find("{") : answer.rfind("}") + 1])


def describe_faults(error: ValidationError) -> str:
    """Describe the first five faults in a message to the model."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)[:MAX_FAULTS]
    texts = "; ".join(f"{'.'.join(map(str, fault['loc'])) or 'answer'}: {fault['msg']}" for fault in faults)
    return f"That is not of the form asked for ({texts}). Answer with the JSON object alone."


def _token_counts(response: ChatResponse) -> Mapping[str, Any]:
    """Return the token counts of a response; empty when the provider's LlamaIndex class does not have them."""
    if response.additional_kwargs:
        return response.additional_kwargs
    raw = response.raw
    usage = raw.get("usage") if isinstance(raw, dict) else getattr(raw, "usage", None)
    return usage if isinstance(usage, dict) else vars(usage) if hasattr(usage, "__dict__") else {}


def open_language_model(settings: LanguageModelSettings) -> LanguageModel | None:
    """Open the language model that the settings choose; None for `none`. Close it with `aclose`.

    The choice is `none`, `openai[:model]`, or `package.module:Class`, the path of a LlamaIndex `LLM` class that is
    built with no arguments. Nothing is sent yet.
    Raises InvalidRequest for an unknown choice, a missing key or a class that cannot be imported; Fault when the
    class cannot be built.
    """
    choice = settings.llm.strip()
    kind, _, rest = choice.partition(":")
    if choice == "none":
        return None
    if kind == "openai":
        client = import_with("openai", f"{__name__}.openai_client")
        model: LanguageModel = client.open_model(settings, rest.strip())
    elif kind and rest:
        model = _open_class(choice)
    else:
        raise InvalidRequest(
            f"there is no language model {choice!r}",
            remedy="Set SUBSTRATE_LLM to none, openai, openai:<model>, or package.module:Class.",
        )
    if settings.llm_input_price is not None and settings.llm_output_price is not None:
        model.prices = TokenPrices(settings.llm_input_price, settings.llm_output_price)
    model.question_seconds = settings.llm_question_seconds
    return model


def _open_class(path: str) -> LanguageModel:
    """Its blocking methods run in a worker thread: in many such classes the asynchronous ones block, too."""
    base = import_with("llama-index", "llama_index.core.llms").LLM

    class_path = ClassPath(path, "language model", "language model class", "SUBSTRATE_LLM")
    loaded: type[LLM] = class_path.load(base)
    with class_path.building():
        port = loaded()
        name = port.metadata.model_name

    async def send(messages: Sequence[Message]) -> ChatResponse:
        return await asyncio.to_thread(port.chat, to_chat(messages))

    return LanguageModel(path if name == "unknown" else name, path, send)
