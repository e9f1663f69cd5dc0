"""all-MiniLM-L6-v2 as an ONNX graph, built from the tensors of its official weights.

BERT with 6 layers, hidden size 384, 12 heads and gelu by erf; then the mean over the tokens, at unit length. The
graph takes one text at a time: `ids`, int32 [1, tokens], without padding and so without an attention mask; the
vector of a text cannot depend on its neighbours. On one core, batches would be about 15 % faster.

Only imported to build the model's file: a wheel does not contain it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from safetensors import safe_open

from substrate.inference.minilm.weights import WEIGHTS_SHA256, check

MAX_TOKENS: Final = 256
DIMENSION: Final = 384
LAYERS: Final = 6
HEADS: Final = 12
EPSILON: Final = 1e-12
BLOCK: Final = 64
MICROSOFT: Final = "com.microsoft"
# MatMulNBits, level 4: the activations are quantised to int8 too, each row in blocks of its own.
INT8_ACTIVATIONS: Final = 4

type Precision = Literal["fp32", "int8"]
type Array = NDArray[np.float32]


class Tensors(Protocol):
    """The float32 tensors of the model, by their names in its safetensors file."""

    def __getitem__(self, name: str, /) -> Array: ...


class WeightsFile:
    """The tensors of a checked safetensors file, read one by one so that they are never all in memory."""

    def __init__(self, file: safe_open) -> None:
        self._file = file

    def __getitem__(self, name: str) -> Array:
        tensor: Array = self._file.get_tensor(name)  # type: ignore[no-untyped-call]
        return tensor


@contextmanager
def open_weights(path: Path) -> Iterator[WeightsFile]:
    """The tensors of the weights at `path`. Raises Fault when the file is not the official one."""
    check(path, WEIGHTS_SHA256)
    with safe_open(path, framework="np") as file:
        yield WeightsFile(file)


class _Graph:
    """Collects nodes and constants; a value is referred to by its name."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, inputs: list[str], domain: str = "", **attributes: object) -> str:
        return self.split(kind, inputs, 1, domain, **attributes)[0]

    def split(
        self, kind: str, inputs: list[str], outputs: int, domain: str = "", **attributes: object
    ) -> list[str]:
        names = [f"{kind}.{len(self.nodes)}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names


class _Builder:
    def __init__(self, tensors: Tensors, precision: Precision) -> None:
        self.tensors = tensors
        self.precision = precision
        self.graph = _Graph()

    def tensor(self, name: str) -> str:
        return self.graph.constant(name, self.tensors[name])

    def linear(self, x: str, name: str, weight: Array) -> str:
        """`x` [1, tokens, in] times the transpose of `weight` [out, in]; the next node adds the bias."""
        graph = self.graph
        if self.precision == "fp32":
            return graph.add("MatMul", [x, graph.constant(name, weight.T)])
        out, width = weight.shape
        codes, scales = quantised(weight)
        inputs = [x, graph.constant(name, codes), graph.constant(f"{name}.scales", scales)]
        shape = {"N": out, "K": width, "bits": 8, "block_size": BLOCK}
        return graph.add("MatMulNBits", inputs, MICROSOFT, accuracy_level=INT8_ACTIVATIONS, **shape)

    def embeddings(self) -> str:
        """`ids` -> [1, tokens, 384]: word, position and first token type added up and normalised."""
        graph = self.graph
        words = self.tensors["embeddings.word_embeddings.weight"]
        if self.precision == "fp32":
            x = graph.add("Gather", [graph.constant("words", words), "ids"])
        else:
            halves = graph.constant("words", words.astype(np.float16))
            x = graph.add("Cast", [graph.add("Gather", [halves, "ids"])], to=TensorProto.FLOAT)
        places = self.tensors["embeddings.position_embeddings.weight"][:MAX_TOKENS]
        places = places + self.tensors["embeddings.token_type_embeddings.weight"][0]
        tokens = graph.add("Shape", ["ids"], start=1, end=2)
        start = graph.constant("start", np.zeros(1, np.int64))
        x = graph.add("Add", [x, graph.add("Slice", [graph.constant("places", places), start, tokens])])
        norm = [self.tensor(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias")]
        return graph.add("LayerNormalization", [x, *norm], axis=-1, epsilon=EPSILON)

    def layer(self, x: str, at: str) -> str:
        """One transformer layer, [1, tokens, 384] -> [1, tokens, 384]."""
        graph = self.graph
        parts = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        joint = np.concatenate([self.tensors[f"{part}.weight"] for part in parts])
        bias = np.concatenate([self.tensors[f"{part}.bias"] for part in parts])
        qkv = graph.split("Split", [self.linear(x, f"{at}.qkv", joint)], 3, axis=-1, num_outputs=3)
        inputs = [*qkv, graph.constant(f"{at}.qkv.bias", bias)]
        attended = graph.add("MultiHeadAttention", inputs, MICROSOFT, num_heads=HEADS)
        x = self.dense_and_norm(attended, x, f"{at}.attention.output")
        wide = self.linear(x, f"{at}.wide", self.tensors[f"{at}.intermediate.dense.weight"])
        wide = graph.add("BiasGelu", [wide, self.tensor(f"{at}.intermediate.dense.bias")], MICROSOFT)
        return self.dense_and_norm(wide, x, f"{at}.output")

    def dense_and_norm(self, x: str, skip: str, at: str) -> str:
        dense = self.linear(x, f"{at}.dense", self.tensors[f"{at}.dense.weight"])
        names = [f"{at}.LayerNorm.weight", f"{at}.LayerNorm.bias", f"{at}.dense.bias"]
        inputs = [dense, skip, *(self.tensor(name) for name in names)]
        return self.graph.add("SkipLayerNormalization", inputs, MICROSOFT, epsilon=EPSILON)

    def model(self) -> ModelProto:
        x = self.embeddings()
        for i in range(LAYERS):
            x = self.layer(x, f"encoder.layer.{i}")
        axis = self.graph.constant("token axis", np.array([1], np.int64))
        mean = self.graph.add("ReduceMean", [x, axis], keepdims=0)
        self.graph.nodes.append(helper.make_node("LpNormalization", [mean], ["vector"], axis=-1, p=2))
        ids = helper.make_tensor_value_info("ids", TensorProto.INT32, [1, "tokens"])
        vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, DIMENSION])
        graph = helper.make_graph(self.graph.nodes, "all-MiniLM-L6-v2", [ids], [vector], self.graph.constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="substrate")


def quantised(weight: Array) -> tuple[NDArray[np.uint8], Array]:
    """`weight` [out, in] -> codes uint8 [out, blocks, 64] around 128, and scales float32 [out, blocks]."""
    blocks = weight.reshape(weight.shape[0], -1, BLOCK)
    scales: Array = (np.abs(blocks).max(axis=-1, keepdims=True) / 127).astype(np.float32)
    codes = np.rint(blocks / scales) + 128
    return codes.astype(np.uint8), scales[..., 0]


def build(tensors: Tensors, precision: Precision) -> ModelProto:
    """The model: `ids` int32 [1, tokens <= 256] -> `vector` float32 [1, 384] of unit length."""
    return _Builder(tensors, precision).model()
