"""What was asked of a language model, and what it took."""

from __future__ import annotations

from typing import Literal

from schemas.base import Frozen


class ModelCall(Frozen):
    """One question to a language model, with its repair if it needed one.

    `requests` counts what was sent. Tokens are those that the provider counted, None when it did not say.
    `cost` is in the currency of the prices set, None without prices or without tokens. `failure` says why there
    was no usable answer; what had been planned without a model was then done.
    """

    purpose: Literal["entities", "facts"]
    model: str
    milliseconds: float
    requests: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    failure: str | None = None
