"""Which precision of the local model this machine runs: the fastest of those that a user may get, found by trial.

The trial takes about a second, when the model is first opened on a machine. Its result is kept beside the model's
file and holds for that processor and that ONNX Runtime; another machine with that directory makes its own trial.
Without a place to keep it, the processor's features decide, so that not every start pays for a trial.

The vectors of the candidates are so near to one another that the choice changes neither the model's name nor the
vectors that are stored already.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from substrate.inference.minilm.model_file import Precision, file_name

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
    """Return the kept choice of this machine, else make the trial and keep its result in `cache`.

    `runtime` is the version of ONNX Runtime.
    """
    facts = read_cpu_facts()
    path = cache / f"all-MiniLM-L6-v2-choice-{machine(facts, runtime)}.json"
    kept = _read(path)
    if kept is not None:
        return kept
    with contextlib.suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
    if not (cache.is_dir() and os.access(cache, os.W_OK)):
        return Choice(by_features(facts), {})
    figures = {name: round(value, 2) for name, value in trial().items()}
    choice = Choice(fastest(figures), figures)
    _write(path, choice)
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
    changing = (
        "cpu MHz",
        "bogomips",
        "BogoMIPS",
        "processor",
        "core id",
        "apicid",
        "initial apicid",
        "physical id",
    )
    return "\n".join(line for line in first.splitlines() if not line.startswith(changing))


def machine(facts: str, runtime: str) -> str:
    """A name for the processor, the recipes of the candidates and the version of ONNX Runtime: 12 hex digits."""
    names = list(map(file_name, CANDIDATES))
    described = [platform.machine(), platform.processor(), facts, runtime, *names]
    return hashlib.sha256("\n".join(described).encode()).hexdigest()[:12]


def _read(path: Path) -> Choice | None:
    """The choice in a file; None when there is none, or what stands there is not one of ours."""
    try:
        kept = json.loads(path.read_bytes())
        choice = Choice(kept["precision"], {name: float(kept["milliseconds"][name]) for name in CANDIDATES})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return choice if choice.precision in CANDIDATES else None


def _write(path: Path, choice: Choice) -> None:
    """Keep the choice. A full or lost disk is no fault here: the next start makes the trial again."""
    temporary: Path | None = None
    try:
        with NamedTemporaryFile("w", dir=path.parent, prefix=path.stem, suffix=".part", delete=False) as file:
            temporary = Path(file.name)
            json.dump(asdict(choice), file)
            os.fchmod(file.fileno(), 0o644)
        temporary.replace(path)
    except OSError:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
