"""Rerankers behind one port: the best that was found in a second order, where a question asks for one.

Whatever a model does, the order had stays for what it does not speak of, and for all when it fails.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from orchestration import rerank_prompt, reranking
from orchestration.dependencies import Deps
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidate, Candidates
from orchestration.ranking.relevance import lexical_text
from schemas.errors import InvalidRequest, Unavailable
from schemas.intention import RetrievalIntention
from schemas.language_model import ModelCall
from substrate.inference.language.model import Question

RERANKED: Final = 30
"""So many of the best are ordered again: an answer shows few more, and a model's time grows with them."""


class Reranked(NamedTuple):
    """What was activated, in its new order, and what a model took for it."""

    activation: Activation
    calls: tuple[ModelCall, ...] = ()


type _Ranked = tuple[list[int], ModelCall]


async def reranked(
    intention: RetrievalIntention, activation: Activation, found: Candidates, deps: Deps
) -> Reranked:
    """The activation with its `RERANKED` best in the order that the intention asks for; else as it is.

    Raises InvalidRequest when that needs a model which is not configured.
    """
    way, best = intention.rerank, activation.order[:RERANKED]
    if way is None:
        return Reranked(activation)
    calls: tuple[ModelCall, ...] = ()
    if way == "mmr":
        places = reranking.diverse(best, found)
    elif way == "rrf":
        places = reranking.by_ranks(best, activation)
    else:
        ask = _by_language_model if way == "llm" else _by_reranker
        places, call = await ask(intention.query_text, [_text(found.memories[score.key]) for score in best], deps)
        calls = (call,)
    order_now = (*reranking.permuted(best, places), *activation.order[RERANKED:])
    return Reranked(Activation(order_now, activation.parts), calls)


def _text(memory: Candidate) -> str:
    speaker = memory.get("speaker")
    return f"{speaker}: {lexical_text(memory)}" if speaker else lexical_text(memory)


async def _by_language_model(question: str, texts: Sequence[str], deps: Deps) -> _Ranked:
    model = deps.language_model
    if model is None:
        raise InvalidRequest(
            "rerank is llm, and no language model is configured.",
            remedy="Set SUBSTRATE_LLM, or ask for mmr or rrf, which need none.",
        )
    asked = Question("rerank", rerank_prompt.messages(question, texts), model.question_seconds)
    value, call = await model.ask(asked, rerank_prompt.Order)
    return [] if value is None else rerank_prompt.places(value), call


async def _by_reranker(question: str, texts: Sequence[str], deps: Deps) -> _Ranked:
    reranker = deps.reranker
    if reranker is None:
        raise InvalidRequest(
            "rerank is custom, and no reranker is configured.",
            remedy="Set SUBSTRATE_RERANKER to package.module:Class, or ask for mmr or rrf, which need none.",
        )
    begun = time.perf_counter()
    places, failure = list[int](), None
    try:
        places = await reranker.places(question, texts)
    except Unavailable as error:
        failure = error.detail
    spent = round((time.perf_counter() - begun) * 1000, 3)
    call = ModelCall(purpose="rerank", model=reranker.path, milliseconds=spent, requests=1, failure=failure)
    return places, call
