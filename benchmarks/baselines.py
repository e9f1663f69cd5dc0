"""The rankings that Substrate is measured against: BM25, exact cosine, and their reciprocal rank fusion.

"RRF, asker" is the fusion over the turns of the role that asks, in a chat of roles: most of what a question to an
assistant asks for is what the asker said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from benchmarks.datasets import Conversation, Question, Turn
from orchestration.question.reading import ASKING

BM25, COSINE, RRF, ASKER_RRF = "BM25", "cosine", "RRF", "RRF, asker"
WITH_VECTORS: Final = (COSINE, RRF, ASKER_RRF)


def indexed_text(turn: Turn) -> str:
    """Return the text of a turn that every baseline indexes or embeds."""
    return f"{turn.speaker}: {turn.text}"


def is_asker(turn: Turn) -> bool:
    """Whether the turn is of the role that asks."""
    return turn.speaker.strip().casefold() in ASKING


def rank_all(
    conversation: Conversation,
    questions: Sequence[Question],
    turn_vectors: NDArray[np.floating[Any]],
    question_vectors: NDArray[np.floating[Any]],
) -> dict[str, list[list[str]]]:
    """Return the rankings of every baseline by its name; one vector a row.

    In a chat of two people, where no role asks, all turns count as those of the asker.
    """
    words = rank_bm25(conversation, questions)
    alike = rank_cosine(turn_vectors, question_vectors, [turn.id for turn in conversation.turns])
    fused = [rrf(pair) for pair in zip(words, alike, strict=True)]
    rankings = {BM25: words, COSINE: alike, RRF: fused, ASKER_RRF: fused}
    own = [place for place, turn in enumerate(conversation.turns) if is_asker(turn)]
    if own and len(own) < len(conversation.turns):
        told = replace(conversation, turns=tuple(conversation.turns[place] for place in own))
        rankings[ASKER_RRF] = rank_all(told, questions, turn_vectors[own], question_vectors)[RRF]
    return rankings


def rank_bm25(conversation: Conversation, questions: Sequence[Question]) -> list[list[str]]:
    """Return for each question the ids of all turns, best BM25 score first, equal scores in turn order."""
    ids = [turn.id for turn in conversation.turns]
    stemmer = Stemmer.Stemmer("english")
    documents = _tokens([indexed_text(turn) for turn in conversation.turns], stemmer)
    if not any(documents):
        return [list(ids) for _ in questions]
    index = bm25s.BM25()
    index.index(documents, show_progress=False)
    queries = _tokens([question.text for question in questions], stemmer)
    return [_ordered(ids, index.get_scores(query)) if query else list(ids) for query in queries]


def rank_standard_scores(
    conversation: Conversation,
    questions: Sequence[Question],
    turn_vectors: NDArray[np.floating[Any]],
    question_vectors: NDArray[np.floating[Any]],
) -> list[list[str]]:
    """Return for each question the ids of all turns by their `standard_scores`, best first."""
    ids = [turn.id for turn in conversation.turns]
    asked = [question.text for question in questions]
    return [_ordered(ids, row) for row in standard_scores(conversation, asked, turn_vectors, question_vectors)]


def standard_scores(
    conversation: Conversation,
    asked: Sequence[str],
    turn_vectors: NDArray[np.floating[Any]],
    question_vectors: NDArray[np.floating[Any]],
) -> NDArray[np.float64]:
    """Return for each question a row: the sum of the standard scores of BM25 and cosine of each turn, plus a third
    of that of the turn before and of the turn after."""
    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    index.index(_tokens([indexed_text(turn) for turn in conversation.turns], stemmer), show_progress=False)
    queries = _tokens(list(asked), stemmer)
    similarity = _unit(question_vectors) @ _unit(turn_vectors).T
    rows = np.zeros(similarity.shape)
    for row, query, alike in zip(rows, queries, similarity, strict=True):
        said = index.get_scores(query) if query else np.zeros(len(alike))
        both = _standard(said) + _standard(alike)
        beside = np.pad(both, 1)
        row[:] = both + (beside[:-2] + beside[2:]) / 3
    return rows


def _standard(scores: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """The distance of each from the mean, in standard deviations; 0 where all are equal."""
    values = np.asarray(scores, dtype=np.float64)
    return (values - values.mean()) / (values.std() or 1.0)


class Bm25:
    """The BM25 of a question with the texts that best fit it."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._stemmer = Stemmer.Stemmer("english")
        self._index = bm25s.BM25()
        self._index.index(_tokens(list(texts), self._stemmer), show_progress=False)

    def best(self, question: str) -> float:
        """Return the score of the best text, 0 for a question without words."""
        [query] = _tokens([question], self._stemmer)
        return float(max(self._index.get_scores(query))) if query else 0.0


def rank_cosine(
    turn_vectors: NDArray[np.floating[Any]],
    question_vectors: NDArray[np.floating[Any]],
    ids: Sequence[str],
) -> list[list[str]]:
    """Return for each question all ids, nearest turn first, equals in turn order; one vector per row.

    Raises ValueError when there are not as many turn vectors as ids.
    """
    if len(turn_vectors) != len(ids):
        raise ValueError(f"{len(turn_vectors)} turn vectors for {len(ids)} ids")
    similarity = _unit(question_vectors) @ _unit(turn_vectors).T
    return [_ordered(ids, row) for row in similarity]


def rrf(rankings: Iterable[Sequence[str]], k: int = 60) -> list[str]:
    """Fuse the rankings for one question by the sum of 1 / (k + rank), rank from 1; ties as first seen."""
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] += 1 / (k + rank)
    return sorted(scores, key=scores.__getitem__, reverse=True)


def _tokens(texts: list[str], stemmer: Any) -> list[list[str]]:
    """Return the stemmed lower-case words of each text without English stop words."""
    words: list[list[str]] = bm25s.tokenize(
        texts, stopwords="english", stemmer=stemmer, return_ids=False, show_progress=False
    )
    return words


def _ordered(ids: Sequence[str], scores: NDArray[np.floating[Any]]) -> list[str]:
    return [ids[position] for position in np.argsort(-scores, kind="stable")]


def _unit(vectors: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Scale each row to length one; a row of zeros stays zero."""
    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1.0, lengths)
