"""A cross-encoder made for tests, in the files of a real one: it counts the words of a text that were asked for.

Two words of the vocabulary command it: a pair with `nonsense` has no number for a score, and one with `slowly` is
not scored before a question has stopped waiting.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx import save as save_model
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
COMMANDS: Final = ("nonsense", "slowly")
ROUNDS: Final = 2_000_000
"""Of a loop that adds 1: a second or more."""
INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")


def make(directory: Path, words: str, *, outputs: int = 1, more_inputs: tuple[str, ...] = ()) -> Path:
    """Write the files into `directory`, for texts of these words; others are all one word that never counts.

    `outputs`: how many numbers it gives for a pair. `more_inputs`: what else it asks for, by name.
    """
    directory.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: place for place, word in enumerate(dict.fromkeys((*SPECIAL, *COMMANDS, *words.split())))}
    _tokenizer(vocabulary).save(str(directory / "tokenizer.json"))
    save_model(_model(vocabulary, outputs, (*INPUTS, *more_inputs)), str(directory / "model.onnx"))
    return directory


def _tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.enable_padding(length=512)  # as real ones are exported: who reads one pair must switch it off
    return tokenizer


def _model(vocabulary: dict[str, int], outputs: int, inputs: tuple[str, ...]) -> ModelProto:
    ids, mask, types = INPUTS
    constants = {
        "special": np.int64(len(SPECIAL)),
        "nonsense": np.int64(vocabulary["nonsense"]),
        "slowly": np.int64(vocabulary["slowly"]),
        "rounds": np.int64(ROUNDS),
        "question axis": np.array([2], np.int64),
        "text axis": np.array([1], np.int64),
        "all axes": np.array([0, 1, 2], np.int64),
        "row": np.array([1, 1], np.int64),
        "columns": np.array([1, outputs], np.int64),
        "zero": np.float32(0),
    }
    nodes = [
        # A word counts when it is of the vocabulary, stands in both, and is no padding.
        _node("GreaterOrEqual", [ids, "special"], "known"),
        _node("Cast", ["known"], "known number", to=TensorProto.INT64),
        _node("Mul", ["known number", mask], "counts"),
        _node("Mul", ["counts", types], "of text"),
        _node("Sub", ["counts", "of text"], "of question"),
        _node("Unsqueeze", ["of question", "question axis"], "of question, down"),
        _node("Unsqueeze", ["of text", "text axis"], "of text, across"),
        _node("Unsqueeze", [ids, "question axis"], "down"),
        _node("Unsqueeze", [ids, "text axis"], "across"),
        _node("Equal", ["down", "across"], "same"),
        _node("Cast", ["same"], "same number", to=TensorProto.INT64),
        _node("Mul", ["of question, down", "of text, across"], "both"),
        _node("Mul", ["both", "same number"], "shared"),
        _node("ReduceSum", ["shared", "all axes"], "sum", keepdims=0),
        _node("Cast", ["sum"], "score", to=TensorProto.FLOAT),
        *_holds(ids, "nonsense"),
        _node("Neg", ["nonsense held"], "minus"),
        _node("Cast", ["minus"], "minus float", to=TensorProto.FLOAT),
        _node("Sqrt", ["minus float"], "nothing or no number"),
        *_holds(ids, "slowly"),
        _node("Mul", ["slowly held", "rounds"], "wait"),
        helper.make_node("Loop", ["wait", "", "zero"], ["waited"], body=_one_round()),
        _node("Mul", ["waited", "zero"], "nothing"),
        _node("Sum", ["score", "nothing or no number", "nothing"], "total"),
        _node("Reshape", ["total", "row"], "logit"),
        _node("Expand", ["logit", "columns"], "logits"),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny cross-encoder",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", outputs])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _node(kind: str, inputs: list[str], output: str, **attributes: int) -> NodeProto:
    return helper.make_node(kind, inputs, [output], **attributes)


def _holds(ids: str, word: str) -> list[NodeProto]:
    """1 when the pair holds the word, else 0, as `{word} held`."""
    return [
        _node("Equal", [ids, word], f"{word} where"),
        _node("Cast", [f"{word} where"], f"{word} places", to=TensorProto.INT64),
        _node("ReduceMax", [f"{word} places"], f"{word} held", keepdims=0),
    ]


def _one_round() -> GraphProto:
    """The body of a loop: adds 1."""
    return helper.make_graph(
        [
            helper.make_node("Identity", ["going"], ["still going"]),
            helper.make_node("Add", ["sum before", "step"], ["sum after"]),
        ],
        "one round",
        [
            helper.make_tensor_value_info("round", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum before", TensorProto.FLOAT, []),
        ],
        [
            helper.make_tensor_value_info("still going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum after", TensorProto.FLOAT, []),
        ],
        [numpy_helper.from_array(np.float32(1), "step")],
    )
