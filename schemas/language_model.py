"""Calls of a language model, and the facts that it found."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from schemas.base import Frozen


class ModelCall(Frozen):
    """One call of a language model or reranker, its repair included.

    `requests` counts the requests sent. Tokens are as the provider counted them, None if it did not. `cost` is in
    the currency of the configured prices, None without prices or tokens. `failure` says why there was no usable
    answer; the result is then the one without a model.
    """

    purpose: Literal["entities", "facts", "rerank", "appraisal", "revaluation", "generalisation"]
    model: str
    milliseconds: float
    requests: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    failure: str | None = None


class Supersession(Frozen):
    """A link that ended according to the text, because `by` is true from `effective_at` on.

    `applied`: it was ended then. Otherwise `reason` says why not, such as a more trusted source.
    """

    ended: str
    by: str
    effective_at: datetime
    applied: bool
    reason: str = ""


class FactsReport(Frozen):
    """Facts that a language model found in a conversation.

    `links` are the ids of new links, `memories` those of the memories made for their ends. `known` counts facts
    that were stored already, `left_out` facts without evidence in the text or refused ones; `notes` says why.
    Every link names its turns in `extra.evidence`.
    """

    links: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    known: int = 0
    left_out: int = 0
    supersessions: tuple[Supersession, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()
    notes: tuple[str, ...] = ()
