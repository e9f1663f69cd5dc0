"""A cross-encoder on ONNX Runtime: a model that reads a question and a text together and gives the pair one score.

Nogueira and Cho, "Passage re-ranking with BERT", 2019. The directory holds `model.onnx` and `tokenizer.json`, as
sentence-transformers and Optimum export them.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from tokenizers import Tokenizer

from schemas.errors import InvalidRequest, Unavailable

MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
MAX_TOKENS: Final = 256
"""Of a pair. 30 pairs of them take about a second on two cores with 22 million parameters; more would be late."""
MAX_CHARACTERS: Final = 16_384
"""Of a text: the rest of a huge one is far behind `MAX_TOKENS` and need not be tokenised."""
TYPES: Final = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
PROBE: Final = ("Where does Rosa live?", "Rosa: My flat in Lisbon is small.")
REMEDY: Final = (
    "Write SUBSTRATE_RERANKER as onnx:DIRECTORY, with model.onnx and tokenizer.json of a cross-encoder in it."
)


class CrossEncoder(BaseNodePostprocessor):
    """Orders nodes by the scores of a cross-encoder, best first; nodes with equal scores keep their order.

    Pairs run one at a time, so a score cannot depend on its neighbours and no padding is computed, and the work
    ends soon after `seconds`: nobody waits for it any longer.
    """

    _session: onnxruntime.InferenceSession = PrivateAttr()
    _tokenizer: Tokenizer = PrivateAttr()
    _seconds: float = PrivateAttr()

    def __init__(self, directory: Path, seconds: float) -> None:
        """Load the model and let it score one pair. Raises InvalidRequest when a file is missing or unreadable, or
        the model is no cross-encoder."""
        super().__init__()
        self._seconds = seconds
        # Its own limit of tokens holds when it is lower than ours.
        path = directory / TOKENIZER
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as exc:  # its errors have no other base class
            raise InvalidRequest(f"the tokenizer {path} cannot be read", remedy=REMEDY) from exc
        tokenizer.no_padding()
        limit = (tokenizer.truncation or {}).get("max_length", MAX_TOKENS)
        tokenizer.enable_truncation(min(limit, MAX_TOKENS))
        self._tokenizer = tokenizer
        self._session = _open_session(directory / MODEL)
        self.score(*PROBE)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        """Raises TimeoutError after `seconds`, Unavailable when a score is no number."""
        question = "" if query_bundle is None else query_bundle.query_str
        deadline = time.monotonic() + self._seconds
        scores = []
        for node in nodes:
            if time.monotonic() >= deadline:
                raise TimeoutError
            scores.append(self.score(question, node.node.get_content(MetadataMode.NONE)))
        order = sorted(range(len(nodes)), key=lambda place: -scores[place])
        return [NodeWithScore(node=nodes[place].node, score=scores[place]) for place in order]

    def score(self, question: str, text: str) -> float:
        """The score of a pair, on the scale of the model. Raises InvalidRequest when the model does not give one
        number, Unavailable when that is not finite."""
        pair = self._tokenizer.encode(question[:MAX_CHARACTERS], text[:MAX_CHARACTERS])
        given = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
        inputs = {}
        for asked in self._session.get_inputs():
            if asked.name not in given or asked.type not in TYPES:
                raise InvalidRequest(
                    f"the model asks for {asked.name}, {asked.type}, not for tokens", remedy=REMEDY
                )
            inputs[asked.name] = np.array([given[asked.name]], TYPES[asked.type])
        scores = np.asarray(self._session.run(None, inputs)[0])
        if scores.size != 1:
            raise InvalidRequest(f"the model gives {scores.size} numbers for a pair, not one score", remedy=REMEDY)
        score = float(scores.reshape(()))
        if not np.isfinite(score):
            raise Unavailable("the model gave a score that is no number")
        return score


def _open_session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # the arena would never release the peak of the longest text
    options.log_severity_level = 3  # errors: what it warns of in a graph that others exported is not ours to mend
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads leave the cores alone
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as exc:  # its errors have no other base class
        raise InvalidRequest(f"ONNX Runtime cannot load {path}", remedy=REMEDY) from exc
