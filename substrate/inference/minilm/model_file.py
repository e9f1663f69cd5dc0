"""The ONNX file of the local model: built once and sealed; part of a wheel, or stored in the cache directory.

The seal is the SHA-256 (hex) of the recipe and of all bytes before it. It is the last metadata entry, so that the
file is still an ONNX file. A file that is truncated, altered or of another recipe does not match its seal and is
rebuilt. A writer writes a temporary file and renames it: of two at once the last one wins, and a reader never sees
half a file.
"""

from __future__ import annotations

import hashlib
import os
from importlib import import_module
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Final

from schemas.errors import Fault
from substrate.inference.minilm.weights import CARRIED, REMEDY, WEIGHTS_SHA256, installed

if TYPE_CHECKING:
    from substrate.inference.minilm.weights import Precision

# Increase it with every change of the graph, or newer code would use files built by older code.
RECIPE: Final = 1
SEAL: Final = 64


def onnx_file(cache: Path, precision: Precision) -> bytes:
    """Return the serialised model: from the wheel, else from `cache` when the file there is intact, else built.

    The SHA-256 of the weights is checked when the file is built, and is part of its name and seal; later the
    weights are not opened.
    Raises Fault when the file of the wheel is damaged, the weights are missing or not the official ones, or
    `cache` cannot be written.
    """
    name = file_name(precision)
    if (CARRIED / name).exists():
        path = CARRIED / name
        model = path.read_bytes()
        if not _is_intact(model, path.name):
            raise Fault("the embedding model of this installation is damaged", remedy=REMEDY)
        return model
    path = cache / name
    try:
        model = path.read_bytes()
    except FileNotFoundError:
        model = b""
    except OSError as exc:
        raise _unusable(cache) from exc
    if _is_intact(model, name):
        return model
    model = build_model(installed().weights, precision)
    _write(path, model)
    return model


def _is_intact(model: bytes, name: str) -> bool:
    return model[-SEAL:] == _seal(model[:-SEAL], name)


def file_name(precision: Precision) -> str:
    """Name of the cached file: the precision, the recipe and the first 12 digits of the weights' SHA-256."""
    return f"all-MiniLM-L6-v2-{precision}-recipe{RECIPE}-{WEIGHTS_SHA256[:12]}.onnx"


def build_model(weights: Path, precision: Precision) -> bytes:
    """Build and seal the model from the weights at this path. Raises Fault when they are not the official ones."""
    # Imported only here: the libraries that build the file would stay in the memory of every serving process.
    graph = import_module("substrate.inference.minilm.graph")
    recipe = file_name(precision)
    with graph.open_weights(weights) as tensors:
        model = graph.build(tensors, precision)
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
        f"the embedding model cannot be stored in {cache}",
        remedy="Make that directory writable, or name another with SUBSTRATE_CACHE.",
    )
