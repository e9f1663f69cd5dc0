"""The ONNX file of the local model: made once, sealed, kept in the cache directory.

The file ends with the SHA-256 (hex) of the recipe and of all bytes before it, as the last metadata entry, so
that it is still an ONNX file. A file that is cut, altered or of another recipe does not match its seal and is
made anew. Writers finish a file of their own and rename it: of two at once, the last one wins, and a reader
never sees half a file.
"""

from __future__ import annotations

import hashlib
import os
from importlib import import_module
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Final

from schemas.errors import Fault
from substrate.embeddings.minilm_weights import WEIGHTS_SHA256, installed, weights

if TYPE_CHECKING:
    from substrate.embeddings.minilm_onnx import Precision

# Raise it with every change of the graph, or files made by older code would be used for newer code.
RECIPE: Final = 1
SEAL: Final = 64


def onnx_file(cache: Path, precision: Precision) -> bytes:
    """The serialised model, from the file in `cache` when that is whole, else built and put there.

    The SHA-256 of the weights is checked when the file is built and is part of its name and seal; afterwards
    the weights are not opened.
    Errors: Fault when the weights are missing or not the official ones, or `cache` cannot be written.
    """
    path = cache / file_name(precision)
    try:
        model = path.read_bytes()
    except FileNotFoundError:
        model = b""
    except OSError as exc:
        raise _unusable(cache) from exc
    if model[-SEAL:] == _seal(model[:-SEAL], path.name):
        return model
    model = _built(path.name, precision)
    _write(path, model)
    return model


def file_name(precision: Precision) -> str:
    """Name of the cached file: the recipe, the precision and the beginning of the weights' SHA-256."""
    return f"all-MiniLM-L6-v2-{precision}-recipe{RECIPE}-{WEIGHTS_SHA256[:12]}.onnx"


def _built(recipe: str, precision: Precision) -> bytes:
    # Imported only to build: the onnx package would stay in the memory of every serving process.
    builder = import_module("substrate.embeddings.minilm_onnx")
    with weights(installed().weights) as tensors:
        model = builder.build(tensors, precision)
    for key, value in (("weights", WEIGHTS_SHA256), ("recipe", recipe), ("seal", "0" * SEAL)):
        model.metadata_props.add(key=key, value=value)
    body: bytes = model.SerializeToString()[:-SEAL]
    return body + _seal(body, recipe)


def _seal(body: bytes, recipe: str) -> bytes:
    digest = hashlib.sha256(recipe.encode())
    digest.update(body)
    return digest.hexdigest().encode()


def _write(path: Path, model: bytes) -> None:
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=path.stem, suffix=".part", delete=False) as file:
            temporary = Path(file.name)
            file.write(model)
            file.flush()
            os.fchmod(file.fileno(), 0o644)  # public data; another user may share the directory
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as exc:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise _unusable(path.parent) from exc


def _unusable(cache: Path) -> Fault:
    return Fault(
        f"The embedding model cannot be kept in {cache}.",
        remedy="Make that directory writable, or name another with SUBSTRATE_CACHE.",
    )
