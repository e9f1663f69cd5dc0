"""all-MiniLM-L6-v2 as an ONNX graph, built from the tensors of its official weights.

BERT with 6 layers, hidden size 384, 12 heads and gelu by erf; then the mean over the tokens, at unit length. The
graph takes one text at a time: `ids`, int32 [1, tokens], without padding and so without an attention mask; the
vector of a text cannot depend on its neighbours. Batches of four would gain 5 %, larger ones lose: the values of a
layer then no longer fit a core's cache.

Three precisions. `fp32` is the official model. `int8` multiplies with MatMulNBits: fast where the processor has
instructions for sums of products of bytes (VNNI on x86, dot products on ARM), slower than fp32 where it has not.
`u8s8` multiplies whole rows of bytes by whole columns of bytes, which AVX2 does faster than fp32.

Only imported to build the model's file: a wheel does not contain it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from safetensors import safe_open

from substrate.inference.minilm.model_file import WEIGHTS_SHA256, Precision, check

MAX_TOKENS: Final = 256
DIMENSION: Final = 384
LAYERS: Final = 6
HEADS: Final = 12
EPSILON: Final = 1e-12
BLOCK: Final = 64
MICROSOFT: Final = "com.microsoft"
# MatMulNBits, level 4: the activations are quantised to int8 too, each row in blocks of its own.
INT8_ACTIVATIONS: Final = 4

# u8s8. The largest value of a row of activations sets its scale, so a few large channels cost all others their
# accuracy. These are large in any text (up to 30; the median channel reaches 2), and are multiplied in fp32.
LARGE: Final = (63, 99, 127, 157, 223, 267, 319, 338)
"""In the normalised values before `qkv` and `wide`, in every layer."""
LARGE_WIDE: Final = {0: (856,), 1: (607,), 2: (218, 1004), 3: (358,)}
"""After the gelu, by layer."""
LEAST_GELU: Final = -0.17
SIGNED_ZERO: Final = 128
GELU_ZERO: Final = 16
"""The code of zero: gelu needs few codes below it."""
# AVX2 adds two products of bytes in 16 bits: 255 * (a + b) must stay below 32,768.
PAIR: Final = 128
CLIPS: Final = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)

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
    """The graph in fp32 or int8."""

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
        joint, bias = self.attention(at)
        qkv = graph.split("Split", [self.linear(x, f"{at}.qkv", joint)], 3, axis=-1, num_outputs=3)
        inputs = [*qkv, graph.constant(f"{at}.qkv.bias", bias)]
        attended = graph.add("MultiHeadAttention", inputs, MICROSOFT, num_heads=HEADS)
        x = self.dense_and_norm(attended, x, f"{at}.attention.output")
        wide = self.linear(x, f"{at}.wide", self.tensors[f"{at}.intermediate.dense.weight"])
        wide = graph.add("BiasGelu", [wide, self.tensor(f"{at}.intermediate.dense.bias")], MICROSOFT)
        return self.dense_and_norm(wide, x, f"{at}.output")

    def attention(self, at: str) -> tuple[Array, Array]:
        """The weights and the biases of query, key and value, joined."""
        parts = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        weights = np.concatenate([self.tensors[f"{part}.weight"] for part in parts])
        return weights, np.concatenate([self.tensors[f"{part}.bias"] for part in parts])

    def dense_and_norm(self, x: str, skip: str, at: str) -> str:
        dense = self.linear(x, f"{at}.dense", self.tensors[f"{at}.dense.weight"])
        names = [f"{at}.LayerNorm.weight", f"{at}.LayerNorm.bias", f"{at}.dense.bias"]
        inputs = [dense, skip, *map(self.tensor, names)]
        return self.graph.add("SkipLayerNormalization", inputs, MICROSOFT, epsilon=EPSILON)

    def mean(self, x: str) -> str:
        axis = self.graph.constant("token axis", np.array([1], np.int64))
        return self.graph.add("ReduceMean", [x, axis], keepdims=0)

    def model(self) -> ModelProto:
        x = self.embeddings()
        for i in range(LAYERS):
            x = self.layer(x, f"encoder.layer.{i}")
        mean = self.mean(x)
        self.graph.nodes.append(helper.make_node("LpNormalization", [mean], ["vector"], axis=-1, p=2))
        ids = helper.make_tensor_value_info("ids", TensorProto.INT32, [1, "tokens"])
        vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, DIMENSION])
        graph = helper.make_graph(self.graph.nodes, "all-MiniLM-L6-v2", [ids], [vector], self.graph.constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="substrate")


class _RowsBuilder(_Builder):
    """The graph in u8s8. All values are [tokens, ...], without the axis of texts."""

    def __init__(self, tensors: Tensors, precision: Precision) -> None:
        super().__init__(tensors, precision)
        self.zeros: dict[int, str] = {}

    def once(self, name: str, value: NDArray[np.generic]) -> str:
        """A constant that several nodes use."""
        if all(constant.name != name for constant in self.graph.constants):
            self.graph.constant(name, value)
        return name

    def embeddings(self) -> str:
        x = super().embeddings()
        return self.graph.add("Squeeze", [x, self.once("text axis", np.zeros(1, np.int64))])

    def layer(self, x: str, at: str) -> str:
        graph, text = self.graph, self.once("text axis", np.zeros(1, np.int64))
        joint, bias = self.attention(at)
        joined = graph.add("Unsqueeze", [self.rows(x, f"{at}.qkv", joint, LARGE), text])
        qkv = graph.split("Split", [joined], 3, axis=-1, num_outputs=3)
        inputs = [*qkv, graph.constant(f"{at}.qkv.bias", bias)]
        attended = graph.add("MultiHeadAttention", inputs, MICROSOFT, num_heads=HEADS)
        attended = graph.add("Squeeze", [attended, text])
        x = self.add_and_norm(attended, x, f"{at}.attention.output")
        wide = self.rows(x, f"{at}.wide", self.tensors[f"{at}.intermediate.dense.weight"], LARGE)
        wide = graph.add("BiasGelu", [wide, self.tensor(f"{at}.intermediate.dense.bias")], MICROSOFT)
        large = LARGE_WIDE.get(int(at.rpartition(".")[2]), ())
        return self.add_and_norm(wide, x, f"{at}.output", large, after_gelu=True)

    def add_and_norm(
        self, x: str, skip: str, at: str, large: tuple[int, ...] = (), *, after_gelu: bool = False
    ) -> str:
        """As SkipLayerNormalization."""
        graph = self.graph
        dense = self.rows(x, f"{at}.dense", self.tensors[f"{at}.dense.weight"], large, after_gelu=after_gelu)
        dense = graph.add("Add", [dense, self.tensor(f"{at}.dense.bias")])
        norm = [self.tensor(f"{at}.LayerNorm.{part}") for part in ("weight", "bias")]
        inputs = [graph.add("Add", [dense, skip]), *norm]
        return graph.add("LayerNormalization", inputs, axis=-1, epsilon=EPSILON)

    def rows(self, x: str, name: str, weight: Array, large: tuple[int, ...], *, after_gelu: bool = False) -> str:
        """`x` [tokens, in] times the transpose of `weight`: in bytes, but the channels `large` in fp32."""
        graph = self.graph
        small = np.ones(weight.shape[1], np.float32)
        small[list(large)] = 0
        kept = graph.add("Mul", [x, graph.constant(f"{name}.small", small)]) if large else x
        steps, zero, zeros = self.steps(kept, after_gelu=after_gelu)
        flat = graph.add("Reshape", [steps, self.once("flat", np.array([-1], np.int64))])
        codes = graph.add("QuantizeLinear", [kept, flat, zeros], axis=0)
        whole, scales = quantised_rows(weight * small)
        factors = [graph.constant(name, whole.T), self.number("one", 1.0)]
        inputs = [codes, *factors, graph.constant(f"{name}.scales", scales), zero]
        product = graph.add("MatMulIntegerToFloat", inputs, MICROSOFT)
        product = graph.add("Mul", [product, steps])
        if not large:
            return product
        places = graph.constant(f"{name}.places", np.array(large, np.int64))
        columns = graph.constant(f"{name}.large", weight[:, list(large)].T)
        return graph.add("Gemm", [graph.add("Gather", [x, places], axis=1), columns, product])

    def steps(self, x: str, *, after_gelu: bool) -> tuple[str, str, str]:
        """The step between two codes for each row, [tokens, 1], and the code of zero: once, and for each row."""
        graph = self.graph
        axis = self.once("row axis", np.array([1], np.int64))
        if after_gelu:
            most = graph.add("ReduceMax", [x, axis], keepdims=1)
            steps = graph.add("Mul", [most, self.number("gelu step", 1 / (255 - GELU_ZERO))])
            steps = graph.add("Max", [steps, self.number("least gelu step", -LEAST_GELU / GELU_ZERO)])
            return steps, *self.zero(GELU_ZERO)
        most = graph.add("ReduceMax", [graph.add("Abs", [x]), axis], keepdims=1)
        return graph.add("Mul", [most, self.number("step", 1 / 127)]), *self.zero(SIGNED_ZERO)

    def number(self, name: str, value: float) -> str:
        return self.once(name, np.array(value, np.float32))

    def zero(self, code: int) -> tuple[str, str]:
        name = self.once(f"zero {code}", np.array(code, np.uint8))
        if code not in self.zeros:
            size = self.graph.add("Shape", ["ids"], start=1, end=2)
            self.zeros[code] = self.graph.add("Expand", [name, size])
        return name, self.zeros[code]

    def mean(self, x: str) -> str:
        axis = self.once("text axis", np.zeros(1, np.int64))
        return self.graph.add("ReduceMean", [x, axis], keepdims=1)


def quantised_rows(weight: Array) -> tuple[NDArray[np.int8], Array]:
    """`weight` [out, in] -> codes int8 [out, in] and scales float32 [out]. Of two neighbouring codes, those of one
    sign add up to 128 at most. Each scale is the one with the least squared error among some that clip the largest
    weights."""
    pairs = weight.reshape(len(weight), -1, 2)
    one_sign = [np.maximum(sign * pairs, 0).sum(-1).max(-1) for sign in (1, -1)]
    widest = np.maximum.reduce([*(total / PAIR for total in one_sign), np.abs(weight).max(-1) / 127])
    best, scales = np.zeros(weight.shape, np.float32), np.ones_like(widest)
    least = np.full_like(widest, np.inf)
    for clip in CLIPS:
        codes = _paired(weight / (widest * clip)[:, None])
        errors = ((codes * (widest * clip)[:, None] - weight) ** 2).sum(-1)
        better = errors < least
        best[better], scales[better], least[better] = codes[better], (widest * clip)[better], errors[better]
    return best.astype(np.int8), scales.astype(np.float32)


def _paired(codes: Array) -> Array:
    """Whole codes of at most 127, each two of them shortened where those of one sign add up to more than 128."""
    pairs = np.clip(np.rint(codes), -127, 127).reshape(len(codes), -1, 2)
    total = np.maximum.reduce([np.maximum(sign * pairs, 0).sum(-1, keepdims=True) for sign in (1, -1)])
    shortened = np.trunc(pairs * (PAIR / np.maximum(total, 1)))
    paired: Array = np.where(total > PAIR, shortened, pairs).reshape(codes.shape)
    return paired


def quantised(weight: Array) -> tuple[NDArray[np.uint8], Array]:
    """`weight` [out, in] -> codes uint8 [out, blocks, 64] around 128, and scales float32 [out, blocks]."""
    blocks = weight.reshape(weight.shape[0], -1, BLOCK)
    scales: Array = (np.abs(blocks).max(axis=-1, keepdims=True) / 127).astype(np.float32)
    codes = np.rint(blocks / scales) + 128
    return codes.astype(np.uint8), scales[..., 0]


def build(tensors: Tensors, precision: Precision) -> ModelProto:
    """The model: `ids` int32 [1, tokens <= 256] -> `vector` float32 [1, 384] of unit length."""
    return (_RowsBuilder if precision == "u8s8" else _Builder)(tensors, precision).model()
