"""A reranker of the user's choice: a node postprocessor of LlamaIndex, by its class path.

The library is imported when a reranker is opened, not with this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from schemas.errors import Unavailable
from substrate.inference.providers import ClassPath

if TYPE_CHECKING:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor

SECONDS: Final = 2.0


class Reranker:
    """Ranks texts for a question within `seconds`, in a worker thread: most such classes compute."""

    def __init__(self, path: str, port: BaseNodePostprocessor, seconds: float = SECONDS) -> None:
        self.path = path
        self._port = port
        self._seconds = seconds

    async def rank(self, question: str, texts: Sequence[str]) -> list[int]:
        """Return indexes into `texts`, best first; the class may omit some.

        Raises Unavailable, with the reason, when the class takes too long, fails, or returns a foreign item.
        """
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.to_thread(self._rank, question, list(texts))
        except TimeoutError as exc:
            raise Unavailable(f"the reranker {self.path} did not answer within {self._seconds:g} s") from exc
        except Exception as exc:
            # Whatever a foreign class raises, the question is answered without it.
            raise Unavailable(f"the reranker {self.path} failed ({type(exc).__name__})") from exc

    def _rank(self, question: str, texts: Sequence[str]) -> list[int]:
        from llama_index.core.schema import NodeWithScore, TextNode  # noqa: PLC0415

        nodes = [TextNode(id_=str(index), text=text) for index, text in enumerate(texts)]
        scored = [NodeWithScore(node=node, score=1.0 / (1 + index)) for index, node in enumerate(nodes)]
        return [int(item.node.node_id) for item in self._port.postprocess_nodes(scored, query_str=question)]


def open_reranker(path: str | None) -> Reranker | None:
    """Open the reranker class at `package.module:Class`, with no arguments; None without a path.

    Raises InvalidRequest when the class does not exist or is no `BaseNodePostprocessor`, Fault when it cannot be
    built.
    """
    if path is None:
        return None
    from llama_index.core.postprocessor.types import BaseNodePostprocessor  # noqa: PLC0415

    class_path = ClassPath(path, "reranker", "node postprocessor", "SUBSTRATE_RERANKER")
    loaded: type[BaseNodePostprocessor] = class_path.load(BaseNodePostprocessor)
    with class_path.building():
        return Reranker(path, loaded())
