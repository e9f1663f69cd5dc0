"""Stores the passages of long texts after the texts themselves: those that are missing, so it can be repeated.

A long text has thousands of vectors, too many for the statement that stores its memory. The memory is found at
once, by its beginning and its words. When this ends early, the same command sent again, or the sweep, goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import batched
from typing import Any

from orchestration.writing.passages import LongText, Span, cut, passage_handle, set_apart
from substrate.graphs.graph import Graph
from substrate.inference.embeddings import Embedder
from substrate.language.text import search_text
from substrate.store import passages


async def fill(graph: Graph, texts: Iterable[LongText], embedder: Embedder) -> int:
    """Store the passages that the texts lack; returns how many were stored.

    Raises Unavailable when the engine or the embedding model does not answer.
    """
    added = 0
    for long_text in texts:
        memory_id, digest, text = long_text
        stored = await passages.stored_starts(graph, memory_id, digest)
        missing = [span for span in await asyncio.to_thread(cut, text) if span.start not in stored]
        for part in batched(missing, passages.PASSAGES_AT_ONCE):
            rows = await _rows(long_text, part, embedder)
            written = await passages.add_passages(graph, memory_id, digest, rows)
            if not written:
                break  # the memory was erased, or another process stores the same passages
            added += written
    return added


async def _rows(long_text: LongText, spans: Sequence[Span], embedder: Embedder) -> list[dict[str, Any]]:
    parts = [long_text.text[span.start : span.end] for span in spans]
    distinct = list(dict.fromkeys(parts))  # a log or a table repeats itself
    embedded = dict(zip(distinct, await embedder.embed_texts(distinct), strict=True))

    def make_rows() -> list[dict[str, Any]]:
        rows = []
        for span, part in zip(spans, parts, strict=True):
            handle = passage_handle(long_text.memory_id, long_text.digest, span.start)
            own = {"handle": handle, "text": part, "search_text": search_text(part)}
            rows.append({**span._asdict(), **own, "embedding": set_apart(embedded[part], handle) or None})
        return rows

    return await asyncio.to_thread(make_rows)
