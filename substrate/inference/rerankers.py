"""A reranker of the user's choice behind one port: a node postprocessor of LlamaIndex, by its import path.

The library is imported when a reranker is opened, not with this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from schemas.errors import Unavailable
from substrate.inference.class_path import ClassPath

if TYPE_CHECKING:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor

SECONDS: Final = 2.0
"""So long a question waits for a reranker."""


class Reranker:
    """Orders texts by a question, in a worker thread: most such classes compute."""

    def __init__(self, path: str, port: BaseNodePostprocessor, seconds: float = SECONDS) -> None:
        self.path = path
        self._port = port
        self._seconds = seconds

    async def places(self, question: str, texts: Sequence[str]) -> list[int]:
        """The places of the texts, best first; the class may leave out some.

        Raises Unavailable, which says why, when it is late, fails, or answers with what it was not given.
        """
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.to_thread(self._ordered, question, list(texts))
        except TimeoutError as exc:
            raise Unavailable(f"the reranker {self.path} did not answer within {self._seconds:g} s") from exc
        except Exception as exc:
            # Whatever a class of somebody else's raises, the question is answered without it.
            raise Unavailable(f"the reranker {self.path} failed ({type(exc).__name__})") from exc

    def _ordered(self, question: str, texts: Sequence[str]) -> list[int]:
        from llama_index.core.schema import NodeWithScore, TextNode  # noqa: PLC0415

        nodes = [TextNode(id_=str(place), text=text) for place, text in enumerate(texts)]
        given = [NodeWithScore(node=node, score=1.0 / (1 + place)) for place, node in enumerate(nodes)]
        return [int(one.node.node_id) for one in self._port.postprocess_nodes(given, query_str=question)]


def open_reranker(path: str | None) -> Reranker | None:
    """The reranker of the class at `package.module:Class`, built with no arguments; None where no path is set.

    Errors: InvalidRequest when there is no such class or it is no `BaseNodePostprocessor`; Fault when building
    fails.
    """
    if path is None:
        return None
    from llama_index.core.postprocessor.types import BaseNodePostprocessor  # noqa: PLC0415

    named = ClassPath(path, "reranker", "node postprocessor", "SUBSTRATE_RERANKER")
    kind: type[BaseNodePostprocessor] = named.found(BaseNodePostprocessor)
    with named.building():
        return Reranker(path, kind())
