"""A reranker of the user's choice: a local cross-encoder, or a node postprocessor of LlamaIndex by its class path.

The libraries are imported when a reranker is opened, not with this module.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemas.errors import Unavailable
from substrate.inference.providers import ClassPath, import_with

if TYPE_CHECKING:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor

SECONDS: Final = 2.0
"""How long a question waits for its reranker."""
ONNX: Final = "onnx:"


class Reranker:
    """Ranks texts for a question within `seconds`, in a worker thread: most such classes compute. `name` is what
    answers and errors show: a class path, or `onnx:` and the last part of a directory."""

    def __init__(self, name: str, port: BaseNodePostprocessor, seconds: float = SECONDS) -> None:
        self.name = name
        self._port = port
        self._seconds = seconds

    async def rank(self, question: str, texts: Sequence[str]) -> list[int]:
        """Return indexes into `texts`, best first; the class may omit some. Raises Unavailable, with the reason,
        when the class takes too long, fails, or returns a foreign item."""
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.to_thread(self._rank, question, list(texts))
        except TimeoutError as exc:
            raise Unavailable(f"the reranker {self.name} did not answer within {self._seconds:g} s") from exc
        except Unavailable as exc:
            raise Unavailable(f"the reranker {self.name} failed: {exc.detail}") from exc
        except Exception as exc:
            # Whatever a foreign class raises, the question is answered without it.
            raise Unavailable(f"the reranker {self.name} failed ({type(exc).__name__})") from exc

    def _rank(self, question: str, texts: Sequence[str]) -> list[int]:
        from llama_index.core.schema import NodeWithScore, TextNode  # noqa: PLC0415

        nodes = [TextNode(id_=str(index), text=text) for index, text in enumerate(texts)]
        scored = [NodeWithScore(node=node, score=1.0 / (1 + index)) for index, node in enumerate(nodes)]
        return [int(item.node.node_id) for item in self._port.postprocess_nodes(scored, query_str=question)]


def open_reranker(setting: str | None) -> Reranker | None:
    """Open the cross-encoder in `onnx:DIRECTORY`, or the class at `package.module:Class`, with no arguments. None
    without a setting. Raises InvalidRequest when the class does not exist or is no `BaseNodePostprocessor`, or the
    directory holds no cross-encoder, or without the extra `llama-index`; Fault when the class cannot be built."""
    if setting is None:
        return None
    if setting.startswith(ONNX):
        encoder = import_with("llama-index", "substrate.inference.cross_encoder").CrossEncoder

        directory = Path(os.path.expanduser(setting.removeprefix(ONNX)))
        return Reranker(f"{ONNX}{directory.name}", encoder(directory, SECONDS))
    base = import_with("llama-index", "llama_index.core.postprocessor.types").BaseNodePostprocessor

    class_path = ClassPath(setting, "reranker", "node postprocessor", "SUBSTRATE_RERANKER")
    loaded: type[BaseNodePostprocessor] = class_path.load(base)
    with class_path.building():
        return Reranker(setting, loaded())
