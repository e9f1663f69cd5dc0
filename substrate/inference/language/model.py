"""The one object that asks a language model for a value of a given form, whatever the model behind it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ValidationError

from schemas.errors import Fault, SubstrateError, Unavailable
from schemas.language_model import ModelCall
from substrate.inference.failures import failed

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatResponse

MAX_ANSWER: Final = 100_000
"""Characters of an answer that are read."""
MAX_REPEATED: Final = 4_000
"""Characters of an unusable answer that are shown to the model again."""
MAX_FAULTS: Final = 5
MILLION: Final = 1_000_000
_COUNTS: Final = (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))

type Role = Literal["system", "user", "assistant"]
type Message = tuple[Role, str]
type Send = Callable[[Sequence[Message]], Awaitable[ChatResponse]]


class Prices(NamedTuple):
    """What a million tokens cost, sent and answered."""

    sent: float
    answered: float


class Question(NamedTuple):
    """What is asked for: to what purpose, by which messages, and how many seconds there are for it all."""

    purpose: Literal["entities", "facts", "rerank"]
    messages: Sequence[Message]
    seconds: float


class Answer[T: BaseModel](NamedTuple):
    """The value, None when there was no usable answer in time; the call says why."""

    value: T | None
    call: ModelCall


class _Used:
    """What one call has taken so far."""

    def __init__(self) -> None:
        self.requests = 0
        self.tokens: list[int | None] = [None, None]

    def add(self, response: ChatResponse) -> None:
        counts = _counts(response)
        for place, names in enumerate(_COUNTS):
            count = next((counts[name] for name in names if isinstance(counts.get(name), int)), None)
            if count is not None:
                self.tokens[place] = (self.tokens[place] or 0) + count


class LanguageModel:
    """Values of a given form from a LlamaIndex `LLM`, within a deadline, with what they took.

    `prices` and `question_seconds` are settings; `provider` names the model's home in messages, without secrets.
    """

    def __init__(
        self, model: str, provider: str, send: Send, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self.model = model
        self.provider = provider
        self.prices: Prices | None = None
        self.question_seconds = 2.0
        self._send = send
        self._close = close

    async def ask[T: BaseModel](self, question: Question, form: type[T]) -> Answer[T]:
        """A value of the form, asked for once more when the first answer was none.

        Nothing is raised for what the model or its provider does: the answer says it, and the caller goes on in
        the way that needs no model. Deadline and tokens count for both requests together.
        """
        begun = time.perf_counter()
        used = _Used()
        value, failure = None, None
        try:
            async with asyncio.timeout(question.seconds):
                value = await self._value(question.messages, form, used)
        except TimeoutError:
            failure = f"{self._named()} did not answer within {question.seconds:g} s"
        except SubstrateError as error:
            failure = error.detail
        spent = round((time.perf_counter() - begun) * 1000, 3)
        return Answer(value, self._call(question, used, spent, failure))

    async def aclose(self) -> None:
        """Release the connections; harmless when repeated."""
        close, self._close = self._close, None
        if close is not None:
            await close()

    async def _value[T: BaseModel](self, messages: Sequence[Message], form: type[T], used: _Used) -> T:
        said = await self._said(messages, used)
        try:
            return _read(said, form)
        except ValidationError as error:
            again = [*messages, ("assistant", said[:MAX_REPEATED]), ("user", _mend(error))]
        said = await self._said(again, used)
        try:
            return _read(said, form)
        except ValidationError as error:
            raise Fault(f"{self._named()} gave no answer of the form asked for, not even asked again") from error

    async def _said(self, messages: Sequence[Message], used: _Used) -> str:
        used.requests += 1
        with self._provider_errors():
            response = await self._send(messages)
            used.add(response)
            return (response.message.content or "")[:MAX_ANSWER]

    @contextmanager
    def _provider_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as exc:
            raise Unavailable(f"{self._named()} {failed(exc)}") from exc

    def _call(self, question: Question, used: _Used, spent: float, failure: str | None) -> ModelCall:
        sent, answered = used.tokens
        cost = None
        if self.prices is not None and sent is not None and answered is not None:
            cost = (sent * self.prices.sent + answered * self.prices.answered) / MILLION
        return ModelCall(
            purpose=question.purpose,
            model=self.model,
            milliseconds=spent,
            requests=used.requests,
            input_tokens=sent,
            output_tokens=answered,
            cost=cost,
            failure=failure,
        )

    def _named(self) -> str:
        return f"the language model {self.model} of {self.provider}"


def _read[T: BaseModel](said: str, form: type[T]) -> T:
    """The value in an answer, which may be fenced or follow a word of courtesy. Raises ValidationError."""
    return form.model_validate_json(said[said.find("{") : said.rfind("}") + 1])


def _mend(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)[:MAX_FAULTS]
    said = "; ".join(f"{'.'.join(map(str, fault['loc'])) or 'answer'}: {fault['msg']}" for fault in faults)
    return f"That is not of the form asked for ({said}). Answer with the JSON object alone."


def _counts(response: ChatResponse) -> Mapping[str, Any]:
    """The provider's own count of tokens, where its LlamaIndex class hands it on."""
    if response.additional_kwargs:
        return response.additional_kwargs
    raw = response.raw
    usage = raw.get("usage") if isinstance(raw, dict) else getattr(raw, "usage", None)
    return usage if isinstance(usage, dict) else vars(usage) if hasattr(usage, "__dict__") else {}
