"""The tensors of the official weights, read as data. Only who makes the model's file reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from substrate.inference.minilm.weights import WEIGHTS_SHA256, check

type Array = NDArray[np.float32]


class Weights:
    """The tensors of one checked safetensors file, read one by one so that they are never all in memory."""

    def __init__(self, file: safe_open) -> None:
        self._file = file

    def __getitem__(self, name: str) -> Array:
        tensor: Array = self._file.get_tensor(name)  # type: ignore[no-untyped-call]
        return tensor


@contextmanager
def weights(path: Path) -> Iterator[Weights]:
    """Check the file at `path`, then give its float32 tensors by name. Fault when it is not official."""
    check(path, WEIGHTS_SHA256)
    with safe_open(path, framework="np") as file:
        yield Weights(file)
