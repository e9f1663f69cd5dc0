"""What was asked of a language model, and what it took."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from schemas.base import Frozen


class ModelCall(Frozen):
    """One question to a language model or reranker, with its repair if it needed one.

    `requests` counts what was sent. Tokens are those that the provider counted, None when it did not say.
    `cost` is in the currency of the prices set, None without prices or without tokens. `failure` says why there
    was no usable answer; what had been planned without a model was then done.
    """

    purpose: Literal["entities", "facts", "rerank"]
    model: str
    milliseconds: float
    requests: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    failure: str | None = None


class Supersession(Frozen):
    """A link that the text says has ended, because `by` holds from `effective_at` on.

    `applied`: it was ended there. Otherwise `reason` says why not, such as a source that is trusted more.
    """

    ended: str
    by: str
    effective_at: datetime
    applied: bool
    reason: str = ""


class FactsReport(Frozen):
    """What a language model drew from a conversation.

    `links` are the ids of the links that were new, `memories` those of the memories made for their ends; `known`
    counts facts that were there already, `left_out` those that the text does not carry or that were refused;
    `notes` says why. Every link names its turns in `extra.evidence`.
    """

    links: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    known: int = 0
    left_out: int = 0
    supersessions: tuple[Supersession, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()
    notes: tuple[str, ...] = ()
